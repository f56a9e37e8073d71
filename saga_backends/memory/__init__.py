"""The reference implementation of every store protocol, in memory. It is also used by tests.

Nothing outlives the process. Each store implements its contract literally, with dicts and sorted lists. If another
backend behaves differently, the other one is wrong.
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
