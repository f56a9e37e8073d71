"""Calls of a store as data, and what a store says and holds."""

from __future__ import annotations

from conformance.calls.answering import answer
from conformance.calls.snapshots import snapshot
from conformance.calls.store_call import Call, call

__all__ = ["Call", "answer", "call", "snapshot"]
