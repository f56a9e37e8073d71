"""Counting of new sessions: all servers count an owner's sessions in one row, in the commit that begins each session.

The commit succeeds only if the row is unchanged, so two servers can never grant the same place. The count may be too
high, because sessions are deleted and imported. Sessions are therefore counted again before a request is refused, and
after an import.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from attrs import define, field, frozen

from saga_core import codec
from saga_core.access.holdings import Holdings
from saga_core.access.records import KeyRecord
from saga_core.errors import Conflict, StoreCorrupt, StoreUnavailable
from saga_core.journal import keys
from saga_core.stores import Key, StateKV

_TRIES: Final = 30
_ASIDE: Final = 0.002
"""The longest first pause in seconds before another try. It doubles with each further try, up to ``_LONGEST``."""
_LONGEST: Final = 0.1

Create = Callable[[Mapping[Key, bytes], Mapping[Key, bytes | None]], Awaitable[None]]
"""Begins a session in one commit with these entries, if the expected values match. Raises ``Conflict``."""


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
    return {keys.access_sessions(owner): codec.encode(Begun(mark=_mark(session)))} if owner else {}


def _mark(session: str) -> str:
    """Return a hash of the session id: the row outlives the session and must not reveal it."""
    return hashlib.blake2b(session.encode(), digest_size=8, person=b"saga.begun").hexdigest()


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
        limit, place = key.quotas.sessions, keys.access_sessions(key.owner)
        if not limit:
            await create(uncounted(key.owner, session), {})
            self.holdings.begun(key.owner)
            return None
        async with self._locks.setdefault(key.owner, asyncio.Lock()):  # avoids conflicts within this server
            for number in range(_TRIES):
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
                await asyncio.sleep(random.uniform(0, min(_LONGEST, _ASIDE * 2.0**number)))
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
