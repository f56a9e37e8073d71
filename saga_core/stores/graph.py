"""GraphStore: labelled nodes and typed edges in scopes, one atomic mutation at a time."""

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
    """The identity of an edge. ``key`` tells parallel edges of one type apart."""

    source: str
    type: str
    target: str
    key: str = ""


@frozen
class Edge:
    """A directed, typed connection of two nodes of the same scope."""

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
    """What changes in a scope, together. Order: edges out, nodes out (with their edges), nodes in, edges in.

    A put replaces the whole node (its edges stay) or edge; of one node or edge put twice the last counts.
    ``watermark`` names the turn that the scope shows afterwards.
    """

    put_nodes: tuple[Node, ...] = ()
    put_edges: tuple[Edge, ...] = ()
    delete_nodes: tuple[str, ...] = ()
    delete_edges: tuple[EdgeKey, ...] = ()
    watermark: str | None = None

    @property
    def size(self) -> int:
        """How many puts and deletes it has."""
        return len(self.put_nodes) + len(self.put_edges) + len(self.delete_nodes) + len(self.delete_edges)

    def __bool__(self) -> bool:
        return bool(
            self.put_nodes or self.put_edges or self.delete_nodes or self.delete_edges or self.watermark is not None
        )


class GraphStore(Store, Protocol):
    """A graph per scope. Scopes never see each other, and begin to exist with their first non-empty mutation."""

    async def apply(self, scope: str, mutation: Mutation) -> None:
        """Apply all of ``mutation`` or nothing. Applying it again changes nothing more.

        Raises ``BadInput`` when an edge names a node that is not there after the mutation's own puts, or a
        value is malformed. Deleting what is absent is no error. A mutation without watermark keeps the old one.
        """
        ...

    async def get(self, scope: str, ids: Sequence[str]) -> dict[str, Node]:
        """Those of ``ids`` that exist."""
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
        """The edges that touch ``ids`` in ``direction`` (seen from them), each once, ordered by identity.

        ``types`` keeps to those edge types (none when it is empty); ``limit`` keeps the first so many. Unknown ids
        and scopes have no edges. Raises ``BadInput`` for a limit below 1 or another direction.
        """
        ...

    async def scan(
        self, scope: str, *, label: str | None = None, after: str | None = None, limit: int = 1_000
    ) -> list[Node]:
        """Up to ``limit`` nodes ordered by id, behind the id ``after`` (which need not exist); of ``label`` if given.

        An unknown scope is empty. Raises ``BadInput`` for a limit below 1.
        """
        ...

    async def watermark(self, scope: str) -> str | None:
        """The turn that the scope shows; None for an unknown scope or one never marked."""
        ...

    async def scopes(self) -> list[str]:
        """The scopes that exist, in order."""
        ...

    async def drop(self, scope: str) -> None:
        """Remove the scope with everything in it, its watermark too. An unknown scope is no error."""
        ...


class NativeExpand(Protocol):
    """``Capability.NATIVE_EXPAND``."""

    async def expand(
        self, scope: str, ids: Sequence[str], *, hops: int, types: Sequence[str] | None = None
    ) -> dict[str, int]:
        """The nodes within ``hops`` of ``ids`` (0 to 4) and their distance, edges taken both ways.

        Those of ``ids`` that exist are at distance 0, unknown ones are left out. Raises ``BadInput`` for other hops.
        """
        ...


class RawQuery(Protocol):
    """``Capability.RAW_QUERY``: reading with the engine's own language. Guarded, and off by default."""

    async def query(self, text: str, *, timeout: float, limit: int) -> list[dict[str, Value]]:
        """At most ``limit`` rows of one read-only statement, within ``timeout`` seconds."""
        ...
