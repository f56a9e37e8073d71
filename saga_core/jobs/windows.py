"""Windows: turns of a path that are read in one call, oldest first."""

from __future__ import annotations

import asyncio
from collections.abc import Container, Sequence
from typing import TYPE_CHECKING

from attrs import define, frozen

from saga_core.language import detect
from saga_core.model import Node
from saga_core.sessions import LiveSession

if TYPE_CHECKING:
    from saga_core.extraction import Extractor, Told


_USELESS = 2
_AGAIN, _AT_LAST = 64, 1_024
"""Turns that are read one by one before a window is tried again, at first and at most. Doubled after each failure."""
AHEAD = 13
"""Turns that are quoted before it is known where a window ends: one more than a window can have."""


@define(eq=False)
class WindowPace:
    """Decides whether a model is asked about several turns at once."""

    useless: int = 0
    """Consecutive windows of which no turn could be read."""
    single: int = 0
    """Turns that were read one by one since."""
    pause: int = _AGAIN

    @property
    def in_windows(self) -> bool:
        """Whether the model can read several turns at once, as far as is known."""
        return self.useless < _USELESS

    def tries(self) -> bool:
        """Whether to ask in a window now. Windows that failed before are tried again now and then."""
        if self.in_windows:
            return True
        self.single += 1
        return self.single > self.pause

    def found_something(self) -> None:
        """Note that the model can read windows, or that they are to be tried again."""
        self.useless, self.single, self.pause = 0, 0, _AGAIN

    def found_nothing(self) -> None:
        """Note that no turn of a window could be read."""
        if not self.in_windows:
            self.pause = min(2 * self.pause, _AT_LAST)
        self.useless, self.single = self.useless + 1, 0


@frozen
class Window:
    """Consecutive turns, with their texts as they are quoted."""

    turns: tuple[str, ...]
    told: tuple[Told, ...]
    language: str
    """The language of the first turn."""


async def windows_of(
    live: LiveSession, nodes: Sequence[Node], extractor: Extractor, *, alone: bool = False
) -> list[Window]:
    """Divide turns of one path, in their order, into windows. A window ends where the turns are not consecutive.

    With ``alone``, each turn is a window of its own.
    """
    from saga_core.extraction import fits

    found: list[Window] = []
    for run in _runs(nodes):
        turns = await live.journal.turns(live.session.id, [node.id for node in run])
        languages = [detect(f"{turn.user}\n{turn.reply}", live.world.language) for turn in turns]
        while turns:
            told = [extractor.told(turn.user, turn.reply, languages[0]) for turn in turns[: 1 if alone else AHEAD]]
            count = 1 if alone else fits([each.tokens for each in told])
            found.append(Window(tuple(turn.id for turn in turns[:count]), tuple(told[:count]), languages[0]))
            del turns[:count], languages[:count]
            await asyncio.sleep(0)
    return found


def _runs(nodes: Sequence[Node]) -> list[list[Node]]:
    runs: list[list[Node]] = []
    for node in nodes:
        if runs and node.parent == runs[-1][-1].id:
            runs[-1].append(node)
        else:
            runs.append([node])
    return runs


async def window_at(live: LiveSession, turn: str, due: Container[str], extractor: Extractor) -> Window:
    """The window that begins with ``turn`` and continues with the turns below it that are ``due`` as well."""
    chain = [live.tree.get(turn)]
    while len(chain) < AHEAD:
        below = [each for each in live.tree.children.get(chain[-1].id, ()) if each in due]
        if not below:
            break
        chain.append(live.tree.get(max(below, key=lambda each: (live.tree.is_ancestor(each, live.head), each))))
    return (await windows_of(live, chain, extractor))[0]
