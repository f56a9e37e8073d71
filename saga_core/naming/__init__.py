"""Naming: from a written name to the entity that it means."""

from __future__ import annotations

from saga_core.naming.names import Names

__all__ = [
    "Names",
]
