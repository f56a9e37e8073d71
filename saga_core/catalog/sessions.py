"""Sessions: begins, lists, resets and deletes them, says what they cost, and collects the fleeting ones."""

from __future__ import annotations

import logging
import warnings
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any

from attrs import define, field, frozen

from saga_core.background import Supervisor
from saga_core.billing import Account, Bill
from saga_core.config import Settings
from saga_core.counters import Counters
from saga_core.errors import BadInput, NotFound, StoreCorrupt, StoreError
from saga_core.ids import IdSource
from saga_core.journal import Journal, Ledger, Removal, make_root, uproot
from saga_core.language import clean_name
from saga_core.model import Session, Source, Tree
from saga_core.ports import Clock
from saga_core.sessions import LiveSession, LiveSessions, SessionDirectory, SilentChats
from saga_core.views import Projector
from saga_core.world import WorldLibrary

log = logging.getLogger("saga.sessions")

DAY = 86_400.0
LONGEST_LABEL = 200
"""Characters of a label."""
_UNHEARD_OF = 30 * DAY
"""Silence behind the configured time from which on the clock is not believed, until somebody plays."""

LettingGo = Callable[[str], AbstractAsyncContextManager[None]]
"""Around a removal: reviews of the session end, and afterwards curators forget what they keep of it elsewhere."""


@frozen
class SessionSummary:
    """A session as lists show it."""

    session: Session
    turns: int
    """Turns in its tree, the root left out."""
    depth: int
    """Turns on the path to the active head."""
    updated: float
    """Seconds since the epoch of the newest turn."""
    fleeting: bool = False
    """Whether it never got a second turn, has no name, and is older than ``session.collect_after_days``."""


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
    silent: SilentChats
    ids: IdSource
    clock: Clock
    counters: Counters
    _at_rest: dict[str, tuple[tuple[Session, int, int], SessionSummary]] = field(factory=dict, init=False)
    """Of sessions that are not in memory, what was read of them, and as of when: the tree of a long one takes a second,
    and whoever looks on asks after each turn of any session."""

    async def create(self, *, world: str | None = None, label: str = "", owner: str = "") -> Session:
        """Begin a session ahead of play. ``Conflict`` when the label is taken, ``BadInput`` for an unknown world."""
        chosen = await self.worlds.chosen(world, "", self.settings.config.session.default_world)
        return (await self.directory.begin(chosen, owner=owner, label=label)).session

    async def get(self, session_id: str, owner: str | None = None) -> Session:
        """A session by id, or by label where no owner has another of that label; with ``owner`` only hers.

        Raises ``NotFound``.
        """
        return await self.directory.find(session_id, owner)

    async def __call__(self, *args: Any, **chosen: Any) -> Sequence[Any]:
        """The old name of ``list``."""
        warnings.warn("Saga.sessions is Saga.sessions.list now", DeprecationWarning, stacklevel=2)
        return await self.list(*args, **chosen)

    async def list(self, *, owner: str | None = None) -> Sequence[SessionSummary]:
        """All sessions, or those of one owner, oldest first."""
        everything = await self.journal.sessions()
        for gone in self._at_rest.keys() - {session.id for session in everything}:
            del self._at_rest[gone]
        found = [session for session in everything if owner is None or session.owner == owner]
        summaries = []
        for session in found:
            try:
                summaries.append(await self._summary(session))
            except NotFound:
                # It was reset or deleted since it was listed.
                with suppress(NotFound):
                    summaries.append(await self.summary(session.id))
            except StoreCorrupt as error:
                self.journal.leave_out(session.id, error)
        return summaries

    async def ids_of(self, owner: str) -> frozenset[str]:
        """The ids of an owner's sessions."""
        return frozenset(session.id for session in await self.journal.sessions() if session.owner == owner)

    async def summary(self, session_id: str) -> SessionSummary:
        """One session, by id or label. ``NotFound``."""
        return await self._summary(await self.directory.find(session_id))

    async def _summary(self, session: Session) -> SessionSummary:
        await self.supervisor.locks.opened(session.id)
        live = self.live.peek(session.id)
        as_of = (session, self.live.loads[session.id], self.live.forgotten)
        if live is None and (known := self._at_rest.get(session.id)) is not None and known[0] == as_of:
            return known[1]
        tree = live.tree if live is not None else await self.journal.tree(session.id)
        head = session.head or tree.root
        newest = max((node.at for node in tree.nodes.values()), default=session.created)
        fleeting = await self._is_fleeting(session, tree)
        found = SessionSummary(session, len(tree) - 1, tree.get(head).depth, newest, fleeting)
        # Of one with a second turn it does not change that it is not fleeting.
        if live is None and self.live.ownership is None and tree.get(head).depth > 1:
            self._at_rest[session.id] = as_of, found
        return found

    async def rename(self, session_id: str, label: str) -> Session:
        """Give a session another label: requests that name it by the former one begin another session from now on.

        Raises ``NotFound``, ``BadInput`` for what cannot be a label, ``Conflict`` when the owner has one of that label.
        """
        clean = clean_name(label)
        if not clean or len(clean) > LONGEST_LABEL or not clean.isprintable():
            raise BadInput(
                f"label: {label[:80]!r} cannot name a session; give 1 to {LONGEST_LABEL} printable characters"
            )
        session = await self.directory.find(session_id)
        async with self.supervisor.locks.writing(session.id):
            live = await self.live.get(session.id)
            if clean != live.session.label:
                live.session = await self.journal.rename_session(live.session, clean)
                self.counters.emit("renamed", session=session.id)
            return live.session

    # -- removing ----------------------------------------------------------------------------------------------

    async def reset(self, session_id: str) -> Session:
        """Begin a session anew: all its turns, timelines and views go, its id, label and world stay."""
        async with self.changing(session_id) as live:
            (root,) = await self.journal.turns(live.session.id, [live.tree.root])
            fresh = make_root(live.session.id, self.ids.new("t"), self.clock.now(), root.reply)
            async with self.letting_go(live.session.id):
                await self.projector.drop(live)
                self.silent.forget(live.session.id)
                return await self._removal(live).begin_anew(fresh)

    async def delete(self, session_id: str) -> None:
        """Remove a session from the journal and from every store, also one that cannot be read. ``NotFound``."""
        try:
            async with self.changing(session_id) as live:
                await self._delete(live)
        except StoreCorrupt as error:
            await self._uproot(session_id, error)

    async def _uproot(self, session_id: str, error: StoreCorrupt) -> None:
        """Remove a session by the keys of its records, because ``error`` says that they cannot be read."""
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
        self.counters.recover("journal.sessions")  # told again, if another one is left out

    async def _delete(self, live: LiveSession) -> None:
        async with self.letting_go(live.session.id):
            await self.projector.drop(live)
            self.silent.forget(live.session.id)
            await self._removal(live).delete()

    @asynccontextmanager
    async def changing(self, session_id: str, *, stop: bool = True) -> AsyncIterator[LiveSession]:
        """Nobody else writes the session meanwhile; afterwards it is read from the journal again."""
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
        """The bills of a session's calls, oldest first. ``NotFound``."""
        return await self.ledger.bills((await self.directory.find(session_id)).id)

    async def costs(self) -> dict[str, Account]:
        """What each session that was billed cost, by its id."""
        return {session: Account.of(bills) for session, bills in (await self.ledger.everything()).items()}

    # -- collecting --------------------------------------------------------------------------------------------

    async def _is_fleeting(self, session: Session, tree: Tree) -> bool:
        """Whether nobody came back after the first turn, whose swipes count as one, for the configured time."""
        age = self.settings.config.session.collect_after_days * DAY
        if not age or session.label or session.standing or any(node.depth > 1 for node in tree.nodes.values()):
            return False
        live = self.live.peek(session.id)
        touched = live.touched if live is not None else 0.0
        newest = max(touched, session.created, *(node.at for node in tree.nodes.values()))
        if self.clock.now() - newest < age:
            return False
        # A name or a correction by hand is somebody who came back.
        if await self.journal.timelines(session.id):
            return False
        later = await self.journal.amendments(session.id)
        return not any(delta.source is Source.EDIT for deltas in later.values() for delta in deltas)

    async def collect(self) -> int:
        """Delete the fleeting sessions and say how many there were. What cannot be deleted is left for next time."""
        age = self.settings.config.session.collect_after_days * DAY
        if not age:
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
        """When a session was begun or played last, as far as their heads tell."""
        newest = 0.0
        for session in sessions:
            with suppress(NotFound, StoreCorrupt):  # it was deleted meanwhile, or cannot be played
                newest = max(newest, (await self.journal.node(session.id, session.head or session.root)).at)
        return newest

    async def _collected(self, session: Session) -> bool:
        head = await self.journal.node(session.id, session.head or session.root)
        if self.supervisor.is_rendering(session.id):
            return False
        if head.depth > 1 or not await self._is_fleeting(session, await self.journal.tree(session.id)):
            return False
        async with self.changing(session.id) as live:
            # Somebody may have come back while the session was looked at.
            if not await self._is_fleeting(live.session, live.tree):
                return False
            await self._delete(live)
        self.counters.add("sessions.collected")
        return True
