"""Keeps graphs in memory, one networkx ``DiGraph`` per scope. It is the graph of ``lite``, and the fallback of others.

Nothing is durable: the core rebuilds the graphs from the journal.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

from saga_backends.checked import CheckedGraph
from saga_backends.scope_graph import CLASSES, ScopeGraph, identity, import_classes
from saga_core.capabilities import Capability
from saga_core.errors import Closed, StoreUnavailable
from saga_core.registry import Backend, OpenOptions
from saga_core.stores import Direction, Edge, Health, Mutation, Node, StoreInfo
from saga_core.stores.validate import check_endpoints

_ENGINE = "networkx"
_REMEDY = "install it: pip install networkx"


class NetworkxGraph(CheckedGraph):
    """A ``GraphStore`` with ``expand``. Each call reads or changes the graph in one step, without awaiting in between.

    Returned nodes and edges are shared with the store, so their properties are read-only. The first write imports
    networkx, if the background has not done it yet.
    """

    def __init__(self, version: str) -> None:
        self._graphs: dict[str, ScopeGraph] = {}
        self._closed = False
        self._info = StoreInfo(
            kind="graph",
            name=_ENGINE,
            version=version,
            capabilities=frozenset({Capability.RESIDENT, Capability.NATIVE_EXPAND}),
        )

    async def check(self, *, thorough: bool = False) -> Health:
        """Count the scopes and nodes. Edges are only counted if ``thorough``, because that takes longer."""
        self._alive()
        counted = f"{len(self._graphs)} scopes, {sum(len(found.nodes) for found in self._graphs.values())} nodes"
        if thorough:
            counted += f", {sum(found.edges for found in self._graphs.values())} edges"
        return Health(ok=True, detail=f"{counted} in memory")

    async def aclose(self) -> None:
        """Release the graphs. All other calls raise ``Closed`` from then on."""
        self._closed = True
        self._graphs.clear()

    async def _apply(self, scope: str, mutation: Mutation) -> None:
        """Everything that can fail is done before the first change."""
        try:
            await import_classes()
        except ImportError as error:
            raise StoreUnavailable(f"graph.networkx: {error}; {_REMEDY}") from error
        self._alive()
        found = self._graphs.get(scope)
        check_endpoints(mutation, found.nodes if found is not None else ())
        if not mutation:
            return
        if found is None:
            found = self._graphs[scope] = ScopeGraph()
        found.apply(mutation)

    async def _get(self, scope: str, ids: list[str]) -> dict[str, Node]:
        known = self._graphs.get(scope)
        return {} if known is None else known.get(ids)

    async def _neighbors(
        self, scope: str, ids: list[str], types: list[str] | None, direction: Direction, limit: int | None
    ) -> list[Edge]:
        known = self._graphs.get(scope)
        return [] if known is None else known.neighbors(ids, types, direction, limit)

    def touching(self, scope: str, ids: Sequence[str]) -> dict[tuple[str, str, str, str], Edge]:
        """Return the edges that touch ``ids``, by identity, in any order. A walk needs no more, and ``neighbors`` takes
        twice as long for it."""
        self._check_scope(scope)
        known = self._graphs.get(scope)
        if known is None:
            return {}
        return {identity(edge): edge for node_id in dict.fromkeys(ids) for edge in known.edges_at(node_id)}

    async def _scan(self, scope: str, label: str | None, after: str | None, limit: int) -> list[Node]:
        known = self._graphs.get(scope)
        return [] if known is None else known.scan(label, after, limit)

    async def _watermark(self, scope: str) -> str | None:
        known = self._graphs.get(scope)
        return None if known is None else known.watermark

    async def _scopes(self) -> list[str]:
        return sorted(self._graphs)

    async def _drop(self, scope: str) -> None:
        self._graphs.pop(scope, None)

    async def _expand(self, scope: str, ids: list[str], hops: int, types: list[str] | None) -> dict[str, int]:
        known = self._graphs.get(scope)
        return {} if known is None else known.expand(ids, hops, types)

    def _alive(self) -> None:
        if self._closed:
            raise Closed("the networkx graph store is closed")


async def _open(options: OpenOptions) -> NetworkxGraph:
    options.take()
    try:
        return NetworkxGraph(version(_ENGINE))
    except PackageNotFoundError as error:
        raise StoreUnavailable(f"graph.networkx: {error}; {_REMEDY}") from error


BACKEND = Backend(
    kind="graph",
    name="networkx",
    open=_open,
    summary="networkx in memory; rebuilt from the journal at start",
    warm_up=(CLASSES,),
)
