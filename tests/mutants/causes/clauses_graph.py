"""Wrong GraphStores and MdCaches that were written from the clauses by somebody who had not read a check."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from attrs import evolve

from saga_backends.memory import MemoryCache, MemoryGraph
from saga_core.stores import Edge, EdgeKey, Mutation, Node, Pages, Value
from saga_core.stores.validate import check_endpoints, check_mutation
from tests.mutants.causes.graph_wrong import Applying, Near, Scans
from tests.mutants.stores_registry import breaks


@breaks("G-8")
class KeepsEdgesOfANodeThatComesBack(Applying):
    """A node that a mutation deletes and puts again keeps its edges."""

    def changed(self, scope: str, mutation: Mutation) -> Mutation:
        again = {node.id for node in mutation.put_nodes}
        return evolve(mutation, delete_nodes=tuple(name for name in mutation.delete_nodes if name not in again))


@breaks("G-7")
class DeletesEdgesLast(MemoryGraph):
    async def apply(self, scope: str, mutation: Mutation) -> None:
        await super().apply(scope, mutation)
        if mutation.delete_edges:
            await super().apply(scope, Mutation(delete_edges=mutation.delete_edges))


@breaks("G-18")
class OrdersWhatArrivesByItsTarget(Near):
    def near(self, found: list[Edge], ids: Sequence[str], options: dict[str, Any]) -> list[Edge]:
        if options.get("direction") == "in":
            return sorted(found, key=lambda edge: (edge.target, edge.type, edge.source, edge.key))
        return found


@breaks("G-20")
class CutsBeforeItChoosesTypes(MemoryGraph):
    """Three times the limit is read, and then the types are chosen."""

    async def neighbors(self, scope: str, ids: Sequence[str], **options: Any) -> list[Edge]:
        found = await super().neighbors(scope, ids, **options)
        types, limit = options.get("types"), options.get("limit")
        if types is None or limit is None:
            return found
        few = await super().neighbors(scope, ids, direction=options.get("direction", "both"), limit=limit * 3)
        return [edge for edge in few if edge.type in types][:limit]


@breaks("G-21")
class NumbersParallelEdges(MemoryGraph):
    """Keys are numbers inside: an edge without one is the edge ``0``."""

    async def apply(self, scope: str, mutation: Mutation) -> None:
        await super().apply(scope, mutation)
        known = self._scope(scope).edges
        twins = [evolve(edge, key="").identity for edge in mutation.put_edges if edge.key == "0"]
        if gone := tuple(key for key in twins if key in known):
            await super().apply(scope, Mutation(delete_edges=gone))


@breaks("G-21")
class GivesEqualParallelsOnce(Near):
    """Parallel edges that say the same are one row of a ``DISTINCT``."""

    def near(self, found: list[Edge], ids: Sequence[str], options: dict[str, Any]) -> list[Edge]:
        rows: dict[object, Edge] = {}
        for edge in found:
            about = tuple(sorted(edge.properties.items(), key=str))
            rows.setdefault((edge.source, edge.type, edge.target, about or edge.key), edge)
        return list(rows.values())


@breaks("G-10")
class DeletesTheEdgeWithoutAKey(MemoryGraph):
    """A key that is not there is left out of the condition."""

    async def apply(self, scope: str, mutation: Mutation) -> None:
        known = dict(self._scope(scope).edges)
        await super().apply(scope, mutation)
        bare = (EdgeKey(key.source, key.type, key.target) for key in mutation.delete_edges if key not in known)
        if gone := tuple(bare):
            await super().apply(scope, Mutation(delete_edges=gone))


class _Changed(MemoryGraph):
    """Properties are read otherwise than they were written."""

    def read(self, value: Value) -> Value:
        return value

    def _node(self, node: Node) -> Node:
        return evolve(node, properties={name: self.read(value) for name, value in node.properties.items()})

    async def get(self, scope: str, ids: Sequence[str]) -> dict[str, Node]:
        return {name: self._node(node) for name, node in (await super().get(scope, ids)).items()}

    async def scan(self, scope: str, **options: Any) -> list[Node]:
        return [self._node(node) for node in await super().scan(scope, **options)]


@breaks("G-13")
class ReadsWholeFloatsAsIntegers(_Changed):
    """From where a float has no places behind the point any more."""

    def read(self, value: Value) -> Value:
        return int(value) if isinstance(value, float) and 1e15 <= abs(value) < 1e22 else value


@breaks("G-13")
class ReadsMomentsFromTexts(_Changed):
    """What looks like a date and a time is one to the engine."""

    def read(self, value: Value) -> Value:
        return (
            value.replace("T", " ") if isinstance(value, str) and value[4:5] == "-" and value[10:11] == "T" else value
        )


@breaks("G-13")
class DropsTheZerosOfTexts(_Changed):
    def read(self, value: Value) -> Value:
        return str(int(value)) if isinstance(value, str) and value.isascii() and value.isdigit() else value


@breaks("G-13")
class ReadsATupleOfOneAsItsPart(_Changed):
    def read(self, value: Value) -> Value:
        return value[0] if isinstance(value, tuple) and len(value) == 1 else value


@breaks("G-15")
class NestsFieldsAtTheirDots(MemoryGraph):
    """``a.b`` is the field ``b`` of ``a``, and is gone when ``a`` is there as well."""

    async def get(self, scope: str, ids: Sequence[str]) -> dict[str, Node]:
        def flat(properties: Mapping[str, Value]) -> dict[str, Value]:
            return {
                name: value
                for name, value in properties.items()
                if "." not in name or name.split(".")[0] not in properties
            }

        found = await super().get(scope, ids)
        return {name: evolve(node, properties=flat(node.properties)) for name, node in found.items()}


@breaks("G-22")
class BeginsAnewBehindWhatIsGone(MemoryGraph):
    async def scan(self, scope: str, **options: Any) -> list[Node]:
        after = options.get("after")
        found = await super().scan(scope, **options)
        known = self._scope(scope).nodes
        return found if after is None or after in known else await super().scan(scope, **{**options, "after": None})


@breaks("G-1")
class ForgetsAnEmptiedScope(MemoryGraph):
    async def scopes(self) -> list[str]:
        return [name for name in await super().scopes() if self._scopes[name].nodes or self._scopes[name].watermark]


@breaks("G-3")
class ListsTwoHundredScopes(MemoryGraph):
    async def scopes(self) -> list[str]:
        return (await super().scopes())[:200]


@breaks("G-36")
class MarksBeforeItWrites(MemoryGraph):
    """The watermark is there a moment before the nodes."""

    async def apply(self, scope: str, mutation: Mutation) -> None:
        found = self._scope(scope)
        check_mutation(mutation, self.info.limits)
        check_endpoints(mutation, found.nodes)
        if mutation.size > 100 and mutation.watermark is not None:
            await super().apply(scope, Mutation(watermark=mutation.watermark))
            await asyncio.sleep(0)
        await super().apply(scope, mutation)


@breaks("G-36")
class PutsEdgesATurnLater(MemoryGraph):
    async def apply(self, scope: str, mutation: Mutation) -> None:
        found = self._scope(scope)
        check_mutation(mutation, self.info.limits)
        check_endpoints(mutation, found.nodes)
        if mutation.size > 150 and mutation.put_nodes and mutation.put_edges:
            await super().apply(scope, evolve(mutation, put_edges=()))
            await asyncio.sleep(0)
            await super().apply(scope, Mutation(put_edges=mutation.put_edges))
        else:
            await super().apply(scope, mutation)


@breaks("L-8")
class StandsStillForALongScan(Scans):
    def found(self, nodes: list[Node], options: dict[str, Any]) -> list[Node]:
        if len(nodes) > 500:
            time.sleep(0.6)
        return nodes


@breaks("L-9")
class KeepsALockOfACancelledRead(MemoryGraph):
    """The lock is taken by hand, and given back only by what goes well."""

    def __init__(self) -> None:
        super().__init__()
        self._busy = asyncio.Lock()

    async def get(self, scope: str, ids: Sequence[str]) -> dict[str, Node]:
        self._alive()
        await asyncio.sleep(0)
        await self._busy.acquire()
        await asyncio.sleep(0)
        self._busy.release()
        return await super().get(scope, ids)


# --- MdCache -------------------------------------------------------------------------------------------------


@breaks("C-2")
class KeepsTheLast128Scopes(MemoryCache):
    async def write(self, scope: str, pages: Pages) -> None:
        await super().write(scope, pages)
        for name in list(islice(self._scopes, max(0, len(self._scopes) - 128))):
            del self._scopes[name]


@breaks("C-5")
class ListsOnePageOfScopes(MemoryCache):
    async def scopes(self) -> list[str]:
        return (await super().scopes())[:200]


@breaks("C-3")
class KeepsTheTurnOfEqualPages(MemoryCache):
    """Pages that are as they were are not written, unless another turn is named."""

    async def write(self, scope: str, pages: Pages) -> None:
        before = await self.read(scope)
        await super().write(scope, pages)
        if before is not None and before.files == pages.files and not pages.watermark:
            await super().write(scope, before)


@breaks("C-2")
class EndsATextAtASignOfFourBytes(MemoryCache):
    async def read(self, scope: str) -> Pages | None:
        found = await super().read(scope)
        return found and evolve(found, files={name: _short(text) for name, text in found.files.items()})


def _short(text: str) -> str:
    return next((text[:at] for at, sign in enumerate(text) if sign > "\uffff"), text)


@breaks("C-7")
class ReadsFromTwoReplicas(MemoryCache):
    """Every second read is answered by one that follows a moment later."""

    def __init__(self) -> None:
        super().__init__()
        self._behind: dict[str, Pages] = {}
        self._turn = 0

    async def write(self, scope: str, pages: Pages) -> None:
        before = self._scopes.get(scope)
        await super().write(scope, pages)
        if before is not None:
            self._behind[scope] = before
            asyncio.get_running_loop().call_later(0.003, self._behind.pop, scope, None)

    async def read(self, scope: str) -> Pages | None:
        found = await super().read(scope)
        self._turn += 1
        return self._behind.get(scope, found) if found is not None and self._turn % 2 else found
