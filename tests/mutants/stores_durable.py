"""Stores that keep files, rightly and wrongly: what a kill, a re-open and a second opener show."""

from __future__ import annotations

import asyncio
import fcntl
import os
import pickle
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from attrs import evolve

from saga_backends.memory import MemoryState
from saga_backends.path_lock import PathLock
from saga_core.capabilities import Capability
from saga_core.errors import StoreLocked, StoreUnavailable
from saga_core.stores.lifecycle import Health
from saga_core.stores.state_kv import Batch, Key
from tests.mutants.stores_registry import breaks

Expected = Mapping[Key, bytes | None] | None


class FileState(MemoryState):
    """A reference: everything in one file, replaced at every commit."""

    provided = frozenset({Capability.RESIDENT, Capability.DURABLE})
    lock: PathLock | None = None

    def __init__(self) -> None:
        super().__init__()
        self._info = evolve(self._info, capabilities=self.provided)

    def begin(self, path: Path) -> None:
        """Open the file in this directory."""
        self.file = path / "state.pickle"
        self._info = evolve(self._info, location=str(self.file))
        self.take(path)
        self.load()

    def take(self, path: Path) -> None:
        self.lock = PathLock(self.file)

    def load(self) -> None:
        if self.file.exists():
            self._values = pickle.loads(self.file.read_bytes())
            self._order = sorted(self._values)

    def save(self) -> None:
        fresh = self.file.with_suffix(f".{os.getpid()}")
        with fresh.open("wb") as file:
            file.write(pickle.dumps(self._values))
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self.file)

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        await super().commit(batch, expected=expected)
        try:
            self.save()
        except OSError as error:
            self._values, self._order = {}, []
            self.load()
            raise StoreUnavailable(f"{self.file}: {error.strerror}") from error

    async def check(self, *, thorough: bool = False) -> Health:
        size = self.file.stat().st_size if self.file.exists() else 0
        return evolve(await super().check(), bytes=size)

    async def aclose(self) -> None:
        await super().aclose()
        if self.lock is not None:
            self.lock.release()


@breaks("L-11")
class ForgetsTheLastCommit(FileState):
    """Saves before it writes."""

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        await MemoryState.commit(self, Batch(), expected=expected)
        self.save()
        await MemoryState.commit(self, batch, expected=expected)


@breaks("L-11")
class ForgetsDeletes(FileState):
    """What was deleted comes back when the file is opened again."""

    def save(self) -> None:
        kept = pickle.loads(self.file.read_bytes()) if self.file.exists() else {}
        now, self._values = self._values, {**kept, **self._values}
        super().save()
        self._values = now


@breaks("L-12")
class SavesAtItsEnd(FileState):
    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        await MemoryState.commit(self, batch, expected=expected)

    async def aclose(self) -> None:
        if not self._closed:
            self.save()
        await super().aclose()


@breaks("L-12")
class AcknowledgesEarly(FileState):
    """The file is written a moment after the call returned."""

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        await MemoryState.commit(self, batch, expected=expected)
        asyncio.get_running_loop().call_later(0.2, self.save)

    async def aclose(self) -> None:
        if not self._closed:
            self.save()
        await super().aclose()


@breaks("L-12")
class SavesEveryThirdCommit(FileState):
    commits = 0

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        await MemoryState.commit(self, batch, expected=expected)
        self.commits += 1
        if self.commits % 3 == 0:
            self.save()

    async def aclose(self) -> None:
        if not self._closed:
            self.save()
        await super().aclose()


@breaks("L-12")
class CommitsInParts(FileState):
    """Each five hundred entries are a transaction of their own."""

    part = 500

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        await MemoryState.commit(self, Batch(deletes=batch.deletes), expected=expected)
        puts = [*batch.puts.items()]
        for at in range(0, max(1, len(puts)), self.part):
            await FileState.commit(self, Batch(dict(puts[at : at + self.part])))


@breaks("L-12")
class CommitsInLargeParts(CommitsInParts):
    """The same with parts that are larger than any write of SAGA."""

    part = 2_500


@breaks("L-12")
class TidiesInPlaceWhenItOpens(FileState):
    """For a moment of each opening, nothing is in the file."""

    def load(self) -> None:
        super().load()
        with self.file.open("wb") as file:
            file.write(pickle.dumps(self._values))
            file.flush()
            os.fsync(file.fileno())


@breaks("L-12")
class TidiesInPlaceWhenMuchIsRubbish(FileState):
    """An entry for each commit; what is not needed any longer is taken out where it stands."""

    def load(self) -> None:
        self.log = self.file.open("a+b")
        self.log.seek(0)
        end = 0
        with suppress(EOFError, pickle.UnpicklingError):
            while True:
                batch = pickle.load(self.log)
                end = self.log.tell()
                self._values = {key: value for key, value in self._values.items() if key not in batch.deletes}
                self._values |= batch.puts
        self._order = sorted(self._values)
        self.log.truncate(end)

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        await MemoryState.commit(self, batch, expected=expected)
        self.write(batch)
        if self.log.tell() > 4 * sum(map(len, self._values.values())) + 100_000:
            self.log.truncate(0)
            self.write(Batch(self._values))

    async def aclose(self) -> None:
        await super().aclose()
        self.log.close()

    def write(self, batch: Batch) -> None:
        self.log.write(pickle.dumps(Batch(dict(batch.puts), frozenset(batch.deletes))))
        self.log.flush()
        os.fsync(self.log.fileno())


@breaks("L-13")
class OpensTwice(FileState):
    def take(self, path: Path) -> None:
        self.lock = None


@breaks("L-13")
class LocksForThisProcessOnly(FileState):
    open_paths: set[str] = set()  # noqa: RUF012 - shared by all of them, which is the point

    def take(self, path: Path) -> None:
        if str(path) in self.open_paths:
            raise StoreLocked(f"{path} is open")
        self.open_paths.add(str(path))

    async def aclose(self) -> None:
        if not self._closed:
            self.open_paths.discard(str(self.file.parent))
        await super().aclose()


@breaks("L-14")
class LeavesItsLockBehind(FileState):
    """A file says that the store is open; after a kill nobody takes it away."""

    def take(self, path: Path) -> None:
        self.sign = path / "open"
        try:
            self.sign.touch(exist_ok=False)
        except FileExistsError:
            raise StoreLocked(f"{path} is open") from None

    async def aclose(self) -> None:
        if not self._closed:
            self.sign.unlink()
        await super().aclose()


@breaks("L-14")
class NeverLetsGo(FileState):
    async def aclose(self) -> None:
        await MemoryState.aclose(self)


class SharedState(FileState):
    """A reference: reads the file at every call, and writes it under a lock."""

    provided = frozenset({Capability.RESIDENT, Capability.DURABLE, Capability.SHARED})

    def take(self, path: Path) -> None:
        self.guard = path / "guard"
        self._info = evolve(self._info, identity=str(path.resolve()))

    @contextmanager
    def alone(self) -> Iterator[None]:
        with self.guard.open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            self.load()
            yield

    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        with self.alone():
            return await super().get(keys)

    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> list[tuple[Key, bytes]]:
        with self.alone():
            return await super().scan(prefix, after=after, limit=limit)

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        with self.alone():
            await super().commit(batch, expected=expected)


@breaks("L-15")
class ReadsItsOwnCopy(SharedState):
    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> list[tuple[Key, bytes]]:
        return await MemoryState.scan(self, prefix, after=after, limit=limit)


@breaks("L-15")
class LosesTheOthersWrites(SharedState):
    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        await FileState.commit(self, batch, expected=expected)


@breaks("L-16")
class DoesNotSayHowLarge(FileState):
    async def check(self, *, thorough: bool = False) -> Health:
        return evolve(await super().check(), bytes=None)


@breaks("L-16")
class DoesNotSayWhere(FileState):
    def begin(self, path: Path) -> None:
        super().begin(path)
        self._info = evolve(self._info, location="")
