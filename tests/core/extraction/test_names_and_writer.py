"""Names to entities, and a block's fields to events."""

from __future__ import annotations

import pytest
from attrs import evolve

from saga_core.extraction.statuses import status_of
from saga_core.extraction.writer import read_delta
from saga_core.model.deltas import Introduced, Renamed
from saga_core.model.entities import DEAD, Entity, Kind, Placement, Stack
from saga_core.model.folding import fold
from saga_core.model.tree import Delta, ReportStatus, Source
from saga_core.model.world_state import WorldState
from saga_core.naming.names import Names
from saga_core.state_block import read_reply

STATE = WorldState(
    player="p",
    entities={
        "p": Entity("p", Kind.CHARACTER, "아리아", (), {"hp": 100, "max_hp": 100, "is_player": True}),
        "k": Entity("k", Kind.CHARACTER, "크룩", ("goblin king Krook",)),
        "e": Entity("e", Kind.CHARACTER, "에르겐"),
        "m1": Entity("m1", Kind.CHARACTER, "Old Mara"),
        "m2": Entity("m2", Kind.CHARACTER, "Young Mara"),
        "f": Entity("f", Kind.LOCATION, "어둠의 숲"),
        "s": Entity("s", Kind.LOCATION, "마을 광장"),
        "i": Entity("i", Kind.ITEM, "치유 물약"),
    },
    whereabouts={"p": Placement("s"), "e": Placement("s")},
    belongings={"p": {"i": Stack(2)}},
)


@pytest.mark.parametrize(
    ("kind", "name", "expected"),
    [
        (Kind.CHARACTER, "크룩", "k"),
        (Kind.CHARACTER, "크룩이", "k"),
        (Kind.CHARACTER, "크룩에게서", "k"),
        (Kind.CHARACTER, "고블린왕 크룩", "k"),
        (Kind.CHARACTER, "the goblin king krook", "k"),
        (Kind.CHARACTER, "Krook", "k"),
        (Kind.CHARACTER, "플레이어", "p"),
        (Kind.CHARACTER, "{{user}}", "p"),
        (Kind.CHARACTER, "당신", "p"),
        (Kind.CHARACTER, "Mara", None),
        (Kind.CHARACTER, "old mara", "m1"),
        (Kind.CHARACTER, "크룩스", None),
        (Kind.LOCATION, "어둠의숲", "f"),
        (Kind.LOCATION, "어둠의 숲으로", "f"),
        (Kind.LOCATION, "숲", None),
        (Kind.LOCATION, "크룩", None),
        (Kind.ITEM, "물약", None),
    ],
)
def test_a_name_finds_its_entity_or_none(kind: Kind, name: str, expected: str | None) -> None:
    assert Names(STATE).find(kind, name) == expected


def test_an_ambiguous_name_is_its_own_entity() -> None:
    names = Names(STATE)
    found = names.ensure(Kind.CHARACTER, "Mara")
    assert found not in ("m1", "m2")
    assert names.introduced == [Introduced(found, Kind.CHARACTER, "Mara")]
    assert names.ensure(Kind.CHARACTER, "mara") == found
    assert len(names.introduced) == 1


def test_a_title_becomes_an_alias() -> None:
    names = Names(STATE)
    assert names.ensure(Kind.CHARACTER, "고블린왕 크룩") == "k"
    assert names.introduced == [Introduced("k", Kind.CHARACTER, "고블린왕 크룩")]


def test_nfd_and_nfc_names_are_one() -> None:
    import unicodedata

    assert Names(STATE).find(Kind.CHARACTER, unicodedata.normalize("NFD", "에르겐")) == "e"


BLOCK = """그는 칼을 뽑았다.

```state
location: 어둠의 숲
location_moved: true
hp_change: -15
items_gained: [불꽃 검]
items_lost: [치유 물약]
items_transferred: []
npc_met: [고블린왕 크룩]
npc_separated: []
relationship_changes: [{from: 아리아, to: 크룩, type: hostile, delta: -2}]
mood: tense
event_trigger: null
notes: 고블린 영역 진입, 경계 상태
```"""


def test_the_notes_own_block_is_read_whole() -> None:
    delta = read_delta(read_reply(BLOCK), STATE)
    assert (delta.source, delta.status, delta.problems) == (Source.BLOCK, ReportStatus.OK, ())
    state = fold(STATE, delta, turn="t1", depth=1)
    assert not state.problems
    assert state.location == "f"
    assert state.entities["p"].get("hp") == 85
    assert state.entities["p"].get("mood") == "tense"
    inventory = {state.name(item): stack.quantity for item, stack in state.belongings["p"].items()}
    assert inventory == {"치유 물약": 1, "불꽃 검": 1}
    assert state.present == ("k",)
    assert state.relations["p", "k"].strength == -2
    assert state.notes == ((1, "고블린 영역 진입, 경계 상태"),)


def test_no_block_means_nothing_is_known_to_have_changed() -> None:
    delta = read_delta(read_reply("그저 바람이 분다."), STATE)
    assert (delta.events, delta.source, delta.status) == ((), Source.NONE, ReportStatus.FALLBACK)


def test_an_unnamed_player_takes_the_name_under_which_the_player_writes() -> None:
    unnamed = WorldState(player="p", entities={"p": Entity("p", Kind.CHARACTER, "Player")})
    delta = read_delta(read_reply("Hello."), unnamed, player_name="Alex")
    learned = Introduced("p", Kind.CHARACTER, "Alex", (), {"persona": "Alex"})
    assert delta.events == (Renamed("p", "Alex"), learned)
    # Beside the name of a world's sheet it is another name for the same person.
    assert read_delta(read_reply("Hello."), STATE, player_name="Alex").events == (learned,)


def test_the_empty_world_learns_from_play() -> None:
    empty = WorldState(
        player="p", entities={"p": Entity("p", Kind.CHARACTER, "Player", (), {"hp": 100, "max_hp": 100})}
    )
    delta = read_delta(read_reply(BLOCK), empty)
    state = fold(empty, delta, turn="t1", depth=1)
    names = {entity.name for entity in state.entities.values()}
    assert {"어둠의 숲", "불꽃 검", "고블린왕 크룩", "아리아"} <= names
    assert isinstance(delta, Delta)
    assert "does not have '치유 물약'" in state.problems[0].text


@pytest.mark.parametrize(
    ("block", "near"),
    [
        ("location: 광장\nnpc_separated: [에르겐]", []),
        ("location: 광장\npresent: []", []),
        ("location: 어둠의 숲\nlocation_moved: true\nnpc_separated: [에르겐]", ["e"]),
        ("location: 어둠의 숲\nlocation_moved: true\npresent: []", ["e"]),
    ],
)
def test_who_leaves_is_no_longer_near_and_who_is_left_behind_stays_there(block: str, near: list[str]) -> None:
    """``near``: who is at the square when the player is there again."""
    square = fold(
        STATE, read_delta(read_reply("```state\nlocation: 광장\npresent: [에르겐]\n```"), STATE), turn="t1", depth=1
    )
    parted = fold(square, read_delta(read_reply(f"```state\n{block}\n```"), square), turn="t2", depth=2)
    back = read_delta(read_reply("```state\nlocation: 광장\nlocation_moved: true\n```"), parted)
    assert square.nearby() == ["e"]
    assert fold(parted, back, turn="t3", depth=3).nearby() == near


def told_as_one(reply: str, notes: str, *met: str) -> WorldState:
    first = read_delta(read_reply(f"```state\npresent: [{', '.join(met)}]\n```"), STATE)
    known = fold(STATE, first, turn="t1", depth=1)
    second = read_delta(read_reply(f"{reply}\n\n```state\nnotes: {notes}\n```"), known, told=reply)
    return fold(known, second, turn="t2", depth=2)


@pytest.mark.parametrize(
    ("reply", "notes", "met", "names"),
    [
        (
            "They called me Toad.",
            "The forester, Toad and Ren Vale are all the same person.",
            "the forester, Ren Vale",
            3,
        ),
        ("He lifts the mask.", "The Raven and Ren Vale are the same man.", "The Raven, Ren Vale", 2),
        (
            "다들 두꺼비라고 불렀소.",
            "산지기 아저씨와 두꺼비와 오태식은 모두 같은 사람이다.",
            "산지기 아저씨, 오태식",
            3,
        ),
        ("女は面を外した。", "鴉と朔夜は同一人物だった。", "鴉, 朔夜", 2),
        ("他摘下面具。", "原来黑衣人和陆玄清是同一个人。", "黑衣人, 陆玄清", 2),
    ],
)
def test_who_are_told_to_be_the_same_person_are_one(reply: str, notes: str, met: str, names: int) -> None:
    state = told_as_one(reply, notes, *met.split(", "))
    (one,) = [each for each in state.of_kind(Kind.CHARACTER) if each.id not in STATE.entities]
    assert len(one.names) == names and len(state.present) == 1


@pytest.mark.parametrize(
    ("notes", "met"),
    [
        ("Alma suspects that the Raven and Ren Vale are the same person.", "The Raven, Ren Vale"),
        ("The Raven and Ren Vale are not the same person.", "The Raven, Ren Vale"),
        ("산지기 아저씨와 오태식은 같은 사람이 아니다.", "산지기 아저씨, 오태식"),
        ("산지기 아저씨와 오태식이 같은 사람인지 의심한다.", "산지기 아저씨, 오태식"),
        ("鴉と朔夜は同一人物かもしれない。", "鴉, 朔夜"),
        ("黑衣人和陆玄清不是同一个人。", "黑衣人, 陆玄清"),
    ],
)
def test_who_are_only_suspected_to_be_one_stay_two(notes: str, met: str) -> None:
    state = told_as_one("Rain.", notes, *met.split(", "))
    assert len(state.present) == 2


def after(state: WorldState, *blocks: str, told: str = "") -> WorldState:
    """``state`` after replies with these blocks."""
    for depth, block in enumerate(blocks, state.depth + 1):
        reading = read_reply(f"...\n\n```state\n{block}\n```\n")
        state = fold(state, read_delta(reading, state, told=told), turn=f"t{depth}", depth=depth)
    return state


def hands(state: WorldState, owner: str = "p") -> dict[str, int]:
    """What somebody has, by name."""
    return {state.name(item): stack.quantity for item, stack in state.belongings.get(owner, {}).items()}


def test_pocket_money_in_won_is_counted() -> None:
    state = after(STATE, "items_gained: [현금 2000000원]", "items_gained: [{item: 현금, quantity: 3000000000}]")
    assert hands(state)["현금"] == 3_002_000_000
    assert hands(after(state, "items_lost: [현금 200만 원]"))["현금"] == 3_000_000_000
    assert not state.problems


@pytest.mark.parametrize(
    ("said", "whose"),
    [
        *((f"ring ({remark})", "p") for remark in ("Old Mara's", "for Old Mara", "stolen from Old Mara", "from Mara")),
        *((f"반지 ({remark})", "p") for remark in ("에르겐의", "에르겐에게", "에르겐의 것", "에르겐으로부터")),
        *(("ring (Old Mara)", "m1"), ("ring (the goblin king Krook)", "k"), ("반지 (에르겐 님)", "e")),
    ],
)
def test_a_remark_tells_who_gained_a_thing_only_where_it_is_a_name_and_no_more(said: str, whose: str) -> None:
    """What more it tells, whose the thing was or for whom it is, belongs to the thing's name."""
    kept = said if whose == "p" else said.partition(" ")[0]
    state = after(STATE, f"items_gained: [{said}]")
    assert hands(state, whose)[kept] == 1
    assert kept not in hands(after(state, f"items_lost: [{said}]"), whose)
    plain = after(
        state, f"items_transferred: [{{item: {said.partition(' ')[0]}, from: {state.name(whose)}, to: 크룩}}]"
    )
    assert kept in hands(plain, "k")


@pytest.mark.parametrize(
    ("who", "place", "status", "known"),
    [
        ("오 영감", "오 영감 전당포", "불에 타 없어짐", "오 영감 전당포"),
        ("오 영감", "오 영감 전당포", "팔림", "오 영감 전당포"),
        ("오 영감", "오 영감 전당포", "불에 타 없어짐", "마을 광장"),
        ("田中", "田中の店", "全焼", "마을 광장"),
        ("老王", "老王店铺", "烧毁", "마을 광장"),
    ],
)
def test_a_place_that_is_called_by_its_owner_has_her_name_but_not_its_state(
    who: str, place: str, status: str, known: str
) -> None:
    state = after(STATE, f"location: {known}\npresent: [{who}]", "location: 어둠의 숲")
    after_fire = after(state, f"status_changes: [{{name: {place}, status: {status}}}]")
    assert not any(each.get("status") for each in after_fire.of_kind(Kind.CHARACTER))
    hurt = after(state, f"status_changes: [{{name: {who}, status: 부상}}]")
    assert [each.name for each in hurt.of_kind(Kind.CHARACTER) if each.get("status")] == [who]


@pytest.mark.parametrize(
    "unknown",
    "unknown,?,???,someone,미상,알 수 없음,누군가,不明,誰か,未知,某人,不明（盗まれた）,Unknown (the thief)".split(","),
)
def test_a_hand_that_is_not_known_is_not_the_players(unknown: str) -> None:
    state = after(STATE, "items_gained: [{name: 翡翠の簪 (에르겐)}]", "items_gained: [은화 x5]")
    stolen = after(state, f"items_transferred: [{{item: 翡翠の簪, from: 에르겐, to: {unknown}}}]")
    assert (hands(stolen), hands(stolen, "e")) == ({"치유 물약": 2, "은화": 5}, {})
    assert "翡翠の簪" in hands(
        after(stolen, f"items_transferred: [{{item: 翡翠の簪, from: {unknown}, to: 크룩}}]"), "k"
    )
    lost = after(state, f"items_transferred: [은화 x3: 플레이어 -> {unknown}]\nitems_lost: [은화 x3]")
    assert hands(lost) == {"치유 물약": 2, "은화": 2}
    found = f"items_transferred: [{{item: 반지, from: {unknown}, to: 플레이어}}]"
    assert hands(after(state, f"{found}\nitems_gained: [반지]"))["반지"] == 1
    assert [*stolen.of_kind(Kind.CHARACTER)] == [*state.of_kind(Kind.CHARACTER)]


def test_a_thing_that_is_laid_down_somewhere_lies_there_and_the_place_is_nobody() -> None:
    laid = after(STATE, "items_transferred: [{item: 치유 물약, from: Player, to: 어둠의 숲}]")
    assert (hands(laid), hands(laid, "f")) == ({"치유 물약": 1}, {"치유 물약": 1})
    assert [*laid.of_kind(Kind.CHARACTER)] == [*STATE.of_kind(Kind.CHARACTER)]
    taken = after(laid, "items_transferred: [{item: 치유 물약, from: 어둠의 숲, to: 에르겐}]")
    assert (hands(taken, "f"), hands(taken, "e")) == ({}, {"치유 물약": 1})
    assert not taken.problems


def test_a_hand_of_which_nothing_is_said_is_the_players() -> None:
    assert hands(after(STATE, "items_transferred: [{item: 은반지, from: 크룩}]")) == {"치유 물약": 2, "은반지": 1}
    given = after(STATE, "items_transferred: [{item: 치유 물약, to: 에르겐}]")
    assert (hands(given), hands(given, "e")) == ({"치유 물약": 1}, {"치유 물약": 1})


def test_nobody_hands_himself_what_somebody_else_must_have_had() -> None:
    assert hands(after(STATE, "items_transferred: [{item: 은반지, from: null, to: 플레이어}]"))["은반지"] == 1
    assert hands(after(STATE, "items_transferred: [{item: 치유 물약, from: 플레이어, to: null}]")) == {"치유 물약": 1}


@pytest.mark.parametrize(
    ("several", "one"),
    [
        ("six copies of the second act", "copy of the second act"),
        ("six diaries", "diary"),
        ("six loaves", "loaf"),
        ("six scarves", "scarf"),
        ("six knives", "knife"),
        ("six keys", "key"),
    ],
)
def test_one_of_several_is_given_whatever_the_plural(several: str, one: str) -> None:
    state = after(STATE, f"items_gained: [{several}]")
    given = after(state, f"items_transferred: [{{item: {one}, from: Player, to: 에르겐}}]")
    assert [count for name, count in hands(given).items() if name not in hands(STATE)] == [5]


@pytest.mark.parametrize(
    ("thing", "said", "told", "given"),
    [
        ("차표", "표", "마라에게 차표를 건넨다.", True),
        ("선물", "물", "마라에게 선물 앞에서 물을 건넨다.", False),
        ("太刀", "刀", "太刀を渡す。", True),
        ("만년필", "펜", "펜을 건넨다.", False),
        ("은시계", "시계", "시계를 건넨다.", True),
        ("懐中時計", "時計", "時計を渡す。", True),
        ("letter of the duke", "sealed letter", "You give her the letter of the duke.", True),
        ("fountain pen", "quill", "You give her the quill.", False),
    ],
)
def test_the_only_thing_that_ends_in_the_word_for_its_kind_is_meant(
    thing: str, said: str, told: str, given: bool
) -> None:
    state = after(STATE, f"items_gained: [{thing}]")
    block = f"items_transferred: [{{item: {said}, from: Player, to: 에르겐}}]"
    delta = read_delta(read_reply(f"{told}\n\n```state\n{block}\n```\n"), state, told=told)
    found = fold(state, delta, turn="t9", depth=9)
    assert (thing not in hands(found)) is given
    assert (thing in hands(found, "e")) is given


def test_my_thing_and_yours_are_called_as_the_thing_was_before() -> None:
    state = after(STATE, "items_gained: [jacket]", "items_lost: [jacket]", "items_gained: [my jacket, your hat]")
    assert hands(state) == {"치유 물약": 2, "jacket": 1, "hat": 1}


def test_a_thing_that_is_called_by_a_number_is_lost_by_it() -> None:
    state = after(STATE, "items_gained: [{name: 열쇠 3, quantity: 1}, 은화 x3]")
    assert hands(after(state, "items_lost: [열쇠 3]")) == {"치유 물약": 2, "은화": 3}


def kinds(state: WorldState) -> dict[tuple[str, str], str]:
    """How they stand to each other, by their ids."""
    return {pair: relation.type for pair, relation in state.relations.items()}


OWES = "relationship_changes: [{from: 아리아, to: 에르겐, type: 빚, delta: 0}]"


@pytest.mark.parametrize(
    ("block", "now"),
    [
        ("relationship_changes: [{from: 아리아, to: 에르겐, type: 빚, delta: 0, status: 완제}]", "완제"),
        ("relationship_changes: [{from: 에르겐, to: 아리아, type: 채무 청산, delta: 1}]", "채무 청산"),
        ("notes: 아리아가 에르겐에게 물값 은화 10닢을 다 갚았다. 크룩은 갔다.", "청산"),
        ("notes: 에르겐에게 빚을 모두 갚았다.", "청산"),
        ("notes: 빚 200만 원을 모두 갚았다.", "청산"),
        ("notes: 아리아가 에르겐에게 빚을 절반 갚았다.", "빚"),
        ("notes: 크룩이 에르겐에게 빚을 모두 갚았다.", "빚"),
        ("notes: 아리아가 크룩에게 빚을 모두 갚았다.", "빚"),
        ("notes: 크룩이 왔다. 빚을 모두 갚았다.", "빚"),
        ("relationship_changes: [{from: 아리아, to: 에르겐, type: 빚}]\nnotes: 에르겐에게 빚을 모두 갚았다.", "청산"),
        ("relationship_changes: [{from: 아리아, to: 에르겐, type: 외상}]\nnotes: 에르겐에게 빚을 갚았다.", "외상"),
    ],
)
def test_a_debt_that_was_paid_is_none(block: str, now: str) -> None:
    assert kinds(after(STATE, OWES, block))["p", "e"] == now


@pytest.mark.parametrize(
    ("kind", "note", "now"),
    [
        ("debtor", "아리아 pays 에르겐 back.", "settled"),
        ("借り", "三千円を에르겐に返した。", "完済"),
        ("欠债", "五万块还清了에르겐。", "还清"),
    ],
)
def test_it_is_told_in_the_language_of_the_debt(kind: str, note: str, now: str) -> None:
    state = after(STATE, OWES.replace("빚", kind), f"notes: {note}")
    assert kinds(state)["p", "e"] == now


def test_a_quarrel_leaves_a_debt_and_a_note_settles_it_all_the_same() -> None:
    quarrel = OWES.replace("빚", "hostile").replace("0}", "-2}")
    state = after(STATE, OWES.replace("0}", "1}"), quarrel)
    assert str(state.relations["p", "e"]) == "hostile (-2), 빚 (+1)"
    state = after(state, f"{quarrel}\nnotes: 아리아가 에르겐에게 빚을 모두 갚았다.")
    assert str(state.relations["p", "e"]) == "hostile (-4)"
    state = after(STATE, OWES.replace("0}", "1}"), quarrel)
    state = after(state, f"{OWES.replace('0}', '-1}')}\nnotes: 아리아가 에르겐에게 빚을 모두 갚았다.")
    assert str(state.relations["p", "e"]) == "hostile (-2)", "told twice, it is settled once"


def test_of_two_debts_a_note_that_names_nobody_settles_none() -> None:
    state = after(STATE, OWES, OWES.replace("에르겐", "크룩"), "notes: 빚을 모두 갚았다.")
    assert kinds(state) == {("p", "e"): "빚", ("p", "k"): "빚"}


SUPPOSED = """
传闻已死 可能已死 传说已死 传闻身亡 疑似死亡 恐怕已死 恐已死亡 听说死了 好像死了 以为死了 看似死了 看似已死 謠傳已死
傳聞已死 據說已死 据报身亡
被认为已死 误传身亡 對外宣稱身亡 假装死亡 诈死 没有死亡 并未死亡 险些身亡 濒临死亡 害怕死亡 目睹同伴死亡 似乎已死
應該已死 推定死亡 死亡？
おそらく死亡 推定死亡 噂では死亡 死亡と推定 死んだと思われる 死亡説 死んだらしい 表向きは死亡 死亡したとされる
戦死と報じられる 偽装死亡 危うく死亡 仮死
사망_추정 죽은_것으로_알려짐 죽었다는_소문 사망설 죽은_듯함 생사_불명 사망_(추정) 거의_죽음
presumed_dead allegedly_dead reported_dead feared_dead believed_dead left_for_dead dead? half_dead not_dead
possibly_dead rumored_dead
""".split()
CERTAIN = """
死亡 坠楼身亡 中弹而死 已死 感染传染病死亡 误服毒药身亡 恐怖袭击中身亡 不治身亡 不幸身亡 睡梦中去世 确认死亡
已证实死亡 装甲车爆炸身亡 在据点身亡 爲國犧牲
死亡 刺されて死亡 眠るように死去 男らしく戦死 病死により死亡 사망 죽음 dead killed
""".split()


def _folded(state: WorldState, reply: str) -> WorldState:
    return fold(state, read_delta(read_reply(reply), state), turn="t", depth=1)


@pytest.mark.parametrize("said", SUPPOSED)
def test_a_death_that_is_only_supposed_is_no_death(said: str) -> None:
    block = f"{{name: 에르겐, status: {said.replace('_', ' ')}}}"
    now = _folded(STATE, f"```state\nstatus_changes: [{block}]\n```")
    assert not now.entities["e"].dead
    assert now.entities["e"].get("status")


@pytest.mark.parametrize("said", CERTAIN)
def test_a_death_that_is_told_as_certain_is_one(said: str) -> None:
    block = f"{{name: 에르겐, status: {said}}}"
    now = _folded(STATE, f"```state\nstatus_changes: [{block}]\n```")
    assert now.entities["e"].dead


@pytest.mark.parametrize(
    "told", ["에르겐 추정 사망", "에르겐 presumed dead", "에르겐 reportedly killed", "에르겐 (传闻已死)"]
)
def test_a_supposition_beside_a_name_is_no_part_of_it(told: str) -> None:
    now = _folded(STATE, f"```state\nstatus_changes: [{told}]\n```")
    assert not now.entities["e"].dead
    assert now.entities.keys() == STATE.entities.keys()


@pytest.mark.parametrize(
    ("name", "status", "is_thing"),
    [
        ("三味線", "棹が折れた", True),
        ("三味線", "直った", True),
        ("fiddle", "snapped", True),
        ("가야금", "줄이 끊어짐", True),
        ("古琴", "琴弦断了", True),
        ("銀次", "腕が折れた", False),
        ("銀次", "心が折れた", False),
        ("만복", "다리가 부러짐", False),
        ("阿四", "腿断了", False),
    ],
)
def test_the_status_of_something_broken_or_mended_makes_nobody(name: str, status: str, is_thing: bool) -> None:
    now = _folded(STATE, f"```state\nstatus_changes: [{{name: {name}, status: {status}}}]\n```")
    assert (now.entities.keys() == STATE.entities.keys()) is is_thing


def test_somebody_taken_for_dead_comes_back_by_a_living_status_alone() -> None:
    dead = _folded(STATE, "```state\nstatus_changes: [{name: 에르겐, status: 死亡}]\n```")
    listed = _folded(dead, "```state\npresent: [에르겐]\n```")
    assert listed.entities["e"].dead
    back = "```state\npresent: [에르겐]\nstatus_changes: [{name: 에르겐, status: 存活}]\n```"
    now = _folded(dead, back)
    assert not now.entities["e"].dead
    assert now.present == ("e",)


@pytest.mark.parametrize(
    ("had", "gained", "given", "mine", "theirs"),
    [
        (0, 2, 1, 1, 1),
        (0, 2, 2, 0, 2),
        (1, 2, 2, 1, 2),
        (5, 2, 1, 6, 1),
        (5, 1, 3, 3, 3),
        (5, 2, 2, 3, 2),  # the transfer is reported twice
    ],
)
def test_what_is_gained_and_given_in_one_block_is_counted_once(
    had: int, gained: int, given: int, mine: int, theirs: int
) -> None:
    state = after(STATE, f"items_gained: [walkie-talkie x{had}]") if had else STATE
    passed = f"{{item: walkie-talkie, from: Player, to: 에르겐, quantity: {given}}}"
    now = after(state, f"items_gained: [walkie-talkie x{gained}]\nitems_transferred: [{passed}]")
    assert hands(now).get("walkie-talkie", 0) == mine
    assert hands(now, "e").get("walkie-talkie", 0) == theirs
    assert not now.problems


def test_a_gain_of_what_was_handed_over_is_the_same_gain() -> None:
    state = after(STATE, "items_gained: [{name: 은화 (에르겐), quantity: 5}]")
    now = after(
        state, "items_gained: [은화 x3]\nitems_transferred: [{item: 은화, from: 에르겐, to: Player, quantity: 3}]"
    )
    assert (hands(now)["은화"], hands(now, "e")["은화"]) == (3, 2)


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ("status_changes: [{name: 에르겐, status: 생존, 발목 부상}]", "생존, 발목 부상"),
        ('{"status_changes": [{"name": "에르겐", "status": "생존", "발목 부상"}]}', "생존, 발목 부상"),
        ("status_changes: [{status: alive, sprained ankle, name: 에르겐}]", "alive, sprained ankle"),
        ("status_changes: [{name: 에르겐, status: 受伤，很虚弱}]", "受伤, 很虚弱"),
        ("status_changes: {에르겐: 생존, 발목 부상}", "생존, 발목 부상"),
        ("status_changes: [{name: 에르겐, status: 사망, 물에 빠짐}]", "dead"),
        ("status_changes: [{name: 에르겐, status: dead, drowned}]", "dead"),
        ("status_changes: [{name: 에르겐, status: dead, unconfirmed}]", "dead, unconfirmed"),
        ("status_changes: [{name: 에르겐, status: 死亡，推定}]", "死亡, 推定"),
        ("status_changes: [{name: 에르겐, status: 사망, 부활}]", "사망, 부활"),
    ],
)
def test_the_rest_of_a_status_behind_a_comma_is_no_name(said: str, status: str) -> None:
    now = after(STATE, said)
    assert now.entities["e"].get("status") == status
    assert now.entities.keys() == STATE.entities.keys()


@pytest.mark.parametrize(
    ("said", "status"),
    [
        (("left hand cut", "side cut"), "left hand cut; side cut"),
        (("left hand cut", "side cut", "left hand bandaged"), "side cut; left hand bandaged"),
        (("left arm broken", "right arm cut", "arm in a sling"), "arm in a sling"),
        (("bad knees", "knee swollen"), "knee swollen"),
        (("left hand cut", "side cut", "healthy"), "alive"),
        (("left hand cut", "dead"), "dead"),
        (("left hand cut", "fully recovered"), "fully recovered"),
        (("tired", "side cut"), "side cut"),
        (("side cut", "fever", "asleep"), "side cut; asleep"),
        (("left hand cut", "side cut", "left hand healed"), "side cut"),
        (("발목 부상", "발목 완치", "어깨를 다침"), "어깨를 다침"),
        (("左臂受伤", "左臂未恢复", "右臂骨折"), "左臂未恢复; 右臂骨折"),
        (("左臂受伤", "右臂骨折", "左臂已痊愈"), "右臂骨折"),
        (("오른쪽 어깨 부상 회복 중", "옆구리 베임"), "오른쪽 어깨 부상 회복 중; 옆구리 베임"),
        (("왼손이 베임", "오른손 화상", "왼손 붕대"), "오른손 화상; 왼손 붕대"),
        (("배신감", "손등 긁힘"), "손등 긁힘"),
        (("左手に切り傷", "脇腹を負傷"), "左手に切り傷; 脇腹を負傷"),
        (("左臂受伤", "右臂骨折", "左臂已包扎"), "右臂骨折; 左臂已包扎"),
    ],
)
def test_wounds_of_two_parts_of_the_body_are_two(said: tuple[str, ...], status: str) -> None:
    now = after(STATE, *(f"status_changes: [{{name: 에르겐, status: {each}}}]" for each in said))
    assert now.entities["e"].get("status") == status
    if len(said) == 2 and ";" in status:
        both = ", ".join(f"{{name: 에르겐, status: {each}}}" for each in said)
        assert after(STATE, f"status_changes: [{both}]").entities["e"].get("status") == status


def test_the_rest_of_a_relation_behind_a_comma_belongs_to_it() -> None:
    now = after(STATE, "relationship_changes: [{from: 에르겐, to: 크룩, type: friend, ally, delta: 5}]")
    assert now.relations["e", "k"].type == "friend, ally"


def test_two_records_in_one_map_stay_two() -> None:
    now = after(STATE, "status_changes: {에르겐: 사망, 크룩: 부상}")
    assert now.entities["e"].dead
    assert now.entities["k"].get("status") == "부상"


def everybody(state: WorldState) -> list[set[str]]:
    """The names of each character, except the player's and those of ``STATE``."""
    return [set(each.names) for each in state.of_kind(Kind.CHARACTER) if each.id not in STATE.entities]


@pytest.mark.parametrize(
    ("blocks", "told"),
    [
        (
            (
                "present: [Father Quinn]",
                "present: [Cole Raddick]\nnotes: Father Quinn is really Cole Raddick, an escaped convict.",
            ),
            "",
        ),
        (
            (
                "present: [黒騎士]",
                "present: [クラウス]\nstatus_changes: [{name: クラウス, status: 生存（黒騎士の正体）}]",
            ),
            "",
        ),
        (("present: [黒騎士]", "npc_met: [クラウス（黒騎士の正体）]\npresent: [クラウス]"), ""),
        (("present: [秦少白]", "notes: 夜莺就是秦少白：袖口少一颗扣子。"), "“夜莺的扣子也少一颗。”"),
        (("present: [夜莺, 秦少白]", "notes: 夜莺就是秦少白。"), ""),
        (("present: [夜莺]", "npc_met: [秦少白（夜莺的真实身份）]"), ""),
        (("present: [흑기사]", "present: [강도윤]\nnotes: 흑기사의 정체는 강도윤이다."), "강도윤이 웃었다."),
        (("present: [흑기사]", "npc_met: [강도윤 (흑기사의 정체)]"), ""),
        (("present: [흑기사, 강도윤]", "notes: 흑기사는 바로 강도윤이다."), ""),
    ],
)
def test_who_turns_out_to_be_whom_is_one_person_under_both_names(blocks: tuple[str, ...], told: str) -> None:
    (names,) = everybody(after(STATE, *blocks, told=told))
    assert len(names) == 2


def test_a_remark_that_unmasks_is_no_part_of_the_status() -> None:
    status = "status_changes: [{name: クラウス, status: 生存（黒騎士の正体）}, {name: ガルム, status: 重傷（左腕）}]"
    state = after(STATE, "present: [黒騎士, ガルム]", status)
    told = {each.name: each.get("status") for each in state.of_kind(Kind.CHARACTER) if each.id not in STATE.entities}
    assert told == {"クラウス": "alive", "ガルム": "重傷（左腕）"}


@pytest.mark.parametrize(
    "blocks",
    [
        ("present: [Father Quinn, Cole Raddick]", 'npc_met: ["Cole Raddick (the false Father Quinn)"]'),
        ("present: [Father Quinn]", 'present: [Father Quinn]\nnpc_met: ["Cole Raddick (the false Father Quinn)"]'),
        ("present: [Father Quinn]", 'npc_met: ["Cole Raddick (the real Father Quinn)"]'),
        ("present: [夜莺, 秦少白]", "notes: 沈墨怀疑夜莺就是秦少白。"),
        ("present: [夜莺, 秦少白]", "notes: 夜莺可能就是秦少白。"),
        ("present: [夜莺, 秦少白]", "notes: 夜莺不是秦少白。"),
        ("present: [夜莺, 秦少白]", "notes: 下一个目标就是秦少白。"),
        ("present: [흑기사, 강도윤]", "notes: 흑기사는 바로 강도윤의 형이다."),
        ("present: [黒騎士, クラウス]", "notes: 黒騎士の正体は不明。"),
    ],
)
def test_an_impostor_or_a_suspicion_makes_nobody_one(blocks: tuple[str, ...]) -> None:
    assert len(everybody(after(STATE, *blocks))) == 2


@pytest.mark.parametrize(
    "said",
    [
        "传闻已死",
        "可能已死",
        "presumed dead",
        "believed to be dead",
        "사망 추정",
        "推定死亡",
        "死亡と推定",
        "아마 사망",
    ],
)
def test_who_is_seen_is_no_longer_said_to_be_dead(said: str) -> None:
    told = after(STATE, f"status_changes: [{{name: 에르겐, status: {said}}}]")
    assert told.entities["e"].get("status") == said
    assert after(told, "present: [에르겐]").entities["e"].get("status") == "alive"
    assert after(told, "present: [크룩]").entities["e"].get("status") == said
    again = after(told, f"present: [에르겐]\nstatus_changes: [{{name: 에르겐, status: {said}}}]")
    assert again.entities["e"].get("status") == said


@pytest.mark.parametrize(
    ("note", "lives"),
    [
        ("에르겐 is alive; he only feigned death.", True),
        ("It turns out well. 에르겐 only faked his death.", True),
        ("에르겐은 사실 살아 있었다.", True),
        ("에르겐其实没死。", True),
        ("エルゲン is alive.", False),
        ("에르겐 is not alive any more.", False),
        ("에르겐 lies on the bier.", False),
    ],
)
def test_who_is_listed_and_said_to_be_alive_is_not_dead(note: str, lives: bool) -> None:
    dead = after(STATE, "status_changes: [{name: 에르겐, status: dead}]")
    listed = after(dead, f"present: [에르겐]\nnotes: {note}")
    assert listed.entities["e"].dead is not lives and ("e" in listed.present) is lives
    assert after(dead, f"present: [크룩]\nnotes: {note}").entities["e"].dead  # an heir may only believe so


@pytest.mark.parametrize("said", ["half dead", "left for dead", "injured", "假死", "差点死亡", "부상", "死亡"])
def test_who_is_seen_keeps_another_status(said: str) -> None:
    told = after(STATE, f"status_changes: [{{name: 에르겐, status: {said}}}]")
    kept = told.entities["e"].get("status")
    assert after(told, "present: [에르겐]").entities["e"].get("status") == kept


@pytest.mark.parametrize(
    "word", ["故人", "病死", "病故", "过世", "별세", "타계", "deceased", "passed away", "Killed off-stage", "숨을 거둠"]
)
def test_words_for_dead_in_every_language(word: str) -> None:
    assert status_of(word) == DEAD


_CAUSES = """
dead (shot)|shot dead|dead - shot by Kubas|Dead: poisoned.|died of fever|killed by the bear|succumbed to his wounds
is dead|found dead in the cellar|dead of a gunshot|bled to death|frozen to death|drowned in the canal
killed by a drunk driver|killed by Will|lost his life at sea|fell to his death|dead at her feet|died of exhaustion
dead (not yet buried)
사망 (총상)|총에 맞아 사망|병으로 죽음|숨이 끊어짐|칼에 찔려 죽었다|화재로 인해 사망함|적에게 살해당함|사망 - 과다 출혈
死亡（銃撃）|銃で撃たれて死んだ|射殺された|病で亡くなった|息を引き取った|死亡（枪伤）|死于枪伤|被熊咬死|因伤丧命|断气"""


@pytest.mark.parametrize("word", _CAUSES.strip().replace("\n", "|").split("|"))
def test_a_death_may_be_reported_with_its_cause(word: str) -> None:
    assert status_of(word) == DEAD


_NO_DEATHS = """
dead tired|dead (tired)|brain-dead|half-dead|nearly dead|left for dead|dead on her feet|dead to the world|dead inside
died inside|played dead|dead (faked)|dead (presumed)|dead - presumed drowned|dead (in a dream)|dead by dawn
killed the guard|killed Otto|drowned in debt|sentenced to death|scared to death|his father died of fever|undead
died, came back|dead until midnight|not dead|wounded (dead horse)|succumbed to sleep|dead set on revenge
died of shame|near death
아버지의 죽음|형이 총에 맞아 사망|죽은 척|거의 죽음|사망 (추정)|사망 (위장)|꿈에서 죽음
죽음의 공포|죽음을 목격함|죽어 감|병사
父が病で死んだ|死亡（偽装）|夢で死んだ|死にかけて倒れた|死亡（假装）|差点被打死|梦中被打死|害怕死于枪下|父亲被打死"""


@pytest.mark.parametrize("word", _NO_DEATHS.strip().replace("\n", "|").split("|"))
def test_what_is_no_death_stays_as_it_is(word: str) -> None:
    assert status_of(word) == word


@pytest.mark.parametrize("word", ["병사", "soldier", "完治", "病"])
def test_words_that_only_look_like_it(word: str) -> None:
    assert status_of(word) != DEAD


COMPASS = WorldState(
    player="p",
    entities={
        "p": Entity("p", Kind.CHARACTER, "Wren", (), {"is_player": True}),
        "pim": Entity("pim", Kind.CHARACTER, "Pim"),
        "odile": Entity("odile", Kind.CHARACTER, "Sister Odile"),
        "lane": Entity("lane", Kind.LOCATION, "lane"),
        "c": Entity("c", Kind.ITEM, "brass compass"),
        "l": Entity("l", Kind.ITEM, "sealed letter"),
    },
    whereabouts={each: Placement("lane") for each in ("p", "pim", "odile")},
    present=("pim", "odile"),
    met=("pim", "odile"),
    belongings={"pim": {"c": Stack(1)}, "odile": {"l": Stack(1)}},
)
HELD = {"p": {}, "pim": {"brass compass": 1}, "odile": {"sealed letter": 1}}
"""Who has what before."""


def held(state: WorldState) -> dict[str, dict[str, int]]:
    assert not state.problems
    return {who: hands(state, who) for who in ("p", "pim", "odile")}


@pytest.mark.parametrize("nobody", ["null", "nobody", "none", "~", "없음", "なし", "无", "(none)"])
def test_what_somebody_hands_to_nobody_is_lost(nobody: str) -> None:
    lost = after(COMPASS, f"items_transferred: [{{item: brass compass, from: Pim, to: {nobody}}}]")
    assert held(lost) == {**HELD, "pim": {}}
    assert held(after(COMPASS, f"items_transferred: ['brass compass: Pim -> {nobody}']")) == {**HELD, "pim": {}}
    arrow = after(COMPASS, f"items_transferred: [brass compass: Wren -> {nobody}]")
    assert hands(arrow, "pim") == {"brass compass": 1}
    form = after(COMPASS, f"items_transferred: [{{item: brass compass, from: {nobody}, to: {nobody}}}]")
    assert held(form) == HELD, "a form that is not filled in says nothing"


@pytest.mark.parametrize("key", ["from", "who", "owner", "name", "npc", "주인", "소유자", "持ち主", "人物", "所有者"])
def test_a_loss_of_somebody_else_is_hers(key: str) -> None:
    assert held(after(COMPASS, f"items_lost: [{{item: brass compass, {key}: Pim}}]")) == {**HELD, "pim": {}}
    both = evolve(COMPASS, belongings={**COMPASS.belongings, "p": {"c": Stack(1)}})
    assert hands(after(both, f"items_lost: [{{item: brass compass, {key}: Pim}}]")) == {"brass compass": 1}
    assert held(after(both, f"items_lost: [{{item: brass compass, {key}: Wren}}]")) == HELD
    mine = evolve(COMPASS, belongings={"p": {"c": Stack(1)}})
    assert hands(after(mine, f"items_lost: [{{item: brass compass, {key}: Pim}}]")) == {"brass compass": 1}


@pytest.mark.parametrize("key", ["to", "who", "owner", "name", "character", "주인", "持ち主", "所有者"])
def test_a_gain_of_somebody_else_is_hers(key: str) -> None:
    found = after(COMPASS, f"items_gained: [{{item: rope, {key}: Pim, quantity: 2}}]")
    assert held(found) == {**HELD, "pim": {"brass compass": 1, "rope": 2}}
    mine = after(COMPASS, f"items_gained: [{{item: rope, {key}: Player}}]")
    assert held(mine) == {**HELD, "p": {"rope": 1}}


@pytest.mark.parametrize("thing", ["Pim's brass compass", "Pim’s compass", "Pim: brass compass", "핌의 brass compass"])
def test_a_loss_of_what_its_name_tells_to_be_somebody_elses_is_hers(thing: str) -> None:
    pim = evolve(COMPASS.entities["pim"], aliases=("핌",))
    state = evolve(COMPASS, entities={**COMPASS.entities, "pim": pim})
    assert held(after(state, f"items_lost: ['{thing.replace(chr(39), chr(39) * 2)}']")) == {**HELD, "pim": {}}
    lent = evolve(state, belongings={"p": {"c": Stack(1)}})
    assert held(after(lent, 'items_lost: ["Pim\'s brass compass"]'))["p"] == {}


def test_a_loss_of_what_the_player_does_not_have_is_its_only_holders() -> None:
    assert held(after(COMPASS, "items_lost: [brass compass]")) == {**HELD, "pim": {}}
    mine = evolve(COMPASS, belongings={**COMPASS.belongings, "p": {"c": Stack(1)}})
    assert held(after(mine, "items_lost: [brass compass]")) == HELD
    assert held(after(COMPASS, "items_gained: [brass compass]\nitems_lost: [brass compass]"))["odile"] == HELD["odile"]
    two = evolve(COMPASS, belongings={"pim": {"l": Stack(1)}, "odile": {"l": Stack(1)}})
    lost = after(two, "items_lost: [sealed letter]")
    assert hands(lost, "pim") == hands(lost, "odile") == {"sealed letter": 1}, "nobody knows whose"


@pytest.mark.parametrize(
    ("note", "pim"),
    [
        ("", {"brass compass": 1}),
        ("\nnotes: Wren lent Pim the brass compass.", {"brass compass": 1}),
        ("\nnotes: Pim has lost the brass compass in the canal.", {}),
    ],
)
def test_a_gift_that_is_told_again_as_a_loss_is_kept_unless_a_note_says_who_lost_it(
    note: str, pim: dict[str, int]
) -> None:
    mine = evolve(COMPASS, belongings={"p": {"c": Stack(1)}})
    gift = read_reply("So.\n\n```state\nitems_transferred: [brass compass: Player -> Pim]\n```")
    state = fold(mine, given := read_delta(gift, mine), turn="t1", depth=1)
    reading = read_reply(f"He nods.\n\n```state\nitems_lost: [brass compass]{note}\n```")
    assert hands(fold(state, read_delta(reading, state, above=given), turn="t2", depth=2), "pim") == pim


def test_a_thing_under_the_key_for_a_name_is_one_whoever_has_it() -> None:
    assert held(after(COMPASS, "items_lost: [{name: brass compass, who: Pim}]")) == {**HELD, "pim": {}}
    assert held(after(COMPASS, "items_gained: [{name: rope, to: Pim}]"))["pim"] == {"brass compass": 1, "rope": 1}


TAKEN = "items_transferred: [{item: sealed letter, from: Sister Odile, to: Player}]"


@pytest.mark.parametrize(
    "block",
    [
        f"{TAKEN}\nitems_lost: [sealed letter]",
        f"items_lost: [sealed letter]\n{TAKEN}",
        f"{TAKEN}\nitems_lost: [{{item: sealed letter, from: Player}}]",
        "items_gained: [sealed letter]\nitems_lost: [sealed letter]",
    ],
)
def test_what_is_taken_and_burned_in_one_reply_is_gone(block: str) -> None:
    assert held(after(COMPASS, block)) == {**HELD, "odile": {}}


def test_of_several_that_come_in_one_reply_as_many_may_go_by_gift_and_by_loss() -> None:
    one = evolve(COMPASS, belongings={"p": {"l": Stack(1)}, "odile": {"l": Stack(1)}})
    given = "{item: sealed letter, from: Player, to: Pim}"
    spent = after(one, f"{TAKEN[:-1]}, {given}]\nitems_lost: [sealed letter]")
    assert held(spent) == {"p": {}, "pim": {"sealed letter": 1}, "odile": {}}
    passed = after(COMPASS, f"{TAKEN[:-1]}, {given}]\nitems_lost: [sealed letter]")
    assert held(passed)["pim"] == {"brass compass": 1, "sealed letter": 1}, "handed on, which was told twice"


def people(state: WorldState) -> list[str]:
    return [each.name for each in state.of_kind(Kind.CHARACTER)]


@pytest.mark.parametrize(
    "where",
    [
        "ground",
        "the table",
        "floor",
        "the nettles",
        "river",
        "Ground",
        "Sister Odile's window",
        "Odile’s chest",
        "the widow's window",
        "시스터 오딜의 창문",
    ],
)
def test_what_a_thing_lies_on_is_nobody(where: str) -> None:
    told = "Pim points to the ground, the table and the floor by the river."
    odile = evolve(COMPASS.entities["odile"], aliases=("시스터 오딜", "Odile"))
    state = evolve(COMPASS, entities={**COMPASS.entities, "odile": odile})
    found = after(state, f"items_transferred: [{{item: rope, from: {where}, to: Pim}}]", told=told)
    assert held(found)["pim"] == {"brass compass": 1, "rope": 1}
    left = after(state, f"items_transferred: [{{item: brass compass, from: Pim, to: {where}}}]", told=told)
    assert held(left) == {**HELD, "pim": {}}
    assert people(found) == people(left) == people(state)


@pytest.mark.parametrize(
    "own", ["your pocket", "my bag", "Wren's coat", "Player's inventory", "당신의 주머니", "satchel"]
)
def test_what_is_put_into_the_players_pocket_is_the_players(own: str) -> None:
    told = "She puts it into your satchel."
    taken = after(COMPASS, f"items_transferred: [{{item: sealed letter, from: Sister Odile, to: {own}}}]", told=told)
    assert held(taken) == {**HELD, "odile": {}, "p": {"sealed letter": 1}}
    given = after(taken, f"items_transferred: [{{item: sealed letter, from: {own}, to: Pim}}]", told=told)
    assert held(given) == {"p": {}, "odile": {}, "pim": {"sealed letter": 1, "brass compass": 1}}
    assert people(given) == people(COMPASS)


@pytest.mark.parametrize(
    ("who", "told", "more"),
    [
        ("the merchant", "", ""),
        ("Gorm", "", ""),
        ("Old Gorm", "Gorm takes it.", ""),
        ("ferryman", '"Give it here," says the ferryman.', ""),
        ("ferryman", 'The ferryman growls, "Give it here."', ""),
        ("ferryman", "", "\npresent: [Pim, Sister Odile, ferryman]"),
        ("Pim's sister", "", ""),
        ("핌", "", ""),
        ("船頭", "", ""),
        ("森の魔女", "", ""),
    ],
)
def test_somebody_new_who_is_given_a_thing_is_somebody(who: str, told: str, more: str) -> None:
    given = after(COMPASS, f"items_transferred: [{{item: brass compass, from: Pim, to: {who}}}]{more}", told=told)
    assert len(people(given)) == len(people(COMPASS)) + 1
    assert not hands(given, "pim")


@pytest.mark.parametrize(
    ("had", "lost", "left"),
    [
        ("silver x12", "all silver", {}),
        ("silver coins x12", "all the silver", {}),
        ("은화 x12", "은화 전부", {}),
        ("銀貨 x12", "すべての銀貨", {}),
        ("银币 x12", "所有银币", {}),
        ("현금 5만 원", "15000원", {"현금": 35_000}),
        ("50000원", "현금 15000원", {"원": 35_000}),
        ("arrow x500", "15 coins", {"arrow": 500}),
    ],
)
def test_all_of_a_thing_is_lost_and_a_sum_is_paid_of_the_money(had: str, lost: str, left: dict[str, int]) -> None:
    before = hands(STATE)
    state = after(STATE, f"items_gained: [{had}]", f"items_lost: [{lost}]")
    assert {name: count for name, count in hands(state).items() if name not in before} == left
