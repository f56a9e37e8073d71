"""Wrong GraphStores that are right up to a number: beyond it they leave something out, and say nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import islice
from typing import Any

from attrs import evolve

from saga_backends.memory import MemoryGraph
from saga_core.capabilities import Capability
from saga_core.stores import Edge, Mutation, Node
from saga_core.stores.validate import check_endpoints, check_mutation
from tests.mutants.stores_graph_reading import WalkingGraph
from tests.mutants.stores_registry import capped


class _Applying(MemoryGraph):
    """Changes a mutation that was found well formed."""

    cap = 0

    def changed(self, mutation: Mutation) -> Mutation:
        return mutation

    async def apply(self, scope: str, mutation: Mutation) -> None:
        found = self._scope(scope)
        check_mutation(mutation, self.info.limits)
        check_endpoints(mutation, found.nodes)
        await super().apply(scope, self.changed(mutation))


@capped("G-4", of_a_batch=True)
class PutsTheFirstNodes(_Applying):
    def changed(self, mutation: Mutation) -> Mutation:
        kept = mutation.put_nodes[: self.cap]
        names = {node.id for node in mutation.put_nodes[self.cap :]}
        edges = tuple(edge for edge in mutation.put_edges if not names & {edge.source, edge.target})
        return evolve(mutation, put_nodes=kept, put_edges=edges)


@capped("G-5", of_a_batch=True)
class PutsTheFirstEdges(_Applying):
    def changed(self, mutation: Mutation) -> Mutation:
        return evolve(mutation, put_edges=mutation.put_edges[: self.cap])


@capped("G-8", of_a_batch=True)
class DeletesTheFirstNodes(_Applying):
    def changed(self, mutation: Mutation) -> Mutation:
        return evolve(mutation, delete_nodes=mutation.delete_nodes[: self.cap])


@capped("G-10", of_a_batch=True)
class DeletesTheFirstEdges(_Applying):
    def changed(self, mutation: Mutation) -> Mutation:
        return evolve(mutation, delete_edges=mutation.delete_edges[: self.cap])


@capped("G-8")
class LeavesEdgesOfADeletedNode(MemoryGraph):
    """So many go with it, and the others are there again when the node is."""

    cap = 0

    async def apply(self, scope: str, mutation: Mutation) -> None:
        gone = set(mutation.delete_nodes)
        edges = self._scope(scope).edges if gone else {}
        edges_of = ((key, edge) for key, edge in edges.items() if {key.source, key.target} & gone)
        stay = dict(islice(edges_of, self.cap, None))
        await super().apply(scope, mutation)
        self._scope(scope).edges.update(stay)


@capped("G-11", of_a_batch=True)
class LooksForTheFirstEnds(MemoryGraph):
    """An edge further back may lead nowhere."""

    cap = 0

    async def apply(self, scope: str, mutation: Mutation) -> None:
        check_mutation(mutation, self.info.limits)
        late = mutation.put_edges[self.cap :]
        await super().apply(scope, evolve(mutation, put_edges=mutation.put_edges[: self.cap]))
        self._scope(scope).edges.update({edge.identity: edge for edge in late})


@capped("G-12", of_a_batch=True)
class LooksAtAPieceWhenItsTurnComes(MemoryGraph):
    """What stands in a later piece of a mutation is looked at when the first piece is written."""

    cap = 0

    async def apply(self, scope: str, mutation: Mutation) -> None:
        if self.cap < mutation.size <= self.info.limits.batch and len(mutation.put_nodes) >= self.cap:
            await super().apply(scope, Mutation(mutation.put_nodes[: self.cap]))
            mutation = evolve(mutation, put_nodes=mutation.put_nodes[self.cap :])
        await super().apply(scope, mutation)


@capped("G-36", of_a_batch=True)
class ShowsTheFirstPiece(_Applying):
    """Readers come between the pieces of a large mutation."""

    async def apply(self, scope: str, mutation: Mutation) -> None:
        if len(mutation.put_nodes) > self.cap:
            self._scope(scope)
            check_mutation(mutation, self.info.limits)
            check_endpoints(mutation, self._scope(scope).nodes)
            await super().apply(scope, Mutation(mutation.put_nodes[: self.cap]))
            await asyncio.sleep(0)
            mutation = evolve(mutation, put_nodes=mutation.put_nodes[self.cap :])
        await super().apply(scope, mutation)


@capped("G-4")
class HoldsSoManyNodes(MemoryGraph):
    """A scope that is full lets go of what was put first."""

    cap = 0

    async def apply(self, scope: str, mutation: Mutation) -> None:
        await super().apply(scope, mutation)
        over = len(self._scope(scope).nodes) - self.cap
        if over > 0:
            await super().apply(scope, Mutation(delete_nodes=tuple(islice(self._scope(scope).nodes, over))))


# --- reading -------------------------------------------------------------------------------------------------


@capped("G-16", of_a_batch=True)
class AnswersTheFirstIds(MemoryGraph):
    cap = 0

    async def get(self, scope: str, ids: Sequence[str]) -> dict[str, Node]:
        found = await super().get(scope, ids)
        asked = frozenset(islice(ids, self.cap))
        return {name: node for name, node in found.items() if name in asked}


@capped("G-22")
class ScansSoMany(MemoryGraph):
    cap = 0

    async def scan(self, scope: str, **options: Any) -> list[Node]:
        return (await super().scan(scope, **options))[: self.cap]


@capped("G-22")
class PagesEnd(MemoryGraph):
    """A page that begins further back than that is empty; one large scan gives all."""

    cap = 0

    async def scan(self, scope: str, **options: Any) -> list[Node]:
        found, after = await super().scan(scope, **options), options.get("after")
        if after is None:
            return found
        return found if sum(name <= after for name in self._scope(scope).nodes) < self.cap else []


@capped("G-23")
class ScansSoManyOfALabel(MemoryGraph):
    cap = 0

    async def scan(self, scope: str, **options: Any) -> list[Node]:
        found = await super().scan(scope, **options)
        return found if options.get("label") is None else found[: self.cap]


@capped("G-23")
class LooksForALabelAmongTheFirst(MemoryGraph):
    cap = 0

    async def scan(self, scope: str, **options: Any) -> list[Node]:
        found = await super().scan(scope, **options)
        if options.get("label") is None:
            return found
        first = frozenset(islice(sorted(self._scope(scope).nodes), self.cap))
        return [node for node in found if node.id in first]


class _Near(MemoryGraph):
    """Changes what ``neighbors`` gives."""

    cap = 0

    def near(self, found: list[Edge], ids: Sequence[str], options: dict[str, Any]) -> list[Edge]:
        return found

    async def neighbors(self, scope: str, ids: Sequence[str], **options: Any) -> list[Edge]:
        return self.near(await super().neighbors(scope, ids, **options), ids, options)


@capped("G-17")
class GivesSoManyEdges(_Near):
    def near(self, found: list[Edge], ids: Sequence[str], options: dict[str, Any]) -> list[Edge]:
        return found[: self.cap]


@capped("G-20")
class GivesSoManyEdgesWithALimit(_Near):
    """Without a limit all of them are given."""

    def near(self, found: list[Edge], ids: Sequence[str], options: dict[str, Any]) -> list[Edge]:
        return found if options.get("limit") is None else found[: self.cap]


@capped("G-17")
class GivesSoManyArriving(_Near):
    def near(self, found: list[Edge], ids: Sequence[str], options: dict[str, Any]) -> list[Edge]:
        return found[: self.cap] if options.get("direction") == "in" else found


@capped("G-17", of_a_batch=True)
class LooksAroundTheFirstIds(_Near):
    def near(self, found: list[Edge], ids: Sequence[str], options: dict[str, Any]) -> list[Edge]:
        asked = frozenset(islice(ids, self.cap))
        return [edge for edge in found if edge.source in asked or edge.target in asked]


@capped("G-19", of_a_batch=True)
class LooksForTheFirstTypes(_Near):
    def near(self, found: list[Edge], ids: Sequence[str], options: dict[str, Any]) -> list[Edge]:
        types = options.get("types")
        asked = frozenset(islice(types, self.cap)) if types is not None else None
        return [edge for edge in found if asked is None or edge.type in asked]


@capped("G-19")
class GivesSoManyEdgesOfTypes(_Near):
    """Without types all of them are given."""

    def near(self, found: list[Edge], ids: Sequence[str], options: dict[str, Any]) -> list[Edge]:
        return found if options.get("types") is None else found[: self.cap]


@capped("G-30", Capability.RESIDENT, Capability.NATIVE_EXPAND)
class WalksToSoMany(WalkingGraph):
    cap = 0

    async def expand(self, scope: str, ids: Sequence[str], *, hops: int, types: Any = None) -> dict[str, int]:
        return dict(islice((await super().expand(scope, ids, hops=hops, types=types)).items(), self.cap))


# --- scopes --------------------------------------------------------------------------------------------------


@capped("G-25")
class DropsSoManyNodes(MemoryGraph):
    """The scope is listed no more. What is left in it is there again when it begins anew."""

    cap = 0

    def __init__(self) -> None:
        super().__init__()
        self.left: dict[str, tuple[Node, ...]] = {}

    async def drop(self, scope: str) -> None:
        left = tuple(islice(self._scope(scope).nodes.values(), self.cap, None))
        await super().drop(scope)
        if left:
            self.left[scope] = left

    async def apply(self, scope: str, mutation: Mutation) -> None:
        await super().apply(scope, mutation)
        held = self._scope(scope)
        for node in self.left.pop(scope, ()):
            held.nodes.setdefault(node.id, node)


@capped("G-25")
class DropsSoManyEdges(MemoryGraph):
    """Those that are left touch the nodes when these are put again."""

    cap = 0

    def __init__(self) -> None:
        super().__init__()
        self.left: dict[str, tuple[Edge, ...]] = {}

    async def drop(self, scope: str) -> None:
        left = tuple(islice(self._scope(scope).edges.values(), self.cap, None))
        await super().drop(scope)
        if left:
            self.left[scope] = left

    async def apply(self, scope: str, mutation: Mutation) -> None:
        await super().apply(scope, mutation)
        held = self._scope(scope)
        for edge in self.left.get(scope, ()):
            if edge.source in held.nodes and edge.target in held.nodes:
                held.edges.setdefault(edge.identity, edge)


@capped("G-3")
class ListsSoManyScopes(MemoryGraph):
    cap = 0

    async def scopes(self) -> list[str]:
        return (await super().scopes())[: self.cap]


@capped("G-24")
class MarksSoManyScopes(MemoryGraph):
    """A table of watermarks that lets go of the first."""

    cap = 0

    async def watermark(self, scope: str) -> str | None:
        found = await super().watermark(scope)
        late = frozenset(islice(reversed(self._scopes), self.cap))
        return found if scope in late else None
