"""What all stores of a kind do before they look at their data: they check the arguments, and that they are open.

A store implements the methods with a leading underscore, whose arguments have been checked. They belong to the store:
the caller can no longer change them.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from array import array
from collections.abc import Sequence
from typing import TypeAlias

from attrs import evolve

from saga_backends.scope_graph import sealed_mutation
from saga_core.errors import NotSupported
from saga_core.stores import (
    Direction,
    Edge,
    Filter,
    Hit,
    Mutation,
    Node,
    ScopeSpec,
    StoreInfo,
    Value,
    Vector,
    VectorItem,
)
from saga_core.stores.filters import Predicate, predicate
from saga_core.stores.validate import (
    as_float32,
    check_delete,
    check_expand,
    check_item_scan,
    check_items,
    check_mutation,
    check_names,
    check_neighbors,
    check_node_scan,
    check_query,
    check_scope,
    check_spec,
    check_where,
)

Numbered: TypeAlias = "tuple[VectorItem, array[float]]"
"""An item, and its vector in 32-bit components."""

_MUCH = 400
"""The number of nodes and edges from which a mutation is checked in a thread."""


def wanted(where: Filter | None) -> Predicate | None:
    """Return the predicate of a filter."""
    return None if where is None else predicate(where)


class CheckedStore(ABC):
    """A store with a description and scopes."""

    _info: StoreInfo

    @property
    def info(self) -> StoreInfo:
        """The version of the engine, its capabilities, its limits, and where the data are."""
        return self._info

    async def scopes(self) -> list[str]:
        """Return the existing scopes in order."""
        self._alive()
        return await self._scopes()

    async def compact(self) -> None:
        """See ``Compacting``. Raises ``NotSupported`` if the store does not declare it."""
        self._alive()
        await self._compact()

    async def _compact(self) -> None:
        raise NotSupported(f"{self._info.name}: it cannot compact; see Capability.COMPACTS")

    async def drop(self, scope: str) -> None:
        """Remove the scope with all its contents. An unknown scope is not an error."""
        self._check_scope(scope)
        await self._drop(scope)

    @abstractmethod
    def _alive(self) -> None:
        """Raise ``Closed`` after ``aclose``."""

    @abstractmethod
    async def _scopes(self) -> list[str]: ...

    @abstractmethod
    async def _drop(self, scope: str) -> None: ...

    def _check_scope(self, scope: str) -> None:
        self._alive()
        check_scope(scope, self._info.limits)


class CheckedGraph(CheckedStore):
    """A ``GraphStore``."""

    async def apply(self, scope: str, mutation: Mutation) -> None:
        """See ``GraphStore.apply``."""
        self._check_scope(scope)
        # The argument may be no mutation at all, which ``check_mutation`` reports.
        puts = [getattr(mutation, name, None) for name in ("put_nodes", "put_edges")]
        if sum(len(part) for part in puts if isinstance(part, tuple)) < _MUCH:
            own = self._checked(mutation)
        else:  # a whole graph, as for a new timeline; 2,000 take 15 ms
            own = await asyncio.to_thread(self._checked, mutation)
            self._alive()
        await self._apply(scope, own)

    def _checked(self, mutation: Mutation) -> Mutation:
        check_mutation(mutation, self._info.limits)
        return sealed_mutation(mutation)

    async def get(self, scope: str, ids: Sequence[str]) -> dict[str, Node]:
        """See ``GraphStore.get``."""
        self._check_scope(scope)
        check_names("ids", ids, self._info.limits)
        return await self._get(scope, list(ids))

    async def neighbors(
        self,
        scope: str,
        ids: Sequence[str],
        *,
        types: Sequence[str] | None = None,
        direction: Direction = "both",
        limit: int | None = None,
    ) -> list[Edge]:
        """See ``GraphStore.neighbors``."""
        self._check_scope(scope)
        check_neighbors(ids, types, direction, limit, self._info.limits)
        return await self._neighbors(scope, list(ids), None if types is None else list(types), direction, limit)

    async def scan(
        self, scope: str, *, label: str | None = None, after: str | None = None, limit: int = 1_000
    ) -> list[Node]:
        """See ``GraphStore.scan``."""
        self._check_scope(scope)
        check_node_scan(label, after, limit, self._info.limits)
        return await self._scan(scope, label, after, limit)

    async def watermark(self, scope: str) -> str | None:
        """See ``GraphStore.watermark``."""
        self._check_scope(scope)
        return await self._watermark(scope)

    async def expand(
        self, scope: str, ids: Sequence[str], *, hops: int, types: Sequence[str] | None = None
    ) -> dict[str, int]:
        """See ``NativeExpand.expand``. Raises ``NotSupported`` if the store does not declare it."""
        self._check_scope(scope)
        check_expand(ids, hops, types, self._info.limits)
        return await self._expand(scope, list(ids), hops, None if types is None else list(types))

    async def query(self, text: str, *, timeout: float, limit: int) -> list[dict[str, Value]]:
        """See ``RawQuery.query``. Raises ``NotSupported`` if the store does not declare it."""
        self._alive()
        return await self._query(text, timeout, limit)

    @abstractmethod
    async def _apply(self, scope: str, mutation: Mutation) -> None: ...

    @abstractmethod
    async def _get(self, scope: str, ids: list[str]) -> dict[str, Node]: ...

    @abstractmethod
    async def _neighbors(
        self, scope: str, ids: list[str], types: list[str] | None, direction: Direction, limit: int | None
    ) -> list[Edge]: ...

    @abstractmethod
    async def _scan(self, scope: str, label: str | None, after: str | None, limit: int) -> list[Node]: ...

    @abstractmethod
    async def _watermark(self, scope: str) -> str | None: ...

    async def _expand(self, scope: str, ids: list[str], hops: int, types: list[str] | None) -> dict[str, int]:
        raise NotSupported(f"graph.{self._info.name} has no native expand; walk over neighbors")

    async def _query(self, text: str, timeout: float, limit: int) -> list[dict[str, Value]]:
        raise NotSupported(f"graph.{self._info.name} has no query language")


class CheckedVectors(CheckedStore):
    """A ``VectorStore``."""

    async def create(self, scope: str, spec: ScopeSpec) -> None:
        """See ``VectorStore.create``."""
        self._check_scope(scope)
        check_spec(spec, self._info.limits)
        await self._create(scope, spec)

    async def describe(self, scope: str) -> ScopeSpec | None:
        """See ``VectorStore.describe``."""
        self._check_scope(scope)
        return await self._describe(scope)

    async def upsert(self, scope: str, items: Sequence[VectorItem]) -> None:
        """See ``VectorStore.upsert``."""
        self._check_scope(scope)
        check_items(items, self._info.limits)
        vectors = [as_float32(f"items[{index}].vector", item.vector) for index, item in enumerate(items)]
        own = [
            (evolve(item, vector=vector, metadata=dict(item.metadata)), vector)
            for item, vector in zip(items, vectors, strict=True)
        ]
        await self._upsert(scope, own)

    async def get(self, scope: str, ids: Sequence[str]) -> dict[str, VectorItem]:
        """See ``VectorStore.get``."""
        self._check_scope(scope)
        check_names("ids", ids, self._info.limits)
        return await self._get(scope, list(dict.fromkeys(ids)))

    async def scan(self, scope: str, *, after: str | None = None, limit: int = 1_000) -> list[VectorItem]:
        """See ``VectorStore.scan``."""
        self._check_scope(scope)
        check_item_scan(after, limit, self._info.limits)
        return await self._scan(scope, after, limit)

    async def query(self, scopes: Sequence[str], vector: Vector, k: int, *, where: Filter | None = None) -> list[Hit]:
        """See ``VectorStore.query``."""
        self._alive()
        check_query(scopes, k, where, self._info.limits)
        return await self._query(list(dict.fromkeys(scopes)), as_float32("vector", vector), k, where)

    async def delete(self, scope: str, *, ids: Sequence[str] | None = None, where: Filter | None = None) -> int:
        """See ``VectorStore.delete``."""
        self._check_scope(scope)
        check_delete(ids, where, self._info.limits)
        return await self._delete(scope, None if ids is None else list(dict.fromkeys(ids)), where)

    async def count(self, scope: str, *, where: Filter | None = None) -> int:
        """See ``VectorStore.count``."""
        self._check_scope(scope)
        check_where(where, self._info.limits)
        return await self._count(scope, where)

    @abstractmethod
    async def _create(self, scope: str, spec: ScopeSpec) -> None: ...

    @abstractmethod
    async def _describe(self, scope: str) -> ScopeSpec | None: ...

    @abstractmethod
    async def _upsert(self, scope: str, items: list[Numbered]) -> None: ...

    @abstractmethod
    async def _get(self, scope: str, ids: list[str]) -> dict[str, VectorItem]: ...

    @abstractmethod
    async def _scan(self, scope: str, after: str | None, limit: int) -> list[VectorItem]: ...

    @abstractmethod
    async def _query(self, scopes: list[str], asked: array[float], k: int, where: Filter | None) -> list[Hit]: ...

    @abstractmethod
    async def _delete(self, scope: str, ids: list[str] | None, where: Filter | None) -> int: ...

    @abstractmethod
    async def _count(self, scope: str, where: Filter | None) -> int: ...
