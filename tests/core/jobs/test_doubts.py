"""Whether two names mean one person is asked of a model or of the player, and decided with words of the story."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Collection, Sequence
from typing import Any

import pytest

from saga_core import Saga
from saga_core.errors import BadInput, UpstreamError
from saga_core.extraction.one_person import Pair, answers_of
from saga_core.model import Entity, Kind, WorldState
from saga_core.naming import Doubt, doubts
from saga_core.ports import ChatRequest
from tests.core.extraction.scripted import Scripted
from tests.core.frontend import Frontend

CONFIG = {"storage": {"profile": "memory"}, "extraction": {"cards": False}}
COOK = (
    ("The cook, Mrs. Pike, bangs a pot.", "location: galley\npresent: [Mrs. Pike]"),
    ("You step out on the deck.", "location: deck\npresent: []"),
    ('"Margery Pike, cook," she says, and Mrs. Pike shakes your hand.', "present: [Margery Pike]"),
    ("Rain.", "hp_change: 0"),
)


def model(same: str = "yes", words: str = "Margery Pike, cook") -> Scripted:
    answer = {"answers": [{"pair": 1, "words": words, "same": same}]}
    return Scripted(deque([json.dumps(answer)]))


async def played(saga: Saga, *turns: tuple[str, str]) -> tuple[str, list[str]]:
    chat = Frontend(saga, system="A ship's tale.", greeting="", note="")
    for number, (text, block) in enumerate(turns):
        await chat.say(f"I go on ({number}).", f"{text}\n\n```state\n{block}\n```")
        await saga.background.drain(20)
    assert chat.last is not None
    session = chat.last.session.id
    return session, await people(saga, session)


async def people(saga: Saga, session: str) -> list[str]:
    state = await saga.views.state(session)
    return sorted(each.name for each in state.of_kind(Kind.CHARACTER) if each.id != state.player)


async def findings(saga: Saga, session: str) -> list[Any]:
    return [each for each in (await saga.memory.curated(session))["findings"] if each["rule"] == "one_person"]


async def test_a_model_says_that_two_names_are_one_person() -> None:
    small = model()
    async with Saga.open(CONFIG, extractor=small) as saga:
        session, names = await played(saga, *COOK)
        assert names == ["Mrs. Pike"]
        (asked,) = [each for each in small.asked if "Margery Pike = Mrs. Pike?" in each.plan.text()]
        assert "bangs a pot" not in asked.plan.text(), "only turns that speak of the later one are quoted"
        (finding,) = await findings(saga, session)
        assert (finding["verdict"], finding["note"]) == ("one", "Margery Pike, cook")


async def test_the_join_is_undone_and_not_asked_again() -> None:
    small = model()
    async with Saga.open(CONFIG, extractor=small) as saga:
        session, _ = await played(saga, *COOK)
        (change,) = [each for each in await saga.memory.changes(session) if not each["undone"]]
        await saga.memory.undo(session, change["id"])
        assert await people(saga, session) == ["Margery Pike", "Mrs. Pike"]
        await saga.background.drain(20)
        assert await people(saga, session) == ["Margery Pike", "Mrs. Pike"]


@pytest.mark.parametrize(
    ("same", "words", "verdict"),
    [("no", "Margery Pike, cook", "two"), ("unknown", "", None), ("yes", "Margery is the cook", None)],
    ids=["no", "unknown", "invented words"],
)
async def test_two_stay_two(same: str, words: str, verdict: str | None) -> None:
    async with Saga.open(CONFIG, extractor=model(same, words)) as saga:
        session, names = await played(saga, *COOK)
        assert names == ["Margery Pike", "Mrs. Pike"]
        (finding,) = await findings(saga, session)
        assert finding["verdict"] == verdict


async def test_without_a_model_the_player_is_asked() -> None:
    async with Saga.open(CONFIG) as saga:
        session, names = await played(saga, *COOK)
        assert names == ["Margery Pike", "Mrs. Pike"]
        (finding,) = await findings(saga, session)
        assert finding["text"] == "Margery Pike and Mrs. Pike may be one person."
        _, one, into = finding["key"].split(":")
        with pytest.raises(BadInput, match="two"):
            await saga.memory.correct(session, "settle", {"finding": finding["key"], "verdict": "error"})
        await saga.memory.correct(session, "merge", {"one": one, "into": into})
        assert await people(saga, session) == ["Mrs. Pike"]
        assert await findings(saga, session) == [], "a question about somebody who is no more is none"


async def test_a_reply_that_was_swiped_away_asks_nothing() -> None:
    small = model()
    async with Saga.open(CONFIG, extractor=small) as saga:
        chat = Frontend(saga, system="A ship's tale.", greeting="", note="")
        for text, block in COOK[:2]:
            await chat.say("I go on.", f"{text}\n\n```state\n{block}\n```")
        text, block = COOK[2]
        await chat.say("Who is there?", f"{text}\n\n```state\n{block}\n```")
        await saga.background.drain(20)
        del chat.history[-2:]
        for _ in range(2):
            await chat.say("Who is there?", "Nobody.\n\n```state\nhp_change: 0\n```")
            await saga.background.drain(20)
        assert not [each for each in small.asked if "one person" in each.plan.text()]


async def test_many_doubts_cost_one_call_in_five_turns() -> None:
    calls: list[str] = []

    def nothing(request: ChatRequest) -> str:
        if "one person" in request.plan.text():
            calls.append(request.plan.blocks[-1].text)
        return json.dumps({"answers": []})

    small = Scripted(otherwise=nothing)
    turns = [
        (f"Ada Sten{number} waves.", f"location: place {number}\npresent: [Ada Sten{number}, Old Sten{number}]")
        if number % 2
        else (f"Sten{number} sings.", f"location: place {number}\npresent: [Bo Sten{number - 1}]")
        for number in range(1, 16)
    ]
    async with Saga.open(CONFIG, extractor=small) as saga:
        await played(saga, *turns)
    assert 2 <= len(calls) <= 3


async def test_a_stranger_who_gives_his_name() -> None:
    words = 'The stranger bows. "Ansel" is all he says'
    turns = (
        ("A stranger waits at the gate.", "location: gate\npresent: [the stranger]"),
        ('The stranger bows. "Ansel" is all he says.', "present: [Ansel]"),
        ("Wind.", "hp_change: 0"),
    )
    async with Saga.open(CONFIG, extractor=model(words=words)) as saga:
        _, names = await played(saga, *turns)
        assert len(names) == 1


@pytest.mark.parametrize(
    ("reply", "asked"),
    [
        ('Rosa slaps a bun on the plate. "Cookie\'s orders."', 1),
        ("Rosa leaves, and Cookie comes in.", 0),
        ("A man comes in.", 0),
    ],
    ids=["told as Rosa", "both told", "nobody told"],
)
async def test_who_is_told_under_a_known_name_and_reported_under_a_new_one(reply: str, asked: int) -> None:
    turns = (
        ("Rosa bangs a pot.", "location: mess\npresent: [Rosa Lindqvist, Kit]"),
        (reply, "present: [Cookie, Kit]"),
        ("Rain.", "hp_change: 0"),
    )
    async with Saga.open(CONFIG) as saga:
        session, names = await played(saga, *turns)
        assert names == ["Cookie", "Kit", "Rosa Lindqvist"]
        assert len(await findings(saga, session)) == asked


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("Tomek", "Tomasz Wojcik", True),
        ("Danny", "Daniel", True),
        ("Ben", "Benjamin Ash", True),
        ("Marta", "Maria", False),
        ("Marta Ash", "Margaret Ash-Bell", False),
        ("The Grey Lady", "Thea", False),
        ("hooded woman", "Hood", False),
        ("류진", "류진의 어머니", False),
        ("하은이", "윤하은의 형", False),
        ("Rosalind", "Rosalind's mother", False),
        ("久世蓮", "久世蓮の母", False),
        ("林晚晴", "林晚晴的二姨", False),
        ("夏目", "座長の夏目", True),
        ("고의영", "고의영 형사", True),
    ],
)
def test_a_name_that_begins_like_another_may_be_short_for_it(one: str, other: str, alike: bool) -> None:
    people = {each: Entity(each, Kind.CHARACTER, each) for each in (one, other)}
    assert bool(list(doubts(WorldState(turn="t", player="p", entities=people)))) is alike


async def noted(note: str, present: str = "Agnes", verdict: str = "", place: str = "deck") -> tuple[int, str]:
    """How often is asked whether Ruta, who is on the deck no more or was left there, is Agnes, who is at a ``place``,
    and what the narrator is told after a ``verdict``."""
    turns = (
        ("Ruta and Dora sit on the deck.", "location: deck\npresent: [Ruta, Dora]"),
        ("She bows.", f"location: {place}\npresent: [{present}, Dora]\nnotes: {note}"),
    )
    async with Saga.open(CONFIG) as saga:
        chat = Frontend(saga, system="A ship's tale.", greeting="", note="")
        for number, (text, block) in enumerate(turns):
            await chat.say(f"I go on ({number}).", f"{text}\n\n```state\n{block}\n```")
            await saga.background.drain(20)
        assert chat.last is not None
        asked = [each for each in await findings(saga, chat.last.session.id) if not each["verdict"]]
        assert all("Ruta" in each["text"] for each in asked)
        for each in asked if verdict else ():
            await saga.memory.correct(chat.last.session.id, "settle", {"finding": each["key"], "verdict": verdict})
        return len(asked), (await chat.begin("Where is Ruta?")).context.text


@pytest.mark.parametrize(
    ("note", "asked"),
    [
        ("Ruta is now Agnes.", 1),
        ("Ruta, now called Agnes, is a nun.", 1),
        ("Ruta has taken the name Agnes.", 1),
        ("Agnes, formerly Ruta, greets Dora.", 1),
        ("Ruta is Agnes's sister.", 0),
        ("Ruta is the sister of Agnes.", 0),
        ("Ruta is not Agnes.", 0),
        ("Ruta knows Agnes.", 0),
        ("Ruta has left with Agnes.", 0),
        ("Ruta is gone. Agnes is a nun.", 0),
    ],
)
async def test_who_may_be_somebody_else_by_a_note_is_asked_at_once(note: str, asked: int) -> None:
    assert (await noted(note))[0] == asked


async def asked_after(turns: Sequence[tuple[str, str]], looks: Collection[int]) -> int:
    """How many questions are asked after turns, behind some of which the jobs run."""
    async with Saga.open(CONFIG) as saga:
        chat = Frontend(saga, system="A ship's tale.", greeting="", note="")
        for number, (text, block) in enumerate(turns):
            await chat.say(f"I go on ({number}).", f"{text}\n\n```state\n{block}\n```")
            if number in looks:
                await saga.background.drain(20)
        assert chat.last is not None
        return len(await findings(saga, chat.last.session.id))


async def test_who_appears_turns_after_the_note_is_asked_too() -> None:
    turns = (
        ("Ruta and Dora sit on the deck.", "location: deck\npresent: [Ruta, Dora]\nnotes: Ruta was once named Agnes."),
        ("Wind.", "present: [Ruta, Dora]"),
        ("She bows.", "present: [Agnes, Dora]"),
    )
    assert await asked_after(turns, range(len(turns))) == 1


@pytest.mark.parametrize(
    ("note", "joined"),
    [
        ("Pell confesses to Ilse that he is really Perpetua Lisle, a girl in disguise.", True),
        ("Pell admits that he is in truth Perpetua Lisle.", True),
        ("Pell admits to Ilse that he is Perpetua Lisle.", True),
        ("Pell confesses to Ilse that he is really Perpetua Lisle and that he fled.", True),
        ("Pell admits to Ilse that he is Perpetua Lisle's brother.", False),
        ("Pell admits to Ilse that he is ashamed of Perpetua Lisle.", False),
        ("Pell is really Sick Of It All.", False),
        ("Pell is really fond of Perpetua Lisle.", False),
    ],
)
async def test_who_somebody_really_is_needs_not_be_known_before(note: str, joined: bool) -> None:
    async with Saga.open(CONFIG) as saga:
        chat = Frontend(saga, system="A ship's tale.", greeting="", note="")
        await chat.say("I ask.", "She whispers.", location="deck", present=("Pell", "Odo"))
        await chat.say("And?", "She tells.", present=("Pell",), notes=note)
        await chat.say("We land.", "She takes off her cap.", present=("Perpetua Lisle", "Odo"))
        assert chat.last is not None
        told = (await chat.begin("Where are we?")).context.text
        assert ("Pell →" not in told) is joined, told


async def test_who_appeared_before_the_last_turn_is_asked_too() -> None:
    turns = (
        ("Ruta and Dora sit on the deck.", "location: deck\npresent: [Ruta, Dora]"),
        ("Wind.", "present: [Ruta, Dora]"),
        ("She bows.", "present: [Agnes, Dora]\nnotes: Ruta is now Agnes."),
        ("Rain.", "present: [Agnes, Dora]"),
    )
    assert await asked_after(turns, (1, 3)) == 1


async def test_nobody_is_said_to_have_left_who_may_be_there_under_another_name() -> None:
    left = "Ruta → deck (was there and left)"
    assert left not in (await noted("Ruta is now Agnes."))[1]
    assert left in (await noted("Ruta is now Agnes.", verdict="two"))[1]
    assert left in (await noted("Ruta knows Agnes."))[1]


async def test_nobody_is_said_to_be_elsewhere_who_may_be_here_under_another_name() -> None:
    there = "Ruta → deck (there since turn 1)"
    assert there not in (await noted("Ruta is now Agnes.", place="hall"))[1]
    assert there in (await noted("Ruta is now Agnes.", verdict="two", place="hall"))[1]


async def test_who_is_still_there_beside_the_new_one_is_another() -> None:
    assert (await noted("Ruta is now Agnes.", "Agnes, Ruta"))[0] == 0


async def test_a_model_that_fails_is_said_and_the_story_goes_on() -> None:
    async with Saga.open(CONFIG, extractor=Scripted(otherwise=UpstreamError("no", status=500))) as saga:
        _, names = await played(saga, *COOK)
        status = await saga.status()
        assert names == ["Margery Pike", "Mrs. Pike"]
        assert status["counters"]["names.failures"] == 1
        assert "extraction.names" in json.dumps(status)


async def test_what_a_failing_model_was_asked_is_asked_again() -> None:
    small = Scripted(deque([UpstreamError("no", status=500)]), otherwise=model().script[0])
    later = [("Rain.", "hp_change: 0")] * 5
    async with Saga.open(CONFIG, extractor=small) as saga:
        _, names = await played(saga, *COOK, *later)
        assert names == ["Mrs. Pike"]


async def test_the_setting_leaves_it_to_the_player() -> None:
    small = model()
    config = {**CONFIG, "extraction": {"cards": False, "names": False}}
    async with Saga.open(config, extractor=small) as saga:
        session, _ = await played(saga, *COOK)
        assert small.asked == []
        assert len(await findings(saga, session)) == 1


def _state(*names: str, present: tuple[str, ...] = ()) -> WorldState:
    people = {name: Entity(name, Kind.CHARACTER, name) for name in ("you", *names)}
    return WorldState(turn="t", player="you", entities=people, present=present)


@pytest.mark.parametrize(
    ("one", "other", "likely"),
    [
        ("Sam", "Sam Pruitt", True),
        ("Pastor Stolz", "Pastor Immanuel Stolz", True),
        ("강무현", "강 노인", True),
        ("ボルグ", "ギルドマスター・ボルグ", True),
        ("Captain Vey", "Captain Sole", False),
        ("Tom Alder", "Tom Brandt", False),
        ("Denzil Penhallow", "Loveday Penhallow", False),
        ("Tamsin Pascoe", "Tam Pascoe", True),
        ("Captain Hannah Rourke", "Hannah Rourke", True),
        ("Mara", "Tobin", False),
        ("김민수", "이민호", False),
    ],
)
def test_names_that_may_mean_one_person(one: str, other: str, likely: bool) -> None:
    assert list(doubts(_state(one, other))) == ([Doubt(other, one)] if likely else [])
    assert not list(doubts(_state(one, other, present=(one, other)))), "two who are here at once are two"


def test_an_answer_about_a_pair_that_was_not_asked_is_dropped() -> None:
    pair = Pair(Doubt("a", "b"), ("Dez",), ("Desmond",), "They call Desmond Dez.")
    said = {"answers": [{"pair": 2, "words": "Desmond Dez", "same": "yes"}, {"pair": True, "same": "yes"}, "?"]}
    assert [each.same for each in answers_of(said, [pair])] == [None]


def test_husband_and_wife_are_two() -> None:
    people = {
        name: Entity(name, Kind.CHARACTER, name) for name in ("Mr. Marsh", "Mrs. Marsh", "Captain Vey", "Mr. Vey")
    }
    assert [(each.late, each.early) for each in doubts(WorldState(entities=people))] == [("Mr. Vey", "Captain Vey")]


@pytest.mark.parametrize(
    ("turns", "stays"),
    [
        (COOK, "Mrs. Pike"),
        ((*COOK, *((f"Margery Pike sings of {song}.", "hp_change: 0") for song in ("rain", "ice"))), "Margery Pike"),
        (
            (
                ("A woman nods: the old woman.", "location: inn\npresent: [old woman]"),
                ("The old woman laughs. Rosa is her name.", "present: [Rosa]"),
                ("The old woman was kind.", "hp_change: 0"),
            ),
            "Rosa",
        ),
    ],
    ids=["the one met first, told more often", "the one met later, told more often", "the one who has a name"],
)
async def test_the_name_that_the_story_uses_stays(turns: tuple[tuple[str, str], ...], stays: str) -> None:
    async with Saga.open(CONFIG) as saga:
        session, names = await played(saga, *turns)
        assert len(names) == 2
        (finding,) = await findings(saga, session)
        ids = {each["id"]: each["name"] for each in await saga.memory.entities(session)}
        assert ids[finding["into"]] == stays
        (gone,) = [each for each in finding["key"].split(":")[1:] if each != finding["into"]]
        await saga.memory.correct(session, "merge", {"one": gone, "into": finding["into"]})
        assert await people(saga, session) == [stays]
