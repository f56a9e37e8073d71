"""The usage of each API key: counted by each server, and compared with the key's quotas before a turn begins.

Each server counts its own usage in memory. At each step of ``access`` it writes a row for each key in the background.
It reads the rows of other servers when its copy is old, which is the only read that a turn may wait for. Turns per
minute are counted exactly: servers that share the store use a shared row, with one conditional commit for each turn of
a key with that limit. Sessions are counted in the commit that begins each. Tokens and money are known only after a
reply, so a turn that begins below the limit is played to its end.

While the store is unavailable, this server's own counts apply, and play continues.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Final

from attrs import define, evolve, field, fields, frozen

from saga_core import codec
from saga_core.counters import Counters
from saga_core.errors import Conflict, QuotaExceeded, StoreCorrupt, StoreError, StoreUnavailable, in_words
from saga_core.hosting import Create
from saga_core.ports import Clock
from saga_core.stores import Batch, Key, StateKV
from saga_server.hosting import layout
from saga_server.hosting.holdings import OLD_SECONDS, TRIES, BegunSessions, Holdings, step_aside
from saga_server.hosting.keys import KeyRecord, Quotas

MINUTE: Final = 60.0
DAY: Final = 86_400.0
LOOK_SECONDS: Final = 1.0
"""The largest age in seconds of the copy of other servers' counts."""
PATIENCE: Final = 2.0
"""Seconds for which a turn waits for that copy."""
MODE: Final = "access.use"
_PAGE: Final = 200
_DAYS: Final = 3


@frozen(kw_only=True)
class Use:
    """The usage of a key as counted by one server. Days and minutes are in UTC since the epoch."""

    day: int = 0
    minute: int = 0
    turns_in_minute: int = 0
    turns: int = 0
    tokens: int = 0
    dollars: float = 0.0
    unpriced: int = 0
    """Calls with an unknown price, which count no dollars."""


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
        """Take back turns, if it is still the same minute. Raises ``StoreError``."""
        await self._change(key_id, minute, -turns, None)

    async def _change(self, key_id: str, minute: int, turns: int, limit: int | None) -> tuple[Minute, bool]:
        row = self._rows.setdefault(key_id, _Row())
        place = layout.access_minute(key_id)
        async with row.lock:  # avoids conflicts between requests on this server
            for number in range(TRIES):
                counted = codec.decode(row.raw, Minute) if row.raw is not None else Minute()
                if counted.minute < minute or (limit is not None and counted.minute > minute + 1):  # clock set back
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
                    await step_aside(number)
        raise StoreUnavailable("the turns of a minute cannot be counted: other servers were first again and again")


@frozen
class Taken:
    """A turn that was admitted."""

    key: str
    turns: int
    minute: int
    day: int
    together: int | None = None
    """The minute in which the shared row counts the turn; None if only this server counts it."""


@define(eq=False)
class _Known:
    mine: Use
    others: dict[str, Use]
    read: float
    is_read: bool = True
    """Whether ``mine`` includes this server's earlier row. Otherwise it is added once it can be read."""
    days: dict[int, Use] = field(factory=dict)
    """The use of the days that the clock left last, ahead or back."""

    def as_of(self, day: int, minute: int) -> Use:
        """Return ``mine`` as of this day and minute. If the clock comes back to a day, its use counts again."""
        if self.mine.day != day:
            self.days[self.mine.day] = self.mine
            self.mine = self.days.pop(day, self.mine)
            for oldest in list(self.days)[:-_DAYS]:
                del self.days[oldest]
        self.mine = _as_of(self.mine, day, minute)
        return self.mine


@define(eq=False, kw_only=True)
class Meter:
    """The usage of keys, as counted by this server and read from the other servers."""

    kv: StateKV
    clock: Clock
    counters: Counters
    holdings: Holdings
    server: str
    """The name of this server's rows; the same after a restart."""
    shared: bool
    """Whether other servers count in the same store."""
    _known: dict[str, _Known] = field(factory=dict, init=False)
    _dirty: set[str] = field(factory=set, init=False)
    _stale: set[Key] = field(factory=set, init=False)
    """Rows of past days, whose servers may no longer exist."""
    _minutes: Minutes = field(init=False)
    _begun: BegunSessions = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._minutes = Minutes(self.kv)
        self._begun = BegunSessions(self.kv, self.holdings)

    @property
    def waiting(self) -> bool:
        """Whether counts are waiting to be written."""
        return bool(self._dirty)

    # -- admission ---------------------------------------------------------------------------------------------

    async def admit(self, key: KeyRecord, turns: int = 1) -> Taken:
        """Count ``turns`` more turns of a key. Raises ``QuotaExceeded``."""
        quotas = key.quotas
        await self.has_room(key)
        limited = quotas.turns_a_minute or quotas.tokens_a_day or quotas.dollars_a_day
        known = await (self._look(key.id) if limited else self._mine(key.id))
        if not (self.shared and quotas.turns_a_minute):
            return self._take(key.id, quotas, known, turns)
        together = await self._take_together(key.id, quotas, turns)
        if together is None:
            return self._take(key.id, quotas, known, turns)
        try:
            taken = self._take(key.id, evolve(quotas, turns_a_minute=0), known, turns)
        except QuotaExceeded:
            await self._uncount(key.id, together, turns)
            raise
        return evolve(taken, together=together)

    async def has_room(self, key: KeyRecord) -> None:
        """Check that the owner's stories are not too large to grow. Raises ``QuotaExceeded``."""
        limit = key.quotas.bytes
        if not limit or await self.holdings.bytes(key.owner) < limit:
            return
        held = await self._bytes(key.owner)
        if held >= limit:
            what = f"{limit:,} bytes of stories; there are {held:,}, with those in the trash"
            raise _over("bytes", what, "remove what is not needed for good", OLD_SECONDS)

    async def has_day(self, key: KeyRecord) -> None:
        """Check that tokens and money of the day are left. Raises ``QuotaExceeded``."""
        if not key.quotas.tokens_a_day and not key.quotas.dollars_a_day:
            return
        known, now = await self._look(key.id), self.clock.now()
        day, minute = int(now // DAY), int(now // MINUTE)
        parts = [known.as_of(day, minute), *(_as_of(each, day, minute) for each in known.others.values())]
        _check_day(key.quotas, parts, (day + 1) * DAY - now)

    async def _take_together(self, key_id: str, quotas: Quotas, turns: int) -> int | None:
        """Count the turns in the shared row and return the minute; None if the store does not respond in time."""
        now = self.clock.now()
        try:
            async with asyncio.timeout(PATIENCE):
                counted, is_in = await self._minutes.take(key_id, int(now // MINUTE), turns, quotas.turns_a_minute)
        except (StoreError, TimeoutError) as error:
            self.counters.degrade(MODE, f"turns of a minute are counted without the store: {in_words(error)}")
            return None
        if not is_in:
            raise _over_turns(quotas, counted.turns, (counted.minute + 1) * MINUTE - now)
        return counted.minute

    async def _uncount(self, key_id: str, minute: int, turns: int) -> None:
        try:
            async with asyncio.timeout(PATIENCE):
                await self._minutes.give_back(key_id, minute, turns)
        except (StoreError, TimeoutError) as error:
            # They stay counted for the rest of the minute.
            self.counters.degrade(MODE, f"turns of a minute are counted without the store: {in_words(error)}")

    async def _bytes(self, owner: str) -> int:
        """Return the current size, or the last known one while the store is unavailable."""
        try:
            return await self.holdings.bytes(owner, fresh=True)
        except StoreError as error:
            self.counters.degrade(MODE, str(error))
            return await self.holdings.bytes(owner)

    def _take(self, key_id: str, quotas: Quotas, known: _Known, turns: int) -> Taken:
        """Check the quotas and count the turns. There is no await in between, so the check stays valid."""
        now = self.clock.now()
        day, minute = int(now // DAY), int(now // MINUTE)
        mine = known.as_of(day, minute)
        all_ = [mine, *(_as_of(each, day, minute) for each in known.others.values())]
        to_minute, to_day = (minute + 1) * MINUTE - now, (day + 1) * DAY - now
        begun = sum(each.turns_in_minute for each in all_)
        if quotas.turns_a_minute and begun + turns > quotas.turns_a_minute:
            raise _over_turns(quotas, begun, to_minute)
        _check_day(quotas, all_, to_day)
        known.mine = evolve(mine, turns_in_minute=mine.turns_in_minute + turns, turns=mine.turns + turns)
        self._dirty.add(key_id)
        return Taken(key_id, turns, minute, day)

    async def give_back(self, taken: Taken) -> None:
        """Take back a count, because the turn is refused, or played and counted elsewhere."""
        if taken.together is not None:
            await self._uncount(taken.key, taken.together, taken.turns)
        known = self._known.get(taken.key)
        if known is None:
            return
        mine = known.mine
        if mine.day == taken.day:
            mine = evolve(mine, turns=max(0, mine.turns - taken.turns))
        if mine.minute == taken.minute:
            mine = evolve(mine, turns_in_minute=max(0, mine.turns_in_minute - taken.turns))
        known.mine = mine
        self._dirty.add(taken.key)

    async def begin(self, key: KeyRecord, session: str, create: Create) -> None:
        """Begin a session of a key's owner. Raises ``QuotaExceeded``, ``Conflict`` and ``StoreError``."""
        there = await self._begun.begin(key, session, create)
        if there is not None:
            limit = key.quotas.sessions
            raise _over("sessions", f"{limit:,} sessions; there are {there:,}", "delete one", OLD_SECONDS)

    async def spent(self, key_id: str, tokens: int, dollars: float | None) -> None:
        """Count the usage of a call. ``dollars`` is None if the price is unknown."""
        known = await self._mine(key_id)
        now = self.clock.now()
        mine = known.as_of(int(now // DAY), int(now // MINUTE))
        known.mine = evolve(
            mine,
            tokens=mine.tokens + tokens,
            dollars=mine.dollars + (dollars or 0.0),
            unpriced=mine.unpriced + (dollars is None),
        )
        self._dirty.add(key_id)

    # -- the store ---------------------------------------------------------------------------------------------

    async def _look(self, key_id: str) -> _Known:
        """Return the known usage of a key, with at most one read, or none while the copy is young."""
        known = self._known.get(key_id)
        now = self.clock.monotonic()
        if known is not None and known.is_read and (not self.shared or now - known.read < LOOK_SECONDS):
            return known
        try:
            async with asyncio.timeout(PATIENCE):
                mine, others = await self._read(key_id)
        except (StoreError, TimeoutError) as error:
            self.counters.degrade(MODE, f"what keys used is counted without the store: {in_words(error)}")
            return self._known.setdefault(key_id, _Known(Use(), {}, now, is_read=False))
        self.counters.recover(MODE)
        known = self._known.get(key_id)  # another request may have read it meanwhile and counted since
        if known is None:
            known = self._known[key_id] = _Known(mine, others, now)
        elif not known.is_read:
            known.mine, known.is_read = _sum(known.mine.day, known.mine.minute, [mine, known.mine]), True
        known.others, known.read = others, now
        return known

    async def _mine(self, key_id: str) -> _Known:
        """Return the known usage, if only this server's own count matters."""
        return self._known.get(key_id) or await self._look(key_id)

    async def _read(self, key_id: str) -> tuple[Use, dict[str, Use]]:
        mine, others = Use(), dict[str, Use]()
        today = int(self.clock.now() // DAY)
        for key, raw in await self.kv.scan((*layout.ACCESS_USE, key_id), limit=_PAGE):
            try:
                use = codec.decode(raw, Use)
            except StoreCorrupt as error:
                self.counters.degrade(MODE, f"key {key_id}: what {key[-1]} counted cannot be read: {error}")
                continue
            if key[-1] == self.server:
                mine = use
            elif use.day < today - 1:
                self._stale.add(key)
            else:
                others[key[-1]] = use
        return mine, others

    async def flush(self) -> None:
        """Write the new counts. If it raises ``StoreError``, they are written next time."""
        for key_id in [each for each in self._dirty if not self._known[each].is_read]:
            await self._look(key_id)
        dirty, stale = {each for each in self._dirty if self._known[each].is_read}, self._stale
        if not dirty:
            return
        self._dirty, self._stale = self._dirty - dirty, set()
        puts = {layout.access_use(each, self.server): codec.encode(self._known[each].mine) for each in dirty}
        try:
            await self.kv.commit(Batch(puts, frozenset(stale)))
        except BaseException:
            self._dirty |= dirty
            raise

    async def use(self, key_id: str) -> Use:
        """Return today's usage on all servers together. Raises ``StoreError``."""
        mine, others = await self._read(key_id)
        known = self._known.get(key_id)
        now = self.clock.now()
        day, minute = int(now // DAY), int(now // MINUTE)
        return _sum(day, minute, [mine if known is None else known.as_of(day, minute), *others.values()])


def _as_of(use: Use, day: int, minute: int) -> Use:
    """Return the part of a usage that belongs to this day and minute."""
    if use.day != day:
        return Use(day=day, minute=minute)
    return use if use.minute == minute else evolve(use, minute=minute, turns_in_minute=0)


def _sum(day: int, minute: int, parts: Iterable[Use]) -> Use:
    found = [_as_of(each, day, minute) for each in parts]
    counts = [each.name for each in fields(Use) if each.name not in ("day", "minute")]
    return Use(day=day, minute=minute, **{name: sum(getattr(each, name) for each in found) for name in counts})


def _check_day(quotas: Quotas, parts: Sequence[Use], to_day: float) -> None:
    """Raise ``QuotaExceeded`` if the tokens or the money of a day are used up."""
    tokens, dollars = sum(each.tokens for each in parts), sum(each.dollars for each in parts)
    if quotas.tokens_a_day and tokens >= quotas.tokens_a_day:
        raise _over("tokens_a_day", f"{quotas.tokens_a_day:,} tokens a day; {tokens:,} were used", "", to_day)
    if quotas.dollars_a_day and dollars >= quotas.dollars_a_day:
        raise _over("dollars_a_day", f"${quotas.dollars_a_day:,.2f} a day; ${dollars:,.2f} were spent", "", to_day)


def _over_turns(quotas: Quotas, begun: int, free_in: float) -> QuotaExceeded:
    what = f"{quotas.turns_a_minute:,} turns a minute; {begun:,} were begun"
    return _over("turns_a_minute", what, "", free_in)


def _over(quota: str, what: str, remedy: str, free_in: float) -> QuotaExceeded:
    when = f"again in {max(1, round(free_in)):,} s" + (f"; {remedy}" if remedy else "")
    return QuotaExceeded(f"{quota}: this key may use {what}; {when}", quota=quota, free_in=free_in)
