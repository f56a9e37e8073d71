"""Which server writes a session, where several share a journal: leases, and the fence in each commit."""

from __future__ import annotations

from saga_core.ownership.leases import Leases
from saga_core.ownership.owned_state import OwnedState

__all__ = ["Leases", "OwnedState"]
