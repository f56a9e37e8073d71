"""Strategies: random calls of each kind of store, and histories of them that an oracle has followed."""

from __future__ import annotations

from conformance.strategies.by_kind import STRATEGIES
from conformance.strategies.graph import EXPAND
from conformance.strategies.histories import planned, states

__all__ = ["EXPAND", "STRATEGIES", "planned", "states"]
