"""Blocks as models write them, Korean and English, with the one right reading of each."""

from __future__ import annotations

from typing import Any

import pytest

from saga_core.language import every
from saga_core.state_block import (
    BlockFields,
    BlockStatus,
    ItemAmount,
    ItemTransfer,
    RelationChange,
    StatusChange,
    parse_block,
)
from saga_core.state_block.fields import field_of

Case = tuple[str, BlockFields]


def ok(body: str | list[str], **fields: Any) -> Case:
    """A body, or its lines, and all that it says."""
    return body if isinstance(body, str) else "\n".join(body), BlockFields(**fields)


def items(*names: str | tuple[str, int]) -> tuple[ItemAmount, ...]:
    return tuple(ItemAmount(name) if isinstance(name, str) else ItemAmount(*name) for name in names)


KROOK = (RelationChange("아리아", "크룩", "hostile", -2),)
FRIENDS = (RelationChange("Aria", "Krook", "friendly", 3),)
RING = (ItemTransfer("은반지", "아리아", "크룩"),)

READABLE: dict[str, Case] = {
    "title case": ok("Location: The Dark Forest\nHP Change: -15", location="The Dark Forest", hp_change=-15),
    "hyphens": ok("location-moved: yes\nitems-gained: [rope]", location_moved=True, items_gained=items("rope")),
    "shouting": ok("LOCATION: 숲\nMOOD: TENSE", location="숲", mood="TENSE"),
    "equals": ok("location = 숲\nhp_change=-3", location="숲", hp_change=-3),
    "bullets": ok(
        ["- location: 숲", "- mood: 평온", "- items_gained: [검]"], location="숲", mood="평온", items_gained=items("검")
    ),
    "bold in bullets": ok("* **location**: 숲\n* **hp_change:** -4", location="숲", hp_change=-4),
    "bold values": ok(
        ["location: **어둠의 숲**", "mood: *tense*", "npc_met: [`크룩`]"],
        location="어둠의 숲",
        mood="tense",
        npc_met=("크룩",),
    ),
    "numbered": ok("1. location: 숲\n2) mood: calm", location="숲", mood="calm"),
    "indented": ok("    location: 숲\n    mood: calm", location="숲", mood="calm"),
    "under a header": ok(
        ["state:", "  location: 숲", "  items_gained:", "    - 검"], location="숲", items_gained=items("검")
    ),
    "quoted keys": ok(
        ['"location": "숲",', '"hp_change": -5,', '"items_gained": ["검"]'],
        location="숲",
        hp_change=-5,
        items_gained=items("검"),
    ),
    "emoji": ok("📍 위치: 숲\n❤️ HP 변화: -5", location="숲", hp_change=-5),
    "both languages": ok("위치(location): 숲\nhp_change(체력): -5", location="숲", hp_change=-5),
    "korean keys": ok(
        [
            "위치: 어둠의 숲",
            "이동: 예",
            "체력 변화: -15",
            "획득 아이템: 불꽃 검",
            "잃은 아이템: 없음",
            "만난 NPC: 크룩",
            "기분: 긴장",
            "이벤트: 없음",
            "비고: 경계",
        ],
        location="어둠의 숲",
        location_moved=True,
        hp_change=-15,
        items_gained=items("불꽃 검"),
        npc_met=("크룩",),
        mood="긴장",
        notes="경계",
    ),
    "more korean keys": ok(
        [
            "장소: 마을",
            "이동 여부: 아니오",
            "HP변화: +5",
            "획득: 물약",
            "소실: 방패",
            "양도: []",
            "만남: 없음",
            "헤어짐: 크룩",
            "관계 변화: []",
            "분위기: 밝음",
            "메모: 휴식",
        ],
        location="마을",
        location_moved=False,
        hp_change=5,
        items_gained=items("물약"),
        items_lost=items("방패"),
        npc_separated=("크룩",),
        mood="밝음",
        notes="휴식",
    ),
    "full width": ok(
        [
            "위치：어둠의 숲",
            "획득：［불꽃 검，방패］",
            "관계 변화：［｛from：아리아，to：크룩，type：hostile，delta：－２｝］",
        ],
        location="어둠의 숲",
        items_gained=items("불꽃 검", "방패"),
        relationship_changes=KROOK,
    ),
    "full-width quotes": ok(
        "npc_met: [＂크룩＂， ＂여왕, 라나＂]",
        npc_met=(
            "크룩",
            "여왕, 라나",
        ),
    ),
    "in a quote": ok(["> location: 숲", "> mood: calm", "> "], location="숲", mood="calm"),
    "carriage returns": ok("location: \uc232\r\nmood: calm\r\n", location="숲", mood="calm"),
    "decomposed": ok(
        "\uc704\uce58: \u110b\u1165\u1103\u116e\u11b7\u110b\u1174 \u1109\u116e\u11c1", location="어둠의 숲"
    ),
    "decomposed keys": ok("\u110b\u1171\u110e\u1175: \uc232", location="숲"),
    "data word": ok("yaml\nlocation: 숲", location="숲"),
    "document marks": ok(["---", "location: 숲", "---"], location="숲"),
    "one line": ok(
        "location: 숲, hp_change: -5, items_gained: [검, 방패], mood: tense",
        location="숲",
        hp_change=-5,
        items_gained=items("검", "방패"),
        mood="tense",
    ),
    "one line without commas": ok(
        "location: 어둠의 숲 hp_change: -5 notes: 위험, mood: 어두움",
        location="어둠의 숲",
        hp_change=-5,
        notes="위험, mood: 어두움",
    ),
    "one line with bars": ok("location: 숲 | mood: calm | hp_change: 0", location="숲", mood="calm", hp_change=0),
    "no spaces": ok(
        ["location:숲", "hp_change:-5", "items_gained:[검,방패]"],
        location="숲",
        hp_change=-5,
        items_gained=items("검", "방패"),
    ),
    "comments": ok(
        ["# 상태", "location: 숲  # 이동함", "hp_change: -5  // 고블린", "  # 끝"], location="숲", hp_change=-5
    ),
    "no comments": ok(
        ["location: Room #5", 'notes: "a  # b"', "npc_met: ['x  # y']"],
        location="Room #5",
        notes="a # b",
        npc_met=("x # y",),
    ),
    "nothing": ok(
        [
            "location: null",
            "location_moved: -",
            "hp_change: n/a",
            "items_gained: none",
            "items_lost: 없음",
            "items_transferred: []",
            "npc_met: [없음]",
            "npc_separated: -",
            "relationship_changes: None",
            "mood: ...",
            "event_trigger: false",
            "notes: 없다",
        ]
    ),
    "nothing with remarks": ok(
        [
            "location: 없음 (이동하지 않음)",
            "hp_change: 변화 없음",
            "items_gained: [none]",
            "mood: unchanged",
            "npc_met: (none)",
        ]
    ),
    "quoted nothing": ok('{"location": "none", "event_trigger": "null", "items_lost": ["없음"], "mood": ""}'),
    "empty values": ok(["location:", "hp_change:", "items_gained:", "mood: calm"], mood="calm"),
    "flags 1": ok("location_moved: True", location_moved=True),
    "flags 2": ok("location_moved: 참", location_moved=True),
    "flags 3": ok("이동 여부: 이동 안 함", location_moved=False),
    "flags 4": ok("location_moved: no (still in town)", location_moved=False),
    "flags 5": ok("이동: 네.", location_moved=True),
    "flags 6": ok("location_moved: 'false',", location_moved=False),
    "flags 7": ok("이동: 맞음", location_moved=True),
    "flags 8": ok("location_moved: ✅", location_moved=True),
    "hp lost": ok("hp_change: lost 15", hp_change=-15),
    "hp unit": ok("hp_change: -15 HP", hp_change=-15),
    "hp unit in front": ok("hp_change: HP-15", hp_change=-15),
    "hp damage": ok("hp_change: 15 피해", hp_change=-15),
    "hp sentence": ok("체력 변화: 고블린에게 15의 피해를 입음", hp_change=-15),
    "hp took": ok("hp_change: took 1,200 damage", hp_change=-1200),
    "hp healed": ok("hp_change: +5 (회복)", hp_change=5),
    "hp remark decides": ok("hp_change: 5 (회복)", hp_change=5),
    "hp remark does not": ok("hp_change: -15 (회복 실패)", hp_change=-15),
    "hp unicode minus": ok("hp_change: −15", hp_change=-15),
    "hp dash": ok("hp_change: –15", hp_change=-15),
    "hp apart": ok("hp_change: - 15", hp_change=-15),
    "hp quoted": ok('hp_change: "-15"', hp_change=-15),
    "hp float": ok('{"hp_change": -15.0}', hp_change=-15),
    "hp levels": ok("hp_change: 100 -> 85", hp_change=-15),
    "hp levels of": ok("HP: 85/100 → 90/100", hp_change=5),
    "hp levels in korean": ok("체력: 100에서 85로", hp_change=-15),
    "hp zero": ok("hp_change: 0", hp_change=0),
    "hp unharmed": ok("hp_change: no damage taken"),
    "hp unharmed in korean": ok("hp_change: 피해를 입지 않음"),
    "hp on the next line": ok(["hp_change:", "  -15", "mood: calm"], hp_change=-15, mood="calm"),
    "hp as level, signed": ok("HP: -15", hp_change=-15),
    "yaml list": ok(
        ["items_gained:", "  - 불꽃 검", "  - 방패", "mood: calm"], items_gained=items("불꽃 검", "방패"), mood="calm"
    ),
    "yaml list at the margin": ok(
        ["npc_met:", "- 크룩", "- 여왕 라나", "npc_separated: []"],
        npc_met=(
            "크룩",
            "여왕 라나",
        ),
    ),
    "yaml list with stars": ok(
        ["items_gained:", "  * 불꽃 검", "  • 방패 x2"], items_gained=items("불꽃 검", ("방패", 2))
    ),
    "yaml list without bullets": ok(
        ["items_gained:", "  불꽃 검", "  방패: 2"], items_gained=items("불꽃 검", ("방패", 2))
    ),
    "list over lines": ok(
        ["items_gained: [", "  불꽃 검,", '  "방패"', "]", "mood: calm"],
        items_gained=items("불꽃 검", "방패"),
        mood="calm",
    ),
    "list without brackets": ok("items_gained: 불꽃 검, 방패", items_gained=items("불꽃 검", "방패")),
    "list in parentheses": ok(
        "npc_met: (크룩, 라나)",
        npc_met=(
            "크룩",
            "라나",
        ),
    ),
    "list without its end": ok(
        "items_gained: [불꽃 검, 방패\nmood: calm", items_gained=items("불꽃 검", "방패"), mood="calm"
    ),
    "commas in quotes": ok(
        "items_gained: [\"검, 불타는\", '방패, 둥근', 활]", items_gained=items("검, 불타는", "방패, 둥근", "활")
    ),
    "apostrophes": ok(
        "items_gained: [Dragon's Tooth, 'Aria's Ring', Elf's Bow]",
        items_gained=items("Dragon's Tooth", "Aria's Ring", "Elf's Bow"),
    ),
    "commas in parentheses": ok(
        "items_gained: [불꽃 검 (붉은, 뜨거운), 방패]", items_gained=items("불꽃 검 (붉은, 뜨거운)", "방패")
    ),
    "trailing commas": ok("items_gained: [검, 방패,]\nmood: calm,", items_gained=items("검", "방패"), mood="calm"),
    "a remark behind": ok("items_gained: [불꽃 검] (획득)", items_gained=items("불꽃 검")),
    "nested lists": ok("items_gained: [[검], [방패]]", items_gained=items("검", "방패")),
    "smart quotes": ok(
        "npc_met: [“여왕, 라나”, ‘크룩’]",
        npc_met=(
            "여왕, 라나",
            "크룩",
        ),
    ),
    "twice the same key": ok("items_gained: 검\nitems_gained: 방패", items_gained=items("검", "방패")),
    "people as maps": ok("npc_met: [{name: 크룩, attitude: hostile}]", npc_met=("크룩",)),
    "amounts 1": ok(
        "items_gained: [치유 물약 x2, 화살 ×30, 밧줄 X 1]", items_gained=items(("치유 물약", 2), ("화살", 30), "밧줄")
    ),
    "amounts 2": ok(
        "획득: 치유 물약 2개, 화살 30발, 해독제 3병", items_gained=items(("치유 물약", 2), ("화살", 30), ("해독제", 3))
    ),
    "amounts 3": ok(
        "items_gained: [2x healing potion, 3 x torch, 5 gold coins]",
        items_gained=items(("healing potion", 2), ("torch", 3), ("gold coins", 5)),
    ),
    "amounts 4": ok(
        'items_gained: [{name: 치유 물약, quantity: 2}, {"item": "방패", "count": "3개"}]',
        items_gained=items(("치유 물약", 2), ("방패", 3)),
    ),
    "the player's number": ok("hp_change: {wolf: -12, Player: -3}", hp_change=-3),
    "amounts 5": ok("items_gained: {치유 물약: 2, 방패: 1}", items_gained=items(("치유 물약", 2), "방패")),
    "amounts 6": ok(
        "items_gained: [healing potion (2), 치유 물약 (x3), rope: 2]",
        items_gained=items(("healing potion", 2), ("치유 물약", 3), ("rope", 2)),
    ),
    "amounts 7": ok(
        "획득: 금화 1,000개, 사과 두 개, 세 개의 열쇠", items_gained=items(("금화", 1000), ("사과", 2), ("열쇠", 3))
    ),
    "amounts 8": ok(
        ["items_gained:", "  - name: 치유 물약", "    quantity: 2", '  - name: "검, 불타는"'],
        items_gained=items(("치유 물약", 2), "검, 불타는"),
    ),
    "amounts 9": ok(
        ["획득 아이템:", "- 이름: 치유 물약", "  수량: 2", "- 이름: 방패"], items_gained=items(("치유 물약", 2), "방패")
    ),
    "no amounts": ok(
        "items_gained: [검 +2, 마법서 제3권, MkX 7호 열쇠, Scroll of 7 Winds]",
        items_gained=items("검 +2", "마법서 제3권", "MkX 7호 열쇠", "Scroll of 7 Winds"),
    ),
    "transfer map": ok("items_transferred: [{item: 은반지, from: 아리아, to: 크룩}]", items_transferred=RING),
    "short keys in korean": ok(
        ["함께: [홍옥자]", "얻은것: [열쇠]", "잃어버린 것: [우산]", "준 것: [{item: 은반지, from: 아리아, to: 크룩}]"],
        present=("홍옥자",),
        items_gained=items("열쇠"),
        items_lost=items("우산"),
        items_transferred=RING,
    ),
    "transfer in korean": ok("이전: [{아이템: 은반지, 주는 사람: 아리아, 받는 사람: 크룩}]", items_transferred=RING),
    "transfer arrow 1": ok("items_transferred: [은반지: 아리아 -> 크룩]", items_transferred=RING),
    "transfer arrow 2": ok("양도: 아리아 → 크룩: 은반지", items_transferred=RING),
    "transfer arrow 3": ok("items_transferred:\n  - 은반지 (아리아 → 크룩)", items_transferred=RING),
    "transfer lines": ok(
        ["items_transferred:", "  - item: 은반지", "    from: 아리아", "    to: 크룩"], items_transferred=RING
    ),
    "transfer one hand": ok(
        "items_transferred: [{item: 치유 물약 x2, to: 크룩, from: null}]",
        items_transferred=(ItemTransfer("치유 물약", None, "크룩", 2),),
    ),
    "transfer to": ok(
        "items_transferred: [치유 물약 2개 -> 크룩]", items_transferred=(ItemTransfer("치유 물약", None, "크룩", 2),)
    ),
    "transfer named": ok("items_transferred: [은반지]", items_transferred=(ItemTransfer("은반지", None, None),)),
    "relation map": ok(
        "relationship_changes: [{from: 아리아, to: 크룩, type: hostile, delta: -2}]", relationship_changes=KROOK
    ),
    "relation json": ok(
        'relationship_changes: [{"source": "아리아", "target": "크룩", "relation": "hostile", "change": "-2"}]',
        relationship_changes=KROOK,
    ),
    "relation lines": ok(
        ["관계 변화:", "  - 주체: 아리아", "    대상: 크룩", "    관계: hostile", "    변화량: -2", "기분: 긴장"],
        relationship_changes=KROOK,
        mood="긴장",
    ),
    "relation lines at the margin": ok(
        ["관계 변화:", "- 주체: 아리아", "  대상: 크룩", "  관계: hostile", "  변화: -2"], relationship_changes=KROOK
    ),
    "relation lines without bullets": ok(
        ["relationship_changes:", "  from: 아리아", "  to: 크룩", "  type: hostile", "  delta: -2"],
        relationship_changes=KROOK,
    ),
    "relation without braces": ok(
        "relationship_changes: [from: 아리아, to: 크룩, type: hostile, delta: -2]", relationship_changes=KROOK
    ),
    "relations without braces": ok(
        "relationship_changes: from: 아리아, to: 크룩, type: hostile, delta: -2, "
        "from: Aria, to: Krook, type: friendly, delta: 3",
        relationship_changes=KROOK + FRIENDS,
    ),
    "relation arrow 1": ok("relationship_changes: [아리아 -> 크룩: hostile (-2)]", relationship_changes=KROOK),
    "relation arrow 2": ok("relationship_changes: 아리아→크룩: hostile, -2", relationship_changes=KROOK),
    "relation arrow 3": ok("relationship_changes:\n  - Aria -> Krook: friendly (+3)", relationship_changes=FRIENDS),
    "relation arrow 4": ok("relationship_changes: [Aria → Krook (friendly, +3)]", relationship_changes=FRIENDS),
    "relation delta only": ok(
        "관계 변화: 아리아 -> 고블린왕 크룩 -2",
        relationship_changes=(RelationChange("아리아", "고블린왕 크룩", "", -2),),
    ),
    "relation type only": ok(
        "relationship_changes: [{from: Aria, to: Krook, type: friend}]",
        relationship_changes=(RelationChange("Aria", "Krook", "friend", 0),),
    ),
    "relation both ways": ok(
        "relationship_changes: [Aria <-> Krook: friendly +3]",
        relationship_changes=(
            FRIENDS[0],
            RelationChange("Krook", "Aria", "friendly", 3),
        ),
    ),
    "relation over lines": ok(
        [
            "relationship_changes: [",
            "  {from: 아리아,",
            "   to: 크룩, type: hostile,",
            "   delta: -2},",
            "]",
            "mood: x",
        ],
        relationship_changes=KROOK,
        mood="x",
    ),
    "relation missing a brace": ok(
        ["relationship_changes: [{from: 아리아, to: 크룩, type: hostile, delta: -2]", "mood: x"],
        relationship_changes=KROOK,
        mood="x",
    ),
    "status": ok(
        "status_changes: [{name: 크룩, status: dead}, 라나: 부상, Tom (captured)]",
        status_changes=(
            StatusChange("크룩", "dead"),
            StatusChange("라나", "부상"),
            StatusChange("Tom", "captured"),
        ),
    ),
    "json": ok(
        [
            "{",
            '  "location": "어둠의 숲",',
            '  "location_moved": true,',
            '  "hp_change": -15,',
            '  "items_gained": ["불꽃 검"],',
            '  "items_lost": [],',
            '  "relationship_changes": [{"from": "아리아", "to": "크룩", "type": "hostile", "delta": -2}],',
            '  "event_trigger": null,',
            '  "notes": "그는 \\"도망쳐\\"라고 했다"',
            "}",
        ],
        location="어둠의 숲",
        location_moved=True,
        hp_change=-15,
        items_gained=items("불꽃 검"),
        relationship_changes=KROOK,
        notes='그는 "도망쳐"라고 했다',
    ),
    "json on one line": ok(
        '{"location": "숲", "items_gained": [{"name": "치유 물약", "quantity": 2}], "mood": "tense"}',
        location="숲",
        items_gained=items(("치유 물약", 2)),
        mood="tense",
    ),
    "json wrapped": ok('{"state": {"location": "숲", "hp_change": "-5"}}', location="숲", hp_change=-5),
    "json in a list": ok('[{"location": "숲"}]', location="숲"),
    "json escapes": ok('{"location": "\\uc5b4\\ub460\\uc758 \\uc232"}', location="어둠의 숲"),
    "json single quotes": ok("{'location': '숲', 'npc_met': ['크룩']}", location="숲", npc_met=("크룩",)),
    "json commented": ok(["{", '  "location": "숲", // 이동', '  "mood": "x",', "}"], location="숲", mood="x"),
    "flow map": ok(
        "{location: 숲, mood: tense, items_gained: [검]}", location="숲", mood="tense", items_gained=items("검")
    ),
    "json lines": ok('{"location": "숲"}\n{"mood": "x"}', location="숲", mood="x"),
    "json without its end": ok('{"location": "숲", "mood": "x"', location="숲", mood="x"),
    # Brackets and quote marks, used and abused
    "a set": ok("items_gained: {불꽃 검, 방패}", items_gained=items("불꽃 검", "방패")),
    "a set and a map": ok("items_gained: {불꽃 검, 방패: 2}", items_gained=items("불꽃 검", ("방패", 2))),
    "quoted keys in a list": ok(
        "items_gained: [\"치유 물약\": 2, '활' : 1]", items_gained=items(("치유 물약", 2), "활")
    ),
    "loose pairs and a name": ok("items_gained: [name: 검, quantity: 2, 활]", items_gained=items(("검", 2), "활")),
    "loose pairs": ok("items_gained: [name: 검, name: 활, 수량: 2]", items_gained=items("검", ("활", 2))),
    "a closer by itself": ok(["items_gained: 검", "]", "mood: x"], items_gained=items("검"), mood="x"),
    "a name behind a list": ok("items_gained: [검] 활", items_gained=items("검", "활")),
    "no quantity": ok("items_gained: [{name: 검, quantity: null}]", items_gained=items("검")),
    "nested beyond reason": ok(f"items_gained: {'[' * 30}검{']' * 30}", items_gained=items("검")),
    "a closer of nothing": ok("{location: 숲], mood: x}", location="숲", mood="x"),
    "a closer too many": ok("npc_met: [크룩]], mood: x", npc_met=("크룩",), mood="x"),
    "a missing value": ok('{"location" : "숲", "mood": , "hp_change": -5}', location="숲", hp_change=-5),
    "doubled quote marks": ok("npc_met: ['크룩''s', 라나]", npc_met=("크룩's", "라나")),
    "empty brackets": ok(["location_moved: []", "hp_change: []", "mood: {}", "location: []", "notes: [none, -]"]),
    "a transfer as a map": ok("items_transferred: {은반지: 아리아 -> 크룩}", items_transferred=RING),
    "no transfers": ok("items_transferred: [none]\nrelationship_changes: [없음]\nstatus_changes: [-]"),
    "a relation as a map": ok("relationship_changes: {아리아 -> 크룩: hostile -2}", relationship_changes=KROOK),
    "relations by arrows": ok(
        "relationship_changes: [아리아 -> 크룩: hostile, -2, Aria -> Krook: friendly, 3, {from: a, to: b, delta: 1}]",
        relationship_changes=(*KROOK, *FRIENDS, RelationChange("a", "b", "", 1)),
    ),
    "statuses as a map": ok("상태 변화: {크룩: 사망}", status_changes=(StatusChange("크룩", "사망"),)),
    "who is dead below another word": ok("status: {크룩: 사망}", status_changes=(StatusChange("크룩", "사망"),)),
    "no status": ok("status_changes: [{name: 크룩, status: unchanged}]"),
    "notes with colons": ok('notes: 크룩이 말했다: "가라"', notes='크룩이 말했다: "가라"'),
    "notes over lines": ok(
        ["notes: |", "  고블린 영역 진입,", "  mood: 어둡다", "mood: x"],
        notes="고블린 영역 진입, mood: 어둡다",
        mood="x",
    ),
    "notes go on": ok("notes: 고블린 영역 진입,\n  경계 상태", notes="고블린 영역 진입, 경계 상태"),
    "notes as a list": ok(["notes:", "  - 고블린", "  - 경계"], notes="고블린, 경계"),
    "notes with brackets": ok("notes: [중요] 고블린 등장", notes="[중요] 고블린 등장"),
    "notes with quotes": ok('notes: "가라", 그가 말했다', notes='"가라", 그가 말했다'),
    "text in a list": ok("mood: [tense, dark]\nlocation: [숲]", mood="tense, dark", location="숲"),
    "text on the next line": ok(["location:", "  어둠의 숲", "mood: x"], location="어둠의 숲", mood="x"),
    "twice the same": ok("location: 숲\nlocation: 숲", location="숲"),
    "none and then some": ok("location: none\nlocation: 숲", location="숲"),
    "spaces": ok("location:    어둠의    숲   ", location="어둠의 숲"),
}


@pytest.mark.parametrize(
    "key",
    "name target character npc who person subject Entity NPC-name 이름 대상 인물 캐릭터 사람 누가 名前 対象 人物 "
    "キャラクター 誰 名字 目标 目標 对象 對象 角色 谁".split(),
)
def test_whom_a_status_is_of_is_told_by_any_key(key: str) -> None:
    body = f"status_changes: [{{{key}: Ines Okoro, status: dead}}, {{status: alive, {key}: 강민재, cause: x}}]"
    parsed = parse_block(body)
    assert parsed.problems == ()
    assert parsed.fields == BlockFields(
        status_changes=(StatusChange("Ines Okoro", "dead"), StatusChange("강민재", "alive"))
    )
    lines = parse_block(f"status_changes:\n  - {key}: Ines Okoro\n    new_status: dead\nmood: x")
    assert (lines.fields.status_changes, lines.problems) == ((StatusChange("Ines Okoro", "dead"),), ())
    met = parse_block(f"npc_met: [{{{key}: Ines Okoro, attitude: wary}}]")
    assert (met.fields, met.problems) == (BlockFields(npc_met=("Ines Okoro",)), ())


def test_two_words_for_one_key_are_one_record() -> None:
    parsed = parse_block("status_changes: [{name: Ines Okoro, character: Okoro, status: dead}]")
    assert (parsed.fields.status_changes, parsed.problems) == ((StatusChange("Ines Okoro", "dead"),), ())
    parsed = parse_block("status_changes: {name: A, status: dead, name: B, status: alive}")
    assert parsed.fields.status_changes == (StatusChange("A", "dead"), StatusChange("B", "alive"))


@pytest.mark.parametrize(("body", "fields"), READABLE.values(), ids=READABLE)
def test_what_can_be_read_is_read(body: str, fields: BlockFields) -> None:
    parsed = parse_block(body)
    assert parsed.fields == fields
    assert (parsed.status, parsed.problems, parsed.invalid) == (BlockStatus.OK, (), ())


@pytest.mark.parametrize("written", ["x2000000", "(2,000,000)", "x1000000000000"])
def test_large_sums_are_quantities(written: str) -> None:
    number = int("".join(filter(str.isdigit, written)))
    parsed = parse_block(f"items_gained: [credits {written}, {{item: won, quantity: {number}}}]")
    assert (parsed.fields.items_gained, parsed.problems) == (items(("credits", number), ("won", number)), ())


@pytest.mark.parametrize(
    ("written", "number"),
    [
        ("200만 원", 2_000_000),
        ("1,200만 원", 12_000_000),
        ("5천만 원", 50_000_000),
        ("1억 원", 100_000_000),
        ("1억 2천만 원", 120_000_000),
        ("3천 원", 3_000),
        ("5백원", 500),
        ("이백만 원", 2_000_000),
    ],
)
def test_sums_in_won(written: str, number: int) -> None:
    assert parse_block(f"items_gained: [현금 {written}]").fields.items_gained == items(("현금", number))
    assert parse_block(f"items_lost: [{written}]").fields.items_lost == items(("원", number))


@pytest.mark.parametrize("name", ["place", "mood", "present"])
def test_a_report_may_use_the_words_that_the_narrator_is_told_in(name: str) -> None:
    for language in every():
        found = field_of(getattr(language.labels, name))
        assert found is not None and found.name == {"place": "location"}.get(name, name)
