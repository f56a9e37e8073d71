"""Stores whose life is wrong: what every kind owes."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve

from saga_backends.memory import MemoryCache, MemoryCurator, MemoryGraph, MemoryState, MemoryVector
from saga_core.capabilities import Capability
from saga_core.errors import Closed
from saga_core.stores.graph import Mutation, Node
from saga_core.stores.lifecycle import Health, Limits, StoreInfo
from saga_core.stores.md_cache import Pages
from saga_core.stores.state_kv import Batch, Key
from saga_core.stores.vector import VectorItem
from tests.mutants.stores_registry import breaks

Expected = Mapping[Key, bytes | None] | None


@breaks("L-1")
class SaysSomethingElse(MemoryState):
    calls = 0

    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        self.calls += 1
        self._info = evolve(self._info, version=str(self.calls))
        return await super().get(keys)


@breaks("L-1")
class HasNoName(MemoryCurator):
    @property
    def info(self) -> StoreInfo:
        return evolve(super().info, name="")


@breaks("L-2", Capability.RESIDENT)
class ClaimsTooMuch(MemoryGraph):
    @property
    def info(self) -> StoreInfo:
        return evolve(super().info, capabilities=frozenset({Capability.RESIDENT, Capability.NATIVE_EXPAND}))


@breaks("L-2", Capability.RESIDENT, Capability.NATIVE_EXPAND)
class ClaimsTooLittle(MemoryGraph):
    pass


@breaks("L-2")
class HasOtherLimits(MemoryVector):
    def __init__(self) -> None:
        super().__init__(Limits(batch=5_000))


@breaks("L-3")
class IsNeverWell(MemoryCache):
    async def check(self, *, thorough: bool = False) -> Health:
        return evolve(await super().check(), ok=not thorough)


@breaks("L-3")
class ChecksByWriting(MemoryState):
    async def check(self, *, thorough: bool = False) -> Health:
        await self.commit(Batch({("probe",): b""}))
        return await super().check()


@breaks("L-4")
class EndsOnlyOnce(MemoryGraph):
    async def aclose(self) -> None:
        self._alive()
        await super().aclose()


@breaks("L-5")
class AnswersAfterItsEnd(MemoryState):
    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        return {} if self._closed else await super().get(keys)


@breaks("L-5")
class LooksAtArgumentsFirst(MemoryState):
    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> list[tuple[Key, bytes]]:
        return [] if limit == 0 else await super().scan(prefix, after=after, limit=limit)


@breaks("L-5")
class LocatesAfterItsEnd(MemoryCache):
    def locate(self, scope: str) -> str | None:
        return None if self._closed else super().locate(scope)


@breaks("L-5")
class ReviewsAfterItsEnd(MemoryCurator):
    async def review(self, view: Any) -> tuple[Any, ...]:
        return self._proposals


@breaks("L-6")
class BreaksOffAtItsEnd(MemoryState):
    """What waits when the end comes fails with something else."""

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        self._alive()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        if self._closed:
            raise TimeoutError("the queue was thrown away")
        await super().commit(batch, expected=expected)


@breaks("L-7")
class LetsKeyErrorsOut(MemoryState):
    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        return await super().get([key for key in keys if hash(key) is not None])


@breaks("L-7")
class LetsAttributeErrorsOut(MemoryVector):
    async def upsert(self, scope: str, items: Sequence[VectorItem]) -> None:
        self._alive()
        for item in items:
            item.text.encode()
        await super().upsert(scope, items)


STALL = 0.2


@breaks("L-8")
class BlocksTheLoop(MemoryState):
    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        time.sleep(STALL)  # noqa: ASYNC251 - the fault itself
        await super().commit(batch, expected=expected)


@breaks("L-8")
class BlocksTheLoopToCheck(MemoryGraph):
    async def check(self, *, thorough: bool = False) -> Health:
        time.sleep(STALL)  # noqa: ASYNC251 - the fault itself
        return await super().check()


@breaks("L-9")
class SwallowsACancel(MemoryState):
    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.sleep(0)
        await super().commit(batch, expected=expected)


@breaks("L-9")
class IsTornByACancel(MemoryGraph):
    async def apply(self, scope: str, mutation: Mutation) -> None:
        for node in mutation.put_nodes:
            await super().apply(scope, Mutation((node,)))
            await asyncio.sleep(0)
        await super().apply(scope, mutation)


@breaks("L-9")
class IsStuckAfterACancel(MemoryState):
    """A lock that nobody gives back."""

    busy = False

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        self._alive()
        if self.busy:
            raise Closed("somebody else writes")
        self.busy = True
        await asyncio.sleep(0)
        await super().commit(batch, expected=expected)
        self.busy = False


@breaks("L-9")
class LosesTheWriteAfterACancel(MemoryState):
    """After a large write was cancelled, the next large one is acknowledged and not made."""

    broken = False

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        if len(batch.puts) < 100:
            await super().commit(batch, expected=expected)
            return
        lost, self.broken = self.broken, True
        for _ in range(0 if lost else 9):
            await asyncio.sleep(0)
        await super().commit(Batch() if lost else batch, expected=expected)
        self.broken = False


@breaks("L-10")
class LosesAWriteBesideAnother(MemoryState):
    """Reads all, waits, writes all."""

    async def commit(self, batch: Batch, *, expected: Expected = None) -> None:
        mine = MemoryState()
        mine._values, mine._order = dict(self._values), list(self._order)
        self._alive()
        await mine.commit(batch, expected=expected)
        await asyncio.sleep(0)
        self._values, self._order = mine._values, mine._order


@breaks("L-10")
class ReadsAnOldMoment(MemoryGraph):
    """Reads go to a copy that lags a call behind."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[str, dict[str, Node]] = {}

    async def get(self, scope: str, ids: Sequence[str]) -> dict[str, Node]:
        found = await super().get(scope, ids)
        old = self.seen.setdefault(scope, dict(self._scope(scope).nodes))
        self.seen[scope] = dict(self._scope(scope).nodes)
        return {name: old[name] for name in ids if name in old} if old else found


@breaks("L-10")
class MixesTwoWriters(MemoryCache):
    async def write(self, scope: str, pages: Pages) -> None:
        before = await super().read(scope)
        await asyncio.sleep(0)
        now = await super().read(scope)
        if now != before and now is not None:
            pages = evolve(pages, files={**pages.files, "lore.md": now.files["lore.md"]})
        await super().write(scope, pages)
