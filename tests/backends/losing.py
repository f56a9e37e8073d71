"""Engines that say that they keep what they are given, and lose it when they are closed: their driver never commits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import evolve

from saga_backends.memory import MemoryCache, MemoryGraph, MemoryState, MemoryVector
from saga_backends.state_kv import sqlite
from saga_core.capabilities import Capability
from saga_core.registry import OpenOptions
from saga_core.stores import Batch, Key


def _losing(store: Any, options: OpenOptions) -> Any:
    assert options.path is not None
    capabilities = store.info.capabilities | {Capability.DURABLE}
    store._info = evolve(store.info, name="losing", capabilities=capabilities, location=str(options.path))
    return store


async def state(options: OpenOptions) -> MemoryState:
    """A journal."""
    store: MemoryState = _losing(MemoryState(), options)
    return store


class Leaky:
    """A journal in SQLite that leaves out the last entry of each commit of more than five."""

    def __init__(self, store: Any) -> None:
        self._store, self.info = store, store.info

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def commit(self, batch: Batch, *, expected: Mapping[Key, bytes | None] | None = None) -> None:
        """Write most of it."""
        puts = list(batch.puts.items())
        kept = dict(puts[:-1] if len(puts) > 5 else puts)
        await self._store.commit(Batch(kept, batch.deletes), expected=expected)


async def leaky(options: OpenOptions) -> Leaky:
    """A journal that loses entries at once."""
    return Leaky(await sqlite.BACKEND.open(options))


async def graph(options: OpenOptions) -> MemoryGraph:
    """A graph."""
    store: MemoryGraph = _losing(MemoryGraph(), options)
    return store


async def vector(options: OpenOptions) -> MemoryVector:
    """Vectors."""
    store: MemoryVector = _losing(MemoryVector(), options)
    return store


async def cache(options: OpenOptions) -> MemoryCache:
    """Pages."""
    store: MemoryCache = _losing(MemoryCache(), options)
    return store
