"""Every store protocol in memory, plain and exact: the reference implementation, also used by tests.

Nothing outlives the process. Each store is the contract spelled out in dicts and sorted lists, without shortcuts. If
another backend differs from this one, this one is meant to be right.
"""

from __future__ import annotations

from saga_backends.memory.cache import CACHE, MemoryCache
from saga_backends.memory.curator import CURATOR, MemoryCurator
from saga_backends.memory.graph import GRAPH, MemoryGraph
from saga_backends.memory.state import STATE, MemoryState
from saga_backends.memory.vector import VECTOR, MemoryVector

__all__ = [
    "CACHE",
    "CURATOR",
    "GRAPH",
    "STATE",
    "VECTOR",
    "MemoryCache",
    "MemoryCurator",
    "MemoryGraph",
    "MemoryState",
    "MemoryVector",
]
