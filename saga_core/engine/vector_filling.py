"""Making vectors behind everything else: of turns that lack one, a few at a time, as fast as the embedder is.

An embedder that sees meaning is slow, or far away, or both: a thousand turns may take it an hour after it was changed,
and for a day it may not answer. Nothing else waits for it. Lanes only say which turns are new; a session that is played
comes first, then the newest; earlier turns are found by their words meanwhile. What lacks a vector is told from the
stores, so that a restart goes on where it was.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Iterable, Sequence

from attrs import define, field

from saga_core.engine.counters import Counters
from saga_core.engine.gates import Gates
from saga_core.engine.lanes import FIRST_PAUSE, LONGEST_PAUSE, Waiting
from saga_core.engine.live import LiveSessions
from saga_core.engine.projector import Projector
from saga_core.engine.vector_views import passages
from saga_core.errors import NotFound
from saga_core.journal import keys
from saga_core.journal.journal import Journal
from saga_core.journal.tree import Node, read_nodes
from saga_core.projection.episodes import passage_of
from saga_core.projection.vector_scopes import episodes_scope
from saga_core.world.model import World

log = logging.getLogger("saga.vectors")

MODE = "vectors"
"""The degraded mode while many are to be made."""
FAILED = "embedder"
"""The degraded mode while none can be."""
_AT_ONCE = 16
"""Turns that are embedded between two looks at what is more urgent."""
_MANY = 32
"""Turns from which on it is told how far it is."""
_NEWEST = 8
"""Sessions that are looked over at each start, whether all their turns have vectors."""
_PATIENCE = 600.0


@define(eq=False)
class _Plan:
    """What a session lacks: ids of turns, the newest first."""

    todo: dict[str, None]
    lore: World | None = None
    """The world, as long as its lore may lack vectors; that comes first."""
    made: int = 0


@define(eq=False)
class VectorFilling:
    """One queue of sessions for one embedder. Does nothing for one that sees no more than spelling."""

    projector: Projector
    journal: Journal
    live: LiveSessions
    gates: Gates
    counters: Counters
    _waiting: OrderedDict[str, dict[str, None]] = field(factory=OrderedDict, init=False)
    """Session to its new turns."""
    _plans: dict[str, _Plan] = field(factory=dict, init=False)
    _task: asyncio.Task[None] | None = field(default=None, init=False)
    _sweeping: asyncio.Task[None] | None = field(default=None, init=False)
    _wake: asyncio.Event = field(factory=asyncio.Event, init=False)
    _changed: asyncio.Event = field(factory=asyncio.Event, init=False)
    _resting: bool = field(default=False, init=False)
    _failures: int = field(default=0, init=False)
    _reason: str = field(default="", init=False)
    _failed: dict[str, tuple[int, str]] = field(factory=dict, init=False)
    """Session to how often in a row its vectors could not be made, and why last."""
    _made: int = field(default=0, init=False)
    _closed: bool = field(default=False, init=False)

    @property
    def active(self) -> bool:
        """Whether turns have vectors at all, with this embedder."""
        return self.projector.embedder is not None and self.projector.embedder.semantic

    def submit(self, session: str, turns: Iterable[str] = (), *, last: bool = False) -> None:
        """See to it that ``turns`` of a session get their vectors, and whatever else lacks one there."""
        if self._closed or not self.active:
            return
        self._waiting.setdefault(session, {}).update(dict.fromkeys(turns))
        self._waiting.move_to_end(session, last=last)
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="saga-vectors")

    def sweep(self) -> None:
        """Look which sessions have vectors of another embedder, or none, and make them anew, the newest first.

        An embedder that can be warmed is: the first question should not wait for a library or a model.
        """
        if self.active and self._sweeping is None:
            warm = getattr(self.projector.embedder, "warm", None)
            if warm is not None:
                warm()
            self._sweeping = asyncio.create_task(self._sweep(), name="saga-vectors-sweep")

    def waiting(self) -> tuple[Waiting, ...]:
        """The sessions whose vectors are not all made, and why as far as it is known."""
        found = []
        for session in self._waiting:
            plan = self._plans.get(session)
            left = f"{plan.made} of {plan.made + len(plan.todo)} turns have vectors" if plan is not None else "queued"
            found.append(Waiting(session, "", "embed", self._reason or left))
        return tuple(found)

    def failed(self) -> dict[str, tuple[int, str]]:
        """The sessions whose vectors could not be made when it was last tried: how often in a row, and why."""
        return dict(self._failed)

    def hurry(self) -> None:
        """Try again now, if the queue rests after a failure."""
        if self._resting:
            self._wake.set()

    def describe(self) -> dict[str, int]:
        """How far it is: turns that lack a vector, as far as they were counted, and sessions that wait."""
        return {"made": self._made, "left": self._left(), "sessions": len(self._waiting)}

    async def drain(self, timeout: float) -> int:
        """Do what is due, a retry that rests included (once), for at most ``timeout`` seconds; the turns done."""
        before, hurried = self._made, False
        try:
            async with asyncio.timeout(timeout):
                if self._sweeping is not None:
                    await asyncio.wait((self._sweeping,))
                while self._waiting:
                    if self._resting:
                        if hurried:
                            break
                        hurried = True
                        self._wake.set()
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            log.info("draining did not finish within %.1f s; vectors are made later", timeout)
        return self._made - before

    async def aclose(self) -> None:
        """Stop. What is not made is made after the next start."""
        self._closed = True
        tasks = [task for task in (self._task, self._sweeping) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # -- the queue ---------------------------------------------------------------------------------------------

    async def _run(self) -> None:
        while self._waiting:
            session = next((each for each in self._waiting if not self.gates.held(each)), None)
            if session is None:  # those that change as a whole
                await self.gates.released(next(iter(self._waiting)))
                continue
            try:
                async with asyncio.timeout(_PATIENCE):
                    whole = await self._slice(session)
            except asyncio.CancelledError:
                raise
            except NotFound:
                self._waiting.pop(session, None)  # it was deleted
                self._plans.pop(session, None)
                self._failed.pop(session, None)
                self._changed.set()
                continue
            except Exception as error:
                log.warning("session %s: vectors could not be made, will be tried again", session, exc_info=error)
                await self._rest(session, error)
                continue
            self._failures, self._reason = 0, ""
            self._failed.pop(session, None)
            self.counters.recover(FAILED)
            if whole:
                self.projector.mark_whole(session)
                self._waiting.pop(session, None)
                self._plans.pop(session, None)
            self._tell()
            self._changed.set()
        self._task = None

    async def _rest(self, session: str, error: Exception) -> None:
        self._failures += 1
        self._reason = f"{type(error).__name__}: {error}"
        self._failed[session] = self._failed.get(session, (0, ""))[0] + 1, self._reason
        self.counters.add("vectors.failures")
        self.counters.degrade(FAILED, f"{self._reason}; earlier turns are found by their words")
        self._wake.clear()
        self._resting = True
        self._changed.set()
        pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (self._failures - 1))
        try:
            async with asyncio.timeout(pause):  # ``wait_for`` loses a cancellation that comes with the waking
                await self._wake.wait()
        except TimeoutError:
            self.counters.add("vectors.retries")
        self._resting = False
        if session in self._waiting and len(self._waiting) > 1:
            self._waiting.move_to_end(session)  # one that cannot be done must not hold up the others

    def _left(self) -> int:
        return sum(len(plan.todo) for plan in self._plans.values())

    def _tell(self) -> None:
        """Say how far it is, where there is much to do."""
        assert self.projector.embedder is not None
        left, made = self._left(), sum(plan.made for plan in self._plans.values())
        more = len(self._waiting) - len(self._plans)
        if made + left < _MANY and more < _MANY:
            self.counters.recover(MODE)
            return
        words = f"rebuilding for {self.projector.embedder.id}: {made} of {made + left} turns have vectors"
        words += f", {more} more sessions wait" if more > 0 else ""
        words += "; the others are found by their words"
        if MODE not in self.counters.degraded:
            self.counters.degrade(MODE, words)
        self.counters.degraded[MODE] = words  # at every step, and not a line of log for each

    # -- a step ------------------------------------------------------------------------------------------------

    async def _slice(self, session: str) -> bool:
        """Make some vectors of a session; whether it has them all."""
        embedder = self.projector.embedder
        assert embedder is not None
        plan = self._plans.get(session)
        fresh = list(self._waiting[session])
        if plan is None:
            plan = self._plans[session] = await self._plan(session, fresh)
            self._tell()
        else:
            plan.todo = dict.fromkeys([*reversed(fresh), *plan.todo])
        waiting = self._waiting.get(session, {})
        for turn in fresh:
            waiting.pop(turn, None)
        if plan.lore is not None and not await self.projector.ensure_lore_of(plan.lore, _AT_ONCE):
            return False
        plan.lore = None
        batch = list(plan.todo)[:_AT_ONCE]
        nodes = [node for node in await self._nodes(session, batch) if node.episode]
        vectors = await passages(embedder, [passage_of(node.episode) for node in nodes]) if nodes else []
        async with self.gates.writing(session):
            now = {node.id: node for node in await self._nodes(session, batch)}
            same = [place for place, node in enumerate(nodes) if now.get(node.id) == node]
            if same:
                made = await self.projector.put_episodes(
                    session, [nodes[place] for place in same], [vectors[place] for place in same]
                )
                if made:  # the scope had gone meanwhile, and the others with it
                    self._plans.pop(session, None)
                    return False
        for node in nodes:
            if node.id in now and now[node.id] != node:
                waiting[node.id] = None  # it was amended meanwhile
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

    async def _nodes(self, session: str, turns: Sequence[str]) -> list[Node]:
        """Those of ``turns`` that are there, as they are now."""
        live = self.live.peek(session)
        if live is not None:
            return [live.tree.get(turn) for turn in turns if turn in live.tree]
        wanted = [keys.node(session, turn) for turn in turns]
        found = await self.journal.kv.get(wanted) if wanted else {}
        return read_nodes([found[key] for key in wanted if key in found])

    async def _sweep(self) -> None:
        try:
            sessions = sorted(await self.journal.sessions(), key=lambda each: each.head, reverse=True)
            played = [each.id for each in sessions if each.head != each.root]
            right = [each for each in played if await self.projector.is_right(episodes_scope(each))]
            wrong = [each for each in played if each not in set(right)]
            # At most one was half done when the last process ended; it is among those that were done.
            for each in (*(right if wrong else right[:_NEWEST]), *wrong):
                if each not in self._waiting:
                    self.submit(each, last=True)
        except Exception as error:
            self.counters.degrade(FAILED, f"it is not known which vectors are there: {error}")
            log.warning("which sessions lack vectors is not known; they get them when played", exc_info=error)
