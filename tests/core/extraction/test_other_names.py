"""Other names of people, as notes of reports tell them."""

from __future__ import annotations

import pytest

from saga_core.extraction import read_delta
from saga_core.model import Delta, Kind, WorldState, fold
from saga_core.state_block import read_reply
from saga_core.world import EMPTY_WORLD, opening_state


def play(*blocks: str) -> WorldState:
    state = opening_state(EMPTY_WORLD, "root")
    for number, block in enumerate(blocks, 1):
        delta: Delta = read_delta(read_reply(f"The story goes on.\n\n```state\n{block}\n```"), state)
        state = fold(state, delta, turn=f"t{number}", depth=number)
    return state


def people(state: WorldState) -> dict[str, tuple[str, ...]]:
    return {each.name: each.aliases for each in state.of_kind(Kind.CHARACTER) if each.id != state.player}


NICKNAMED = pytest.mark.parametrize(
    ("name", "other", "note"),
    [
        ("Ezra", "Owl", "Ned laughs and nicknames Ezra 'Owl'."),
        ("Ezra", "Owl", "Ezra (nickname Owl) saw a man run into cabin 7."),
        ("박두칠", "쥐방울", "박두칠(별명 쥐방울)이 길을 안다."),
        ("하린", "다람", "지섭이 하린에게 다람이라는 별명을 지어 주었다."),
        ("小春", "こはく", "兄は小春にこはくというあだ名をつけた。"),
        ("林溪", "小骆驼", "胖婶给林溪起了外号小骆驼。"),
        ("林溪", "小駱駝", "胖嬸給林溪取了個外號叫小駱駝。"),
    ],
)


@NICKNAMED
def test_who_gets_a_nickname_has_it(name: str, other: str, note: str) -> None:
    state = play(f"location: X\npresent: [{name}]", f"present: [{name}]\nnotes: {note}")
    assert other in people(state)[name]


@NICKNAMED
def test_who_acted_under_the_nickname_in_the_same_report_is_its_bearer(name: str, other: str, note: str) -> None:
    handed = f"items_transferred: [{{item: key, from: {other}, to: Player}}]"
    state = play(f"location: X\npresent: [{name}]", f"present: [{name}]\n{handed}\nnotes: {note}")
    assert list(people(state)) == [name] and other in people(state)[name]


def test_what_is_given_under_a_new_nickname_leaves_the_bearers_hands() -> None:
    had = "location: X\npresent: [하린]\nitems_transferred: [{item: 귤, from: Player, to: 하린, quantity: 2}]"
    note = "notes: 지섭이 하린에게 다람이라는 별명을 지어 주었다."
    gives = f"items_transferred: [{{item: 귤 1개, from: 다람, to: Player}}]\n{note}"
    state = play("items_gained: [귤 2개]", had, gives)
    hands = {
        state.name(who): [stack.quantity for stack in own.values()] for who, own in state.belongings.items() if own
    }
    assert hands == {"하린": [1], state.name(state.player): [1]}


@NICKNAMED
def test_somebody_who_was_met_under_this_name_stays_somebody_else(name: str, other: str, note: str) -> None:
    state = play(f"location: X\npresent: [{name}, {other}]", f"present: [{name}, {other}]\nnotes: {note}")
    assert sorted(people(state)) == sorted((name, other))


@pytest.mark.parametrize(
    "report",
    [
        "npc_met: [Odile Marchand]\n{status}",
        "present: [Sister Agnes (Odile Marchand)]\nnpc_met: [Odile Marchand]\n{status}\n{note}",
    ],
)
def test_who_is_revealed_by_name_is_one_person(report: str) -> None:
    status = 'status_changes: [{name: Sister Agnes, status: "is really Odile Marchand, a Pinkerton agent"}]'
    note = "notes: Sister Agnes is Odile Marchand, a Pinkerton detective."
    state = play("location: X\npresent: [Sister Agnes]", report.replace("{status}", status).replace("{note}", note))
    (names,) = [{name, *aliases} for name, aliases in people(state).items()]
    assert names == {"Sister Agnes", "Odile Marchand"}


@pytest.mark.parametrize(
    ("name", "status", "other"),
    [
        ("the slime", "named Bubbles", "Bubbles"),
        ("スライム", "ぷるんと命名", "ぷるん"),
        ("강아지", "보리라고 이름을 지음", "보리"),
        ("小狗", "取名豆豆", "豆豆"),
    ],
)
def test_who_gets_a_name_is_the_same_under_it(name: str, status: str, other: str) -> None:
    named = f"present: [{name}]\nstatus_changes: [{{name: {name}, status: {status}}}]"
    state = play(f"location: X\npresent: [{name}]", named, f"present: [{other}]")
    (names,) = [{each, *aliases} for each, aliases in people(state).items()]
    assert other in names and len(names) == 2


@pytest.mark.parametrize(
    "fields",
    [
        ('Margaret Ashdown "Widow Peg"', "Widow Peg", "Margaret Ashdown", 'Margaret "Peg" Ashdown', "Peg"),
        ("Margaret Ashdown 'Widow Peg'", "Margaret 'Peg' Ashdown", "Widow Peg", "Margaret Ashdown"),
        ("Margaret Ashdown (“Widow Peg”)", "Widow Peg", "Margaret Ashdown"),
        ("Margaret Ashdown (Widow Peg)", "Widow Peg", "Margaret Ashdown"),
        ("Margaret Ashdown", '"Widow Peg" (Margaret Ashdown)', "Widow Peg"),
        ("Widow Peg", '"Widow Peg" Margaret Ashdown', "Margaret Ashdown"),
        ("Widow Peg", 'Margaret "Peg" Ashdown', "Margaret Ashdown"),
        ('Margaret "Peg" Ashdown (asleep)', "Peg", "Margaret Ashdown"),
        ("김서연 '쥐방울'", "쥐방울", "김서연"),
        ("김서연「쥐방울」", "쥐방울", "김서연"),
        ("田中一郎「ネズミ」", "ネズミ", "田中一郎"),
        ("「ネズミ」田中一郎", "田中一郎", "ネズミ"),
        ("王小明“老鼠”", "老鼠", "王小明"),
        ("“老鼠”王小明", "王小明", "老鼠"),
    ],
)
def test_a_name_with_a_nickname_in_one_field_is_one_person(fields: tuple[str, ...]) -> None:
    state = play("location: X", *(f"present: [{name}]" for name in fields))
    ((name, _),) = people(state).items()
    assert not set(name) & set("\"'“”「」()"), "the name and the nickname are two names"


@pytest.mark.parametrize("given", ["Widow Peg, Margaret Ashdown", "Margaret Ashdown, Widow Peg"])
def test_two_who_turn_out_to_be_one_under_name_and_nickname_are_one(given: str) -> None:
    state = play(f"location: X\npresent: [{given}]", 'present: [Margaret "Widow Peg" Ashdown]')
    assert len(people(state)) == 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Peg Miller", 'Margaret "Peg" Ashdown'),
        ("The Red Hand", 'a member of "The Red Hand"'),
        ("Red", 'the "doctor"'),
        ("山猫", "「山猫」の主人"),
        ("붉은 손", '"붉은 손" 부하'),
        ("老鼠", "“老鼠”的成员"),
        ("Bo", "Mina (Tom's aunt)"),
        ("Bo", "Mina (asleep)"),
    ],
)
def test_a_quotation_that_is_no_nickname_makes_nobody_one(first: str, second: str) -> None:
    state = play(f"location: X\npresent: [{first}]", f"present: ['{second.replace(chr(39), chr(39) * 2)}']")
    assert len(people(state)) == 2 and len(people(state)[first]) <= 1


REAL_NAMES = [
    ("Widow Peg", "Margaret Ashdown", "Widow Peg's real name is Margaret Ashdown; she fled the city under it"),
    ("Widow Peg", "Margaret Ashdown", "Widow Peg's real name is Margaret Ashdown and she fled the city"),
    ("Widow Peg", "Margaret Ashdown", "Peg's true name is Margaret Ashdown, under which she fled the city"),
    ("Widow Peg", "Margaret Ashdown", "Secret: Widow Peg's real name is Margaret Ashdown (told to Nell alone)"),
    ("Widow Peg", "Margaret Ashdown", "Learned that Widow Peg's real name is Margaret Ashdown - she is wanted"),
    ("Widow Peg", "Margaret Ashdown", "Peg confesses: her real name is Margaret Ashdown, she fled the city"),
    ("Widow Peg", "Margaret Ashdown", "Widow Peg tells Nell that her real name is Margaret Ashdown and that she fled"),
    ("Widow Peg", "Margaret Ashdown", "Widow Peg is really Margaret Ashdown, who fled the city"),
    ("페그 부인", "마거릿 애시다운", "페그 부인의 본명은 마거릿 애시다운이며 도시에서 도망쳤다"),
    ("페그 부인", "마거릿", "페그 부인이 넬에게 자신의 본명은 마거릿이라고 고백하고 떠났다"),
    ("ペグ夫人", "マーガレット", "ペグ夫人の本名はマーガレットで、町から逃げてきた"),
    ("ペグ夫人", "マーガレット", "ペグ夫人の正体はマーガレットで、町から逃げてきた"),
    ("ペグ夫人", "マーガレット", "ペグ夫人はネルに自分の本名はマーガレットだと打ち明け、町を出た"),
    ("佩格寡妇", "玛格丽特", "佩格寡妇的真名是玛格丽特，她从城里逃出来"),
    ("佩格寡妇", "玛格丽特", "佩格寡妇坦白自己的真名是玛格丽特，从城里逃出来"),
]


@pytest.mark.parametrize("field", ["notes", "event_trigger"])
@pytest.mark.parametrize(("name", "real", "text"), REAL_NAMES)
def test_who_tells_her_real_name_and_more_is_one_person_under_both(name: str, real: str, text: str, field: str) -> None:
    met = f"location: X\npresent: [{name}, Nell]"
    for now in (name, real):
        state = play(met, f'present: [{now}, Nell]\n{field}: "{text}"', f"present: [{real}, Nell]")
        assert people(state) == {name: (real,), "Nell": ()}
        assert not any(state.audiences.values()), "she was there, whatever she was called"


@pytest.mark.parametrize(
    "text",
    [
        "Nell suspects that Widow Peg's real name is Margaret Ashdown",
        "Widow Peg asks whether her real name is Margaret Ashdown",
        "Widow Peg confesses that her daughter's real name is Margaret Ashdown",
        "Widow Peg's real name is Margaret Ashdown's secret",
        "Widow Peg's real name is not Margaret Ashdown",
    ],
)
def test_a_real_name_that_is_not_told_is_nobodys(text: str) -> None:
    state = play("location: X\npresent: [Widow Peg, Nell]", f'present: [Widow Peg, Nell]\nnotes: "{text}"')
    assert people(state) == {"Widow Peg": (), "Nell": ()}


GLOVES, HASK = "the man in the yellow gloves", "Inspector Corvin Hask"


def unmasked(name: str, other: str, note: str) -> bool:
    """Whether a note makes one person of two, of whom one left and the other has just come."""
    met, left = f"location: X\npresent: [{name}]", "location: Y\nlocation_moved: true\npresent: []"
    return len(people(play(met, left, f"present: [{other}]\nnotes: {note}"))) == 1


@pytest.mark.parametrize(
    ("name", "other", "note"),
    [
        (GLOVES, HASK, "The man in the yellow gloves is Inspector Corvin Hask of the Magistracy."),
        (GLOVES, HASK, "The man in the yellow gloves introduces himself as Inspector Corvin Hask."),
        (GLOVES, HASK, "Inspector Corvin Hask was the man in the yellow gloves all along."),
        ("Ruta", "Sister Agnes", "Ruta is now called Sister Agnes."),
        ("Ruta", "Sister Agnes", "Ruta has become a nun and is called Sister Agnes now."),
        ("박 기자", "박윤호", "박 기자의 정체는 회사 감사실의 박윤호이며, 그는 도망쳤다."),
        ("박 기자", "박윤호", "박 기자가 자신을 박윤호라고 밝혔다."),
        ("미스 리", "이순남", "미스 리가 진우에게 자신이 죽은 이만수의 동생 이순남이라고 고백했다."),
    ],
)
def test_what_else_is_said_of_somebody_beside_her_name_changes_nothing(name: str, other: str, note: str) -> None:
    assert unmasked(name, other, note)


@pytest.mark.parametrize(
    ("name", "other", "note"),
    [
        (GLOVES, HASK, "The man in the yellow gloves is not Inspector Corvin Hask."),
        (GLOVES, HASK, "The man in the yellow gloves is Inspector Corvin Hask's brother."),
        (GLOVES, HASK, "The man in the yellow gloves knows Inspector Corvin Hask of the Magistracy."),
        (GLOVES, HASK, "Inspector Corvin Hask introduces himself as a friend of the man in the yellow gloves."),
        ("the captain", "Milo", "The captain is Milo now."),
        ("the captain", "Milo", "Milo was the captain."),
        ("Ruta", "Sister Agnes", "Ruta is the sister of Sister Agnes."),
        ("Ruta", "Sister Agnes", "Ruta loves a nun and her friend is Sister Agnes."),
        ("미스 리", "이순남", "미스 리는 사실 이순남의 동생이다."),
        ("미스 리", "이순남", "미스 리는 자신이 이순남의 동생이라고 고백했다."),
        ("미스 리", "이순남", "미스 리는 사실 이순남이 아니다."),
    ],
)
def test_who_is_somebody_elses_or_not_somebody_stays_another(name: str, other: str, note: str) -> None:
    assert not unmasked(name, other, note)


@pytest.mark.parametrize(
    "note",
    [
        "Ruta has become a nun and is called Agnes now.",
        "The nun Ruta sweeps and is called Agnes.",
        "Ruta goes to Agnes and is called a saint.",
    ],
)
def test_a_note_may_tell_of_somebody_who_is_new(note: str) -> None:
    assert "Ruta" in people(play(f"location: X\npresent: [Ruta]\nnotes: {note}"))


AROUND = [
    ("Hakim Reza", "Sparrow", "Hakim Reza, the young drover, is called Sparrow by everyone."),
    ("Hakim Reza", "Sparrow", "Hakim Reza, the drover, nicknamed Sparrow."),
    ("Hakim Reza", "Sparrow", "Hakim Reza goes by Sparrow in the caravan."),
    ("Hakim Reza", "Sparrow", "Hakim Reza is called Sparrow; he keeps the camels."),
    (
        "Simeon",
        "Captain Orsel",
        "Simeon is really Captain Orsel of the Sultan's guard, hunting a forger; Ann is silent.",
    ),
    ("Simeon", "Captain Orsel", "Simeon is in truth Captain Orsel; Safiya swore silence."),
    ("Simeon", "Captain Orsel", "Simeon confesses that he is Captain Orsel of the Sultan's guard."),
    ("Simeon", "Captain Orsel", "Simeon reveals himself as Captain Orsel of the guard."),
    ("이막동", "까치", "이막동은 접시돌리기를 하며, 다들 까치라고 부른다."),
    ("이막동", "까치", "다들 이막동을 까치라고 부른다."),
    ("이막동", "까치", "이막동, 별명 까치, 접시를 돌린다."),
    ("山本", "カササギ", "山本は軽業師で、皆からカササギと呼ばれている。"),
    ("李四", "麻雀", "李四是车夫，大家都叫他麻雀。"),
]


@pytest.mark.parametrize(("name", "other", "note"), AROUND)
def test_a_name_counts_whatever_stands_around_it(name: str, other: str, note: str) -> None:
    """Whether the other name is new, and its bearer comes in the next turn, or both were met before."""
    state = play(f'location: Road\npresent: [{name}]\nnotes: "{note}"', f"location: Inn\npresent: [{other}]")
    assert people(state) == {name: (other,)}
    assert unmasked(name, other, f'"{note}"')


@pytest.mark.parametrize(
    ("name", "other", "note"),
    [
        ("Simeon", "Captain", "Simeon is really Captain of the guard."),
        ("Simeon", "Captain Orsel", "Simeon is secretly Captain Orsel's spy of the guard."),
        ("Simeon", "Captain Orsel", "Simeon is called to Captain Orsel."),
        ("Simeon", "Owl", "Simeon, a friend of Mira, called Owl, sleeps."),
        ("Simeon", "Owl", "Simeon, Mira, called Owl, and Tom sleep."),
        ("이막동", "까치", "이막동은 최두칠을 까치라고 부른다."),
        ("이막동", "까치", "이막동은 소녀를 만났는데, 다들 까치라고 부른다."),
        ("山本", "カササギ", "山本は妹をカササギと呼ぶ。"),
    ],
)
def test_a_name_that_is_somebody_elses_in_the_same_note_is_not_taken(name: str, other: str, note: str) -> None:
    state = play(f'location: Road\npresent: [{name}]\nnotes: "{note}"')
    assert people(state)[name] == ()


@pytest.mark.parametrize(
    "note", ["Player goes by Noor, a widow of Damar; Zerrin keeps the letter.", "Player is disguised as Noor of Damar."]
)
def test_what_is_given_to_the_player_under_a_false_name_is_the_players(note: str) -> None:
    told = "From now on you are Noor, a widow of Damar."
    state = opening_state(EMPTY_WORLD, "root")
    gift = "items_transferred: [{item: gold ring, from: Prince Daud, to: Noor}]"
    for depth, block in enumerate((f'location: Shop\npresent: [Zerrin]\nnotes: "{note}"', gift), 1):
        delta = read_delta(read_reply(f"{told}\n\n```state\n{block}\n```"), state, told=told)
        state = fold(state, delta, turn=f"t{depth}", depth=depth)
    assert [state.name(thing) for thing in state.belongings[state.player]] == ["gold ring"]
    assert set(people(state)) == {"Zerrin", "Prince Daud"}


@pytest.mark.parametrize(
    ("met", "dead", "report", "here"),
    [
        (("Hakim Osei", "Hakim Reza"), "Hakim Osei", "the cook Hakim", ("Hakim Reza",)),
        (("김막동", "이막동"), "김막동", "북 치는 막동이", ("이막동",)),
        (("Hakim Osei", "Hakim Reza"), "the baker Hakim", "the baker Hakim", ("Hakim Osei", "Hakim Reza")),
        (("Hakim Osei", "Hakim Reza"), "the cook Hakim", "the cook Hakim", ()),
        (("Hakim Osei", "Ann Reza"), "the cook Omar", "the cook Omar", ("Ann Reza",)),
    ],
)
def test_of_two_of_one_name_the_dead_one_is_who_is_no_longer_listed(
    met: tuple[str, ...], dead: str, report: str, here: tuple[str, ...]
) -> None:
    died = f"present: [{', '.join(here)}]\nstatus_changes: [{{name: {report}, status: dead}}]"
    state = play(f"location: X\npresent: [{', '.join(met)}]", died)
    assert [each.name for each in state.of_kind(Kind.CHARACTER) if each.dead] == [dead]
    assert set(people(state)) == {*met, dead}
