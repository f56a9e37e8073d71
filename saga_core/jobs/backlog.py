"""The backlog of a session: the turns whose changes a model is to be asked about, and its answers so far."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from attrs import define, field

from saga_core.journal import Wanted
from saga_core.model import Delta, Node, TurnKind
from saga_core.sessions import LiveSession
from saga_core.state_block import StateReading

NEAR = 1
"""A request waits for a turn that is being read, if it is at most this many turns above the one it continues."""


@define(eq=False)
class Backlog:
    """The turns of one session that are to be read."""

    session: str
    wanted: dict[str, Wanted] = field(factory=dict)
    proved: set[str] = field(factory=set)
    """Turns that count though no turn continues them: a request's history showed them, or the work is drained."""
    read: dict[str, Delta] = field(factory=dict)
    """Answers that could not be recorded yet."""
    heard: dict[str, StateReading] = field(factory=dict)
    """The parts of an answer about a window whose turns are not recorded yet."""
    alone: set[str] = field(factory=set)
    """Turns that an answer about a window left out. Each is asked about separately."""
    turn: str = ""
    """The turn that is being read."""
    over: asyncio.Event | None = None
    """Exists while the model is asked. It is set when the answer is recorded, or when the call ends without one."""
    done: int = 0

    def forget(self, turn: str) -> None:
        """Drop a turn from the backlog."""
        self.wanted.pop(turn, None)
        self.hear_again(turn)
        self.proved.discard(turn)

    def hear_again(self, turn: str) -> None:
        """Drop the answers about a turn, so that it is asked about again."""
        self.read.pop(turn, None)
        self.heard.pop(turn, None)
        self.alone.discard(turn)

    def is_due(self, live: LiveSession, turn: str, *, at_head: bool) -> bool:
        """Whether a turn has not failed for good, and counts. With ``at_head``, the head counts too."""
        each = self.wanted[turn]
        if each.failed or turn not in live.tree:
            return False
        if each.asked or turn in self.proved or live.tree.get(turn).kind is TurnKind.ADOPTED:
            return True
        return bool(live.tree.children.get(turn)) or (at_head and turn == live.head)

    def due(self, live: LiveSession, *, at_head: bool) -> list[Node]:
        """The turns that are to be read now."""
        return [live.tree.get(turn) for turn in self.wanted if self.is_due(live, turn, at_head=at_head)]

    def oldest_first(self, node: Node) -> bool:
        """Whether a turn is read after those above it: it was imported or adopted, and somebody asked for it."""
        wanted = self.wanted.get(node.id)
        return node.kind in (TurnKind.IMPORTED, TurnKind.ADOPTED) and wanted is not None and wanted.asked

    def in_window(self, node: Node) -> bool:
        """Whether a turn is read in one call with the turns below it."""
        return self.oldest_first(node) and node.id not in self.alone

    def place_of(self, node: Node) -> int:
        """A turn's priority in the queue; the highest comes first. Newer turns come before older ones. Imported turns,
        and adopted turns that somebody asked for, are read oldest first: no request waits for them, and each is read
        with the changes of those before it.
        """
        return -node.depth if node.kind is TurnKind.IMPORTED or self.oldest_first(node) else node.depth

    def asked_about(self, live: LiveSession, parent: str) -> asyncio.Event | None:
        """The event for the end of the current reading, if that is of ``parent`` or the turn before it."""
        if self.over is None or not live.tree.is_ancestor(self.turn, parent):
            return None
        return self.over if live.tree.get(parent).depth - live.tree.get(self.turn).depth <= NEAR else None

    def failed(self) -> Iterator[tuple[str, Wanted]]:
        """The turns that are not retried automatically."""
        return ((turn, each) for turn, each in self.wanted.items() if each.failed)
