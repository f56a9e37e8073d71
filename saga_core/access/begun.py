"""The sessions that an owner begins: all servers count them in one row, in the commit that begins each.

A commit holds only while the row is what was read. So no server lets in what another one took. The row may say too
many, since sessions go and imports come: before anybody is refused, and behind an import, they are counted anew.
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
"""Seconds of the pause before another try, at most at first; each further one may be twice as long, up to ..."""
_LONGEST: Final = 0.1

Create = Callable[[Mapping[Key, bytes], Mapping[Key, bytes | None]], Awaitable[None]]
"""Begins a session, in one commit with these entries, if these are as expected. Raises ``Conflict``."""


@frozen(kw_only=True)
class Begun:
    """The row of an owner."""

    mark: str
    """Differs with each session that was begun."""
    key: str = ""
    """The key with whose limit they were counted; empty: they were not."""
    sessions: int = 0
    """How many the owner has at most."""


def uncounted(owner: str, session: str) -> dict[Key, bytes]:
    """What belongs into the commit of a session that is begun without a look at its owner's limit."""
    return {keys.access_sessions(owner): codec.encode(Begun(mark=_mark(session)))} if owner else {}


def _mark(session: str) -> str:
    """The row outlives the session, and is to tell nothing of it."""
    return hashlib.blake2b(session.encode(), digest_size=8, person=b"saga.begun").hexdigest()


@define(eq=False)
class BegunSessions:
    """The rows of all owners, in the store that the servers share."""

    kv: StateKV
    holdings: Holdings
    _locks: dict[str, asyncio.Lock] = field(factory=dict, init=False)

    async def begin(self, key: KeyRecord, session: str, create: Create) -> int | None:
        """Begin a session of a key's owner. How many there are where that is the limit already, and none is begun.

        Raises ``Conflict`` for what else ``create`` expects, and ``StoreError``.
        """
        limit, place = key.quotas.sessions, keys.access_sessions(key.owner)
        if not limit:
            await create(uncounted(key.owner, session), {})
            self.holdings.begun(key.owner)
            return None
        async with self._locks.setdefault(key.owner, asyncio.Lock()):  # one's own do not get into each other's way
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
        """How many sessions the owner has, at most, after the row was read."""
        try:
            row = codec.decode(raw, Begun) if raw is not None else None
        except StoreCorrupt:
            row = None  # it is written anew
        if row is not None and row.key == key.id and row.sessions < key.quotas.sessions:
            return row.sessions
        known = self.holdings.counted_just_now(key.owner)
        if known is not None and known >= key.quotas.sessions:
            return known  # who asks in vain again and again has nothing counted
        return await self.holdings.count(key.owner)
