"""The personas job: whoever bore the player's name before SAGA knew it was the player, and is made one with her.

Blocks say "Alex" from the first turn on; that the player is Alex a frontend may tell at the tenth. What the other Alex
was given, gave away and suffered is the player's, along the whole path: the two are made one at the turn that
introduced the second, as a change that can be seen and undone like those of a curator. Where no frontend ever tells
the name, the blocks do: by whom things pass from hand to hand.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from saga_core.background import DONE, Job, Step, Supervisor
from saga_core.counters import Counters
from saga_core.extraction import nameless, owners_never_met, player_by_hands, second_person
from saga_core.ids import IdSource
from saga_core.jobs.views import ViewsJob
from saga_core.journal import Wanted
from saga_core.model import Delta, Source, WorldState, deltas
from saga_core.sessions import LiveSession, LiveSessions, amend

log = logging.getLogger("saga.jobs")

_LOOKED_BACK = 16
"""Turns whose blocks tell whom they call the player."""


class PersonasJob(Job):
    """Makes one person of two, where a turn that was rendered still has both. Nothing is noted in the journal: while
    there are two, the next turn finds them."""

    kind = "persona"
    counter = "personas"
    mode = "personas"

    def __init__(
        self, live: LiveSessions, supervisor: Supervisor, views: ViewsJob, ids: IdSource, counters: Counters
    ) -> None:
        self._live = live
        self._supervisor = supervisor
        self._views = views
        self._ids = ids
        self._counters = counters
        self._turns: dict[str, str] = {}
        """The session -> the turn that was rendered last."""

    async def wants(self, live: LiveSession, turns: Sequence[str]) -> Mapping[str, Wanted]:
        """Nothing."""
        return {}

    def views_rendered(self, live: LiveSession, turns: Sequence[str]) -> None:
        """Look at the last of them."""
        self._turns[live.session.id] = turns[-1]
        self.wake(live.session.id)

    async def step(self, session: str) -> Step:
        """Make two one."""
        turn = self._turns.pop(session, "")
        live = await self._live.get(session)
        if turn not in live.tree.nodes or (second := await _second(live, turn)) is None:
            return DONE
        async with self._supervisor.exclusive(session, journal=True):
            live = await self._live.get(session)
            if turn not in live.tree.nodes or await _second(live, turn) != second:
                return DONE
            state = await live.state(turn)
            first, number = await _introduced(live, turn, second), self._ids.new("a")
            await amend(live, first, Delta((deltas.Merged(second, state.player),), Source.EDIT, id=number), number)
            self._views.submit(session, [first])
        self._counters.add("personas.reunited")
        log.info("session %s: %r was the player before SAGA knew it; change %s", session, state.name(second), number)
        return Step(done=1)

    def forget(self, session: str) -> None:
        """The session is gone."""
        self._turns.pop(session, None)


async def _second(live: LiveSession, turn: str) -> str | None:
    """Whoever bears the player's name at ``turn`` and is not the player; nobody whom the world knows, and nobody whom a
    person has made two of one again."""
    state = await live.state(turn)
    found = second_person(state) or await _by_hands(live, turn, state)
    if found is None or found in (await live.state(_root(live, turn))).entities or _parted(live, found, state):
        return None
    return found


async def _by_hands(live: LiveSession, turn: str, state: WorldState) -> str | None:
    """Whoever the latest blocks show to be the player, where nothing else tells her name."""
    if not nameless(state) or not owners_never_met(state):
        return None
    path, at = list[tuple[WorldState, Delta]](), live.tree.get(turn)
    while at.parent is not None and len(path) < _LOOKED_BACK:
        path.append((await live.state(at.parent), live.effective(await live.turn(at.id))))
        at = live.tree.get(at.parent)
    return player_by_hands(state, path)


def _root(live: LiveSession, turn: str) -> str:
    return live.tree.ancestor_at(turn, 0).id


def _parted(live: LiveSession, second: str, state: WorldState) -> bool:
    merged = deltas.Merged(second, state.player)
    return any(merged in delta.events for later in live.amendments.values() for delta in later)


async def _introduced(live: LiveSession, turn: str, who: str) -> str:
    """The turn of the path that introduced somebody: found by halves, for whoever was introduced stays."""
    low, high = 0, live.tree.get(turn).depth
    while high - low > 1:
        middle = (low + high) // 2
        if who in (await live.state(live.tree.ancestor_at(turn, middle).id)).entities:
            high = middle
        else:
            low = middle
    return live.tree.ancestor_at(turn, high).id
