"""Concurrency: calls at the same time, calls that are cancelled, and the event loop beside them."""

from __future__ import annotations

from conformance.checks.concurrency import moments, the_loop, together, under_way

__all__ = ["moments", "the_loop", "together", "under_way"]
