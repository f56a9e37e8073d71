"""Stores for several processes, alone in the right way: what shows is another process, or one that stood still."""

from __future__ import annotations

import asyncio
import fcntl
import os
import pickle
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import evolve

from saga_backends.memory import MemoryCache, MemoryGraph, MemoryState, MemoryVector
from saga_core.capabilities import Capability
from saga_core.errors import LeaseLost, StoreUnavailable
from saga_core.stores import Batch, Fence, FenceOf, Health, Key
from tests.mutants.stores_durable import FileState, SharedState
from tests.mutants.stores_registry import breaks

Expected = Mapping[Key, bytes | None] | None


# --- journals ------------------------------------------------------------------------------------------------


@breaks("L-25")
class ExpectsBeforeItLocks(SharedState):
    """Reads and compares in one go, and writes in another."""

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        with self.alone():
            await MemoryState.commit(self, Batch(), expected=expected)
        await super().commit(batch)


@breaks("L-25")
class TheLastWriterWins(SharedState):
    """Reads, compares, and puts a whole new file there."""

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        self.load()
        await FileState.commit(self, batch, expected=expected)


@breaks("L-25")
class LocksForAMoment(SharedState):
    """A lock that is taken for held by nobody when it is two milliseconds old, as one with an expiry is."""

    @contextmanager
    def alone(self) -> Iterator[None]:
        with self.guard.open("w") as file:
            for _ in range(2):
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    os.sched_yield()
            self.load()
            yield


# --- views ---------------------------------------------------------------------------------------------------


class Together:
    """References: all of it in one file, under the lock of the journal beside it, whose rows are looked at in there."""

    journal = SharedState
    fence_of: FenceOf | None = None
    _info: Any
    _scopes: Any

    def __init__(self) -> None:
        super().__init__()
        self._info = evolve(self._info, capabilities=frozenset({Capability.DURABLE, Capability.SHARED}))

    def begin(self, path: Path) -> None:
        self.file = path / f"{self._info.kind}.view"
        self.rows, self.guard = path / "state.pickle", path / "guard"
        self._info = evolve(self._info, location=str(self.file), identity=str(path.resolve()))

    def fence(self, fence_of: FenceOf) -> None:
        self.fence_of = fence_of

    @contextmanager
    def alone(self) -> Iterator[None]:
        with self.guard.open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            self.load()
            yield

    def load(self) -> None:
        self._scopes = pickle.loads(self.file.read_bytes()) if self.file.exists() else {}

    def holds(self, fence: Fence) -> bool:
        rows = pickle.loads(self.rows.read_bytes()) if self.rows.exists() else {}
        return bool(rows.get(fence.key) == fence.value)

    async def written(self, call: Any, fence: Fence | None) -> Any:
        with self.alone():
            if fence is not None and not self.holds(fence):
                raise LeaseLost("another process has taken over")
            found = await call()
            self.save()
            return found

    def save(self) -> None:
        fresh = self.file.with_suffix(f".{os.getpid()}")
        try:
            with fresh.open("wb") as file:
                file.write(pickle.dumps(self._scopes))
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(self.file)
        except OSError as error:
            raise StoreUnavailable(f"{self.file}: {error.strerror}") from error

    async def check(self, *, thorough: bool = False) -> Health:
        size = self.file.stat().st_size if self.file.exists() else 1
        return evolve(await super().check(), bytes=size)  # type: ignore[misc]


def together(kind: type[Any], reads: str, writes: str) -> type[Any]:
    """A view store of this kind for several processes."""
    made: Any = type(f"Together{kind.__name__.removeprefix('Memory')}", (Together, kind), {"__module__": __name__})

    def reading(method: str) -> Any:
        async def call(self: Any, *args: Any, **options: Any) -> Any:
            with self.alone():
                return await getattr(super(made, self), method)(*args, **options)

        return call

    def writing(method: str) -> Any:
        async def call(self: Any, scope: str, *args: Any, **options: Any) -> Any:
            fence = await self.fence_of(scope) if self.fence_of is not None else None
            plain = getattr(super(made, self), method)
            return await self.written(lambda: plain(scope, *args, **options), fence)

        return call

    for method in reads.split():
        setattr(made, method, reading(method))
    for method in writes.split():
        setattr(made, method, writing(method))
    return made  # type: ignore[no-any-return]


TogetherGraph = together(MemoryGraph, "get neighbors scan watermark scopes", "apply drop")
TogetherVector = together(MemoryVector, "describe get scan query count scopes", "create upsert delete drop")
TogetherCache = together(MemoryCache, "read scopes", "write drop")
KEPT = (TogetherGraph, TogetherVector, TogetherCache)
"""The right stores that these are made of."""


class TakesNoFence:
    """It is told of a fence and does not look at it."""

    def holds(self, fence: Fence) -> bool:
        return True


class LooksBefore:
    """Looks at the fence first, and writes afterwards. The time between is most of a write, so that it stops there."""

    GAP = 0.02

    async def written(self: Any, call: Any, fence: Fence | None) -> Any:
        with self.alone():
            if fence is not None and not self.holds(fence):
                raise LeaseLost("another process has taken over")
        if fence is not None:
            await asyncio.sleep(self.GAP)
        return await super().written(call, None)  # type: ignore[misc]


class LooksWhetherThereIsARow:
    """Whoever has the lease: there is one."""

    def holds(self: Any, fence: Fence) -> bool:
        rows = pickle.loads(self.rows.read_bytes()) if self.rows.exists() else {}
        return fence.key in rows


class LooksOnce:
    """Once the fence held, it is taken to hold."""

    held = False

    def holds(self, fence: Fence) -> bool:
        self.held = self.held or super().holds(fence)  # type: ignore[misc]
        return self.held


class WritesFromItsOwnCopy:
    """Replaces the file with what it read before it had the lock, and with its own write in it."""

    async def written(self: Any, call: Any, fence: Fence | None) -> Any:
        if fence is not None and not self.holds(fence):
            raise LeaseLost("another process has taken over")
        self.load()
        found = await call()
        await asyncio.sleep(0)
        self.save()
        return found


for _fault in (TakesNoFence, LooksBefore, LooksWhetherThereIsARow, LooksOnce, WritesFromItsOwnCopy):
    for _kind in KEPT:
        _title = f"{_fault.__name__}{_kind.__name__}"
        # By its name in this module, other processes find it.
        globals()[_title] = breaks("L-25")(type(_title, (_fault, _kind), {"__module__": __name__}))
