"""The strategy of each kind of store."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.strategies.cache import CACHE
from conformance.strategies.call_strategy import CallStrategy
from conformance.strategies.graph import GRAPH
from conformance.strategies.state import STATE
from conformance.strategies.vector import VECTOR

STRATEGIES: Mapping[str, CallStrategy] = {"state": STATE, "graph": GRAPH, "vector": VECTOR, "cache": CACHE}
