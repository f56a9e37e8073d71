"""The extraction job: asks a small model what changed in turns whose changes nobody reported.

Wanted turns are noted in the journal as the value of the turn's job, so that they outlive the process. One turn of a
session is read at a time, the newest first, once a later request's history has proved it. A reply that was swiped away
is never paid for.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from attrs import define, evolve, field, frozen

from saga_core.background import DONE, Foreground, Retry, Step, Supervisor, Waiting
from saga_core.counters import Counters, set_log_context
from saga_core.errors import GaveWay, LeaseLost, NotFound, QuotaExceeded, StoreError, UpstreamError
from saga_core.extraction import mention_event, read_delta
from saga_core.ids import IdSource
from saga_core.jobs.background_bills import BackgroundBills
from saga_core.jobs.views import FollowingJob, ViewsJob
from saga_core.journal import Journal, PendingWork
from saga_core.language import detect
from saga_core.model import (
    READING,
    Delta,
    Event,
    Introduced,
    Mentioned,
    Renamed,
    ReportStatus,
    Source,
    Turn,
    TurnKind,
    TurnNode,
    WorldState,
    deltas,
    fold,
    held,
)
from saga_core.model_calls import BeforeCall, ModelCallFailed, Paid
from saga_core.modules import ModuleTurn
from saga_core.ports import UsagePart
from saga_core.sessions import LiveSession, LiveSessions, amend
from saga_core.state_block import StateReading, merged

if TYPE_CHECKING:
    from saga_core.extraction import Extractor, WindowTurn


# -- windows ---------------------------------------------------------------------------------------------------

_USELESS = 2
_AGAIN, _AT_LAST = 64, 1_024
"""Turns that are read one by one before a window is tried again, at first and at most. Doubled after each failure."""
AHEAD = 13
"""Turns that are quoted before it is known where a window ends: one more than a window can have."""


@define(eq=False)
class WindowPace:
    """Decides whether a model is asked about several turns at once."""

    useless: int = 0
    """Consecutive windows of which no turn could be read."""
    single: int = 0
    """Turns that were read one by one since."""
    pause: int = _AGAIN

    @property
    def in_windows(self) -> bool:
        """Whether the model can read several turns at once, as far as is known."""
        return self.useless < _USELESS

    def tries(self) -> bool:
        """Whether to ask in a window now. Windows that failed before are tried again now and then."""
        if self.in_windows:
            return True
        self.single += 1
        return self.single > self.pause

    def found_something(self) -> None:
        """Note that the model can read windows, or that they are to be tried again."""
        self.useless, self.single, self.pause = 0, 0, _AGAIN

    def found_nothing(self) -> None:
        """Note that no turn of a window could be read."""
        if not self.in_windows:
            self.pause = min(2 * self.pause, _AT_LAST)
        self.useless, self.single = self.useless + 1, 0


@frozen
class Window:
    """Consecutive turns, with their texts as they are quoted."""

    turns: tuple[str, ...]
    told: tuple[WindowTurn, ...]
    language: str
    """The language of the first turn."""


async def windows_of(
    live: LiveSession, nodes: Sequence[TurnNode], extractor: Extractor, *, alone: bool = False
) -> list[Window]:
    """Divide turns of one path, in their order, into windows. A window ends where the turns are not consecutive.

    With ``alone``, each turn is a window of its own.
    """
    from saga_core.extraction import fits

    found: list[Window] = []
    for run in _runs(nodes):
        turns = await live.turns([node.id for node in run])
        languages = [detect(f"{turn.user}\n{turn.reply}", live.world.language) for turn in turns]
        while turns:
            told = [
                extractor.window_turn(turn.user, turn.reply, languages[0]) for turn in turns[: 1 if alone else AHEAD]
            ]
            count = 1 if alone else fits([each.tokens for each in told])
            found.append(Window(tuple(turn.id for turn in turns[:count]), tuple(told[:count]), languages[0]))
            del turns[:count], languages[:count]
            await asyncio.sleep(0)
    return found


def _runs(nodes: Sequence[TurnNode]) -> list[list[TurnNode]]:
    runs: list[list[TurnNode]] = []
    for node in nodes:
        if runs and node.parent == runs[-1][-1].id:
            runs[-1].append(node)
        else:
            runs.append([node])
    return runs


async def window_at(live: LiveSession, turn: str, due: Container[str], extractor: Extractor) -> Window:
    """The window that begins with ``turn`` and continues with the turns below it that are ``due`` as well."""
    chain = [live.tree.get(turn)]
    while len(chain) < AHEAD:
        below = [each for each in live.tree.children.get(chain[-1].id, ()) if each in due]
        if not below:
            break
        chain.append(live.tree.get(max(below, key=lambda each: (live.tree.is_ancestor(each, live.head), each))))
    return (await windows_of(live, chain, extractor))[0]


# -- reading a turn --------------------------------------------------------------------------------------------

_DECLARED = (deltas.TrackersDeclared, deltas.ProfileChosen, deltas.WorldSeen)
_NAMED_BY_BLOCK = (Renamed, Introduced, deltas.Played, deltas.Merged)


def is_news(live: LiveSession, turn: str) -> bool:
    """Whether a turn was neither reported nor read, and was not imported. Imported turns are read on request.

    A turn also counts as read if the result waits for a person.
    """
    node = live.tree.get(turn)
    return node.unreported and node.kind is not TurnKind.IMPORTED and not live.extracted(turn)


@frozen
class TurnToRead:
    """A turn that is to be read, and what was known when it began."""

    turn: Turn
    before: WorldState
    """The state before the turn, with the names that the client or the block's first lines gave in it."""
    named: tuple[Event, ...]
    """The events that gave these names. They stay whatever the model answers."""
    later: WorldState | None
    """The state at the active head, if the turn is above it."""
    above: Delta
    """What the turn before it changed."""
    language: str

    @property
    def names(self) -> tuple[str, ...]:
        """Names that the story uses later, so that a character who appears later keeps one identity."""
        if self.later is None:
            return ()
        return tuple(each.name for each in self.later.entities.values() if each.id not in self.before.entities)


async def scene_of(live: LiveSession, turn_id: str) -> TurnToRead:
    """A turn with the state before it, as far as it is known now."""
    turn = await live.turn(turn_id)
    assert turn.parent is not None, "a root is never read"
    before = await live.state(turn.parent)
    # Without a whole block, the recorder has found out nothing but who the player is, and whom the block introduced.
    unread = turn.delta.cut or turn.delta.status is ReportStatus.FALLBACK
    kinds = (*_DECLARED, *(_NAMED_BY_BLOCK if unread else (Renamed,)))
    named = tuple(event for event in turn.delta.events if isinstance(event, kinds))
    before = fold(before, Delta(named), turn=before.turn, depth=before.depth)
    behind = live.tree.is_ancestor(turn_id, live.head) and turn_id != live.head
    later = await live.state(live.head) if behind else None
    above = live.effective(await live.turn(turn.parent))
    return TurnToRead(turn, before, named, later, above, detect(f"{turn.user}\n{turn.reply}", live.world.language))


async def read_turn(
    live: LiveSession, turn_id: str, extractor: Extractor, before_call: Callable[[], Awaitable[None]], paid: Paid
) -> Delta:
    """Ask what changed in a turn, and resolve the answer on the state before it. Raises the errors of ``extract``."""
    scene = await scene_of(live, turn_id)
    turn = scene.turn
    reading = await extractor.extract(
        turn.user, turn.reply, scene.before, scene.language, names=scene.names, before_call=before_call, paid=paid
    )
    return resolved(live, scene, reading)


def resolved(live: LiveSession, scene: TurnToRead, reading: StateReading) -> Delta:
    """The delta of a turn from a model's report.

    It is for the whole turn, so it includes what the recorder itself found out. Names are also looked up at the active
    head, because turns may be read newest first.
    """
    turn, before = scene.turn, scene.before
    said = f"{turn.user}\n{turn.reply}"
    kept: list[Event] = [*scene.named, *(event for event in turn.delta.events if isinstance(event, Mentioned))]
    if turn.delta.cut:
        reading = evolve(reading, fields=merged(turn.delta.cut, reading.fields, before.trackers))
    told = read_delta(reading, before, source=Source.EXTRACTION, later=scene.later, told=said, above=scene.above)
    if not any(isinstance(event, Mentioned) for event in kept):
        kept += mention_event(live.lore.mentioned_in(said))
    if live.tree.children.get(turn.id):
        # Turns below may refer to entities that the replaced delta introduced.
        kept += [event for event in live.effective(turn).events if isinstance(event, Introduced)]
    events = (*kept, *told.events)
    if live.modules.modules:
        after = fold(before, Delta(events), turn=turn.id, depth=turn.depth)
        events += live.modules.events(ModuleTurn(before, after, turn.user, turn.reply, turn.id))
    return evolve(told, events=events)


# -- the backlog -----------------------------------------------------------------------------------------------

GIVES_WAY = 2
"""So many readings of a chat give way to narrations. From then on a request waits for the whole reading of the turn it
continues, until nothing is left to read. Otherwise a player who writes faster than her machine reads has no memory."""
LONGEST_WAIT = 90.0
"""Seconds that such a request waits at most. After a reading that takes longer, or whose player sends again meanwhile,
two more give way."""
NEAR = 1
"""A request waits for a turn that is being read, if it is at most this many turns above the one it continues."""


@define(eq=False)
class Backlog:
    """The turns of one session that are to be read."""

    session: str
    wanted: dict[str, PendingWork] = field(factory=dict)
    proved: set[str] = field(factory=set)
    """Turns that count though no turn continues them: a request's history showed them, or the work is drained."""
    read: dict[str, Delta] = field(factory=dict)
    """Answers that could not be recorded yet."""
    heard: dict[str, StateReading] = field(factory=dict)
    """The parts of an answer about a window whose turns are not recorded yet."""
    alone: set[str] = field(factory=set)
    """Turns that an answer about a window left out. Each is asked about separately."""
    turn: str = ""
    """The turn that is being read."""
    over: asyncio.Event | None = None
    """Exists while the model is asked. It is set when the answer is recorded, or when the call ends without one."""
    done: int = 0
    gave_way: int = 0
    """How many readings a narration stopped since nothing was left to read."""
    held: bool = False
    """Whether a request waits for a whole reading."""
    over_quota: str = ""
    """Why the quotas of the session's owner do not allow a call."""

    def forget(self, turn: str) -> None:
        """Drop a turn from the backlog."""
        self.wanted.pop(turn, None)
        self.hear_again(turn)
        self.proved.discard(turn)

    def hear_again(self, turn: str) -> None:
        """Drop the answers about a turn, so that it is asked about again."""
        self.read.pop(turn, None)
        self.heard.pop(turn, None)
        self.alone.discard(turn)

    def is_due(self, live: LiveSession, turn: str, *, at_head: bool) -> bool:
        """Whether a turn has not failed for good, and counts. With ``at_head``, the head counts too."""
        each = self.wanted[turn]
        if each.failed or turn not in live.tree:
            return False
        if each.asked or turn in self.proved or live.tree.get(turn).kind is TurnKind.ADOPTED:
            return True
        return bool(live.tree.children.get(turn)) or (at_head and turn == live.head)

    def due(self, live: LiveSession, *, at_head: bool) -> list[TurnNode]:
        """The turns that are to be read now."""
        return [live.tree.get(turn) for turn in self.wanted if self.is_due(live, turn, at_head=at_head)]

    def oldest_first(self, node: TurnNode) -> bool:
        """Whether a turn is read after those above it: it was imported or adopted, and somebody asked for it."""
        wanted = self.wanted.get(node.id)
        return node.kind in (TurnKind.IMPORTED, TurnKind.ADOPTED) and wanted is not None and wanted.asked

    def in_window(self, node: TurnNode) -> bool:
        """Whether a turn is read in one call with the turns below it."""
        return self.oldest_first(node) and node.id not in self.alone

    def place_of(self, node: TurnNode) -> int:
        """A turn's priority in the queue; the highest comes first. Newer turns come before older ones. Imported turns,
        and adopted turns that somebody asked for, are read oldest first: no request waits for them, and each is read
        with the changes of those before it.
        """
        return -node.depth if node.kind is TurnKind.IMPORTED or self.oldest_first(node) else node.depth

    def asked_about(self, live: LiveSession, parent: str) -> asyncio.Event | None:
        """The event for the end of the current reading, if that is of ``parent`` or the turn before it."""
        if self.over is None or not live.tree.is_ancestor(self.turn, parent):
            return None
        return self.over if live.tree.get(parent).depth - live.tree.get(self.turn).depth <= NEAR else None

    def failed(self) -> Iterator[tuple[str, PendingWork]]:
        """The turns that are not retried automatically."""
        return ((turn, each) for turn, each in self.wanted.items() if each.failed)


# -- the job ---------------------------------------------------------------------------------------------------

log = logging.getLogger("saga.extraction")

_MANY = 12
"""A history that adds at least this many turns is that of a chat that began elsewhere."""
TRIES = 5
"""How often a turn is tried while the model cannot be reached."""
LOOK_AGAIN = 3_600.0
"""Seconds after which a quota that was used up is looked at again at the latest, as it may have been raised."""
AT_ONCE = 2
"""Turns of all sessions that are read at the same time."""
_REASON = 300
WINDOWS = "extraction.windows"
"""The degraded mode in which each turn of a backfill is one call, because the model cannot read several."""
_HISTORY = (TurnKind.ADOPTED, TurnKind.IMPORTED)
_TOO_MUCH = (400, 413, 422)
"""HTTP statuses with which a provider refuses a prompt that is too long for its model."""
UNREAD = "extraction.unread"
"""The degraded mode from a turn that the model refused or did not answer for, until it reads one."""
CUT = "block.cut"
"""The degraded mode in which the missing rest of a state block that was cut off is lost."""


@define(eq=False, kw_only=True, slots=False)
class ExtractionJob(FollowingJob):
    """Reads turns for all sessions. Without an ``extractor`` it only counts what it would have read."""

    kind = "extract"
    counter = "extraction"
    mode = "extraction"
    retry = Retry(2.0, 300.0)
    at_once = AT_ONCE

    extractor: Extractor | None
    automatic: bool = False
    """Whether nobody chose the model. Then it reads replies that came without a block, but no adopted history."""
    asks: bool = False
    """Whether changes read in an adopted or imported history wait until a person accepts them."""
    at_head: bool = False
    """Whether a reply is read before a later request proves it, because reading one that is swiped away is free."""
    live: LiveSessions
    journal: Journal
    views: ViewsJob
    supervisor: Supervisor
    foreground: Foreground
    ids: IdSource
    counters: Counters
    bills: BackgroundBills
    admit_call: Callable[[str], Awaitable[None]] | None = None
    """Checks before each call that the quotas of a session's owner allow it. Raises ``QuotaExceeded``."""
    was_read: Callable[[LiveSession], None] = lambda live: None
    """Called when a turn of a session was read."""
    _backlogs: dict[str, Backlog] = field(factory=dict)
    _looking: asyncio.Lock = field(factory=asyncio.Lock)
    pace: WindowPace = field(factory=WindowPace)

    async def resume(self) -> None:
        """Start reading the turns that the journal notes as wanted."""
        await self.take_up(None)

    async def take_up(self, session: str | None) -> None:
        """Start reading the turns that the journal notes as wanted, of one session or of all."""
        found = set[str]()
        for each, turn, wanted in await self.journal.jobs(session):
            if wanted is not None:
                self._backlog(each).wanted[turn] = wanted
                found.add(each)
        for each in found:
            self.kick(each)

    async def wants(self, live: LiveSession, turns: Sequence[str]) -> Mapping[str, PendingWork]:
        """Those of ``turns`` that were wanted before, and those that nobody reported."""
        known = self._backlogs[live.session.id].wanted if live.session.id in self._backlogs else {}
        wanted = {turn: known[turn] for turn in turns if turn in known}
        fresh = [turn for turn in turns if turn not in known and turn in live.tree and is_news(live, turn)]
        read = [turn for turn in fresh if self._reads(live.tree.get(turn))]
        wanted.update((turn, PendingWork(True)) for turn in read)
        if len(fresh) > len(read):
            self.counters.add("extraction.skipped", len(fresh) - len(read))
        unread = set(fresh) - set(read)
        if any(live.tree.get(turn).status is ReportStatus.CUT for turn in unread):
            self.counters.degrade(CUT, "the last state block was cut off, and no extraction model reads the rest")
        elif turns and not unread:
            self.counters.recover(CUT)
        if wanted:
            self._backlog(live.session.id).wanted.update(wanted)
        return wanted

    def _reads(self, node: TurnNode) -> bool:
        """Whether there is a model, and it may be asked about a turn that nobody reported."""
        return self.extractor is not None and (self.reads_adopted or node.kind is not TurnKind.ADOPTED)

    @property
    def reads_adopted(self) -> bool:
        """Whether adopted turns are read automatically."""
        return self.extractor is not None and not self.automatic

    def views_rendered(self, live: LiveSession, turns: Sequence[str]) -> None:
        """Read the turns that are due now."""
        self.kick(live.session.id)

    def _waits(self, node: TurnNode, wanted: PendingWork | None) -> bool:
        """Whether the changes read in a turn wait until a person accepts them."""
        if wanted is not None and wanted.waits is not None:
            return wanted.waits
        return self.asks and node.kind in _HISTORY

    async def again(self, session: str, turns: Sequence[str], *, waits: bool | None = None) -> None:
        """Read ``turns`` again, whatever is known of them. ``waits`` says whether the answers wait for a person."""
        wanted = {turn: PendingWork(True, asked=True, waits=waits) for turn in turns}
        await self._note(session, wanted)
        backlog = self._backlog(session)
        backlog.wanted.update(wanted)
        for turn in turns:
            backlog.hear_again(turn)
        self.kick(session)
        self.scheduler.retry_now(self, session)

    async def _note(self, session: str, wanted: Mapping[str, PendingWork]) -> None:
        # The job of a queued turn says that its views are due. What it wants is noted once they are rendered.
        queued = self.views.queued(session)
        await self.journal.change_jobs(session, (), {turn: each for turn, each in wanted.items() if turn not in queued})

    async def forgive(self, session: str, turns: Iterable[str]) -> None:
        """Forget that these turns could not be read, and that the model could not read several at once."""
        backlog = self._backlog(session)
        failed = [turn for turn in turns if turn in backlog.wanted and backlog.wanted[turn].failed]
        queued = self.views.queued(session)  # their jobs say that their views are due
        await self.journal.change_jobs(session, [turn for turn in failed if turn not in queued], {})
        for turn in failed:
            backlog.forget(turn)
        self._try_windows()

    def _try_windows(self) -> None:
        self.pace.found_something()
        self.counters.recover(WINDOWS)

    def prove(self, session: str, turn: str) -> None:
        """Note that a request's history shows ``turn``, so that it counts. It is read at the next ``kick``."""
        backlog = self._backlogs.get(session)
        if backlog is not None and turn in backlog.wanted:
            backlog.proved.add(turn)

    def kick(self, session: str) -> None:
        """Read the wanted turns of a session, if there are any."""
        backlog = self._backlogs.get(session)
        if backlog is not None and self.extractor is not None and backlog.wanted:
            self.wake(session)

    def _backlog(self, session: str) -> Backlog:
        return self._backlogs.setdefault(session, Backlog(session))

    def reader(self) -> str:
        """The name of the model or provider that reads unreported turns; empty if there is none."""
        if self.extractor is None:
            return ""
        return self.extractor.chat.name if self.automatic else self.extractor.model

    def describe(self) -> dict[str, object]:
        """The reader, whether it was chosen automatically, and its results since the start. JSON-able."""
        counts = self.counters.counts
        return {
            "reader": self.reader() or None,
            "automatic": self.automatic and self.extractor is not None,
            "calls": counts["extraction.calls"],
            "done": self.done,
            "failed": len(self.failed()),
            "input_tokens": counts["extraction.tokens.input"],
            "output_tokens": counts["extraction.tokens.output"],
        }

    @property
    def done(self) -> int:
        """Turns that were read since the start."""
        return self.counters.counts["extraction.done"]

    async def wait(self, live: LiveSession, parent: str, seconds: float) -> str | None:
        """Wait at most ``seconds`` for the turn that the model is reading, if it is ``parent`` or the turn before it.

        If readings had to give way before, and ``seconds`` is not 0, the wait is at most ``LONGEST_WAIT``. Returns that
        turn if it is not read by then.
        """
        backlog = self._backlogs.get(live.session.id)
        if backlog is None or (over := backlog.asked_about(live, parent)) is None:
            return None
        if backlog.held:  # the player sends again
            backlog.gave_way = 0
        turn, held = backlog.turn, seconds > 0 and backlog.gave_way >= GIVES_WAY
        self.counters.add("extraction.waited")
        backlog.held |= held
        try:
            async with asyncio.timeout(LONGEST_WAIT if held else seconds):
                await over.wait()
        except TimeoutError:
            self.counters.add("extraction.late")
            if held:
                backlog.gave_way = 0
            return turn
        finally:
            backlog.held &= not held
        return None

    def wanting(self, session: str) -> list[str]:
        """The turns of the session that are to be read and have not failed for good."""
        backlog = self._backlogs.get(session)
        wanted = backlog.wanted if backlog is not None and self.extractor is not None else {}
        return [turn for turn, each in wanted.items() if not each.failed]

    def offer(self, session: str, turns: Sequence[str]) -> tuple[str, ...]:
        """If many turns were adopted and are not read automatically: a notice about how to have them read."""
        if len(turns) < _MANY or self.reads_adopted:
            return ()
        first = "" if self.extractor is not None else "set models.extraction, and "
        return (
            f"adopted: what changed in {len(turns)} turns is not known; {first}`saga backfill {session}` reads them",
        )

    def failed(self) -> list[dict[str, object]]:
        """The turns that are not retried automatically, and why. JSON-able."""
        return [
            {"session": backlog.session, "turn": turn, "tries": each.tries, "reason": each.reason}
            for backlog in self._backlogs.values()
            for turn, each in backlog.failed()
        ]

    def why_unread(self, live: LiveSession, parent: str) -> tuple[str, str] | None:
        """The turn to continue or the one before it, if it could not be read, and the reason."""
        backlog = self._backlogs.get(live.session.id)
        if backlog is None:
            return None
        for turn in (parent, live.tree.get(parent).parent):
            if turn and (each := backlog.wanted.get(turn)) is not None and each.failed:
                return turn, each.reason
        return None

    def progress(self) -> dict[str, dict[str, int]]:
        """How many turns of each session were read since the start, and how many wait. JSON-able."""
        found = {}
        for session, backlog in self._backlogs.items():
            waiting = sum(not each.failed for each in backlog.wanted.values())
            if waiting or backlog.done:
                found[session] = {"done": backlog.done, "waiting": waiting}
        return found

    def waiting(self, reasons: Mapping[str, str]) -> Iterable[Waiting]:
        """The turns that are due and not read yet, and the reason as far as it is known."""
        for backlog in self._backlogs.values():
            live = self.live.peek(backlog.session)
            for turn, each in backlog.wanted.items():
                if self.extractor is not None and live is not None and backlog.is_due(live, turn, at_head=self.at_head):
                    stopped = f"narrations stopped {backlog.gave_way} readings" if backlog.gave_way else "queued"
                    yield Waiting(backlog.session, turn, self.kind, backlog.over_quota or each.reason or stopped)

    @property
    def in_windows(self) -> bool:
        """Whether the model can be asked about several turns in one call."""
        return self.pace.in_windows

    async def step(self, session: str) -> Step:
        """Read one turn of a session, and record what it changed."""
        backlog = self._backlogs.get(session)
        turn = await self._next(backlog) if backlog is not None else ""
        if backlog is None or self.extractor is None:
            return DONE
        if not turn:
            backlog.gave_way = 0
            return DONE
        set_log_context(turn=turn)
        backlog.turn = turn
        try:
            if turn not in backlog.read:
                if turn not in backlog.heard:
                    await self._hear(backlog, self.extractor, turn)
                backlog.read[turn] = await self._read(backlog, self.extractor, turn)
            await self._record(backlog, turn)
        except NotFound:
            return Step(more=True)  # the session or the turn was removed: look again
        except GaveWay:
            backlog.gave_way += 1
            self.counters.add("extraction.gave_way")
            return Step(more=True)
        except QuotaExceeded as over:
            backlog.over_quota = str(over)
            return Step(again_in=min(over.free_in, LOOK_AGAIN))
        except LeaseLost:
            raise  # another server has the session, and reads it
        except Exception as error:
            if await self._noted(backlog, turn, error):
                raise
            known = self.is_expected(error)
            log.warning("session %s: turn %s: %s", session, turn, error, exc_info=None if known else error)
            self.counters.add("extraction.failures")
            self.counters.degrade(UNREAD, f"a turn could not be read, and what it changed is not known: {error}")
            return Step(more=True)
        finally:
            backlog.turn = ""
            self._end_call(backlog)
        return Step(True, 1)

    async def _look(self, backlog: Backlog) -> LiveSession | None:
        """Load the session, and drop wanted turns that were removed. None if the session itself was removed."""
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

    async def _next(self, backlog: Backlog) -> str:
        """The turn to read next, "" for none. Turns on the path of the active head come first, then by ``place_of``."""
        live = await self._look(backlog)
        if live is None:
            return ""
        best = max(
            backlog.due(live, at_head=self.at_head),
            key=lambda node: (live.tree.is_ancestor(node.id, live.head), backlog.place_of(node), node.id),
            default=None,
        )
        return best.id if best is not None else ""

    async def _hear(self, backlog: Backlog, extractor: Extractor, turn: str) -> None:
        """If a turn is read in windows, ask about it and the due turns below it in one call."""
        live = await self.live.get(backlog.session)
        due = {node.id for node in backlog.due(live, at_head=self.at_head) if backlog.in_window(node)}
        if turn not in due or not self.pace.tries():
            return
        window = await window_at(live, turn, due, extractor)
        if len(window.turns) == 1:
            return
        scene = await scene_of(live, turn)
        before_call, paid = self._around(backlog, extractor, turn)
        self.counters.add("extraction.windows")
        try:
            found = await extractor.extract_window(
                window.told, scene.before, window.language, names=scene.names, before_call=before_call, paid=paid
            )
        except (ModelCallFailed, UpstreamError) as error:
            refused = error.answered if isinstance(error, ModelCallFailed) else error.status in _TOO_MUCH
            if not refused:
                raise
            log.warning("session %s: turns are read one by one from here: %s", backlog.session, error)
            found = {}
        for number, each in enumerate(window.turns, 1):
            if number in found:
                backlog.heard[each] = found[number]
            else:
                backlog.alone.add(each)
        self.counters.add("extraction.repairs", len(window.turns) - len(found))
        if found:
            self._try_windows()
            return
        self.pace.found_nothing()
        if not self.in_windows:
            why = f"{extractor.model} cannot be asked about several turns at once; each is a call, which costs more"
            self.counters.degrade(WINDOWS, f"{why}. Another models.extraction may do better")

    async def _read(self, backlog: Backlog, extractor: Extractor, turn: str) -> Delta:
        live = await self.live.get(backlog.session)
        if turn in backlog.heard:
            return resolved(live, await scene_of(live, turn), backlog.heard[turn])
        return await read_turn(live, turn, extractor, *self._around(backlog, extractor, turn))

    def _around(self, backlog: Backlog, extractor: Extractor, turn: str) -> tuple[BeforeCall, Paid]:
        """The callbacks that run right before a call about a turn, and when it is billed."""

        async def give_way() -> None:
            upstream = extractor.chat.name
            if not self.foreground.is_free(upstream):
                self._end_call(backlog)
                await self.foreground.wait_until_free(upstream)
            if self.admit_call is not None:
                await self.admit_call((await self.live.get(backlog.session)).session.owner)
            backlog.over_quota = ""
            backlog.over = backlog.over or asyncio.Event()

        async def paid(part: UsagePart) -> None:
            await self.bills.enter("extraction", backlog.session, turn, part, extractor.model)

        return give_way, paid

    def _end_call(self, backlog: Backlog) -> None:
        """Note that the model is no longer asked, so that no request waits for it."""
        over, backlog.over = backlog.over, None
        if over is not None:
            over.set()

    async def _record(self, backlog: Backlog, turn: str) -> None:
        async with self.supervisor.exclusive(backlog.session, journal=True):
            live = await self.live.get(backlog.session)
            if turn not in backlog.read:
                return  # somebody asked for the turn again meanwhile
            number, delta = self.ids.new("a"), backlog.read[turn]
            more: list[tuple[str, Delta]] = []
            if delta.events and self._waits(live.tree.get(turn), backlog.wanted.get(turn)):
                # Like a curator's proposal, it is undone in the commit that makes it, and accepting it undoes that.
                delta, second = evolve(delta, id=number), self.ids.new("a")
                more = held(live.session.standing, Source.EXTRACTION, READING, change=number, number=second)
                self.counters.add("extraction.held", sum(each.source is Source.CURATION for _, each in more))
            await amend(live, turn, delta, number, *more)
            self.was_read(live)
            backlog.forget(turn)
            self.views.submit(backlog.session, [turn])
        backlog.done += 1
        self.counters.recover(UNREAD)
        self.counters.add("extraction.done")
        self.counters.emit("extracted", session=live.session.id, turn=turn)

    async def _noted(self, backlog: Backlog, turn: str, error: Exception) -> bool:
        """Note a failure with its turn. Returns whether the model could not be reached, so that the session pauses."""
        old = backlog.wanted.get(turn)
        if old is None:
            return False  # the turn was removed while the model was asked
        tries = old.tries + 1
        answered = isinstance(error, ModelCallFailed) and (error.answered or self.automatic)
        failed = answered or tries >= TRIES
        backlog.wanted[turn] = fresh = evolve(old, tries=tries, reason=self.reason(error), failed=failed)
        try:
            await self._note(backlog.session, {turn: fresh})
        except StoreError as unsaid:
            log.warning("session %s: failure of turn %s cannot be noted", backlog.session, turn, exc_info=unsaid)
        return not answered

    def reason(self, error: Exception) -> str:
        """Why a turn could not be read, in words."""
        return super().reason(error)[:_REASON]

    def degraded(self, session: str, reason: str) -> str:
        """The reason, as long as the model cannot be reached."""
        return reason

    def is_expected(self, error: Exception) -> bool:
        """Whether the error comes from a provider or a model, whose message is enough."""
        return isinstance(error, ModelCallFailed | UpstreamError)

    def forget(self, session: str) -> None:
        """Drop the backlog of a session that is about to be removed."""
        self._backlogs.pop(session, None)

    async def before_drain(self) -> None:
        """Count the active heads as proved."""
        if self.extractor is None:
            return
        for session, backlog in list(self._backlogs.items()):
            if backlog.wanted:
                live = await self._look(backlog)
                if live is not None:
                    self.prove(session, live.head)
                    self.kick(session)
