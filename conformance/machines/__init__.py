"""Long random lives of a store beside an oracle; importing this registers a search for each kind."""

from __future__ import annotations

from conformance.machines import life

__all__ = ["life"]
