"""The store protocols: small, asynchronous, without any rule of the product in them."""

from __future__ import annotations

from saga_core.stores.curator import CurationView, Curator, Proposal
from saga_core.stores.graph import Edge, EdgeKey, GraphStore, Mutation, Node
from saga_core.stores.lifecycle import Health, Limits, Store, StoreInfo
from saga_core.stores.md_cache import PAGE_NAMES, MdCache, Pages
from saga_core.stores.state_kv import Batch, Key, StateKV
from saga_core.stores.vector import Hit, ScopeSpec, VectorItem, VectorStore

__all__ = [
    "PAGE_NAMES",
    "Batch",
    "CurationView",
    "Curator",
    "Edge",
    "EdgeKey",
    "GraphStore",
    "Health",
    "Hit",
    "Key",
    "Limits",
    "MdCache",
    "Mutation",
    "Node",
    "Pages",
    "Proposal",
    "ScopeSpec",
    "StateKV",
    "Store",
    "StoreInfo",
    "VectorItem",
    "VectorStore",
]
