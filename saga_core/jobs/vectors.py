"""The vectors job: embeds episodes, a few turns at a time, after everything else.

A semantic embedder is slow, or remote, or both. After a change of the embedder, a thousand turns may take an hour, or
it may not answer for a day. Nothing else waits for it. The views job only reports which turns are new. The session
being played comes first, then the newest one. Until then, earlier turns are found by their words. The store shows which
turns lack a vector, so a restart continues where it stopped.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence

from attrs import define, field

from saga_core.background import DONE, InSections, Retry, SessionLocks, Step, Waiting
from saga_core.counters import Counters
from saga_core.errors import BadInput, NotFound
from saga_core.jobs.views import FollowingJob
from saga_core.journal import Journal, keys
from saga_core.model import TurnNode, read_nodes
from saga_core.recall import episodes_scope, passage_of
from saga_core.sessions import LiveSession, LiveSessions
from saga_core.views import OF_EMBEDDER, Projector, passages
from saga_core.world import World

log = logging.getLogger("saga.vectors")

MODE = "vectors"
"""The degraded mode while many vectors are to be made."""
FAILED = "embedder"
"""The degraded mode while no vector can be made."""
UNSTORED = "vectors.failing"
"""The degraded mode while a store, not the embedder, keeps vectors from being made."""
SWEEP = ""
"""Used in place of a session's id for the search for sessions that lack vectors."""
_AT_ONCE = 16
"""Turns that are embedded before more urgent work gets a chance."""
_MANY = 32
"""Turns from which on the progress is reported."""
_NEWEST = 8
"""Sessions that are checked for missing vectors at each start."""
_PATIENCE = 600.0


@define(eq=False)
class _Plan:
    """The turns of one session that lack a vector, newest first."""

    todo: dict[str, None]
    lore: World | None = None
    """The world, as long as its lore may lack vectors. The lore comes first."""
    made: int = 0


@define(eq=False, kw_only=True, slots=False)
class VectorsJob(FollowingJob):
    """Embeds episodes for all sessions, one session after another. Idle for an embedder that captures only spelling."""

    kind = "embed"
    counter = "vectors"
    mode = FAILED
    retry = Retry(0.5, 60.0)
    at_once = 1
    patience: float | None = field(default=_PATIENCE, init=False)
    in_order = True
    rests_as_one = True
    in_sections = InSections.RESTS
    keeps_loaded = False

    projector: Projector
    journal: Journal
    live: LiveSessions
    locks: SessionLocks
    counters: Counters
    _fresh: dict[str, dict[str, None]] = field(factory=dict, init=False)
    """Session to its new turns."""
    _plans: dict[str, _Plan] = field(factory=dict, init=False)
    _made: int = field(default=0, init=False)

    @property
    def active(self) -> bool:
        """Whether turns have vectors at all, with this embedder."""
        return self.projector.embedder is not None and self.projector.embedder.semantic

    def views_rendered(self, live: LiveSession, turns: Sequence[str]) -> None:
        """Submit the new turns."""
        self.submit(live.session.id, turns)

    def submit(self, session: str, turns: Iterable[str] = (), *, last: bool = False) -> None:
        """Make the vectors of a session's ``turns``, and of all its other turns that lack one."""
        if self.active:
            self._fresh.setdefault(session, {}).update(dict.fromkeys(turns))
            self.wake(session, first=not last)

    async def resume(self) -> None:
        """Warm up the embedder, and search for sessions with vectors of another embedder, or without vectors."""
        if self.active:
            warm = getattr(self.projector.embedder, "warm", None)
            if warm is not None:
                warm()  # the first question should not wait for a library or a model
            self.wake(SWEEP, first=True)

    def waiting(self, reasons: Mapping[str, str]) -> Iterable[Waiting]:
        """The sessions that lack vectors, and the reason as far as it is known."""
        why = next(filter(None, reasons.values()), "")
        for session in self._fresh:
            plan = self._plans.get(session)
            left = f"{plan.made} of {plan.made + len(plan.todo)} turns have vectors" if plan is not None else "queued"
            yield Waiting(session, "", self.kind, why or left)

    def describe(self) -> dict[str, int]:
        """The progress: turns that were embedded, turns that lack a vector, as far as counted, and waiting sessions."""
        return {"made": self._made, "left": self._left(), "sessions": len(self._fresh)}

    def degraded(self, session: str, reason: str) -> str:
        """The reason, with its effect on players."""
        return f"{reason}; earlier turns are found by their words"

    def is_expected(self, error: Exception) -> bool:
        """False, so that the log shows where a step failed."""
        return False

    def forget(self, session: str) -> None:
        """Drop the state of a session that is about to be removed."""
        self._fresh.pop(session, None)
        self._plans.pop(session, None)

    def _left(self) -> int:
        return sum(len(plan.todo) for plan in self._plans.values())

    def _tell(self) -> None:
        """Report the progress, if there is much to do."""
        assert self.projector.embedder is not None
        left, made = self._left(), sum(plan.made for plan in self._plans.values())
        more = len(self._fresh) - len(self._plans)
        if made + left < _MANY and more < _MANY:
            self.counters.recover(MODE)
            return
        words = f"rebuilding for {self.projector.embedder.id}: {made} of {made + left} turns have vectors"
        words += f", {more} more sessions wait" if more > 0 else ""
        words += "; the others are found by their words"
        if MODE not in self.counters.degraded:
            self.counters.degrade(MODE, words)
        self.counters.degraded[MODE] = words  # updated at every step, without a line in the log for each

    # -- a step ------------------------------------------------------------------------------------------------

    async def step(self, session: str) -> Step:
        """Make some vectors of a session."""
        try:
            return await self._make(session)
        except BaseException as error:
            refused = isinstance(error, BadInput)  # what a store refuses is a vector that is none
            mode = FAILED if refused or OF_EMBEDDER in getattr(error, "__notes__", ()) else UNSTORED
            if mode != self.mode:
                self.counters.recover(self.mode)
                self.mode = mode
            raise

    async def _make(self, session: str) -> Step:
        if session == SWEEP:
            await self._sweep()
            return DONE
        if session not in self._fresh:
            return DONE
        try:
            whole = await self._slice(session)
        except NotFound:
            self.forget(session)  # the session was deleted
            return DONE
        if whole:
            self.projector.mark_whole(session)
            self.forget(session)
        self._tell()
        return Step(more=not whole)

    async def _slice(self, session: str) -> bool:
        """Make some vectors of a session, and return whether it has all of them."""
        embedder = self.projector.embedder
        assert embedder is not None
        plan = self._plans.get(session)
        fresh = list(self._fresh[session])
        if plan is None:
            plan = self._plans[session] = await self._plan(session, fresh)
            self._tell()
        else:
            plan.todo = dict.fromkeys([*reversed(fresh), *plan.todo])
        waiting = self._fresh.get(session, {})
        for turn in fresh:
            waiting.pop(turn, None)
        if plan.lore is not None and not await self.projector.ensure_lore(plan.lore, _AT_ONCE):
            return False
        plan.lore = None
        batch = list(plan.todo)[:_AT_ONCE]
        nodes = [node for node in await self._nodes(session, batch) if node.episode]
        vectors = await passages(embedder, [passage_of(node.episode) for node in nodes]) if nodes else []
        async with self.locks.writing(session):
            now = {node.id: node for node in await self._nodes(session, batch)}
            same = [place for place, node in enumerate(nodes) if now.get(node.id) == node]
            if same:
                made = await self.projector.put_episodes(
                    session, [nodes[place] for place in same], [vectors[place] for place in same]
                )
                if made:  # the scope was removed meanwhile, with all its other vectors
                    self._plans.pop(session, None)
                    return False
        for node in nodes:
            if node.id in now and now[node.id] != node:
                waiting[node.id] = None  # the turn was amended meanwhile
        for turn in batch:
            plan.todo.pop(turn, None)
        plan.made += len(batch)
        self._made += len(same)
        return not plan.todo and not waiting

    async def _plan(self, session: str, fresh: Sequence[str]) -> _Plan:
        live = self.live.peek(session)
        if live is not None:
            world, tree = live.world, live.tree
        else:  # a session that nobody plays is not loaded for this
            world = await self.journal.world((await self.journal.session(session)).digest)
            tree = await self.journal.tree(session)
        lacking = [node.id for node in await self.projector.lacking(session, tree, fresh)]
        return _Plan(dict.fromkeys(sorted(lacking, reverse=True)), world)

    async def _nodes(self, session: str, turns: Sequence[str]) -> list[TurnNode]:
        """The current nodes of those ``turns`` that exist."""
        live = self.live.peek(session)
        if live is not None:
            return [live.tree.get(turn) for turn in turns if turn in live.tree]
        wanted = [keys.node(session, turn) for turn in turns]
        found = await self.journal.kv.get(wanted) if wanted else {}
        return read_nodes([found[key] for key in wanted if key in found])

    async def _sweep(self) -> None:
        """Submit the sessions that may lack vectors, newest first."""
        sessions = sorted(await self.journal.sessions(), key=lambda each: each.head, reverse=True)
        played = [each.id for each in sessions if each.head != each.root]
        right = [each for each in played if await self.projector.is_right(episodes_scope(each))]
        wrong = [each for each in played if each not in set(right)]
        # At most one session was half done when the last process ended. It is among those with the right embedder.
        for each in (*(right if wrong else right[:_NEWEST]), *wrong):
            if each not in self._fresh:
                self.submit(each, last=True)
