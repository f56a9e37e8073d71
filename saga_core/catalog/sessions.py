"""Sessions: create, list, reset and delete them, report their costs, and collect the fleeting ones."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from math import inf
from types import MappingProxyType

from attrs import define, field, frozen

from saga_core.arguments import checks_arguments
from saga_core.background import Supervisor
from saga_core.billing import Account, Bill
from saga_core.config import Settings
from saga_core.counters import Counters
from saga_core.errors import BadInput, NotFound, SagaError, StoreCorrupt, StoreError
from saga_core.ids import IdSource
from saga_core.journal import Journal, Keep, Ledger, Removal, make_root, uproot
from saga_core.language import clean_name
from saga_core.model import Session, Source, Tree
from saga_core.ports import Clock
from saga_core.sessions import (
    EPHEMERAL,
    PERSONAL,
    WORLD,
    LiveSession,
    LiveSessions,
    MissingReports,
    NewSession,
    SessionDirectory,
    checked_share,
    share_of,
)
from saga_core.stores import Key
from saga_core.views import Projector
from saga_core.world import WorldLibrary

log = logging.getLogger("saga.sessions")

DAY = 86_400.0
LONGEST_LABEL = 200
"""The largest number of characters of a label."""
_UNHEARD_OF = 30 * DAY
"""Nothing is collected if no session was played for this many seconds beyond the configured age.

The clock may then have jumped.
"""

LettingGo = Callable[[str], AbstractAsyncContextManager[None]]
"""A context manager around a removal: ends the session's reviews, and lets curators forget the session afterwards."""


@frozen
class SessionSummary:
    """A session as lists show it."""

    session: Session
    turns: int
    """The number of turns in its tree, without the root."""
    depth: int
    """The number of turns on the path to the active head."""
    updated: float
    """The time of the newest turn, in seconds since the epoch."""
    fleeting: bool = False
    """Whether it has no second turn, no label, and is older than ``session.collect_after_days``."""


@checks_arguments
@define(eq=False, kw_only=True)
class Sessions:
    """All sessions."""

    settings: Settings
    worlds: WorldLibrary
    directory: SessionDirectory
    live: LiveSessions
    journal: Journal
    ledger: Ledger
    projector: Projector
    supervisor: Supervisor
    letting_go: LettingGo
    silent: MissingReports
    ids: IdSource
    clock: Clock
    counters: Counters
    _at_rest: dict[str, tuple[tuple[Session, int, int], SessionSummary]] = field(factory=dict, init=False)
    """Summaries of sessions that are not in memory, with the version they were read at.

    Reading the tree of a long session takes a second, and viewers ask again after each turn of any session.
    """

    async def create(self, *, world: str | None = None, label: str = "", owner: str = "") -> Session:
        """Create a session before play. ``Conflict`` if the label is taken, ``BadInput`` for an unknown world."""
        chosen = await self.worlds.chosen(world, "", self.settings.config.session.default_world)
        return (await self.directory.begin(chosen, owner=owner, label=label)).session

    async def get(self, session_id: str, owner: str | None = None) -> Session:
        """Return a session by id, or by label if the label is unique; with ``owner`` only the owner's sessions count.

        Raises ``NotFound``.
        """
        return await self.directory.find(session_id, owner)

    async def list(self, *, owner: str | None = None) -> Sequence[SessionSummary]:
        """Return all sessions, or those of one owner, oldest first."""
        found = [await self.listed(session) for session in await self.records(owner)]
        return [summary for summary in found if summary is not None]

    async def records(self, owner: str | None = None) -> Sequence[Session]:
        """Return the records of all sessions, or those of one owner, oldest first. Their turns are not read."""
        everything = await self.journal.sessions()
        for gone in self._at_rest.keys() - {session.id for session in everything}:
            del self._at_rest[gone]
        return [session for session in everything if owner is None or session.owner == owner]

    async def listed(self, session: Session) -> SessionSummary | None:
        """Return the summary of a session of ``records``; None if it is gone, or its turns cannot be read."""
        with suppress(NotFound):
            try:
                return await self._summary(session)
            except NotFound:  # it was reset or deleted after it was listed
                return await self.summary(session.id)
            except StoreCorrupt as error:
                self.journal.leave_out(session.id, error)
        return None

    async def summary(self, session_id: str) -> SessionSummary:
        """Return the summary of one session, by id or label. ``NotFound``."""
        return await self._summary(await self.directory.find(session_id))

    async def _summary(self, session: Session) -> SessionSummary:
        await self.supervisor.locks.opened(session.id)
        live = self.live.peek(session.id)
        as_of = (session, self.live.loads[session.id], self.live.forgotten)
        if live is None and (known := self._at_rest.get(session.id)) is not None and known[0] == as_of:
            found = known[1]
            if session.label or found.depth > 1 or self.clock.now() - found.updated < self._age:
                return found  # nothing but its age could have made it fleeting
        tree = live.tree if live is not None else await self.journal.tree(session.id)
        head = session.head or tree.root
        newest = max((node.at for node in tree.nodes.values()), default=session.created)
        fleeting = await self._is_fleeting(session, tree)
        found = SessionSummary(session, len(tree) - 1, tree.get(head).depth, newest, fleeting)
        if live is None and self.live.ownership is None and not fleeting:
            self._at_rest[session.id] = as_of, found
        return found

    @property
    def _age(self) -> float:
        """The seconds after which a session without a second turn is fleeting; infinite for never."""
        return self.settings.config.session.collect_after_days * DAY or inf

    async def rename(self, session_id: str, label: str) -> Session:
        """Change a session's label. Requests that use the former label begin another session from now on.

        Raises ``NotFound``, ``BadInput`` for an invalid label, and ``Conflict`` if the owner has another session with
        it.
        """
        clean = clean_name(label)
        if not clean or len(clean) > LONGEST_LABEL or not clean.isprintable():
            raise BadInput(
                f"label: {label[:80]!r} cannot name a session; give 1 to {LONGEST_LABEL} printable characters"
            )
        async with self.directory.writing(session_id) as live:
            if clean != live.session.label:
                live.session = await self.journal.rename_session(live.session, clean)
                self.counters.emit("renamed", session=live.session.id)
            return live.session

    async def join(self, session_id: str, name: str = "") -> Session:
        """Let a session take part in its shared world from now on, under a ``name`` if there are several of that world.

        Raises ``NotFound``, and ``BadInput`` for an invalid name and for a world that shares nothing.
        """
        async with self.directory.writing(session_id) as live:
            if live.session.kind == EPHEMERAL:
                raise BadInput("world: an ephemeral session is kept nowhere and shares nothing; begin another session")
            if not live.world.shared:
                raise BadInput(
                    f"world: {live.session.world!r} shares nothing; list what it shares under `shared` in its "
                    "WORLD.md, and begin another session"
                )
            share = share_of(live.session.world, checked_share(name) if name else "")
            if share != live.session.share:
                await live.change(kind=WORLD, share=share, shared_at=self.clock.now())
            return live.session

    async def leave(self, session_id: str) -> Session:
        """Let a session go on alone. What it has seen of its shared world stays in its story. Raises ``NotFound``."""
        async with self.directory.writing(session_id) as live:
            if live.session.share:
                await live.change(kind=PERSONAL, share="", shared_at=0.0)
            return live.session

    # -- removing ----------------------------------------------------------------------------------------------

    async def reset(self, session_id: str) -> Session:
        """Start a session over: remove all its turns, timelines and views, but keep its id, label and world."""
        async with self.changing(session_id) as live:
            (root,) = await self.journal.turns(live.session.id, [live.tree.root])
            fresh = make_root(live.session.id, self.ids.new("t"), self.clock.now(), root.reply)
            async with self.letting_go(live.session.id):
                await self.projector.drop(live)
                self.silent.forget(live.session.id)
                return await self._removal(live).begin_anew(fresh)

    async def delete(self, session_id: str) -> None:
        """Remove a session from the journal and every store, even if it cannot be read. ``NotFound``."""
        try:
            async with self.changing(session_id) as live:
                await self._delete(live)
        except NotFound:
            async with self.supervisor.locks.writing(session_id):
                if not await self.journal.settle(session_id):  # a removal that was cut off is finished
                    raise
        except StoreCorrupt as error:
            await self._uproot(session_id, error)

    async def leave_new(self, new: NewSession | None) -> None:
        """End a request that leaves no turn. If it was the last one in a new session that nobody used, remove it.

        A session stays if it has turns, was changed, or was paid for. Does not fail if it cannot be removed.
        """
        if new is None:
            return
        new.requests -= 1
        session = new.session
        if session is None or new.is_played():
            return
        try:
            if not await self._is_unused(session, self.live.peek(session.id)):
                return
            async with self.changing(session.id) as live:
                if not new.is_played() and await self._is_unused(session, live):
                    await self._delete(live)
                    return
            await self.supervisor.take_up(session.id)  # the work that was stopped for the removal
        except NotFound:
            pass  # somebody else removed it
        except StoreError as error:
            log.warning("session %s: it has no turn and cannot be removed: %s", session.id, error)

    async def _is_unused(self, session: Session, live: LiveSession | None) -> bool:
        """Whether a session is as it began."""
        changed = live is not None and (live.session != session or len(live.tree) > 1 or live.timelines)
        return not changed and not await self.journal.amendments(session.id) and not await self.ledger.bills(session.id)

    async def replace(self, session_id: str, keep: Keep) -> None:
        """Remove a session from the journal and every store, with the records of ``keep`` in its place.

        Nothing is recorded in the session meanwhile. It is left as it is if it cannot be read. Raises ``NotFound`` and
        ``StoreError``.
        """
        session = await self.directory.find(session_id)
        try:
            async with self.changing(session.id) as live:
                await self._delete(live, await keep(live.session))
        except SagaError:
            await self.supervisor.take_up(session.id)  # the work that was stopped for the removal
            raise

    async def _uproot(self, session_id: str, error: StoreCorrupt) -> None:
        """Remove a session by the keys of its records, because they cannot be read, as ``error`` says."""
        try:
            found = (await self.directory.find(session_id)).id
        except StoreCorrupt:
            found = session_id
        log.warning("session %s: removed by the keys of its records, which cannot be read: %s", found, error)
        async with self.supervisor.exclusive(found, journal=True, stop=True), self.letting_go(found):
            await self.projector.drop_unread(found)
            self.silent.forget(found)
            await uproot(self.journal.kv, found)
            self.live.forget(found)
        self.counters.recover("journal.sessions")  # reported again if another session is left out

    async def _delete(self, live: LiveSession, puts: Mapping[Key, bytes] = MappingProxyType({})) -> None:
        async with self.letting_go(live.session.id):
            await self.projector.drop(live)
            self.silent.forget(live.session.id)
            await self._removal(live).delete(puts)

    @asynccontextmanager
    async def changing(self, session_id: str, *, stop: bool = True) -> AsyncIterator[LiveSession]:
        """Hold the session's write lock. Afterwards, the session is read from the journal again."""
        session = await self.directory.find(session_id)
        async with self.supervisor.exclusive(session.id, journal=True, stop=stop):
            if await self.journal.settle(session.id):
                self.live.forget(session.id)
            live = await self.live.get(session.id)
            try:
                yield live
            finally:
                self.live.forget(session.id)

    def _removal(self, live: LiveSession) -> Removal:
        return Removal(self.journal.kv, live.session, live.tree)

    # -- costs -------------------------------------------------------------------------------------------------

    async def cost(self, session_id: str) -> Sequence[Bill]:
        """Return the bills of a session's calls, oldest first. ``NotFound``."""
        return await self.ledger.bills((await self.directory.find(session_id)).id)

    async def costs(self, among: Iterable[str] | None = None) -> dict[str, Account]:
        """Return the costs of each session that has bills, or of those ``among`` them, by session id."""
        if among is None:
            found = await self.ledger.everything()
        else:
            found = {session: await self.ledger.bills(session) for session in among}
        return {session: Account.of(bills) for session, bills in found.items() if bills}

    # -- collecting --------------------------------------------------------------------------------------------

    async def _is_fleeting(self, session: Session, tree: Tree) -> bool:
        """Whether the session has had no second turn for the configured time. Swipes of the first turn count as one."""
        age = self._age
        if session.label or session.standing or any(node.depth > 1 for node in tree.nodes.values()):
            return False
        live = self.live.peek(session.id)
        touched = live.touched if live is not None else 0.0
        newest = max(touched, session.created, *(node.at for node in tree.nodes.values()))
        if self.clock.now() - newest < age:
            return False
        # A named timeline or a manual correction shows that the user came back.
        if await self.journal.timelines(session.id):
            return False
        later = await self.journal.amendments(session.id)
        return not any(delta.source is Source.EDIT for deltas in later.values() for delta in deltas)

    async def collect(self) -> int:
        """Delete the fleeting sessions and return their number. Failed deletions are tried again next time."""
        age = self._age
        if age == inf:
            return 0
        before, count = self.clock.now() - age, 0
        sessions = await self.journal.sessions()
        if not sessions:
            return 0
        if before - await self._newest(sessions) > _UNHEARD_OF:
            log.info("nothing is collected: by this clock nobody played for long; it may have jumped")
            return 0
        for session in sessions:
            if session.label or session.created > before:
                continue
            try:
                count += await self._collected(session)
            except (StoreError, NotFound) as error:
                self.counters.add("sessions.collect_failed")
                log.warning("session %s: cannot be collected, tried again in a day: %s", session.id, error)
        if count:
            log.info("collected %d sessions that never got a second turn (session.collect_after_days)", count)
        return count

    async def _newest(self, sessions: Sequence[Session]) -> float:
        """Return the latest time at which a session was created or played, judging by the heads."""
        newest = 0.0
        for session in sessions:
            with suppress(NotFound, StoreCorrupt):  # deleted meanwhile, or unreadable
                newest = max(newest, (await self.journal.node(session.id, session.head or session.root)).at)
        return newest

    async def _collected(self, session: Session) -> bool:
        head = await self.journal.node(session.id, session.head or session.root)
        if self.supervisor.is_rendering(session.id):
            return False
        if head.depth > 1 or not await self._is_fleeting(session, await self.journal.tree(session.id)):
            return False
        async with self.changing(session.id) as live:
            # The user may have come back since the first check.
            if not await self._is_fleeting(live.session, live.tree):
                return False
            await self._delete(live)
        self.counters.add("sessions.collected")
        return True
