"""Optional abilities of stores. A declared capability is tested; an operation without its capability is refused."""

from __future__ import annotations

from enum import StrEnum


class Capability(StrEnum):
    """Optional abilities. An operation behind an undeclared one raises ``NotSupported`` and changes nothing."""

    DURABLE = "durable"
    """What was acknowledged survives the end of the process, a kill included."""

    RESIDENT = "resident"
    """Reads are answered from memory in well under a millisecond; a resident layer would add nothing."""

    SHARED = "shared"
    """Several processes may open the same data at once."""

    NATIVE_EXPAND = "native_expand"
    """GraphStore: ``expand`` walks several hops inside the engine and equals the core's own walk."""

    RAW_QUERY = "raw_query"
    """GraphStore: ``query`` reads with the engine's own language."""

    APPROXIMATE = "approximate"
    """VectorStore: ``query`` may miss some of the nearest; without it the answer is exact."""

    REMEMBERS = "remembers"
    """Curator: keeps something of each session outside the process; ``forget`` removes it."""

    COMPACTS = "compacts"
    """``compact`` rewrites the files, so that no byte of what was deleted is left in them."""
