"""Wrong GraphStores, writing: each breaks one clause."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import evolve

from saga_backends.memory import MemoryGraph, _GraphScope
from saga_core.errors import BadInput, NotFound
from saga_core.stores.graph import Edge, Mutation, Node, Value
from tests.mutants.stores_registry import breaks, renaming

METHODS = "apply get neighbors scan watermark drop"


class Rewriting(MemoryGraph):
    """Changes a mutation before it applies it."""

    def rewritten(self, scope: str, mutation: Mutation) -> Mutation:
        return mutation

    async def apply(self, scope: str, mutation: Mutation) -> None:
        await super().apply(scope, self.rewritten(scope, mutation))


class Valued(Rewriting):
    """Changes the values of properties."""

    def value(self, value: Any) -> Any:
        return value

    def properties(self, properties: Mapping[str, Value]) -> Any:
        return {name: self.value(value) for name, value in properties.items()}

    def rewritten(self, scope: str, mutation: Mutation) -> Mutation:
        nodes = tuple(evolve(node, properties=self.properties(node.properties)) for node in mutation.put_nodes)
        edges = tuple(evolve(edge, properties=self.properties(edge.properties)) for edge in mutation.put_edges)
        return evolve(mutation, put_nodes=nodes, put_edges=edges)


@breaks("G-1")
class MakesAScopeOfNothing(MemoryGraph):
    async def apply(self, scope: str, mutation: Mutation) -> None:
        await super().apply(scope, mutation)
        self._scopes.setdefault(scope, _GraphScope())


@breaks("G-1")
class NeedsANodeForAScope(MemoryGraph):
    async def scopes(self) -> list[str]:
        return [scope for scope in await super().scopes() if self._scopes[scope].nodes]


@breaks("G-2")
class ComposesScopes(MemoryGraph):
    pass


renaming(ComposesScopes, METHODS, lambda scope: unicodedata.normalize("NFC", scope))


@breaks("G-2")
class LeaksANode(MemoryGraph):
    async def get(self, scope: str, ids: Sequence[str]) -> dict[str, Node]:
        found = await super().get(scope, ids)
        others = [node for held in self._scopes.values() for node in held.nodes.values() if node.id in ids]
        return {node.id: node for node in others} | found


@breaks("G-3")
class ListsScopesAsTheyCame(MemoryGraph):
    async def scopes(self) -> list[str]:
        await super().scopes()
        return list(self._scopes)


@breaks("G-4")
class MergesNodes(Rewriting):
    def rewritten(self, scope: str, mutation: Mutation) -> Mutation:
        old = self._scopes.get(scope, _GraphScope()).nodes
        nodes = tuple(
            evolve(node, properties={**old[node.id].properties, **node.properties}) if node.id in old else node
            for node in mutation.put_nodes
        )
        return evolve(mutation, put_nodes=nodes)


@breaks("G-4")
class LosesTheEdgesOfAReplacedNode(Rewriting):
    def rewritten(self, scope: str, mutation: Mutation) -> Mutation:
        old = self._scopes.get(scope, _GraphScope()).nodes
        again = tuple(node.id for node in mutation.put_nodes if node.id in old)
        return evolve(mutation, delete_nodes=(*mutation.delete_nodes, *again))


@breaks("G-4")
class KeepsTheOldLabel(Rewriting):
    def rewritten(self, scope: str, mutation: Mutation) -> Mutation:
        old = self._scopes.get(scope, _GraphScope()).nodes
        nodes = tuple(evolve(n, label=old[n.id].label) if n.id in old else n for n in mutation.put_nodes)
        return evolve(mutation, put_nodes=nodes)


@breaks("G-5")
class MergesEdges(Rewriting):
    def rewritten(self, scope: str, mutation: Mutation) -> Mutation:
        old = self._scopes.get(scope, _GraphScope()).edges
        edges = tuple(
            evolve(e, properties={**old[e.identity].properties, **e.properties}) if e.identity in old else e
            for e in mutation.put_edges
        )
        return evolve(mutation, put_edges=edges)


@breaks("G-6")
class TakesTheFirstOfTwo(Rewriting):
    def rewritten(self, scope: str, mutation: Mutation) -> Mutation:
        return evolve(mutation, put_nodes=mutation.put_nodes[::-1], put_edges=mutation.put_edges[::-1])


@breaks("G-7")
class PutsBeforeItDeletes(MemoryGraph):
    async def apply(self, scope: str, mutation: Mutation) -> None:
        await super().apply(scope, evolve(mutation, delete_nodes=(), delete_edges=()))
        await super().apply(scope, Mutation((), (), mutation.delete_nodes, mutation.delete_edges))


@breaks("G-8")
class LeavesEdgesThatArrive(MemoryGraph):
    async def apply(self, scope: str, mutation: Mutation) -> None:
        edges = dict(self._scopes.get(scope, _GraphScope()).edges)
        await super().apply(scope, mutation)
        for key, edge in edges.items():
            if key.target in mutation.delete_nodes and key.source not in mutation.delete_nodes:
                self._scopes[scope].edges.setdefault(key, edge)


@breaks("G-9")
class RefusesAMutationAgain(MemoryGraph):
    last: Mutation | None = None

    async def apply(self, scope: str, mutation: Mutation) -> None:
        if mutation and mutation == self.last:
            raise BadInput("mutation: was applied already")
        await super().apply(scope, mutation)
        self.last = mutation


@breaks("G-9")
class CountsHowOften(MemoryGraph):
    async def apply(self, scope: str, mutation: Mutation) -> None:
        before = dict(self._scopes.get(scope, _GraphScope()).nodes)
        await super().apply(scope, mutation)
        for node in mutation.put_nodes:
            if before.get(node.id) == node and not node.properties:
                self._scopes[scope].nodes[node.id] = evolve(node, properties={"again": True})


@breaks("G-10")
class MissesWhatItShouldDelete(MemoryGraph):
    async def apply(self, scope: str, mutation: Mutation) -> None:
        held = self._scopes.get(scope, _GraphScope())
        if any(key not in held.edges for key in mutation.delete_edges):
            raise NotFound("delete_edges: no such edge")
        await super().apply(scope, mutation)


@breaks("G-11")
class MakesTheMissingNode(Rewriting):
    def rewritten(self, scope: str, mutation: Mutation) -> Mutation:
        held = self._scopes.get(scope, _GraphScope()).nodes
        there = {*held, *(node.id for node in mutation.put_nodes)} - {*mutation.delete_nodes}
        ends = {end for edge in mutation.put_edges for end in (edge.source, edge.target)} - there
        return evolve(mutation, put_nodes=(*mutation.put_nodes, *(Node(end, "?") for end in sorted(ends))))


@breaks("G-11")
class DropsTheDanglingEdge(Rewriting):
    def rewritten(self, scope: str, mutation: Mutation) -> Mutation:
        held = self._scopes.get(scope, _GraphScope()).nodes
        there = ({*held} - {*mutation.delete_nodes}) | {node.id for node in mutation.put_nodes}
        edges = tuple(edge for edge in mutation.put_edges if {edge.source, edge.target} <= there)
        return evolve(mutation, put_edges=edges)


@breaks("G-12")
class TearsAMutation(MemoryGraph):
    async def apply(self, scope: str, mutation: Mutation) -> None:
        try:
            await super().apply(scope, mutation)
        except BadInput:
            good = tuple(node for node in mutation.put_nodes if node.id and node.label and not node.properties)
            await super().apply(scope, Mutation(good))
            raise


@breaks("G-12")
class ListsARefusedScope(MemoryGraph):
    async def apply(self, scope: str, mutation: Mutation) -> None:
        if scope and scope == str(scope) and not self._closed:
            self._scopes.setdefault(scope, _GraphScope())
        await super().apply(scope, mutation)


@breaks("G-13")
class MakesFloatsOfInts(Valued):
    def value(self, value: Any) -> Any:
        return float(value) if type(value) is int and abs(value) < 2**53 else value


@breaks("G-13")
class MakesIntsOfBooleans(Valued):
    def value(self, value: Any) -> Any:
        return int(value) if type(value) is bool else value


@breaks("G-13")
class LosesNulls(Valued):
    def properties(self, properties: Mapping[str, Value]) -> Any:
        return {name: value for name, value in properties.items() if value is not None}


@breaks("G-13")
class LosesTheSignOfZero(Valued):
    def value(self, value: Any) -> Any:
        return value + 0.0 if type(value) is float else value


@breaks("G-13")
class LosesDigits(Valued):
    def value(self, value: Any) -> Any:
        return int(float(value)) if type(value) is int and abs(value) < 2**63 - 1 else value


@breaks("G-14")
class StoresNanAsNull(Valued):
    def value(self, value: Any) -> Any:
        return None if type(value) is float and math.isnan(value) else value


@breaks("G-14")
class TakesListsForTuples(Valued):
    def value(self, value: Any) -> Any:
        return tuple(value) if type(value) is list else value


def _composed(text: Any) -> Any:
    return unicodedata.normalize("NFC", text) if isinstance(text, str) else text


@breaks("G-15")
class ComposesIds(Rewriting):
    def rewritten(self, scope: str, mutation: Mutation) -> Mutation:
        nodes = tuple(evolve(node, id=_composed(node.id)) for node in mutation.put_nodes)
        edges = tuple(evolve(e, source=_composed(e.source), target=_composed(e.target)) for e in mutation.put_edges)
        return evolve(mutation, put_nodes=nodes, put_edges=edges)


@breaks("G-15")
class ShortensTypes(Rewriting):
    def rewritten(self, scope: str, mutation: Mutation) -> Mutation:
        edges = tuple(evolve(edge, type=edge.type.strip() or edge.type) for edge in mutation.put_edges)
        return evolve(mutation, put_edges=edges)


def _longest(name: Any, most: int) -> Any:
    return name[:most] if isinstance(name, str) else name


@breaks("G-28")
class CutsLongNames(Rewriting):
    def rewritten(self, scope: str, mutation: Mutation) -> Mutation:
        most = self.info.limits.name_chars
        nodes = tuple(evolve(n, id=_longest(n.id, most), label=_longest(n.label, most)) for n in mutation.put_nodes)
        return evolve(mutation, put_nodes=nodes)


@breaks("G-29")
class SharesProperties(MemoryGraph):
    """Holds and gives out the very objects."""

    async def apply(self, scope: str, mutation: Mutation) -> None:
        await super().apply(scope, mutation)
        for node in mutation.put_nodes:
            self._scopes[scope].nodes[node.id] = node

    async def get(self, scope: str, ids: Sequence[str]) -> dict[str, Node]:
        return {node_id: self._scopes[scope].nodes[node_id] for node_id in await super().get(scope, ids)}


Rewrite = Callable[[Edge], Edge]


@breaks("G-21")
class IgnoresTheKey(Rewriting):
    def rewritten(self, scope: str, mutation: Mutation) -> Mutation:
        edges = tuple(evolve(edge, key="") if edge.key else edge for edge in mutation.put_edges)
        return evolve(mutation, put_edges=edges)


@breaks("G-24")
class ForgetsTheWatermark(Rewriting):
    """A mutation without one takes it away."""

    async def apply(self, scope: str, mutation: Mutation) -> None:
        await super().apply(scope, mutation)
        if scope in self._scopes and mutation:
            self._scopes[scope].watermark = mutation.watermark


@breaks("G-24")
class KeepsTheFirstWatermark(Rewriting):
    def rewritten(self, scope: str, mutation: Mutation) -> Mutation:
        marked = self._scopes.get(scope, _GraphScope()).watermark
        return evolve(mutation, watermark=mutation.watermark if marked is None else marked)


@breaks("G-25")
class DropLeavesTheWatermark(MemoryGraph):
    kept: dict[str, str | None]

    def __init__(self) -> None:
        super().__init__()
        self.kept = {}

    async def drop(self, scope: str) -> None:
        if scope in self._scopes:
            self.kept[scope] = self._scopes[scope].watermark
        await super().drop(scope)

    async def watermark(self, scope: str) -> str | None:
        return await super().watermark(scope) or self.kept.get(scope)


@breaks("G-25")
class DropsByPrefix(MemoryGraph):
    async def drop(self, scope: str) -> None:
        await super().drop(scope)
        for other in [other for other in self._scopes if other.startswith(scope)]:
            del self._scopes[other]


@breaks("G-25")
class DropLeavesEdges(MemoryGraph):
    def __init__(self) -> None:
        super().__init__()
        self.left: dict[str, Any] = {}

    async def drop(self, scope: str) -> None:
        held = self._scopes.get(scope)
        await super().drop(scope)
        self.left[scope] = dict(held.edges) if held else {}

    async def apply(self, scope: str, mutation: Mutation) -> None:
        await super().apply(scope, mutation)
        held = self._scopes.get(scope)
        if held is not None:
            for key, edge in self.left.pop(scope, {}).items():
                held.edges.setdefault(key, edge)


@breaks("G-26")
class ReadingMakesAScope(MemoryGraph):
    async def scan(self, scope: str, **options: Any) -> list[Node]:
        found = await super().scan(scope, **options)
        self._scopes.setdefault(scope, _GraphScope())
        return found


@breaks("G-26")
class MissesAnUnknownScope(MemoryGraph):
    async def drop(self, scope: str) -> None:
        await super().watermark(scope)
        if scope not in self._scopes:
            raise NotFound(f"no scope {scope!r}")
        await super().drop(scope)
