"""The context of a past turn, read again: what its request would be told by today's rules."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from attrs import evolve

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
    return await reading_after(live, turn.parent, turn.user, reader, memories, now=turn.at)


async def reading_after(
    live: LiveSession,
    turn_id: str,
    words: str,
    reader: ContextReader,
    memories: Remembering,
    *,
    now: float,
    missing: int | None = None,
) -> TurnContext:
    """What would be told if the player said ``words`` after ``turn_id``, at ``now``. ``NotFound``.

    The chat is taken to show the turns of the path behind the depth ``missing``, and without one ``turn_id`` alone.
    """
    state, above = await live.state(turn_id), await live.turn(turn_id)
    unseen = state.depth - 1 if missing is None else min(missing, state.depth - 1)
    shown = [node.id for node in live.tree.path(turn_id) if node.depth > unseen]
    language = detect(words, live.world.language)
    context = await reader.read(
        ReadRequest(
            session=live.session.id,
            state=state,
            world=live.world,
            lore=live.lore,
            player_words=words,
            recent=tuple(text for text in (above.reply, words) if text),
            pinned=state,
            language=language,
            episodes=PathEpisodes(live.tree, live.episodes, turn_id),
            shown=frozenset(shown),
            graph=await live.image(turn_id),
            now=now,
            due=due_lines(state, language),
            memories=await memories(live, state),
        )
    )
    return evolve(context, missing=unseen)
