"""The context of a past turn, read again: what its request would be told by today's rules."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from saga_core.context import ContextReader, ReadRequest, TurnContext
from saga_core.curation import due_lines
from saga_core.language import detect
from saga_core.model import MemoryRecord, TurnKind, WorldState
from saga_core.recall import PathEpisodes
from saga_core.sessions import LiveSession

_UNTOLD = (TurnKind.ROOT, TurnKind.SIDE)


Remembering = Callable[[LiveSession, WorldState], Awaitable[tuple[MemoryRecord, ...]]]
"""Gives what memory strategies learned that holds at a state."""


async def reread(live: LiveSession, turn_id: str, reader: ContextReader, memories: Remembering) -> TurnContext:
    """What would be told before the words of ``turn_id``. ``NotFound`` for a turn that is not in the session.

    How much of the history its request showed is not recorded: here it shows the reply above, and the pages in the
    prefix are those of the turn above. An opening, and a request that was none of the story, are told nothing.
    """
    turn = await live.turn(turn_id)
    if turn.parent is None or turn.kind in _UNTOLD:
        return TurnContext("", 0)
    state, above = await live.state(turn.parent), await live.turn(turn.parent)
    language = detect(turn.user, live.world.language)
    return await reader.read(
        ReadRequest(
            session=live.session.id,
            state=state,
            world=live.world,
            lore=live.lore,
            player_words=turn.user,
            recent=tuple(text for text in (above.reply, turn.user) if text),
            pinned=state,
            language=language,
            episodes=PathEpisodes(live.tree, live.episodes, turn.parent),
            shown=frozenset({turn.parent}),
            graph=await live.image(turn.parent),
            now=turn.at,
            due=due_lines(state, language),
            memories=await memories(live, state),
        )
    )
