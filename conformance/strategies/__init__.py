"""Strategies: random calls of each kind of store, and histories of such calls with the oracle's contents."""

from __future__ import annotations

from conformance.strategies.by_kind import STRATEGIES
from conformance.strategies.graph import EXPAND
from conformance.strategies.histories import planned, states

__all__ = ["EXPAND", "STRATEGIES", "planned", "states"]
