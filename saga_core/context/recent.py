"""The contexts that were told lately, for whoever asks why."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import define, field
from cachetools import LRUCache

from saga_core.context.model import TurnContext

_KEPT = 128


@define(eq=False)
class RecentContexts:
    """By the id of the turn that the first reply was to become; the least recently asked for go beyond 128."""

    _found: LRUCache[str, TurnContext] = field(factory=lambda: LRUCache(_KEPT))

    def keep(self, turn: str, context: TurnContext) -> None:
        """A turn is told ``context``."""
        self._found[turn] = context

    def get(self, turn: str) -> TurnContext | None:
        """What a turn was told, if it is at hand."""
        return self._found.get(turn)

    def forget(self, turns: Iterable[str]) -> None:
        """Some turns are no more."""
        for turn in turns:
            self._found.pop(turn, None)

    def clear(self) -> None:
        """Keep none."""
        self._found.clear()
