"""Whatever SAGA leans on, made breakable while it runs: slow, failing before or after, hanging."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import pytest
from attrs import define, evolve, field

from saga_core.errors import StoreUnavailable
from saga_core.storage import opening as open_stores

Mode = Literal["well", "slow", "before", "after", "hang"]
MODES: tuple[Mode, ...] = ("slow", "before", "after", "hang")
KINDS = ("state", "graph", "vector", "cache", "embedder")
_SPARED = frozenset({"aclose", "check"})
_TURNS_OF_THE_LOOP = 50


@define(eq=False)
class Breakable:
    """Stands before a store or an embedder. ``slow`` and ``hang`` end when it is well again, ``hang`` in an error."""

    inner: Any
    mode: Mode = "well"
    methods: frozenset[str] | None = None
    """The calls that break; None: all."""
    struck: int = 0
    _well: asyncio.Event = field(factory=asyncio.Event)

    def breaks(self, mode: Mode, *methods: str) -> None:
        """From now on."""
        self.mode, self.methods = mode, frozenset(methods) or None
        self._well = asyncio.Event()

    def recovers(self) -> None:
        """It is well again."""
        self.mode = "well"
        self._well.set()

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.inner, name)
        if not inspect.iscoroutinefunction(found) or name in _SPARED:
            return found

        async def call(*args: Any, **options: Any) -> Any:
            mode = self.mode if self.methods is None or name in self.methods else "well"
            if mode == "well":
                return await found(*args, **options)
            self.struck += 1
            if mode == "slow":
                # Slower than any deadline that is waited with; a store that must be waited for is only late.
                for _ in range(_TURNS_OF_THE_LOOP):
                    await asyncio.sleep(0)
                return await found(*args, **options)
            if mode == "after":
                await found(*args, **options)
            if mode == "hang":
                await self._well.wait()
            raise StoreUnavailable(f"{name}: broken on purpose")

        return call


@contextmanager
def breakable(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Breakable]]:
    """By kind what is opened meanwhile, made breakable."""
    found: dict[str, Breakable] = {}
    opened, load = open_stores._open_store, open_stores.registry.load

    async def open_store(config: Any, kind: str, counters: Any) -> Any:
        found[kind] = Breakable(await opened(config, kind, counters))
        return found[kind]

    def loaded(kind: str, name: str) -> Any:
        backend = load(kind, name)
        if kind != "embedder":
            return backend

        async def open_embedder(options: Any) -> Any:
            found[kind] = Breakable(await backend.open(options))
            return found[kind]

        return evolve(backend, open=open_embedder)

    with monkeypatch.context() as patch:
        patch.setattr(open_stores, "_open_store", open_store)
        patch.setattr(open_stores.registry, "load", loaded)
        yield found
