"""GraphStore: labelled nodes and typed edges in scopes, changed by atomic mutations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from attrs import field, frozen

from saga_core.stores.lifecycle import Store
from saga_core.values import Scalar as Scalar
from saga_core.values import Value as Value

Direction = Literal["out", "in", "both"]


@frozen
class Node:
    """A vertex. ``id`` is opaque and unique in its scope."""

    id: str
    label: str
    properties: Mapping[str, Value] = field(factory=dict)


@frozen(order=True)
class EdgeKey:
    """The identity of an edge. ``key`` distinguishes parallel edges of one type."""

    source: str
    type: str
    target: str
    key: str = ""


@frozen
class Edge:
    """A directed, typed connection between two nodes of the same scope."""

    source: str
    type: str
    target: str
    key: str = ""
    properties: Mapping[str, Value] = field(factory=dict)

    @property
    def identity(self) -> EdgeKey:
        """Source, type, target and key."""
        return EdgeKey(self.source, self.type, self.target, self.key)


@frozen
class Mutation:
    """Changes of a scope that apply together: delete edges, delete nodes and their edges, put nodes, put edges.

    A put replaces the whole edge, or the whole node without its edges. If a node or edge is put twice, the last one
    counts. ``watermark`` names the turn that the scope shows afterwards.
    """

    put_nodes: tuple[Node, ...] = ()
    put_edges: tuple[Edge, ...] = ()
    delete_nodes: tuple[str, ...] = ()
    delete_edges: tuple[EdgeKey, ...] = ()
    watermark: str | None = None

    @property
    def size(self) -> int:
        """The number of puts and deletes."""
        return len(self.put_nodes) + len(self.put_edges) + len(self.delete_nodes) + len(self.delete_edges)

    def __bool__(self) -> bool:
        return bool(
            self.put_nodes or self.put_edges or self.delete_nodes or self.delete_edges or self.watermark is not None
        )


class GraphStore(Store, Protocol):
    """One graph per scope. Scopes are isolated, and come into existence with their first non-empty mutation."""

    async def apply(self, scope: str, mutation: Mutation) -> None:
        """Apply all of ``mutation`` or nothing. Applying it again has no further effect.

        Raises ``BadInput`` if an edge refers to a node that does not exist after the mutation's own puts, or if a value
        is malformed. Deleting something absent is not an error. A mutation without a watermark keeps the old one.
        """
        ...

    async def get(self, scope: str, ids: Sequence[str]) -> dict[str, Node]:
        """Return those of ``ids`` that exist."""
        ...

    async def neighbors(
        self,
        scope: str,
        ids: Sequence[str],
        *,
        types: Sequence[str] | None = None,
        direction: Direction = "both",
        limit: int | None = None,
    ) -> list[Edge]:
        """Return the edges that touch ``ids`` in ``direction`` (seen from them), each once, ordered by identity.

        ``types`` limits the edge types (an empty sequence matches none). ``limit`` keeps only the first edges. Unknown
        ids and scopes have no edges. Raises ``BadInput`` for a limit below 1 or an unknown direction.
        """
        ...

    async def scan(
        self, scope: str, *, label: str | None = None, after: str | None = None, limit: int = 1_000
    ) -> list[Node]:
        """Return up to ``limit`` nodes after the id ``after`` (which need not exist) by id, only of ``label`` if given.

        An unknown scope is empty. Raises ``BadInput`` for a limit below 1.
        """
        ...

    async def watermark(self, scope: str) -> str | None:
        """Return the turn that the scope shows; None if the scope is unknown or has no watermark."""
        ...

    async def scopes(self) -> list[str]:
        """Return the existing scopes in order."""
        ...

    async def drop(self, scope: str) -> None:
        """Remove the scope with all its contents, including the watermark. An unknown scope is not an error."""
        ...


class NativeExpand(Protocol):
    """``Capability.NATIVE_EXPAND``."""

    async def expand(
        self, scope: str, ids: Sequence[str], *, hops: int, types: Sequence[str] | None = None
    ) -> dict[str, int]:
        """Return the nodes within ``hops`` (0 to 4) of ``ids`` with their distances. Edges are followed both ways.

        Existing ``ids`` have distance 0; unknown ones are left out. Raises ``BadInput`` for other values of ``hops``.
        """
        ...


class RawQuery(Protocol):
    """``Capability.RAW_QUERY``: read with the engine's own query language. Guarded, and off by default."""

    async def query(self, text: str, *, timeout: float, limit: int) -> list[dict[str, Value]]:
        """Return at most ``limit`` rows of one read-only statement, within ``timeout`` seconds."""
        ...
