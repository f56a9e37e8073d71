"""The stories of the fork test are true, and the reader reads them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import pytest

from tests.fork.generator import story
from tests.fork.language import language, languages, names, passages
from tests.fork.memories import Bm25All, History, Last3
from tests.fork.reader import RIGHT, SILENT, STALE, WITHDRAWN, WRONG, read
from tests.fork.runner import Result, estimate, figures, run

Chat = list[dict[str, Any]]


def replayed(records: Sequence[Mapping[str, Any]]) -> Iterator[tuple[Mapping[str, Any], Chat, Chat]]:
    """Each question with the chat at it, and all messages written until then."""
    chat: Chat = []
    written: Chat = []
    for record in records:
        if record["type"] == "step":
            chat = chat[: record["keep"]] + record["add"]
            written += record["add"]
        elif record["type"] == "question":
            yield record, chat, written


def told_by(message: Mapping[str, Any], question: Mapping[str, Any]) -> str | None:
    """What a message says to a question: a value, "" for a wound or plan that is over, None for nothing."""
    about = question["about"]
    for event in reversed(message.get("events", [])):
        match question["kind"], event["do"]:
            case "holder", "hold" if event["thing"] == about[0]:
                return str(event["by"])
            case "holder", "lay" if event["thing"] == about[0]:
                return str(event["in"])
            case "place", "move" if event["who"] == about[0]:
                return str(event["to"])
            case "wound", "wound" if event["who"] == about[0]:
                return str(event["with"])
            case "plan", "plan" if event["who"] == about[0]:
                return str(event["to"])
            case ("wound", "heal") | ("plan", "done") if event["who"] == about[0]:
                return ""
            case "knows", "know" if about[0] in event["who"] and event["fact"] == about[1]:
                return "yes"
    return None


@pytest.mark.parametrize(("tag", "rate"), [*product(languages(), (0.0, 0.3)), ("en", 0.1)])
def test_answers_follow_from_the_written_events(tag: str, rate: float) -> None:
    """Read backwards: the newest message of the chat that says anything has the answer."""
    asked = 0
    for question, chat, written in replayed(list(story(tag, 7, 80, rate))):
        said = [told_by(message, question) for message in chat]
        told = [value for value in said if value is not None]
        ids = {message["id"] for message in chat}
        gone = {told_by(each, question) for each in written if each["id"] not in ids} - {None, ""} - set(told)
        assert question["answer"] == (told[-1] if told else "no")
        assert question["withdrawn"] == sorted(gone)
        if question["kind"] != "knows":
            assert question["stale"] == sorted(set(told) - {question["answer"], ""})
        if told:
            turns = [at for at, message in enumerate(chat) if told_by(message, question) is not None]
            assert question["since"] == sum(message["role"] == "user" for message in chat[turns[-1] + 1 :])
        asked += 1
    assert asked >= 60


@pytest.mark.parametrize("tag", languages())
def test_what_happens_is_possible(tag: str) -> None:
    """Nobody takes what is elsewhere, and nobody hears what is told in another room."""
    for _, chat, _ in replayed(list(story(tag, 5, 60, 0.3))):
        place: dict[str, str] = {}
        at: dict[str, str] = {}
        for event in (event for message in chat for event in message.get("events", ())):
            if event["do"] == "move":
                place[event["who"]] = event["to"]
            elif event["do"] == "hold":
                where = place.get(at.get(event["thing"], ""), at.get(event["thing"]))
                assert where in (None, place[event["by"]])
                at[event["thing"]] = event["by"]
            elif event["do"] == "lay":
                holder = at.get(event["thing"])
                assert holder is None or place[holder] == event["in"]
                at[event["thing"]] = event["in"]
            elif event["do"] == "know":
                assert {place[who] for who in event["who"]} == {place[event["by"]]}
        last = chat[-1]
        assert last["scene"]["place"] == place[language(tag).player[0]]
        others = {who for who, room in place.items() if room == last["scene"]["place"]} - {language(tag).player[0]}
        assert set(last["scene"]["present"]) == others


@pytest.mark.parametrize(("tag", "rate"), [*product(languages(), (0.0, 0.3))])
def test_the_whole_chat_tells_every_answer(tag: str, rate: float) -> None:
    """The reader finds in the text alone, without the events, what the events say."""
    result = run(story(tag, 3, 60, rate), History, estimate)
    wrong = [each for each in result.asked if each.reading.outcome != RIGHT or each.reading.leaked]
    assert not wrong
    assert len(result.asked) >= 40


@pytest.mark.parametrize("tag", languages())
def test_no_word_is_part_of_another(tag: str) -> None:
    """Else a passage would tell what it does not say."""
    spoken = language(tag)
    forms = [form for forms in spoken.words.values() for form in forms]
    for one, other in product(forms, forms):
        if one != other:
            assert not names(passages(other)[0], [one], spoken.spaced), (one, other)
    for section in ("fill", "say", "ask", "tell"):
        for rows in spoken.templates[section].values():
            for text in rows:
                assert not [form for form in forms[len(spoken.player) :] if names(text, [form], spoken.spaced)], text


def test_a_seed_gives_the_same_story() -> None:
    """Byte for byte, and another seed another one."""
    one, same, other = (json.dumps(list(story("ko", seed, 30, 0.3))) for seed in (1, 1, 2))
    assert one == same
    assert one != other


def test_everything_is_taken_back_somewhere() -> None:
    """Steps of each kind occur, more of them at a higher rate, and none at 0."""
    many = [record.get("op") for record in story("en", 1, 100, 0.3)]
    few = [record.get("op") for record in story("en", 1, 100, 0.1)]
    none = {record.get("op") for record in story("en", 1, 100, 0.0)}
    assert {"swipe", "edit", "branch", "return"} <= set(many)
    assert many.count("swipe") > few.count("swipe") > 0
    assert none == {None, "greeting", "turn"}


def test_a_memory_that_only_adds_tells_what_was_taken_back() -> None:
    """And one that keeps the end of the chat alone is mostly silent, but never wrong."""
    adding, ending = Result(), Result()
    for seed in (1, 2):
        adding.extend(run(story("en", seed, 60, 0.3), Bm25All, estimate))
        ending.extend(run(story("en", seed, 60, 0.3), Last3, estimate))
    added, ended = figures(adding), figures(ending)
    assert added["leaked"][0] > 20
    assert added["withdrawn"][0] > 5
    assert ended["leaked"][0] == ended["withdrawn"][0] == ended["wrong"][0] == 0
    assert ended["silent"][0] > 40
    least, low, high = added["right"]
    assert low < least < high


HOLDER = {"kind": "holder", "about": ["lantern"], "answer": "Mara", "stale": ["Tobin"], "withdrawn": ["mill"]}


@pytest.mark.parametrize(
    ("context", "outcome", "found", "leaked"),
    [
        ("Mara has the lantern now.", RIGHT, True, False),
        ("Tobin has the lantern now. Mara has the lantern now.", RIGHT, True, False),
        ("Mara has the lantern now. Tobin has the lantern now.", STALE, True, False),
        ("The lantern lies in the mill now.\nThe lantern is with Mara now.", RIGHT, True, True),
        ("The lantern lies in the mill now.", WITHDRAWN, False, True),
        ("Inventory: rope, lantern", WRONG, False, False),
        ("Mara smiles. The lantern swings.", SILENT, False, False),
        ("Place: mill | Mara → lantern (has)", RIGHT, True, False),
        ("Tobin gives the lantern to Mara.", RIGHT, True, False),
        ("Not known to Tobin: the lantern is with Corvin", SILENT, False, False),
        ("", SILENT, False, False),
    ],
)
def test_reading_a_context(context: str, outcome: str, found: bool, leaked: bool) -> None:
    """The last passage that names the thing and a value counts."""
    reading = read(HOLDER, context, language("en"))
    assert (reading.outcome, reading.found, reading.leaked) == (outcome, found, leaked)


@pytest.mark.parametrize(
    ("answer", "withdrawn", "context", "outcome"),
    [
        ("yes", [], "Mara learns that the well is poisoned.", RIGHT),
        ("yes", [], "Tobin learns that the well is poisoned.", SILENT),
        ("yes", [], "Not known to Mara: the well is poisoned", WRONG),
        ("no", [], "Not known to Mara: the well is poisoned", RIGHT),
        ("no", [], "", RIGHT),
        ("no", ["yes"], "Now Mara knows that the well is poisoned.", WITHDRAWN),
        ("no", [], "Now Mara knows that the well is poisoned.", WRONG),
    ],
)
def test_reading_who_knows(answer: str, withdrawn: list[str], context: str, outcome: str) -> None:
    """Somebody knows what a passage says together with the name."""
    about = ["Mara", "the well is poisoned"]
    question = {"kind": "knows", "about": about, "answer": answer, "withdrawn": withdrawn}
    assert read(question, context, language("en")).outcome == outcome
