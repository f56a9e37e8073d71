"""Leases: among the servers that share a journal, each session has one writer at a time.

A session's lease is a row with its owner and an epoch. A server takes the lease by writing its own name and the next
epoch, if the row is unchanged since it was read. The row is also the fence: each commit of the session expects it
unchanged, in the same transaction. A server that lost its lease therefore cannot write, even if it was suspended.

A server is alive as long as its heartbeat counter grows. The others measure that with their own monotonic clocks. A
server whose counter has not grown for ``seconds`` is gone, and its sessions are free. Clocks are never compared.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from contextvars import ContextVar
from typing import Any, cast
from weakref import WeakSet

from attrs import define, field, frozen
from cachetools import LRUCache

from saga_core import codec
from saga_core.capabilities import Capability
from saga_core.counters import Counters
from saga_core.errors import BadInput, Conflict, LeaseLost, OwnedElsewhere, SagaError, StoreError
from saga_core.hosting import OwnershipListener
from saga_core.journal import TOLD, keys, session_of
from saga_core.stores import Batch, Compacting, Fence, FenceOf, Health, Key, StateKV, StoreInfo
from saga_server.hosting import layout
from saga_server.hosting.liveness import Beat, Others, Siblings

log = logging.getLogger("saga.leases")

LOOK_CLOSELY: ContextVar[bool] = ContextVar("look_closely", default=False)
"""Whether to read a session before deciding that a request belongs to it, instead of guessing from its lease."""
MODE = "leases.beat"
"""The degraded mode while no heartbeat can be written."""
_TRIES = 20
_SIBLINGS_SECONDS = 2.0
"""The longest time until servers of one machine see each other, and the work that one of them left."""
_KNOWN = 4_096
_PAGE = 1_000
_JUST_NOW = 2.0
"""Seconds during which a session counts as in use after its last use, because a request or a reply may follow."""
_LEAVING_SECONDS = 0.2
"""Seconds between checks for unneeded leases while the server is leaving."""


@frozen
class Lease:
    """The writer of a session. ``epoch`` grows each time the lease is taken, and is never reused."""

    owner: str
    """The server; empty if the lease was returned."""
    epoch: int


NOBODY = Lease("", 0)


def read_lease(raw: bytes | None) -> Lease:
    """Decode a stored lease. Raises ``StoreCorrupt``."""
    return NOBODY if raw is None else codec.decode(raw, Lease)


def read_order(raw: bytes | None) -> int:
    """Decode the number of writes of a session."""
    return 0 if raw is None else int(raw)


def write_order(number: int) -> bytes | None:
    """Encode a number for ``read_order``; None for a session that was never written."""
    return str(number).encode() if number else None


@define(eq=False)
class Held:
    """A lease that this server holds."""

    raw: bytes
    """The stored row, which serves as the fence."""
    epoch: int
    order: int
    used: float
    """The time of the last use, on the event loop's clock."""
    busy: int = 0
    """The number of running commits."""
    writing: asyncio.Lock = field(factory=asyncio.Lock)
    """Held by a commit that gets an order number."""


@define(eq=False, kw_only=True)
class Leases:
    """The leases of one server. ``start`` writes its first heartbeat; ``aclose`` returns all leases."""

    kv: StateKV
    """The journal's store, without a fence."""
    name: str
    """The server's name; the same after a restart. Leases of an earlier process with this name are free at once."""
    token: str
    """Distinguishes this process from others with the same name."""
    address: str
    seconds: float
    counters: Counters
    siblings: Siblings | None = None
    """Knows which servers are alive if all of them are on one machine. Heartbeats are then not evaluated."""
    listener: OwnershipListener = field(factory=OwnershipListener)
    _held: dict[str, Held] = field(factory=dict)
    _taking: dict[str, asyncio.Task[bool]] = field(factory=dict)
    _known: LRUCache[str, int] = field(factory=lambda: LRUCache(_KNOWN))
    """The order number that a session in memory had when it was read."""
    _epochs: LRUCache[str, int] = field(factory=lambda: LRUCache(_KNOWN))
    """The epoch in which this server last held a session."""
    _pins: dict[str, WeakSet[Any]] = field(factory=dict)
    _count: int = 0
    _beaten: float = float("-inf")
    """The time before the last heartbeat commit: other servers may have seen the heartbeat since then."""
    _beating: asyncio.Task[None] | None = None
    _inheriting: set[asyncio.Task[None]] = field(factory=set)
    _leaving: asyncio.Task[None] | None = None
    _closed: bool = False
    _others: Others = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._others = Others(
            kv=self.kv,
            name=self.name,
            server=self.server,
            seconds=self.seconds,
            counters=self.counters,
            siblings=self.siblings,
        )

    @property
    def server(self) -> str:
        """The server's name with the token of its process."""
        return f"{self.name}#{self.token}"

    def guard(self) -> StateKV:
        """See ``WriteRights.guard``."""
        return OwnedState(self.kv, self)

    def fence_of(self, session_of: Callable[[str], str | None]) -> FenceOf:
        """See ``WriteRights.fence_of``."""

        async def fence_of(scope: str) -> Fence | None:
            session = session_of(scope)
            if session is None:
                return None
            return Fence(layout.lease(session), (await held_to_write(self, session)).raw)

        return fence_of

    def listen(self, listener: OwnershipListener) -> None:
        """See ``WriteRights.listen``."""
        self.listener = listener

    async def start(self) -> None:
        """Write the first heartbeat and start the heartbeat task. Raises ``StoreError``."""
        await self._beat()
        self._beating = asyncio.create_task(self._go_on(), name="saga-leases")

    # -- owning ------------------------------------------------------------------------------------------------

    def held(self, session: str) -> Held | None:
        """Return the lease of a session, if this server holds it."""
        return self._held.get(session)

    async def own(self, session: str) -> bool:
        """Acquire the lease of a session. Return whether its data in memory was outdated and has been dropped.

        Raises ``OwnedElsewhere`` while another live server holds it, and ``StoreError``.
        """
        found = self._held.get(session)
        if found is not None and (self._is_sure() or await self._still_holds(session)):
            found.used = _now()
            return False
        if self._leaving is not None:
            raise OwnedElsewhere(session, "another server", "")
        task = self._taking.get(session)
        if task is None:
            task = asyncio.create_task(self._take(session))
            self._taking[session] = task
            task.add_done_callback(lambda done: self._took(session, done))
        return await asyncio.shield(task)

    def _took(self, session: str, task: asyncio.Task[bool]) -> None:
        del self._taking[session]
        if not task.cancelled():
            task.exception()  # retrieve the error, because all waiters may be gone

    async def _take(self, session: str) -> bool:
        lease, order = layout.lease(session), layout.order(session)
        for _ in range(_TRIES):
            rows = await self.kv.get([lease, order])
            raw = rows.get(lease)
            before = read_lease(raw)
            expected: dict[Key, bytes | None] = {lease: raw}
            if before.owner and before.owner != self.server:
                # Expect the beat unchanged, so that an owner that becomes active again keeps the lease.
                expected[layout.beat(before.owner)] = await self._beat_of_the_gone(session, before.owner)
            mine = Lease(self.server, before.epoch + 1)
            fence = codec.encode(mine)
            try:
                await self.kv.commit(Batch({lease: fence}), expected=expected)
            except Conflict:
                continue
            return self._taken(session, before, Held(fence, mine.epoch, read_order(rows.get(order)), _now()))
        raise OwnedElsewhere(session, "another server", "")

    async def _beat_of_the_gone(self, session: str, owner: str) -> bytes | None:
        """Return the last beat of a session's owner that is gone. Raises ``OwnedElsewhere`` if it is alive."""
        beat = (await self.kv.get([layout.beat(owner)])).get(layout.beat(owner))
        if not self._others.judge(owner, beat):
            raise OwnedElsewhere(session, owner, self._others.address_of(owner))
        return beat

    async def ask_elsewhere(self, session: str) -> None:
        """Raise ``OwnedElsewhere`` while another live server holds a session, unless ``LOOK_CLOSELY``."""
        if not LOOK_CLOSELY.get():
            await self.guess(session)

    async def guess(self, session: str) -> None:
        """Raise ``OwnedElsewhere`` while another live server holds a session. Takes no lease."""
        if session in self._held:
            return
        owner = read_lease((await self.kv.get([layout.lease(session)])).get(layout.lease(session))).owner
        if owner and owner != self.server:
            await self._beat_of_the_gone(session, owner)

    def _taken(self, session: str, before: Lease, held: Held) -> bool:
        self._held[session] = held
        mine = self._epochs.get(session) == before.epoch
        self._epochs[session] = held.epoch
        self.counters.add("leases.taken")
        stale = self._known.get(session, held.order) != held.order
        if stale:
            self._tell_stale(session)
        self.listener.on_owned(session)
        if before.owner:
            self.counters.add("leases.inherited")
            log.info("session %s: taken over from %s", session, before.owner)
        if not mine and before.epoch and self.listener.on_inherited is not None:
            task = asyncio.create_task(self._inherit(session))
            self._inheriting.add(task)
            task.add_done_callback(self._inheriting.discard)
        return stale

    async def _inherit(self, session: str) -> None:
        assert self.listener.on_inherited is not None
        try:
            await self.listener.on_inherited(session)
        except SagaError as error:  # its jobs stay recorded and are searched for again
            self.counters.add("leases.inherit_failed")
            log.warning("session %s: its work cannot be taken up now: %s", session, error)

    def begun(self, session: str) -> tuple[Held, bytes]:
        """Return the lease of a session that is about to be created. It is held once that is committed."""
        fence = codec.encode(Lease(self.server, 1))
        return Held(fence, 1, 0, _now()), fence

    def created(self, session: str, held: Held) -> None:
        """Record that a session was created with its lease."""
        self._held[session] = held
        self._known[session] = held.order
        self._epochs[session] = held.epoch
        self.listener.on_owned(session)

    def ended(self, session: str) -> None:
        """Record that a session was deleted with its lease."""
        if self._held.pop(session, None) is not None:
            self._freed(session)
        self._known.pop(session, None)

    def pin(self, session: str, turn: object) -> None:
        """Keep the lease of a session as long as the object ``turn`` exists, because a reply is in progress."""
        self._pins.setdefault(session, WeakSet()).add(turn)

    def lost(self, session: str) -> None:
        """Record that another server has the lease, or may have it. The data in memory may be outdated."""
        if self._held.pop(session, None) is not None:
            self.counters.add("leases.lost")
            self._freed(session)
        self._tell_stale(session)

    def _freed(self, session: str) -> None:
        self.listener.on_free(session)

    def _tell_stale(self, session: str) -> None:
        self._known.pop(session, None)
        self.listener.on_stale(session)

    # -- state in memory ---------------------------------------------------------------------------------------

    async def is_current(self, session: str) -> bool:
        """Whether the data in memory of a session matches the journal. No read while the lease is safely held."""
        if session in self._held and (self._is_sure() or await self._still_holds(session)):
            return True
        known = self._known.get(session)
        return known is not None and known == await self._order(session)

    async def loading(self, session: str) -> int:
        """Announce that a session is about to be read from the journal. Return the value for ``is_loaded``."""
        held = self._held.get(session)
        found = held.order if held is not None else await self._order(session)
        self._known[session] = found
        return found

    def is_loaded(self, session: str, found: int) -> bool:
        """Whether the session was not written while it was read, as far as this server knows."""
        return self._known.get(session) == found

    def holds(self, session: str) -> bool:
        """Whether this server holds the lease of a session, and no other server can have taken it."""
        return session in self._held and self._is_sure()

    def written(self, session: str, held: Held, number: int) -> None:
        """Record that a commit of this server set the session's order to ``number``."""
        held.order = number
        if self._held.get(session) is held:
            self._known[session] = number

    def _is_sure(self) -> bool:
        """Whether no other server can have taken a lease, because this server's last heartbeat is recent enough."""
        return self.siblings is not None or _now() - self._beaten <= self.seconds

    async def _still_holds(self, session: str) -> bool:
        """Whether this server still has a lease, after it wrote no heartbeat for a long time."""
        await self._look_again([session])
        return session in self._held

    async def _look_again(self, sessions: Sequence[str]) -> None:
        """Read leases and drop those that another server took. Raises ``StoreError``."""
        for start in range(0, len(sessions), _PAGE):
            page = sessions[start : start + _PAGE]
            known = {layout.lease(each): self._held[each] for each in page if each in self._held}
            rows = await self.kv.get(list(known))
            for key, held in known.items():
                if rows.get(key) != held.raw and self._held.get(key[-1]) is held:
                    log.info("session %s: was taken over by another server meanwhile", key[-1])
                    self.lost(key[-1])

    async def _order(self, session: str) -> int:
        key = layout.order(session)
        return read_order((await self.kv.get([key])).get(key))

    # -- heartbeats --------------------------------------------------------------------------------------------

    def is_gone(self, server: str) -> bool:
        """Whether a server has written no heartbeat for long enough, as of the last look."""
        return self._others.is_gone(server)

    async def knows(self, server: str) -> bool:
        """Whether a server shares this journal, alive or not. Raises ``StoreError``."""
        return await self._others.knows(server)

    async def _beat(self) -> None:
        self._count += 1
        mine = codec.encode(Beat(self._count, self.address, self.seconds))
        began = _now()
        self._others.asks()
        await self.kv.commit(Batch({layout.beat(self.server): mine}))
        if not self._is_sure():  # leases lost in the meantime were taken before this commit
            await self._look_again(list(self._held))
        self._beaten = began
        await self._others.look()

    async def _go_on(self) -> None:
        while True:
            pause = self.seconds / 3
            await asyncio.sleep(pause if self.siblings is None else min(pause, _SIBLINGS_SECONDS))
            try:
                await self._beat()
                await self._give_back(self._idle())
                await self._look_for_work()
            except (SagaError, OSError) as error:
                self.counters.degrade(MODE, f"no sign of life can be given: {error}; other servers may take over")
            except Exception:
                log.exception("an unexpected error while leases were renewed")
            else:
                self.counters.recover(MODE)
            self.listener.on_beat()

    def _idle(self) -> list[str]:
        before = _now() - self.seconds
        return [session for session, held in self._held.items() if held.used < before and self._is_free(session, held)]

    def _is_free(self, session: str, held: Held) -> bool:
        if held.busy or self.listener.is_busy(session):
            return False
        pins = self._pins.get(session)
        if pins is not None and not len(pins):
            del self._pins[session]
        return not pins

    async def _give_back(self, sessions: list[str]) -> None:
        """Return leases to the pool. The data in memory stays, and is valid until another server writes the session."""
        for session in sessions:
            held = self._held.pop(session, None)
            if held is None:
                continue
            self._freed(session)
            given = codec.encode(Lease("", held.epoch))
            try:
                await self.kv.commit(Batch({layout.lease(session): given}), expected={layout.lease(session): held.raw})
            except Conflict:
                self._tell_stale(session)
            except StoreError:
                self._held.setdefault(session, held)  # whether it was returned is unknown; the next commit shows it
                self.listener.on_owned(session)
                raise

    def leave(self) -> None:
        """Return each lease as soon as its session is idle, and take no more, because this server is about to stop.

        Does nothing with siblings: the sessions of a process on the same machine are free as soon as it ends.
        """
        if self._leaving is None and self.siblings is None and not self._closed:
            self._leaving = asyncio.create_task(self._give_all_back(), name="saga-leaving")

    async def _give_all_back(self) -> None:
        while self._held:
            before = _now() - _JUST_NOW
            free = [each for each, held in self._held.items() if held.used < before and self._is_free(each, held)]
            try:
                await self._give_back(free)
            except (SagaError, OSError) as error:
                self.counters.degrade(MODE, f"sessions cannot be given back now: {error}")
            await asyncio.sleep(_LEAVING_SECONDS)

    async def _look_for_work(self) -> None:
        """Take over sessions that have pending work and no owner."""
        if self.listener.on_inherited is None or self._leaving is not None:
            return
        after: Key | None = None
        sessions: dict[str, None] = {}
        while rows := await self.kv.scan(("job",), after=after, limit=_PAGE):
            sessions.update((key[1], None) for key, _ in rows if keys.fits(key) and key[1] not in self._held)
            after = rows[-1][0]
        for session in sessions:
            try:
                await self.own(session)
            except OwnedElsewhere:
                continue

    def status(self) -> dict[str, Any]:
        """Return this server, the number of its leases, and the other servers. JSON-able."""
        return {
            "server": self.server,
            "address": self.address,
            "lease_seconds": self.seconds,
            "sessions": len(self._held),
            "others": self._others.status(),
        }

    async def aclose(self) -> None:
        """Return all leases, as far as the store accepts it. A second call does nothing."""
        if self._closed:
            return
        self._closed = True
        going_on = [task for task in (self._beating, self._leaving) if task is not None]
        tasks = [*self._inheriting, *self._taking.values(), *going_on]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        try:
            await self._give_back(list(self._held))
            await self.kv.commit(Batch(deletes=frozenset({layout.beat(self.server)})))
        except StoreError as error:
            log.warning("the leases cannot be given back, and end by themselves: %s", error)


def order_after(number: int) -> tuple[bytes | None, bytes]:
    """Return the expected order, and the order after one more commit."""
    after = write_order(number + 1)
    assert after is not None
    return write_order(number), after


def _now() -> float:
    return asyncio.get_running_loop().time()


async def held_to_write(leases: Leases, session: str) -> Held:
    """Return the lease of a session, and take it if it is free.

    Raises ``LeaseLost`` if another server has it, or has written the session in the meantime.
    """
    held = leases.held(session)
    if held is not None:
        return held
    try:
        stale = await leases.own(session)
    except OwnedElsewhere as error:
        raise LeaseLost(f"nothing was written: {error}") from error
    if stale:
        raise LeaseLost(f"session {session} was written by another server meanwhile; nothing was written here")
    held = leases.held(session)
    if held is None:
        raise LeaseLost(f"session {session} was taken by another server; nothing was written")
    return held


class OwnedState:
    """A ``StateKV`` whose commits expect the lease of each session that they touch, in the same transaction.

    A new session gets its lease in the commit that creates it. Commits of records that make up a session in memory are
    numbered, and each number is used once.
    """

    def __init__(self, inner: StateKV, leases: Leases) -> None:
        self.inner = inner
        self.leases = leases

    @property
    def info(self) -> StoreInfo:
        """The description of the inner store."""
        return self.inner.info

    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        """See ``StateKV.get``."""
        return await self.inner.get(keys)

    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> list[tuple[Key, bytes]]:
        """See ``StateKV.scan``."""
        return await self.inner.scan(prefix, after=after, limit=limit)

    async def commit(self, batch: Batch, *, expected: Mapping[Key, bytes | None] | None = None) -> None:
        """See ``StateKV.commit``. Raises ``LeaseLost`` if another server has one of the written sessions."""
        touched = sorted({session for key in (*batch.puts, *batch.deletes) if (session := session_of(key))})
        if not touched:
            await self.inner.commit(batch, expected=expected)
            return
        async with AsyncExitStack() as stack:
            fence: dict[Key, bytes | None] = {}
            puts, deletes = dict(batch.puts), set(batch.deletes)
            numbered: dict[str, tuple[Held, int]] = {}
            begun: dict[str, Held] = {}
            for session in touched:
                held = await self._held(session, expected or {}, fence, puts, begun)
                held.busy += 1
                stack.callback(_rest, held)
                if any(key[0] in TOLD and session_of(key) == session for key in (*batch.puts, *batch.deletes)):
                    await stack.enter_async_context(held.writing)
                    fence[layout.order(session)], puts[layout.order(session)] = order_after(held.order)
                    numbered[session] = held, held.order + 1
                # A note says that more of the session is to be removed, for which the lease is needed.
                if keys.session(session) in deletes and keys.unfinished(session) not in puts:
                    self._end(session, puts, deletes)
            await self._commit(Batch(puts, frozenset(deletes)), {**fence, **(expected or {})}, touched)
            for session, (held, number) in numbered.items():
                self.leases.written(session, held, number)
            for session, held in begun.items():
                self.leases.created(session, held)
            for session in touched:
                if layout.lease(session) in deletes:
                    self.leases.ended(session)

    async def _held(
        self,
        session: str,
        expected: Mapping[Key, bytes | None],
        fence: dict[Key, bytes | None],
        puts: dict[Key, bytes],
        begun: dict[str, Held],
    ) -> Held:
        """Return the lease of a session, and add what the commit expects of it to ``fence`` and ``puts``."""
        held = self.leases.held(session)
        if held is None and expected.get(keys.session(session), b"") is None:
            held, puts[layout.lease(session)] = self.leases.begun(session)
            fence[layout.lease(session)] = None
            begun[session] = held
            return held
        if held is None:
            held = await held_to_write(self.leases, session)
        fence[layout.lease(session)] = held.raw
        return held

    def _end(self, session: str, puts: dict[Key, bytes], deletes: set[Key]) -> None:
        """Delete the lease together with the session."""
        puts.pop(layout.order(session), None)
        deletes |= {layout.lease(session), layout.order(session)}

    async def _commit(self, batch: Batch, expected: Mapping[Key, bytes | None], touched: Sequence[str]) -> None:
        ours = {key: session for session in touched for key in (layout.lease(session), layout.order(session))}
        try:
            await self.inner.commit(batch, expected=expected)
        except Conflict as error:
            if error.key not in ours:
                raise
            session = ours[error.key]
            self.leases.lost(session)
            raise LeaseLost(
                f"session {session} was taken over by another server, which did not hear from this one; "
                "nothing was written"
            ) from error
        except BadInput:
            raise  # refused without writing
        except BaseException:
            # Whether the commit happened is unknown, so the sessions are read from the journal again.
            for session in touched:
                self.leases.lost(session)
            raise

    async def compact(self) -> None:
        """Rewrite the files without deleted data, if the store supports it."""
        if Capability.COMPACTS in self.inner.info.capabilities:
            await cast(Compacting, self.inner).compact()

    async def check(self, *, thorough: bool = False) -> Health:
        """See ``Store.check``."""
        return await self.inner.check(thorough=thorough)

    async def aclose(self) -> None:
        """Return the leases and close the store."""
        await self.leases.aclose()
        await self.inner.aclose()


def _rest(held: Held) -> None:
    held.busy -= 1
