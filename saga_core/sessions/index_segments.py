"""Index segments: the index of a session's episodes, stored in parts so that a long session loads without reading them.

A segment is checked against the episodes from which it was made. If it no longer matches, it is ignored, its episodes
are indexed again, and it is removed when the next segment is written.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection

from saga_core.recall import SIZE, LexicalIndex, Segment, mark_of, unpack
from saga_core.sessions.live_session import LiveSession

log = logging.getLogger("saga.live")

_AT_ONCE = 32
"""Episodes that are indexed before the event loop gets control again."""


async def restore(live: LiveSession) -> None:
    """Load the stored segments into the session's index, which must be empty."""
    for first, raw in await live.journal.segments(live.session.id):
        try:
            segment = unpack(raw)
        except ValueError as error:
            log.info("session %s: a segment of its index is rebuilt: %s", live.session.id, error)
            live.stale.append(first)
            continue
        texts = _texts(live, segment)
        if texts is None:
            live.stale.append(first)
        else:
            live.episodes.take(segment, texts)
        await asyncio.sleep(0)


def _texts(live: LiveSession, segment: Segment) -> list[str] | None:
    """Return the episodes of a segment, or None if they no longer match it."""
    texts: list[str] = []
    for turn, mark in zip(segment.ids, segment.marks, strict=True):
        node = live.tree.nodes.get(turn)
        if node is None or not node.episode or turn in live.episodes or mark_of(node.episode) != mark:
            return None
        texts.append(node.episode)
    return texts


async def parts_with(live: LiveSession, turns: Collection[str]) -> list[str]:
    """Return the first turns of the stored segments that contain one of ``turns`` or cannot be read."""
    found = []
    for first, raw in await live.journal.segments(live.session.id):
        try:
            kept = unpack(raw).ids
        except ValueError:
            kept = tuple(turns)
        if not set(turns).isdisjoint(kept):
            found.append(first)
    return found


async def seal(live: LiveSession) -> None:
    """Store the complete segments of the index: runs of 256 episodes."""
    if len(live.unsealed) < SIZE:
        return
    waiting = [turn for turn in dict.fromkeys(live.unsealed) if turn in live.tree]
    live.unsealed = []
    try:
        while len(waiting) >= SIZE:
            await _seal(live, waiting[:SIZE])
            del waiting[:SIZE]
    finally:
        live.unsealed[:0] = waiting


async def _seal(live: LiveSession, run: list[str]) -> None:
    part, texts = LexicalIndex(), [live.tree.get(turn).episode for turn in run]
    for start in range(0, len(run), _AT_ONCE):
        for turn, text in zip(run[start : start + _AT_ONCE], texts[start : start + _AT_ONCE], strict=True):
            part.add(turn, text)
        await asyncio.sleep(0)
    stale = list(live.stale)
    await live.journal.put_segment(live.session.id, run[0], part.packed(texts), stale)
    live.stale = [turn for turn in live.stale if turn not in stale]
