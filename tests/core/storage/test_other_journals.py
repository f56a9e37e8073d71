"""Another name in ``storage.state`` opens another journal. SAGA says so until one of the two is gone or moved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from saga_backends.state_kv.sqlite import BACKEND
from saga_core import Saga, registry
from saga_core.config import load_config
from saga_core.registry import Backend
from saga_server.doctor import examine
from tests.core.frontend import Frontend

MINE = Backend("state", "mine", BACKEND.open)
PLACE = f"{__name__}:MINE"


@pytest.fixture(autouse=True)
def named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_registered", {**registry._registered, "state.mine": MINE})


def config(data: Path, state: Any) -> Any:
    return load_config({"storage": {"path": str(data), "state": state}}, environ={})


def below(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


async def play(data: Path, state: str) -> None:
    async with Saga.open(config(data, state)) as saga:
        await Frontend(saga).say("I sit down.", "The fire is warm.", location="the inn")
        await saga.drain(5)


async def found(data: Path, state: Any) -> str:
    async with Saga.open(config(data, state)) as saga:
        degraded = saga.counters.degraded
        assert not {"journal.new", "journal.other"} <= set(degraded), "a backup is not what is missing"
        return degraded.get("journal.other", "")


@pytest.mark.parametrize(
    ("first", "file", "then"),
    [
        (PLACE, "state.tests.core.storage.test_other_journals-MINE", "mine"),
        (PLACE, "state.tests.core.storage.test_other_journals-MINE", "sqlite"),
        ("sqlite", "state.db", PLACE),
    ],
)
async def test_it_is_said_at_each_start_until_a_session_is_there(
    first: str, file: str, then: str, tmp_path: Path
) -> None:
    await play(tmp_path, first)
    for _ in range(2):
        told = await found(tmp_path, then)
        assert f"holds another one: {file}." in told and f"`saga move --to state={then}`" in told
    assert await found(tmp_path, first) == ""
    await play(tmp_path, then)
    assert await found(tmp_path, then) == ""


async def test_a_journal_without_sessions_a_lock_and_a_store_in_memory_are_no_reason(tmp_path: Path) -> None:
    async with Saga.open(config(tmp_path, "sqlite")):
        pass
    (tmp_path / "state.gone.lock").write_text("4711")
    (tmp_path / "state.db.damaged-20260101-000000").write_text("4711")
    assert await found(tmp_path, "mine") == ""
    await play(tmp_path, "sqlite")
    assert await found(tmp_path, {"backend": "memory"}) == ""
    assert await found(tmp_path, "mine") != ""


async def test_the_doctor_says_it_each_time_and_creates_nothing(tmp_path: Path) -> None:
    await play(tmp_path, PLACE)
    before = below(tmp_path)
    for _ in range(2):
        said: list[str] = []
        assert not await examine(config(tmp_path, "mine"), said.append)
        (line,) = [each for each in said if each.startswith("!!")]
        assert line.startswith("!!  journal.other: ") and "saga move --to state=mine" in line
        assert any(f"in {tmp_path / 'state.mine'} " in each and "does not exist yet" in each for each in said)
        assert below(tmp_path) == before


async def test_the_doctor_creates_no_data_directory(tmp_path: Path) -> None:
    said: list[str] = []
    assert await examine(config(tmp_path / "data", "sqlite"), said.append)
    assert below(tmp_path) == []
    (tmp_path / "data").write_text("a file", encoding="utf-8")
    assert not await examine(config(tmp_path / "data", "sqlite"), said.append)
