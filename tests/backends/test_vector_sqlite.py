"""The SQLite vector store as a file: who may open it, what survives, and how damage is told."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from saga_backends.state_kv import sqlite as state_sqlite
from saga_backends.vector import sqlite
from saga_core.capabilities import Capability
from saga_core.errors import BadInput, NewerSchema, StoreCorrupt, StoreError, StoreLocked, StoreUnavailable
from saga_core.registry import OpenOptions, load
from saga_core.stores.filters import Exists
from saga_core.stores.vector import ScopeSpec, VectorItem

SPEC = ScopeSpec("e", 2)


async def opened(path: Path) -> Any:
    return await sqlite.BACKEND.open(OpenOptions(path=path))


async def fill(path: Path, count: int = 3) -> None:
    store = await opened(path)
    await store.create("s", SPEC)
    await store.upsert("s", [VectorItem(f"i{n}", (1.0, n), f"text {n}", {"n": n}) for n in range(count)])
    await store.aclose()


def alter(path: Path, statement: str, *values: object) -> None:
    connection = sqlite3.connect(path)
    connection.execute(statement, values)
    connection.commit()
    connection.close()


async def test_it_is_registered_durable_and_tells_its_place(tmp_path: Path) -> None:
    path = tmp_path / "새 폴더" / "deep" / "v.db"
    store = await load("vector", "sqlite").open(OpenOptions(path=path))
    assert store.info.capabilities == {Capability.DURABLE}
    assert store.info.location == str(path)
    assert (store.info.name, store.info.version) == ("sqlite", sqlite3.sqlite_version)
    health = await store.check(thorough=True)
    assert health.ok and health.bytes and str(path) in health.detail
    await store.aclose()
    assert path.exists()


async def test_options_are_checked(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="path"):
        await sqlite.BACKEND.open(OpenOptions())
    with pytest.raises(BadInput, match="cache"):
        await sqlite.BACKEND.open(OpenOptions(path=tmp_path / "v.db", options={"cache": 1}))


async def test_a_path_is_open_once(tmp_path: Path) -> None:
    path = tmp_path / "v.db"
    store = await opened(path)
    with pytest.raises(StoreLocked, match=r"v\.db"):
        await opened(path)
    with pytest.raises(StoreLocked):
        await opened(tmp_path / "x" / ".." / "v.db")
    await store.aclose()
    await (await opened(path)).aclose()


async def test_another_process_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "v.db"
    store = await opened(path)
    code = f"""
import asyncio, pathlib
from saga_backends.vector import sqlite
from saga_core.errors import StoreLocked
from saga_core.registry import OpenOptions
try:
    asyncio.run(sqlite.BACKEND.open(OpenOptions(path=pathlib.Path({str(path)!r}))))
except StoreLocked as error:
    print("locked")
"""
    found = await asyncio.to_thread(subprocess.run, [sys.executable, "-c", code], capture_output=True, text=True)
    assert (found.stdout, found.stderr) == ("locked\n", "")
    await store.aclose()


KILLED = """
import asyncio, os, pathlib, signal, sys
from saga_backends.vector import sqlite
from saga_core.registry import OpenOptions
from saga_core.stores.vector import ScopeSpec, VectorItem

async def main():
    store = await sqlite.BACKEND.open(OpenOptions(path=pathlib.Path(sys.argv[1])))
    await store.create("s", ScopeSpec("e", 2))
    for n in range(7):
        await store.upsert("s", [VectorItem(f"i{n}{part}", (1.0, n), "text", {"n": n}) for part in "ab"])
    await store.delete("s", ids=["i0a"])
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


async def test_what_was_acknowledged_survives_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "v.db"
    found = await asyncio.to_thread(subprocess.run, [sys.executable, "-c", KILLED, str(path)], capture_output=True)
    assert found.returncode == -signal.SIGKILL
    store = await opened(path)
    assert [item.id for item in await store.scan("s")] == ["i0b"] + [
        f"i{n}{part}" for n in range(1, 7) for part in "ab"
    ]
    await store.aclose()


async def test_a_cancelled_write_is_written(tmp_path: Path) -> None:
    store = await opened(tmp_path / "v.db")
    await store.create("s", SPEC)
    task = asyncio.create_task(store.upsert("s", [VectorItem("a", (1.0, 0.0))]))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await store.count("s") == 1
    await store.aclose()


async def test_a_failing_statement_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "v.db"
    await fill(path)
    store = await opened(path)
    alter(path, "CREATE TRIGGER refuse BEFORE INSERT ON items WHEN new.id = 'bad' BEGIN SELECT RAISE(ABORT, 'no'); END")
    with pytest.raises(StoreError, match="no"):
        await store.upsert("s", [VectorItem("i0", (0.0, 1.0)), VectorItem("bad", (0.0, 1.0))])
    assert [item.text for item in await store.scan("s")] == ["text 0", "text 1", "text 2"]
    await store.upsert("s", [VectorItem("good", (0.0, 1.0))])
    assert await store.count("s") == 4
    await store.aclose()


async def test_a_newer_schema_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "v.db"
    await fill(path)
    alter(path, "PRAGMA user_version = 99")
    before = path.read_bytes()
    with pytest.raises(NewerSchema, match="99"):
        await opened(path)
    assert path.read_bytes() == before
    alter(path, "PRAGMA user_version = 1")
    await (await opened(path)).aclose()


async def test_garbage_is_told_with_its_file_and_a_remedy(tmp_path: Path) -> None:
    path = tmp_path / "v.db"
    path.write_bytes(b"this is no database, whatever its name says" * 100)
    with pytest.raises(StoreCorrupt, match=r"v\.db.*saga rebuild"):
        await opened(path)
    path.unlink()
    await fill(path)


async def test_another_kind_of_database_is_refused(tmp_path: Path) -> None:
    state = await state_sqlite.BACKEND.open(OpenOptions(path=tmp_path / "state.db"))
    await state.aclose()
    before = (tmp_path / "state.db").read_bytes()
    with pytest.raises(StoreCorrupt, match=r"by state\.sqlite and not by vector\.sqlite"):
        await opened(tmp_path / "state.db")
    assert (tmp_path / "state.db").read_bytes() == before


async def test_a_path_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path, tmp_path / "file" / "v.db"):
        with pytest.raises(StoreUnavailable):
            await opened(path)


@pytest.mark.parametrize(
    ("statement", "value"),
    [
        ("UPDATE items SET vector = ? WHERE id = 'i1'", b"123"),
        ("UPDATE items SET metadata = ? WHERE id = 'i1'", "{"),
        ("UPDATE items SET metadata = ? WHERE id = 'i1'", "[1]"),
        ("UPDATE items SET metadata = ? WHERE id = 'i1'", '{"a": 1}, {"b": 2}'),
    ],
)
async def test_a_damaged_item_is_named(tmp_path: Path, statement: str, value: object) -> None:
    path = tmp_path / "v.db"
    await fill(path)
    alter(path, statement, value)
    store = await opened(path)
    for call in (
        store.scan("s"),
        store.get("s", ["i1"]),
        store.query(["s"], (1.0, 0.0), 3, where=Exists("n")) if "metadata" in statement else store.scan("s"),
        store.query(["s"], (1.0, 0.0), 3),
    ):
        with pytest.raises(StoreCorrupt, match=r"v\.db.*'i1'.*saga rebuild"):
            await call
    assert list(await store.get("s", ["i0"])) == ["i0"]
    await store.aclose()


async def test_a_torn_file_shows_in_the_check(tmp_path: Path) -> None:
    path = tmp_path / "v.db"
    await fill(path, 500)
    with path.open("r+b") as file:
        file.seek(3 * 4_096)
        file.write(b"\xff" * 4_096 * 4)
    store = await opened(path)
    health = await store.check(thorough=True)
    assert not health.ok
    assert str(path) in health.detail
    with pytest.raises(StoreError):
        await store.scan("s")
    await store.aclose()


async def test_large_scopes_are_read_in_parts(tmp_path: Path) -> None:
    store = await opened(tmp_path / "v.db")
    await store.create("s", SPEC)
    for start in range(0, 2_000, 500):
        await store.upsert(
            "s", [VectorItem(f"{n:04}", (1.0, 2_000 - n), "", {"n": n}) for n in range(start, start + 500)]
        )
    assert [hit.id for hit in await store.query(["s"], (1.0, 0.0), 3)] == ["1999", "1998", "1997"]
    ties = await store.query(["s"], (0.0, 0.0), 1_200)
    assert [hit.id for hit in ties] == [f"{n:04}" for n in range(1_200)]
    await store.aclose()
