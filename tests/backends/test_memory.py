"""What is particular to the stores in memory; what all stores share is in the contract tests of each kind."""

from __future__ import annotations

import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from saga_backends import memory
from saga_core.capabilities import Capability
from saga_core.errors import BadInput, Closed, NotSupported
from saga_core.registry import Backend, OpenOptions
from saga_core.stores.graph import Edge, Mutation, Node
from saga_core.stores.lifecycle import Limits
from saga_core.stores.vector import ScopeSpec, VectorItem
from saga_core.values import Proposal

BACKENDS = (memory.STATE, memory.GRAPH, memory.VECTOR, memory.CACHE, memory.CURATOR)
VIEW: Any = object()


@pytest.mark.parametrize("backend", BACKENDS, ids=lambda backend: backend.kind)
async def test_each_describes_itself_and_ends(backend: Backend) -> None:
    store = await backend.open(OpenOptions(path=Path("/nonexistent")))
    assert (store.info.kind, store.info.name) == (backend.kind, backend.name)
    assert store.info.capabilities == {Capability.RESIDENT} and store.info.location == ""
    assert (await store.check()).ok
    await store.aclose()
    await store.aclose()
    with pytest.raises(Closed, match=backend.kind):
        await store.check()
    with pytest.raises(BadInput, match=r"options\.x: unknown option"):
        await backend.open(OpenOptions(options={"x": 1}))


def test_the_entry_points_lead_to_backends_of_their_names() -> None:
    declared = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    ours = {
        name: value
        for name, value in declared["project"]["entry-points"]["saga.backends"].items()
        if name.endswith(".memory") or name in ("state.sqlite", "cache.files", "tokens.estimate")
    }
    assert len(ours) == len(BACKENDS) + 3
    for name, value in ours.items():
        backend = EntryPoint(name, value, "saga.backends").load()
        assert isinstance(backend, Backend) and f"{backend.kind}.{backend.name}" == name


async def test_the_curator_has_no_opinion_unless_given_one() -> None:
    silent = await memory.CURATOR.open(OpenOptions())
    assert await silent.review(VIEW) == ()
    finding = Proposal("contradiction", "아리아가 두 곳에 있다", turns=("t1",))
    curator = memory.MemoryCurator([finding])
    assert await curator.review(VIEW) == await curator.review(VIEW) == (finding,)
    await curator.aclose()
    with pytest.raises(Closed):
        await curator.review(VIEW)


async def test_what_the_graph_does_not_declare_is_refused() -> None:
    graph = memory.MemoryGraph()
    with pytest.raises(NotSupported, match="native expand"):
        await graph.expand("s", ["a"], hops=1)
    with pytest.raises(NotSupported, match="query language"):
        await graph.query("MATCH (n) RETURN n", timeout=1.0, limit=1)
    await graph.aclose()
    with pytest.raises(Closed):
        await graph.query("", timeout=1.0, limit=1)
    with pytest.raises(Closed):
        await graph.expand("", [], hops=9)


async def test_narrower_limits_hold() -> None:
    tight = Limits(value_bytes=20, batch=2, dimension=2, name_chars=3)
    graph = memory.MemoryGraph(tight)
    await graph.apply("s", Mutation(put_nodes=(Node("a", "n"), Node("b", "n"))))
    with pytest.raises(BadInput, match="3 entries; the limit is 2"):
        await graph.apply("s", Mutation(put_nodes=(Node("c", "n"),), put_edges=(Edge("a", "t", "b"),) * 2))
    with pytest.raises(BadInput, match="21 bytes; the limit is 20"):
        await graph.apply("s", Mutation(put_nodes=(Node("c", "n", {"abc": "가" * 6}),)))
    with pytest.raises(BadInput, match="limit is 3 characters"):
        await graph.get("long", [])
    assert [node.id for node in await graph.scan("s")] == ["a", "b"]
    vectors = memory.MemoryVector(tight)
    with pytest.raises(BadInput, match=r"spec\.dimension: 3; the limit is 2"):
        await vectors.create("s", ScopeSpec("e", 3))
    await vectors.create("s", ScopeSpec("e", 2))
    with pytest.raises(BadInput, match="text of 21 bytes"):
        await vectors.upsert("s", [VectorItem("a", [1, 0], "가" * 7)])
    assert await vectors.count("s") == 0
