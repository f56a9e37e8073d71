"""Other names: of people and places within one report, and such as a note tells."""

from __future__ import annotations

import pytest

from saga_core.extraction import read_delta
from saga_core.model import Entity, Kind, WorldState, fold
from saga_core.state_block import StateReading, parse_block


def after(*blocks: str) -> WorldState:
    state = WorldState(turn="t0", player="p", entities={"p": Entity("p", Kind.CHARACTER, "Player")})
    for block in blocks:
        parsed = parse_block(block)
        delta = read_delta(StateReading("", parsed.status, parsed.fields), state)
        state = fold(state, delta, turn=f"t{state.depth + 1}", depth=state.depth + 1)
    return state


def people(state: WorldState) -> set[tuple[str, ...]]:
    """The names of everybody but the player, each with the main one first."""
    return {each.names for each in state.of_kind(Kind.CHARACTER) if each.id != state.player}


@pytest.mark.parametrize(
    ("present", "met", "names"),
    [
        ("Okoro, Madam Kesh", "Adaline Kesh", {("Okoro",), ("Madam Kesh", "Adaline Kesh")}),
        ("나디르, 우물지기", "우물지기 살라", {("나디르",), ("우물지기", "우물지기 살라")}),
        ("女将, 榊", "榊遼一", {("女将",), ("榊", "榊遼一")}),
        ("Tom Alder, Ida", "Tom Brandt", {("Tom Alder",), ("Ida",), ("Tom Brandt",)}),
        ("Ida, Teo", "Sam", {("Ida",), ("Teo",), ("Sam",)}),
    ],
)
def test_who_was_met_is_in_the_complete_list(present: str, met: str, names: set[tuple[str, ...]]) -> None:
    assert people(after(f"present: [{present}]\nnpc_met: [{met}]")) == names


def test_of_a_crowd_none_is_another_spelling() -> None:
    crowd = [f"Theo{letter}a" for letter in "bcdfghjklmnpqrstvwxzaeiou"]
    few = people(after("present: [Mara]", f"present: [Marah, {', '.join(crowd[:3])}]"))
    many = people(after("present: [Mara]", f"present: [Marah, {', '.join(crowd)}]"))
    assert ("Mara", "Marah") in few and ("Mara",) in many


def test_a_first_name_is_no_other_family() -> None:
    state = after("npc_met: [Tom Alder]", "present: [Tom]", "present: [Tom, Ida]\nnpc_met: [Tom Brandt, Ida]")
    assert people(state) >= {("Tom Brandt",), ("Ida",)}


def test_two_of_one_family_stay_two() -> None:
    state = after("npc_met: [김복자 할머니]", "present: [오만석, 김 형사]\nnpc_met: [김도현 형사]")
    assert people(state) == {("김복자 할머니",), ("오만석",), ("김 형사", "김도현 형사")}


@pytest.mark.parametrize(
    ("known", "written"),
    [
        ("세이라", "세이랴"),
        ("Brannick Sole", "Brannic"),
        ("치유사 세이라", "세이랴"),
        ("Teo", "Theo"),
        ("Sara", "Sarah"),
        ("Jon Marsh", "John"),
        ("Katherine", "Catherine"),
        ("Erik", "Eric"),
    ],
)
def test_a_name_of_the_company_is_mistyped_where_nobody_came(known: str, written: str) -> None:
    met = f"present: [{known}, Dace]\nnpc_met: [{known}, Dace]"
    assert len(people(after(met, f"present: [{written}, Dace]"))) == 2
    assert len(people(after(met, f"present: [{written}, Dace]\nnpc_met: [{written}]"))) == 3, "somebody came"
    assert len(people(after(met, f"present: [{known}, {written}, Dace]"))) == 3, "both are there"


@pytest.mark.parametrize(("known", "written"), [("Tom", "Tim"), ("Ida", "Ada"), ("Ron", "Rob"), ("Al", "Hal")])
def test_short_names_that_sound_otherwise_are_two(known: str, written: str) -> None:
    assert len(people(after(f"present: [{known}, Dace]", f"present: [{written}, Dace]"))) == 3


def test_another_spelling_is_known_after_a_time_apart() -> None:
    state = after(
        "location: Roof\npresent: [Teo, Dace]", "location: Shop\npresent: []", "location: Roof\npresent: [Theo]"
    )
    assert ("Teo", "Theo") in people(state)


@pytest.mark.parametrize(
    ("known", "note", "other"),
    [
        ("박준호", "은하다방 배달원 박준호, 별명은 쥐방울.", "쥐방울"),
        ("마리아 수녀", "마리아 수녀의 정체는 윤세라다. 수녀가 아니라 사기 전과자다.", "윤세라"),
        ("小夜", "小夜の愛称は「さよちゃん」。", "さよちゃん"),
        ("帳場の客", "帳場の客の正体は榊遼一だった。", "榊遼一"),
        ("石磊", "石磊的外号叫小石头。", "小石头"),
        ("白露", "白露的真实身份是沈若兰。", "沈若兰"),
        ("Sister Maria", "Sister Maria's real name is Sera Yoon.", "Sera Yoon"),
        ("Robert Hale", "Robert Hale, nicknamed Bobby.", "Bobby"),
        ("Robert Hale", "Robert Hale goes by the name of Bobby.", "Bobby"),
        ("The stranger", "The stranger is really Aldous Finch.", "Aldous Finch"),
    ],
)
def test_a_note_tells_another_name(known: str, note: str, other: str) -> None:
    found = people(after(f"npc_met: [{known}]", f"notes: {note}"))
    assert len(found) == 1 and other in next(iter(found)), found
    both = people(after(f"npc_met: [{known}, {other}]", f"notes: {note}"))
    assert len(both) == 1, "two who were known turn out to be one"


@pytest.mark.parametrize(
    ("known", "note", "other"),
    [
        ("沈默", "计划：明天再去。沈默化名小吴，叶知秋化名周太太。", "小吴"),
        ("真理", "真理は「椿」と名乗っている。", "椿"),
        ("윤세라", "윤세라는 '마리아'라는 가명을 쓴다.", "마리아"),
        ("Nell Harrow", "Nell Harrow, alias Sister Maud.", "Sister Maud"),
        ("Nell Harrow", "Nell Harrow travels under the name Maud Finch, with papers.", "Maud Finch"),
    ],
)
def test_a_note_tells_an_alias_that_the_report_uses(known: str, note: str, other: str) -> None:
    relation = f"relationship_changes: [{{from: Okoro, to: {other}, type: trust, delta: 1}}]"
    found = people(after(f"npc_met: [{known}, Okoro]", f"{relation}\nnotes: {note}"))
    assert {len(names) for names in found} == {1, 2} and any({known, other} <= set(names) for names in found), found
    posed = people(after(f"npc_met: [{known}, {other}, Okoro]", f"notes: {note}"))
    assert len(posed) == 3, "an impostor and the one whose name she takes stay two"
    unused = people(after(f"npc_met: [{known}, Okoro]", f"notes: {note}"))
    assert (known,) in unused, "a word that stands in the note alone may be no name"


@pytest.mark.parametrize(
    "note",
    [
        "The rumour is that the stranger is really Aldous Finch.",
        "소문에 따르면 나그네의 정체는 윤세라다.",
        "The stranger is called away.",
        "The stranger called Tom.",
        "The stranger named Tom.",
        "나그네의 정체는 아무도 모른다.",
        "The stranger's name is unknown.",
        "Everybody believes that the stranger is Tom.",
        "The stranger is Tom's brother.",
        "The stranger admits that he is Norwegian.",
        "The stranger is not Tom.",
        "나그네는 Tom의 형이다.",
    ],
)
def test_other_notes_tell_none(note: str) -> None:
    assert people(after("npc_met: [The stranger, 나그네, Tom]", f"notes: {note}")) == {
        ("The stranger",),
        ("나그네",),
        ("Tom",),
    }


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("月影館・玄関", "玄関"),
        ("月影館・玄関", "月影館 玄関"),
        ("玄関", "月影館・玄関"),
        ("Magpie, galley", "the galley"),
        ("Corrigan Station - Dock Nine", "Dock Nine"),
        ("성모병원 502호 병실", "병실"),
    ],
)
def test_a_place_by_the_last_part_of_its_name_is_no_move(first: str, then: str) -> None:
    state = after(f"location: {first}\nnpc_met: [Ida]", f"location: {then}")
    assert len(list(state.of_kind(Kind.LOCATION))) == 1
    assert len(state.present) == 1, "nobody was left behind"


def test_another_room_is_another_place() -> None:
    state = after("location: 月影館・玄関\nnpc_met: [小夜]", "location: 月影館・広間", "location: 蔵")
    assert len(list(state.of_kind(Kind.LOCATION))) == 3
    moved = after("location: cellar", "location: Castle, cellar\nlocation_moved: true")
    assert len(list(moved.of_kind(Kind.LOCATION))) == 2


@pytest.mark.parametrize(
    ("name", "status"),
    [("밧줄다리", "파괴"), ("the Perdita", "destroyed"), ("海燕号", "被炸毁沉没"), ("吊り橋", "崩落")],
)
def test_what_is_broken_is_no_person(name: str, status: str) -> None:
    block = f"status_changes: [{{name: {name}, status: {status}}}]"
    assert people(after(block)) == set()
    there = after(f"location: {name}", "location: elsewhere", block)
    places = [each for each in there.of_kind(Kind.LOCATION) if each.get("status") == status]
    assert len(places) == 1 and people(there) == set()
    assert len(people(after(f"npc_met: [{name}]", block))) == 1, "it was somebody before"


@pytest.mark.parametrize(("note", "first", "then"), [("강민재는 장태곤(장 실장)에게 쫓긴다.", "장 실장", "장태곤")])
def test_a_note_of_a_turn_before_has_both_names(note: str, first: str, then: str) -> None:
    later = f"npc_met: [{first}]\nrelationship_changes: [{{from: 오만석, to: {then}, type: 채무, delta: 0}}]"
    assert len(people(after("npc_met: [오만석]", f"notes: {note}", later))) == 2
    assert len(people(after("npc_met: [오만석]", later))) == 3, "nothing says that the two are one"


@pytest.mark.parametrize(
    ("known", "other", "note"),
    [
        ("Mr. Grey", "Julian Vane", "Mr. Grey is really Julian Vane."),
        ("Mr. Grey", "Julian Vane", "Mr. Grey is Julian Vane"),
        ("Mr. Grey", "Julian Vane", "Mr. Grey admits before Kit and Dr. Ash that he is Julian Vane."),
        ("Julian Vane", "Mr. Grey", "Julian Vane turns out to be Mr. Grey."),
        ("그레이 씨", "윤세라", "그레이 씨는 사실 윤세라다."),
        ("그레이 씨", "윤세라", "사실은 그레이 씨가 윤세라다."),
        ("그레이 씨", "윤세라", "그레이 씨는 지우 앞에서 자신이 윤세라라고 고백했다."),
        ("그레이 씨", "윤세라", "그레이 씨는 자신이 윤세라임을 인정했다."),
    ],
)
def test_a_note_says_that_two_are_one(known: str, other: str, note: str) -> None:
    (found,) = people(after(f"npc_met: [{known}]", f"npc_met: [{other}]\nnotes: {note}"))
    assert set(found) == {known, other}
    both = people(after(f"npc_met: [{known}]", f"present: [{known}, {other}]\nnotes: {note}"))
    assert len(both) == (1 if "really" in note else 2), "a report lists nobody twice"


@pytest.mark.parametrize(
    "blocks",
    [
        ("present: [강 교수님]", "present: [강도윤 교수]", "present: [강도윤]"),
        ("present: [강도윤 교수]", "present: [강 교수님]", "present: [교수님]"),
        ("present: [강 교수님]", "present: [교수님]", "present: [강도윤 교수님]"),
    ],
)
def test_a_professor_in_any_order(blocks: tuple[str, ...]) -> None:
    (found,) = people(after(*blocks))
    assert "교수님" not in found, "another professor may be called so tomorrow"
    state = after(*blocks, "present: [이 교수님]", "present: [교수님]")
    assert list(map(state.name, state.present)) == ["이 교수님"]
