"""Second processes, which open a store, make the calls of an ``Order``, and then end or are killed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from saga_core.lazy_face import lazy_face

if TYPE_CHECKING:
    from conformance.processes.spawning import child, read_elsewhere, watched

__all__ = ["child", "read_elsewhere", "watched"]

# Each name is imported on first use, because the second process itself, of which a run starts many, needs none.
__getattr__ = lazy_face(
    {
        "child": "conformance.processes.spawning:child",
        "read_elsewhere": "conformance.processes.spawning:read_elsewhere",
        "watched": "conformance.processes.spawning:watched",
    }
)
