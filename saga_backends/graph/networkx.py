"""Keeps graphs in memory, one networkx ``DiGraph`` per scope.

Parallel edges between two nodes are stored as attributes of one networkx edge. A ``MultiDiGraph`` would take one more
dict for each of them.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, TypeAlias

from attrs import define, field

from saga_backends.graph.in_memory import GraphInMemory, Scope, in_order
from saga_core.errors import StoreUnavailable
from saga_core.registry import Backend, OpenOptions, remedy
from saga_core.stores import Edge, EdgeKey

if TYPE_CHECKING:
    import networkx

    _Graph: TypeAlias = networkx.DiGraph[str]

_ENGINE = "networkx"
_REMEDY = f"install it: {remedy(_ENGINE)}"
_NOTHING: Mapping[str, Any] = {}


def _attribute(edge: Edge | EdgeKey) -> str | tuple[str, str]:
    """The attribute name under which a networkx edge holds our ``Edge``.

    It is a string if possible, because dicts with string keys are smaller. Few edges have a key.
    """
    return (edge.type, edge.key) if edge.key else edge.type


@define
class _Digraph(Scope):
    graph: _Graph
    """Contains the nodes that have or had edges."""
    near: dict[str, tuple[Edge, ...]] = field(factory=dict, init=False)
    """A cache of the edges at each node, filled on demand."""

    def at(self, node_id: str) -> Sequence[Edge]:
        found = self.near.get(node_id)
        if found is None:
            found = _touching(self.graph, node_id)
            if found:
                self.near[node_id] = found
        return found

    def put(self, edge: Edge) -> None:
        if not self.graph.has_edge(edge.source, edge.target):
            self.graph.add_edge(edge.source, edge.target)
        self._parallel(edge)[_attribute(edge)] = edge
        self._forget(edge)

    def remove(self, key: EdgeKey) -> None:
        parallel = self._parallel(key)
        if parallel.pop(_attribute(key), None) is None:
            return
        if not parallel:
            self.graph.remove_edge(key.source, key.target)
        self._forget(key)

    def cut_off(self, node_id: str) -> None:
        for edge in _touching(self.graph, node_id):
            self._forget(edge)
        if node_id in self.graph:
            self.graph.remove_node(node_id)

    def count_edges(self) -> int:
        return sum(len(parallel) for _, _, parallel in self.graph.edges(data=True))

    def _parallel(self, edge: Edge | EdgeKey) -> dict[Any, Any]:
        """The edges from the source to the target of ``edge``, by attribute name."""
        return self.graph.get_edge_data(edge.source, edge.target, default={})

    def _forget(self, edge: Edge | EdgeKey) -> None:
        """Drop the cached edges of both ends of ``edge``."""
        self.near.pop(edge.source, None)
        self.near.pop(edge.target, None)


def _touching(graph: _Graph, node_id: str) -> tuple[Edge, ...]:
    inside: Any = graph  # reading the private dicts is three times as fast as the public views
    found = [edge for parallel in inside._succ.get(node_id, _NOTHING).values() for edge in parallel.values()]
    for source, parallel in inside._pred.get(node_id, _NOTHING).items():
        if source != node_id:
            found += parallel.values()
    return tuple(sorted(found, key=in_order))


class NetworkxGraph(GraphInMemory):
    """A graph store with networkx; see ``GraphInMemory``. The first write imports the library."""

    def __init__(self, version: str) -> None:
        super().__init__(_ENGINE, version)
        self._networkx: Any = None

    async def _get_ready(self) -> None:
        """Import the library in a thread on first use. It has 280 modules and takes a tenth of a second."""
        if self._networkx is None:
            try:
                self._networkx = await asyncio.to_thread(importlib.import_module, _ENGINE)
            except ImportError as error:
                raise StoreUnavailable(f"graph.networkx: {error}; {_REMEDY}") from error

    def _new_scope(self) -> Scope:
        return _Digraph(self._networkx.DiGraph())


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
    extra="networkx",
    warm_up=(_ENGINE,),
)
