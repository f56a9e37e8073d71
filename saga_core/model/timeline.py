"""Named timelines: a name for a path from a turn on, and how its head follows play."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import evolve, frozen

from saga_core.model.tree import Node, Tree
from saga_core.model.turn import TurnKind


@frozen
class Timeline:
    """A named path of a session."""

    name: str
    fork: str
    """The turn where it was forked. Its head always stays on a path through this turn."""
    head: str
    """The turn at its current end."""
    created: float = 0.0
    """Seconds since the epoch."""


def follow(tree: Tree, timelines: Iterable[Timeline], node: Node, named: str = "") -> list[Timeline]:
    """Return the timelines that the new turn ``node`` moves, with their new heads.

    If the request names a timeline, the turn moves only that timeline, wherever it is below the fork. Any other turn
    moves the timelines whose head it continues, or whose head is another reply to the same message.
    """
    moved = []
    for timeline in timelines:
        if named:
            goes = timeline.name == named and tree.is_ancestor(timeline.fork, node.parent or "")
        else:
            goes = _follows(tree, timeline, node)
        if goes:
            moved.append(evolve(timeline, head=node.id))
    return moved


def _follows(tree: Tree, timeline: Timeline, node: Node) -> bool:
    """Whether ``node`` follows the head, including side turns that it proves to have been part of the story."""
    steps = [node]
    while steps[-1].parent is not None and tree.get(steps[-1].parent).kind is TurnKind.SIDE:
        steps.append(tree.get(steps[-1].parent))
    head = tree.get(timeline.head)
    for step in reversed(steps):
        if step.parent == head.id or (head.id != timeline.fork and is_swipe(step, head)):
            head = step
    return head.id == node.id


def is_swipe(one: Node, other: Node) -> bool:
    """Whether two turns are replies to the same message at the same place."""
    return one.parent == other.parent and one.user_key == other.user_key
