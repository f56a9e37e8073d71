"""Engines that say that they keep what they are given, and lose it when they are closed: their driver never commits."""

from __future__ import annotations

from typing import Any

from attrs import evolve

from saga_backends.memory import MemoryCache, MemoryGraph, MemoryState, MemoryVector
from saga_core.capabilities import Capability
from saga_core.registry import OpenOptions


def _losing(store: Any, options: OpenOptions) -> Any:
    assert options.path is not None
    capabilities = store.info.capabilities | {Capability.DURABLE}
    store._info = evolve(store.info, name="losing", capabilities=capabilities, location=str(options.path))
    return store


async def state(options: OpenOptions) -> MemoryState:
    """A journal."""
    store: MemoryState = _losing(MemoryState(), options)
    return store


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
