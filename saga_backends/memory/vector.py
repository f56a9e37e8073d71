"""VectorStore in memory, in which every query scores every item."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from attrs import evolve, field, frozen

from saga_backends.memory.lifecycle import MemoryStore
from saga_core.errors import NotFound, ScopeMismatch
from saga_core.registry import Backend, OpenOptions
from saga_core.stores import Filter, Hit, Limits, ScopeSpec, Vector, VectorItem, VectorStore
from saga_core.stores.filters import predicate
from saga_core.stores.validate import (
    as_float32,
    check_delete,
    check_dimension,
    check_item_scan,
    check_items,
    check_names,
    check_query,
    check_scope,
    check_spec,
    check_where,
)
from saga_core.stores.vector import cosine


@frozen
class _Scope:
    spec: ScopeSpec
    items: dict[str, VectorItem] = field(factory=dict)


class MemoryVector(MemoryStore):
    """A vector store in memory. It never awaits, so each call is atomic."""

    def __init__(self, limits: Limits = Limits()) -> None:  # noqa: B008 - a frozen value
        super().__init__("vector", limits)
        self._scopes: dict[str, _Scope] = {}

    async def create(self, scope: str, spec: ScopeSpec) -> None:
        """See ``VectorStore.create``."""
        found = self._scope(scope)
        check_spec(spec, self.info.limits)
        if found is None:
            self._scopes[scope] = _Scope(spec)
        elif found.spec != spec:
            raise ScopeMismatch(
                f"scope {scope!r} was made by {found.spec.embedder!r} with dimension {found.spec.dimension}, not by "
                f"{spec.embedder!r} with {spec.dimension}; drop it and rebuild"
            )

    async def describe(self, scope: str) -> ScopeSpec | None:
        """See ``VectorStore.describe``."""
        found = self._scope(scope)
        return found.spec if found else None

    async def upsert(self, scope: str, items: Sequence[VectorItem]) -> None:
        """See ``VectorStore.upsert``."""
        found = self._scope(scope)
        check_items(items, self.info.limits)
        if found is None:
            raise NotFound(f"vector scope {scope!r} does not exist; create it with its embedder's id first")
        fresh: dict[str, VectorItem] = {}
        for index, item in enumerate(items):
            vector = as_float32(f"items[{index}].vector", item.vector)
            check_dimension(f"items[{index}].vector", vector, scope, found.spec)
            fresh[item.id] = _own(item, vector)
        found.items.update(fresh)

    async def get(self, scope: str, ids: Sequence[str]) -> dict[str, VectorItem]:
        """See ``VectorStore.get``."""
        items = self._items(scope)
        check_names("ids", ids, self.info.limits)
        return {item_id: _own(items[item_id]) for item_id in ids if item_id in items}

    async def scan(self, scope: str, *, after: str | None = None, limit: int = 1_000) -> list[VectorItem]:
        """See ``VectorStore.scan``."""
        items = self._items(scope)
        check_item_scan(after, limit, self.info.limits)
        found = [item_id for item_id in sorted(items) if after is None or item_id > after]
        return [_own(items[item_id]) for item_id in found[:limit]]

    async def query(self, scopes: Sequence[str], vector: Vector, k: int, *, where: Filter | None = None) -> list[Hit]:
        """See ``VectorStore.query``."""
        self._alive()
        check_query(scopes, k, where, self.info.limits)
        asked = as_float32("vector", vector)
        passes = predicate(where) if where is not None else None
        ranked: list[tuple[float, str, int, VectorItem]] = []
        for place, scope in enumerate(dict.fromkeys(scopes)):
            found = self._scopes.get(scope)
            if found is None:
                continue
            check_dimension("vector", asked, scope, found.spec)
            ranked += [
                (-cosine(asked, item.vector), item.id, place, item)
                for item in found.items.values()
                if passes is None or passes(item.metadata)
            ]
        ranked.sort(key=lambda entry: entry[:3])
        return [Hit(item.id, 0.0 - score, item.text, dict(item.metadata)) for score, _, _, item in ranked[:k]]

    async def delete(self, scope: str, *, ids: Sequence[str] | None = None, where: Filter | None = None) -> int:
        """See ``VectorStore.delete``."""
        items = self._items(scope)
        check_delete(ids, where, self.info.limits)
        if where is not None:
            passes = predicate(where)
            gone = {item.id for item in items.values() if passes(item.metadata)}
        else:
            gone = items.keys() & set(ids or ())
        for item_id in gone:
            del items[item_id]
        return len(gone)

    async def count(self, scope: str, *, where: Filter | None = None) -> int:
        """See ``VectorStore.count``."""
        items = self._items(scope)
        check_where(where, self.info.limits)
        if where is None:
            return len(items)
        passes = predicate(where)
        return sum(passes(item.metadata) for item in items.values())

    async def scopes(self) -> list[str]:
        """See ``VectorStore.scopes``."""
        self._alive()
        return sorted(self._scopes)

    async def drop(self, scope: str) -> None:
        """See ``VectorStore.drop``."""
        self._scope(scope)
        self._scopes.pop(scope, None)

    def _scope(self, scope: str) -> _Scope | None:
        self._alive()
        check_scope(scope, self.info.limits)
        return self._scopes.get(scope)

    def _items(self, scope: str) -> dict[str, VectorItem]:
        found = self._scope(scope)
        return found.items if found else {}


def _own(item: VectorItem, vector: array[float] | None = None) -> VectorItem:
    """Return a copy with its own vector and metadata."""
    return evolve(item, vector=array("f", item.vector) if vector is None else vector, metadata=dict(item.metadata))


async def _open(options: OpenOptions) -> VectorStore:
    options.take()
    return MemoryVector()


VECTOR = Backend("vector", "memory", _open, "exact search over a dict; nothing survives the process")
