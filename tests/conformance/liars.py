"""Harnesses that lie to the suite. Each is loaded in a process of its own by ``test_lies``."""

from __future__ import annotations

import asyncio
import atexit
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from attrs import evolve

from conformance import Capability, Harness
from saga_backends.memory import MemoryGraph, MemoryState, MemoryVector
from saga_core.errors import StoreError
from saga_core.stores import Batch, Filter, Hit, Key, Vector
from tests.conformance.forgetful import Forgetful, forgetful

LIE = os.environ.get("SAGA_LIE", "")

if LIE == "passes everything":
    import conformance.isolated
    import conformance.runner
    from conformance.report import Outcome, Status

    def _passes(harness: Any, check: Any, **options: Any) -> Outcome:
        return Outcome(check.id, check.clauses, Status.PASS, extended=check.extended, must=check.must)

    conformance.runner.run_check = _passes
    conformance.isolated.repeated = _passes

if LIE == "ends well":
    atexit.register(os._exit, 0)

if LIE == "compares nothing":
    import conformance.assertions

    conformance.assertions.require = lambda *args, **options: None
    conformance.assertions.typed = lambda value: None


class LeavesBeforeItIsJudged(Forgetful):
    """Ends the process with a code that says that all is well."""

    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> list[tuple[Key, bytes]]:
        os._exit(0)


class FindsNothingOfMany(MemoryVector):
    """Approximate, and from a hundred items on it finds nothing."""

    def __init__(self) -> None:
        super().__init__()
        self._info = evolve(self._info, capabilities=frozenset({Capability.RESIDENT, Capability.APPROXIMATE}))

    async def query(self, scopes: Sequence[str], vector: Vector, k: int, *, where: Filter | None = None) -> list[Hit]:
        found = await super().query(scopes, vector, k, where=where)
        return [] if sum(len(self._items(scope)) for scope in scopes) >= 100 else found


class AsksWhoRunsIt(MemoryGraph):
    """Right while the environment says that it is tested."""

    async def watermark(self, scope: str) -> str | None:
        found = await super().watermark(scope)
        tested = any(name.startswith("PYTEST") or "CONFORMANCE" in name for name in os.environ)
        return found if tested else None


class LosesOneOfAThousand(MemoryState):
    """One write in a thousand is lost, at random."""

    dice = Random(0)

    async def commit(self, batch: Batch, *, expected: Mapping[Key, bytes | None] | None = None) -> None:
        lost = bool(batch.puts) and self.dice.randrange(1_000) == 0
        await super().commit(Batch() if lost else batch, expected=expected)


class Blocks(MemoryState):
    """Its first write never ends and blocks the event loop."""

    async def commit(self, batch: Batch, *, expected: Mapping[Key, bytes | None] | None = None) -> None:
        time.sleep(3_600)  # noqa: ASYNC251 - the fault itself


async def blocks(path: Path) -> Any:
    return Blocks()


async def open_blocks(path: Path) -> Any:
    time.sleep(3_600)  # noqa: ASYNC251 - what blocks when it is opened


async def open_raises(path: Path) -> Any:
    raise StoreError(f"no engine at {path}")


class Quits(MemoryState):
    """Its commit ends the process, as it thinks."""

    async def commit(self, batch: Batch, *, expected: Mapping[Key, bytes | None] | None = None) -> None:
        sys.exit("no licence")


class TaskQuits(MemoryState):
    """The same in a task of its own."""

    async def commit(self, batch: Batch, *, expected: Mapping[Key, bytes | None] | None = None) -> None:
        await asyncio.create_task(Quits().commit(batch))


async def quits(path: Path) -> Any:
    return Quits()


async def task_quits(path: Path) -> Any:
    return TaskQuits()


async def leaves(path: Path) -> Any:
    return LeavesBeforeItIsJudged()


async def finds_nothing(path: Path) -> Any:
    return FindsNothingOfMany()


async def asks(path: Path) -> Any:
    return AsksWhoRunsIt()


async def loses(path: Path) -> Any:
    return LosesOneOfAThousand()


RESIDENT = {Capability.RESIDENT}
_WHY = dict.fromkeys(("S-1", "S-3", "S-5", "S-6", "S-8", "S-9", "S-10", "S-12", "S-13"), "the engine cannot do it")

FORGETFUL = Harness("liar", "state", forgetful, RESIDENT)
LEAVES = Harness("leaves", "state", leaves, RESIDENT)
NO_RECALL = Harness("no-recall", "vector", finds_nothing, RESIDENT | {Capability.APPROXIMATE}, recall=0.0)
ASKS = Harness("asks", "graph", asks, RESIDENT)
BLOCKS = Harness("blocks", "state", blocks, RESIDENT)
OPEN_BLOCKS = Harness("open_blocks", "state", open_blocks, RESIDENT)
OPEN_RAISES = Harness("open_raises", "state", open_raises, RESIDENT)
QUITS = Harness("quits", "state", quits, RESIDENT)
TASK_QUITS = Harness("task_quits", "state", task_quits, RESIDENT)
LOSES = Harness("loses", "state", loses, RESIDENT)
DEVIATES = Harness("deviates", "state", forgetful, RESIDENT, deviations={"S-1": _WHY["S-1"]})
