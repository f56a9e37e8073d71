"""Wrong stores with files that were written from the clauses by somebody who had not read a check."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence
from pathlib import Path

from saga_backends.memory import MemoryState
from saga_core.capabilities import Capability
from saga_core.errors import Conflict, StoreError
from saga_core.stores import Batch, Key
from saga_core.stores.validate import check_batch
from tests.mutants.causes.durable_wrong import LogState
from tests.mutants.causes.state_scale import Expected
from tests.mutants.stores_cache import FolderCache
from tests.mutants.stores_durable import FileState
from tests.mutants.stores_registry import breaks


@breaks("L-12")
class WritesDeletesWithTheNextCommit(LogState):
    """A commit that only deletes is seen at once, and is in the file when another one is."""

    def __init__(self) -> None:
        super().__init__()
        self._late: frozenset[Key] = frozenset()

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        self._alive()
        check_batch(batch, expected, self.info.limits)
        if batch.deletes and not batch.puts and not expected:
            await MemoryState.commit(self, batch)
            self._late |= batch.deletes
            return
        late, self._late = self._late, frozenset()
        if late:
            self.append(self.record(Batch(deletes=late)))
        await super().commit(batch, expected=expected)

    def end(self) -> None:
        if self._late:
            self.append(self.record(Batch(deletes=self._late)))


@breaks("L-12")
class WritesConditionalCommitsLater(LogState):
    """The path of expectations ends in memory, until the next commit."""

    def __init__(self) -> None:
        super().__init__()
        self._late: list[Batch] = []

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        self._alive()
        check_batch(batch, expected, self.info.limits)
        if expected:
            await MemoryState.commit(self, batch, expected=expected)
            self._late.append(batch)
            return
        self.end()
        await super().commit(batch)

    def end(self) -> None:
        while self._late:
            self.append(self.record(self._late.pop(0)))


@breaks("L-12")
class WritesLongValuesAMomentLater(LogState):
    """Beyond 200 kB a value is written beside the log, by a task."""

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        self._alive()
        check_batch(batch, expected, self.info.limits)
        long = {key: value for key, value in batch.puts.items() if len(value) > 200_000}
        if not long or expected:
            return await super().commit(batch, expected=expected)
        await super().commit(Batch({**batch.puts, **dict.fromkeys(long, b"")}, batch.deletes))
        await MemoryState.commit(self, Batch(long))
        asyncio.get_running_loop().call_later(0.1, self._write, long)
        return None

    def _write(self, long: dict[Key, bytes]) -> None:
        now = {key: value for key, value in long.items() if self._values.get(key) == value}
        if now and not self._closed:
            self.append(self.record(Batch(now)))

    def end(self) -> None:
        self.append(self.record(Batch({key: value for key, value in self._values.items() if len(value) > 200_000})))


@breaks("S-19")
class ReadsAheadOfTheDisk(LogState):
    """A cache of what was put last, filled before the disk has said yes."""

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[Key, bytes] = {}

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        self._alive()
        check_batch(batch, expected, self.info.limits)
        self._last = {} if expected else dict(batch.puts)
        await super().commit(batch, expected=expected)

    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        found = await super().get(keys)
        return found | {key: self._last[key] for key in keys if key in self._last}


@breaks("S-19")
class AnswersNothingAfterAFullDisk(LogState):
    """One failed write, and ``get`` asks for the store to be opened again."""

    _failed = False

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        try:
            await super().commit(batch, expected=expected)
        except Conflict:
            raise
        except StoreError:
            self._failed = not self._closed
            raise

    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        if self._failed:
            raise StoreError("the store is in a failed state; open it again")
        return await super().get(keys)


@breaks("L-11")
class TidiesUpAtItsEnd(LogState):
    """White space at the end of short values is not worth its place."""

    def end(self) -> None:
        tidy = {key: value.rstrip() for key, value in self._values.items() if value != value.rstrip()}
        if tidy:
            self.append(self.record(Batch(tidy)))


@breaks("L-24")
class KeepsACopyOfWhatItCompacts(FileState):
    """Compacting makes a backup first, and leaves it."""

    provided = frozenset({Capability.RESIDENT, Capability.DURABLE, Capability.COMPACTS})
    _copies = 0

    async def compact(self) -> None:
        self._alive()
        if self.file.exists():
            self._copies += 1
            shutil.copy(self.file, self.file.with_suffix(f".bak{self._copies}"))
        self.save()


@breaks("C-11")
class MovesAtItsFourthWrite(FolderCache):
    """The folder has a number from then on."""

    def __init__(self) -> None:
        super().__init__()
        self._writes: dict[str, int] = {}

    def folder(self, scope: str) -> Path:
        found = super().folder(scope)
        number = self._writes.get(scope, 0)
        return found.with_name(f"{found.name}-{number}") if number > 3 else found

    async def write(self, scope: str, pages: object) -> None:
        self._alive()
        if isinstance(scope, str):
            self._writes[scope] = self._writes.get(scope, 0) + 1
        await super().write(scope, pages)  # type: ignore[arg-type]


@breaks("L-6")
class DropsItsQueueAtTheEnd(LogState):
    """What stands in the queue when the store is closed is not done, and nobody is told."""

    def __init__(self) -> None:
        super().__init__()
        self._queue = asyncio.Lock()
        self._ending = False

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        self._alive()
        check_batch(batch, expected, self.info.limits)
        async with self._queue:
            await asyncio.sleep(0)
            if not self._ending:
                await super().commit(batch, expected=expected)

    async def aclose(self) -> None:
        self._ending = True
        async with self._queue:
            await super().aclose()
