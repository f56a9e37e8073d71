"""Wrong GraphStores: at size, in names, and with answers that are older than they may be."""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections.abc import Sequence
from typing import Any

from attrs import evolve

from saga_backends.memory import MemoryGraph
from saga_core.capabilities import Capability
from saga_core.stores import Edge, EdgeKey, Mutation, Node
from saga_core.stores.validate import check_endpoints, check_mutation
from tests.mutants.causes.state_names import INVISIBLE, like
from tests.mutants.stores_graph_reading import WalkingGraph
from tests.mutants.stores_registry import breaks, renaming


class Applying(MemoryGraph):
    """Changes a mutation that was found well formed."""

    def changed(self, scope: str, mutation: Mutation) -> Mutation:
        return mutation

    async def apply(self, scope: str, mutation: Mutation) -> None:
        found = self._scope(scope)
        check_mutation(mutation, self.info.limits)
        check_endpoints(mutation, found.nodes)
        await super().apply(scope, self.changed(scope, mutation))


class Near(MemoryGraph):
    """Changes what ``neighbors`` gives."""

    def near(self, found: list[Edge], ids: Sequence[str], options: dict[str, Any]) -> list[Edge]:
        return found

    async def neighbors(self, scope: str, ids: Sequence[str], **options: Any) -> list[Edge]:
        return self.near(await super().neighbors(scope, ids, **options), ids, options)


class Scans(MemoryGraph):
    """Changes what ``scan`` gives."""

    def found(self, nodes: list[Node], options: dict[str, Any]) -> list[Node]:
        return nodes

    async def scan(self, scope: str, **options: Any) -> list[Node]:
        return self.found(await super().scan(scope, **options), options)


# --- size ----------------------------------------------------------------------------------------------------


@breaks("G-22")
class ScanEndsAtAThousand(Scans):
    def found(self, nodes: list[Node], options: dict[str, Any]) -> list[Node]:
        return nodes[:1_000]


@breaks("G-23")
class TheLabelIndexSeesHalf(Scans):
    def found(self, nodes: list[Node], options: dict[str, Any]) -> list[Node]:
        return nodes[::2] if options.get("label") and len(nodes) >= 256 else nodes


@breaks("G-22")
class OrdersPagesByThemselves(Scans):
    def found(self, nodes: list[Node], options: dict[str, Any]) -> list[Node]:
        return nodes if len(nodes) <= 1_000 else nodes[1_000:] + nodes[:1_000]


@breaks("G-16")
class GetsNineHundredNinetyNine(MemoryGraph):
    async def get(self, scope: str, ids: Sequence[str]) -> dict[str, Node]:
        return dict(list((await super().get(scope, ids)).items())[:999])


@breaks("G-16")
class GetsChunksWithoutTheirLast(MemoryGraph):
    async def get(self, scope: str, ids: Sequence[str]) -> dict[str, Node]:
        found = await super().get(scope, ids)
        lost = set(list(ids)[255::256])
        return {name: node for name, node in found.items() if name not in lost}


@breaks("G-17")
class NeighboursEndAtAThousand(Near):
    def near(self, found: list[Edge], ids: Sequence[str], options: dict[str, Any]) -> list[Edge]:
        return found[:1_000]


@breaks("G-17")
class SeesAHundredIds(MemoryGraph):
    async def neighbors(self, scope: str, ids: Sequence[str], **options: Any) -> list[Edge]:
        await super().neighbors(scope, ids, **options)
        return await super().neighbors(scope, ids[:100] if len(ids) > 100 else ids, **options)


@breaks("G-18")
class GivesAnEdgeForEachChunk(MemoryGraph):
    """Ids are asked for in chunks of 100; an edge between two chunks comes twice, and chunks are not merged."""

    async def neighbors(self, scope: str, ids: Sequence[str], **options: Any) -> list[Edge]:
        if len(ids) <= 100 or len(ids) > self.info.limits.batch:
            return await super().neighbors(scope, ids, **options)
        found: list[Edge] = []
        for at in range(0, len(ids), 100):
            found += await super().neighbors(scope, list(ids)[at : at + 100], **options)
        return found[: options.get("limit")]


@breaks("G-20")
class CapsALargeLimit(Near):
    def near(self, found: list[Edge], ids: Sequence[str], options: dict[str, Any]) -> list[Edge]:
        return found[:255] if options.get("limit") is not None else found


@breaks("G-19")
class TakesManyTypesForAll(MemoryGraph):
    async def neighbors(self, scope: str, ids: Sequence[str], **options: Any) -> list[Edge]:
        await super().neighbors(scope, ids, **options)
        if options.get("types") is not None and len(options["types"]) > 64:
            options["types"] = None
        return await super().neighbors(scope, ids, **options)


@breaks("G-25")
class DropsAThousand(MemoryGraph):
    async def drop(self, scope: str) -> None:
        held = self._scope(scope)
        if len(held.nodes) <= 1_000:
            await super().drop(scope)
            return
        await super().apply(scope, Mutation(delete_nodes=tuple(sorted(held.nodes)[:1_000])))


@breaks("G-25")
class DropsFiveHundredEdges(MemoryGraph):
    """Of a scope that is made again, edges beyond the 500th are there again with their nodes."""

    def __init__(self) -> None:
        super().__init__()
        self.left: dict[str, list[Edge]] = {}

    async def drop(self, scope: str) -> None:
        held = self._scope(scope)
        self.left[scope] = sorted(held.edges.values(), key=lambda edge: edge.identity)[500:]
        await super().drop(scope)

    async def apply(self, scope: str, mutation: Mutation) -> None:
        await super().apply(scope, mutation)
        held = self._scope(scope)
        for edge in self.left.get(scope, []):
            if edge.source in held.nodes and edge.target in held.nodes:
                held.edges.setdefault(edge.identity, edge)


@breaks("G-8")
class DeletesFiveHundredEdgesOfANode(MemoryGraph):
    async def apply(self, scope: str, mutation: Mutation) -> None:
        gone = set(mutation.delete_nodes)
        before = self._scope(scope).edges
        stay = [e for k, e in sorted(before.items()) if k.source in gone or k.target in gone][500:]
        await super().apply(scope, mutation)
        for edge in stay:
            self._scopes[scope].edges.setdefault(edge.identity, edge)


@breaks("G-10")
class DeletesTwoHundredFiftyFive(Applying):
    """Of longer lists of edges to delete, the rest stays. Nothing is absent, and still it is left."""

    def changed(self, scope: str, mutation: Mutation) -> Mutation:
        return evolve(mutation, delete_edges=mutation.delete_edges[:255])


@breaks("G-4")
class LosesTheTailOfAMutation(Applying):
    def changed(self, scope: str, mutation: Mutation) -> Mutation:
        if mutation.put_edges:
            return mutation
        return evolve(mutation, put_nodes=mutation.put_nodes[:2_000])


@breaks("G-5")
class LosesTheTailOfEdges(Applying):
    def changed(self, scope: str, mutation: Mutation) -> Mutation:
        return evolve(mutation, put_edges=mutation.put_edges[:1_000])


@breaks("G-6")
class TakesTheFirstOfTwoChunks(Applying):
    """A node that is put twice, a hundred places apart, keeps its first form."""

    def changed(self, scope: str, mutation: Mutation) -> Mutation:
        chunks = [mutation.put_nodes[at : at + 100] for at in range(0, len(mutation.put_nodes), 100)]
        return evolve(mutation, put_nodes=tuple(node for chunk in reversed(chunks) for node in chunk))


@breaks("G-24")
class ForgetsTheWatermarkOfALargeMutation(Applying):
    def changed(self, scope: str, mutation: Mutation) -> Mutation:
        return evolve(mutation, watermark=None) if mutation.size > 500 else mutation


@breaks("G-13")
class CutsTextsAtAColumn(Applying):
    """A column of text holds 65,535 characters, and cuts without a word."""

    def changed(self, scope: str, mutation: Mutation) -> Mutation:
        def cut(value: Any) -> Any:
            return value[:65_535] if isinstance(value, str) and len(value) > 200_000 else value

        nodes = [evolve(n, properties={k: cut(v) for k, v in n.properties.items()}) for n in mutation.put_nodes]
        return evolve(mutation, put_nodes=tuple(nodes))


@breaks("G-13")
class KeepsAHundredProperties(Applying):
    def changed(self, scope: str, mutation: Mutation) -> Mutation:
        nodes = [evolve(n, properties=dict(list(n.properties.items())[:100])) for n in mutation.put_nodes]
        return evolve(mutation, put_nodes=tuple(nodes))


@breaks("G-13")
class KeepsTwoHundredOfATuple(Applying):
    def changed(self, scope: str, mutation: Mutation) -> Mutation:
        def cut(value: Any) -> Any:
            return value[:200] if isinstance(value, tuple) else value

        edges = [evolve(e, properties={k: cut(v) for k, v in e.properties.items()}) for e in mutation.put_edges]
        return evolve(mutation, put_edges=tuple(edges))


class InChunks(MemoryGraph):
    """Nodes beyond a hundred go into mutations of their own."""

    async def between(self) -> None:
        """Between two chunks."""

    async def apply(self, scope: str, mutation: Mutation) -> None:
        if len(mutation.put_nodes) <= 100 or mutation.size > self.info.limits.batch:
            await super().apply(scope, mutation)
            return
        first = Mutation(mutation.put_nodes[:100], (), mutation.delete_nodes, mutation.delete_edges)
        await super().apply(scope, first)
        for at in range(100, len(mutation.put_nodes), 100):
            await self.between()
            await super().apply(scope, Mutation(mutation.put_nodes[at : at + 100]))
        await super().apply(scope, Mutation(put_edges=mutation.put_edges, watermark=mutation.watermark))


@breaks("G-12")
class TearsALargeMutation(InChunks):
    pass


@breaks("G-36")
class ShowsALargeMutationInParts(InChunks):
    async def between(self) -> None:
        await asyncio.sleep(0)

    async def apply(self, scope: str, mutation: Mutation) -> None:
        check_mutation(mutation, self.info.limits)
        check_endpoints(mutation, self._scope(scope).nodes)
        await super().apply(scope, mutation)


@breaks("G-36")
class ScansBesideAWriter(MemoryGraph):
    """A large scan is read a hundred at a time, each at a moment of its own."""

    async def scan(self, scope: str, **options: Any) -> list[Node]:
        found = await super().scan(scope, **options)
        if len(found) <= 100:
            return found
        pages, rest = found[:100], found[100:]
        while rest:
            await asyncio.sleep(0)
            now = self._scope(scope).nodes
            pages += [evolve(now[node.id]) for node in rest[:100] if node.id in now]
            rest = rest[100:]
        return pages


@breaks("G-30", Capability.RESIDENT, Capability.NATIVE_EXPAND)
class WalksOverAThousand(WalkingGraph):
    async def expand(self, scope: str, ids: Sequence[str], *, hops: int, types: Any = None) -> dict[str, int]:
        return dict(list((await super().expand(scope, ids, hops=hops, types=types)).items())[:1_000])


# --- names ---------------------------------------------------------------------------------------------------


class EdgesByText(Applying):
    """Edges are known by one text."""

    separator = "|"

    def text(self, key: EdgeKey | Edge) -> str:
        return self.separator.join((key.source, key.type, key.target, key.key))

    def changed(self, scope: str, mutation: Mutation) -> Mutation:
        known = {self.text(key): key for key in self._scope(scope).edges}
        edges = []
        for edge in mutation.put_edges:
            same = known.setdefault(self.text(edge), edge.identity)
            edges.append(Edge(same.source, same.type, same.target, same.key, edge.properties))
        return evolve(mutation, put_edges=tuple(edges))


for title, sign in {"Bars": "|", "Slashes": "/", "Colons": ":", "Dashes": "-", "Spaces": " ", "Tabs": "\t"}.items():
    breaks("G-21")(type(f"JoinsEdgesBy{title}", (EdgesByText,), {"separator": sign}))


class Reserved(Applying):
    """A property of this name is kept where the engine keeps its own."""

    name = "label"

    def changed(self, scope: str, mutation: Mutation) -> Mutation:
        nodes = [
            evolve(node, properties={k: node.label if k == self.name else v for k, v in node.properties.items()})
            for node in mutation.put_nodes
        ]
        return evolve(mutation, put_nodes=tuple(nodes))


for title, reserved in {
    "Label": "label",
    "Id": "id",
    "Type": "type",
    "Properties": "properties",
    "UnderscoreId": "_id",
    "Scope": "scope",
    "Name": "name",
}.items():
    breaks("G-15")(type(f"KeepsItsOwnUnder{title}", (Reserved,), {"name": reserved}))


@breaks("G-15")
class KeepsTheSourceInProperties(Applying):
    """A property of an edge called ``source``, ``target`` or ``key`` is overwritten."""

    def changed(self, scope: str, mutation: Mutation) -> Mutation:
        edges = [
            evolve(
                e,
                properties={
                    k: getattr(e, k, v) if k in ("source", "target", "key") else v for k, v in e.properties.items()
                },
            )
            for e in mutation.put_edges
        ]
        return evolve(mutation, put_edges=tuple(edges))


@breaks("G-13")
class HidesPropertiesWithAnUnderscore(MemoryGraph):
    async def get(self, scope: str, ids: Sequence[str]) -> dict[str, Node]:
        found = await super().get(scope, ids)
        return {
            name: evolve(node, properties={k: v for k, v in node.properties.items() if not k.startswith("__")})
            for name, node in found.items()
        }


@breaks("G-13")
class ReadsTextAsAList(Applying):
    """Tuples are kept as text that begins with a bracket, and so is a text that does."""

    def changed(self, scope: str, mutation: Mutation) -> Mutation:
        def read(value: Any) -> Any:
            return (1, 2) if value == "[1, 2]" else value

        nodes = [evolve(n, properties={k: read(v) for k, v in n.properties.items()}) for n in mutation.put_nodes]
        return evolve(mutation, put_nodes=tuple(nodes))


@breaks("G-13")
class ReadsATag(Applying):
    """A text that begins like the sign for a number is read as one."""

    def changed(self, scope: str, mutation: Mutation) -> Mutation:
        def read(value: Any) -> Any:
            return int(value[2:]) if isinstance(value, str) and re.fullmatch(r"[is]:\d{1,6}", value) else value

        nodes = [evolve(n, properties={k: read(v) for k, v in n.properties.items()}) for n in mutation.put_nodes]
        return evolve(mutation, put_nodes=tuple(nodes))


@breaks("G-2")
class JoinsScopeAndId(Applying):
    """Node ``b/c`` of the scope ``a`` and node ``c`` of the scope ``a/b`` are one."""

    async def apply(self, scope: str, mutation: Mutation) -> None:
        await super().apply(scope, mutation)
        for node in mutation.put_nodes:
            for other, held in self._scopes.items():
                for twin in [t for t in held.nodes if other != scope and f"{other}/{t}" == f"{scope}/{node.id}"]:
                    held.nodes[twin] = Node(twin, node.label, dict(node.properties))


class OneMethod(MemoryGraph):
    """Takes another scope for the one that was named, in one method."""


def otherwise(title: str, method: str, rename: Any) -> None:
    """A graph whose ``method`` sees its scope under another name."""
    kind = breaks("G-2")(type(title, (OneMethod,), {"__module__": __name__}))
    renaming(kind, method, rename)


otherwise("FoldsCaseInDrop", "drop", str.lower)
otherwise("FoldsCaseInGet", "get", str.lower)
otherwise("FoldsCaseInScan", "scan", str.lower)
otherwise("FoldsCaseInNeighbors", "neighbors", str.lower)
otherwise("FoldsCaseInWatermark", "watermark", str.lower)
otherwise("ComposesInDrop", "drop", lambda scope: unicodedata.normalize("NFC", scope))
otherwise("TrimsInWatermark", "watermark", str.strip)
otherwise("CutsZeroWidthInNeighbors", "neighbors", lambda scope: INVISIBLE.sub("", scope) or scope)


@breaks("G-25")
class DropsWithLike(MemoryGraph):
    async def drop(self, scope: str) -> None:
        await super().drop(scope)
        for other in [name for name in self._scopes if like(scope, name)]:
            await super().drop(other)


@breaks("G-23")
class FoldsCaseOfLabels(MemoryGraph):
    async def scan(self, scope: str, *, label: Any = None, after: Any = None, limit: Any = 1_000) -> list[Node]:
        await super().scan(scope, label=label, after=after, limit=limit)
        found = await super().scan(scope, after=after, limit=10**9)
        return [node for node in found if label is None or node.label.casefold() == label.casefold()][:limit]


@breaks("G-19")
class FoldsCaseOfTypes(MemoryGraph):
    async def neighbors(
        self, scope: str, ids: Any, *, types: Any = None, limit: Any = None, **options: Any
    ) -> list[Edge]:
        await super().neighbors(scope, ids, types=types, limit=limit, **options)
        found = await super().neighbors(scope, ids, **options)
        wanted = None if types is None else {name.casefold() for name in types}
        return [edge for edge in found if wanted is None or edge.type.casefold() in wanted][:limit]


@breaks("G-15")
class FoldsCaseOfDeletedNodes(Applying):
    def changed(self, scope: str, mutation: Mutation) -> Mutation:
        gone = {name.casefold() for name in mutation.delete_nodes}
        return evolve(mutation, delete_nodes=tuple(n for n in self._scope(scope).nodes if n.casefold() in gone))


@breaks("G-15")
class TakesNumbersForNumbers(MemoryGraph):
    """The id ``007`` finds the node ``7``."""

    async def get(self, scope: str, ids: Sequence[str]) -> dict[str, Node]:
        found = await super().get(scope, ids)
        for name in ids:
            plain = str(int(name)) if name.isdecimal() and name.isascii() else name
            if name not in found and plain in self._scope(scope).nodes:
                found[name] = self._scope(scope).nodes[plain]
        return found


# --- answers of yesterday ------------------------------------------------------------------------------------


class Cached(MemoryGraph):
    """``neighbors`` answers from what it answered before, until ``stale`` says which of it is old."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: dict[Any, list[Edge]] = {}

    def stale(self, scope: str, mutation: Mutation | None) -> None:
        self.answers.clear()

    async def apply(self, scope: str, mutation: Mutation) -> None:
        await super().apply(scope, mutation)
        self.stale(scope, mutation)

    async def drop(self, scope: str) -> None:
        await super().drop(scope)
        self.stale(scope, None)

    async def neighbors(self, scope: str, ids: Sequence[str], **options: Any) -> list[Edge]:
        found = await super().neighbors(scope, ids, **options)
        name = (scope, tuple(ids), *((k, tuple(v) if isinstance(v, list) else v) for k, v in sorted(options.items())))
        return list(self.answers.setdefault(name, found))


@breaks("G-8")
class TheFarEndIsStale(Cached):
    """A mutation makes the answers stale of the nodes that it names, not of those at the other end."""

    def stale(self, scope: str, mutation: Mutation | None) -> None:
        if mutation is None:
            self.answers.clear()
            return
        named = {node.id for node in mutation.put_nodes} | set(mutation.delete_nodes)
        named |= {edge.source for edge in mutation.put_edges} | {key.source for key in mutation.delete_edges}
        self.answers = {n: v for n, v in self.answers.items() if n[0] != scope or not named & set(n[1])}


@breaks("G-5")
class PropertiesOfEdgesAreStale(Cached):
    """Only edges that come or go make an answer stale."""

    def stale(self, scope: str, mutation: Mutation | None) -> None:
        known = {identity for edges in self.answers.values() for identity in (edge.identity for edge in edges)}
        if (
            mutation is None
            or mutation.delete_nodes
            or mutation.delete_edges
            or any(edge.identity not in known for edge in mutation.put_edges)
        ):
            self.answers.clear()


@breaks("G-25")
class DropLeavesTheAdjacency(Cached):
    def stale(self, scope: str, mutation: Mutation | None) -> None:
        if mutation is not None:
            self.answers.clear()


@breaks("G-9")
class SkipsWhatItHasSeen(MemoryGraph):
    """A mutation that was applied once is taken for a repetition for ever."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[Any] = set()

    async def apply(self, scope: str, mutation: Mutation) -> None:
        self._scope(scope)
        check_mutation(mutation, self.info.limits)
        if (scope, repr(mutation)) in self.seen and mutation.watermark is not None:
            return
        await super().apply(scope, mutation)
        self.seen.add((scope, repr(mutation)))


@breaks("G-24")
class SkipsAMutationOfTheSameTurn(MemoryGraph):
    """What names the watermark that the scope has already is not applied."""

    async def apply(self, scope: str, mutation: Mutation) -> None:
        if mutation.watermark is not None and self._scope(scope).watermark == mutation.watermark:
            check_mutation(mutation, self.info.limits)
            check_endpoints(mutation, self._scope(scope).nodes)
            return
        await super().apply(scope, mutation)


@breaks("G-16")
class GetsADeletedNode(MemoryGraph):
    """A node that was read is kept until it is put again."""

    def __init__(self) -> None:
        super().__init__()
        self.warm: dict[tuple[str, str], Node] = {}

    async def get(self, scope: str, ids: Sequence[str]) -> dict[str, Node]:
        found = await super().get(scope, ids)
        self.warm |= {(scope, name): node for name, node in found.items()}
        return {name: self.warm[scope, name] for name in ids if (scope, name) in self.warm}

    async def apply(self, scope: str, mutation: Mutation) -> None:
        await super().apply(scope, mutation)
        for node in mutation.put_nodes:
            self.warm.pop((scope, node.id), None)


@breaks("G-25")
class GetsNodesOfADroppedScope(MemoryGraph):
    """A node that was read stays when its scope is dropped and made again."""

    def __init__(self) -> None:
        super().__init__()
        self.warm: dict[tuple[str, str], Node] = {}

    async def get(self, scope: str, ids: Sequence[str]) -> dict[str, Node]:
        found = await super().get(scope, ids)
        self.warm |= {(scope, name): node for name, node in found.items()}
        return {name: self.warm[scope, name] for name in ids if (scope, name) in self.warm}

    async def apply(self, scope: str, mutation: Mutation) -> None:
        await super().apply(scope, mutation)
        for name in (*(node.id for node in mutation.put_nodes), *mutation.delete_nodes):
            self.warm.pop((scope, name), None)
