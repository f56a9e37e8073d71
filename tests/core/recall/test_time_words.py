"""Time words: what is meant by them, and which turns that is."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest
from attrs import evolve

from saga_core.context.recollection import Recollection
from saga_core.model.tree import Tree, TurnKind, TurnNode
from saga_core.recall.episodes import PathEpisodes
from saga_core.recall.lexical import LexicalIndex
from saga_core.recall.questions import Dated, Meant, looks_back, time_named, turns_at
from tests.core.context.reading_stage import ask, ko_state, path_episodes
from tests.core.context.test_sources import gather


@pytest.mark.parametrize(
    ("words", "days"),
    [
        ("어제 그 노인이 뭐라고 했지?", 1),
        ("어젯밤에는 어디서 잤지?", 1),
        ("그저께 받은 편지", 2),
        ("엊그제 본 사람", 2),
        ("사흘 전에 뭘 먹었지?", 3),
        ("3일 전 일을 기억해?", 3),
        ("두 주 전에 만난 상인", 14),
        ("일주일 전에 산 검", 7),
        ("지난주에 어디 있었지?", 7),
        ("지난달에 어디 있었지?", 30),
        ("보름 전의 약속", 15),
        ("What did he say yesterday?", 1),
        ("Where did we sleep last night?", 1),
        ("the letter from the day before yesterday", 2),
        ("what happened three days ago?", 3),
        ("WHAT HAPPENED 3 DAYS AGO?", 3),
        ("a couple of days ago", 2),
        ("a week ago we were rich", 7),
        ("two weeks earlier, where were we?", 14),
        ("Where were we last month?", 30),
    ],
)
def test_days_are_counted(words: str, days: int) -> None:
    assert time_named(words) == Meant(days=days)


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("처음 만났을 때 뭐라고 했지?", Meant(meeting=True)),
        ("우리 첫 만남 기억해?", Meant(meeting=True)),
        ("What did you say when we first met?", Meant(meeting=True)),
        ("the day we met", Meant(meeting=True)),
        ("맨 처음에 있던 곳", Meant(beginning=True)),
        ("여행을 시작할 때 우리는 몇 명이었지?", Meant(beginning=True)),
        ("Where were we in the beginning?", Meant(beginning=True)),
        ("when our journey began", Meant(beginning=True)),
        ("at the start of the journey", Meant(beginning=True)),
        ("at the beginning of our adventure", Meant(beginning=True)),
        ("What was it like when we arrived?", Meant(beginning=True)),
        ("지난번에 준 검", Meant(latest=True)),
        ("마지막으로 본 게 언제지?", Meant(latest=True)),
        ("What did he give me the last time?", Meant(latest=True)),
    ],
)
def test_other_times_are_told_apart(words: str, meant: Meant) -> None:
    assert time_named(words) == meant


@pytest.mark.parametrize(
    "words",
    [
        "",
        "처음 뵙겠습니다.",
        "문을 연다.",
        "사흘 동안 걷는다",
        "내일 떠나자",
        "I wait for three days.",
        "two days before the race",
        "I stand at the beginning of the road.",
        "The first door is open.",
        "We leave in a week.",
        "What did we eat when we arrived at the inn?",
        "How did you feel when it started raining?",
        "Where did he go at the beginning of May?",
        "in the beginning of 2023",
    ],
)
def test_words_that_say_nothing_of_the_past_mean_nothing(words: str) -> None:
    assert time_named(words) is None


@pytest.mark.parametrize(
    ("words", "date"),
    [
        ("What did Mara say on March 16?", Dated(3, 16)),
        ("What happened on the 3rd of May, 2023?", Dated(5, 3, 2023)),
        ("Where were we on 8 September 2024", Dated(9, 8, 2024)),
        ("on Sept. 21st, was it?", Dated(9, 21)),
        ("3월 16일에 무슨 일이 있었지?", Dated(3, 16)),
        ("2023년 12월 3일에 뭘 샀더라?", Dated(12, 3, 2023)),
        ("3月16日に何があった？", Dated(3, 16)),
        ("2024年3月16号发生了什么？", Dated(3, 16, 2024)),
    ],
)
def test_days_of_the_calendar_are_read(words: str, date: Dated) -> None:
    assert time_named(words) == Meant(date=date)
    assert not looks_back(f"I shall be there. {words.rstrip('?？')}.") or looks_back(words)


@pytest.mark.parametrize(
    "words",
    ["We march 16 miles.", "May 3:15 suit you?", "I may try 3 of them.", "3월 16일간", "3月16日間", "13월 3일"],
)
def test_other_numbers_are_no_days_of_the_calendar(words: str) -> None:
    assert time_named(words) is None


@pytest.mark.parametrize("words", ["어제 어디 있었지?", "처음 만났을 때"])
def test_decomposed_letters_are_composed_at_the_door(words: str) -> None:
    assert time_named(unicodedata.normalize("NFC", unicodedata.normalize("NFD", words))) == time_named(words)


def story(*replies: str, facts: Sequence[str] = ()) -> PathEpisodes:
    extra = [*facts, *[""] * len(replies)]
    return path_episodes(["", *(f"Turn {at}{extra[at - 1]}\n> go\n{text}" for at, text in enumerate(replies, 1))])


KO_DAYS = (
    "숲에 들어갔다.",
    "불을 피웠다.",
    "다음 날 아침, 새가 울었다.",
    "길을 걸었다.",
    "날이 밝자 비가 왔다.",
    "비를 피했다.",
)
EN_DAYS = (
    "You enter the wood.",
    "You light a fire.",
    "The next morning a bird sings.",
    "You walk on.",
    "Dawn breaks, and it rains.",
    "You hide from the rain.",
)


@pytest.mark.parametrize("replies", [KO_DAYS, EN_DAYS])
def test_days_are_those_that_the_story_tells(replies: Sequence[str]) -> None:
    episodes = story(*replies)
    days = {ago: list(turns_at(Meant(days=ago), episodes, (), 0.0)) for ago in (1, 2, 3)}
    assert days == {1: [3, 4], 2: [1, 2], 3: []}


def test_days_that_pass_at_once_are_counted() -> None:
    episodes = story("문을 닫았다.", "사흘 뒤, 문을 열었다.", "이튿날, 떠났다.")
    assert list(turns_at(Meant(days=4), episodes, (), 0.0)) == [1]
    assert list(turns_at(Meant(days=1), episodes, (), 0.0)) == [2]
    episodes = story("You shut the door.", "Two weeks later you open it.", "You look in.")
    assert list(turns_at(Meant(days=14), episodes, (), 0.0)) == [1]


def test_what_somebody_says_of_other_days_is_no_day_that_passes() -> None:
    episodes = story("A man says that he leaves the next day.", "그는 사흘 후에 오겠다고 했다.", "You wait.")
    assert list(turns_at(Meant(days=1), episodes, (), 0.0)) == []


def played(*days: int) -> tuple[PathEpisodes, float]:
    """Turns that were played on days of a month, at noon; and the evening of the last."""
    tree, index = Tree("s", "t0"), LexicalIndex()
    tree.add(TurnNode("t0", None, 0, 0.0, TurnKind.ROOT))
    for at, day in enumerate(days, 1):
        moment = datetime(2026, 5, day, 12, at, tzinfo=UTC).timestamp()
        jump = tree.jump_for(f"t{at - 1}")
        tree.add(TurnNode(f"t{at}", f"t{at - 1}", at, moment, TurnKind.NARRATION, jump=jump, episode=f"Turn {at}\nfog"))
    return PathEpisodes(tree, index, f"t{len(days)}"), datetime(2026, 5, days[-1], 20, tzinfo=UTC).timestamp()


def test_where_the_story_tells_of_no_days_those_count_on_which_it_was_played() -> None:
    episodes, now = played(1, 1, 8, 13, 14, 14, 15)
    found = {ago: list(turns_at(Meant(days=ago), episodes, (), now)) for ago in (1, 2, 3, 7, 30)}
    assert found == {1: [5, 6], 2: [4], 3: [], 7: [3], 30: []}
    assert list(turns_at(Meant(days=1), episodes, (), 0.0)) == [], "when nobody knows when it is, nothing is meant"


@pytest.mark.parametrize(
    ("words", "turns"),
    [
        ("What did I tell you on May 13?", [4, 5, 6]),
        ("5월 15일에 내가 뭐라고 했지?", [7]),
        ("on the 8th of May, 2026", [3]),
        ("on May 8, 2025", []),
        ("on May 10", []),
        ("on December 13", []),
        ("on February 30", []),
    ],
)
def test_a_day_of_the_calendar_means_what_was_played_then_or_on_the_day_after(words: str, turns: list[int]) -> None:
    episodes, now = played(1, 1, 8, 13, 14, 14, 15)
    meant = time_named(words)
    assert meant is not None
    assert list(turns_at(meant, episodes, (), now)) == turns
    assert list(turns_at(meant, episodes, (), now + 300 * 86_400.0)) == turns, "of the year before"


def test_a_day_on_which_most_of_the_story_was_played_tells_nothing_apart() -> None:
    episodes, now = played(1, 14, 14, 14, 15, 15)
    assert list(turns_at(Meant(date=Dated(5, 14)), episodes, (), now)) == []


def test_a_first_meeting_is_what_the_facts_say() -> None:
    episodes = story(
        "Someone speaks of Krook.", "Krook enters.", "Krook laughs.", "Krook leaves.", facts=("", "", " | met: Krook")
    )
    assert list(turns_at(Meant(meeting=True), episodes, ("Krook",), 0.0)) == [3]
    assert list(turns_at(Meant(meeting=True), episodes, ("Maren",), 0.0)) == []
    unmet = story("Nothing.", "Krook enters.", "Krook leaves.")
    assert list(turns_at(Meant(meeting=True), unmet, ("Krook",), 0.0)) == [2]
    korean = story("노인이 크룩 이야기를 했다.", "크룩이 나타났다.", facts=("", " | 만남: 에르겐, 크룩 | 획득: 검"))
    assert list(turns_at(Meant(meeting=True), korean, ("크룩",), 0.0)) == [2]


def test_the_beginning_is_the_first_turns() -> None:
    assert list(turns_at(Meant(beginning=True), story(*["."] * 300), (), 0.0)) == list(range(1, 13))
    assert list(turns_at(Meant(beginning=True), story(".", "."), (), 0.0)) == [1, 2]
    assert list(turns_at(Meant(meeting=True), story(".", "."), (), 0.0)) == [1, 2], "nobody is named"


async def test_of_the_same_that_happened_often_the_time_that_is_meant_comes_first() -> None:
    days = [f"{'다음 날 아침, 해가 떴다. ' if at % 2 else ''}크룩이 열쇠를 {at}번 흔들었다." for at in range(1, 13)]
    past = ["", *(f"Turn {at}\n{text}" for at, text in enumerate(days, 1))]

    async def best(words: str) -> int:
        request = ask(words, state=ko_state(depth=12), episodes=path_episodes(past))
        pieces = await gather(Recollection(), request)
        return int(max(pieces, key=lambda piece: piece.score).order)

    assert await best("어제 크룩이 열쇠를 몇 번 흔들었지?") in (9, 10)
    assert await best("사흘 전에 크룩이 열쇠를 몇 번 흔들었지?") in (5, 6)
    assert await best("맨 처음에 크룩이 열쇠를 몇 번 흔들었지?") <= 8
    assert await best("지난번에 크룩이 열쇠를 몇 번 흔들었지?") >= 10


async def test_what_is_asked_without_a_time_is_ranked_as_ever() -> None:
    past = ["", *(f"Turn {at}\n크룩이 열쇠를 {at}번 흔들었다." for at in range(1, 9))]
    request = ask("크룩이 열쇠를 흔들었지?", state=ko_state(depth=8), episodes=path_episodes(past))
    ranking = Recollection().ranking
    assert await gather(Recollection(), request) == await gather(
        Recollection(ranking=evolve(ranking, timed=0.0)), request
    )


@pytest.mark.parametrize(
    "words", ["그저께 산 검을 꺼낸다.", "이틀 전 일을 이야기한다.", "I tell of our day in the beginning."]
)
def test_words_of_a_time_look_back(words: str) -> None:
    assert looks_back(words)
