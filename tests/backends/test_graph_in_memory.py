"""What graphs in memory offer to walks besides the protocol."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_backends.graph import adjacency, networkx
from saga_core.errors import Closed
from saga_core.registry import Backend, OpenOptions
from saga_core.stores import Edge, Mutation, Node

IDS = ("a", "b", "나", "d")
EDGES = st.builds(
    Edge, st.sampled_from(IDS), st.sampled_from("TU"), st.sampled_from(IDS), key=st.sampled_from(["", "k"])
)


@pytest.mark.parametrize("backend", [adjacency.BACKEND, networkx.BACKEND], ids=lambda each: each.name)
@given(edges=st.lists(EDGES, max_size=20), ids=st.lists(st.sampled_from([*IDS, "nobody"]), max_size=5))
async def test_the_edges_that_touch_nodes_are_their_neighbors(
    backend: Backend, edges: list[Edge], ids: list[str]
) -> None:
    store: Any = await backend.open(OpenOptions())
    assert store.touching("s", ids) == {}
    distinct = {edge.identity: edge for edge in edges}.values()
    await store.apply("s", Mutation(tuple(Node(id_, "L") for id_ in IDS), tuple(distinct)))
    found = store.touching("s", ids)
    assert [found[key] for key in sorted(found)] == await store.neighbors("s", ids)
    assert all((edge.source, edge.type, edge.target, edge.key) == key for key, edge in found.items())
    await store.aclose()
    with pytest.raises(Closed):
        store.touching("s", ids)
