"""Stores that a program opened itself and gives to the engine: whether they are stores, and who closes them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, Literal, Protocol, get_args

from saga_core.errors import BadInput
from saga_core.stores import GraphStore, MdCache, StateKV, StoreInfo, VectorStore

StoreKind = Literal["state", "graph", "vector", "cache"]

_PROTOCOLS: Mapping[StoreKind, type[Any]] = {
    "state": StateKV,
    "graph": GraphStore,
    "vector": VectorStore,
    "cache": MdCache,
}


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
        if kind not in _PROTOCOLS:
            raise BadInput(f"stores: {kind!r} is no kind of store; give some of {', '.join(get_args(StoreKind))}")
        if inspect.isclass(store) or inspect.isroutine(store):
            raise BadInput(
                f"stores[{kind!r}]: {store!r} is no open store; give an instance, or name it in storage.{kind}.backend"
            )
        check_store(f"stores[{kind!r}]", kind, store)  # type: ignore[arg-type]
    return {kind: ExternalStore(store) for kind, store in stores.items()}


def check_store(where: str, kind: StoreKind, store: object) -> None:
    """Raise ``BadInput`` unless ``store`` has the operations of its protocol and says that it is of this kind."""
    lacking = [name for name in _operations(_PROTOCOLS[kind]) if not hasattr(store, name)]
    if lacking:
        raise BadInput(f"{where}: {type(store).__name__} is no {kind} store; it lacks {', '.join(lacking)}")
    info = getattr(store, "info", None)
    if not isinstance(info, StoreInfo):
        raise BadInput(f"{where}: the info of {type(store).__name__} is {info!r}; give a saga_core.stores.StoreInfo")
    if info.kind != kind:
        raise BadInput(f"{where}: {type(store).__name__} says that it is a {info.kind!r} store; give one of {kind!r}")
    protocol = _PROTOCOLS[kind]
    for name in _operations(protocol):
        call = getattr(store, name)
        plain = inspect.isfunction(getattr(call, "__func__", call)) and not inspect.iscoroutinefunction(call)
        if plain and not hasattr(call, "__wrapped__") and inspect.iscoroutinefunction(getattr(protocol, name)):
            raise BadInput(f"{where}: {type(store).__name__}.{name} is not asynchronous; write it with async def")


def _operations(protocol: type[Any]) -> list[str]:
    """The members of a protocol and of those that it extends."""
    parts = [each for each in protocol.__mro__ if each is not Protocol and getattr(each, "_is_protocol", False)]
    return sorted({name for part in parts for name in vars(part) if not name.startswith("_")})
