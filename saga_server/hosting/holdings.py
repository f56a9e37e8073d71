"""What owners hold: the number of their sessions and their size in the journal, and how a session begins below a limit.

Both are counted in the background, and again before a request is refused, so that owners who made room are admitted.

All servers count an owner's sessions in one row, in the commit that begins each session. The commit succeeds only if
the row is unchanged, so two servers can never grant the same place. The count may be too high, because sessions are
deleted and imported. Sessions are therefore counted again before a request is refused, and after an import.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import random
from collections import Counter
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any, Final

from attrs import define, field, frozen

from saga_core import codec
from saga_core.errors import Conflict, SagaError, StoreCorrupt, StoreUnavailable
from saga_core.hosting import Create
from saga_core.journal import OF_A_SESSION, Journal
from saga_core.model import Session
from saga_core.ports import Clock
from saga_core.stores import Key, StateKV
from saga_server.hosting import layout
from saga_server.hosting.keys import KeyRecord

log = logging.getLogger("saga.access")

OLD_SECONDS: Final = 60.0
"""After this many seconds, a count is refreshed in the background."""
FRESH_SECONDS: Final = 2.0
"""A count younger than this many seconds is not repeated before a refusal."""
_PAGE: Final = 500
TRIES: Final = 30
"""How often a row is tried that other servers change too."""
_FIRST_PAUSE: Final = 0.002
_LONGEST_PAUSE: Final = 0.1
_NEVER: Final = float("-inf")


@define(eq=False, kw_only=True)
class Holdings:
    """The sessions and bytes of owners."""

    journal: Journal
    clock: Clock
    _sessions: Counter[str] = field(factory=Counter, init=False)
    _begun: Counter[str] = field(factory=Counter, init=False)
    """Sessions that began on this server since the last count."""
    _counted: float = field(default=_NEVER, init=False)
    _bytes: Counter[str] = field(factory=Counter, init=False)
    _sizes: dict[str, dict[str, tuple[Session, int]]] = field(factory=dict, init=False)
    """The sessions of each owner with their records and sizes. A session with an unchanged record has no new turn."""
    _weighed: dict[str, float] = field(factory=dict, init=False)
    _beside: dict[str, asyncio.Task[object]] = field(factory=dict, init=False)
    """The counts that are running, by owner; empty for the count of all sessions."""

    async def sessions(self, owner: str, *, fresh: bool = False) -> int:
        """Return the number of an owner's sessions. Raises ``StoreError``."""
        age = self.clock.monotonic() - self._counted
        if self._counted == _NEVER or (fresh and age > FRESH_SECONDS):
            await self.count(owner)
        elif age > OLD_SECONDS:
            self._run("", partial(self.count, owner))
        return self._sessions[owner] + self._begun[owner]

    def counted_just_now(self, owner: str) -> int | None:
        """Return the number of an owner's sessions if it was counted a moment ago, else None."""
        young = self.clock.monotonic() - self._counted <= FRESH_SECONDS
        return self._sessions[owner] if young else None

    async def count(self, owner: str) -> int:
        """Count an owner's sessions now, which reads the records of all sessions. Raises ``StoreError``."""
        before = self._begun.copy()
        found = Counter(session.owner for session in await self.journal.sessions())
        self._sessions = found
        self._begun -= before  # sessions that began during the count may be counted twice until the next count
        self._counted = self.clock.monotonic()
        return found[owner]

    def begun(self, owner: str) -> None:
        """Count a session that begins."""
        self._begun[owner] += 1

    async def bytes(self, owner: str, *, fresh: bool = False) -> int:
        """Return the size of an owner's sessions in the journal and in the trash; 0 before the first count.

        A session in the trash counts as if it were restored. Raises ``StoreError``.
        """
        age = self.clock.monotonic() - self._weighed.get(owner, _NEVER)
        if fresh and age > FRESH_SECONDS:
            await self._weigh(owner, anew=True)
        elif age > OLD_SECONDS:
            self._run(owner, partial(self._weigh, owner))
        return self._bytes[owner]

    def is_weighed(self, owner: str) -> bool:
        """Whether the size of an owner's sessions is known."""
        return owner in self._weighed

    async def settled(self) -> None:
        """Wait for the running counts."""
        while self._beside:
            await asyncio.wait(list(self._beside.values()))

    async def aclose(self) -> None:
        """Cancel the running counts."""
        tasks = list(self._beside.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _run(self, whose: str, work: Callable[[], Coroutine[Any, Any, object]]) -> None:
        if whose not in self._beside:
            self._beside[whose] = task = asyncio.create_task(work(), name="saga-holdings")
            task.add_done_callback(partial(self._over, whose))

    def _over(self, whose: str, task: asyncio.Task[object]) -> None:
        del self._beside[whose]
        if task.cancelled() or (error := task.exception()) is None:
            return
        if isinstance(error, SagaError):
            log.warning("what keys hold cannot be counted: %s", error)
        else:
            log.error("what keys hold cannot be counted", exc_info=error)

    async def _weigh(self, owner: str, *, anew: bool = False) -> None:
        from saga_core.maintenance import list_trash  # a start without limits does not need it

        known = {} if anew else self._sizes.get(owner, {})
        sizes: dict[str, tuple[Session, int]] = {}
        for session in await self.journal.sessions():
            if session.owner != owner:
                continue
            had = known.get(session.id)
            sizes[session.id] = had if had is not None and had[0] == session else (session, await self._size(session))
        self._sizes[owner] = sizes
        trash = [each.bytes for each in await list_trash(self.journal.kv, self.clock.now()) if each.owner == owner]
        self._bytes[owner] = sum(size for _, size in sizes.values()) + sum(trash)
        self._weighed[owner] = self.clock.monotonic()

    async def _size(self, session: Session) -> int:
        size = 0
        for kind in sorted(OF_A_SESSION):
            after: Key | None = None
            while rows := await self.journal.kv.scan((kind, session.id), after=after, limit=_PAGE):
                size += sum(len(raw) + sum(map(len, key)) for key, raw in rows)
                after = rows[-1][0]
                await asyncio.sleep(0)
        return size


@frozen(kw_only=True)
class Begun:
    """The row of an owner."""

    mark: str
    """A mark that differs with each new session."""
    key: str = ""
    """The key for whose limit they were counted; empty if they were not counted."""
    sessions: int = 0
    """An upper bound of the owner's number of sessions."""


def uncounted(owner: str, session: str) -> dict[Key, bytes]:
    """Return the entries for the commit of a session that begins without a check of its owner's limit."""
    return {layout.access_sessions(owner): codec.encode(Begun(mark=_mark(session)))} if owner else {}


def _mark(session: str) -> str:
    """Return a hash of the session id: the row outlives the session and must not reveal it."""
    return hashlib.blake2b(session.encode(), digest_size=8, person=b"saga.begun").hexdigest()


async def step_aside(number: int) -> None:
    """Wait for a random moment before try ``number`` + 1. The longest one doubles with each try, up to 0.1 s."""
    await asyncio.sleep(random.uniform(0, min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0**number)))


@define(eq=False)
class BegunSessions:
    """The rows of all owners, in the store that the servers share."""

    kv: StateKV
    holdings: Holdings
    _locks: dict[str, asyncio.Lock] = field(factory=dict, init=False)

    async def begin(self, key: KeyRecord, session: str, create: Create) -> int | None:
        """Begin a session of a key's owner. If the limit is reached, begin none and return the current number.

        Raises ``Conflict`` if another expectation of ``create`` fails, and ``StoreError``.
        """
        limit, place = key.quotas.sessions, layout.access_sessions(key.owner)
        if not limit:
            await create(uncounted(key.owner, session), {})
            self.holdings.begun(key.owner)
            return None
        async with self._locks.setdefault(key.owner, asyncio.Lock()):  # avoids conflicts within this server
            for number in range(TRIES):
                raw = (await self.kv.get([place])).get(place)
                there = await self._there(key, raw)
                if there >= limit:
                    return there
                after = codec.encode(Begun(mark=_mark(session), key=key.id, sessions=there + 1))
                try:
                    await create({place: after}, {place: raw})
                except Conflict as error:
                    if error.key != place:
                        raise
                else:
                    self.holdings.begun(key.owner)
                    return None
                await step_aside(number)
        raise StoreUnavailable("the sessions of a key cannot be counted: other servers were first again and again")

    async def _there(self, key: KeyRecord, raw: bytes | None) -> int:
        """Return an upper bound of the owner's number of sessions, given the row."""
        try:
            row = codec.decode(raw, Begun) if raw is not None else None
        except StoreCorrupt:
            row = None  # it is written again
        if row is not None and row.key == key.id and row.sessions < key.quotas.sessions:
            return row.sessions
        known = self.holdings.counted_just_now(key.owner)
        if known is not None and known >= key.quotas.sessions:
            return known  # repeated requests over the limit do not trigger a count each time
        return await self.holdings.count(key.owner)
