"""What an engine kept of what was written to it, as it shows after it was opened again."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from saga_core.capabilities import Capability
from saga_core.config import Config
from saga_core.storage import backend_of

if TYPE_CHECKING:
    from saga_core import Saga

_STORES = {"journal": "state", "view": "state", "graph": "graph", "vectors": "vector", "pages": "cache"}
"""The kinds of the stores by the names that findings give them."""


def keeps(saga: Saga, name: str) -> bool:
    """Whether the store of a finding says that it keeps what is written to it."""
    store = getattr(saga.stores, _STORES[name])
    return store is not None and Capability.DURABLE in store.info.capabilities


def lost_by(config: Config, names: Collection[str]) -> list[str]:
    """Tell of the stores that show, opened again, something else than what was just written to them."""
    return [
        f"storage.{kind}: the backend {backend_of(config, kind)} did not keep what was just written to it; "
        f"`saga conformance` tells what is wrong with it. Set another backend, then give `saga rebuild` again"
        for name, kind in _STORES.items()
        if name in names and name not in ("journal", "view")
    ]
