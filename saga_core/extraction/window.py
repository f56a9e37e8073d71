"""Windows: one question about several consecutive turns of a path, and its answer split by turn."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from attrs import evolve, frozen

from saga_core.extraction.answer import answer_schema, as_block
from saga_core.extraction.question import QUOTE, key_words, quoted, short_state, words_of
from saga_core.language import every
from saga_core.messages import PromptPlan, question
from saga_core.model import WorldState
from saga_core.model_calls import Count, object_schema, without_injected
from saga_core.state_block import BlockStatus, StateReading, hide, parse_block
from saga_core.trackers import NO_TRACKERS, Trackers

TURNS = 12
"""The maximum number of turns in one window. The answer has a block for each of them."""
TOKENS = 3_000
"""The maximum number of tokens of the quoted turns in one window. A window of a single turn may be longer."""

_WORDS, _REPLY = 250, 900
"""The maximum number of tokens of the player's message and of a reply. Longer texts are cut in the middle."""
_FORM = '{"turns": [{"turn": 1, "place": "", "here": [], "got": [{"thing": "", "count": 1}]}, {"turn": 2}]}'


@frozen
class WindowTurn:
    """A turn as it is quoted: its texts, shortened and without the text that SAGA injected."""

    text: str
    tokens: int


def window_turn(user: str, reply: str, language: str, count: Count) -> WindowTurn:
    """Quote the player's message and the reply."""
    words = words_of(language)
    lines = []
    said = quoted(without_injected(user), _WORDS, count)
    if said:
        lines += [words.words, said]
    lines += [words.reply, quoted(without_injected(reply), _REPLY, count)]
    text = "\n".join(lines)
    return WindowTurn(text, count(text))


def fits(sizes: Sequence[int]) -> int:
    """How many of the turns fit into one window, given the tokens of each. A first turn always fits."""
    total = 0
    for number, size in enumerate(sizes):
        total += size
        if number and (number == TURNS or total > TOKENS):
            return number
    return len(sizes)


def ask_window(
    turns: Sequence[WindowTurn], state: WorldState, language: str, count: Count, *, names: tuple[str, ...] = ()
) -> PromptPlan:
    """The question about consecutive turns, which are numbered from 1.

    ``state`` is the state before the first turn. The system message is the same for every window of a language, so
    that it hits the provider's prompt cache.
    """
    words = words_of(language)
    lines = [words.before]
    lines += [
        QUOTE + line for line in short_state(state, "\n".join(each.text for each in turns), names, language, count)
    ]
    for number, each in enumerate(turns, 1):
        lines += ["", f"## {words.turn} {number}", each.text]
    return question(f"{words.window}\n{key_words(words, state.trackers)}\n{_FORM}", "\n".join(lines))


def window_schema(counted: Trackers = NO_TRACKERS) -> dict[str, Any]:
    """The JSON schema of an answer: a list of turns, each with its number and what changed in it."""
    each = object_schema({"turn": {"type": "integer"}, **answer_schema(counted=counted)["properties"]})
    return object_schema({"turns": {"type": "array", "items": each}})


def read_window(text: str, turns: int, own: Trackers = NO_TRACKERS) -> dict[int, StateReading]:
    """Read the report of an answer, by turn number.

    Turns that the answer omits, reports twice or reports unreadably are missing from the result.
    """
    found: dict[int, StateReading] = {}
    twice: set[int] = set()
    for number, reading in _readings(text, own):
        if number in found:
            twice.add(number)
        if 1 <= number <= turns and reading.status is not BlockStatus.FALLBACK:
            found[number] = reading
    return {number: reading for number, reading in found.items() if number not in twice}


def _readings(text: str, own: Trackers) -> list[tuple[int, StateReading]]:
    """The reports of an answer: as it was asked for, or as a state block for each turn."""
    rows = _json(text)
    if rows:
        return [(number, _read(json.dumps(as_block(row), ensure_ascii=False), own)) for number, row in rows]
    blocks = [block for block in hide(text).blocks if block.closed and not block.thinking and not block.unfenced]
    numbered = [(_number().match(block.body), block.body) for block in blocks]
    return [(int(number[1]), _read(body[number.end() :], own)) for number, body in numbered if number is not None]


@cache
def _number() -> re.Pattern[str]:
    """Matches the line of a block that gives the turn's number, in any language."""
    words = "|".join(sorted({re.escape(each.questions.extraction.turn) for each in every()} | {"turn"}))
    return re.compile(rf"\s{{0,40}}(?:{words})\s{{0,9}}[:：=]\s{{0,9}}(\d{{1,3}})[ \t]*,?", re.IGNORECASE)


def _json(text: str) -> list[tuple[int, dict[str, Any]]]:
    """The turns of an answer that is one JSON object or list, also in a fence or after text; else an empty list."""
    starts = [at for at in (text.find("{"), text.find("[")) if at >= 0]
    if not starts:
        return []
    try:
        value, _ = json.JSONDecoder().raw_decode(text, min(starts))
    except (ValueError, RecursionError):
        return []
    rows = value.get("turns", [value]) if isinstance(value, dict) else value
    found = []
    for row in rows if isinstance(rows, list) else ():
        number = row.get("turn") if isinstance(row, dict) else None
        if isinstance(number, str) and number.isdecimal() and len(number) < 4:
            number = int(number)
        if isinstance(number, int) and not isinstance(number, bool):
            found.append((number, {key: value for key, value in row.items() if key != "turn"}))
    return found


def _read(body: str, own: Trackers) -> StateReading:
    if not body.strip(" \t\n{}"):
        return StateReading()
    return evolve(parse_block(body, own=own), others=())
