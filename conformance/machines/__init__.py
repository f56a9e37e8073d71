"""Long random runs of a store beside an oracle; importing this registers a search for each kind."""

from __future__ import annotations

from conformance.machines import store_machine

__all__ = ["store_machine"]
