"""Large graphs: written in portions, of which only the last one marks the scope."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from saga_backends.graph.networkx import BACKEND
from saga_backends.memory import MemoryGraph
from saga_core import Saga
from saga_core.errors import BadInput
from saga_core.projection.graph_image import GraphImage, portions
from saga_core.registry import OpenOptions
from saga_core.storage import opening as open_stores
from saga_core.stores.graph import Edge, EdgeKey, Node
from saga_core.stores.lifecycle import Limits
from saga_core.views import projector
from tests.core.frontend import Frontend


def image(nodes: int, edges: int) -> GraphImage:
    drawn = {f"n{at}": Node(f"n{at}", "Item", {"name": f"물건 {at}"}) for at in range(nodes)}
    tied = [Edge(f"n{at % nodes}", "RELATED", f"n{at // nodes % nodes}", f"{at}") for at in range(edges)]
    return GraphImage(drawn, {edge.identity: edge for edge in tied})


@given(st.integers(0, 25), st.integers(0, 30), st.integers(1, 40))
def test_portions_make_the_whole_and_only_the_last_marks_it(nodes: int, edges: int, most: int) -> None:
    whole = image(nodes, edges if nodes else 0)
    parts = portions(whole, "t1", most)
    assert [part.watermark for part in parts] == [None] * (len(parts) - 1) + ["t1"]
    assert all(part.size <= most for part in parts)
    known: set[str] = set()
    seen: list[EdgeKey] = []
    for part in parts:
        known |= {node.id for node in part.put_nodes}
        assert all({edge.source, edge.target} <= known for edge in part.put_edges)
        seen += [edge.identity for edge in part.put_edges]
    assert known == set(whole.nodes)
    assert seen == list(whole.edges)


async def test_a_store_takes_them() -> None:
    whole = image(12, 40)
    store = await BACKEND.open(OpenOptions())
    for part in portions(whole, "t1", 5):
        assert await store.watermark("s") is None
        await store.apply("s", part)
    assert await store.watermark("s") == "t1"
    assert await store.get("s", sorted(whole.nodes)) == whole.nodes
    assert {edge.identity for edge in await store.neighbors("s", sorted(whole.nodes))} == set(whole.edges)
    await store.aclose()


async def test_a_graph_of_many_portions_is_what_the_journal_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projector, "_PORTION", 7)
    config: dict[str, Any] = {"storage": {"state": {"backend": "memory"}, "cache": {"backend": "memory"}}}
    config |= {"session": {"default_world": "ersia"}}
    async with Saga.open(config) as saga:
        chat = Frontend(saga)
        turn = await chat.say("숲으로 간다.", "숲은 어둡다.")
        await chat.say("돌아간다.", "마을이 보인다.")
        await saga.drain(10)
        assert await saga.maintenance.differences(turn.session.id) == []


async def test_a_graph_beyond_what_a_store_takes_at_once_is_read_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = open_stores._open_store

    async def small(config: Any, kind: str, counters: Any) -> Any:
        return MemoryGraph(Limits(batch=16)) if kind == "graph" else await opened(config, kind, counters)

    monkeypatch.setattr(open_stores, "_open_store", small)
    async with Saga.open({"storage": {"profile": "memory"}, "session": {"default_world": "ersia"}}) as saga:
        turn = await Frontend(saga).say("숲으로 간다.", "숲은 어둡다.")
        await saga.drain(10)
        live = await saga.parts.live.get(turn.session.id)
        nodes = (await live.image(turn.id)).nodes
        assert len(nodes) > 2 * 16
        with pytest.raises(BadInput):
            await saga.stores.graph.neighbors(f"{turn.session.id}.0", sorted(nodes))
        assert await saga.maintenance.differences(turn.session.id) == []
