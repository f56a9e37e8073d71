"""What floats in the client's own prompt: recognised by comparing with earlier requests, and carried to the end.

A line of the system prompt that holds the time of day, a world-info entry that comes and goes, a note that always
stands two messages from the end: each of them changes the prefix, and everything behind it is paid for again. What is
proven to float is taken from its place and put in front of the player's last words, behind every breakpoint. No text
is added, dropped or changed, and the order of what floats stays the same among itself.

Proof is a change: a piece of the leading system messages that was not there when the prefix was written, or a system
message among the history that another request showed elsewhere. What never changed is never moved.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from attrs import define, field, frozen

from saga_core.prompt.plan import flatten

_SYSTEM = ("system", "developer")
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+")
_LONG_LINE = 300
"""Characters from which on a line is taken sentence by sentence."""
_SAME = 0.7
"""The part of a prompt's text that must be known for it to be the same prompt."""
_MOST = 1_500
"""Tokens that are carried at most. More is no floating text, but another prompt."""
_SETTLED = 3
"""Requests in a row with the same text after which it may go into the prefix, when that is written anyway."""
_PROMPTS = 4


@frozen
class Arranged:
    """A request's messages with what floats taken out."""

    messages: tuple[Mapping[str, Any], ...]
    carried: str = ""
    """What floats, in its order."""


@define
class _Prompt:
    """One system prompt of the client."""

    units: tuple[str, ...]
    """What stands in the prefix, in its order."""
    ages: dict[str, int] = field(factory=dict)
    """What is carried -> in how many requests in a row."""


@define
class Floating:
    """What one session's client lets float."""

    _prompts: list[_Prompt] = field(factory=list)
    _notes: dict[tuple[str, str], int] = field(factory=dict)
    """System messages among the last history, each with the dialogue message that it stood behind -> its distance from
    the end.
    """
    _moving: dict[str, None] = field(factory=dict)
    """The texts of notes that were seen at two places."""
    _depths: set[int] = field(factory=set)
    """Distances from the end at which notes float."""
    _talked: int = 0
    """Dialogue messages of the last request."""

    def arrange(
        self, messages: Sequence[Mapping[str, Any]], count: Callable[[str], int], *, fold: bool = False
    ) -> Arranged:
        """``messages`` without what floats. ``fold``: the prefix is written anew anyway, so that what has settled may
        go into it. Without a user message nothing is moved: there is no place to move it to.
        """
        last_user = max((at for at, m in enumerate(messages) if m.get("role") == "user"), default=-1)
        first = next((at for at, m in enumerate(messages) if m.get("role") not in _SYSTEM), len(messages))
        if last_user < 0:
            return Arranged(tuple(messages))
        leading, carried = self._leading(messages[:first], count, fold)
        history, notes = self._history(messages[first:last_user])
        kept = (*leading, *history, *messages[last_user:])
        return Arranged(kept, "\n".join(text.strip("\n") for text in (*carried, *notes)))

    def pays(self, behind: int, write: float, read: float, count: Callable[[str], int]) -> bool:
        """Whether carrying what has settled cost as much as writing the ``behind`` tokens behind the system prompt."""
        ages = self._prompts[-1].ages if self._prompts else {}
        rent = sum(count(unit) * age for unit, age in ages.items() if age >= _SETTLED)
        return rent * (1.0 - read) >= behind * (write - read) > 0

    # -- leading system messages ---------------------------------------------------------------------------------

    def _leading(
        self, messages: Sequence[Mapping[str, Any]], count: Callable[[str], int], fold: bool
    ) -> tuple[list[Mapping[str, Any]], list[str]]:
        if any(not isinstance(m.get("content"), str) for m in messages):
            return list(messages), []
        split = [_units(str(m["content"])) for m in messages]
        units = [unit for each in split for unit in each]
        prompt, kept = self._known(units)
        size = sum(count(unit) for at, unit in enumerate(units) if at not in kept)
        if prompt is None or size > _MOST:
            self._prompts = [*self._prompts, _Prompt(tuple(units))][-_PROMPTS:]
            return list(messages), []
        floating = [unit for at, unit in enumerate(units) if at not in kept]
        ages = {unit: prompt.ages.get(unit, 0) + 1 for unit in floating}
        rewritten = len(kept) < len(prompt.units)
        if (fold or rewritten) and any(age >= _SETTLED for age in ages.values()):
            kept |= {at for at, unit in enumerate(units) if ages.get(unit, 0) >= _SETTLED}
            ages = {unit: age for unit, age in ages.items() if age < _SETTLED}
        carried = [unit for at, unit in enumerate(units) if at not in kept]
        prompt.units = tuple(unit for at, unit in enumerate(units) if at in kept)
        prompt.ages = ages
        self._prompts = [*(each for each in self._prompts if each is not prompt), prompt]
        if not carried:
            return list(messages), []
        found: list[Mapping[str, Any]] = []
        at = 0
        for message, own in zip(messages, split, strict=True):
            text = "".join(unit for number, unit in enumerate(own, at) if number in kept)
            at += len(own)
            if text.strip():
                found.append({**message, "content": text})
        return found, _with_headings(units, kept)

    def _known(self, units: Sequence[str]) -> tuple[_Prompt | None, set[int]]:
        """The prompt that ``units`` is most of, and which of them stand in its prefix."""
        best: tuple[_Prompt | None, set[int], int] = (None, set(), -1)
        for prompt in self._prompts:
            kept = _common(prompt.units, units)
            size = sum(len(units[at]) for at in kept)
            if size > best[2] and size >= _SAME * max(1, sum(map(len, prompt.units))):
                best = prompt, kept, size
        return best[0], best[1]

    # -- notes among the history ---------------------------------------------------------------------------------

    def _history(self, messages: Sequence[Mapping[str, Any]]) -> tuple[list[Mapping[str, Any]], list[str]]:
        places: list[tuple[str, str] | None] = []
        depths: dict[tuple[str, str], int] = {}
        talked = depth = sum(1 for m in messages if m.get("role") not in _SYSTEM) + 1
        behind = ""
        for message in messages:
            text = flatten(message.get("content") or "")
            if message.get("role") in _SYSTEM:
                places.append((text, behind))
                depths[text, behind] = depth
            else:
                places.append(None)
                behind, depth = text, depth - 1
        gone = {at for place, at in self._notes.items() if place not in depths}
        known = {text for text, _ in self._notes}
        kept: list[Mapping[str, Any]] = []
        carried: list[str] = []
        for message, place in zip(messages, places, strict=True):
            if place is not None:
                self._judge(place, depths[place], known, gone, talked)
            if place is not None and place[0] in self._moving and isinstance(message.get("content"), str):
                carried.append(place[0])
            else:
                kept.append(message)
        self._notes, self._talked = depths, talked
        return kept, carried

    def _judge(self, place: tuple[str, str], depth: int, known: set[str], gone: set[int], talked: int) -> None:
        """Whether a system message among the history moves: it stood elsewhere, or where another one did that left."""
        text, _ = place
        if place in self._notes:
            if talked > self._talked:
                self._moving.pop(text, None)  # the chat went on and it stayed: a part of the history
        elif text in known or text in self._moving or depth in self._depths or depth in gone:
            self._moving[text] = None
            self._depths.add(depth)


def _units(text: str) -> list[str]:
    """Lines with their ends; a long line sentence by sentence. Joined they are the text again."""
    found: list[str] = []
    for line in text.splitlines(keepends=True):
        if len(line) < _LONG_LINE:
            found.append(line)
            continue
        start = 0
        for space in _SENTENCE.finditer(line):
            found.append(line[start : space.end()])
            start = space.end()
        if start < len(line):
            found.append(line[start:])
    return found


def _common(old: Sequence[str], new: Sequence[str]) -> set[int]:
    """The positions in ``new`` of a longest common subsequence, or nearly."""
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    found = {*range(head), *range(len(new) - tail, len(new))}
    one, other = old[head : len(old) - tail], new[head : len(new) - tail]
    if one and other:
        for block in SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks():
            found |= {head + block.b + step for step in range(block.size)}
    return found


def _with_headings(units: Sequence[str], kept: set[int]) -> list[str]:
    """What is carried, each run with the line before it where that is a heading or opens a bracket: alone it would
    not say what it is.
    """
    found: list[str] = []
    for at, unit in enumerate(units):
        if at in kept:
            continue
        before = units[at - 1].strip() if at and at - 1 in kept else ""
        if before and len(before) < 80 and (before[-1] in ":>]" or before.startswith("#")):
            found.append(before)
        found.append(unit)
    return found
