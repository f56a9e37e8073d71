"""Every store protocol in memory, plain and exact: the reference to read, and what tests run on.

Nothing is kept beyond the process. Each store is the contract spelled out in dicts and sorted lists, without a
shortcut; where another backend and this one differ, this one is meant to be right.
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
