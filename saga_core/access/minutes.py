"""Turns per minute that several servers count in one shared row per key.

A server changes the row only if it is unchanged since it was read, so two servers never grant the same turn.
"""

from __future__ import annotations

import asyncio
import random
from typing import Final

from attrs import define, field, frozen

from saga_core import codec
from saga_core.errors import Conflict, StoreUnavailable
from saga_core.journal import keys
from saga_core.stores import Batch, StateKV

_TRIES: Final = 30
_ASIDE: Final = 0.002
"""The longest first pause in seconds before another try. It doubles with each further try, up to ``_LONGEST``."""
_LONGEST: Final = 0.1


@frozen(kw_only=True)
class Minute:
    """The turns begun with a key in a minute. Minutes are counted since the epoch."""

    minute: int = 0
    turns: int = 0


@define(eq=False)
class _Row:
    raw: bytes | None = None
    """The row as last read or written. Another server may have changed it since."""
    lock: asyncio.Lock = field(factory=asyncio.Lock)


@define(eq=False)
class Minutes:
    """The rows of all keys, in the store that the servers share."""

    kv: StateKV
    _rows: dict[str, _Row] = field(factory=dict, init=False)

    async def take(self, key_id: str, minute: int, turns: int, limit: int) -> tuple[Minute, bool]:
        """Count ``turns`` more if ``limit`` allows it. Return the count and whether they were added.

        If another server's clock is ahead, the minute may be later than ``minute``. Raises ``StoreError``.
        """
        return await self._change(key_id, minute, turns, limit)

    async def give_back(self, key_id: str, minute: int, turns: int) -> None:
        """Take back turns that are played elsewhere, if it is still the same minute. Raises ``StoreError``."""
        await self._change(key_id, minute, -turns, None)

    async def _change(self, key_id: str, minute: int, turns: int, limit: int | None) -> tuple[Minute, bool]:
        row = self._rows.setdefault(key_id, _Row())
        place = keys.access_minute(key_id)
        async with row.lock:  # avoids conflicts between requests on this server
            for number in range(_TRIES):
                counted = codec.decode(row.raw, Minute) if row.raw is not None else Minute()
                if counted.minute < minute:
                    counted = Minute(minute=minute)
                late = limit is None and counted.minute != minute
                full = limit is not None and counted.turns + turns > limit
                after = Minute(minute=counted.minute, turns=max(0, counted.turns + turns))
                if not late and not full:
                    raw = codec.encode(after)
                    try:
                        await self.kv.commit(Batch({place: raw}), expected={place: row.raw})
                    except Conflict:
                        pass
                    else:
                        row.raw = raw
                        return after, True
                found = (await self.kv.get([place])).get(place)
                if found == row.raw and (late or full):
                    return counted, False
                row.raw = found
                if number:
                    await asyncio.sleep(random.uniform(0, min(_LONGEST, _ASIDE * 2.0**number)))
        raise StoreUnavailable("the turns of a minute cannot be counted: other servers were first again and again")
