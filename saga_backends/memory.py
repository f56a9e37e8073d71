"""The reference implementation of every store protocol, in memory. It is also used by tests.

Nothing outlives the process. Each store implements its contract literally, with dicts and sorted lists. If another
backend behaves differently, the other one is wrong.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import TypeVar

from attrs import define, evolve, field, frozen

from saga_core.capabilities import Capability
from saga_core.errors import Closed, Conflict, NotSupported
from saga_core.registry import Backend, Kind, OpenOptions
from saga_core.stores import (
    Batch,
    CurationView,
    Curator,
    Direction,
    Edge,
    EdgeKey,
    Filter,
    GraphStore,
    Health,
    Hit,
    Key,
    Limits,
    MdCache,
    Mutation,
    Node,
    Pages,
    ScopeSpec,
    StateKV,
    StoreInfo,
    Value,
    Vector,
    VectorItem,
    VectorStore,
)
from saga_core.stores.filters import predicate
from saga_core.stores.validate import (
    as_float32,
    check_batch,
    check_delete,
    check_dimension,
    check_endpoints,
    check_item_scan,
    check_items,
    check_keys,
    check_mutation,
    check_names,
    check_neighbors,
    check_node_scan,
    check_pages,
    check_query,
    check_same_spec,
    check_scan,
    check_scope,
    check_spec,
    check_where,
    unknown_scope,
)
from saga_core.stores.vector import cosine
from saga_core.values import Proposal

T = TypeVar("T")


class MemoryStore:
    """A store without files and threads."""

    def __init__(self, kind: str, limits: Limits) -> None:
        self._info = StoreInfo(kind=kind, name="memory", capabilities=frozenset({Capability.RESIDENT}), limits=limits)
        self._closed = False

    @property
    def info(self) -> StoreInfo:
        """Kind, name and limits."""
        return self._info

    async def check(self, *, thorough: bool = False) -> Health:
        """Report good health while the store is open."""
        self._alive()
        return Health(ok=True, detail="in memory")

    async def aclose(self) -> None:
        """Close the store. All other calls raise ``Closed`` from then on."""
        self._closed = True

    def _alive(self) -> None:
        if self._closed:
            raise Closed(f"the {self._info.kind} store in memory is closed")


def _backend(kind: Kind, store: Callable[[], T], note: str) -> Backend[T]:
    async def open_(options: OpenOptions) -> T:
        options.take()
        return store()

    return Backend(kind, "memory", open_, note)


# -- state -----------------------------------------------------------------------------------------------------


class MemoryState(MemoryStore):
    """A state store in memory. It never awaits, so each call is atomic."""

    def __init__(self, limits: Limits = Limits()) -> None:  # noqa: B008 - a frozen value
        super().__init__("state", limits)
        self._values: dict[Key, bytes] = {}
        # Tuples of str compare as the contract requires, segment by segment and by code point.
        self._order: list[Key] = []

    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        """See ``StateKV.get``."""
        self._alive()
        check_keys(keys, self.info.limits)
        return {key: self._values[key] for key in keys if key in self._values}

    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> list[tuple[Key, bytes]]:
        """See ``StateKV.scan``."""
        self._alive()
        check_scan(prefix, after, limit, self.info.limits)
        start = bisect_left(self._order, prefix)
        if after is not None:
            start = max(start, bisect_right(self._order, after))
        found: list[tuple[Key, bytes]] = []
        for key in islice(self._order, start, None):
            if len(found) == limit or key[: len(prefix)] != prefix:
                break
            found.append((key, self._values[key]))
        return found

    async def commit(self, batch: Batch, *, expected: Mapping[Key, bytes | None] | None = None) -> None:
        """See ``StateKV.commit``."""
        self._alive()
        check_batch(batch, expected, self.info.limits)
        for key, wanted in (expected or {}).items():
            if self._values.get(key) != wanted:
                raise Conflict(key)
        for key in batch.deletes:
            if self._values.pop(key, None) is not None:
                del self._order[bisect_left(self._order, key)]
        for key, value in batch.puts.items():
            if key not in self._values:
                insort(self._order, key)
            self._values[key] = value


STATE: Backend[StateKV] = _backend("state", MemoryState, "a dict; nothing survives the process")


# -- graph -----------------------------------------------------------------------------------------------------


@define
class _GraphScope:
    nodes: dict[str, Node] = field(factory=dict)
    edges: dict[EdgeKey, Edge] = field(factory=dict)
    watermark: str | None = None


_NOTHING = _GraphScope()


class MemoryGraph(MemoryStore):
    """A graph store in memory. It never awaits, so each call is atomic."""

    def __init__(self, limits: Limits = Limits()) -> None:  # noqa: B008 - a frozen value
        super().__init__("graph", limits)
        self._scopes: dict[str, _GraphScope] = {}

    async def apply(self, scope: str, mutation: Mutation) -> None:
        """See ``GraphStore.apply``."""
        found = self._scope(scope)
        check_mutation(mutation, self.info.limits)
        check_endpoints(mutation, found.nodes)
        if not mutation:
            return
        found = self._scopes.setdefault(scope, _GraphScope())
        for key in mutation.delete_edges:
            found.edges.pop(key, None)
        gone = set(mutation.delete_nodes)
        for node_id in gone:
            found.nodes.pop(node_id, None)
        for key in [key for key in found.edges if key.source in gone or key.target in gone]:
            del found.edges[key]
        for node in mutation.put_nodes:
            found.nodes[node.id] = _own_node(node)
        for edge in mutation.put_edges:
            found.edges[edge.identity] = _own_edge(edge)
        if mutation.watermark is not None:
            found.watermark = mutation.watermark

    async def get(self, scope: str, ids: Sequence[str]) -> dict[str, Node]:
        """See ``GraphStore.get``."""
        nodes = self._scope(scope).nodes
        check_names("ids", ids, self.info.limits)
        return {node_id: _own_node(nodes[node_id]) for node_id in ids if node_id in nodes}

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
        edges = self._scope(scope).edges
        check_neighbors(ids, types, direction, limit, self.info.limits)
        near, kept = set(ids), None if types is None else set(types)
        found = [
            (key.source, key.type, key.target, key.key)
            for key in edges
            if (kept is None or key.type in kept)
            and ((direction != "in" and key.source in near) or (direction != "out" and key.target in near))
        ]
        return [_own_edge(edges[EdgeKey(*identity)]) for identity in sorted(found)[:limit]]

    async def scan(
        self, scope: str, *, label: str | None = None, after: str | None = None, limit: int = 1_000
    ) -> list[Node]:
        """See ``GraphStore.scan``."""
        nodes = self._scope(scope).nodes
        check_node_scan(label, after, limit, self.info.limits)
        found = [
            nodes[node_id]
            for node_id in sorted(nodes)
            if (after is None or node_id > after) and (label is None or nodes[node_id].label == label)
        ]
        return [_own_node(node) for node in found[:limit]]

    async def watermark(self, scope: str) -> str | None:
        """See ``GraphStore.watermark``."""
        return self._scope(scope).watermark

    async def scopes(self) -> list[str]:
        """See ``GraphStore.scopes``."""
        self._alive()
        return sorted(self._scopes)

    async def drop(self, scope: str) -> None:
        """See ``GraphStore.drop``."""
        self._scope(scope)
        self._scopes.pop(scope, None)

    async def expand(
        self, scope: str, ids: Sequence[str], *, hops: int, types: Sequence[str] | None = None
    ) -> dict[str, int]:
        """Raise ``NotSupported``. The core walks over ``neighbors`` instead."""
        self._alive()
        raise NotSupported("graph.memory has no native expand; walk over neighbors")

    async def query(self, text: str, *, timeout: float, limit: int) -> list[dict[str, Value]]:
        """Raise ``NotSupported``, because there is no query language."""
        self._alive()
        raise NotSupported("graph.memory has no query language")

    def _scope(self, scope: str) -> _GraphScope:
        self._alive()
        check_scope(scope, self.info.limits)
        return self._scopes.get(scope, _NOTHING)


def _own_node(node: Node) -> Node:
    """Return a copy with its own properties."""
    return evolve(node, properties=dict(node.properties))


def _own_edge(edge: Edge) -> Edge:
    return evolve(edge, properties=dict(edge.properties))


GRAPH: Backend[GraphStore] = _backend("graph", MemoryGraph, "two dicts a scope; nothing survives the process")


# -- vectors ---------------------------------------------------------------------------------------------------


@frozen
class _VectorScope:
    spec: ScopeSpec
    items: dict[str, VectorItem] = field(factory=dict)


class MemoryVector(MemoryStore):
    """A vector store in memory. It never awaits, so each call is atomic."""

    def __init__(self, limits: Limits = Limits()) -> None:  # noqa: B008 - a frozen value
        super().__init__("vector", limits)
        self._scopes: dict[str, _VectorScope] = {}

    async def create(self, scope: str, spec: ScopeSpec) -> None:
        """See ``VectorStore.create``."""
        found = self._scope(scope)
        check_spec(spec, self.info.limits)
        if found is None:
            self._scopes[scope] = _VectorScope(spec)
        else:
            check_same_spec(scope, found.spec, spec)

    async def describe(self, scope: str) -> ScopeSpec | None:
        """See ``VectorStore.describe``."""
        found = self._scope(scope)
        return found.spec if found else None

    async def upsert(self, scope: str, items: Sequence[VectorItem]) -> None:
        """See ``VectorStore.upsert``."""
        found = self._scope(scope)
        check_items(items, self.info.limits)
        if found is None:
            raise unknown_scope(scope)
        fresh: dict[str, VectorItem] = {}
        for index, item in enumerate(items):
            vector = as_float32(f"items[{index}].vector", item.vector)
            check_dimension(f"items[{index}].vector", vector, scope, found.spec)
            fresh[item.id] = _own_item(item, vector)
        found.items.update(fresh)

    async def get(self, scope: str, ids: Sequence[str]) -> dict[str, VectorItem]:
        """See ``VectorStore.get``."""
        items = self._items(scope)
        check_names("ids", ids, self.info.limits)
        return {item_id: _own_item(items[item_id]) for item_id in ids if item_id in items}

    async def scan(self, scope: str, *, after: str | None = None, limit: int = 1_000) -> list[VectorItem]:
        """See ``VectorStore.scan``."""
        items = self._items(scope)
        check_item_scan(after, limit, self.info.limits)
        found = [item_id for item_id in sorted(items) if after is None or item_id > after]
        return [_own_item(items[item_id]) for item_id in found[:limit]]

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

    def _scope(self, scope: str) -> _VectorScope | None:
        self._alive()
        check_scope(scope, self.info.limits)
        return self._scopes.get(scope)

    def _items(self, scope: str) -> dict[str, VectorItem]:
        found = self._scope(scope)
        return found.items if found else {}


def _own_item(item: VectorItem, vector: array[float] | None = None) -> VectorItem:
    """Return a copy with its own vector and metadata."""
    return evolve(item, vector=array("f", item.vector) if vector is None else vector, metadata=dict(item.metadata))


VECTOR: Backend[VectorStore] = _backend("vector", MemoryVector, "exact search; nothing survives the process")


# -- pages -----------------------------------------------------------------------------------------------------


class MemoryCache(MemoryStore):
    """A page cache in memory. It never awaits, so a write replaces all pages atomically."""

    def __init__(self, limits: Limits = Limits()) -> None:  # noqa: B008 - a frozen value
        super().__init__("cache", limits)
        self._scopes: dict[str, Pages] = {}

    async def read(self, scope: str) -> Pages | None:
        """See ``MdCache.read``."""
        self._checked(scope)
        pages = self._scopes.get(scope)
        return _own_pages(pages) if pages else None

    async def write(self, scope: str, pages: Pages) -> None:
        """See ``MdCache.write``."""
        self._checked(scope)
        check_pages(pages, self.info.limits)
        self._scopes[scope] = _own_pages(pages)

    async def scopes(self) -> list[str]:
        """See ``MdCache.scopes``."""
        self._alive()
        return sorted(self._scopes)

    async def drop(self, scope: str) -> None:
        """See ``MdCache.drop``."""
        self._checked(scope)
        self._scopes.pop(scope, None)

    def locate(self, scope: str) -> str | None:
        """Return None, because there are no files."""
        self._checked(scope)
        return None

    def _checked(self, scope: str) -> None:
        self._alive()
        check_scope(scope, self.info.limits)


def _own_pages(pages: Pages) -> Pages:
    """Return a copy that does not share its dict of files."""
    return evolve(pages, files=dict(pages.files))


CACHE: Backend[MdCache] = _backend("cache", MemoryCache, "a dict of pages; nothing survives the process")


# -- curator ---------------------------------------------------------------------------------------------------


class MemoryCurator(MemoryStore):
    """Answers every review with the given proposals, which are none unless a test sets some."""

    def __init__(self, proposals: Iterable[Proposal] = (), limits: Limits = Limits()) -> None:  # noqa: B008
        super().__init__("curator", limits)
        self._proposals = tuple(proposals)

    async def review(self, view: CurationView) -> tuple[Proposal, ...]:
        """Return the same proposals for every view."""
        self._alive()
        return self._proposals


CURATOR: Backend[Curator] = _backend("curator", MemoryCurator, "proposes nothing")
