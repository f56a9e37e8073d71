"""Wrong StateKVs: those that are right while they are small, and those that are atomic while a call is small."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from saga_backends.memory import MemoryState
from saga_core.errors import BadInput, Conflict
from saga_core.stores import Batch, Key
from saga_core.stores.validate import check_batch, check_keys
from tests.mutants.stores_registry import breaks

Expected = Mapping[Key, bytes | None] | None
Entries = list[tuple[Key, bytes]]


class Scanning(MemoryState):
    """Changes what a scan found."""

    def found(self, entries: Entries, prefix: Key, after: Key | None, limit: int) -> Entries:
        return entries

    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> Entries:
        return self.found(await super().scan(prefix, after=after, limit=limit), prefix, after, limit)


class Writing(MemoryState):
    """Changes what a commit puts and deletes, once it was found well formed."""

    def puts(self, puts: dict[Key, bytes]) -> dict[Key, bytes]:
        return puts

    def deletes(self, deletes: list[Key]) -> list[Key]:
        return deletes

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        self._alive()
        check_batch(batch, expected, self.info.limits)
        changed = Batch(self.puts(dict(batch.puts)), frozenset(self.deletes(sorted(batch.deletes))))
        await super().commit(changed, expected=expected)


@breaks("S-7")
class ScanEndsAtAThousand(Scanning):
    def found(self, entries: Entries, prefix: Key, after: Key | None, limit: int) -> Entries:
        return entries[:1_000]


@breaks("S-5")
class ScanLosesTheFirstOfASecondPage(Scanning):
    """It reads pages of 256 inside, and skips one behind each."""

    def found(self, entries: Entries, prefix: Key, after: Key | None, limit: int) -> Entries:
        return [entry for at, entry in enumerate(entries) if not at or at % 256]


@breaks("S-4")
class ScanGivesTheEndOfAPageTwice(Scanning):
    """The next page of 100 begins with the last key of the one before."""

    def found(self, entries: Entries, prefix: Key, after: Key | None, limit: int) -> Entries:
        pages = [entries[max(0, at - 1) : at + 100] for at in range(0, len(entries), 100)]
        return [entry for page in pages for entry in page][:limit]


@breaks("S-4")
class SortsEachPageByItself(Scanning):
    """Large scans come from two segments that nobody merges."""

    def found(self, entries: Entries, prefix: Key, after: Key | None, limit: int) -> Entries:
        if len(entries) < 2_048:
            return entries
        half = len(entries) // 2
        return entries[half:] + entries[:half]


@breaks("S-5")
class TheIndexSeesHalf(Scanning):
    """From a thousand entries on, what was written at odd places is not indexed yet."""

    def found(self, entries: Entries, prefix: Key, after: Key | None, limit: int) -> Entries:
        return entries if len(self._values) < 1_000 else entries[::2]


@breaks("S-6")
class StartsAnewBehindManyKeys(MemoryState):
    """``after`` is kept in a cursor that counts to a thousand."""

    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> Entries:
        behind = after is not None and isinstance(after, tuple) and sum(key <= after for key in self._order) > 1_024
        known = await super().scan(prefix, after=after, limit=limit)
        return known[1:] if behind else known


@breaks("S-1")
class GetsNineHundredNinetyNine(MemoryState):
    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        return dict(islice((await super().get(keys)).items(), 999))


@breaks("S-1")
class ForgetsTheLastVariable(MemoryState):
    """The engine takes 255 variables in a statement, and one of them is the table."""

    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        found = await super().get(keys)
        lost = list(keys)[254::255]
        return {key: value for key, value in found.items() if key not in lost}


@breaks("S-1")
class AnswersAllOrNothing(MemoryState):
    """Of more than a hundred keys, one that is absent hides the others of its page."""

    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        found = await super().get(keys)
        if len(keys) <= 100:
            return found
        pages = [list(keys)[at : at + 100] for at in range(0, len(keys), 100)]
        return {key: found[key] for page in pages if all(key in found for key in page) for key in page}


@breaks("S-8")
class LosesTheTailOfACommit(Writing):
    def puts(self, puts: dict[Key, bytes]) -> dict[Key, bytes]:
        return dict(islice(puts.items(), 2_000))


@breaks("S-8")
class DeletesFiveHundred(Writing):
    def deletes(self, deletes: list[Key]) -> list[Key]:
        return deletes[:500]


@breaks("S-8")
class DeletesOnlyWithFewPuts(Writing):
    """A commit of both kinds with more than a hundred puts forgets its deletes."""

    def puts(self, puts: dict[Key, bytes]) -> dict[Key, bytes]:
        self.many = len(puts) > 100
        return puts

    def deletes(self, deletes: list[Key]) -> list[Key]:
        return [] if self.many else deletes


@breaks("S-2")
class CutsAValueAtAPage(Writing):
    """A value that fills whole pages of 4,096 bytes loses the last one when there is more than one."""

    def puts(self, puts: dict[Key, bytes]) -> dict[Key, bytes]:
        return {k: v[:-4_096] if len(v) > 4_096 and len(v) % 4_096 == 0 else v for k, v in puts.items()}


@breaks("S-2")
class SwapsPartsOfLargeValues(Writing):
    """Parts of 65,536 bytes are put together in the order of their names: 0, 1, 10, 11, 2."""

    def puts(self, puts: dict[Key, bytes]) -> dict[Key, bytes]:
        return {key: self.mixed(value) for key, value in puts.items()}

    def mixed(self, value: bytes) -> bytes:
        parts = {str(at): value[at * 65_536 : (at + 1) * 65_536] for at in range(-(-len(value) // 65_536))}
        return b"".join(parts[name] for name in sorted(parts))


@breaks("S-3")
class ComparesSixteenSegments(Writing):
    """A key is a row of sixteen columns."""

    def puts(self, puts: dict[Key, bytes]) -> dict[Key, bytes]:
        return {key[:16]: value for key, value in puts.items()}

    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        check_keys(keys, self.info.limits)
        found = await super().get([key[:16] for key in keys])
        return {key: found[key[:16]] for key in keys if key[:16] in found}


@breaks("S-3")
class ComparesTheFirstBytesOfASegment(Writing):
    """An index over the first 191 characters decides."""

    def puts(self, puts: dict[Key, bytes]) -> dict[Key, bytes]:
        known = {tuple(part[:191] for part in key): key for key in (*self._values, *puts)}
        return {known[tuple(part[:191] for part in key)]: value for key, value in puts.items()}


@breaks("S-10")
class ExpectsTheFirstHundred(MemoryState):
    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        check_batch(batch, expected, self.info.limits)
        await super().commit(batch, expected=dict(islice((expected or {}).items(), 100)))


@breaks("S-10")
class ExpectsOnlyOfWhatItWrites(MemoryState):
    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        check_batch(batch, expected, self.info.limits)
        touched = {*batch.puts, *batch.deletes}
        eased = {key: value for key, value in (expected or {}).items() if key in touched or not touched}
        await super().commit(batch, expected=eased)


@breaks("S-10")
class ComparesLengthsOfLongValues(MemoryState):
    """What has more than a thousand bytes and the same length counts as the same."""

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        check_batch(batch, expected, self.info.limits)
        eased = dict(expected or {})
        for key, wanted in eased.items():
            known = self._values.get(key)
            if known is not None and wanted is not None and len(known) == len(wanted) > 1_000:
                eased[key] = known
        await super().commit(batch, expected=eased)


@breaks("S-10")
class ComparesTheBeginningOfValues(MemoryState):
    """Only the first 256 bytes are compared."""

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        check_batch(batch, expected, self.info.limits)
        eased = dict(expected or {})
        for key, wanted in eased.items():
            known = self._values.get(key)
            if known is not None and wanted is not None and known[:256] == wanted[:256] and len(wanted) >= 256:
                eased[key] = known
        await super().commit(batch, expected=eased)


@breaks("S-10")
class SkipsWhatIsAlreadyThere(MemoryState):
    """A commit that would change nothing is not looked at, nor are its expectations."""

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        check_batch(batch, expected, self.info.limits)
        if batch.puts and all(self._values.get(key) == value for key, value in batch.puts.items()):
            return
        await super().commit(batch, expected=expected)


class Chunked(MemoryState):
    """A commit above a hundred puts is done in chunks."""

    async def between(self) -> None:
        await asyncio.sleep(0)

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        self._alive()
        check_batch(batch, expected, self.info.limits)
        puts = list(batch.puts.items())
        await super().commit(Batch(dict(puts[:100]), batch.deletes), expected=expected)
        for at in range(100, len(puts), 100):
            await self.between()
            await super().commit(Batch(dict(puts[at : at + 100])))


@breaks("S-13")
class CommitsInChunks(Chunked):
    pass


@breaks("L-9")
class IsTornByACancelBetweenChunks(Chunked):
    async def between(self) -> None:
        for _ in range(3):
            await asyncio.sleep(0)


@breaks("S-13")
class ScansInChunks(MemoryState):
    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> Entries:
        found = await super().scan(prefix, after=after, limit=min(limit, 100) if type(limit) is int else limit)
        while len(found) < limit and len(found) % 100 == 0 and found:
            await asyncio.sleep(0)
            page = await super().scan(prefix, after=found[-1][0], limit=min(100, limit - len(found)))
            if not page:
                break
            found += page
        return found


@breaks("S-13")
class GetsInChunks(MemoryState):
    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        self._alive()
        check_keys(keys, self.info.limits)
        found: dict[Key, bytes] = {}
        for at in range(0, len(keys), 100):
            found |= await super().get(list(keys)[at : at + 100])
            await asyncio.sleep(0)
        return found


@breaks("S-9")
class LooksAtEachChunkByItself(MemoryState):
    """A malformed key in the second hundred is seen when the first hundred are written."""

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        puts: list[Any] = list(batch.puts.items())
        if len(puts) <= 100 or len(puts) > self.info.limits.batch:
            await super().commit(batch, expected=expected)
            return
        await super().commit(Batch(dict(puts[:100]), batch.deletes), expected=expected)
        for at in range(100, len(puts), 100):
            await super().commit(Batch(dict(puts[at : at + 100])))


@breaks("S-9")
class FindsAConflictTooLate(MemoryState):
    """Expectations are looked at a hundred at a time, and the puts of that hundred are written then."""

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        check_batch(batch, expected, self.info.limits)
        wanted, puts = list((expected or {}).items()), list(batch.puts.items())
        if len(wanted) <= 100:
            await super().commit(batch, expected=expected)
            return
        await super().commit(Batch(dict(puts[:100])), expected=dict(wanted[:100]))
        await super().commit(Batch(dict(puts[100:]), batch.deletes), expected=dict(wanted[100:]))


@breaks("S-11")
class NamesTheSmallestConflict(MemoryState):
    """Of many expectations, the first by order of keys is named."""

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        check_batch(batch, expected, self.info.limits)
        many = dict(sorted((expected or {}).items())) if len(expected or {}) > 8 else expected
        await super().commit(batch, expected=many)


@breaks("S-16")
class RefusesTwoThousand(MemoryState):
    """It has a limit of its own that it does not declare."""

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        check_batch(batch, expected, self.info.limits)
        if len(batch.puts) > 2_000:
            raise BadInput(f"batch: {len(batch.puts)} puts; the engine takes 2,000")
        await super().commit(batch, expected=expected)


@breaks("S-12")
class LosesUpdatesOfManyWriters(MemoryState):
    """Up to eight at a time are kept in order, further ones are not."""

    running = 0

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        self.running += 1
        try:
            if self.running <= 8:
                return await super().commit(batch, expected=expected)
            await super().commit(Batch(), expected=expected)
            await asyncio.sleep(0)
            await super().commit(batch)
        finally:
            await asyncio.sleep(0)
            self.running -= 1


@breaks("S-10")
class TriesAConflictAgain(MemoryState):
    """It retries a conflict with what is there now."""

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        try:
            await super().commit(batch, expected=expected)
        except Conflict as conflict:
            if len(batch.puts) < 2 or conflict.key not in batch.puts:
                raise
            await super().commit(batch)
