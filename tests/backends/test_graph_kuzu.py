"""A Kuzu or Ladybug database as a directory: who may open it, whose it is, what survives, and how damage is told."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from saga_backends.graph import kuzu, kuzu_engine
from saga_backends.graph.kuzu_database import KuzuDatabase
from saga_core.capabilities import Capability
from saga_core.errors import (
    BadInput,
    Closed,
    NewerSchema,
    NotFound,
    StoreCorrupt,
    StoreError,
    StoreLocked,
    StoreUnavailable,
)
from saga_core.registry import Backend, OpenOptions, load
from saga_core.stores.graph import Edge, EdgeKey, Mutation, Node
from tests.backends.store_openers import ENGINE, ON_DISK

OTHER = {"kuzu": kuzu.LADYBUG, "ladybug": kuzu.KUZU}[ENGINE]
SMALL = {"buffer_pool_mb": 32, "max_db_mb": 1_024}


async def opened(path: Path, backend: Backend = ON_DISK, **options: Any) -> Any:
    return await backend.open(OpenOptions(path=path, options={**SMALL, **options}))


def nodes(count: int, start: int = 0) -> tuple[Node, ...]:
    return tuple(Node(f"n{number:04}", "Item", {"name": f"물건 {number}"}) for number in range(start, start + count))


async def filled(path: Path, count: int = 3) -> None:
    store = await opened(path)
    await store.apply("s", Mutation(nodes(count), watermark="t1"))
    await store.aclose()


def content(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in path.iterdir() if file.name != ".lock"}


async def test_it_is_registered_durable_and_tells_its_place(tmp_path: Path) -> None:
    store = await load("graph", ENGINE).open(OpenOptions(path=tmp_path / "새 폴더" / "graph", options=SMALL))
    assert store.info.capabilities == {Capability.DURABLE}
    assert (store.info.name, store.info.version[0].isdigit()) == (ENGINE, True)
    assert store.info.location == str(tmp_path / "새 폴더" / "graph" / "graph.db")
    for thorough in (False, True):
        health = await store.check(thorough=thorough)
        assert health.ok
        assert health.bytes
    await store.aclose()
    await store.aclose()
    with pytest.raises(Closed):
        await store.check()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"buffer_pool_mb": 16}, "buffer_pool_mb: 16 is too little; give at least 32"),
        ({"max_db_mb": 1_000}, "max_db_mb: 1000; give a power of two"),
        ({"max_db_mb": 16}, "max_db_mb: 16; give a power of two of at least buffer_pool_mb"),
        ({"threads": 2}, "options.threads: unknown option"),
        ({"raw_query": 1}, "options.raw_query: 1 is of type int; give one of type bool"),
    ],
)
async def test_options_are_checked(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=message):
        await opened(tmp_path / "g", **options)
    with pytest.raises(BadInput, match="give its path"):
        await ON_DISK.open(OpenOptions())
    assert not (tmp_path / "g").exists()


async def test_a_path_is_open_once_in_this_process_and_in_others(tmp_path: Path) -> None:
    path = tmp_path / "g"
    store = await opened(path)
    await store.apply("s", Mutation(nodes(1)))
    for other in (path, tmp_path / "x" / ".." / "g"):
        with pytest.raises(StoreLocked):
            await opened(other)
    program = (
        "import asyncio, pathlib, sys\n"
        "from saga_core.errors import StoreLocked\nfrom saga_core.registry import OpenOptions, load\n"
        "async def main():\n"
        "    try:\n"
        f"        await load('graph', {ENGINE!r}).open(OpenOptions(path=pathlib.Path({str(path)!r})))\n"
        "    except StoreLocked:\n        print('locked')\n"
        "asyncio.run(main())"
    )
    command = [sys.executable, "-c", program]
    done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=False)
    assert done.stdout == "locked\n", done.stderr
    await store.aclose()
    store = await opened(path)
    assert await store.scopes() == ["s"]
    await store.aclose()


async def test_the_two_engines_do_not_meet_in_one_process(tmp_path: Path) -> None:
    store = await opened(tmp_path / "g")
    with pytest.raises(StoreUnavailable, match="crash when they meet in one; use one of the two"):
        await opened(tmp_path / "other", OTHER)
    assert OTHER.name not in sys.modules
    await store.aclose()


async def test_the_other_engines_database_is_refused_by_name_with_a_remedy(tmp_path: Path) -> None:
    await filled(tmp_path / "g")
    file = tmp_path / "g" / "graph.db"
    magic = {"kuzu": b"LBUG", "ladybug": b"KUZU"}[ENGINE]
    file.write_bytes(magic + file.read_bytes()[4:])
    before = content(tmp_path / "g")
    with pytest.raises(
        StoreCorrupt, match=rf"was written by graph.{OTHER.name} .* use graph\.{OTHER.name}, or .*saga rebuild"
    ):
        await opened(tmp_path / "g")
    assert content(tmp_path / "g") == before


async def test_a_later_format_is_refused_and_left_alone(tmp_path: Path) -> None:
    await filled(tmp_path / "g")
    file = tmp_path / "g" / "graph.db"
    whole = file.read_bytes()
    file.write_bytes(whole[:4] + (9_999).to_bytes(8, "little") + whole[12:])
    before = content(tmp_path / "g")
    with pytest.raises(NewerSchema, match="storage format 9999"):
        await opened(tmp_path / "g")
    assert content(tmp_path / "g") == before


@pytest.mark.parametrize("start", [b"SQLite format 3\0", b"KU", b"\0" * 64])
async def test_what_is_no_database_is_refused_and_left_alone(start: bytes, tmp_path: Path) -> None:
    path = tmp_path / "g"
    path.mkdir()
    (path / "graph.db").write_bytes(start)
    with pytest.raises(StoreCorrupt, match="saga rebuild"):
        await opened(path)
    assert (path / "graph.db").read_bytes() == start


async def test_a_log_without_its_database_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "g"
    path.mkdir()
    (path / "graph.db.wal").write_bytes(b"something")
    with pytest.raises(StoreCorrupt, match="is missing or empty, but its log"):
        await opened(path)


async def test_a_file_in_place_of_the_directory(tmp_path: Path) -> None:
    (tmp_path / "g").write_bytes(b"")
    with pytest.raises(StoreUnavailable, match="give the path of a directory"):
        await opened(tmp_path / "g")


async def test_a_missing_engine_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(module: str) -> Any:
        raise ModuleNotFoundError(f"No module named {module!r}")

    monkeypatch.setattr(kuzu_engine.importlib, "import_module", missing)
    with pytest.raises(StoreUnavailable, match=rf"pip install 'saga-rp\[{ENGINE}\]'") as caught:
        await opened(tmp_path / "g")
    assert isinstance(caught.value.__cause__, ImportError)


async def test_many_transactions_do_not_fill_a_small_pool(tmp_path: Path) -> None:
    store = await opened(tmp_path / "g")
    await store.apply("s", Mutation(nodes(50)))
    for turn in range(120):
        one, two = f"n{turn % 50:04}", f"n{(turn + 7) % 50:04}"
        out = (EdgeKey(one, "AT", two),) if turn >= 50 else ()
        await store.apply("s", Mutation(delete_edges=out, put_edges=(Edge(one, "AT", two),), watermark=f"t{turn}"))
    assert await store.watermark("s") == "t119"
    assert len(await store.neighbors("s", [node.id for node in nodes(50)])) == 50
    assert (await store.check(thorough=True)).ok
    await store.aclose()


async def test_a_node_goes_with_many_edges_in_as_few_statements_as_with_few(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, counts = await opened(tmp_path / "g"), list[int]()
    real = KuzuDatabase.rows
    for count in (2, 90):
        made, ids = nodes(count), [node.id for node in nodes(count)]
        there = tuple(Edge("n0000", "AT", target) for target in ids)
        back = tuple(Edge(source, "SEES", "n0000") for source in ids)
        await store.apply("s", Mutation(made, (*there, *back, Edge("n0001", "AT", "n0001"))))
        asked = list[str]()

        def rows(self: KuzuDatabase, statement: Any, asked: list[str] = asked, **parameters: str) -> Any:
            asked.append(statement)
            return real(self, statement, **parameters)

        monkeypatch.setattr(KuzuDatabase, "rows", rows)
        await store.apply("s", Mutation(delete_nodes=("n0000",)))
        monkeypatch.setattr(KuzuDatabase, "rows", real)
        counts.append(len(asked))
        assert [edge.identity for edge in await store.neighbors("s", ids)] == [EdgeKey("n0001", "AT", "n0001")]
    assert counts[0] == counts[1] > 0
    await store.aclose()


async def test_a_failed_mutation_leaves_nothing_and_the_next_one_goes_on(tmp_path: Path) -> None:
    store = await opened(tmp_path / "g")
    await store.apply("s", Mutation(nodes(2), watermark="t1"))
    with pytest.raises((NotFound, BadInput)):
        await store.apply("s", Mutation(nodes(1, 5), (Edge("n0000", "AT", "nobody"),), watermark="t2"))
    assert await store.watermark("s") == "t1"
    assert await store.get("s", ["n0005"]) == {}
    await store.apply("s", Mutation(nodes(1, 5), (Edge("n0000", "AT", "n0005"),), watermark="t2"))
    await store.aclose()
    store = await opened(tmp_path / "g")
    assert [edge.target for edge in await store.neighbors("s", ["n0000"])] == ["n0005"]
    await store.aclose()


async def test_no_driver_exception_comes_out_of_a_damaged_file(tmp_path: Path) -> None:
    await filled(tmp_path / "g", 200)
    file = tmp_path / "g" / "graph.db"
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 3])
    with pytest.raises(StoreError):
        store = await opened(tmp_path / "g")
        try:
            health = await store.check(thorough=True)
            assert not health.ok
            raise StoreCorrupt(health.detail)
        finally:
            await store.aclose()
