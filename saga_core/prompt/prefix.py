"""Keeps the beginning of a prompt the same: the pages in front of the history, its first message, and volatile text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import accumulate
from typing import Literal

from attrs import define, evolve, field, frozen

from saga_core.messages import Block, Origin
from saga_core.model import Tree
from saga_core.prompt.caching import fingerprint
from saga_core.upstream import SECONDS, ModelFacts

# -- pages -----------------------------------------------------------------------------------------------------
#
# Page pins: decides when the prefix gets new pages. That happens only when it pays, and the reason is recorded.
#
# New pages change the prefix, so the whole history behind them is written to the cache again. New pages are pinned
#
# - ``expired``: when the cache of the history has expired, so that it is written again anyway
# - ``cut``: when the history is cut, so that the removed part appears in the story page
# - ``curation``: when the story was retold since, and now covers turns that neither the history nor the pages show. As
#   long as the history shows everything, a new story page is not worth rewriting the history
# - ``cost``: when sending the changes behind the history has cost as much as a rewrite would. Renting until the rent
#   equals the price and then buying never costs more than twice the optimum (the ski rental problem: Karlin et al.,
#   Competitive snoopy caching, 1988)
# - ``full``: when the changes no longer fit behind the history, and the history does not show the turns that made them
#
# ``first`` is the first prompt of a story. ``turns`` is the rule for models whose cache is unknown: pages are pinned at
# the path's last turn whose depth is a multiple of ``prompt_caching.repin_every``.

Reason = Literal["first", "expired", "cut", "curation", "cost", "full", "turns"]
_FORMER = {"cold": "expired", "dear": "cost"}
"""The names of reasons in data of version 0.1."""
_PINS = 4_096


def _present(reason: str) -> str:
    return _FORMER.get(reason, reason)


@frozen(cache_hash=True)
class Pin:
    """The turn that the pages in the prefix show, the turn since when, and the reason."""

    turn: str
    """The pages show the state after this turn."""
    since: str
    """The turn that the first prompt with these pages continued."""
    reason: str = field(converter=_present)
    """A ``Reason``."""
    language: str = ""
    """The language of the rules and pages. A single message in another language does not change it."""


@define
class AccruedCost:
    """The cost of sending the changes since a pin."""

    tokens: int = 0
    full: bool = False


@define
class PagePins:
    """The pins of one session. A path uses the pin of its nearest turn that has one."""

    _decided: dict[str, Pin] = field(factory=dict)
    """Pins by the turn that the prompt continued."""
    _costs: dict[str, AccruedCost] = field(factory=dict)

    def inherited(self, tree: Tree, parent: str) -> Pin | None:
        """Return the pin that applies to a prompt that continues ``parent``, or None."""
        for node in tree.upwards(parent):
            found = self._decided.get(node.id)
            if found is not None and found.turn in tree.nodes:
                return found
        return None

    def decide(self, parent: str, pin: Pin) -> None:
        """From now on, use ``pin`` for prompts that continue ``parent`` or a turn below it."""
        self._decided.pop(parent, None)
        self._decided[parent] = pin
        if len(self._decided) > _PINS:
            kept = list(self._decided.items())[_PINS // 2 :]
            since = {each.since: each for each in self._decided.values()}
            self._decided = {**since, **dict(kept)}

    def latest(self, count: int) -> list[tuple[str, Pin]]:
        """Return the last ``count`` decisions, oldest first, preceded by the first use of up to ``count`` pins."""
        since = {each.since: each for each in self._decided.values()}
        made = [(turn, pin) for turn, pin in since.items() if self._decided.get(turn) in (pin, None)]
        return [*made[-count:], *list(self._decided.items())[-count:]]

    def accrued(self, pin: Pin) -> AccruedCost:
        """Return the cost so far of sending the changes since ``pin``."""
        return self._costs.setdefault(pin.since, AccruedCost())

    def restore(self, pin: Pin, cost: AccruedCost) -> None:
        """Set the stored cost of sending the changes since ``pin``."""
        self._costs[pin.since] = cost

    def note_changes(self, pin: Pin, tokens: int, *, full: bool) -> None:
        """Add the ``tokens`` of the changes since ``pin`` in a prompt. ``full`` means that they did not all fit."""
        cost = self.accrued(pin)
        cost.tokens += tokens
        cost.full = cost.full or full


def rewrite_pays(cost: AccruedCost, behind: int, facts: ModelFacts) -> bool:
    """Whether the accrued cost has reached the price of writing the ``behind`` tokens after the pages again.

    Prices are relative to input tokens. A token sent behind the history costs 1 instead of ``read``. A token that is
    written again costs the write price instead of ``read``.
    """
    write = min(facts.writes.items(), key=lambda pair: SECONDS[pair[0]])[1] if facts.writes else 1.0
    return cost.tokens * (1.0 - facts.read) >= behind * (write - facts.read) > 0


# -- the history -----------------------------------------------------------------------------------------------
#
# Cuts a history that is too long, rarely and by a large piece, so that the prefix stays the same for many turns.
#
# A history that fits is sent whole. A cut stays until the prompt reaches its limit again, or until the client, which
# may trim on its own, drops the message at which the cut history begins. Then the history is cut to a fraction of the
# limit. It begins with words of the player and, if possible, no later than the end of the story in the pages.
#
# If the configuration asks for it, the history of a client that trims is cut further, although it fits, so that its
# beginning stands still.

_LEFT = 0.6
"""The part of the history's room that is used after a cut."""
_LEFT_OF_WINDOW = 0.7
"""The part of the history that is kept by a cut if the client itself trims the history from request to request."""
_LEAST = 4
"""Minimum messages that are kept."""
_PART = 1_000
_CUTS = 4_096
_KNOWN = 512
"""Messages whose identity and size are cached between two requests."""


@frozen
class Cut:
    """The position at which a history begins."""

    start: int
    """The index of the first message of the history. The leading system messages stay."""
    fresh: bool = False
    """Whether the cut was made for this request."""


@frozen(cache_hash=True)
class Begin:
    """The decision for one request."""

    first: int
    """Identity of the client's own first message."""
    start: int | None
    """Identity of the message at which the cut history begins; None if nothing is cut."""


@define
class Cuts:
    """The cuts of one session. A path continues with the cut of its nearest turn that has one."""

    _begins: dict[str, Begin] = field(factory=dict)
    _known: dict[int, tuple[int, int]] = field(factory=dict, init=False)
    """Identity and tokens by hash, of the messages of the last request. Nearly all of them are sent again."""

    def place(
        self,
        blocks: Sequence[Block],
        tree: Tree,
        parent: str,
        *,
        room: int,
        told: int,
        count: Callable[[str], int],
        sliding: bool = False,
    ) -> Cut:
        """Decide where the history of a request that continues ``parent`` begins.

        ``room`` is the maximum number of tokens of the history. ``told`` is the depth up to which the pages cover the
        story. ``sliding`` means that the history of a client that trims it is cut further.
        """
        lead = next((at for at, block in enumerate(blocks) if block.origin is not Origin.CLIENT), len(blocks))
        if lead >= len(blocks) - _LEAST:
            return Cut(lead)
        before = {key for key, _ in self._known.values()}
        keys, sizes = self._measured(blocks[lead:], count)
        old = next((self._begins[n.id] for n in tree.upwards(parent) if n.id in self._begins), None)
        at = keys.index(old.start) if old is not None and old.start in keys else 0
        if not sliding and sum(sizes) <= room:
            at = 0
        # An edited greeting or another member's card is a new first message. A trimmed history begins with a known one.
        slid = sliding and old is not None and old.first not in keys and keys[0] in before and at == 0
        slid = slid and len(keys) > 2 * _LEAST
        left = sum(sizes[at:])
        fresh = left > room or slid
        if fresh:
            target = min(room * _LEFT, left * _LEFT_OF_WINDOW if slid else left)
            at = _start(blocks[lead:], sizes, at, target, room, tree.get(parent).depth, told)
        start = keys[at] if at else None
        self.decide(parent, Begin(keys[0], start))
        return Cut(lead + at, fresh and at > 0)

    def _measured(self, blocks: Sequence[Block], count: Callable[[str], int]) -> tuple[list[int], list[int]]:
        """Return the identities and the tokens of the messages."""
        keys: list[int] = []
        sizes: list[int] = []
        seen: dict[int, tuple[int, int]] = {}
        for block in blocks:
            if isinstance(block.content, str):
                mark = hash((block.role, block.content))
                found = self._known.get(mark) or (_identity(block), _size(block, count))
                seen[mark] = found
            else:
                found = (_identity(block), _size(block, count))
            keys.append(found[0])
            sizes.append(found[1])
        self._known = seen if len(seen) <= _KNOWN else dict(list(seen.items())[-_KNOWN:])
        return keys, sizes

    def decide(self, parent: str, begin: Begin) -> None:
        """From now on, start histories that continue ``parent`` or a turn below it at ``begin``."""
        self._begins.pop(parent, None)
        self._begins[parent] = begin
        if len(self._begins) > _CUTS:
            self._begins = dict(list(self._begins.items())[_CUTS // 2 :])

    def latest(self, count: int) -> list[tuple[str, Begin]]:
        """Return the last ``count`` decisions, oldest first."""
        return list(self._begins.items())[-count:]


def _start(
    blocks: Sequence[Block],
    sizes: Sequence[int],
    first: int,
    target: float,
    room: int,
    depth: int,
    told: int,
) -> int:
    """Return the position of the first player's words after which at most ``target`` tokens are left.

    Earlier words are preferred if the pages cover all turns before them and the history still fits.
    """
    users = [at for at, block in enumerate(blocks) if block.role == "user" and first < at < len(blocks) - _LEAST]
    sums = list(accumulate(reversed(sizes)))[::-1]
    left = {at: sums[at] for at in users}
    wanted = next((at for at in users if left[at] <= target), users[-1] if users else first)
    turns = sum(1 for block in blocks if block.role == "user")
    seen = 0
    best = 0
    for at, block in enumerate(blocks):
        if block.role != "user":
            continue
        before = depth - (turns - 1 - seen)  # the turn before these words
        seen += 1
        if at in left and at <= wanted and before <= told and left[at] <= (room + target) / 2:
            best = at
    return best or wanted


def _identity(block: Block) -> int:
    return fingerprint(block.role, block.text)


def _size(block: Block, count: Callable[[str], int]) -> int:
    content = block.content
    pictures = 0 if isinstance(content, str) else sum(part.get("type") != "text" for part in content)
    return count(block.text) + pictures * _PART + 4


# -- volatile text ---------------------------------------------------------------------------------------------
#
# Volatile text in the client's own prompt: detected by comparison with earlier requests, and relocated to the end.
#
# Examples are a line of the system prompt with the time of day, a world-info entry that comes and goes, and a note that
# is always two messages from the end. Each changes the prefix, so that everything after it must be paid for again. Text
# that has changed is moved in front of the player's last words, after all breakpoints. No text is added, dropped or
# changed, and relocated text keeps its order.
#
# Text counts as volatile if it is a piece of the leading system messages that was not there when the prefix was
# written, or a system message within the history that was elsewhere in another request. Text that never changed is
# never moved.
#
# Only fingerprints of texts are kept. This data can be stored and loaded again.

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
class SystemPrompt:
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

    prompts: list[SystemPrompt] = field(factory=list)
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

    def pays(self, behind: Callable[[], int], write: float, read: float) -> bool:
        """Whether sending settled text has cost as much as writing the ``behind`` tokens after the system prompt."""
        if not self.prompts:
            return False
        last = self.prompts[-1]
        rent = sum(last.tokens[unit] * age for unit, age in last.ages.items() if age >= _SETTLED)
        return rent > 0 and rent * (1.0 - read) >= behind() * (write - read) > 0

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
            self.prompts = [*self.prompts, SystemPrompt(tuple(prints), sum(map(len, units)), whole)][-_PROMPTS:]
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

    def _known(self, units: Sequence[str], prints: Sequence[int]) -> tuple[SystemPrompt | None, set[int]]:
        """Return the known prompt that shares most text with ``units``, and the positions of units in its prefix."""
        best: tuple[SystemPrompt | None, set[int], int] = (None, set(), -1)
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
