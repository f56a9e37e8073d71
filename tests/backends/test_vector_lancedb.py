"""The LanceDB vector store: many small writes, what killed processes leave, and damage."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from saga_backends.vector import lancedb
from saga_core.errors import StoreCorrupt
from saga_core.registry import OpenOptions
from saga_core.stores.vector import ScopeSpec, VectorItem

SPEC = ScopeSpec("e", 16)


async def opened(path: Path) -> Any:
    return await lancedb.BACKEND.open(OpenOptions(path=path))


def item(n: int, turn: int = 0) -> VectorItem:
    return VectorItem(f"i{n:03}", [float((n * 7 + place) % 11 + turn) for place in range(16)], f"글 {n}", {"n": n})


async def fill(path: Path, count: int = 3, scope: str = "숲") -> None:
    store = await opened(path)
    await store.create(scope, SPEC)
    await store.upsert(scope, [item(n) for n in range(count)])
    await store.aclose()


def tables(path: Path) -> list[str]:
    return sorted(entry.name for entry in path.glob("*.lance"))


def files(path: Path) -> dict[str, int]:
    """How many files lie in each directory of the only table."""
    (table,) = path.glob("*.lance")
    return {entry.name: len(list(entry.iterdir())) for entry in table.iterdir()}


def label(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((path / "saga.json").read_text())
    return found


# --- many small writes -------------------------------------------------------------------------------------------


async def test_small_writes_are_brought_together(tmp_path: Path) -> None:
    path = tmp_path / "v"
    store = await opened(path)
    await store.create("숲", SPEC)
    most = 0
    for n in range(150):
        await store.upsert("숲", [item(n % 60, turn=n // 60)])
        if n % 10 == 0:
            await store.delete("숲", ids=[f"i{n % 60:03}"])
        most = max(most, *files(path).values())
    assert most <= 2 * lancedb._WRITES
    kept = {n % 60: (n // 60, n % 10 == 0) for n in range(150)}
    expected = [item(n, turn=turn) for n, (turn, gone) in sorted(kept.items()) if not gone]
    assert [(found.id, list(found.vector)) for found in await store.scan("숲")] == [
        (entry.id, list(entry.vector)) for entry in expected
    ]
    await store.aclose()


async def test_small_writes_of_short_lives_are_brought_together_too(tmp_path: Path) -> None:
    path = tmp_path / "v"
    await fill(path, 0)
    for life in range(10):
        store = await opened(path)
        for n in range(8):
            await store.upsert("숲", [item(life * 8 + n)])
        await store.aclose()
    assert files(path)["data"] <= lancedb._WRITES + 1
    store = await opened(path)
    assert await store.count("숲") == 80
    await store.aclose()


async def test_a_large_scope_is_brought_together_less_often(tmp_path: Path) -> None:
    path = tmp_path / "v"
    await fill(path, 5_000)
    store = await opened(path)
    for n in range(lancedb._WRITES + 5_000 // lancedb._ROWS_A_WRITE - 2):
        await store.upsert("숲", [item(n)])
        assert files(path)["data"] == n + 2
    await store.upsert("숲", [item(0)])
    assert files(path)["data"] == 1
    await store.aclose()


async def test_few_tables_are_open_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lancedb, "_OPEN_TABLES", 3)
    store = await opened(tmp_path / "v")
    scopes = [f"s{n}" for n in range(10)]
    for scope in scopes:
        await store.create(scope, SPEC)
        await store.upsert(scope, [VectorItem(scope, [1.0] * 16)])
        assert len(store._engine._tables) <= 3
    assert [hit.id for hit in await store.query(scopes, [1.0] * 16, 10)] == scopes
    assert list(store._engine._tables) == scopes[-3:]
    await store.count("s7")
    assert list(store._engine._tables) == ["s8", "s9", "s7"]
    await store.aclose()


async def test_what_was_read_before_a_write_is_not_read_again(tmp_path: Path) -> None:
    store = await opened(tmp_path / "v")
    for scope in ("s", "t"):
        await store.create(scope, SPEC)
        await store.upsert(scope, [item(0), item(1)])
    for _ in range(2):
        await store.upsert("s", [item(0, turn=1)])
        assert [found.id for found in await store.scan("s")] == ["i000", "i001"]
        assert list((await store.get("s", ["i000"]))["i000"].vector) == item(0, turn=1).vector
        await store.upsert("t", [item(2)])
        await store.delete("s", ids=["i001"])
        assert await store.get("s", ["i001"]) == {}
        assert list(await store.get("t", ["i001", "i002"])) == ["i001", "i002"]
        await store.upsert("s", [item(1)])
    await store.drop("s")
    await store.create("s", ScopeSpec("other", 1))
    assert await store.scan("s") == []
    await store.upsert("s", [VectorItem("i000", [3.0])])
    assert [list(found.vector) for found in await store.scan("s")] == [[3.0]]
    await store.aclose()


# --- what a killed process leaves --------------------------------------------------------------------------------


async def test_a_table_without_a_scope_goes(tmp_path: Path) -> None:
    path = tmp_path / "v"
    await fill(path)
    (table,) = tables(path)
    shutil.copytree(path / table, path / "000002-half-made.lance")
    (path / "000003-empty.lance").mkdir()
    (path / "saga.json.new").write_text('{"saga":')
    store = await opened(path)
    assert tables(path) == [table]
    assert await store.scopes() == ["숲"]
    await store.create("half made", SPEC)
    assert await store.count("half made") == 0
    await store.aclose()
    assert label(path)["notes"] == {
        "next": 3,
        "scopes": {
            "half made": {"table": "000002-half-made", "embedder": "e", "dimension": 16},
            "숲": {"table": "000001-scope", "embedder": "e", "dimension": 16},
        },
    }


async def test_a_drop_that_was_killed_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "v"
    await fill(path)
    store = await opened(path)

    def killed(name: str) -> None:
        raise OSError("killed")

    monkeypatch.setattr(store._engine._database, "drop_table", killed)
    with pytest.raises(Exception, match="killed"):
        await store.drop("숲")
    assert await store.scopes() == []
    assert len(tables(path)) == 1
    await store.create("숲", SPEC)
    assert await store.count("숲") == 0
    await store.aclose()
    store = await opened(path)
    assert await store.count("숲") == 0
    assert tables(path) == ["000002-scope.lance"]
    await store.aclose()


# --- damage ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "notes",
    [
        {"scopes": []},
        {"scopes": {"숲": "table"}},
        {"scopes": {"숲": {"table": "t"}}},
        {"scopes": {"숲": {"table": "t", "embedder": "e", "dimension": "many"}}},
        {"next": None},
    ],
)
async def test_damaged_notes_are_told_and_nothing_is_removed(tmp_path: Path, notes: object) -> None:
    path = tmp_path / "v"
    await fill(path)
    (path / "saga.json").write_text(json.dumps({**label(path), "notes": notes}))
    with pytest.raises(StoreCorrupt, match=r"v: .*notes.*saga rebuild"):
        await opened(path)
    assert len(tables(path)) == 1


@pytest.mark.parametrize("what", ["data", "data cut", "data gone", "manifest", "table"])
async def test_a_damaged_table_is_told(tmp_path: Path, what: str) -> None:
    path = tmp_path / "v"
    await fill(path, 50)
    await fill(path, 2, scope="whole")
    table = path / "000001-scope.lance"
    (data,) = (table / "data").iterdir()
    if what == "data":
        data.write_bytes(b"\xff" * data.stat().st_size)
    elif what == "data cut":
        data.write_bytes(data.read_bytes()[:10])
    elif what == "data gone":
        data.unlink()
    elif what == "manifest":
        for file in (table / "_versions").glob("*.manifest"):
            file.write_bytes(b"garbage" * 100)
    else:
        shutil.rmtree(table)
    store = await opened(path)
    for call in (store.scan("숲"), store.query(["숲"], [1.0] * 16, 1), store.get("숲", ["i001"])):
        with pytest.raises(StoreCorrupt, match=r"v: is damaged: .*'숲'.*saga rebuild"):
            await call
    health = await store.check(thorough=True)
    assert not health.ok and str(path) in health.detail
    assert len(await store.scan("whole")) == 2
    # Dropping the scope and making it anew is the way out.
    if what != "table":
        await store.drop("숲")
        await store.create("숲", SPEC)
        await store.upsert("숲", [item(1)])
        assert (await store.check(thorough=True)).ok
    await store.aclose()


@pytest.mark.parametrize(("text", "words"), [("{", "no JSON:"), ("[1]", "no JSON object"), ("{},{}", "no JSON:")])
async def test_a_damaged_item_is_named(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "v"
    await fill(path)
    store = await opened(path)
    handle = store._engine._table("숲").handle
    await store._worker.run(lambda: handle.update(where="id = 'i001'", values={"metadata": text}))
    for call in (store.scan("숲"), store.get("숲", ["i001"])):
        with pytest.raises(StoreCorrupt, match=rf"v: item 'i001' is damaged.*{words}.*saga rebuild"):
            await call
    await store.upsert("숲", [item(1)])
    assert len(await store.scan("숲")) == 3
    await store.aclose()
