"""Optional abilities of stores. Declared ones are tested; operations that need an undeclared one are refused."""

from __future__ import annotations

from enum import StrEnum


class Capability(StrEnum):
    """An optional ability. Operations that need an undeclared one raise ``NotSupported`` and change nothing."""

    DURABLE = "durable"
    """Acknowledged writes survive the end of the process, even if it is killed."""

    RESIDENT = "resident"
    """Reads are answered from memory in well under a millisecond, so a resident layer would add nothing."""

    SHARED = "shared"
    """Several processes may open the same data at once."""

    NATIVE_EXPAND = "native_expand"
    """GraphStore: ``expand`` walks several hops inside the engine, with the same result as the core's own walk."""

    RAW_QUERY = "raw_query"
    """GraphStore: ``query`` accepts the engine's own query language."""

    APPROXIMATE = "approximate"
    """VectorStore: ``query`` may miss some of the nearest vectors. Without this capability the answer is exact."""

    REMEMBERS = "remembers"
    """Curator: keeps data about each session outside the process. ``forget`` removes it."""

    COMPACTS = "compacts"
    """``compact`` rewrites the files, so that they contain no bytes of deleted data."""
