"""``saga verify`` and ``saga jobs``: on a data directory, and beside a server that has it open."""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from saga_core import Saga
from saga_server.cli.saga_command import main
from saga_server.process.running_server import READY_AT
from tests.core.frontend import Frontend

SAGA = [sys.executable, "-m", "saga_server"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working directory with ``data``, in which a session was played; logging is afterwards as it was."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    monkeypatch.chdir(tmp_path)

    async def play() -> None:
        async with Saga.open({"storage": {"path": str(tmp_path / "data")}}) as saga:
            chat = Frontend(saga, session="나의 모험")
            await chat.say("간다.", "길이 열린다. 바람이 분다.", hp_change=-10)
            await chat.say("더 간다.", "길이 끝난다. 바다가 보인다.")
            await saga.drain(10)

    asyncio.run(play())
    yield tmp_path
    root.handlers[:] = handlers
    root.setLevel(level)


def saga(*arguments: str) -> Result:
    return CliRunner().invoke(main, [*arguments, "--data", "data"])


def spoil(here: Path) -> None:
    """Lose a vector, as an engine that was not synced may."""
    with sqlite3.connect(here / "data" / "vectors.db") as vectors:
        tables = [name for (name,) in vectors.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        (items,) = [name for name in tables if "item" in name]
        vectors.execute(f"DELETE FROM {items} WHERE rowid = (SELECT max(rowid) FROM {items})")
    vectors.close()


def test_verify(here: Path) -> None:
    whole = saga("verify")
    assert (whole.exit_code, whole.stdout) == (0, "1 session: equal to the journal\n"), whole.stderr
    spoil(here)
    found = saga("verify", "나의 모험")
    assert found.exit_code == 1
    assert "!!  s" in found.stdout and "vectors: " in found.stdout and "saga verify --repair" in found.stdout
    assert json.loads(saga("verify", "--json").stdout)["equal"] is False
    mended = saga("verify", "--repair")
    assert mended.exit_code == 0 and "repaired  s" in mended.stdout
    assert saga("verify").exit_code == 0


def test_verify_names_what_is_not_there(here: Path) -> None:
    assert saga("verify", "nobody").exit_code == 2
    other = CliRunner().invoke(main, ["verify", "--data", "elsewhere"])
    assert other.exit_code == 2 and "there is nothing at" in other.stderr
    assert not (here / "elsewhere").exists()


def test_jobs(here: Path) -> None:
    nothing = saga("jobs")
    assert (nothing.exit_code, nothing.stdout) == (0, "0 jobs, 0 stuck\n")

    async def owe() -> None:
        async with Saga.open({"storage": {"path": "data"}}, resume=False) as opened:
            (each,) = await opened.sessions.list()
            await opened.parts.journal.add_jobs(each.session.id, [each.session.head])

    asyncio.run(owe())
    waiting = saga("jobs", "나의 모험")
    assert waiting.exit_code == 0 and waiting.stdout.endswith("1 job, 0 stuck\n") and "  views" in waiting.stdout
    assert saga("jobs", "--retry").stdout == "0 jobs, 0 stuck\n"


@pytest.fixture
def served(here: Path) -> Iterator[None]:
    """``saga serve`` on the data, with a key."""
    (here / "saga.yaml").write_text("storage: {path: data}\nserver: {api_keys: [first]}\n", encoding="utf-8")
    with subprocess.Popen(
        [*SAGA, "serve", "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        try:
            assert any(line.startswith(READY_AT) for line in process.stdout)
            yield
        finally:
            process.terminate()
            process.communicate(timeout=30)


@pytest.mark.usefixtures("served")
def test_beside_a_server(here: Path) -> None:
    def beside(*arguments: str) -> Result:
        return CliRunner().invoke(main, arguments)

    found = beside("verify")
    assert (found.exit_code, found.stdout) == (0, "1 session: equal to the journal\n"), found.stderr
    assert beside("jobs", "--retry").stdout == "0 jobs, 0 stuck\n"
    missing = beside("verify", "--repair", "nobody")
    assert missing.exit_code == 2 and "there is no session 'nobody'" in missing.stderr
