"""Keeps graphs in memory, one networkx ``DiGraph`` per scope. It is the graph of ``lite``, and the fallback of others.

Nothing is durable: the core rebuilds the graphs from the journal.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

from saga_backends.scope_graph import CLASSES, ScopeGraph, identity, import_classes, sealed_mutation
from saga_core.capabilities import Capability
from saga_core.errors import Closed, NotSupported, StoreUnavailable
from saga_core.registry import Backend, OpenOptions
from saga_core.stores import Direction, Edge, Health, Mutation, Node, StoreInfo, Value
from saga_core.stores.validate import (
    check_endpoints,
    check_expand,
    check_mutation,
    check_names,
    check_neighbors,
    check_node_scan,
    check_scope,
)

_ENGINE = "networkx"
_REMEDY = "install it: pip install networkx"
_MUCH = 400
"""The number of nodes and edges from which a mutation is checked in a thread."""


class NetworkxGraph:
    """A ``GraphStore`` with ``expand``. Each call reads or changes the graph in one step, without awaiting in between.

    Returned nodes and edges are shared with the store, so their properties are read-only. The first write imports
    networkx, if the background has not done it yet.
    """

    def __init__(self, version: str) -> None:
        self._scopes: dict[str, ScopeGraph] = {}
        self._closed = False
        self._info = StoreInfo(
            kind="graph",
            name=_ENGINE,
            version=version,
            capabilities=frozenset({Capability.RESIDENT, Capability.NATIVE_EXPAND}),
        )

    @property
    def info(self) -> StoreInfo:
        """``RESIDENT`` and ``NATIVE_EXPAND``."""
        return self._info

    async def check(self, *, thorough: bool = False) -> Health:
        """Count the scopes and nodes. Edges are only counted if ``thorough``, because that takes longer."""
        self._alive()
        counted = f"{len(self._scopes)} scopes, {sum(len(found.nodes) for found in self._scopes.values())} nodes"
        if thorough:
            counted += f", {sum(found.edges for found in self._scopes.values())} edges"
        return Health(ok=True, detail=f"{counted} in memory")

    async def aclose(self) -> None:
        """Release the graphs. All other calls raise ``Closed`` from then on."""
        self._closed = True
        self._scopes.clear()

    async def apply(self, scope: str, mutation: Mutation) -> None:
        """See ``GraphStore.apply``. Everything that can fail is done before the first change."""
        self._scope(scope)
        # The argument may be no mutation at all, which ``check_mutation`` reports.
        puts = [getattr(mutation, name, None) for name in ("put_nodes", "put_edges")]
        if sum(len(part) for part in puts if isinstance(part, tuple)) < _MUCH:
            own = self._checked(mutation)
        else:  # a whole graph, as for a new timeline; 2,000 take 15 ms
            own = await asyncio.to_thread(self._checked, mutation)
        try:
            await import_classes()
        except ImportError as error:
            raise StoreUnavailable(f"graph.networkx: {error}; {_REMEDY}") from error
        found = self._scope(scope)
        check_endpoints(own, found.nodes if found is not None else ())
        if not own:
            return
        if found is None:
            found = self._scopes[scope] = ScopeGraph()
        found.apply(own)

    def _checked(self, mutation: Mutation) -> Mutation:
        """Return the mutation with read-only properties. Raises ``BadInput``."""
        check_mutation(mutation, self._info.limits)
        return sealed_mutation(mutation)

    async def get(self, scope: str, ids: Sequence[str]) -> dict[str, Node]:
        """See ``GraphStore.get``."""
        known = self._scope(scope)
        check_names("ids", ids, self._info.limits)
        return {} if known is None else known.get(ids)

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
        known = self._scope(scope)
        check_neighbors(ids, types, direction, limit, self._info.limits)
        return [] if known is None else known.neighbors(ids, types, direction, limit)

    def touching(self, scope: str, ids: Sequence[str]) -> dict[tuple[str, str, str, str], Edge]:
        """Return the edges that touch ``ids``, by identity, in any order. A walk needs no more, and ``neighbors`` takes
        twice as long for it."""
        known = self._scope(scope)
        if known is None:
            return {}
        return {identity(edge): edge for node_id in dict.fromkeys(ids) for edge in known.edges_at(node_id)}

    async def scan(
        self, scope: str, *, label: str | None = None, after: str | None = None, limit: int = 1_000
    ) -> list[Node]:
        """See ``GraphStore.scan``."""
        known = self._scope(scope)
        check_node_scan(label, after, limit, self._info.limits)
        return [] if known is None else known.scan(label, after, limit)

    async def watermark(self, scope: str) -> str | None:
        """See ``GraphStore.watermark``."""
        known = self._scope(scope)
        return None if known is None else known.watermark

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
        """See ``NativeExpand.expand``."""
        known = self._scope(scope)
        check_expand(ids, hops, types, self._info.limits)
        return {} if known is None else known.expand(ids, hops, types)

    async def query(self, text: str, *, timeout: float, limit: int) -> list[dict[str, Value]]:
        """Raise ``NotSupported``, because there is no query language."""
        self._alive()
        raise NotSupported("graph.networkx has no query language")

    def _scope(self, scope: str) -> ScopeGraph | None:
        self._alive()
        check_scope(scope, self._info.limits)
        return self._scopes.get(scope)

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
