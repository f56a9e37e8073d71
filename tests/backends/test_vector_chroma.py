"""The Chroma vector store: torn indexes, what Chroma keeps behind one's back, and damage."""

from __future__ import annotations

import os
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import chromadb
import pytest
from chromadb.api.models.Collection import Collection
from chromadb.api.shared_system_client import SharedSystemClient
from chromadb.errors import InternalError
from chromadb.utils.embedding_functions import DefaultEmbeddingFunction

from saga_backends.vector import chroma
from saga_core.errors import StoreCorrupt, StoreError
from saga_core.registry import OpenOptions
from saga_core.stores.filters import Exists
from saga_core.stores.vector import ScopeSpec, VectorItem

SPEC = ScopeSpec("e", 16)
MARK = "saga.writing"


async def opened(path: Path) -> Any:
    return await chroma.BACKEND.open(OpenOptions(path=path))


def item(n: int, turn: int = 0) -> VectorItem:
    return VectorItem(f"i{n:03}", [float((n * 7 + place) % 11 + turn) for place in range(16)], f"글 {n}", {"n": n})


async def fill(path: Path, count: int = 3, scope: str = "숲") -> None:
    store = await opened(path)
    await store.create(scope, SPEC)
    await store.upsert(scope, [item(n) for n in range(count)])
    await store.aclose()


async def image(store: Any, scope: str = "숲") -> list[object]:
    return [(found.id, found.vector, found.text, dict(found.metadata)) for found in await store.scan(scope)]


def indexes(path: Path) -> list[Path]:
    return [entry for entry in path.iterdir() if entry.is_dir()]


def names(path: Path) -> str:
    file = path / MARK
    return file.read_text() if file.exists() else ""


def open_indexes() -> list[str]:
    """The index files that this process has open, where the system tells."""
    held = Path("/proc/self/fd")
    names = [os.path.realpath(entry) for entry in held.iterdir()] if held.is_dir() else []
    return [name for name in names if name.endswith(".bin")]


def alter(path: Path, statement: str, *values: object) -> None:
    connection = sqlite3.connect(path / "chroma.sqlite3")
    connection.execute(statement, values)
    connection.commit()
    connection.close()


# --- indexes that a kill has torn --------------------------------------------------------------------------------


async def test_a_torn_index_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "v"
    await fill(path, 100)
    await fill(path, 5, scope="other")
    store = await opened(path)
    before, untouched = await image(store), await image(store, "other")
    await store.aclose()
    # What a process leaves that is killed while it saves: files of two generations, the last of them cut.
    (torn,) = [index for index in indexes(path) if (index / "index_metadata.pickle").exists()]
    (torn / "index_metadata.pickle").write_bytes((torn / "index_metadata.pickle").read_bytes()[:100])
    (torn / "data_level0.bin").write_bytes(b"")
    (path / MARK).write_text(chroma._collection_name("숲"))
    store = await opened(path)
    assert names(path) == ""
    assert await image(store) == before
    assert await image(store, "other") == untouched
    await store.upsert("숲", [item(n, turn=1) for n in range(50, 150)])
    assert await store.delete("숲", ids=["i000", "i149"]) == 2
    assert await store.count("숲") == 148
    await store.aclose()
    # The index is Chroma's own again, with every item in it.
    client: Any = chromadb.PersistentClient(str(path), settings=chromadb.config.Settings(anonymized_telemetry=False))
    collection = client.get_collection(chroma._collection_name("숲"), embedding_function=None)
    found = collection.get(include=["embeddings"])
    assert len(found["ids"]) == len(found["embeddings"]) == 148
    client.close()


async def test_a_torn_index_without_its_mark_is_told(tmp_path: Path) -> None:
    path = tmp_path / "v"
    await fill(path, 100)
    (torn,) = indexes(path)
    (torn / "index_metadata.pickle").write_bytes(b"\x80")
    store = await opened(path)
    with pytest.raises(StoreCorrupt, match=r"v: is damaged.*saga rebuild"):
        await store.scan("숲")
    assert not (await store.check(thorough=True)).ok
    # The failed look left the mark, so that opening it once more mends it.
    await store.aclose()
    store = await opened(path)
    assert await store.count("숲") == 100
    assert (await store.check(thorough=True)).ok
    await store.aclose()


async def test_every_write_is_marked_while_it_lasts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "v"
    seen: list[tuple[str, str]] = []
    for method in ("upsert", "delete", "count"):
        original = getattr(Collection, method)

        def watched(self: Any, *args: Any, _method: str = method, _original: Any = original, **kwargs: Any) -> Any:
            seen.append((_method, names(path)))
            return _original(self, *args, **kwargs)

        monkeypatch.setattr(Collection, method, watched)
    store = await opened(path)
    await store.create("숲", SPEC)
    await store.upsert("숲", [item(1)])
    assert names(path) == ""
    await store.delete("숲", ids=["i001"])
    assert names(path) == ""
    await store.count("숲")
    name = chroma._collection_name("숲")
    # The first count is the first look at the collection, which brings its index up to date.
    assert seen == [("count", name), ("upsert", name), ("delete", name), ("count", "")]
    await store.aclose()


async def test_a_failed_write_is_mended_at_the_next_opening(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "v"
    await fill(path, 40)
    store = await opened(path)
    before = await image(store)

    def fails(self: Any, **kwargs: Any) -> None:
        raise InternalError("Error persisting hnsw index")

    with monkeypatch.context() as patch:
        patch.setattr(Collection, "upsert", fails)
        with pytest.raises(StoreCorrupt, match="persisting"):
            await store.upsert("숲", [item(99)])
    await store.upsert("숲", [item(0)])
    assert names(path) == chroma._collection_name("숲")
    await store.aclose()
    (old,) = indexes(path)
    (old / "length.bin").write_bytes(b"")
    store = await opened(path)
    assert (await image(store), names(path)) == (before, "")
    await store.aclose()


@pytest.mark.parametrize("left", ["no-such-collection", "글", "../..", "\n\n"])
async def test_a_mark_of_nothing_harms_nothing(tmp_path: Path, left: str) -> None:
    path = tmp_path / "v"
    await fill(path)
    (path / MARK).write_text(left, encoding="utf-8")
    store = await opened(path)
    assert await store.count("숲") == 3
    await store.aclose()


async def test_a_mark_before_the_database_was_made(tmp_path: Path) -> None:
    path = tmp_path / "v"
    await fill(path)
    for entry in indexes(path):
        shutil.rmtree(entry)
    (path / "chroma.sqlite3").unlink()
    sqlite3.connect(path / "chroma.sqlite3").close()
    (path / "chroma.sqlite3").touch()
    (path / MARK).write_text("x")
    store = await opened(path)
    assert await store.scopes() == []
    await store.aclose()


async def test_the_index_of_a_dropped_scope_goes(tmp_path: Path) -> None:
    path = tmp_path / "v"
    await fill(path, 40)
    await fill(path, 40, scope="stays")
    store = await opened(path)
    await store.drop("숲")
    await store.create("숲", SPEC)
    assert await store.count("숲") == 0
    await store.aclose()
    (path / "notes of mine").mkdir()
    store = await opened(path)
    assert await store.scopes() == ["stays", "숲"]
    assert len(await store.scan("stays")) == 40
    await store.aclose()
    assert len(indexes(path)) == 2


# --- what Chroma does by itself ----------------------------------------------------------------------------------


async def test_nothing_is_embedded_or_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def called(self: Any, input: Any) -> Any:  # noqa: A002 - Chroma looks at the name
        raise AssertionError("Chroma's own embedder was asked")

    monkeypatch.setattr(DefaultEmbeddingFunction, "__call__", called)
    monkeypatch.setenv("ANONYMIZED_TELEMETRY", "true")
    monkeypatch.setenv("CHROMA_API_IMPL", "chromadb.api.fastapi.FastAPI")
    monkeypatch.setenv("CHROMA_OTEL_COLLECTION_ENDPOINT", "http://127.0.0.1:1")
    path = tmp_path / "v"
    await fill(path)
    store = await opened(path)
    settings = store._engine._client.get_settings()
    assert (settings.anonymized_telemetry, settings.chroma_otel_collection_endpoint) == (False, "")
    await store.query(["숲"], [1.0] * 16, 2, where=Exists("n"))
    await store.aclose()


async def test_closing_closes(tmp_path: Path) -> None:
    path = tmp_path / "v"
    store = await opened(path)
    await store.create("숲", SPEC)
    assert str(path) in SharedSystemClient._identifier_to_system
    await store.aclose()
    assert str(path) not in SharedSystemClient._identifier_to_system
    shutil.rmtree(path)
    store = await opened(path)
    assert await store.scopes() == []
    await store.aclose()


async def test_few_collections_are_in_use_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chroma, "_LOADED", 3)
    store = await opened(tmp_path / "v")
    scopes = [f"s{n}" for n in range(10)]
    for scope in scopes:
        await store.create(scope, SPEC)
        await store.upsert(scope, [VectorItem(scope, [1.0] * 16)])
        assert len(store._engine._loaded) <= 3
    hits = await store.query(scopes, [1.0] * 16, 10)
    assert [hit.id for hit in hits] == scopes
    await store.upsert("s0", [VectorItem("a", [1.0] * 16)])
    assert [hit.id for hit in await store.query(scopes, [1.0] * 16, 2)] == ["a", "s0"]
    await store.aclose()
    assert open_indexes() == []


# --- damage ------------------------------------------------------------------------------------------------------


async def test_garbage_is_told_and_the_path_can_be_opened_again(tmp_path: Path) -> None:
    path = tmp_path / "v"
    await fill(path, 40)
    whole = (path / "chroma.sqlite3").read_bytes()
    for damaged in (b"no database at all" * 1_000, whole[: len(whole) // 2], whole[:4_096]):
        (path / "chroma.sqlite3").write_bytes(damaged)
        with pytest.raises(StoreCorrupt, match=r"v: is damaged.*saga rebuild"):
            await opened(path)
        assert (path / "chroma.sqlite3").read_bytes() == damaged
    (path / "chroma.sqlite3").write_bytes(whole)
    store = await opened(path)
    assert await store.count("숲") == 40
    await store.aclose()


async def test_a_migration_that_is_not_chromas_is_told(tmp_path: Path) -> None:
    path = tmp_path / "v"
    await fill(path)
    alter(path, "UPDATE migrations SET hash = 'x' WHERE dir = 'sysdb' AND version = 3")
    with pytest.raises(StoreCorrupt, match="Inconsistent hash"):
        await opened(path)
    assert str(path) not in SharedSystemClient._identifier_to_system


async def test_a_missing_database_is_no_empty_store(tmp_path: Path) -> None:
    path = tmp_path / "v"
    await fill(path)
    (path / "chroma.sqlite3").unlink()
    with pytest.raises(StoreCorrupt, match=r"chroma\.sqlite3 is missing.*saga rebuild"):
        await opened(path)
    assert not (path / "chroma.sqlite3").exists()


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("", "0 bytes and not 64"),
        ('AAAA["",{}]', "3 bytes and not 64"),
        ('*[["",{}]', "base64"),
        ("{whole}[", "no JSON"),
        ("{whole}", "no JSON"),
        ('{whole}["",[]]', "no JSON"),
        ('{whole}["",{}],["",{}]', "no JSON"),
        (None, "bytes|base64"),
    ],
)
async def test_a_damaged_item_is_named(tmp_path: Path, value: str | None, words: str) -> None:
    path = tmp_path / "v"
    await fill(path)
    statement = "UPDATE embedding_metadata SET string_value = ? WHERE id = 2"
    if value is None:
        alter(path, "DELETE FROM embedding_metadata WHERE id = 2")
    else:
        alter(path, statement, value.replace("{whole}", "A" * 85 + "=" if "=" in value else "A" * 84 + "AA=="))
    store = await opened(path)
    calls = [store.scan("숲"), store.get("숲", ["i001"]), store.count("숲", where=Exists("n"))]
    for call in calls:
        with pytest.raises(StoreCorrupt, match=rf"v: item 'i001' is damaged.*({words}).*saga rebuild"):
            await call
    health = await store.check(thorough=True)
    assert not health.ok and "i001" in health.detail
    assert list(await store.get("숲", ["i000"])) == ["i000"]
    await store.upsert("숲", [item(1)])
    assert len(await store.scan("숲")) == 3
    await store.aclose()


async def test_a_client_that_is_lost_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chroma, "_LOADED", 1)
    path = tmp_path / "v"
    await fill(path)
    await fill(path, scope="other")
    store = await opened(path)
    await store.count("숲")
    with monkeypatch.context() as patch:

        def fails(*args: Any, **kwargs: Any) -> Any:
            raise OSError("Too many open files")

        patch.setattr(chromadb, "PersistentClient", fails)
        for _ in range(2):
            with pytest.raises(StoreError, match="Too many open files"):
                await store.count("other")
    assert await store.count("other") == 3
    await store.aclose()
