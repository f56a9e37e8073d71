"""A path of a session as plain values, for writers of other tools' formats."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from saga_core.maintenance.tools import Tools
from saga_core.model import TurnKind, TurnNode
from saga_core.sessions import LiveSession, turn_named

_USER, _CHARACTER = "User", "Assistant"


@frozen(kw_only=True)
class PathTurn:
    """A turn of a path. ``replies`` are all replies to the words; ``taken`` is the index of the chosen one."""

    user: str
    replies: Sequence[str]
    taken: int
    at: float
    """Seconds since the epoch."""
    checkpoint: str = ""
    """The name of the timeline that branches off at this turn."""


@frozen(kw_only=True)
class StoryPath:
    """A path of a session, from its greeting to a turn."""

    greeting: str
    turns: Sequence[PathTurn]
    user: str
    """The player's name."""
    character: str
    parent: str = ""
    """The name of the session, if the path is a named timeline that branches off from it."""
    created: float = 0.0


async def story_path(tools: Tools, session_id: str, head: str | None = None) -> StoryPath:
    """Return the path to ``head``, a turn or a timeline. The default is the active head.

    Raises ``NotFound`` and ``StoreError``.
    """
    live = await tools.directory.load(session_id)
    end = turn_named(live, head) if head else live.head
    state = await live.state(end)
    player = state.entities.get(state.player)
    told = [node for node in live.tree.path(end) if node.kind is not TurnKind.ROOT]
    forks = {each.fork: each.name for each in live.timelines.values() if each.head != end}
    root = await live.turn(live.tree.root)
    sheet = next((each for each in live.world.characters if not each.player), None)
    label = live.session.label.partition(" - ")[0]
    own = next((each for each in live.timelines.values() if each.name == head), None)
    return StoryPath(
        greeting=root.reply,
        turns=[await _line(tools, live, node, forks.get(node.id, "")) for node in told],
        user=player.name if player is not None else _USER,
        character=(sheet.name if sheet is not None else "") or label or _CHARACTER,
        parent=live.session.label if own is not None else "",
        created=live.session.created,
    )


async def _line(tools: Tools, live: LiveSession, node: TurnNode, checkpoint: str) -> PathTurn:
    siblings = [
        child
        for child in live.tree.children.get(node.parent or "", ())
        if live.tree.get(child).user_key == node.user_key and live.tree.get(child).kind is not TurnKind.SIDE
    ]
    turns = await tools.journal.turns(live.session.id, siblings)
    (taken,) = [at for at, turn in enumerate(turns) if turn.id == node.id]
    return PathTurn(
        user=turns[taken].user,
        replies=[turn.reply for turn in turns],
        taken=taken,
        at=turns[taken].at,
        checkpoint=checkpoint,
    )
