"""Oracles: the right answers of each kind of store, on plain lists. They share no code with any backend."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, localcontext
from typing import Any

from attrs import define, evolve, field

from conformance.assertions import Refused
from conformance.calls import StoreCall
from saga_core.stores import (
    And,
    Batch,
    Compare,
    Edge,
    Exists,
    Filter,
    Hit,
    Key,
    Mutation,
    Node,
    Or,
    Pages,
    Scalar,
    ScopeSpec,
    VectorItem,
    Within,
)
from saga_core.stores import Not as Negation


class Refusal(Exception):
    """The store should raise ``error``, the name of a class in ``saga_core.errors``."""

    def __init__(self, error: str, key: tuple[str, ...] | None = None) -> None:
        self.error = error
        self.key = key
        super().__init__(error)


def points(text: str) -> list[int]:
    """The code points of ``text``. Names are ordered by them."""
    return [ord(sign) for sign in text]


def _order(entry: tuple[Key, bytes]) -> list[list[int]]:
    return [points(segment) for segment in entry[0]]


class StateModel:
    """Searches all entries on every call."""

    def __init__(self) -> None:
        self.entries: list[tuple[Key, bytes]] = []

    def _value(self, wanted: Key) -> bytes | None:
        for key, value in self.entries:
            if key == wanted:
                return value
        return None

    def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        """See ``StateKV.get``."""
        return {key: value for key, value in self.entries if key in keys}

    def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> list[tuple[Key, bytes]]:
        """See ``StateKV.scan``."""
        found = []
        for entry in sorted(self.entries, key=_order):
            begins = list(entry[0])[: len(prefix)] == list(prefix)
            if begins and (after is None or _order(entry) > _order((after, b""))):
                found.append(entry)
        return found[:limit]

    def commit(self, batch: Batch, *, expected: Mapping[Key, bytes | None] | None = None) -> None:
        """See ``StateKV.commit``."""
        for key in expected or {}:
            if self._value(key) != (expected or {})[key]:
                raise Refusal("Conflict", key)
        written = [*batch.deletes, *batch.puts]
        kept = [entry for entry in self.entries if entry[0] not in written]
        self.entries = kept + [(key, bytes(value)) for key, value in batch.puts.items()]

    def snapshot(self) -> object:
        """The whole contents."""
        return self.scan((), limit=len(self.entries) + 1)


def _identity(edge: Any) -> list[list[int]]:
    return [points(part) for part in (edge.source, edge.type, edge.target, edge.key)]


@define
class _GraphScope:
    nodes: list[Node] = field(factory=list)
    edges: list[Edge] = field(factory=list)
    watermark: str | None = None


class GraphModel:
    """Searches all entries on every call."""

    def __init__(self) -> None:
        self.held: dict[str, _GraphScope] = {}

    def _scope(self, scope: str) -> _GraphScope:
        return self.held.get(scope) or _GraphScope()

    def apply(self, scope: str, mutation: Mutation) -> None:
        """See ``GraphStore.apply``."""
        old = self._scope(scope)
        gone_edges = [_identity(key) for key in mutation.delete_edges]
        gone_nodes = list(mutation.delete_nodes)
        edges = [edge for edge in old.edges if _identity(edge) not in gone_edges]
        edges = [edge for edge in edges if edge.source not in gone_nodes and edge.target not in gone_nodes]
        nodes = [node for node in old.nodes if node.id not in gone_nodes]
        for node in mutation.put_nodes:
            nodes = [other for other in nodes if other.id != node.id]
            nodes.append(evolve(node, properties=dict(node.properties)))
        for edge in mutation.put_edges:
            if not {edge.source, edge.target} <= {node.id for node in nodes}:
                raise Refusal("BadInput")
            edges = [other for other in edges if _identity(other) != _identity(edge)]
            edges.append(evolve(edge, properties=dict(edge.properties)))
        changes = (mutation.put_nodes, mutation.put_edges, mutation.delete_nodes, mutation.delete_edges)
        if any(len(part) for part in changes) or mutation.watermark is not None:
            watermark = old.watermark if mutation.watermark is None else mutation.watermark
            self.held[scope] = _GraphScope(nodes, edges, watermark)

    def get(self, scope: str, ids: Sequence[str]) -> dict[str, Node]:
        """See ``GraphStore.get``."""
        return {node.id: node for node in self._scope(scope).nodes if node.id in ids}

    def neighbors(
        self,
        scope: str,
        ids: Sequence[str],
        *,
        types: Sequence[str] | None = None,
        direction: str = "both",
        limit: int | None = None,
    ) -> list[Edge]:
        """See ``GraphStore.neighbors``."""
        found = []
        for edge in sorted(self._scope(scope).edges, key=_identity):
            leaves = direction != "in" and edge.source in ids
            arrives = direction != "out" and edge.target in ids
            if (leaves or arrives) and (types is None or edge.type in types):
                found.append(edge)
        return found if limit is None else found[:limit]

    def scan(self, scope: str, *, label: str | None = None, after: str | None = None, limit: int = 1_000) -> list[Node]:
        """See ``GraphStore.scan``."""
        found = []
        for node in sorted(self._scope(scope).nodes, key=lambda node: points(node.id)):
            if (label is None or node.label == label) and (after is None or points(node.id) > points(after)):
                found.append(node)
        return found[:limit]

    def expand(
        self, scope: str, ids: Sequence[str], *, hops: int, types: Sequence[str] | None = None
    ) -> dict[str, int]:
        """See ``NativeExpand.expand``. Relaxes every edge once for each hop."""
        held = self._scope(scope)
        found = {node.id: 0 for node in held.nodes if node.id in ids}
        for reach in range(1, hops + 1):
            for edge in held.edges:
                if types is not None and edge.type not in types:
                    continue
                for one, other in ((edge.source, edge.target), (edge.target, edge.source)):
                    if found.get(one) == reach - 1 and other not in found:
                        found[other] = reach
        return found

    def watermark(self, scope: str) -> str | None:
        """See ``GraphStore.watermark``."""
        return self._scope(scope).watermark

    def scopes(self) -> list[str]:
        """See ``GraphStore.scopes``."""
        return sorted(self.held, key=points)

    def drop(self, scope: str) -> None:
        """See ``GraphStore.drop``."""
        self.held = {name: held for name, held in self.held.items() if name != scope}

    def snapshot(self) -> object:
        """The whole contents."""
        found = {}
        for name, held in self.held.items():
            edges = sorted(held.edges, key=_identity)
            found[name] = (self.scan(name, limit=len(held.nodes) + 1), edges, held.watermark)
        return found


_DIGITS = 60
_SMALLEST, _LARGEST = 1e-200, 1e200
"""Between these bounds the product of the squared lengths has lost no digits."""
_DOUBT = 1e-6
"""Scores whose millionths are this close to a half are rounded with more digits than 64 bits have."""
_ABSENT = object()


def score(left: Sequence[float], right: Sequence[float]) -> float:
    """The cosine of two vectors of 32-bit numbers, rounded to six decimal places, with halves to the even digit.

    The products of two such numbers are exact in 64 bits, and ``fsum`` adds them without loss. The divisions and the
    root leave an error of some 1e-15. If that could change the sixth place, the cosine is computed with 60 digits.
    """
    a, b = array("f", left), array("f", right)
    lengths = math.fsum(x * x for x in a) * math.fsum(x * x for x in b)
    if not _SMALLEST < lengths < _LARGEST:
        return _score_in_many_digits(a, b)
    millionths = math.fsum(x * y for x, y in zip(a, b, strict=True)) / math.sqrt(lengths) * 1e6
    if abs(abs(millionths - math.floor(millionths)) - 0.5) < _DOUBT:
        return _score_in_many_digits(a, b)
    return round(millionths) / 1e6


def _score_in_many_digits(left: Sequence[float], right: Sequence[float]) -> float:
    with localcontext() as context:
        context.prec = _DIGITS
        context.Emax, context.Emin = 999_999, -999_999
        a = [Decimal(part) for part in left]
        b = [Decimal(part) for part in right]
        lengths = sum((x * x for x in a), Decimal()) * sum((y * y for y in b), Decimal())
        if lengths == 0:
            return 0.0
        cosine = sum((x * y for x, y in zip(a, b, strict=True)), Decimal()) / lengths.sqrt()
        rounded = float(cosine.quantize(Decimal("0.000001")))
        return 0.0 if rounded == 0 else rounded


def _sort_of(value: object) -> str:
    return {"bool": "truth", "int": "number", "float": "number", "str": "text", "NoneType": "null"}[
        type(value).__name__
    ]


def _equal(one: Any, other: Any) -> bool:
    return _sort_of(one) == _sort_of(other) and one == other


def _in_order(one: Any, other: Any) -> tuple[bool, bool] | None:
    """Whether ``one`` is below and whether it is equal to ``other``; None if they cannot be ordered."""
    if _sort_of(one) == _sort_of(other) == "number":
        return one < other, one == other
    if _sort_of(one) == _sort_of(other) == "text":
        return points(one) < points(other), one == other
    return None


def passes(where: Filter | None, metadata: Mapping[str, Scalar]) -> bool:
    """Whether ``metadata`` passes the filter, implemented case by case from the text of the grammar."""
    if where is None:
        return True
    if isinstance(where, And):
        return not [part for part in where.parts if not passes(part, metadata)]
    if isinstance(where, Or):
        return bool([part for part in where.parts if passes(part, metadata)])
    if isinstance(where, Negation):
        return not passes(where.part, metadata)
    found = metadata.get(where.name, _ABSENT)
    if found is _ABSENT:
        return False
    if isinstance(where, Exists):
        return True
    if isinstance(where, Within):
        hit = bool([value for value in where.values if _equal(found, value)])
        return not hit if where.negate else hit
    return _compares(where, found)


def _compares(where: Compare, found: Any) -> bool:
    if where.op == "eq":
        return _equal(found, where.value)
    if where.op == "ne":
        return found is not None and where.value is not None and not _equal(found, where.value)
    order = _in_order(found, where.value)
    if order is None:
        return False
    below, equal = order
    return {"lt": below, "le": below or equal, "gt": not below and not equal, "ge": not below}[where.op]


@define
class _Scope:
    spec: ScopeSpec
    items: list[VectorItem] = field(factory=list)


class VectorModel:
    """Searches all entries on every call."""

    def __init__(self) -> None:
        self.held: dict[str, _Scope] = {}

    def _items(self, scope: str) -> list[VectorItem]:
        return self.held[scope].items if scope in self.held else []

    def create(self, scope: str, spec: ScopeSpec) -> None:
        """See ``VectorStore.create``."""
        if scope not in self.held:
            self.held[scope] = _Scope(spec)
        elif self.held[scope].spec != spec:
            raise Refusal("ScopeMismatch")

    def describe(self, scope: str) -> ScopeSpec | None:
        """See ``VectorStore.describe``."""
        return self.held[scope].spec if scope in self.held else None

    def upsert(self, scope: str, items: Sequence[VectorItem]) -> None:
        """See ``VectorStore.upsert``."""
        if scope not in self.held:
            raise Refusal("NotFound")
        held = self.held[scope]
        if any(len(item.vector) != held.spec.dimension for item in items):
            raise Refusal("ScopeMismatch")
        kept = held.items
        for item in items:
            own = evolve(item, vector=array("f", item.vector), metadata=dict(item.metadata))
            kept = [other for other in kept if other.id != item.id] + [own]
        held.items = kept

    def get(self, scope: str, ids: Sequence[str]) -> dict[str, VectorItem]:
        """See ``VectorStore.get``."""
        return {item.id: item for item in self._items(scope) if item.id in ids}

    def scan(self, scope: str, *, after: str | None = None, limit: int = 1_000) -> list[VectorItem]:
        """See ``VectorStore.scan``."""
        order = sorted(self._items(scope), key=lambda item: points(item.id))
        return [item for item in order if after is None or points(item.id) > points(after)][:limit]

    def query(
        self, scopes: Sequence[str], vector: Sequence[float], k: int, *, where: Filter | None = None
    ) -> list[Hit]:
        """See ``VectorStore.query``."""
        asked: list[str] = []
        for scope in scopes:
            if scope in self.held and scope not in asked:
                asked.append(scope)
        if any(self.held[scope].spec.dimension != len(vector) for scope in asked):
            raise Refusal("ScopeMismatch")
        ranked = []
        for place, scope in enumerate(asked):
            for item in self._items(scope):
                if passes(where, item.metadata):
                    ranked.append((-score(vector, item.vector), points(item.id), place, item))
        ranked.sort(key=lambda entry: entry[:3])
        return [Hit(item.id, 0.0 - negative, item.text, item.metadata) for negative, _, _, item in ranked[:k]]

    def delete(self, scope: str, *, ids: Sequence[str] | None = None, where: Filter | None = None) -> int:
        """See ``VectorStore.delete``."""
        if scope not in self.held:
            return 0
        held = self.held[scope]
        if ids is not None:
            kept = [item for item in held.items if item.id not in ids]
        else:
            kept = [item for item in held.items if not passes(where, item.metadata)]
        removed = len(held.items) - len(kept)
        held.items = kept
        return removed

    def count(self, scope: str, *, where: Filter | None = None) -> int:
        """See ``VectorStore.count``."""
        return len([item for item in self._items(scope) if passes(where, item.metadata)])

    def scopes(self) -> list[str]:
        """See ``VectorStore.scopes``."""
        return sorted(self.held, key=points)

    def drop(self, scope: str) -> None:
        """See ``VectorStore.drop``."""
        self.held = {name: held for name, held in self.held.items() if name != scope}

    def snapshot(self) -> object:
        """The whole contents."""
        return {
            name: ((held.spec.embedder, held.spec.dimension), self.scan(name, limit=len(held.items) + 1))
            for name, held in self.held.items()
        }


class CacheModel:
    """Keeps the last generation of each scope."""

    def __init__(self) -> None:
        self.held: list[tuple[str, Pages]] = []

    def read(self, scope: str) -> Pages | None:
        """See ``MdCache.read``."""
        for name, pages in self.held:
            if name == scope:
                return pages
        return None

    def write(self, scope: str, pages: Pages) -> None:
        """See ``MdCache.write``."""
        self.drop(scope)
        self.held.append((scope, Pages(dict(pages.files), pages.watermark)))

    def scopes(self) -> list[str]:
        """See ``MdCache.scopes``."""
        return sorted((name for name, _ in self.held), key=points)

    def drop(self, scope: str) -> None:
        """See ``MdCache.drop``."""
        self.held = [(name, pages) for name, pages in self.held if name != scope]

    def snapshot(self) -> object:
        """The whole contents."""
        return dict(self.held)


Model = Any

MODELS: dict[str, Callable[[], Model]] = {
    "state": StateModel,
    "graph": GraphModel,
    "vector": VectorModel,
    "cache": CacheModel,
}


def expected(model: Model, made: StoreCall) -> object:
    """Make the call ``made`` on ``model`` and return its answer, or a ``Refused``."""
    try:
        return getattr(model, made.method)(*made.args, **made.options)
    except Refusal as refusal:
        return Refused(refusal.error, refusal.key)
