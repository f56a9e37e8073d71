"""Volatile text in the client's own prompt: found by comparing with earlier requests, and relocated to the end.

A line of the system prompt with the time of day, a world-info entry that comes and goes, a note that always stands two
messages from the end: each of them changes the prefix, and everything behind it is paid for again. Text that has proved
volatile is taken from its place and put in front of the player's last words, behind every breakpoint. No text is added,
dropped or changed, and relocated text keeps its order.

A change is the proof: a piece of the leading system messages that was not there when the prefix was written, or a
system message within the history that another request showed elsewhere. Text that never changed is never moved.

Only fingerprints of texts are remembered. What was learned can be stored and loaded again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher

from attrs import define, evolve, field, frozen

from saga_core.messages import Block, Origin
from saga_core.prompt.fingerprint import fingerprint

_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+")
_LONG_LINE = 300
"""Characters from which on a line is taken sentence by sentence."""
_SAME = 0.7
"""The part of a prompt's text that must be known for it to be the same prompt."""
_MOST = 1_500
"""Tokens that are relocated at most. More is no floating text, but another prompt."""
_SETTLED = 3
"""Requests in a row with the same text after which it may go into the prefix, when that is written anyway."""
_PROMPTS = 4
_MOVING = 64
"""Notes that are remembered as moving."""


@frozen
class Arranged:
    """A request's blocks with the volatile text taken out."""

    blocks: tuple[Block, ...]
    relocated: str = ""
    """What floats, in its order."""


@define
class Known:
    """One system prompt of the client, as far as it is known."""

    units: tuple[int, ...]
    """What stands in the prefix, in its order: fingerprints."""
    size: int
    """Its characters."""
    whole: int = 0
    """Fingerprint of the client's text while nothing of it is relocated: the same text again needs no second look."""
    ages: dict[int, int] = field(factory=dict)
    """What is relocated -> in how many requests in a row."""
    tokens: dict[int, int] = field(factory=dict)
    """What is relocated -> its tokens."""


@frozen
class Note:
    """A system message within the last history."""

    text: int
    behind: int
    """The dialogue message that it stood behind."""
    depth: int
    """Its distance from the end, in dialogue messages."""


@define
class VolatileText:
    """The volatile text of one session's client."""

    prompts: list[Known] = field(factory=list)
    """Those that the client sent, the latest last."""
    notes: list[Note] = field(factory=list)
    """Of the last request."""
    moving: dict[int, None] = field(factory=dict)
    """The texts of notes that were seen at two places."""
    depths: set[int] = field(factory=set)
    """Distances from the end at which notes float."""
    talked: int = 0
    """Dialogue messages of the last request."""

    def arrange(self, blocks: Sequence[Block], count: Callable[[str], int], *, fold: bool = False) -> Arranged:
        """``blocks`` without their volatile text. ``fold``: the prefix is written again anyway, so settled text may
        return to it.

        Without a user message nothing is moved, because there is no place to move it to.
        """
        if not any(block.origin is Origin.WORDS for block in blocks):
            return Arranged(tuple(blocks))
        leading, relocated = self._leading([block for block in blocks if block.origin is Origin.CLIENT], count, fold)
        history, notes = self._history([block for block in blocks if block.origin is Origin.HISTORY])
        rest = (block for block in blocks if block.origin not in (Origin.CLIENT, Origin.HISTORY))
        kept = (*leading, *history, *rest)
        return Arranged(kept, "\n".join(text.strip("\n") for text in (*relocated, *notes)))

    def pays(self, behind: int, write: float, read: float) -> bool:
        """Whether carrying what has settled cost as much as writing the ``behind`` tokens behind the system prompt."""
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
        """The prompt that ``units`` is most of, and which of them stand in its prefix."""
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
        """Whether a system message among the history moves: it stood elsewhere, or where another one did that left."""
        text, _ = place
        if place in before:
            if talked > self.talked:
                self.moving.pop(text, None)  # the chat went on and it stayed: a part of the history
        elif any(text == other for other, _ in before) or text in self.moving or depth in self.depths or depth in gone:
            self.moving[text] = None
            self.depths.add(depth)
            while len(self.moving) > _MOVING:
                del self.moving[next(iter(self.moving))]


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


def _common(old: Sequence[int], new: Sequence[int]) -> set[int]:
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
    """What is relocated, each run with the line before it where that is a heading or opens a bracket: alone it would
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
