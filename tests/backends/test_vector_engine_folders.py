"""LanceDB and Chroma as directories: who may open one, what survives, and how damage is told."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
import unicodedata
from array import array
from asyncio.subprocess import PIPE
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from saga_backends.vector import chroma, lancedb
from saga_core.capabilities import Capability
from saga_core.errors import (
    BadInput,
    Closed,
    NewerSchema,
    StoreCorrupt,
    StoreError,
    StoreLocked,
    StoreUnavailable,
)
from saga_core.registry import Backend, OpenOptions, load
from saga_core.stores.filters import Compare
from saga_core.stores.vector import ScopeSpec, VectorItem

SPEC = ScopeSpec("e", 2)

DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"

pytestmark = pytest.mark.parametrize("backend", [lancedb.BACKEND, chroma.BACKEND], ids=lambda backend: backend.name)


async def opened(backend: Backend, path: Path) -> Any:
    return await backend.open(OpenOptions(path=path))


async def fill(backend: Backend, path: Path, count: int = 3) -> None:
    store = await opened(backend, path)
    await store.create("s", SPEC)
    await store.upsert("s", [VectorItem(f"i{n}", (1.0, n), f"text {n}", {"n": n}) for n in range(count)])
    await store.aclose()


def image(path: Path) -> dict[str, bytes]:
    """Every file, but the lock, which a refused opening may touch."""
    return {str(file): file.read_bytes() for file in path.rglob("*") if file.is_file() and file.name != ".lock"}


def entries(path: Path) -> list[str]:
    return [entry.name for entry in path.iterdir()]


async def test_it_is_registered_durable_and_tells_its_place(backend: Backend, tmp_path: Path) -> None:
    path = tmp_path / "새 폴더" / "deep" / "vectors"
    store = await load("vector", backend.name).open(OpenOptions(path=path))
    assert store.info.capabilities == {Capability.DURABLE}
    assert store.info.location == str(path)
    assert store.info.name == backend.name
    assert store.info.version[0].isdigit()
    await store.create("s", SPEC)
    await store.upsert("s", [VectorItem("a", (1.0, 2.0))])
    for thorough in (False, True):
        health = await store.check(thorough=thorough)
        assert health.ok and str(path) in health.detail
        assert health.bytes == sum(len(content) for content in image(path).values()) + len(
            (path / ".lock").read_bytes()
        )
    await store.aclose()
    with pytest.raises(Closed):
        await store.check()


async def test_options_are_checked(backend: Backend, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="path"):
        await backend.open(OpenOptions())
    with pytest.raises(BadInput, match="cache"):
        await backend.open(OpenOptions(path=tmp_path / "v", options={"cache": 1}))
    assert entries(tmp_path) == []


async def test_a_missing_engine_is_told_and_leaves_nothing(
    backend: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(module: str) -> Any:
        raise ModuleNotFoundError(f"No module named {module!r}")

    monkeypatch.setattr("saga_backends.vector.engine_folder.importlib.import_module", missing)
    with pytest.raises(StoreUnavailable, match=rf"pip install 'saga-rp\[{backend.name}\]'") as caught:
        await opened(backend, tmp_path / "v")
    assert isinstance(caught.value.__cause__, ImportError)
    assert entries(tmp_path) == []


async def test_a_path_is_open_once(backend: Backend, tmp_path: Path) -> None:
    path = tmp_path / "v"
    store = await opened(backend, path)
    with pytest.raises(StoreLocked, match="v: is open already"):
        await opened(backend, path)
    with pytest.raises(StoreLocked):
        await opened(backend, tmp_path / "x" / ".." / "v")
    await store.create("s", SPEC)
    await store.aclose()
    store = await opened(backend, path)
    assert await store.scopes() == ["s"]
    await store.aclose()


async def test_what_was_written_is_there_for_another_process(backend: Backend, tmp_path: Path) -> None:
    path = tmp_path / "v"
    await fill(backend, path)
    code = f"""
import asyncio, pathlib
from saga_core.errors import StoreLocked
from saga_core.registry import OpenOptions, load
backend, path = load("vector", {backend.name!r}), pathlib.Path({str(path)!r})
async def main():
    store = await backend.open(OpenOptions(path=path))
    for item in await store.scan("s"):
        print(item.id, list(item.vector), item.text, dict(item.metadata))
    for hit in await store.query(["s"], [0.0, 1.0], 1):
        print(hit)
    print("ready", flush=True)
    input()
    await store.aclose()
asyncio.run(main())
"""
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdin=PIPE, stdout=PIPE, stderr=PIPE)
    assert process.stdout is not None
    lines = []
    while (line := await process.stdout.readline()) not in (b"ready\n", b""):
        lines.append(line.decode().strip())
    with pytest.raises(StoreLocked, match=f"process {process.pid}"):
        await opened(backend, path)
    assert await process.communicate(b"\n") == (b"", b"")
    assert process.returncode == 0
    assert lines == [f"i{n} [1.0, {float(n)}] text {n} {{'n': {n}}}" for n in range(3)] + [
        "Hit(id='i2', score=0.894427, text='text 2', metadata={'n': 2})"
    ]


KILLED = """
import asyncio, os, pathlib, sys
from saga_core.registry import OpenOptions, load
from saga_core.stores.vector import ScopeSpec, VectorItem

async def main():
    store = await load("vector", sys.argv[1]).open(OpenOptions(path=pathlib.Path(sys.argv[2])))
    await store.create("s", ScopeSpec("e", 64))
    n = await store.count("s")
    while True:
        await store.upsert("s", [VectorItem(f"i{n:04}{part}", [1.0] * 63 + [n], f"글 {n}", {"n": n}) for part in "ab"])
        os.write(1, f"{n}\\n".encode())
        n += 1

asyncio.run(main())
"""


@pytest.mark.deep  # three processes that import an engine
async def test_what_was_acknowledged_survives_kills(backend: Backend, tmp_path: Path) -> None:
    path = tmp_path / "v"
    acknowledged: list[int] = []
    # LanceDB compacts and Chroma saves its index with about every 32nd write.
    for writes in (3, 32, 63) if DEEP else (3, 32):
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", KILLED, backend.name, str(path), stdout=PIPE
        )
        assert process.stdout is not None
        for _ in range(writes):
            acknowledged.append(int(await process.stdout.readline()))
        process.send_signal(signal.SIGKILL)
        acknowledged += [int(line) for line in (await process.stdout.read()).splitlines(keepends=True) if b"\n" in line]
        assert await process.wait() == -signal.SIGKILL
        store = await opened(backend, path)
        assert (await store.check(thorough=True)).ok
        there = await store.scan("s")
        wanted = {f"i{n:04}{part}" for n in acknowledged for part in "ab"}
        extra = {item.id for item in there} - wanted
        assert wanted <= {item.id for item in there}
        assert len({item_id[:-1] for item_id in extra}) <= len(extra) / 2  # all of a write or nothing
        for item in there:
            n = int(item.id[1:-1])
            assert (list(item.vector), item.text, item.metadata) == ([1.0] * 63 + [float(n)], f"글 {n}", {"n": n})
        await store.upsert("s", [VectorItem("after", [0.0] * 64)])
        await store.delete("s", ids=["after", *extra])
        await store.aclose()


async def test_a_cancelled_write_is_written(backend: Backend, tmp_path: Path) -> None:
    store = await opened(backend, tmp_path / "v")
    await store.create("s", SPEC)
    task = asyncio.create_task(store.upsert("s", [VectorItem("a", (1.0, 0.0))]))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await store.count("s") == 1
    await store.aclose()


async def test_a_cancelled_opening_leaves_the_path_free(backend: Backend, tmp_path: Path) -> None:
    task = asyncio.create_task(opened(backend, tmp_path / "v"))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await fill(backend, tmp_path / "v")


NAMES = [
    "it's",
    'so "quoted"',
    "''",
    "'; DROP TABLE items; --",
    "\\",
    "\\'",
    "a%b_c",
    "*",
    "$x {y} `z`",
    "\n\t\x01\x7f",
    " ",
    "true",
    "어둠의 숲 🗡️",
    unicodedata.normalize("NFC", "각"),
    unicodedata.normalize("NFD", "각"),
    "x" * 256,
    "가" * 256,
]


async def test_names_of_any_kind_are_nothing_but_names(backend: Backend, tmp_path: Path) -> None:
    path = tmp_path / "v"
    store = await opened(backend, path)
    for scope in NAMES:
        await store.create(scope, SPEC)
    for scope in (NAMES[3], NAMES[-1]):
        await store.upsert(scope, [VectorItem(name, (1.0, 0.0), name, {name: name}) for name in NAMES])
        await store.upsert(scope, [VectorItem(name, (0.0, 1.0), name, {name: name}) for name in NAMES[:4]])
        for name in NAMES:
            assert list(await store.get(scope, [name])) == [name]
            assert await store.count(scope, where=Compare(name, "eq", name)) == 1
    await store.aclose()
    store = await opened(backend, path)
    assert await store.scopes() == sorted(NAMES)
    for name in NAMES:
        assert await store.delete(NAMES[3], ids=[name]) == 1
        assert await store.delete(NAMES[-1], where=Compare(name, "eq", name)) == 1
        assert await store.delete(NAMES[3], ids=[name]) == 0
    assert [await store.count(scope) for scope in (NAMES[3], NAMES[-1])] == [0, 0]
    for name in NAMES:
        await store.drop(name)
    assert await store.scopes() == []
    await store.aclose()


async def test_large_scopes_are_read_in_parts(
    backend: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    monkeypatch.setattr(chroma, "_BLOCK", 70)
    monkeypatch.setattr(lancedb, "_BLOCK", 70)
    store = await opened(backend, tmp_path / "v")
    await store.create("s", SPEC)
    ids = [f"{n:04}" for n in range(500)]
    items = [VectorItem(item_id, (1.0, 500 - n), item_id, {"n": n}) for n, item_id in enumerate(ids)]
    random.Random(5).shuffle(items)
    for start in range(0, 500, 210):
        await store.upsert("s", items[start : start + 210])
    assert [hit.id for hit in await store.query(["s"], (1.0, 0.0), 3)] == ["0499", "0498", "0497"]
    assert [hit.id for hit in await store.query(["s"], (0.0, 0.0), 420)] == ids[:420]
    assert [hit.id for hit in await store.query(["s"], (0.0, 0.0), 80, where=Compare("n", "ge", 450))] == ids[450:]
    assert await store.count("s", where=Compare("n", "lt", 333)) == 333
    page, after = [], None
    while found := await store.scan("s", after=after, limit=90):
        page += [(item.id, item.vector, item.text) for item in found]
        after = found[-1].id
    assert page == [(item.id, array("f", item.vector), item.id) for item in sorted(items, key=lambda item: item.id)]
    assert await store.delete("s", where=Compare("n", "lt", 499)) == 499
    assert [item.id for item in await store.scan("s")] == ["0499"]
    await store.aclose()


async def test_the_limits_are_kept(backend: Backend, tmp_path: Path) -> None:
    store = await opened(backend, tmp_path / "v")
    limits = store.info.limits
    await store.create("s", SPEC)
    text = "가" * (limits.value_bytes // 3)
    await store.upsert("s", [VectorItem("a", (1.0, 0.0), text, {"t": "x" * 100_000})])
    assert (await store.get("s", ["a"]))["a"].text == text
    with pytest.raises(BadInput, match="limit"):
        await store.upsert("s", [VectorItem("b", (1.0, 0.0), text + "가")])
    items = [VectorItem(f"{n}", (1.0, n)) for n in range(limits.batch + 1)]
    with pytest.raises(BadInput, match=str(limits.batch)):
        await store.upsert("s", items)
    assert await store.count("s") == 1
    await store.upsert("s", items[:-1])
    assert len(await store.get("s", [item.id for item in items[:-1]])) == limits.batch
    assert await store.delete("s", ids=[item.id for item in items[:-1]]) == limits.batch
    assert await store.count("s") == 1
    await store.aclose()


# --- what is refused ---------------------------------------------------------------------------------------------


async def test_a_newer_layout_is_left_alone(backend: Backend, tmp_path: Path) -> None:
    path = tmp_path / "v"
    await fill(backend, path)
    label = json.loads((path / "saga.json").read_text())
    (path / "saga.json").write_text(json.dumps({**label, "version": 99}))
    before = image(path)
    with pytest.raises(NewerSchema, match="99"):
        await opened(backend, path)
    assert image(path) == before
    (path / "saga.json").write_text(json.dumps(label))
    store = await opened(backend, path)
    assert await store.count("s") == 3
    await store.aclose()


async def test_another_engines_directory_is_left_alone(backend: Backend, tmp_path: Path) -> None:
    other = chroma.BACKEND if backend is lancedb.BACKEND else lancedb.BACKEND
    await fill(other, tmp_path / "v")
    before = image(tmp_path / "v")
    with pytest.raises(StoreCorrupt, match=rf"by vector\.{other.name} and not by vector\.{backend.name}"):
        await opened(backend, tmp_path / "v")
    assert image(tmp_path / "v") == before


async def test_a_directory_of_something_else_is_left_alone(backend: Backend, tmp_path: Path) -> None:
    path = tmp_path / "documents"
    path.mkdir()
    (path / "novel.txt").write_text("옛날 옛적에")
    with pytest.raises(StoreCorrupt, match=r"documents: holds what no engine of SAGA wrote; give another path"):
        await opened(backend, path)
    assert entries(path) == ["novel.txt"]
    (path / "novel.txt").unlink()
    await fill(backend, path)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"saga": "vectors"}', '{"saga": "pages", "version": 1}', "\ufffd\0"])
async def test_a_damaged_label_is_told(backend: Backend, tmp_path: Path, text: str) -> None:
    path = tmp_path / "v"
    path.mkdir()
    (path / "saga.json").write_text(text)
    with pytest.raises(StoreCorrupt, match=r"v: saga\.json .*saga rebuild"):
        await opened(backend, path)
    assert (path / "saga.json").read_text() == text


async def test_a_path_that_cannot_be_used_is_told(backend: Backend, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "v"):
        with pytest.raises(StoreUnavailable, match="file"):
            await opened(backend, path)


async def test_a_label_that_may_not_be_read_is_told(
    backend: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(self: Path, *args: Any, **kwargs: Any) -> str:
        raise PermissionError(13, "Permission denied")

    await fill(backend, tmp_path / "v")
    monkeypatch.setattr(Path, "read_text", refused)
    with pytest.raises(StoreUnavailable, match=r"saga\.json: cannot be read \(Permission denied\)"):
        await opened(backend, tmp_path / "v")


# --- exceptions of the engine ------------------------------------------------------------------------------------


class PanicException(BaseException):
    """As the one of engines written in Rust, which is no ``Exception``."""


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (RuntimeError("lance error: corrupt file, /root/x/primitive.rs:27:20"), StoreCorrupt, "saga rebuild"),
        (RuntimeError("error returned from database: (code: 11) malformed hnsw; not found"), StoreCorrupt, "rebuild"),
        (OSError("No space left on device (os error 28)"), StoreError, "make room"),
        (ValueError("?"), StoreError, "ValueError"),
        (PanicException("index out of bounds; decode"), StoreError, "index out of bounds"),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_no_exception_of_the_engine_escapes(
    backend: Backend, tmp_path: Path, error: BaseException, kind: type[Exception], words: str
) -> None:
    store = await opened(backend, tmp_path / "v")
    await store.create("s", SPEC)
    await store.upsert("s", [VectorItem("a", (1.0, 0.0))])

    class Broken:
        def __getattr__(self, name: str) -> Callable[..., Any]:
            def fail(*args: Any, **kwargs: Any) -> Any:
                raise error

            return fail

    def break_it() -> None:
        engine = store._engine
        if backend is chroma.BACKEND:
            engine._loaded["s"] = Broken()
        else:
            engine._tables["s"].handle = Broken()

    calls: list[Callable[[], Any]] = [
        lambda: store.count("s"),
        lambda: store.scan("s"),
        lambda: store.get("s", ["a"]),
        lambda: store.query(["s"], (1.0, 0.0), 1),
        lambda: store.upsert("s", [VectorItem("b", (1.0, 0.0))]),
    ]
    for call in calls:
        await store._worker.run(break_it)
        with pytest.raises(kind, match=words) as caught:
            await call()
        assert str(tmp_path / "v") in str(caught.value)
        assert ".rs:" not in str(caught.value)
        assert caught.value.__cause__ is error
        if backend is chroma.BACKEND:
            store._engine._loaded.clear()
    assert [item.id for item in await store.scan("s")] == ["a"]
    await store.aclose()
