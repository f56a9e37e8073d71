"""Second processes: they open a store, make the calls of an order, and end as they were told, or are killed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from saga_core.lazy_face import lazy_face

if TYPE_CHECKING:
    from conformance.processes.spawning import child, read_elsewhere, watched

__all__ = ["child", "read_elsewhere", "watched"]

# Imported when they are first asked for: the second process itself, of which a run starts many, does without them.
__getattr__ = lazy_face(
    {
        "child": "conformance.processes.spawning:child",
        "read_elsewhere": "conformance.processes.spawning:read_elsewhere",
        "watched": "conformance.processes.spawning:watched",
    }
)
