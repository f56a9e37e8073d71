"""Long random runs that compare a store with an oracle. Importing this registers a search for each kind of store."""

from __future__ import annotations

from conformance.machines import store_machine

__all__ = ["store_machine"]
