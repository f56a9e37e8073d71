"""Right stores that are unlike ours pass: small limits, latency, refusals that pass, a curator that proposes."""

from __future__ import annotations

import asyncio
import inspect
from array import array
from copy import copy
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve, fields, has

from conformance import Capability, Harness, Verdict, run
from saga_backends.memory import MemoryCache, MemoryCurator, MemoryGraph, MemoryState, MemoryVector
from saga_core.errors import StoreUnavailable
from saga_core.stores import MINIMUM
from saga_core.values import Proposal

KINDS: dict[str, type[Any]] = {
    "state": MemoryState,
    "graph": MemoryGraph,
    "vector": MemoryVector,
    "cache": MemoryCache,
}


def own(value: Any) -> Any:
    """``value`` with copies of whatever its caller may change."""
    if type(value) in (list, tuple):
        return type(value)(own(part) for part in value)
    if type(value) is dict:
        return {key: own(part) for key, part in value.items()}
    if type(value).__module__.startswith("saga_core.stores") and has(type(value)):
        return evolve(value, **{part.name: own(getattr(value, part.name)) for part in fields(type(value))})
    return copy(value) if isinstance(value, array | bytearray) else value


class Distant:
    """A service: each call takes a moment, and every so many are refused once before anything has happened."""

    def __init__(self, inner: Any, refuses: int = 0) -> None:
        self._inner = inner
        self._refuses = refuses
        self._calls = 0

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if not inspect.iscoroutinefunction(found) or name == "aclose":
            return found

        async def call(*args: Any, **options: Any) -> Any:
            self._calls += 1
            if self._refuses and self._calls % self._refuses == 0 and not self._inner._closed:
                self._calls += 1
                raise StoreUnavailable("429: slow down")
            kept = {option: copy(value) for option, value in options.items()}  # filters are too deep for more
            done = asyncio.ensure_future(found(*own(args), **kept))
            try:
                await asyncio.sleep(0)
            finally:
                await asyncio.gather(done, return_exceptions=True)
            return done.result()

        return call


async def small(kind: str, path: Path) -> Any:
    return KINDS[kind](MINIMUM[kind])


async def distant(kind: str, refuses: int, path: Path) -> Any:
    return Distant(KINDS[kind](), refuses)


async def proposing(path: Path) -> MemoryCurator:
    return MemoryCurator([Proposal("remember", "아리아는 숲을 싫어한다", data={"record": "fact", "text": "숲이 싫다"})])


FAIR = (
    *(Harness(f"small-{kind}", kind, partial(small, kind), {Capability.RESIDENT}, MINIMUM[kind]) for kind in KINDS),
    *(Harness(f"distant-{kind}", kind, partial(distant, kind, 0), {Capability.RESIDENT}) for kind in KINDS),
    *(Harness(f"refusing-{kind}", kind, partial(distant, kind, 7), {Capability.RESIDENT}, retries=5) for kind in KINDS),
    Harness("proposing", "curator", proposing, {Capability.RESIDENT}),
)


QUICK = ("small", "proposing")


@pytest.mark.parametrize(
    "fair",
    [pytest.param(fair, marks=() if fair.name.startswith(QUICK) else pytest.mark.deep, id=fair.name) for fair in FAIR],
)
def test_a_right_store_passes(fair: Harness) -> None:
    report = run(fair, profile="quick", seed=1)
    assert report.verdict is Verdict.CONFORMANT, [o.detail for o in report.outcomes if str(o.status) == "fail"]
