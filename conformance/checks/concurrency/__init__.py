"""Checks of concurrent calls, cancelled calls and a responsive event loop."""

from __future__ import annotations

from conformance.checks.concurrency import moments, the_loop, together, under_way

__all__ = ["moments", "the_loop", "together", "under_way"]
