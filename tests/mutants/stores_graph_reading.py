"""Wrong GraphStores, reading and capabilities: each breaks one clause."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import evolve

from saga_backends.memory import MemoryGraph
from saga_core.capabilities import Capability
from saga_core.errors import BadInput
from saga_core.stores.graph import Edge, Node, Value
from saga_core.stores.validate import check_expand, check_limit
from tests.mutants.stores_registry import breaks

EXPAND, RAW = Capability.NATIVE_EXPAND, Capability.RAW_QUERY


@breaks("G-16")
class InventsNodes(MemoryGraph):
    async def get(self, scope: str, ids: Sequence[str]) -> dict[str, Node]:
        found = await super().get(scope, ids)
        return {node_id: found.get(node_id, Node(node_id, "?")) for node_id in ids}


class Near(MemoryGraph):
    """Changes what neighbors gives."""

    async def neighbors(self, scope: str, ids: Sequence[str], **options: Any) -> list[Edge]:
        return await self.near(scope, ids, **options)

    async def near(self, scope: str, ids: Sequence[str], **options: Any) -> list[Edge]:
        return await super().neighbors(scope, ids, **options)


@breaks("G-17")
class TurnsTheDirection(Near):
    async def near(self, scope: str, ids: Sequence[str], **options: Any) -> list[Edge]:
        turned = {"in": "out", "out": "in"}
        wanted = options.get("direction", "both")
        options["direction"] = turned.get(wanted, wanted) if isinstance(wanted, str) else wanted
        return await super().near(scope, ids, **options)


@breaks("G-17")
class LosesLoopsThatArrive(Near):
    async def near(self, scope: str, ids: Sequence[str], **options: Any) -> list[Edge]:
        found = await super().near(scope, ids, **options)
        return [e for e in found if e.source != e.target] if options.get("direction") == "in" else found


@breaks("G-18")
class GivesAnEdgeForEachEnd(Near):
    async def near(self, scope: str, ids: Sequence[str], **options: Any) -> list[Edge]:
        found = await super().near(scope, ids, **options)
        twice = [e for e in found for end in dict.fromkeys((e.source, e.target)) if end in ids]
        return twice[: options.get("limit")] if options.get("direction", "both") == "both" else found


@breaks("G-18")
class OrdersByType(Near):
    async def near(self, scope: str, ids: Sequence[str], **options: Any) -> list[Edge]:
        found = await super().near(scope, ids, **{**options, "limit": None})
        await super().near(scope, ids, **options)
        return sorted(found, key=lambda e: (e.type, e.source, e.target, e.key))[: options.get("limit")]


@breaks("G-19")
class TakesNoTypesForAll(Near):
    async def near(self, scope: str, ids: Sequence[str], **options: Any) -> list[Edge]:
        return await super().near(scope, ids, **{**options, "types": options.get("types") or None})


@breaks("G-20")
class LimitsForEachId(Near):
    async def near(self, scope: str, ids: Sequence[str], **options: Any) -> list[Edge]:
        await super().near(scope, ids, **options)
        found = [
            edge for one in dict.fromkeys(ids) for edge in await super(Near, self).neighbors(scope, [one], **options)
        ]
        return sorted({e.identity: e for e in found}.values(), key=lambda e: e.identity)


@breaks("G-20")
class LimitsBeforeTypes(Near):
    async def near(self, scope: str, ids: Sequence[str], **options: Any) -> list[Edge]:
        await super().near(scope, ids, **options)
        found = await super().near(scope, ids, **{**options, "types": None})
        return [e for e in found if options.get("types") is None or e.type in options["types"]]


class Scanning(MemoryGraph):
    """Scans in a way of its own."""

    async def scan(self, scope: str, *, label: Any = None, after: Any = None, limit: Any = 1_000) -> list[Node]:
        await super().scan(scope, label=label, after=after, limit=limit)
        nodes = list(self._scopes[scope].nodes.values()) if scope in self._scopes else []
        return self.page(nodes, label, after, limit)

    def page(self, nodes: list[Node], label: str | None, after: str | None, limit: int) -> list[Node]:
        raise NotImplementedError


@breaks("G-22")
class ScansAsTheyCame(Scanning):
    def page(self, nodes: list[Node], label: str | None, after: str | None, limit: int) -> list[Node]:
        return [n for n in nodes if label in (None, n.label) and (after is None or n.id > after)][:limit]


@breaks("G-22")
class ScansByUtf16(Scanning):
    def page(self, nodes: list[Node], label: str | None, after: str | None, limit: int) -> list[Node]:
        def order(name: str) -> bytes:
            return name.encode("utf-16-be")

        found = [n for n in nodes if label in (None, n.label) and (after is None or order(n.id) > order(after))]
        return sorted(found, key=lambda node: order(node.id))[:limit]


@breaks("G-22")
class GivesTheNodeAfterAgain(Scanning):
    def page(self, nodes: list[Node], label: str | None, after: str | None, limit: int) -> list[Node]:
        found = [n for n in nodes if label in (None, n.label) and (after is None or n.id >= after)]
        return sorted(found, key=lambda node: node.id)[: max(limit, 2)]


@breaks("G-23")
class ChoosesTheLabelAfterTheLimit(Scanning):
    def page(self, nodes: list[Node], label: str | None, after: str | None, limit: int) -> list[Node]:
        found = sorted((n for n in nodes if after is None or n.id > after), key=lambda node: node.id)[:limit]
        return [node for node in found if label in (None, node.label)]


@breaks("G-27")
class TakesAWordForALetterList(MemoryGraph):
    async def get(self, scope: str, ids: Sequence[str]) -> dict[str, Node]:
        return await super().get(scope, list(ids) if isinstance(ids, str) else ids)


@breaks("G-27")
class GivesNothingForALimitOfZero(Near):
    async def near(self, scope: str, ids: Sequence[str], **options: Any) -> list[Edge]:
        return [] if options.get("limit") == 0 else await super().near(scope, ids, **options)


@breaks("G-27")
class TakesAnyDirection(Near):
    async def near(self, scope: str, ids: Sequence[str], **options: Any) -> list[Edge]:
        known = options.get("direction") in ("in", "out", "both")
        return await super().near(scope, ids, **{**options, "direction": options.get("direction") if known else "both"})


class WalkingGraph(MemoryGraph):
    """A reference with every capability: it walks, and reads two words of a query language."""

    def __init__(self) -> None:
        super().__init__()
        self._info = evolve(self._info, capabilities=self._info.capabilities | {EXPAND, RAW})

    def step(self, scope: str, near: set[str], types: Sequence[str] | None) -> set[str]:
        edges = [e for e in self._scope(scope).edges.values() if types is None or e.type in types]
        return {e.target for e in edges if e.source in near} | {e.source for e in edges if e.target in near}

    async def expand(
        self, scope: str, ids: Sequence[str], *, hops: int, types: Sequence[str] | None = None
    ) -> dict[str, int]:
        held = self._scope(scope)
        check_expand(ids, hops, types, self.info.limits)
        found = {node_id: 0 for node_id in ids if node_id in held.nodes}
        near = set(found)
        for reach in range(1, hops + 1):
            near = self.step(scope, near, types) - found.keys()
            found |= dict.fromkeys(near, reach)
        return found

    async def query(self, text: str, *, timeout: float, limit: int) -> list[dict[str, Value]]:
        self._alive()
        if text != "nodes":
            raise BadInput(f"query: {text!r}; there is only 'nodes'")
        self.check_time(timeout)
        check_limit("limit", limit)
        rows = [{"id": node_id} for scope in self._scopes.values() for node_id in scope.nodes]
        return list[dict[str, Value]](rows[:limit])  # type: ignore[arg-type]

    def check_time(self, timeout: float) -> None:
        if type(timeout) not in (int, float) or not timeout > 0:
            raise BadInput(f"timeout: {timeout!r}; give seconds above 0")


@breaks("G-37")
class TakesAnyTime(WalkingGraph):
    def check_time(self, timeout: float) -> None:
        return


@breaks("G-37")
class LetsATimeoutOut(WalkingGraph):
    """What takes too long raises what asyncio raises."""

    def check_time(self, timeout: float) -> None:
        super().check_time(timeout)
        if timeout < 0.01:
            raise TimeoutError


@breaks("G-37")
class ClosesTheQueriesAfterATimeout(WalkingGraph):
    _late = False

    def check_time(self, timeout: float) -> None:
        super().check_time(timeout)
        self._late = self._late or timeout < 0.01
        if self._late:
            raise BadInput("timeout: the query took too long")


@breaks("G-30")
class WalksOneWay(WalkingGraph):
    def step(self, scope: str, near: set[str], types: Sequence[str] | None) -> set[str]:
        edges = self._scope(scope).edges.values()
        return {e.target for e in edges if e.source in near and (types is None or e.type in types)}


@breaks("G-30")
class WalksOverEveryType(WalkingGraph):
    def step(self, scope: str, near: set[str], types: Sequence[str] | None) -> set[str]:
        return super().step(scope, near, None)


@breaks("G-30")
class FindsUnknownIds(WalkingGraph):
    async def expand(
        self, scope: str, ids: Sequence[str], *, hops: int, types: Sequence[str] | None = None
    ) -> dict[str, int]:
        return dict.fromkeys(ids, 0) | await super().expand(scope, ids, hops=hops, types=types)


@breaks("G-31")
class CutsTheHops(WalkingGraph):
    async def expand(
        self, scope: str, ids: Sequence[str], *, hops: int, types: Sequence[str] | None = None
    ) -> dict[str, int]:
        cut = min(hops, 4) if type(hops) is int else hops
        return await super().expand(scope, ids, hops=cut, types=types)


@breaks("G-32")
class AnswersEmptyInsteadOfRefusing(MemoryGraph):
    async def expand(
        self, scope: str, ids: Sequence[str], *, hops: int, types: Sequence[str] | None = None
    ) -> dict[str, int]:
        self._alive()
        return {}


@breaks("G-33")
class GivesEveryRow(WalkingGraph):
    async def query(self, text: str, *, timeout: float, limit: int) -> list[dict[str, Value]]:
        return await super().query(text, timeout=timeout, limit=10**9)


@breaks("G-34")
class WritesWhenAsked(WalkingGraph):
    async def query(self, text: str, *, timeout: float, limit: int) -> list[dict[str, Value]]:
        if text == "forget":
            self._scopes.clear()
            return []
        return await super().query(text, timeout=timeout, limit=limit)


@breaks("G-34")
class RefusesTooLate(WalkingGraph):
    async def query(self, text: str, *, timeout: float, limit: int) -> list[dict[str, Value]]:
        if text == "forget":
            self._scopes.clear()
        return await super().query(text, timeout=timeout, limit=limit)


@breaks("G-35")
class HasNoRowsInsteadOfRefusing(MemoryGraph):
    async def query(self, text: str, *, timeout: float, limit: int) -> list[dict[str, Value]]:
        self._alive()
        return []
