"""Page pins: decides when the prefix gets new pages. That happens only when it pays, and the reason is recorded.

New pages change the prefix, so the whole history behind them is written to the cache again. New pages are pinned

- ``expired``: when the cache of the history has expired, so that it is written again anyway
- ``cut``: when the history is cut, so that the removed part appears in the story page
- ``curation``: when the story was retold since, and now covers turns that neither the history nor the pages show. As
  long as the history shows everything, a new story page is not worth rewriting the history
- ``cost``: when sending the changes behind the history has cost as much as a rewrite would. Renting until the rent
  equals the price and then buying never costs more than twice the optimum (the ski rental problem: Karlin et al.,
  Competitive snoopy caching, 1988)
- ``full``: when the changes no longer fit behind the history, and the history does not show the turns that made them

``first`` is the first prompt of a story. ``turns`` is the rule for models whose cache is unknown: pages are pinned at
the path's last turn whose depth is a multiple of ``prompt_caching.repin_every``.
"""

from __future__ import annotations

from typing import Literal

from attrs import define, field, frozen

from saga_core.model import Tree
from saga_core.upstream import SECONDS, ModelFacts

Reason = Literal["first", "expired", "cut", "curation", "cost", "full", "turns"]
_FORMER = {"cold": "expired", "dear": "cost"}
"""The names of reasons in data of version 0.1."""
_DECISIONS = 4_096


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
        if len(self._decided) > _DECISIONS:
            kept = list(self._decided.items())[_DECISIONS // 2 :]
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
