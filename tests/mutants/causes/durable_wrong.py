"""Wrong stores that keep files: what only a second kill, another process, a torn tail or another name shows."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import pickle
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from attrs import evolve

from saga_backends.memory import MemoryCache, MemoryGraph, MemoryState, MemoryVector
from saga_backends.path_lock import PathLock
from saga_core.capabilities import Capability
from saga_core.errors import StoreLocked, StoreUnavailable
from saga_core.stores import Batch, Key, Mutation, VectorItem
from saga_core.stores.validate import check_batch
from tests.mutants.stores_durable import FileState, SharedState
from tests.mutants.stores_registry import breaks

Expected = Mapping[Key, bytes | None] | None
Entries = list[tuple[Key, bytes]]


class LogState(MemoryState):
    """A reference: an append-only file, a record with its length for each commit, and a torn tail is cut off."""

    def __init__(self) -> None:
        super().__init__()
        self._info = evolve(self._info, capabilities=frozenset({Capability.RESIDENT, Capability.DURABLE}))

    def begin(self, path: Path) -> None:
        self.file = path / "state.log"
        self._info = evolve(self._info, location=str(self.file))
        self.take()
        self.read()
        self.log = self.file.open("ab")

    def take(self) -> None:
        self.lock: Any = PathLock(self.file)

    def read(self) -> None:
        if not self.file.exists():
            return
        raw, at = self.file.read_bytes(), 0
        while at + 8 <= len(raw):
            size = int.from_bytes(raw[at : at + 8], "big")
            if at + 8 + size > len(raw):
                break
            self.again(pickle.loads(raw[at + 8 : at + 8 + size]))
            at += 8 + size
        self.torn(at, len(raw))

    def torn(self, whole: int, size: int) -> None:
        if whole < size:
            os.truncate(self.file, whole)

    def again(self, record: tuple[dict[Key, bytes], list[Key]]) -> None:
        puts, deletes = record
        for key in deletes:
            self._values.pop(key, None)
        self._values.update(puts)
        self._order = sorted(self._values)

    def record(self, batch: Batch) -> bytes:
        return pickle.dumps((dict(batch.puts), sorted(batch.deletes)))

    def append(self, record: bytes) -> None:
        self.log.write(len(record).to_bytes(8, "big") + record)
        self.log.flush()
        os.fsync(self.log.fileno())

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        self._alive()
        check_batch(batch, expected, self.info.limits)
        await super().commit(Batch(), expected=expected)
        end = self.file.stat().st_size
        try:
            self.append(self.record(batch))
        except OSError as error:
            os.truncate(self.file, end)
            with contextlib.suppress(OSError):  # what could not be written stays in the buffer
                self.log.close()
            self.log = self.file.open("ab")
            os.truncate(self.file, end)
            raise StoreUnavailable(f"{self.file}: {error.strerror}") from error
        await super().commit(batch)

    async def check(self, *, thorough: bool = False) -> Any:
        return evolve(await super().check(), bytes=self.file.stat().st_size)

    async def aclose(self) -> None:
        if not self._closed:
            self._closed = True
            self.end()
            self.log.close()
            self.lock.release()

    def end(self) -> None:
        """Before the file is closed."""


@breaks("L-22")
class AppendsBehindATornTail(LogState):
    """What a crash left half written stays, and everything behind it is never read."""

    def torn(self, whole: int, size: int) -> None:
        pass


@breaks("L-22")
class ReadsATornTail(LogState):
    """A record is read as far as it goes: some of its puts, none of its others."""

    def record(self, batch: Batch) -> bytes:
        parts = [pickle.dumps(({key: value}, [])) for key, value in batch.puts.items()]
        return pickle.dumps(({}, sorted(batch.deletes))) + b"".join(parts)

    def append(self, record: bytes) -> None:
        self.log.write(record)
        self.log.flush()
        os.fsync(self.log.fileno())

    def read(self) -> None:
        if self.file.exists():
            with self.file.open("rb") as file:
                while True:
                    try:
                        self.again(pickle.load(file))
                    except (EOFError, pickle.UnpicklingError):
                        break


@breaks("L-22")
class GivesUpAtATornTail(LogState):
    def torn(self, whole: int, size: int) -> None:
        if whole < size:
            raise StoreUnavailable(f"{self.file}: is damaged")


@breaks("L-17")
class SavesNothingAfterACrash(LogState):
    """After a crash it works in memory only, until it was closed well."""

    def begin(self, path: Path) -> None:
        super().begin(path)
        self.sign = path / "dirty"
        self.crashed = self.sign.exists()
        self.sign.touch()

    def append(self, record: bytes) -> None:
        if not self.crashed:
            super().append(record)

    def end(self) -> None:
        self.sign.unlink()


@breaks("L-17")
class ForgetsAtTheSecondCrash(LogState):
    """The second recovery begins with an empty file."""

    def begin(self, path: Path) -> None:
        self.sign = path / "dirty"
        crashes = int(self.sign.read_text() or 0) if self.sign.exists() else -1
        if crashes >= 1:
            (path / "state.log").unlink(missing_ok=True)
        super().begin(path)
        self.sign.write_text(str(crashes + 1))

    def end(self) -> None:
        self.sign.write_text("-1")
        self.sign.unlink()


@breaks("L-17")
class LosesWhatRecoveryDidNotClose(LogState):
    """What was written between a crash and the next closing goes to a side file that only ``aclose`` merges."""

    def begin(self, path: Path) -> None:
        self.sign, self.side = path / "dirty", path / "side"
        self.crashed = self.sign.exists()
        self.side.unlink(missing_ok=True)
        super().begin(path)
        self.sign.touch()

    def append(self, record: bytes) -> None:
        if not self.crashed:
            super().append(record)
            return
        with self.side.open("ab") as file:
            file.write(len(record).to_bytes(8, "big") + record)

    def end(self) -> None:
        if self.side.exists():
            self.log.write(self.side.read_bytes())
            self.side.unlink()
        self.sign.unlink()


@breaks("L-11")
class ReplaysGroupsOutOfOrder(LogState):
    """Eight commits are a group, and groups are replayed with the last first within a group."""

    def read(self) -> None:
        self.records: list[Any] = []
        super().read()
        self._values.clear()
        for at in range(0, len(self.records), 8):
            for record in reversed(self.records[at : at + 8]):
                super().again(record)

    def again(self, record: Any) -> None:
        self.records.append(record)


@breaks("L-12")
class SyncsInTwoParts(LogState):
    """A commit above a hundred puts is written as two records."""

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        check_batch(batch, expected, self.info.limits)
        puts = list(batch.puts.items())
        if len(puts) <= 100:
            await super().commit(batch, expected=expected)
            return
        await super().commit(Batch(dict(puts[:100]), batch.deletes), expected=expected)
        await asyncio.sleep(0.01)
        await super().commit(Batch(dict(puts[100:])))


@breaks("L-11")
class KeepsTheFirstThousand(LogState):
    """When it is opened, a thousand entries of a commit are read."""

    def again(self, record: Any) -> None:
        super().again((dict(list(record[0].items())[:1_000]), record[1]))


@breaks("L-11")
class ForgetsManyDeletes(LogState):
    def record(self, batch: Batch) -> bytes:
        return pickle.dumps((dict(batch.puts), sorted(batch.deletes)[:100]))


@breaks("L-11")
class CutsLargeValuesInTheFile(LogState):
    """Memory has them whole, the file 65,536 bytes of them."""

    def record(self, batch: Batch) -> bytes:
        return pickle.dumps(({key: value[:65_536] for key, value in batch.puts.items()}, sorted(batch.deletes)))


@breaks("L-11")
class CutsLargeValuesAtOnce(LogState):
    """Memory and the file have 65,536 bytes of them, so a reopening changes nothing."""

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        check_batch(batch, expected, self.info.limits)
        puts = {key: value[:65_536] for key, value in batch.puts.items()}
        await super().commit(Batch(puts, batch.deletes), expected=expected)


@breaks("L-11")
class DecodesWithReplacement(LogState):
    """A key that begins with U+FEFF loses it on the way through the file."""

    def again(self, record: Any) -> None:
        super().again(({tuple(p.removeprefix("\ufeff") or p for p in k): v for k, v in record[0].items()}, record[1]))


class Hashed(LogState):
    """Its file says a hash for a key, which each process salts anew."""

    def again(self, record: Any) -> None:
        super().again(record)

    def record(self, batch: Batch) -> bytes:
        hashes = {key: hash(key) for key in batch.puts}
        return pickle.dumps((dict(batch.puts), sorted(batch.deletes), hashes))


@breaks("L-18")
class LooksUpByASaltedHash(Hashed):
    """``get`` looks where the hash was when it was written. A scan does not."""

    def __init__(self) -> None:
        super().__init__()
        self.hashes: dict[Key, int] = {}

    def again(self, record: Any) -> None:
        super().again(record[:2])
        self.hashes |= record[2]

    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        found = await super().get(keys)
        return {key: value for key, value in found.items() if self.hashes.get(key, hash(key)) == hash(key)}


@breaks("L-18")
class OrdersByASaltedHash(LogState):
    """What was read from the file is scanned in the order of a set."""

    def begin(self, path: Path) -> None:
        super().begin(path)
        self.old = set(self._values)

    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> Entries:
        found = await super().scan(prefix, after=after, limit=limit)
        if len(found) > 8 and all(key in self.old for key, _ in found):
            return sorted(found, key=lambda entry: hash(entry[0]))
        return found


@breaks("L-18")
class GetsOnlyWhatThisProcessWrote(LogState):
    def begin(self, path: Path) -> None:
        super().begin(path)
        self.pid_file = path / "pid"
        self.foreign = (
            set(self._values) if self.pid_file.exists() and self.pid_file.read_text() != str(os.getpid()) else set()
        )
        self.pid_file.write_text(str(os.getpid()))

    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        return {key: value for key, value in (await super().get(keys)).items() if key not in self.foreign}

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        await super().commit(batch, expected=expected)
        self.foreign -= batch.puts.keys()


@breaks("L-18")
class ExpectsOnlyWhatThisProcessWrote(LogState):
    """Expectations are compared with a cache that begins empty."""

    def __init__(self) -> None:
        super().__init__()
        self.mine: dict[Key, bytes] = {}

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        check_batch(batch, expected, self.info.limits)
        eased = {key: wanted for key, wanted in (expected or {}).items() if key in self.mine or wanted is None}
        eased = {k: (self._values.get(k) if w is None and k not in self.mine else w) for k, w in eased.items()}
        await super().commit(batch, expected=eased if self.read_something else expected)
        self.mine |= batch.puts

    @property
    def read_something(self) -> bool:
        return len(self._values) > len(self.mine)


@breaks("L-6")
class CutsALargeWriteAtItsEnd(LogState):
    """A commit is written put by put, and an end between two of them cuts it."""

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        check_batch(batch, expected, self.info.limits)
        await super().commit(Batch(deletes=batch.deletes), expected=expected)
        for key, value in batch.puts.items():
            await super().commit(Batch({key: value}))
            await asyncio.sleep(0)


@breaks("L-19")
class LocksTheNameOfAPath(FileState):
    """A symbolic link is another name."""

    names: ClassVar[set[str]] = set()

    def take(self, path: Path) -> None:
        name = str(path)
        self.sign = path / f"lock-{name.replace('/', '_')[-80:]}"
        file = self.sign.open("w")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            raise StoreLocked(f"{path} is open") from None
        self.held = file

    async def aclose(self) -> None:
        if not self._closed:
            self.held.close()
        await super().aclose()


@breaks("L-13")
class EmptiesWhatItMayNotOpen(FileState):
    """The file is made before the lock is asked for."""

    def begin(self, path: Path) -> None:
        fresh = path / "state.pickle"
        try:
            super().begin(path)
        except StoreLocked:
            if fresh.exists():
                fresh.write_bytes(pickle.dumps({}))
            raise


class Leased(FileState):
    """A lease of an hour instead of a lock."""

    def taken(self, lease: Path) -> bool:
        return time.time() < float(lease.read_text())

    def take(self, path: Path) -> None:
        self.lease = path / "lease"
        if self.lease.exists() and self.taken(self.lease):
            raise StoreLocked(f"{path} is open")
        self.lease.write_text(str(time.time() + 3_600))

    async def aclose(self) -> None:
        if not self._closed:
            self.lease.unlink(missing_ok=True)
        await super().aclose()


@breaks("L-13")
class BelievesTheClockOfWhoComes(Leased):
    pass


@breaks("L-13")
class BelievesTheTimeOfAFile(Leased):
    def taken(self, lease: Path) -> bool:
        return time.time() - lease.stat().st_mtime < 3_600


@breaks("L-13")
class LeasesForAMoment(FileState):
    """A lease of 50 ms that nobody renews: a second opener takes over."""

    def take(self, path: Path) -> None:
        self.lease = path / "lease"
        if self.lease.exists() and time.time() < float(self.lease.read_text() or 0):
            raise StoreLocked(f"{path} is open")
        self.lease.write_text(str(time.time() + 0.05))

    async def aclose(self) -> None:
        if not self._closed:
            self.lease.unlink(missing_ok=True)
        await super().aclose()


@breaks("L-14")
class WaitsForALeaseAfterAKill(FileState):
    """A path opens ten seconds after a kill."""

    def take(self, path: Path) -> None:
        self.lease = path / "lease"
        if self.lease.exists() and time.time() < float(self.lease.read_text() or 0):
            raise StoreLocked(f"{path} is open")
        self.lease.write_text(str(time.time() + 600))

    async def aclose(self) -> None:
        if not self._closed:
            self.lease.unlink(missing_ok=True)
        await super().aclose()


@breaks("L-21")
class LocksForEverWhenItsEndIsCancelled(FileState):
    async def aclose(self) -> None:
        if self._closed:
            return
        self._closed = True
        for _ in range(5):
            await asyncio.sleep(0)
        self.lock and self.lock.release()


@breaks("S-19")
class KeepsWhatTheDiskDidNot(LogState):
    """When the disk is full, memory has it and the file has not."""

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        try:
            await super().commit(batch, expected=expected)
        except StoreUnavailable:
            await MemoryState.commit(self, batch)
            raise


@breaks("S-19")
class SaysNothingOfAFullDisk(LogState):
    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        with contextlib.suppress(StoreUnavailable):
            await super().commit(batch, expected=expected)


@breaks("S-19")
class LetsAnOsErrorOut(LogState):
    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        try:
            await super().commit(batch, expected=expected)
        except StoreUnavailable as error:
            raise OSError("disk full") from error


@breaks("S-19")
class LeavesHalfOfAFailedWrite(LogState):
    """What a full disk cut stays in the file, and later commits stand behind it."""

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        check_batch(batch, expected, self.info.limits)
        await MemoryState.commit(self, Batch(), expected=expected)
        record = self.record(batch)
        raw = len(record).to_bytes(8, "big") + record
        try:
            self.file.open("ab", buffering=0).write(raw[: len(raw) // 2])
            self.file.open("ab", buffering=0).write(raw[len(raw) // 2 :])
        except OSError as error:
            raise StoreUnavailable("disk full") from error
        if self.file.read_bytes()[-len(raw) :] != raw:
            raise StoreUnavailable("disk full")
        await MemoryState.commit(self, batch)


# --- graphs, vectors and pages in files ----------------------------------------------------------------------


def filed(title: str, kind: type[Any], *writes: str) -> type[Any]:
    """A store of this kind that keeps its writes in a log and makes them again when it is opened."""

    class Filed(kind):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self._info = evolve(self._info, capabilities=frozenset({Capability.RESIDENT, Capability.DURABLE}))
            self.replaying = False

        def begin(self, path: Path) -> None:
            self.file = path / "calls.log"
            self._info = evolve(self._info, location=str(self.file))
            self.lock = PathLock(self.file)
            self.file.touch()
            self.again()

        def again(self) -> None:
            """Make the calls of the file; what a crash left of a last one is cut off."""
            self._scopes.clear()
            self.calls: list[Any] = []
            whole = 0
            with self.file.open("rb") as file:
                while True:
                    try:
                        self.calls.append(pickle.load(file))
                    except (EOFError, pickle.UnpicklingError):
                        break
                    whole = file.tell()
            os.truncate(self.file, whole)
            self.replaying = True
            for made in self.calls:
                self.replay(made)
            self.replaying = False

        def replay(self, made: tuple[str, Any, Any]) -> None:
            method, args, options = made
            # The memory stores await nothing: one step of the coroutine is all of it.
            with contextlib.suppress(StopIteration):
                getattr(self, method)(*args, **options).send(None)

        def keep(self, method: str, args: Any, options: Any) -> None:
            with self.file.open("ab") as file:
                file.write(pickle.dumps((method, args, options)))
                file.flush()
                os.fsync(file.fileno())

        async def check(self, *, thorough: bool = False) -> Any:
            return evolve(await super().check(), bytes=self.file.stat().st_size + 1)

        async def aclose(self) -> None:
            await super().aclose()
            self.lock.release()

    def keeping(method: str) -> Any:
        async def call(self: Any, *args: Any, **options: Any) -> Any:
            found = await getattr(super(Filed, self), method)(*args, **options)
            if not self.replaying:
                try:
                    self.keep(method, args, options)
                except OSError as error:
                    self.again()
                    raise StoreUnavailable(f"{self.file}: {error.strerror}") from error
            return found

        return call

    for method in writes:
        setattr(Filed, method, keeping(method))
    Filed.__name__ = Filed.__qualname__ = title
    return Filed


FiledGraph = filed("FiledGraph", MemoryGraph, "apply", "drop")
FiledVector = filed("FiledVector", MemoryVector, "create", "upsert", "delete", "drop")
FiledCache = filed("FiledCache", MemoryCache, "write", "drop")


@breaks("L-23")
class SaysNothingOfAFullDiskEither(FiledGraph):  # type: ignore[misc, valid-type]
    def keep(self, method: str, args: Any, options: Any) -> None:
        with contextlib.suppress(OSError):
            super().keep(method, args, options)


@breaks("L-23")
class KeepsAWriteThatWasRefused(FiledVector):  # type: ignore[misc, valid-type]
    """Memory has what the disk has not."""

    def again(self) -> None:
        if not self._scopes:
            super().again()


@breaks("L-12")
class DropsInMemoryOnly(FiledGraph):  # type: ignore[misc, valid-type]
    """A drop is kept when the store is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.later: list[Any] = []

    def keep(self, method: str, args: Any, options: Any) -> None:
        if method == "drop":
            self.later.append((method, args, options))
            return
        super().keep(method, args, options)

    async def apply(self, scope: str, mutation: Mutation) -> None:
        await super().apply(scope, mutation)

    async def aclose(self) -> None:
        for made in self.later if not self._closed else []:
            super().keep(*made)
        self.later = []
        await super().aclose()


@breaks("L-12")
class DropsVectorsInMemoryOnly(FiledVector):  # type: ignore[misc, valid-type]
    def keep(self, method: str, args: Any, options: Any) -> None:
        if method != "drop":
            super().keep(method, args, options)

    async def aclose(self) -> None:
        if not self._closed:
            known = {made[1][0] for made in self.calls if made[0] == "create"}
            for scope in known - set(self._scopes):
                super().keep("drop", (scope,), {})
        await super().aclose()


@breaks("L-11")
class DropsPagesInMemoryOnly(FiledCache):  # type: ignore[misc, valid-type]
    def keep(self, method: str, args: Any, options: Any) -> None:
        if method != "drop":
            super().keep(method, args, options)


@breaks("L-11")
class ReadsNumbersAsFloats(FiledGraph):  # type: ignore[misc, valid-type]
    """The file has one kind of number."""

    def replay(self, made: Any) -> None:
        method, args, options = made
        if method == "apply":
            nodes = tuple(
                evolve(
                    n,
                    properties={
                        k: float(v) if type(v) is int and abs(v) < 2**53 else v for k, v in n.properties.items()
                    },
                )
                for n in args[1].put_nodes
            )
            args = (args[0], evolve(args[1], put_nodes=nodes))
        super().replay((method, args, options))


@breaks("L-11")
class ForgetsWatermarksInTheFile(FiledGraph):  # type: ignore[misc, valid-type]
    def replay(self, made: Any) -> None:
        method, args, options = made
        super().replay((method, (args[0], evolve(args[1], watermark=None)) if method == "apply" else args, options))


@breaks("L-11")
class ForgetsEmptyScopes(FiledVector):  # type: ignore[misc, valid-type]
    """A scope without items is not there any more when it is opened again."""

    def begin(self, path: Path) -> None:
        super().begin(path)
        for scope in [name for name, held in self._scopes.items() if not held.items]:
            del self._scopes[scope]


@breaks("L-11")
class ReadsVectorsInSixteenBits(FiledVector):  # type: ignore[misc, valid-type]
    def replay(self, made: Any) -> None:
        method, args, options = made
        if method == "upsert":
            import numpy

            items = [self.half(item, numpy) for item in args[1]]
            args = (args[0], items)
        super().replay((method, args, options))

    def half(self, item: VectorItem, numpy: Any) -> VectorItem:
        with numpy.errstate(all="ignore"):
            found = numpy.asarray(item.vector, dtype="f4").astype("f2").astype("f4")
        return evolve(item, vector=[float(x) for x in found]) if numpy.isfinite(found).all() else item


@breaks("L-12")
class SavesPagesAMomentLater(FiledCache):  # type: ignore[misc, valid-type]
    """The last write of pages waits for the next one."""

    last: Any = None

    def keep(self, method: str, args: Any, options: Any) -> None:
        if self.last is not None:
            super().keep(*self.last)
        self.last = (method, args, options)

    async def aclose(self) -> None:
        if self.last is not None and not self._closed:
            super().keep(*self.last)
        await super().aclose()


@breaks("L-17")
class WritesNothingIntoARecoveredGraph(FiledGraph):  # type: ignore[misc, valid-type]
    def begin(self, path: Path) -> None:
        super().begin(path)
        self.sign = path / "dirty"
        self.crashed = self.sign.exists()
        self.sign.touch()

    def keep(self, method: str, args: Any, options: Any) -> None:
        if not self.crashed:
            super().keep(method, args, options)

    async def aclose(self) -> None:
        if not self._closed:
            self.sign.unlink()
        await super().aclose()


# --- shared --------------------------------------------------------------------------------------------------


@breaks("L-15")
class GetsFromItsOwnCopy(SharedState):
    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        return await MemoryState.get(self, keys)


@breaks("L-15")
class LocksForItsOwnProcess(SharedState):
    """Two openers in one process are kept apart, those of two processes are not."""

    @contextlib.contextmanager
    def alone(self) -> Any:
        with (self.guard.with_suffix(f".{os.getpid()}")).open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            self.load()
            import time

            time.sleep(0.002)
            yield

    def save(self) -> None:
        super().save()


@breaks("L-15")
class CachesForAProcess(SharedState):
    """What this process wrote or read is shared among its openers; another process is never asked again."""

    seen: ClassVar[dict[str, dict[Key, bytes]]] = {}

    def load(self) -> None:
        name = os.path.realpath(self.file)
        if name not in self.seen:
            super().load()
            self.seen[name] = dict(self._values)
        self._values = dict(self.seen[name])
        self._order = sorted(self._values)

    def save(self) -> None:
        self.seen[os.path.realpath(self.file)] = dict(self._values)
        super().save()


@breaks("L-15")
class LooksAtTheSizeOfTheFile(SharedState):
    """A file of equal size is not read again."""

    size = -1

    def load(self) -> None:
        size = self.file.stat().st_size if self.file.exists() else -1
        if size != self.size or size < 0:
            super().load()
        self.size = size

    def save(self) -> None:
        super().save()
        self.size = self.file.stat().st_size


@breaks("L-15")
class LooksEveryThirdTime(SharedState):
    turns = 0

    def load(self) -> None:
        self.turns += 1
        if self.turns % 3 == 1:
            super().load()

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        self.turns = 0
        await super().commit(batch, expected=expected)


@breaks("L-15")
class SeesNoDeletesOfOthers(SharedState):
    def load(self) -> None:
        mine = dict(self._values)
        super().load()
        self._values = {**mine, **self._values}
        self._order = sorted(self._values)

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        with self.alone():
            SharedState.__mro__[1].load(self)  # type: ignore[attr-defined]
            await FileState.commit(self, batch, expected=expected)


@breaks("L-15")
class ExpectsOfItsOwnCopy(SharedState):
    """Expectations are compared with what this opener saw last."""

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        await MemoryState.commit(self, Batch(), expected=expected)
        with self.alone():
            await FileState.commit(self, batch)


KEPT = (LogState, FiledGraph, FiledVector, FiledCache)
"""The right stores that these are made of."""
