"""Page pins: decides when the prefix gets new pages. Only when that pays, and always with a recorded reason.

New pages change the prefix, so the whole history behind them is written to the cache again. They are pinned

- ``expired``: when the cache of the history has expired, so that it is written again anyway
- ``cut``: when the history is cut, so that the part cut off appears in the story page
- ``curation``: when the story was retold since, and now covers turns that neither the history nor the pages show. As
  long as the history shows everything, a new story page is not worth rewriting it
- ``cost``: when telling the changes behind the history has cost as much as a rewrite would. Renting until the rent
  equals the price, and buying then, never costs more than twice what perfect foresight would pay (the ski rental
  problem: Karlin et al., Competitive snoopy caching, 1988)
- ``full``: when the changes no longer fit behind the history, and the history does not show the turns that made them

``first`` is the first prompt of a story. ``turns`` is the rule for models whose cache is unknown: the path's last turn
at a multiple of ``prompt_caching.repin_every``.
"""

from __future__ import annotations

from typing import Literal

from attrs import define, field, frozen

from saga_core.model import Tree
from saga_core.upstream import SECONDS, ModelFacts

Reason = Literal["first", "expired", "cut", "curation", "cost", "full", "turns"]
_FORMER = {"cold": "expired", "dear": "cost"}
"""What reasons were called in data of version 0.1."""
_DECISIONS = 4_096


def _present(reason: str) -> str:
    return _FORMER.get(reason, reason)


@frozen
class Pin:
    """Which turn the pages in the prefix show, since which turn, and why."""

    turn: str
    """The pages show the state after it."""
    since: str
    """The turn that the first prompt with these pages continued."""
    reason: str = field(converter=_present)
    """A ``Reason``."""
    language: str = ""
    """Of the rules and pages: a player who says one thing in another language does not change it."""


@define
class AccruedCost:
    """The cost of telling the changes since a pin."""

    tokens: int = 0
    full: bool = False


@define
class PagePins:
    """The pins of one session. A path continues with the pin of its nearest turn that has one."""

    _decided: dict[str, Pin] = field(factory=dict)
    """Turn that a prompt continued -> its pin."""
    _costs: dict[str, AccruedCost] = field(factory=dict)

    def inherited(self, tree: Tree, parent: str) -> Pin | None:
        """The pin in force where a prompt continues ``parent``."""
        for node in tree.upwards(parent):
            found = self._decided.get(node.id)
            if found is not None and found.turn in tree.nodes:
                return found
        return None

    def decide(self, parent: str, pin: Pin) -> None:
        """Prompts that continue ``parent``, or a turn below it, use ``pin`` from now on."""
        self._decided.pop(parent, None)
        self._decided[parent] = pin
        if len(self._decided) > _DECISIONS:
            kept = list(self._decided.items())[_DECISIONS // 2 :]
            since = {each.since: each for each in self._decided.values()}
            self._decided = {**since, **dict(kept)}

    def latest(self, count: int) -> list[tuple[str, Pin]]:
        """The last decisions, oldest first; before them where each pin that was made came into force."""
        since = {each.since: each for each in self._decided.values()}
        made = [(turn, pin) for turn, pin in since.items() if self._decided.get(turn) in (None, pin)]
        return [*made[-count:], *list(self._decided.items())[-count:]]

    def accrued(self, pin: Pin) -> AccruedCost:
        """What telling the changes since ``pin`` has cost."""
        return self._costs.setdefault(pin.since, AccruedCost())

    def restore(self, pin: Pin, cost: AccruedCost) -> None:
        """What telling the changes since ``pin`` had cost before."""
        self._costs[pin.since] = cost

    def note_changes(self, pin: Pin, tokens: int, *, full: bool) -> None:
        """A prompt told the changes since ``pin`` in so many tokens; ``full``: they did not all fit."""
        cost = self.accrued(pin)
        cost.tokens += tokens
        cost.full = cost.full or full


def rewrite_pays(cost: AccruedCost, behind: int, facts: ModelFacts) -> bool:
    """Whether the accrued cost has come to the price of writing the ``behind`` tokens after the pages again.

    In input prices: a token told behind the history costs 1 where it would be read for ``read``; one that is written
    again costs the write where it would be read for ``read``.
    """
    write = min(facts.writes.items(), key=lambda pair: SECONDS[pair[0]])[1] if facts.writes else 1.0
    return cost.tokens * (1.0 - facts.read) >= behind * (write - facts.read) > 0
