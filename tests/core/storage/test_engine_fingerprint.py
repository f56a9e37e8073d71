"""A change of the engines that show the journal is noticed, and told with the remedy."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from attrs import evolve

from saga_backends.memory import MemoryGraph, MemoryState, MemoryVector
from saga_core.capabilities import Capability
from saga_core.counters import Counters
from saga_core.storage.engine_fingerprint import notice_change
from saga_core.stores import Mutation, Node


class Engine(MemoryGraph):
    """A graph that says it is another engine."""

    def __init__(self, name: str, location: str = "", *, durable: bool = True, identity: str = "") -> None:
        super().__init__()
        kept = frozenset({Capability.DURABLE}) if durable else frozenset()
        self._shown = evolve(super().info, name=name, location=location, capabilities=kept, identity=identity)

    @property
    def info(self) -> Any:
        return self._shown


@pytest.fixture
def state() -> MemoryState:
    return MemoryState()


async def start(state: MemoryState, graph: Any, *, act: bool = True, data: str = "/data") -> dict[str, str]:
    stores: Any = SimpleNamespace(state=state, all=lambda: {"graph": graph, "vector": MemoryVector()})
    counters = Counters()
    await notice_change(stores, counters, Path(data), act=act)
    return counters.degraded


async def filled(graph: Engine) -> Engine:
    await graph.apply("s", Mutation(put_nodes=(Node("a", "n"),)))
    return graph


async def test_a_first_start_and_the_same_engines_again_are_no_change(state: MemoryState) -> None:
    graph = await filled(Engine("kuzu", "/data/graph"))
    for _ in range(2):
        assert await start(state, graph) == {}
    assert await graph.scopes() == ["s"]


async def test_another_engine_is_told_and_what_it_holds_from_earlier_is_dropped(state: MemoryState) -> None:
    await start(state, Engine("kuzu", "/data/graph"))
    graph = await filled(Engine("ladybug", "/data/graph"))
    told = await start(state, graph)
    assert "written with kuzu, and ladybug may lack" in told["graph.changed"]
    assert "saga rebuild --to graph=ladybug" in told["graph.changed"] and "storage.graph" in told["graph.changed"]
    assert await graph.scopes() == []
    assert await start(state, graph) == {}


async def test_who_only_looks_changes_nothing(state: MemoryState) -> None:
    await start(state, Engine("kuzu", "/data/graph"))
    graph = await filled(Engine("ladybug", "/data/graph"))
    for _ in range(2):
        assert "graph.changed" in await start(state, graph, act=False)
    assert await graph.scopes() == ["s"]


async def test_another_place_is_a_change_and_a_data_directory_that_was_moved_is_none(state: MemoryState) -> None:
    await start(state, Engine("kuzu", "/data/graph"))
    assert await start(state, Engine("kuzu", "/moved/graph"), data="/moved") == {}
    told = await start(state, Engine("kuzu", "/elsewhere/graph"))
    assert "written with kuzu in graph, and kuzu in /elsewhere/graph may lack" in told["graph.changed"]


async def test_an_engine_that_keeps_nothing_misses_nothing(state: MemoryState) -> None:
    await start(state, Engine("kuzu", "/data/graph"))
    assert await start(state, Engine("memory", durable=False)) == {}
    assert "graph.changed" in await start(state, Engine("kuzu", "/data/graph"))


async def test_another_address_of_the_same_data_is_no_change(state: MemoryState) -> None:
    """Servers that share a database may reach it by different ways, and one that starts must not empty what others
    show."""
    await start(state, Engine("postgres", "db1:5432/saga"))  # written by a version that knew addresses only
    for location in ("db1:5432/saga", "db2:6432/saga", "db1:5432/saga"):
        graph = await filled(Engine("postgres", location, identity="one"))
        assert await start(state, graph) == {}
        assert await graph.scopes() == ["s"]


async def test_other_data_at_the_same_address_is_a_change(state: MemoryState) -> None:
    await start(state, Engine("postgres", "db:5432/saga", identity="one"))
    graph = await filled(Engine("postgres", "db:5432/saga", identity="other"))
    assert "graph.changed" in await start(state, graph)
    assert await graph.scopes() == []
    assert await start(state, graph) == {}


async def test_data_that_others_showed_meanwhile_is_a_change(state: MemoryState) -> None:
    await start(state, Engine("postgres", "db:5432/saga", identity="one"))
    await start(state, Engine("kuzu", "/data/graph"))
    graph = await filled(Engine("postgres", "db:5432/saga", identity="one"))
    assert "written with kuzu, and postgres may lack" in (await start(state, graph))["graph.changed"]
