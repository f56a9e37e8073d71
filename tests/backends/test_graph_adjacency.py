"""What is particular to the graph store of adjacency lists. Its contract is tested by the conformance suite."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_backends.graph import adjacency as store_module
from saga_core.capabilities import Capability
from saga_core.errors import BadInput
from saga_core.registry import OpenOptions, load
from saga_core.stores import Edge, EdgeKey, GraphStore, Mutation, Node

IDS = ("a", "b", "나", "d")
edges = st.builds(
    Edge, st.sampled_from(IDS), st.sampled_from("TU"), st.sampled_from(IDS), key=st.sampled_from(["", "k"])
)
steps = st.lists(st.one_of(edges, edges.map(lambda edge: edge.identity), st.sampled_from(IDS)), max_size=40)


async def opened() -> GraphStore:
    store: GraphStore = await store_module.BACKEND.open(OpenOptions())
    return store


async def test_it_is_registered_and_says_what_it_can() -> None:
    assert load("graph", "adjacency") is store_module.BACKEND
    store = await opened()
    assert (store.info.name, store.info.location) == ("adjacency", "")
    assert store.info.capabilities == {Capability.RESIDENT, Capability.NATIVE_EXPAND}
    await store.apply("s", Mutation((Node("a", "L"), Node("b", "L")), (Edge("a", "T", "b"), Edge("a", "T", "a"))))
    assert (await store.check()).detail == "1 scopes, 2 nodes in memory"
    assert (await store.check(thorough=True)).detail == "1 scopes, 2 nodes, 2 edges in memory"
    await store.aclose()


async def test_it_takes_no_options() -> None:
    with pytest.raises(BadInput, match=r"options\.cache"):
        await store_module.BACKEND.open(OpenOptions(options={"cache": 1}))


def test_no_library_is_loaded_for_it() -> None:
    program = """
import asyncio, sys
from saga_backends.graph.adjacency import BACKEND
from saga_core.registry import OpenOptions
from saga_core.stores import Mutation, Node

async def main():
    store = await BACKEND.open(OpenOptions())
    await store.apply("s", Mutation((Node("a", "L"),)))
    print(await store.watermark("s"), {"networkx", "numpy"} & set(sys.modules))

asyncio.run(main())
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout == "None set()\n"


async def test_what_is_given_out_is_shared_and_cannot_be_changed() -> None:
    store = await opened()
    await store.apply("s", Mutation((Node("a", "L", {"hp": 1}),)))
    (one,), (other,) = await store.scan("s"), (await store.get("s", ["a"])).values()
    assert one is other
    with pytest.raises(TypeError):
        one.properties["hp"] = 2  # type: ignore[index]
    await store.aclose()


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
    for node_id in IDS:
        outgoing = [wanted[key] for key in sorted(wanted) if key.source == node_id]
        incoming = [wanted[key] for key in sorted(wanted) if key.target == node_id]
        assert await store.neighbors("s", [node_id], direction="out") == outgoing
        assert await store.neighbors("s", [node_id], direction="in") == incoming
    assert await store.neighbors("s", IDS) == [wanted[key] for key in sorted(wanted)]
    assert (await store.check(thorough=True)).detail == f"1 scopes, {len(IDS)} nodes, {len(wanted)} edges in memory"
