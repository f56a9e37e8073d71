"""The store protocols and the values that they take and return: small, asynchronous, and free of product rules.

What engines share besides is in named modules: the checks of arguments and limits in ``validate``, the exact score in
``vector``, and filters as predicates in ``filters``.
"""

from __future__ import annotations

from saga_core.stores.curator import CurationView, Curator, Proposal, Remembering
from saga_core.stores.fenced import Fence, Fenced, FenceOf
from saga_core.stores.filters import And, Compare, Exists, Filter, Not, Or, Within
from saga_core.stores.graph import (
    Direction,
    Edge,
    EdgeKey,
    GraphStore,
    Mutation,
    NativeExpand,
    Node,
    RawQuery,
    Scalar,
    Value,
)
from saga_core.stores.lifecycle import (
    MINIMUM,
    Compacting,
    Health,
    Holding,
    Limits,
    Store,
    StoreInfo,
)
from saga_core.stores.md_cache import MdCache, Pages
from saga_core.stores.state_kv import Batch, Key, StateKV
from saga_core.stores.vector import Hit, ScopeSpec, Vector, VectorItem, VectorStore

__all__ = [
    "MINIMUM",
    "And",
    "Batch",
    "Compacting",
    "Compare",
    "CurationView",
    "Curator",
    "Direction",
    "Edge",
    "EdgeKey",
    "Exists",
    "Fence",
    "FenceOf",
    "Fenced",
    "Filter",
    "GraphStore",
    "Health",
    "Hit",
    "Holding",
    "Key",
    "Limits",
    "MdCache",
    "Mutation",
    "NativeExpand",
    "Node",
    "Not",
    "Or",
    "Pages",
    "Proposal",
    "RawQuery",
    "Remembering",
    "Scalar",
    "ScopeSpec",
    "StateKV",
    "Store",
    "StoreInfo",
    "Value",
    "Vector",
    "VectorItem",
    "VectorStore",
    "Within",
]
