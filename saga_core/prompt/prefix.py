"""Keeps the beginning of a prompt the same: which pages are in front of the history, and where the history begins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Literal

from attrs import define, field, frozen

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


@frozen
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
        made = [(turn, pin) for turn, pin in since.items() if self._decided.get(turn) in (None, pin)]
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
# A cut stays until the prompt reaches its limit again, or until the client, which may trim on its own, drops the
# message at which the cut history begins. Then the history is cut to a fraction of the limit. It begins with words of
# the player and, if possible, no later than the end of the story in the pages.

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


@frozen
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
        ours: bool = False,
    ) -> Cut:
        """Decide where the history of a request that continues ``parent`` begins.

        ``room`` is the maximum number of tokens of the history. ``told`` is the depth up to which the pages cover the
        story. ``ours`` means that the history is the server's own, which moves in steps by itself.
        """
        lead = next((at for at, block in enumerate(blocks) if block.origin is not Origin.CLIENT), len(blocks))
        if lead >= len(blocks) - _LEAST:
            return Cut(lead)
        keys, sizes = self._measured(blocks[lead:], count)
        old = next((self._begins[n.id] for n in tree.upwards(parent) if n.id in self._begins), None)
        at = keys.index(old.start) if old is not None and old.start in keys else 0
        slid = not ours and old is not None and old.first not in keys and at == 0 and len(keys) > 2 * _LEAST
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
