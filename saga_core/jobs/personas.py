"""The personas job: merges the player with a second character of the player's name, once SAGA knows the name.

State blocks may say "Alex" from the first turn on, but the frontend may reveal only at the tenth turn that the player
is Alex. Everything that happened to the other Alex on the path then happened to the player. The two are merged at the
turn that introduced the other Alex, as a change that can be seen and undone like those of a curator.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from attrs import define, field

from saga_core.background import DONE, Step, Supervisor
from saga_core.counters import Counters
from saga_core.errors import NotFound
from saga_core.extraction import second_person
from saga_core.ids import IdSource
from saga_core.jobs.views import FollowingJob, ViewsJob
from saga_core.model import Delta, Source, deltas
from saga_core.sessions import LiveSession, LiveSessions, amend

log = logging.getLogger("saga.jobs")


@define(eq=False, kw_only=True, slots=False)
class PersonasJob(FollowingJob):
    """Merges the two if a rendered turn still has both. Nothing is noted in the journal: as long as there are two, the
    next turn finds them."""

    kind = "persona"
    counter = "personas"
    mode = "personas"

    live: LiveSessions
    supervisor: Supervisor
    views: ViewsJob
    ids: IdSource
    counters: Counters
    _turns: dict[str, str] = field(factory=dict, init=False)
    """Session -> the turn that was rendered last."""

    def views_rendered(self, live: LiveSession, turns: Sequence[str]) -> None:
        """Check the last of the turns."""
        self._turns[live.session.id] = turns[-1]
        self.wake(live.session.id)

    async def step(self, session: str) -> Step:
        """Merge the two, if there are two."""
        turn = self._turns.pop(session, "")
        try:
            return await self._merged(session, turn)
        except NotFound:
            return DONE  # the session was deleted

    async def _merged(self, session: str, turn: str) -> Step:
        live = await self.live.get(session)
        if turn not in live.tree.nodes or (second := await _second(live, turn)) is None:
            return DONE
        async with self.supervisor.exclusive(session, journal=True):
            live = await self.live.get(session)
            if turn not in live.tree.nodes or await _second(live, turn) != second:
                return DONE
            state = await live.state(turn)
            first, number = await introduced(live, turn, second), self.ids.new("a")
            await amend(live, first, Delta((deltas.Merged(second, state.player),), Source.CURATION, id=number), number)
            self.views.submit(session, [first])
        self.counters.add("personas.reunited")
        log.info("session %s: %r was the player before SAGA knew it; change %s", session, state.name(second), number)
        return Step(done=1)

    def forget(self, session: str) -> None:
        """Drop the state of a session that is about to be removed."""
        self._turns.pop(session, None)


async def _second(live: LiveSession, turn: str) -> str | None:
    """A second character at ``turn`` that is in fact the player; None if there is none. Characters of the world, and
    those whose merge a person has undone, are left out."""
    state = await live.state(turn)
    found = second_person(state)
    if found is None or found in (await live.state(live.tree.root)).entities:
        return None
    if was_merged(live, deltas.Merged(found, state.player)):
        return None
    return found


def was_merged(live: LiveSession, merged: deltas.Merged) -> bool:
    """Whether the two were merged after a turn, even if that was undone."""
    return any(merged in delta.events for later in live.amendments.values() for delta in later)


async def introduced(live: LiveSession, turn: str, who: str) -> str:
    """The turn of the path that introduced a character. It is found by bisection, because characters stay."""
    low, high = 0, live.tree.get(turn).depth
    while high - low > 1:
        middle = (low + high) // 2
        if who in (await live.state(live.tree.ancestor_at(turn, middle).id)).entities:
            high = middle
        else:
            low = middle
    return live.tree.ancestor_at(turn, high).id
