"""Exports a path of a session in a format that other tools read: as a chat of SillyTavern."""

from __future__ import annotations

from saga_core.imports import Line, chat_of
from saga_core.maintenance.tools import Tools
from saga_core.model import Node, TurnKind
from saga_core.sessions import LiveSession, turn_named

_USER, _CHARACTER = "User", "Assistant"


async def give_chat(tools: Tools, session_id: str, head: str | None = None) -> bytes:
    """Return the path to ``head``, a turn or a timeline, as a chat file. The default is the active head.

    Replies that were not chosen become swipes. Where a named timeline leaves the path, its name becomes a checkpoint.
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
    return chat_of(
        root.reply,
        [await _line(tools, live, node, forks.get(node.id, "")) for node in told],
        user=player.name if player is not None else _USER,
        character=(sheet.name if sheet is not None else "") or label or _CHARACTER,
        parent=live.session.label if own is not None else "",
        created=live.session.created,
    )


async def _line(tools: Tools, live: LiveSession, node: Node, checkpoint: str) -> Line:
    siblings = [
        child
        for child in live.tree.children.get(node.parent or "", ())
        if live.tree.get(child).user_key == node.user_key and live.tree.get(child).kind is not TurnKind.SIDE
    ]
    turns = await tools.journal.turns(live.session.id, siblings)
    (taken,) = [at for at, turn in enumerate(turns) if turn.id == node.id]
    return Line(
        user=turns[taken].user,
        replies=[turn.reply for turn in turns],
        taken=taken,
        at=turns[taken].at,
        checkpoint=checkpoint,
    )
