"""Reads the context of a past turn again, by the current rules."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from saga_core.context import ContextReader, ReadRequest, TurnContext, lines_of
from saga_core.curation import due_lines
from saga_core.language import detect
from saga_core.model import MemoryRecord, TurnKind, WorldState
from saga_core.recall import PathEpisodes
from saga_core.sessions import LiveSession, remarks_by_hand

_UNTOLD = (TurnKind.ROOT, TurnKind.SIDE)


Remembering = Callable[[LiveSession, WorldState], Awaitable[tuple[MemoryRecord, ...]]]
"""Returns the memory records that are valid at a state."""

InFront = Callable[[LiveSession, str], Awaitable[tuple[str, WorldState | None]]]
"""Returns the pages in front of a prompt that continues a turn, and the state that they show; empty and None if there
are no pages."""


async def reread(
    live: LiveSession, turn_id: str, reader: ContextReader, memories: Remembering, front: InFront
) -> TurnContext:
    """Return the context for the player's words of ``turn_id``. Raises ``NotFound`` for an unknown turn.

    If it is not recorded how much history the request had, only the reply above is assumed. The context of an opening
    and of a side request is empty.
    """
    turn = await live.turn(turn_id)
    if turn.parent is None or turn.kind in _UNTOLD:
        return TurnContext("", 0)
    return await reading_after(live, turn.parent, turn.user, reader, memories, front, now=turn.at, missing=turn.missing)


async def reading_after(
    live: LiveSession,
    turn_id: str,
    words: str,
    reader: ContextReader,
    memories: Remembering,
    front: InFront,
    *,
    now: float,
    missing: int | None = None,
) -> TurnContext:
    """Return the context for the player's ``words`` after ``turn_id`` at the time ``now``. Raises ``NotFound``.

    The history is assumed to have the turns of the path deeper than ``missing``, by default only ``turn_id``.
    """
    state, above = await live.state(turn_id), await live.turn(turn_id)
    unseen = state.depth - 1 if missing is None else min(missing, state.depth - 1)
    shown = [node.id for node in live.tree.path(turn_id) if node.depth > unseen]
    language = detect(words, live.world.language)
    pages, pinned = await front(live, turn_id)
    return await reader.read(
        ReadRequest(
            session=live.session.id,
            state=state,
            world=live.world,
            lore=live.lore,
            player_words=words,
            recent=tuple(text for text in (above.reply, words) if text),
            pinned=pinned,
            pages=pages,
            missing=unseen,
            in_front=lines_of(pages),
            by_hand=remarks_by_hand(live, state, pages),
            language=language,
            episodes=PathEpisodes(live.tree, live.episodes, turn_id),
            shown=frozenset(shown),
            graph=await live.image(turn_id),
            now=now,
            due=due_lines(state, language),
            memories=await memories(live, state),
        )
    )
