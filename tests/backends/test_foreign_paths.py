"""No engine opens, changes or stands beside what another engine or program wrote, and each says which one it was."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from conformance.calls import answer, snapshot
from conformance.inputs import samples
from saga_backends.path_owner import APPLICATION_IDS, writer_of
from saga_core import registry
from saga_core.errors import SagaError, StoreCorrupt, StoreError, StoreUnavailable
from saga_core.registry import OpenOptions

FILES = ("state.sqlite", "vector.sqlite")
ENGINES = (*FILES, "cache.files", "graph.kuzu", "graph.ladybug", "vector.chroma", "vector.lancedb")
HERE = tuple(engine for engine in ENGINES if engine != "graph.kuzu")
"""Those that are opened. Kuzu crashes in a process with Ladybug, which other tests load. It refuses before it is
imported, so it takes part in the rest."""


def database(path: Path, application: int) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE entries (key)")
    connection.execute(f"PRAGMA application_id={application}")
    connection.commit()
    connection.close()


def in_folder(name: str, content: bytes) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        (path / name).parent.mkdir(parents=True)
        (path / name).write_bytes(content)

    return make


def label(engine: str) -> bytes:
    return json.dumps({"saga": "vectors", "engine": engine, "version": 1, "notes": {}}).encode()


WRITTEN: dict[str, Callable[[Path], None]] = {
    **{engine: lambda path, number=number: database(path, number) for engine, number in APPLICATION_IDS.items()},  # type: ignore[misc]
    "cache.files": in_folder("a-story-3f9c0a51d2e7/.generation.json", b"{}"),
    "graph.kuzu": in_folder("graph.db", b"KUZU" + bytes(4_092)),
    "graph.ladybug": in_folder("graph.db", b"LBUG" + bytes(4_092)),
    "vector.chroma": in_folder("saga.json", label("chroma")),
    "vector.lancedb": in_folder("saga.json", label("lancedb")),
    "a database": lambda path: database(path, 0),
    "a browser's database": lambda path: database(path, 77),
    "photos": in_folder("2024/sea.jpg", b"\xff\xd8\xff"),
    "a diary": lambda path: path.write_text("a diary\n" * 500, encoding="utf-8") and None,  # type: ignore[func-returns-value]
}


def image(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() if file.is_file() else b"" for file in folder.rglob("*")}


async def opened(engine: str, path: Path) -> object:
    kind, _, name = engine.partition(".")
    return await registry.load(kind, name).open(OpenOptions(path=path))


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize("engine", ENGINES)
async def test_what_another_one_wrote_is_refused_and_left_alone(engine: str, written: str, tmp_path: Path) -> None:
    if written == engine or (engine, written) == ("cache.files", "photos"):
        return  # people keep their pages among notes of their own
    path = tmp_path / "there"
    WRITTEN[written](path)
    before = image(tmp_path)
    with pytest.raises((StoreCorrupt, StoreUnavailable)) as refused:
        await opened(engine, path)
    told = str(refused.value)
    assert str(path) in told
    assert "give another path" in told or "give the path of" in told or "move it away" in told
    if written in ENGINES and path.is_dir() == (engine not in FILES):
        assert f"was written by {written} and not by {engine}" in told
        assert (f"use {written}" in told) == (written.partition(".")[0] == engine.partition(".")[0])
    left = image(tmp_path)
    # A text is not told from a damaged file before SQLite looks at it.
    assert left == before or (written == "a diary" and {**before, "there.lock": left["there.lock"]} == left)


@pytest.mark.parametrize("engine", HERE)
async def test_what_an_engine_wrote_is_known_as_its_own(engine: str, tmp_path: Path) -> None:
    """Also while it is open, when a file may still be in its log alone."""
    path = tmp_path / "there"
    kind = engine.partition(".")[0]
    for _ in range(2):
        store = await opened(engine, path)
        for made in samples(kind):
            await answer(store, made)
        assert writer_of(path) in (engine, "")
        assert await snapshot(store)
        await store.aclose()  # type: ignore[attr-defined]
        assert writer_of(path) == engine


@pytest.mark.parametrize("engine", [each for each in HERE if each != "graph.ladybug"])
async def test_an_engines_own_exception_does_not_escape(engine: str, tmp_path: Path) -> None:
    """Each of its files is cut, emptied and overwritten. It opens, or says what to do with it. For Ladybug see
    ``test_graph_kuzu``."""
    kind = engine.partition(".")[0]
    path = tmp_path / "whole"
    store = await opened(engine, path)
    for made in samples(kind):
        await answer(store, made)
    await store.aclose()  # type: ignore[attr-defined]
    files = [file for file in (path, *path.rglob("*")) if file.is_file() and not file.name.endswith(".lock")]
    for file in files:
        whole = file.read_bytes()
        for damage in (whole[: len(whole) // 2], b"", b"\xff" * len(whole), whole[:4] + b"\0" * (len(whole) - 4)):
            file.write_bytes(damage)
            try:
                store = await opened(engine, path)
            except SagaError as error:
                assert isinstance(error, StoreError), (file, error)
                assert ";" in str(error), f"{file}: no remedy in {error}"
            else:
                await store.aclose()  # type: ignore[attr-defined]
            file.write_bytes(whole)
