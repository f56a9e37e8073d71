"""Mutations of many rows are made in passes: as one by one, in few statements, and one by one where room is scarce."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.calls import snapshot
from saga_backends.graph import kuzu_tables
from saga_backends.graph.kuzu_database import KuzuDatabase
from saga_backends.graph.kuzu_engine import PoolFull
from saga_backends.memory import MemoryGraph
from saga_core.registry import OpenOptions
from saga_core.stores.graph import Edge, EdgeKey, Mutation, Node
from tests.backends.store_openers import ON_DISK

AWKWARD = ("", "'", '"', "\\", "$pk", "{", "NULL", "아리아", "👩‍👩‍👧", "e\u0301", "\u200b", "a\nb", "rows", "7", "true")
COUNT = 80


async def opened(path: Path) -> Any:
    return await ON_DISK.open(OpenOptions(path=path, options={"buffer_pool_mb": 32, "max_db_mb": 1_024}))


def name(number: int) -> str:
    return f"{AWKWARD[number % len(AWKWARD)]}{number}"


def nodes(mark: str) -> tuple[Node, ...]:
    return tuple(
        Node(name(number), "Item", {"name": AWKWARD[number % len(AWKWARD)], "mark": mark}) for number in range(COUNT)
    )


def edges(mark: str) -> tuple[Edge, ...]:
    """A ring, a star, and a loop at each; some of them beside another one of the same ends."""
    ring = [Edge(name(at), "AT", name((at + 1) % COUNT), AWKWARD[at % 4], {"mark": mark}) for at in range(COUNT)]
    star = [Edge(name(0), "SEES", name(at), key, {"at": at}) for at in range(COUNT) for key in ("", mark)]
    loops = [Edge(name(at), "IS", name(at)) for at in range(COUNT)]
    return (*ring, *star, *loops)


def story() -> Iterator[Mutation]:
    every = edges("one")
    yield Mutation(nodes("one"), every, watermark="t1")
    yield Mutation(nodes("two")[::2], edges("two"), watermark="t2")
    yield Mutation(delete_edges=tuple(edge.identity for edge in every[::2]))
    yield Mutation(nodes("three")[::-1], every[:90], tuple(name(at) for at in range(0, 64, 2)))
    yield Mutation(delete_nodes=tuple(name(at) for at in range(40)), delete_edges=(EdgeKey("no", "SUCH", "edge"),))
    yield Mutation(nodes("four"), edges("four"))


async def told(store: Any) -> list[object]:
    """What is there after each part of the story, in two scopes whose nodes have the same names."""
    found: list[object] = []
    for mutation in story():
        for scope in ("s", "s1"):
            await store.apply(scope, mutation)
            found.append(await snapshot(store))
    await store.drop("s")
    return [*found, await snapshot(store)]


async def test_the_same_is_there_as_in_the_memory_and_after_opening_again(tmp_path: Path) -> None:
    store, oracle = await opened(tmp_path / "g"), MemoryGraph()
    assert await told(store) == (wanted := await told(oracle))
    await store.aclose()
    store = await opened(tmp_path / "g")
    assert await snapshot(store) == wanted[-1]
    await store.aclose()


async def test_statements_grow_with_passes_and_not_with_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, counts = await opened(tmp_path / "g"), list[int]()
    real = KuzuDatabase.rows
    for count in (COUNT, 6 * COUNT):
        asked = list[str]()

        def rows(self: KuzuDatabase, statement: Any, asked: list[str] = asked, **parameters: Any) -> Any:
            asked.append(statement)
            return real(self, statement, **parameters)

        monkeypatch.setattr(KuzuDatabase, "rows", rows)
        made = tuple(Node(f"n{number}", "L") for number in range(count))
        ties = tuple(Edge("n0", "AT", node.id) for node in made)
        for mutation in (
            Mutation(made, ties),
            Mutation(made, ties),
            Mutation(delete_edges=tuple(edge.identity for edge in ties)),
            Mutation(delete_nodes=tuple(node.id for node in made)),
        ):
            await store.apply(f"s{count}", mutation)
        counts.append(len(asked))
    assert counts[1] <= counts[0] < COUNT
    monkeypatch.setattr(KuzuDatabase, "rows", real)
    assert await store.neighbors(f"s{COUNT}", ["n0"]) == []
    assert await store.scan(f"s{6 * COUNT}") == []
    await store.aclose()


async def test_a_pass_that_does_not_fit_into_the_pool_is_made_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, oracle, refused = await opened(tmp_path / "g"), MemoryGraph(), list[str]()
    real = KuzuDatabase.rows

    def rows(self: KuzuDatabase, statement: Any, **parameters: Any) -> Any:
        if "rows" in parameters:
            refused.append(statement)
            raise PoolFull("no room for a pass")
        return real(self, statement, **parameters)

    monkeypatch.setattr(KuzuDatabase, "rows", rows)
    for mutation in (Mutation(nodes("one"), edges("one"), watermark="t1"), Mutation(nodes("two"), edges("two"))):
        await store.apply("s", mutation)
        await oracle.apply("s", mutation)
    assert await snapshot(store) == await snapshot(oracle)
    assert len(refused) > 3, "two writes, what is there before the second one, and what is read"
    await store.aclose()


def test_parts_are_bounded_by_rows_and_by_text() -> None:
    parts = [len(part) for part in kuzu_tables._parts([{"pk": "x"}] * 4_500)]
    assert parts == [2_000, 2_000, 500]
    long = {"properties": "힣" * 400_000}
    assert [len(part) for part in kuzu_tables._parts([long, {"properties": ""}, long, long, long, long])] == [3, 2, 1]
    assert list(kuzu_tables._parts([])) == []
