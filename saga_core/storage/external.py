"""Stores that a program opened itself and gives to the engine: whether they are stores, and who closes them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, Literal, get_args

from saga_core.errors import BadInput
from saga_core.stores import StoreInfo
from saga_core.stores.validate import check_store

StoreKind = Literal["state", "graph", "vector", "cache"]


class ExternalStore:
    """Forwards every operation to a store that the caller of ``Saga.open`` opened, and closes."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.info: StoreInfo = store.info

    async def aclose(self) -> None:
        """Leave the store open."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def external_stores(stores: Mapping[str, object]) -> dict[str, ExternalStore]:
    """Return the ``stores`` of ``Saga.open``, by kind. Raises ``BadInput`` for what is no store of its kind."""
    for kind, store in stores.items():
        if kind not in get_args(StoreKind):
            raise BadInput(f"stores: {kind!r} is no kind of store; give some of {', '.join(get_args(StoreKind))}")
        if inspect.isclass(store) or inspect.isroutine(store):
            raise BadInput(
                f"stores[{kind!r}]: {store!r} is no open store; give an instance, or name it in storage.{kind}.backend"
            )
        check_store(f"stores[{kind!r}]", kind, store)
    return {kind: ExternalStore(store) for kind, store in stores.items()}
