"""The resident graph and vectors: what goes to the store behind them, and when."""

from __future__ import annotations

import asyncio
import random
from array import array
from collections import Counter
from collections.abc import AsyncIterator
from itertools import pairwise
from typing import Any

import pytest
from attrs import evolve

from saga_backends.graph import networkx
from saga_backends.memory import GRAPH, VECTOR
from saga_backends.resident import backend
from saga_backends.resident.graph import ResidentGraph
from saga_backends.resident.vectors import ResidentVectors
from saga_core.capabilities import Capability
from saga_core.errors import BadInput, Closed, NotSupported, StoreError
from saga_core.registry import OpenOptions, load
from saga_core.stores.filters import Compare
from saga_core.stores.graph import Edge, EdgeKey, Mutation, Node
from saga_core.stores.lifecycle import Limits
from saga_core.stores.vector import ScopeSpec, VectorItem

ROOMY = 1_000_000
SPEC = ScopeSpec("e", 2)


class Watched:
    """A store with its calls counted, and with failures on order: before or after the call has done its work."""

    def __init__(self, store: Any, **info: Any) -> None:
        self._store = store
        self.info = evolve(store.info, capabilities=frozenset({Capability.DURABLE}), **info)
        self.calls: Counter[str] = Counter()
        self.fail_before: Exception | None = None
        self.fail_after: Exception | None = None
        self.gate: asyncio.Event | None = None

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)

        async def call(*args: Any, **kwargs: Any) -> Any:
            self.calls[name] += 1
            if self.gate is not None:
                await self.gate.wait()
            if self.fail_before is not None:
                raise self.fail_before
            result = await method(*args, **kwargs)
            if self.fail_after is not None:
                raise self.fail_after
            return result

        return call


@pytest.fixture
async def graph() -> AsyncIterator[tuple[ResidentGraph, Watched]]:
    inner = Watched(await GRAPH.open(OpenOptions()))
    store = ResidentGraph(inner, limit_bytes=ROOMY)  # type: ignore[arg-type]
    yield store, inner
    inner.fail_before = inner.fail_after = None
    await store.aclose()


@pytest.fixture
async def vectors() -> AsyncIterator[tuple[ResidentVectors, Watched]]:
    inner = Watched(await VECTOR.open(OpenOptions()))
    store = ResidentVectors(inner, limit_bytes=ROOMY)  # type: ignore[arg-type]
    await store.create("s", SPEC)
    await store.create("t", SPEC)
    yield store, inner
    inner.fail_before = inner.fail_after = None
    await store.aclose()


def pair(name: str = "아리아", other: str = "숲") -> Mutation:
    return Mutation((Node(name, "Character"), Node(other, "Location")), (Edge(name, "LOCATED_AT", other),))


async def test_graph_reads_ask_the_store_only_to_load(graph: tuple[ResidentGraph, Watched]) -> None:
    store, inner = graph
    await store.apply("s", pair())
    await store.get("s", ["숲"])
    loaded = Counter(inner.calls)
    for _ in range(3):
        assert list(await store.get("s", ["숲"])) == ["숲"]
        assert len(await store.neighbors("s", ["숲"], direction="in")) == 1
        assert len(await store.scan("s")) == 2
        await store.watermark("s")
    assert inner.calls == loaded
    assert store.cache.counters["hits"] == 12


async def test_a_graph_is_loaded_page_by_page() -> None:
    inner = Watched(await GRAPH.open(OpenOptions()), limits=Limits(batch=3))
    names = [f"n{index}" for index in range(9)]
    edges = tuple(Edge(one, "NEXT", other) for one, other in pairwise(names))
    await inner.apply("s", Mutation(tuple(Node(name, "L") for name in names), edges, watermark="t1"))
    store = ResidentGraph(inner, limit_bytes=ROOMY)  # type: ignore[arg-type]
    assert [node.id for node in await store.scan("s")] == names
    assert await store.neighbors("s", names[:3], direction="both") == list(edges[:3])
    assert await store.watermark("s") == "t1"
    assert (inner.calls["scan"], inner.calls["neighbors"]) == (4, 3)
    with pytest.raises(BadInput, match="limit is 3"):
        await store.neighbors("s", names)
    await store.aclose()


async def test_a_watermark_alone_is_not_worth_a_load(graph: tuple[ResidentGraph, Watched]) -> None:
    store, inner = graph
    await store.apply("s", Mutation(watermark="t1"))
    assert await store.watermark("s") == "t1"
    assert inner.calls["scan"] == 0


async def test_the_graph_behind_has_every_write(graph: tuple[ResidentGraph, Watched]) -> None:
    store, inner = graph
    await store.scan("s")
    await store.apply("s", pair())
    await store.apply("s", Mutation(delete_nodes=("숲",), watermark="t2"))
    assert [node.id for node in await inner.scan("s")] == [node.id for node in await store.scan("s")] == ["아리아"]
    assert await inner.watermark("s") == await store.watermark("s") == "t2"


@pytest.mark.parametrize("moment", ["fail_before", "fail_after"])
async def test_after_a_failed_graph_write_the_store_is_believed(
    graph: tuple[ResidentGraph, Watched], moment: str
) -> None:
    store, inner = graph
    await store.apply("s", pair())
    await store.scan("s")
    setattr(inner, moment, StoreError("the disk"))
    with pytest.raises(StoreError, match="the disk"):
        await store.apply("s", Mutation(delete_nodes=("숲",)))
    setattr(inner, moment, None)
    there = [node.id for node in await inner.scan("s")]
    assert there == (["숲", "아리아"] if moment == "fail_before" else ["아리아"])
    assert [node.id for node in await store.scan("s")] == there


class Compacts(Watched):
    """A store that declares ``compacts`` and is not resident, as one of another author may."""

    def __init__(self, store: Any, **info: Any) -> None:
        super().__init__(store, **info)
        self.info = evolve(self.info, capabilities=frozenset({Capability.COMPACTS}))
        self.compacted = 0

    async def compact(self) -> None:
        self.compacted += 1


@pytest.mark.parametrize(("kind", "layer"), [(GRAPH, ResidentGraph), (VECTOR, ResidentVectors)])
async def test_compacting_reaches_the_store(kind: Any, layer: Any) -> None:
    inner = Compacts(await kind.open(OpenOptions()))
    store = layer(inner, limit_bytes=ROOMY)
    await store.compact()
    assert inner.compacted == 1
    await store.aclose()
    with pytest.raises(Closed):
        await store.compact()
    with pytest.raises(NotSupported, match="cannot compact"):
        await layer(Watched(await kind.open(OpenOptions())), limit_bytes=ROOMY).compact()


async def test_a_failed_load_is_raised_and_not_kept(graph: tuple[ResidentGraph, Watched]) -> None:
    store, inner = graph
    await store.apply("s", pair())
    inner.fail_before = StoreError("the disk")
    with pytest.raises(StoreError, match="the disk"):
        await store.neighbors("s", ["숲"])
    inner.fail_before = None
    assert len(await store.neighbors("s", ["숲"])) == 1


async def test_a_large_graph_is_read_from_the_store_also_after_it_was_loaded() -> None:
    inner = Watched(await GRAPH.open(OpenOptions()))
    store = ResidentGraph(inner, limit_bytes=20_000, scope_bytes=5_000)  # type: ignore[arg-type]
    await store.apply("s", pair())
    await store.scan("s")
    assert len(store.cache) == 1
    await store.apply("s", Mutation(tuple(Node(f"n{index:02}", "L", {"text": "x" * 100}) for index in range(20))))
    assert len(await store.scan("s")) == 22
    assert (len(store.cache), store.cache.bypasses) == (0, 1)
    before = Counter(inner.calls)
    assert len(await store.neighbors("s", ["숲"])) == 1
    assert inner.calls - before == Counter({"neighbors": 1})
    await store.drop("s")
    assert await store.scan("s") == []
    assert len(store.cache) == 1
    await store.aclose()


async def test_the_estimated_size_follows_what_is_there(graph: tuple[ResidentGraph, Watched]) -> None:
    store, _ = graph
    await store.scan("s")
    empty = store.cache.used_bytes
    long = Mutation((Node("a", "L", {"text": "x" * 5_000, "tags": ("y" * 3_000,)}),), (Edge("a", "T", "a"),))
    for _ in range(2):
        await store.apply("s", long)
        assert empty + 8_000 < store.cache.used_bytes < empty + 10_000
    await store.apply("s", Mutation(delete_edges=(EdgeKey("a", "T", "a"),)))
    await store.apply("s", Mutation((Node("a", "L"),)))
    assert empty < store.cache.used_bytes < empty + 1_000
    await store.apply("s", Mutation(delete_nodes=("a",)))
    assert store.cache.used_bytes == empty


async def test_a_forgotten_graph_shows_what_another_process_wrote(graph: tuple[ResidentGraph, Watched]) -> None:
    store, inner = graph
    await store.apply("s", pair())
    await store.scan("s")
    await inner.apply("s", Mutation((Node("크룩", "Character"),)))
    assert len(await store.scan("s")) == 2
    store.forget("s")
    assert len(await store.scan("s")) == 3


async def test_a_native_expand_answers_from_memory_or_through_the_store() -> None:
    inner = await networkx.BACKEND.open(OpenOptions())
    watched = Watched(inner)
    watched.info = inner.info
    for scope_bytes, calls in ((None, 0), (1_100, 1)):
        store = ResidentGraph(watched, limit_bytes=ROOMY, scope_bytes=scope_bytes)  # type: ignore[arg-type]
        await store.apply("s", pair())
        assert await store.expand("s", ["숲"], hops=1) == {"숲": 0, "아리아": 1}
        assert watched.calls["expand"] == calls
    await inner.aclose()


async def test_vector_reads_ask_the_store_only_to_load(vectors: tuple[ResidentVectors, Watched]) -> None:
    store, inner = vectors
    await store.upsert("s", [VectorItem("a", (1.0, 0.0)), VectorItem("b", (0.0, 1.0), "", {"n": 1})])
    await store.query(["s", "t"], (1.0, 0.0), 1)
    loaded = Counter(inner.calls)
    for _ in range(3):
        assert [hit.id for hit in await store.query(["s", "t"], (1.0, 0.0), 1)] == ["a"]
        assert list(await store.get("s", ["b"])) == ["b"]
        assert len(await store.scan("s")) == 2
        assert await store.count("s", where=Compare("n", "eq", 1)) == 1
        assert await store.describe("s") == SPEC
    assert inner.calls == loaded


async def test_counting_and_describing_are_not_worth_a_load(vectors: tuple[ResidentVectors, Watched]) -> None:
    store, inner = vectors
    assert (await store.count("s"), await store.describe("s")) == (0, SPEC)
    assert inner.calls["scan"] == 0


async def test_vectors_resident_and_bypassed_are_asked_together() -> None:
    inner = Watched(await VECTOR.open(OpenOptions()))
    store = ResidentVectors(inner, limit_bytes=20_000, scope_bytes=8_000)  # type: ignore[arg-type]
    await store.create("small", SPEC)
    await store.create("large", SPEC)
    await store.upsert("small", [VectorItem("b", (2.0, 0.0), "small"), VectorItem("z", (0.0, 1.0))])
    await store.upsert("large", [VectorItem(f"{index:03}", (1.0, index)) for index in range(1, 60)])
    await store.upsert("large", [VectorItem("a", (3.0, 0.0)), VectorItem("b", (1.0, 0.0), "large")])
    for scopes in (["small", "large"], ["large", "small"]):
        hits = await store.query(scopes, (1.0, 0.0), 4)
        assert [hit.id for hit in hits] == ["a", "b", "b", "001"]
        assert [hit.text for hit in hits[1:3]] == scopes
    assert (len(store.cache), store.cache.bypasses, inner.calls["query"]) == (1, 2, 2)
    await store.aclose()


async def test_many_vectors_are_bypassed_by_their_number_alone() -> None:
    inner = Watched(await VECTOR.open(OpenOptions()))
    store = ResidentVectors(inner, limit_bytes=10_000)  # type: ignore[arg-type]
    await store.create("s", ScopeSpec("e", 100))
    await store.upsert("s", [VectorItem(f"{index}", [1.0] * 100) for index in range(20)])
    assert len(await store.query(["s"], [1.0] * 100, 5)) == 5
    assert inner.calls["scan"] == 0
    await store.aclose()


@pytest.mark.parametrize("moment", ["fail_before", "fail_after"])
async def test_after_a_failed_vector_write_the_store_is_believed(
    vectors: tuple[ResidentVectors, Watched], moment: str
) -> None:
    store, inner = vectors
    await store.upsert("s", [VectorItem("a", (1.0, 0.0))])
    await store.scan("s")
    setattr(inner, moment, StoreError("the disk"))
    with pytest.raises(StoreError, match="the disk"):
        await store.upsert("s", [VectorItem("a", (0.0, 1.0)), VectorItem("b", (0.0, 1.0))])
    with pytest.raises(StoreError, match="the disk"):
        await store.delete("t", where=Compare("n", "eq", 1))
    setattr(inner, moment, None)
    there = [(item.id, list(item.vector)) for item in await inner.scan("s")]
    assert len(there) == (1 if moment == "fail_before" else 2)
    assert [(item.id, list(item.vector)) for item in await store.scan("s")] == there


async def test_what_another_process_did_to_vectors_is_noticed_by_a_write(
    vectors: tuple[ResidentVectors, Watched],
) -> None:
    store, inner = vectors
    await store.upsert("s", [VectorItem("a", (1.0, 0.0)), VectorItem("b", (0.0, 1.0))])
    await store.scan("s")
    await inner.delete("s", ids=["a"])
    assert await store.delete("s", ids=["a"]) == 0
    assert store.cache.divergences == 1
    await inner.drop("s")
    await inner.create("s", ScopeSpec("other", 3))
    await store.query(["s"], (1.0, 0.0, 0.0), 1)
    await inner.drop("s")
    await inner.create("s", SPEC)
    await store.upsert("s", [VectorItem("c", (1.0, 0.0))])
    assert store.cache.divergences == 2
    assert [item.id for item in await store.scan("s")] == ["c"]


async def started(inner: Watched, name: str) -> None:
    for _ in range(100):
        if inner.calls[name]:
            return
        await asyncio.sleep(0)
    raise AssertionError(f"{name} does not start")


async def given_up(task: asyncio.Task[None], gate: asyncio.Event) -> None:
    """Cancel ``task``, which waits for its turn behind another write, and let that pass."""
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    gate.set()


async def test_a_vector_write_given_up_in_the_queue_keeps_its_values(
    vectors: tuple[ResidentVectors, Watched],
) -> None:
    store, inner = vectors
    vector, metadata = array("f", [1.0, 0.0]), {"n": 1}
    inner.gate = asyncio.Event()
    first = asyncio.create_task(store.upsert("s", [VectorItem("a", (0.0, 1.0))]))
    await started(inner, "upsert")
    second = asyncio.create_task(store.upsert("s", [VectorItem("b", vector, "", metadata)]))
    await given_up(second, inner.gate)
    vector[0], metadata["n"] = 9.0, 9
    await first
    await store.delete("s", ids=[])  # its turn comes after theirs
    for found in (await inner.get("s", ["b"]), await store.get("s", ["b"])):
        assert (list(found["b"].vector), dict(found["b"].metadata)) == ([1.0, 0.0], {"n": 1})


async def test_a_graph_write_given_up_in_the_queue_keeps_its_values(graph: tuple[ResidentGraph, Watched]) -> None:
    store, inner = graph
    properties = {"hp": 1}
    inner.gate = asyncio.Event()
    first = asyncio.create_task(store.apply("s", Mutation((Node("a", "L"),))))
    await started(inner, "apply")
    mutation = Mutation((Node("b", "L", properties),), (Edge("b", "T", "a", "", properties),))
    second = asyncio.create_task(store.apply("s", mutation))
    await given_up(second, inner.gate)
    properties["hp"] = 9
    await first
    await store.apply("s", Mutation(watermark="t"))
    for source in (inner, store):
        node, edge = (await source.get("s", ["b"]))["b"], (await source.neighbors("s", ["b"]))[0]
        assert dict(node.properties) == dict(edge.properties) == {"hp": 1}


async def test_rows_are_used_again_and_given_back(vectors: tuple[ResidentVectors, Watched]) -> None:
    store, inner = vectors
    await store.query(["s"], (1.0, 0.0), 1)
    empty = store.cache.used_bytes
    choice = random.Random(3)
    known: dict[str, tuple[float, float]] = {}
    for round_ in range(40):
        fresh = {f"{choice.randrange(900):03}": (choice.random(), choice.random()) for _ in range(40)}
        await store.upsert("s", [VectorItem(name, vector, "text", {"n": round_}) for name, vector in fresh.items()])
        known |= fresh
        gone = choice.sample(sorted(known), len(known) // (2 if round_ % 10 == 9 else 20))
        assert await store.delete("s", ids=gone) == len(gone)
        for name in gone:
            del known[name]
        asked = (choice.random(), choice.random())
        assert await store.query(["s"], asked, 17) == await inner.query(["s"], asked, 17)
    assert [item.id for item in await store.scan("s")] == sorted(known)
    assert store.cache.divergences == 0
    await store.delete("s", ids=sorted(known))
    assert store.cache.used_bytes < empty + 20_000


@pytest.mark.parametrize(("kind", "memory"), [("graph", GRAPH), ("vector", VECTOR)])
async def test_the_layers_are_backends(kind: str, memory: Any) -> None:
    found = load("resident", kind)
    inner = await memory.open(OpenOptions())
    store = await found.open(OpenOptions(options={"inner": inner, "limit_mb": 3}))
    assert store.info.capabilities == inner.info.capabilities | {Capability.RESIDENT}
    assert (store.info.kind, store.info.name) == (kind, "memory")
    assert store.cache.counters["limit_bytes"] == 3 * 1_024 * 1_024
    await store.aclose()
    with pytest.raises(Closed):
        await inner.scopes()
    assert {found.kind for found in (backend.GRAPH, backend.VECTOR)} == {"resident"}


async def test_the_layers_refuse_what_they_cannot_wrap() -> None:
    inner = await VECTOR.open(OpenOptions())
    for options in ({"inner": inner}, {"inner": None}, {}, {"inner": "graph"}):
        with pytest.raises(BadInput, match="no graph store"):
            await backend.GRAPH.open(OpenOptions(options=options))
    for options in ({"inner": inner, "limit_mb": 0}, {"inner": inner, "limit_mb": "1"}, {"inner": inner, "limit": 1}):
        with pytest.raises(BadInput, match="limit"):
            await backend.VECTOR.open(OpenOptions(options=options))
