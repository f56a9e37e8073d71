"""What is particular to the networkx graph store. Its contract is tested by the conformance suite."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_backends.graph import networkx as store_module
from saga_backends.scope_graph import CLASSES
from saga_core.capabilities import Capability
from saga_core.errors import BadInput, Closed, StoreUnavailable
from saga_core.registry import OpenOptions, load
from saga_core.stores import Edge, EdgeKey, Mutation, Node

IDS = ("a", "b", "나", "d")
edges = st.builds(
    Edge, st.sampled_from(IDS), st.sampled_from("TU"), st.sampled_from(IDS), key=st.sampled_from(["", "k"])
)
steps = st.lists(st.one_of(edges, edges.map(lambda edge: edge.identity), st.sampled_from(IDS)), max_size=40)


async def opened() -> store_module.NetworkxGraph:
    store: store_module.NetworkxGraph = await store_module.BACKEND.open(OpenOptions())
    return store


def run(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


async def test_it_is_registered_and_says_what_it_can() -> None:
    assert load("graph", "networkx") is load("graph", "adjacency") is store_module.BACKEND
    store = await opened()
    assert (store.info.name, store.info.location) == ("networkx", "")
    assert store.info.capabilities == {Capability.RESIDENT, Capability.NATIVE_EXPAND}
    assert store.info.version
    await store.apply("s", Mutation((Node("a", "L"), Node("b", "L")), (Edge("a", "T", "b"), Edge("a", "T", "a"))))
    assert (await store.check()).detail == "1 scopes, 2 nodes in memory"
    assert (await store.check(thorough=True)).detail == "1 scopes, 2 nodes, 2 edges in memory"
    await store.aclose()


async def test_it_takes_no_options() -> None:
    with pytest.raises(BadInput, match=r"options\.cache"):
        await store_module.BACKEND.open(OpenOptions(options={"cache": 1}))


async def test_an_engine_that_breaks_at_its_first_use_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> Any:
        raise ImportError(f"No module named {name!r}")

    store = await opened()
    with monkeypatch.context() as broken:
        broken.delitem(sys.modules, CLASSES, raising=False)
        broken.setattr("saga_backends.scope_graph.import_module", refuse)
        with pytest.raises(StoreUnavailable, match=r"pip install networkx"):
            await store.apply("s", Mutation((Node("a", "L"),)))
    assert await store.scopes() == []
    await store.apply("s", Mutation((Node("a", "L"),)))
    assert await store.scopes() == ["s"]
    await store.aclose()


def test_only_the_classes_of_networkx_are_imported_and_by_the_first_write() -> None:
    program = """
import asyncio, sys
from saga_backends.graph.networkx import BACKEND
from saga_core.registry import OpenOptions
from saga_core.stores import Mutation, Node

async def main():
    store = await BACKEND.open(OpenOptions())
    read = [await store.get("s", ["a"]), await store.neighbors("s", ["a"]), await store.scan("s")]
    read += [await store.watermark("s"), await store.expand("s", ["a"], hops=2), (await store.check(thorough=True)).ok]
    print(read, "saga_backends.digraph" in sys.modules, "numpy" in sys.modules)
    await store.apply("s", Mutation((Node("a", "L"),)))
    print("saga_backends.digraph" in sys.modules, [name for name in sys.modules if "networkx.algo" in name])

asyncio.run(main())
"""
    assert run(program) == "[{}, [], [], None, {}, True] False False\nTrue []\n"


def test_a_program_that_imports_networkx_has_the_whole_of_it() -> None:
    """Before, after and, in other threads, at the same time as the store imports its part."""
    both = "import saga_backends.digraph as part, networkx; "
    check = "print(part.DiGraph is networkx.DiGraph, networkx.shortest_path(networkx.path_graph(3), 0, 2))"
    assert run(both + check) == "False [0, 1, 2]\n"
    assert run(f"import networkx; {both}{check}") == "True [0, 1, 2]\n"
    program = """
import sys, threading
sys.setswitchinterval(1e-6)
found = []

def whole():
    import networkx
    found.append(hasattr(networkx, "shortest_path"))

def part():
    from saga_backends.digraph import DiGraph
    found.append(DiGraph([("a", "b")]).has_edge("a", "b"))

threads = [threading.Thread(target=each) for each in (part, whole, whole, part, whole)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(found)
"""
    assert run(program) == "[True, True, True, True, True]\n"


def test_another_version_of_networkx_is_imported_as_a_whole_if_its_start_alone_does_not_do() -> None:
    program = """
from importlib.machinery import SourceFileLoader
original = SourceFileLoader.get_source
SourceFileLoader.get_source = lambda self, name: "" if name == "networkx" else original(self, name)
import saga_backends.digraph as part, sys
print(part.DiGraph is sys.modules["networkx"].DiGraph)
"""
    assert run(program) == "True\n"


async def test_what_is_given_out_is_shared_and_cannot_be_changed() -> None:
    store = await opened()
    await store.apply("s", Mutation((Node("a", "L", {"hp": 1}),)))
    (one,), (other,) = await store.scan("s"), (await store.get("s", ["a"])).values()
    assert one is other
    with pytest.raises(TypeError):
        one.properties["hp"] = 2  # type: ignore[index]
    await store.aclose()


@given(edges=st.lists(edges, max_size=20), ids=st.lists(st.sampled_from([*IDS, "nobody"]), max_size=5))
async def test_the_edges_that_touch_nodes_are_their_neighbors(edges: list[Edge], ids: list[str]) -> None:
    """``touching`` is what the store offers to walks besides the protocol."""
    store = await opened()
    assert store.touching("s", ids) == {}
    distinct = {edge.identity: edge for edge in edges}.values()
    await store.apply("s", Mutation(tuple(Node(id_, "L") for id_ in IDS), tuple(distinct)))
    found = store.touching("s", ids)
    assert [found[key] for key in sorted(found)] == await store.neighbors("s", ids)
    assert all((edge.source, edge.type, edge.target, edge.key) == key for key, edge in found.items())
    await store.aclose()
    with pytest.raises(Closed):
        store.touching("s", ids)


def reached(edges: Sequence[Edge], types: Sequence[str] | None) -> dict[str, int]:
    """The distances from "a" within two hops, by definition."""
    distances = {"a": 0}
    for hop in (1, 2):
        for edge in edges:
            if types is None or edge.type in types:
                for here, there in ((edge.source, edge.target), (edge.target, edge.source)):
                    if distances.get(here) == hop - 1:
                        distances.setdefault(there, hop)
    return distances


@given(steps)
async def test_both_ends_of_every_edge_know_the_same(changes: list[Edge | EdgeKey | str]) -> None:
    """Whatever was put, replaced and removed, in whatever order: against a plain set of edges."""
    store = await opened()
    await store.apply("s", Mutation(tuple(Node(node_id, "L") for node_id in IDS)))
    wanted: dict[EdgeKey, Edge] = {}
    for number, change in enumerate(changes):
        if isinstance(change, Edge):
            edge = Edge(change.source, change.type, change.target, change.key, {"n": number})
            await store.apply("s", Mutation(put_edges=(edge,)))
            wanted[edge.identity] = edge
        elif isinstance(change, EdgeKey):
            await store.apply("s", Mutation(delete_edges=(change,)))
            wanted.pop(change, None)
        else:
            await store.apply("s", Mutation(delete_nodes=(change,)))
            wanted = {key: edge for key, edge in wanted.items() if change not in (edge.source, edge.target)}
            await store.apply("s", Mutation((Node(change, "L"),)))
        assert await store.neighbors("s", ["a"]) == [
            wanted[key] for key in sorted(wanted) if "a" in (key.source, key.target)
        ]
    for node_id in IDS:
        outgoing = [wanted[key] for key in sorted(wanted) if key.source == node_id]
        incoming = [wanted[key] for key in sorted(wanted) if key.target == node_id]
        assert await store.neighbors("s", [node_id], direction="out") == outgoing
        assert await store.neighbors("s", [node_id], direction="in") == incoming
    assert await store.neighbors("s", IDS) == [wanted[key] for key in sorted(wanted)]
    assert (await store.check(thorough=True)).detail == f"1 scopes, {len(IDS)} nodes, {len(wanted)} edges in memory"
    for types in (None, ["T"]):
        assert await store.expand("s", ["a"], hops=2, types=types) == reached(list(wanted.values()), types)
