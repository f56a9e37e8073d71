"""Extractions: turns whose changes nobody reported get them from an extraction model, behind the player's back.

What is wanted is noted in the journal as the value of the turn's job, so that it outlives the process. Of a session
one turn is read at a time, the newest first. A turn is read once it counts: when a later request's history proved it.
A reply that was swiped away is never paid for.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from attrs import define, evolve, field

from saga_core.engine.amending import amend
from saga_core.engine.background_bills import BackgroundBills
from saga_core.engine.counters import Counters
from saga_core.engine.lanes import Lanes, Waiting
from saga_core.engine.live import LiveSession, LiveSessions
from saga_core.engine.quiet import Quiet
from saga_core.engine.unreported import read_turn, unreported
from saga_core.errors import NotFound, StoreError, UpstreamError
from saga_core.extraction.failure import ExtractionFailed
from saga_core.ids import IdSource
from saga_core.journal.journal import Journal, Wanted
from saga_core.model.deltas import Delta
from saga_core.model.turn import TurnKind
from saga_core.ports import UsagePart
from saga_core.subject import concern

if TYPE_CHECKING:
    from saga_core.extraction.extractor import Extractor

log = logging.getLogger("saga.extraction")

TRIES = 5
"""Times that a turn is tried while the model cannot be reached."""
FIRST_PAUSE = 2.0
LONGEST_PAUSE = 300.0
AT_ONCE = 2
"""Turns that are read at the same time, of all sessions."""
NEAR = 1
"""A request waits for what is being read up to so many turns above the one that it continues."""
_REASON = 300


@define(eq=False)
class _Backlog:
    """What a session's turns want."""

    session: str
    wanted: dict[str, Wanted] = field(factory=dict)
    proved: set[str] = field(factory=set)
    """Turns that count though none continues them: a request's history showed them, or somebody asked."""
    read: dict[str, Delta] = field(factory=dict)
    """Answers that could not be recorded yet."""
    failures: int = 0
    """Tries in a row that the model could not be reached in."""
    rest_until: float = 0.0
    """When the next try is due, on the loop's clock."""
    task: asyncio.Task[None] | None = None
    wake: asyncio.Event = field(factory=asyncio.Event)
    resting: bool = False
    turn: str = ""
    """The turn that is being read."""
    over: asyncio.Event | None = None
    """While the model is asked: set when it was, and its answer counts."""
    done: int = 0

    def forget(self, turn: str) -> None:
        """Want nothing of a turn any more."""
        self.wanted.pop(turn, None)
        self.read.pop(turn, None)
        self.proved.discard(turn)


@define(eq=False)
class Extractions:
    """The supervisor of all extraction. Without an ``extractor`` it only counts what it would have read."""

    extractor: Extractor | None
    live: LiveSessions
    lanes: Lanes
    journal: Journal
    ids: IdSource
    counters: Counters
    bills: BackgroundBills
    quiet: Quiet = field(factory=Quiet)
    _backlogs: dict[str, _Backlog] = field(factory=dict)
    _slots: asyncio.Semaphore = field(factory=lambda: asyncio.Semaphore(AT_ONCE))
    _looking: asyncio.Lock = field(factory=asyncio.Lock)
    _idle: asyncio.Event = field(factory=asyncio.Event)
    _closed: bool = False

    # -- what is wanted ----------------------------------------------------------------------------------------

    def resume(self, session: str, wanted: dict[str, Wanted]) -> None:
        """Take up what the journal says that a session wants."""
        self._backlog(session).wanted.update(wanted)
        self.kick(session)

    async def settle(self, live: LiveSession, turns: Sequence[str]) -> None:
        """The views of ``turns`` are rendered: cross that off, and note whose changes nobody reported."""
        known = self._backlogs[live.session.id].wanted if live.session.id in self._backlogs else {}
        wanted = {turn: known[turn] for turn in turns if turn in known}
        fresh = [turn for turn in turns if turn not in known and turn in live.tree and unreported(live.tree.get(turn))]
        if self.extractor is not None:
            wanted.update((turn, Wanted(True)) for turn in fresh)
        elif fresh:
            self.counters.add("extraction.skipped", len(fresh))
        await self.journal.change_jobs(live.session.id, turns, wanted)
        if wanted:
            self._backlog(live.session.id).wanted.update(wanted)
            self.kick(live.session.id)

    async def again(self, session: str, turns: Sequence[str]) -> None:
        """Ask anew for ``turns``, whatever is known of them."""
        wanted = {turn: Wanted(True, asked=True) for turn in turns}
        # The views of a turn that is still queued are noted as its job; what it wants is noted after them.
        queued = self.lanes.queued(session)
        await self.journal.change_jobs(session, (), {turn: each for turn, each in wanted.items() if turn not in queued})
        backlog = self._backlog(session)
        backlog.wanted.update(wanted)
        for turn in turns:
            backlog.read.pop(turn, None)
        backlog.rest_until = 0.0
        self.kick(session)

    def prove(self, session: str, turn: str) -> None:
        """A request's history shows ``turn``: it counts. It is read when somebody next kicks."""
        backlog = self._backlogs.get(session)
        if backlog is not None and turn in backlog.wanted:
            backlog.proved.add(turn)

    def kick(self, session: str) -> None:
        """Begin to read what a session wants, if it is not under way."""
        backlog = self._backlogs.get(session)
        if backlog is None or self.extractor is None or self._closed or not backlog.wanted:
            return
        backlog.wake.set()
        if backlog.task is None:
            backlog.task = asyncio.create_task(self._run(backlog, self.extractor), name=f"saga-extract-{session}")

    def _backlog(self, session: str) -> _Backlog:
        return self._backlogs.setdefault(session, _Backlog(session))

    # -- what others ask ---------------------------------------------------------------------------------------

    @property
    def done(self) -> int:
        """Turns that were read since the start."""
        return sum(backlog.done for backlog in self._backlogs.values())

    def busy(self, session: str) -> bool:
        """Whether a turn of the session is being read."""
        backlog = self._backlogs.get(session)
        return backlog is not None and backlog.turn != ""

    async def wait(self, live: LiveSession, parent: str, seconds: float) -> str | None:
        """Wait at most so long for what the model is reading right now, if it is ``parent`` or the turn before it.

        Gives that turn when it is not known by then.
        """
        backlog = self._backlogs.get(live.session.id)
        if backlog is None or backlog.over is None or not live.tree.is_ancestor(backlog.turn, parent):
            return None
        turn, over = backlog.turn, backlog.over
        if live.tree.get(parent).depth - live.tree.get(turn).depth > NEAR:
            return None
        self.counters.add("extraction.waited")
        try:
            async with asyncio.timeout(seconds):
                await over.wait()
        except TimeoutError:
            self.counters.add("extraction.late")
            return turn
        return None

    def wanting(self, session: str) -> list[str]:
        """The turns of the session that are to be read and have not failed for good."""
        backlog = self._backlogs.get(session)
        if backlog is None or self.extractor is None:
            return []
        return [turn for turn, each in backlog.wanted.items() if not each.failed]

    def failed(self) -> list[dict[str, object]]:
        """The turns that are not tried again by themselves, and why. JSON-able."""
        return [
            {"session": backlog.session, "turn": turn, "tries": each.tries, "reason": each.reason}
            for backlog in self._backlogs.values()
            for turn, each in backlog.wanted.items()
            if each.failed
        ]

    def progress(self) -> dict[str, dict[str, int]]:
        """How many turns of each session were read since the start, and how many wait. JSON-able."""
        found = {}
        for session, backlog in self._backlogs.items():
            waiting = sum(not each.failed for each in backlog.wanted.values())
            if waiting or backlog.done:
                found[session] = {"done": backlog.done, "waiting": waiting}
        return found

    def waiting(self) -> tuple[Waiting, ...]:
        """What is due and not read yet, and why as far as it is known."""
        found = []
        for backlog in self._backlogs.values():
            live = self.live.peek(backlog.session)
            for turn, each in backlog.wanted.items():
                if self.extractor is not None and live is not None and _due(live, backlog, turn):
                    found.append(Waiting(backlog.session, turn, "extract", each.reason or "queued"))
        return tuple(found)

    # -- reading -----------------------------------------------------------------------------------------------

    async def _run(self, backlog: _Backlog, extractor: Extractor) -> None:
        concern(request="", session=backlog.session)
        try:
            while True:
                backlog.wake.clear()
                unknown = False
                try:
                    turn = await self._next(backlog)
                except StoreError as error:
                    log.warning("session %s: what it wants cannot be told", backlog.session, exc_info=error)
                    self._pause(backlog, error)
                    turn, unknown = "", True
                pause = backlog.rest_until - asyncio.get_running_loop().time()
                if pause > 0 and (turn or unknown):
                    await self._rest(backlog, pause)
                elif turn:
                    concern(turn=turn)
                    async with self._slots:
                        await self._try(backlog, extractor, turn)
                elif not backlog.wake.is_set():
                    return
        finally:
            backlog.task = None
            self._idle.set()

    async def _look(self, backlog: _Backlog) -> LiveSession | None:
        """The session, and its wanted turns without those that are gone. None when it is gone itself."""
        try:
            async with self._looking:
                live = await self.live.get(backlog.session)
        except NotFound:
            live = None
        gone = [turn for turn in backlog.wanted if live is None or turn not in live.tree]
        if gone:
            for turn in gone:
                backlog.forget(turn)
            await self.journal.change_jobs(backlog.session, gone, {})
        return live

    async def _next(self, backlog: _Backlog) -> str:
        """The turn to read next, "" for none: on the path of the active head first, the newest first."""
        live = await self._look(backlog)
        if live is None:
            return ""
        due = [live.tree.get(turn) for turn in backlog.wanted if _due(live, backlog, turn)]
        best = max(due, key=lambda node: (live.tree.is_ancestor(node.id, live.head), node.depth, node.id), default=None)
        return best.id if best is not None else ""

    async def _rest(self, backlog: _Backlog, pause: float) -> None:
        """Pause before the next try, unless somebody wants it now."""
        backlog.resting = True
        self._idle.set()
        try:
            async with asyncio.timeout(pause):
                while backlog.rest_until > 0:
                    await backlog.wake.wait()
                    backlog.wake.clear()
                    self._idle.set()
        except TimeoutError:
            self.counters.add("extraction.retries")
        finally:
            backlog.resting = False
            backlog.rest_until = 0.0

    async def _try(self, backlog: _Backlog, extractor: Extractor, turn: str) -> None:
        if turn not in backlog.wanted:
            return  # it was pruned while others were read
        backlog.turn = turn
        try:
            if turn not in backlog.read:
                backlog.read[turn] = await self._read(backlog, extractor, turn)
            await self._record(backlog, turn)
        except NotFound:
            backlog.wake.set()  # the session or the turn is gone: look again
        except Exception as error:
            known = isinstance(error, ExtractionFailed | UpstreamError)
            log.warning("session %s: turn %s: %s", backlog.session, turn, error, exc_info=None if known else error)
            await self._failed(backlog, turn, error)
        finally:
            backlog.turn = ""
            self._end_call(backlog)

    async def _read(self, backlog: _Backlog, extractor: Extractor, turn: str) -> Delta:
        async def give_way() -> None:
            upstream = extractor.chat.name
            if not self.quiet.now(upstream):
                self._end_call(backlog)
                await self.quiet.wait(upstream)
            backlog.over = backlog.over or asyncio.Event()

        async def paid(part: UsagePart) -> None:
            await self.bills.enter("extraction", backlog.session, turn, part, extractor.model)

        return await read_turn(await self.live.get(backlog.session), turn, extractor, give_way, paid)

    def _end_call(self, backlog: _Backlog) -> None:
        """The model is not being asked any more: nobody needs to wait for it."""
        over, backlog.over = backlog.over, None
        if over is not None:
            over.set()

    async def _record(self, backlog: _Backlog, turn: str) -> None:
        async with self.lanes.exclusive(backlog.session, journal=True):
            live = await self.live.get(backlog.session)
            await amend(live, turn, backlog.read[turn], self.ids.new("a"))
            backlog.forget(turn)
            self.lanes.submit(backlog.session, [turn])
        backlog.failures = 0
        backlog.done += 1
        self.counters.add("extraction.done")
        self.counters.tell("extracted", session=live.session.id, turn=turn)
        self.counters.recover("extraction")

    async def _failed(self, backlog: _Backlog, turn: str, error: Exception) -> None:
        old = backlog.wanted.get(turn)
        if old is None:
            return  # it was removed while the model was asked
        tries = old.tries + 1
        answered = isinstance(error, ExtractionFailed) and error.answered
        reason = f"{type(error).__name__}: {error}"[:_REASON]
        fresh = evolve(old, tries=tries, reason=reason, failed=answered or tries >= TRIES)
        backlog.wanted[turn] = fresh
        self.counters.add("extraction.failures")
        if not answered:
            self._pause(backlog, error)
        if turn in self.lanes.queued(backlog.session):
            return  # its job says that its views are due; what it wants is noted after them
        try:
            await self.journal.change_jobs(backlog.session, (), {turn: fresh})
        except StoreError as unsaid:
            log.warning("session %s: that turn %s failed cannot be noted", backlog.session, turn, exc_info=unsaid)

    def _pause(self, backlog: _Backlog, error: Exception) -> None:
        backlog.failures += 1
        self.counters.degrade("extraction", f"{type(error).__name__}: {error}"[:_REASON])
        pause = FIRST_PAUSE * 2 ** min(backlog.failures - 1, 16)
        asked = error.retry_after or 0.0 if isinstance(error, UpstreamError) else 0.0
        backlog.rest_until = asyncio.get_running_loop().time() + min(LONGEST_PAUSE, max(pause, asked))

    # -- ending ------------------------------------------------------------------------------------------------

    async def drain(self) -> int:
        """Read all that is due, the active heads and resting retries (once) included; how many turns that were.

        Ends when everything is read or rests. It may take as long as the model does: bound it from outside.
        """
        before = self.done
        retried: set[str] = set()
        for session, backlog in list(self._backlogs.items()):
            if backlog.wanted and self.extractor is not None:
                live = await self._look(backlog)
                if live is not None:
                    self.prove(session, live.head)
                    self.kick(session)
        while True:
            self._idle.clear()
            for backlog in self._backlogs.values():
                if backlog.resting and backlog.session not in retried:
                    retried.add(backlog.session)
                    backlog.rest_until = 0.0
                    backlog.wake.set()
            if all(each.task is None or (each.resting and not each.wake.is_set()) for each in self._backlogs.values()):
                return self.done - before
            await self._idle.wait()

    async def aclose(self) -> None:
        """Stop. What is being read is given up; the journal still says that it is wanted."""
        self._closed = True
        tasks = [backlog.task for backlog in self._backlogs.values() if backlog.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _due(live: LiveSession, backlog: _Backlog, turn: str) -> bool:
    """Whether a turn is to be read now: it has not failed for good, and it counts."""
    each = backlog.wanted[turn]
    if each.failed or turn not in live.tree:
        return False
    if each.asked or turn in backlog.proved or live.tree.get(turn).kind is TurnKind.ADOPTED:
        return True
    return bool(live.tree.children.get(turn))
