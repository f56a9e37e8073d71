"""Wrong StateKVs that were written from the clauses by somebody who had not read a check."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from itertools import islice

from saga_backends.key_bytes import encode
from saga_backends.memory import MemoryState
from saga_core.errors import Conflict, StoreError
from saga_core.stores import Batch, Health, Key
from saga_core.stores.validate import check_batch, check_keys, check_scan
from tests.mutants.causes.state_scale import Entries, Expected, Scanning, Writing
from tests.mutants.stores_registry import breaks


@breaks("S-5")
class EndsAPrefixAtTheLastSignOfTwoBytes(Scanning):
    """The range of a prefix ends at U+FFFF: what goes on with a sign beyond it is not found."""

    def found(self, entries: Entries, prefix: Key, after: Key | None, limit: int) -> Entries:
        size = len(prefix)
        return [entry for entry in entries if len(entry[0]) == size or entry[0][size][0] <= "\uffff"]


@breaks("S-4")
class PutsLongSegmentsLast(MemoryState):
    """From 128 bytes on a segment has a longer mark of its length, by which it is ordered first."""

    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> Entries:
        self._alive()
        check_scan(prefix, after, limit, self.info.limits)
        found = await super().scan(prefix, after=after, limit=10**9)
        found.sort(key=lambda entry: [(len(part.encode()) > 127, part) for part in entry[0]])
        return found[:limit]


@breaks("S-4")
class IndexesTheFirst255Bytes(MemoryState):
    """Keys that are alike for 255 bytes stand as they came."""

    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> Entries:
        self._alive()
        check_scan(prefix, after, limit, self.info.limits)
        born = {key: at for at, key in enumerate(self._values)}
        found = await super().scan(prefix, after=after, limit=10**9)
        found.sort(key=lambda entry: (encode(entry[0])[:255], born[entry[0]]))
        return found[:limit]


@breaks("S-7")
class CountsWhatWasDeleted(MemoryState):
    """Deleted keys take places of a page until they are cleaned up."""

    def __init__(self) -> None:
        super().__init__()
        self._dead: set[Key] = set()

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        self._alive()
        check_batch(batch, expected, self.info.limits)
        dead = {key for key in batch.deletes if key in self._values}
        await super().commit(batch, expected=expected)
        self._dead = (self._dead | dead) - set(batch.puts)

    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> Entries:
        found = await super().scan(prefix, after=after, limit=limit)
        dead = [key for key in self._dead if key[: len(prefix)] == prefix and (after is None or key > after)]
        seen = set(islice(sorted([*(key for key, _ in found), *dead]), limit))
        return [entry for entry in found if entry[0] in seen]


@breaks("S-2")
class TakesAValueForCompressed(MemoryState):
    """What begins as gzip does is taken for what the store compressed itself."""

    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        found = await super().get(keys)
        return {key: value[2:] if value[:2] == b"\x1f\x8b" else value for key, value in found.items()}


@breaks("S-2")
class LosesALastFullChunk(Writing):
    """Values lie in chunks of 64 KiB; of one that fills its chunks the last is forgotten."""

    def puts(self, puts: dict[Key, bytes]) -> dict[Key, bytes]:
        whole = 65_536
        return {
            key: value[:-whole] if len(value) > whole and len(value) % whole == 0 else value
            for key, value in puts.items()
        }


@breaks("S-8")
class SeesEditsAtTheEndsOnly(Writing):
    """A value is written when its size, its first or its last eight bytes have changed."""

    def puts(self, puts: dict[Key, bytes]) -> dict[Key, bytes]:
        return {key: value for key, value in puts.items() if not self._is_same(self._values.get(key), value)}

    def _is_same(self, known: bytes | None, value: bytes) -> bool:
        if known is None or len(known) != len(value) or len(value) <= 64:
            return False
        return known[:8] == value[:8] and known[-8:] == value[-8:]


@breaks("S-8")
class LosesAPutInTheTickOfADelete(Writing):
    """The last writer wins by a coarse clock, and of the same tick the delete does."""

    def __init__(self) -> None:
        super().__init__()
        self._died: dict[Key, int] = {}

    def puts(self, puts: dict[Key, bytes]) -> dict[Key, bytes]:
        now = int(time.monotonic() * 20)
        return {key: value for key, value in puts.items() if self._died.get(key) != now}

    def deletes(self, deletes: list[Key]) -> list[Key]:
        self._died.update(dict.fromkeys(deletes, int(time.monotonic() * 20)))
        return deletes


@breaks("S-16")
class HasNoRoomForTheLargestValue(Writing):
    """Sixteen MiB are declared, and eight fit into a row."""

    def puts(self, puts: dict[Key, bytes]) -> dict[Key, bytes]:
        if any(len(value) > 8 * 1_024 * 1_024 for value in puts.values()):
            raise StoreError("too large for a row")
        return puts


@breaks("S-16")
class EvictsWhatIsOldest(MemoryState):
    """A cache that is taken for a store: beyond 15,000 entries the oldest go."""

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        await super().commit(batch, expected=expected)
        if len(self._values) > 15_000:
            gone = list(islice(self._values, len(self._values) - 15_000))
            await super().commit(Batch(deletes=frozenset(gone)))


@breaks("S-10")
class ComparesTheFirstKilobyte(MemoryState):
    """An expectation is held against the size and the first 1,024 bytes."""

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        self._alive()
        check_batch(batch, expected, self.info.limits)
        loose = {key: self._nearly(self._values.get(key), value) for key, value in (expected or {}).items()}
        await super().commit(batch, expected=loose)

    def _nearly(self, known: bytes | None, value: bytes | None) -> bytes | None:
        if known and value and len(known) == len(value) and known[:1_024] == value[:1_024]:
            return known
        return value


@breaks("S-10")
class DeletesBeforeItLooks(MemoryState):
    """Many deletes are made first, whether or not the expectations hold."""

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        self._alive()
        check_batch(batch, expected, self.info.limits)
        if not expected or len(batch.deletes) <= 3:
            return await super().commit(batch, expected=expected)
        known = {key: self._values.get(key) for key in expected}
        await super().commit(Batch(deletes=batch.deletes))
        for key, value in expected.items():
            if known[key] != value:
                raise Conflict(key)
        return await super().commit(Batch(batch.puts))


@breaks("S-12")
class LocksWhatIsExpectedOnly(MemoryState):
    """A lock for each expected key, and none for what is written: commits that cross both win."""

    def __init__(self) -> None:
        super().__init__()
        self._locks: dict[Key, asyncio.Lock] = {}

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        self._alive()
        check_batch(batch, expected, self.info.limits)
        async with AsyncExitStack() as held:
            for key in sorted(expected or {}):
                await held.enter_async_context(self._locks.setdefault(key, asyncio.Lock()))
            for key, value in (expected or {}).items():
                if self._values.get(key) != value:
                    raise Conflict(key)
            if expected:
                await asyncio.sleep(0)
            await super().commit(batch)


@breaks("S-13")
class GetsThousandsInTwoTrips(MemoryState):
    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        self._alive()
        check_keys(keys, self.info.limits)
        if len(keys) <= 3_000:
            return await super().get(keys)
        half = len(keys) // 2
        found = await super().get(keys[:half])
        await asyncio.sleep(0.001)
        return found | await super().get(keys[half:])


@breaks("S-13")
class ScansThousandsInTrips(MemoryState):
    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> Entries:
        self._alive()
        check_scan(prefix, after, limit, self.info.limits)
        found: Entries = []
        while page := await super().scan(prefix, after=after, limit=min(2_000, limit - len(found))):
            found += page
            after = page[-1][0]
            if len(page) < 2_000 or len(found) == limit:
                break
            await asyncio.sleep(0.001)
        return found


@breaks("S-1")
class RemembersWhatWasAbsent(MemoryState):
    """A key that was looked for in vain stays absent; a commit with expectations does not clear that."""

    def __init__(self) -> None:
        super().__init__()
        self._absent: set[Key] = set()

    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        found = await super().get(keys)
        self._absent |= {key for key in keys if key not in self._values}
        return {key: value for key, value in found.items() if key not in self._absent}

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        await super().commit(batch, expected=expected)
        if expected is None:
            self._absent -= set(batch.puts)


@breaks("S-18")
class WritesWhatIsThereALittleLater(MemoryState):
    """What was given is looked at again a turn of the loop later."""

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        self._alive()
        check_batch(batch, expected, self.info.limits)
        await asyncio.sleep(0)
        await super().commit(batch, expected=expected)


@breaks("L-3")
class RemovesWhatIsEmpty(MemoryState):
    """The thorough check repairs what it takes for damage."""

    async def check(self, *, thorough: bool = False) -> Health:
        if thorough:
            empty = frozenset(key for key, value in self._values.items() if not value)
            await super().commit(Batch(deletes=empty))
        return await super().check(thorough=thorough)


@breaks("L-8")
class StandsStillForManyDeletes(MemoryState):
    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        await super().commit(batch, expected=expected)
        if len(batch.deletes) > 900:
            time.sleep(0.6)  # noqa: ASYNC251 - which is what is wrong


@breaks("L-9")
class GivesNothingWhenCancelled(MemoryState):
    """A scan that is cancelled ends well, and empty."""

    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> Entries:
        try:
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            return []
        return await super().scan(prefix, after=after, limit=limit)


@breaks("L-9")
class WaitsBetweenDeletesAndPuts(MemoryState):
    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        self._alive()
        check_batch(batch, expected, self.info.limits)
        await super().commit(Batch(deletes=batch.deletes), expected=expected)
        if batch.deletes and batch.puts:
            await asyncio.sleep(0)
        await super().commit(Batch(batch.puts))


class _Alike(MemoryState):
    """``get`` takes some keys for others."""

    def taken_for(self, segment: str) -> str:
        return segment

    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        self._alive()
        check_keys(keys, self.info.limits)
        known: Mapping[Key, bytes] = {self._key(key): value for key, value in self._values.items()}
        return {key: known[self._key(key)] for key in keys if self._key(key) in known}

    def _key(self, key: Key) -> Key:
        return tuple(self.taken_for(segment) for segment in key)


@breaks("S-3")
class TakesLineEndsForOne(_Alike):
    def taken_for(self, segment: str) -> str:
        return segment.replace("\r\n", "\n").replace("\r", "\n")


@breaks("S-3")
class DecodesWhatLooksEscaped(_Alike):
    def taken_for(self, segment: str) -> str:
        return segment.replace("%2F", "/").replace("%20", " ")


@breaks("S-3")
class ReadsSegmentsAsPaths(MemoryState):
    """A segment of one dot falls away."""

    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        found = await super().get(keys)
        return {key: value for key, value in found.items() if "." not in key[1:]}
