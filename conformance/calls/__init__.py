"""Calls of a store as data, their results, and snapshots of a store's contents."""

from __future__ import annotations

from conformance.calls.answering import answer
from conformance.calls.snapshots import snapshot
from conformance.calls.store_call import Call, call

__all__ = ["Call", "answer", "call", "snapshot"]
