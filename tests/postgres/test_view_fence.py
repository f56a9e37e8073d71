"""A server whose lease was taken writes no graph, no vectors and no pages, however late its write arrives."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from saga_backends.postgres.graph import PostgresGraph
from saga_core import Saga, registry
from saga_core.errors import LeaseLost
from saga_core.registry import OpenOptions
from saga_core.stores import Batch, Fence, Mutation, Node, Pages, ScopeSpec, VectorItem
from saga_core.values import PAGE_NAMES
from saga_server.hosting import layout
from tests.core.frontend import Frontend
from tests.postgres.test_work_left import config

LEASE = layout.lease("s1")
SPEC = ScopeSpec("test", 2)


async def opened(kind: str, name: str, url: str, schema: str) -> Any:
    return await registry.load(kind, name).open(OpenOptions(None, url, {"schema": schema, "pool": 3}))


def pages(mark: str) -> Pages:
    return Pages(dict.fromkeys(PAGE_NAMES, mark), mark)


def node(mark: str) -> Mutation:
    return Mutation(put_nodes=(Node(mark, "Person", {}),), watermark=mark)


def item(mark: str) -> VectorItem:
    return VectorItem(mark, array("f", (1.0, 0.0)), "", {})


async def graph_now(store: Any) -> Any:
    return await store.watermark("s1.0"), [each.id for each in await store.scan("s1.0")]


async def vectors_now(store: Any) -> Any:
    return await store.scopes(), [each.id for each in await store.scan("s1.0")]


async def pages_now(store: Any) -> Any:
    return await store.read("s1.0")


Change = Callable[[Any], Awaitable[Any]]
# What is called, of which store, and how one sees what it holds.
CHANGES: dict[str, tuple[str, Change]] = {
    "apply": ("graph", lambda graph: graph.apply("s1.0", node("t2"))),
    "drop a graph": ("graph", lambda graph: graph.drop("s1.0")),
    "write": ("cache", lambda cache: cache.write("s1.0", pages("t2"))),
    "drop pages": ("cache", lambda cache: cache.drop("s1.0")),
    "create": ("vector", lambda vectors: vectors.create("s1.1", SPEC)),
    "upsert": ("vector", lambda vectors: vectors.upsert("s1.0", [item("t2")])),
    "delete": ("vector", lambda vectors: vectors.delete("s1.0", ids=["t1"])),
    "drop vectors": ("vector", lambda vectors: vectors.drop("s1.0")),
}
FIRST: dict[str, Change] = {
    "graph": lambda graph: graph.apply("s1.0", node("t1")),
    "cache": lambda cache: cache.write("s1.0", pages("t1")),
    "vector": lambda vectors: fill(vectors),
}
NOW: dict[str, Change] = {"graph": graph_now, "cache": pages_now, "vector": vectors_now}


async def fill(store: Any) -> None:
    await store.create("s1.0", SPEC)
    await store.upsert("s1.0", [item("t1")])


@pytest.mark.parametrize("what", CHANGES)
async def test_a_write_behind_a_lost_lease_changes_nothing(what: str, url: str, schema: str) -> None:
    kind, change = CHANGES[what]
    before, now = FIRST[kind], NOW[kind]
    state = await opened("state", "postgres", url, schema)
    store = await opened(kind, "pgvector" if kind == "vector" else "postgres", url, schema)
    try:
        assert store.info.identity == state.info.identity

        async def fence_of(scope: str) -> Fence:
            return Fence(LEASE, b"mine")

        store.fence(fence_of)
        await state.commit(Batch({LEASE: b"mine"}))
        await before(store)
        found = await now(store)
        await state.commit(Batch({LEASE: b"yours"}))
        with pytest.raises(LeaseLost, match="s1 was taken"):
            await change(store)
        assert await now(store) == found
        await state.commit(Batch({LEASE: b"mine"}))
        await change(store)
        assert await now(store) != found
    finally:
        await store.aclose()
        await state.aclose()


async def test_a_lease_is_taken_before_a_write_or_behind_it_never_between(url: str, schema: str) -> None:
    """The fence is looked at, and not yet committed: whoever takes the lease waits for the end of that write."""
    state = await opened("state", "postgres", url, schema)
    graph = await opened("graph", "postgres", url, schema)
    try:

        async def fence_of(scope: str) -> Fence:
            return Fence(LEASE, b"mine")

        graph.fence(fence_of)
        await state.commit(Batch({LEASE: b"mine"}))
        checked, go_on = asyncio.Event(), asyncio.Event()
        database, plain = graph._database, graph._database._check_fence

        async def check(connection: Any, fence: Fence) -> None:
            await plain(connection, fence)
            checked.set()
            await go_on.wait()

        database._check_fence = check
        writing = asyncio.create_task(graph.apply("s1.0", node("t1")))
        await checked.wait()
        taking = asyncio.create_task(state.commit(Batch({LEASE: b"yours"}), expected={LEASE: b"mine"}))
        waits = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE %s"

        async def waiting(connection: Any) -> bool:
            found = await connection.execute(waits, [f"%{schema}.commit_entries%"])
            return await found.fetchone() is not None

        while not await database.read(waiting):
            assert not taking.done(), "the lease was taken while a write that it fences was under way"
            await asyncio.sleep(0.01)
        go_on.set()
        await asyncio.gather(writing, taking)
        assert await graph_now(graph) == ("t1", ["t1"])
    finally:
        await graph.aclose()
        await state.aclose()


async def test_a_view_that_a_cut_off_server_writes_late_is_refused(
    url: str, schema: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has drawn the second turn and is about to write it; meanwhile another server plays the third."""
    plain, asleep, woken = PostgresGraph.apply, asyncio.Event(), asyncio.Event()
    async with Saga.open(config(url, schema, tmp_path, "a")) as a:
        frontend = Frontend(a)
        await frontend.say("I open the door.", "The inn is warm and full of noise tonight.", hp_change=-3)
        await a.drain(10)
        ours = a.parts.stores.graph
        inner = getattr(ours, "inner", ours)

        async def apply(self: PostgresGraph, scope: str, mutation: Mutation) -> None:
            if self is inner:
                asleep.set()
                await woken.wait()
            await plain(self, scope, mutation)

        monkeypatch.setattr(PostgresGraph, "apply", apply)
        await frontend.say("I sit down.", "A chair creaks beneath you, and the host looks up.", hp_change=-2)
        await asleep.wait()
        leases = a.parts.rights
        assert leases is not None and leases._beating is not None
        leases._beating.cancel()  # it gives no sign of life from here on
        ((session, turn, _), *_rest) = await a.parts.journal.jobs()
        async with asyncio.timeout(30), Saga.open(config(url, schema, tmp_path, "b")) as b:
            done = asyncio.Event()
            b.counters.listeners.append(
                lambda event, about: done.set() if event == "projected" and about["turn"] == turn else None
            )
            await done.wait()
            other = Frontend(b, history=[*frontend.history])
            await other.say("I call for ale.", "The host brings a mug, and asks for a coin.", hp_change=-1)
            await b.drain(10)
            woken.set()
            await a.drain(10)
            assert a.counters.counts["lane.left_to_others"] == 1
            assert await b.maintenance.differences(session) == []
            # As somebody sees it who has nothing in memory.
            async with Saga.open(config(url, schema, tmp_path, "c")) as c:
                shown = await c.parts.projector.shown(session)
                assert turn not in shown
