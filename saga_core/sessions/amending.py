"""Amending: record a later delta of a turn and update everything in memory that follows from it."""

from __future__ import annotations

from attrs import evolve

from saga_core.model import Delta, Review, fold
from saga_core.projection import render_episode, witnesses
from saga_core.sessions.live_session import LiveSession


async def amend(
    live: LiveSession,
    turn_id: str,
    delta: Delta,
    number: str,
    *more: tuple[str, Delta],
    review: Review | None = None,
) -> None:
    """Record ``delta``, then ``more``, as later deltas of a turn. ``number`` orders it after the earlier ones.

    The same commit contains the ``review``, the turn's updated episode, the removal of the checkpoints below, and a job
    for the turn's views. The caller must hold the session exclusively and queue the turn's views. Raises ``NotFound``
    and ``StoreError``; then nothing changed.
    """
    turn = await live.turn(turn_id)
    later = (*live.amendments.get(turn_id, ()), delta, *(other for _, other in more))
    whole = turn.delta.amended(later)
    node = evolve(live.tree.get(turn_id), status=whole.status)
    if node.episode and turn.parent is not None:
        before = await live.state(turn.parent)
        after = fold(before, whole, turn=turn.id, depth=turn.depth)
        episode = render_episode(whole, after, turn.user, turn.reply, live.world.language)
        node = evolve(node, episode=episode, present=witnesses(before, after))
    stale = [
        below.id
        for below in live.tree.nodes.values()
        if below.depth % live.checkpoint_every == 0 and live.tree.is_ancestor(turn_id, below.id)
    ]
    await live.journal.amend(live.session.id, number, delta, node, stale, more=more, review=review)
    live.amend(node, later)
    if review is not None:
        live.reviewed(review)
