"""Backups that are asked for at once, and in the same second: one at a time, and none in another's place."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from saga_backends.path_lock import PathLock
from saga_backends.state_kv.sqlite_copy import read_copy
from saga_core import Saga
from saga_core.config import Config, load_config
from saga_core.errors import BadInput, Conflict
from saga_core.maintenance import read_index
from saga_server.admin import back_up, backups
from tests.server.conftest import Serve

MOMENT = 1_700_000_000.25


@pytest.fixture
async def config(tmp_path: Path) -> AsyncIterator[Config]:
    """A data directory that a server has open."""
    config = load_config({"storage": {"path": str(tmp_path / "data")}})
    async with Saga.open(config) as saga:
        await saga.sessions.create(label="kept")
        yield config


@contextmanager
def stopped_half_way(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Copying waits until the block is left; the event tells that one has begun."""
    begun, go_on, copy = threading.Event(), threading.Event(), backups.copy_state

    def slow(*given: Any, **more: Any) -> Any:
        begun.set()
        assert go_on.wait(30)
        return copy(*given, **more)

    monkeypatch.setattr(backups, "copy_state", slow)
    try:
        yield begun
    finally:
        go_on.set()


async def test_of_the_same_second_each_has_a_name(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backups.time, "time", lambda: MOMENT)
    made = [(await back_up(config)).path for _ in range(3)]
    name = f"saga-{backups.stamp(MOMENT)}"
    assert [path.name for path in made] == [f"{name}.db", f"{name}-2.db", f"{name}-3.db"]
    assert [each.path for each in read_index(config.data_dir)] == [str(path) for path in made]
    assert sorted(made[0].parent.iterdir()) == sorted(made), "and nothing half-written is left"
    with pytest.raises(BadInput, match="exists already; give a new name"):
        await back_up(config, made[0])


async def test_one_at_a_time(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    with stopped_half_way(monkeypatch) as begun:
        first = asyncio.create_task(back_up(config))
        assert await asyncio.to_thread(begun.wait, 30)
        others = await asyncio.gather(*(back_up(config) for _ in range(4)), return_exceptions=True)
    made = await first
    assert [type(each) for each in others] == [Conflict] * 4
    assert "is being made already; ask again when that is done" in str(others[0])
    assert len(read_copy(made.path).sessions) == 1
    assert [each.path for each in read_index(config.data_dir)] == [str(made.path)]
    assert len((await back_up(config)).sessions) == 1, "the next is free to be made"


async def test_of_another_process_too(config: Config) -> None:
    lock = PathLock(config.data_dir / backups.LOCKED)  # as `saga backup` holds it beside the server
    with pytest.raises(Conflict, match="is being made already"):
        await back_up(config)
    lock.release()
    assert (await back_up(config)).path.is_file()


async def test_one_that_fails_leaves_the_next_free(config: Config, tmp_path: Path) -> None:
    taken = tmp_path / "taken.db"
    taken.touch()
    with pytest.raises(BadInput):
        await back_up(config, taken)
    assert (await back_up(config)).path.is_file()


async def test_over_http_the_second_is_told_so(serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with serve(storage={"path": str(tmp_path / "data"), "state": {"backend": "sqlite"}}) as client:
        with stopped_half_way(monkeypatch) as begun:
            first = asyncio.create_task(client.send("POST", "/api/backups"))
            assert await asyncio.to_thread(begun.wait, 30)
            second = await client.send("POST", "/api/backups")
        assert (second.status, second.json["error"]["type"]) == (409, "conflict_error")
        assert (await first).status == 201
        assert len((await client.send("GET", "/api/backups")).json["backups"]) == 1
