"""Volatile text in the client's own prompt: detected by comparison with earlier requests, and relocated to the end.

Examples are a line of the system prompt with the time of day, a world-info entry that comes and goes, and a note that
is always two messages from the end. Each changes the prefix, so that everything after it must be paid for again. Text
that has changed is moved in front of the player's last words, after all breakpoints. No text is added, dropped or
changed, and relocated text keeps its order.

Text counts as volatile if it is a piece of the leading system messages that was not there when the prefix was written,
or a system message within the history that was elsewhere in another request. Text that never changed is never moved.

Only fingerprints of texts are kept. This data can be stored and loaded again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher

from attrs import define, evolve, field, frozen

from saga_core.messages import Block, Origin
from saga_core.prompt.caching import fingerprint

_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+")
_LONG_LINE = 300
"""Minimum characters of a line that is split into sentences."""
_SAME = 0.7
"""The part of a known prompt's text that must be present for it to count as the same prompt."""
_MOST = 1_500
"""Maximum tokens that are relocated. More changes than that mean another prompt."""
_SETTLED = 3
"""Requests in a row with the same text after which it may return to the prefix, when the prefix is written anyway."""
_PROMPTS = 4
_MOVING = 64
"""Maximum notes that are remembered as moving."""


@frozen
class Arranged:
    """A request's blocks without volatile text."""

    blocks: tuple[Block, ...]
    relocated: str = ""
    """The volatile text, in order."""


@define
class Known:
    """A known system prompt of the client."""

    units: tuple[int, ...]
    """Fingerprints of the units in the prefix, in order."""
    size: int
    """The characters of these units."""
    whole: int = 0
    """Fingerprint of the client's whole text, 0 if some of it is relocated. An equal text needs no comparison."""
    ages: dict[int, int] = field(factory=dict)
    """The number of requests in a row with each relocated unit."""
    tokens: dict[int, int] = field(factory=dict)
    """The tokens of each relocated unit."""


@frozen
class Note:
    """A system message within the history of the last request."""

    text: int
    behind: int
    """Fingerprint of the dialogue message before it."""
    depth: int
    """Distance from the end, in dialogue messages."""


@define
class VolatileText:
    """The volatile text of one session's client."""

    prompts: list[Known] = field(factory=list)
    """The client's system prompts, the latest last."""
    notes: list[Note] = field(factory=list)
    """The notes of the last request."""
    moving: dict[int, None] = field(factory=dict)
    """Fingerprints of notes that were seen at two places."""
    depths: set[int] = field(factory=set)
    """Distances from the end at which moving notes were seen."""
    talked: int = 0
    """Number of dialogue messages of the last request."""

    def arrange(self, blocks: Sequence[Block], count: Callable[[str], int], *, fold: bool = False) -> Arranged:
        """Return ``blocks`` without their volatile text.

        ``fold`` means that the prefix is written again anyway, so that settled text may return to it. Without a user
        message nothing is moved, because there is no place to move it to.
        """
        if not any(block.origin is Origin.WORDS for block in blocks):
            return Arranged(tuple(blocks))
        leading, relocated = self._leading([block for block in blocks if block.origin is Origin.CLIENT], count, fold)
        history, notes = self._history([block for block in blocks if block.origin is Origin.HISTORY])
        rest = (block for block in blocks if block.origin not in (Origin.CLIENT, Origin.HISTORY))
        kept = (*leading, *history, *rest)
        return Arranged(kept, "\n".join(text.strip("\n") for text in (*relocated, *notes)))

    def pays(self, behind: int, write: float, read: float) -> bool:
        """Whether sending settled text has cost as much as writing the ``behind`` tokens after the system prompt."""
        if not self.prompts:
            return False
        last = self.prompts[-1]
        rent = sum(last.tokens[unit] * age for unit, age in last.ages.items() if age >= _SETTLED)
        return rent * (1.0 - read) >= behind * (write - read) > 0

    # -- leading system messages ---------------------------------------------------------------------------------

    def _leading(
        self, blocks: Sequence[Block], count: Callable[[str], int], fold: bool
    ) -> tuple[list[Block], list[str]]:
        if any(not isinstance(block.content, str) for block in blocks):
            return list(blocks), []
        whole = fingerprint(*(block.text for block in blocks))
        if self.prompts and self.prompts[-1].whole == whole:
            return list(blocks), []
        split = [_units(block.text) for block in blocks]
        units = [unit for each in split for unit in each]
        prints = [fingerprint(unit) for unit in units]
        prompt, kept = self._known(units, prints)
        sizes = {prints[at]: count(unit) for at, unit in enumerate(units) if at not in kept}
        if prompt is None or sum(sizes[prints[at]] for at in range(len(units)) if at not in kept) > _MOST:
            self.prompts = [*self.prompts, Known(tuple(prints), sum(map(len, units)), whole)][-_PROMPTS:]
            return list(blocks), []
        ages = {each: prompt.ages.get(each, 0) + 1 for each in sizes}
        rewritten = len(kept) < len(prompt.units)
        if (fold or rewritten) and any(age >= _SETTLED for age in ages.values()):
            kept |= {at for at, each in enumerate(prints) if ages.get(each, 0) >= _SETTLED}
            ages = {each: age for each, age in ages.items() if age < _SETTLED}
        prompt.units = tuple(each for at, each in enumerate(prints) if at in kept)
        prompt.size = sum(len(unit) for at, unit in enumerate(units) if at in kept)
        prompt.ages = ages
        prompt.tokens = {each: sizes[each] for each in ages}
        prompt.whole = whole if len(kept) == len(units) else 0
        self.prompts = [*(each for each in self.prompts if each is not prompt), prompt]
        if len(kept) == len(units):
            return list(blocks), []
        found: list[Block] = []
        at = 0
        for block, own in zip(blocks, split, strict=True):
            text = "".join(unit for number, unit in enumerate(own, at) if number in kept)
            at += len(own)
            if text.strip():
                found.append(evolve(block, content=text))
        return found, _with_headings(units, kept)

    def _known(self, units: Sequence[str], prints: Sequence[int]) -> tuple[Known | None, set[int]]:
        """Return the known prompt that shares most text with ``units``, and the positions of units in its prefix."""
        best: tuple[Known | None, set[int], int] = (None, set(), -1)
        for prompt in self.prompts:
            kept = _common(prompt.units, prints)
            size = sum(len(units[at]) for at in kept)
            if size > best[2] and size >= _SAME * max(1, prompt.size):
                best = prompt, kept, size
        return best[0], best[1]

    # -- notes among the history ---------------------------------------------------------------------------------

    def _history(self, blocks: Sequence[Block]) -> tuple[list[Block], list[str]]:
        places: list[tuple[int, int] | None] = []
        depths: dict[tuple[int, int], int] = {}
        talked = depth = sum(1 for block in blocks if not block.is_system) + 1
        behind = ""
        for block in blocks:
            text = block.text
            if block.is_system:
                place = (fingerprint(text), fingerprint(behind))
                places.append(place)
                depths[place] = depth
            else:
                places.append(None)
                behind, depth = text, depth - 1
        before = {(note.text, note.behind): note.depth for note in self.notes}
        gone = {at for place, at in before.items() if place not in depths}
        kept: list[Block] = []
        relocated: list[str] = []
        for block, stands in zip(blocks, places, strict=True):
            if stands is not None:
                self._judge(stands, depths[stands], before, gone, talked)
            if stands is not None and stands[0] in self.moving and isinstance(block.content, str):
                relocated.append(block.content)
            else:
                kept.append(block)
        self.notes = [Note(text, after, at) for (text, after), at in depths.items()]
        self.talked = talked
        return kept, relocated

    def _judge(
        self, place: tuple[int, int], depth: int, before: Mapping[tuple[int, int], int], gone: set[int], talked: int
    ) -> None:
        """Update whether a system message within the history moves: it was elsewhere, or replaced another one."""
        text, _ = place
        if place in before:
            if talked > self.talked:
                self.moving.pop(text, None)  # the chat went on and the message stayed: it is part of the history
        elif any(text == other for other, _ in before) or text in self.moving or depth in self.depths or depth in gone:
            self.moving[text] = None
            self.depths.add(depth)
            while len(self.moving) > _MOVING:
                del self.moving[next(iter(self.moving))]


def _units(text: str) -> list[str]:
    """Split a text into lines with their ends, and long lines into sentences. The joined units are the text again."""
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


def _common(old: Sequence[int], new: Sequence[int]) -> set[int]:
    """Return the positions in ``new`` of an approximate longest common subsequence."""
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
    """Return the relocated units. If the line before a run is a heading or opens a bracket, it is repeated, because the
    run is unclear without it.
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
