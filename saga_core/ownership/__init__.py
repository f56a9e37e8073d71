"""Ownership of sessions by servers that share a journal: leases, and the fence in each commit."""

from __future__ import annotations

from saga_core.ownership.leases import LOOK_CLOSELY, Leases
from saga_core.ownership.owned_state import OwnedState
from saga_core.ownership.siblings import Siblings
from saga_core.ownership.view_fence import fence_of_views

__all__ = ["LOOK_CLOSELY", "Leases", "OwnedState", "Siblings", "fence_of_views"]
