"""A store of views that turns out to be damaged is put aside and opened anew, empty."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from saga_backends.memory import MemoryGraph
from saga_core.counters import Counters
from saga_core.errors import Closed, NewerSchema, StoreCorrupt, StoreUnavailable
from saga_core.storage.self_healing import SelfHealingStore, put_aside, remove
from saga_core.stores import Mutation, Node


class Graphs:
    """Opens graphs in memory that say they lie at a path, which gets a file; each may be made to fail."""

    def __init__(self, path: Path, *errors: Exception) -> None:
        self.path, self.errors = path, list(errors)
        self.opened: list[MemoryGraph] = []

    async def __call__(self) -> MemoryGraph:
        if self.errors:
            raise self.errors.pop(0)
        self.path.write_text("data", encoding="utf-8")
        self.opened.append(MemoryGraph())
        return self.opened[-1]


def breaking(graph: MemoryGraph, error: Exception) -> None:
    async def broken(*_: Any, **__: Any) -> Any:
        await asyncio.sleep(0)
        raise error

    graph.get = broken  # type: ignore[method-assign]


def write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def texts(path: Path, pattern: str) -> list[str]:
    return [each.read_text(encoding="utf-8") for each in path.parent.glob(pattern)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "graph.db"


async def healing(graphs: Graphs, kind: str = "graph", *, ours: bool = True, **fields: Any) -> SelfHealingStore:
    store = SelfHealingStore(kind, fields.get("path", graphs.path), graphs, Counters(), ours=ours)
    await store.open()
    return store


def others(path: Path) -> list[str]:
    return sorted(each.name.split("-")[0] for each in path.parent.iterdir() if each.name != path.name)


async def test_a_sound_store_is_passed_through(path: Path) -> None:
    store = await healing(Graphs(path))
    await store.apply("s", Mutation(put_nodes=(Node("a", "n"),)))
    assert list(await store.get("s", ["a"])) == ["a"]
    assert store.info.kind == "graph" and not store.fresh
    assert store.get is store.get, "a call is made once"
    assert not hasattr(store, "nothing_of_that_name") and not hasattr(store, "__fspath__")
    await store.aclose()
    with pytest.raises(Closed):
        await store.get("s", ["a"])


@pytest.mark.parametrize("kind", [StoreCorrupt, NewerSchema])
async def test_damage_found_at_the_start_is_put_aside(path: Path, kind: type[Exception]) -> None:
    write(path, "rubbish")
    store = await healing(Graphs(path, kind(f"{path} is damaged")))
    assert store.fresh and others(path) == ["graph.db.damaged"]
    assert texts(path, "*.damaged-*") == ["rubbish"]


async def test_what_somebody_named_is_not_touched(path: Path) -> None:
    write(path, "rubbish")
    with pytest.raises(StoreCorrupt):
        await healing(Graphs(path, StoreCorrupt(f"{path} is damaged")), ours=False)
    assert others(path) == []


async def test_damage_elsewhere_and_of_nothing_is_raised(path: Path) -> None:
    write(path, "x")
    with pytest.raises(StoreCorrupt, match="another file"):
        await healing(Graphs(path, StoreCorrupt("another file is damaged")))
    remove(path)
    with pytest.raises(StoreCorrupt, match="damaged"):
        await healing(Graphs(path, StoreCorrupt(f"{path} is damaged")))


async def test_what_cannot_be_put_aside_is_unavailable(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("saga_core.storage.self_healing.put_aside", refused)
    with pytest.raises(StoreUnavailable, match=r"cannot be set aside \(Permission denied\)"):
        await healing(Graphs(path, StoreCorrupt(f"{path} is damaged")))


async def test_the_call_that_meets_damage_is_the_last_that_does(path: Path) -> None:
    graphs = Graphs(path)
    store = await healing(graphs)
    renewed: list[int] = []

    async def heard() -> None:
        renewed.append(1)

    store.renewed = heard
    breaking(graphs.opened[0], StoreCorrupt(f"{path} is damaged"))
    found = await asyncio.gather(*(store.get("s", ["a"]) for _ in range(3)), return_exceptions=True)
    assert [type(each) for each in found] == [StoreCorrupt] * 3
    assert await store.get("s", ["a"]) == {} and len(graphs.opened) == 2 and renewed == [1]
    assert others(path) == ["graph.db.damaged"]


async def test_pages_are_mended_by_who_reads_them(path: Path) -> None:
    graphs = Graphs(path)
    store = await healing(graphs, "cache")
    breaking(graphs.opened[0], StoreCorrupt(f"{path} is damaged"))
    with pytest.raises(StoreCorrupt):
        await store.get("s", ["a"])
    assert len(graphs.opened) == 1 and others(path) == []


async def test_a_store_in_memory_and_one_that_was_closed_are_not_opened_anew(path: Path) -> None:
    for closed in (False, True):
        graphs = Graphs(path)
        store = await healing(graphs, path=path if closed else None)
        breaking(graphs.opened[0], StoreCorrupt(f"{path} is damaged"))
        if closed:
            await store.aclose()
        with pytest.raises(StoreCorrupt):
            await store.get("s", ["a"])
        assert len(graphs.opened) == 1


async def test_what_must_leave_no_trace_is_removed_with_its_logs(path: Path) -> None:
    graphs = Graphs(path)
    store = await healing(graphs)
    write(path.with_name("graph.db-wal"), "log")
    await store.apply("s", Mutation(put_nodes=(Node("a", "n"),)))
    await store.renew()
    assert others(path) == [] and await store.get("s", ["a"]) == {}
    assert len(graphs.opened) == 2


def test_names_of_what_is_put_aside_do_not_collide(tmp_path: Path) -> None:
    path = tmp_path / "v.db"
    assert put_aside(path, "damaged") is None
    found = []
    for text in ("one", "two", "three"):
        path.write_text(text, encoding="utf-8")
        path.with_name("v.db-wal").write_text(text, encoding="utf-8")
        found.append(put_aside(path, "damaged"))
    assert len(set(found)) == 3
    for aside, text in zip(found, ("one", "two", "three"), strict=True):
        assert aside is not None and aside.read_text(encoding="utf-8") == text
        assert aside.with_name(f"{aside.name}-wal").read_text(encoding="utf-8") == text


def test_folders_and_files_are_removed_and_nothing_is_no_error(tmp_path: Path) -> None:
    folder = tmp_path / "engine"
    (folder / "inside").mkdir(parents=True)
    (tmp_path / "engine.wal").write_text("x", encoding="utf-8")
    (tmp_path / "engine-other").write_text("x", encoding="utf-8")
    remove(folder)
    remove(folder)
    assert [each.name for each in tmp_path.iterdir()] == ["engine-other"]
