"""Whatever reads foreign text takes time in proportion to it: patterns, loops and limits together.

Each reader gets every kind of padding alone, behind words that begin what it looks for, and before words that end it.
What is compared is how the time of the processor grows.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from saga_backends.chat.offline import OfflineNarrator
from saga_core.context.model import one_field, one_line
from saga_core.curation import rules
from saga_core.errors import SagaError
from saga_core.language import clean_name, match_text, mentions, terms
from saga_core.messages import question
from saga_core.model_calls import read_object, without_injected
from saga_core.naming.forms import bare, fold, forms, known_as, uncommon
from saga_core.play.pending_turn import MarkerFilter
from saga_core.projection.story import clauses, weight
from saga_core.recall.excerpts import excerpt
from saga_core.recall.questions import looks_back, time_named
from saga_core.state_block import BlockFilter, flow, parse_block, read_reply
from saga_core.transcript import persona_of, read_transcript
from saga_core.transcript.request_kind import classify
from saga_core.world import parse_world
from saga_server.doors.chat import read_chat
from saga_server.http import Incoming
from saga_server.http.request_names import take_markers
from tests.patterns.padding import DEEP, USUAL
from tests.patterns.ruler import ONE, slowness, times_as_long

SHORT, LONG = 3_000, 12_000
GROWTH = 2.0
LEAST = 0.015
"""Seconds under which growth is not looked at."""
DEAR = 1_200
"""Costs of a character that are too many, however they grow; one is what it costs the ruler."""
_LEADS = ("", "x", "```state\n", "location: ", "relations: a -> b: ", "[SAGA: x]", "Mara: ", "who is ", "- item: ")
_BLANKS = (" ", "\n", "\r\n", "a ", "(", "- a: ")


def said(text: str) -> list[dict[str, Any]]:
    return [
        {"role": "system", "content": text},
        {"role": "assistant", "content": text},
        {"role": "user", "content": text},
    ]


def transcript(text: str) -> None:
    found = read_transcript(said(text))
    classify(found)
    persona_of(found)


def names(text: str) -> None:
    name = text[:200]  # no longer one is taken: state_block/values.py
    list(forms(name))
    bare(name), uncommon(name), fold(name), known_as(name), clean_name(name)


def judged(text: str) -> None:
    list(rules.narrated(text))
    rules.unreal(text), rules.of_a_body(text), rules.revives(text), rules.helpless(text)
    rules.acts(text, ["Mara", "마라"]), rules.dies(text + "Mara", ["Mara"])
    rules.you_fight(text, ["Mara"], text), list(rules.stays_at(text + "Mara Mill", ["Mara"], [("m", "Mill")]))


def world(text: str) -> None:
    for file in ("WORLD.md", "CHARACTERS.md", "LOREBOOK.md"):
        try:
            parse_world({file: text}, "w")
        except SagaError:
            continue


def streamed(text: str) -> None:
    shown, marks = BlockFilter(), MarkerFilter()
    for at in range(0, len(text), 7):
        marks.feed(shown.feed(text[at : at + 7]))
    marks.feed(shown.finish())


def answer_read(text: str) -> None:
    try:
        read_object(text)
    except (ValueError, SagaError):
        return


def narrated_offline(text: str) -> None:
    narrator = OfflineNarrator()
    for told in (text, f"[SAGA: what is true now]\n[now]\n{text}\n[/SAGA]"):
        narrator._replies(question("Tell.", told), 1)


def told(text: str) -> None:
    one_line(text), one_field(text), clauses(text), weight(text), without_injected(text)
    mentions(text, "Mara"), match_text(text), list(terms(text)), excerpt(text, {"mara": 1.0}, 200)


def body(text: str) -> None:
    read_chat(Incoming(body=json.dumps({"model": "m", "messages": said(text)}).encode()))
    take_markers(said(text))


READERS: list[Callable[[str], Any]] = [
    *(looks_back, time_named, parse_block, read_reply, streamed, transcript, names, judged, world, answer_read),
    *(narrated_offline, told, body),
]


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.__name__)
def test_it_takes_time_in_proportion(reader: Callable[[str], Any]) -> None:
    """Every text is read short. Those that take longest are read long as well: all of them in a long search."""
    short = [(_seconds(reader, *text, SHORT), text) for text in _texts()]
    slow = {}
    for taken, (lead, unit, end) in sorted(short, reverse=True)[: None if DEEP else 12]:
        found = _dear(reader, lead, unit, end, taken)
        if found:
            slow[f"{lead!r} + {unit!r} × n + {end!r}"] = found
    assert slow == {}


def _texts() -> Iterator[tuple[str, str, str]]:
    yield from (("", unit, "x") for unit in USUAL)
    yield from (("mood: a", unit, "") for unit in ("]", "}", ")"))
    for unit in _BLANKS:
        yield from ((lead, unit, end) for lead in _LEADS for end in ("x", "\n```"))


def _dear(reader: Callable[[str], Any], lead: str, unit: str, end: str, short: float) -> str:
    if short < LEAST / 4:
        return ""
    short = min(short, _seconds(reader, lead, unit, end, SHORT))
    long = _seconds(reader, lead, unit, end, LONG)
    if long < LEAST or (long < short * 4 * GROWTH and long / LONG < DEAR * ONE):
        return ""
    costs = min(_seconds(reader, lead, unit, end, LONG) / slowness() for _ in range(5)) / LONG / ONE
    if costs > DEAR:
        return f"each character costs {costs:.0f} times as much as a plain one"
    times = times_as_long(
        lambda: _seconds(reader, lead, unit, end, SHORT), lambda: _seconds(reader, lead, unit, end, LONG)
    )
    return f"{times:.0f} times as long for {LONG // SHORT} times as much" if times > 4 * GROWTH else ""


def _seconds(reader: Callable[[str], Any], lead: str, unit: str, end: str, size: int) -> float:
    text = lead + unit * (size // len(unit)) + end
    began = time.thread_time()
    reader(text)
    return time.thread_time() - began


@pytest.mark.parametrize("unit", ('"---, ', "'s0, ", "“=5, ", '"x\\", ', "'x'', ", '"k\\": ', ">and，'s0, ", "{'a, "))
def test_quote_marks_that_quote_nothing_take_time_in_proportion(unit: str) -> None:
    """Behind each mark the closing one was looked for anew."""

    def taken(size: int) -> float:
        text = unit * (size // len(unit))
        began = time.thread_time()
        flow.read_sequence(text)
        flow.read_pairs(text)
        return time.thread_time() - began

    assert times_as_long(lambda: taken(1_000), lambda: taken(4_000)) < 4 * GROWTH
