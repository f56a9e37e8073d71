"""A disk on which nothing more fits, at each thing that is written there: what is safe stays safe, and it is said."""

from __future__ import annotations

import asyncio
import json
import resource
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from saga_backends import sqlite_file
from saga_core import Saga
from saga_core.errors import StoreError
from saga_core.journal import keys
from saga_server.cli.data import data_access
from saga_server.cli.saga_command import main
from tests.core.frontend import Frontend
from tests.crash.test_damage import config, played
from tests.server.client import Client, words

EVERY = 4
"""Turns between two checkpoints."""


@contextmanager
def full(room: int = 1_024) -> Iterator[None]:
    """No file grows beyond ``room`` bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # Python would keep half of a module's bytecode
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        sys.dont_write_bytecode = writes


def files(folder: Path) -> dict[str, int]:
    """What is there, but for locks, and for what SQLite has beside a file that it reads."""
    found = {str(path.relative_to(folder)): path.stat().st_size for path in folder.rglob("*") if path.is_file()}
    return {name: size for name, size in found.items() if not name.endswith(("-shm", "-wal", ".lock"))}


async def test_views_and_checkpoints(tmp_path: Path) -> None:
    """The turn was recorded while there was room; what is made from it waits until there is room again."""
    sections = {**config(tmp_path), "session": {"default_world": "ersia", "checkpoint_every": EVERY}}
    async with Client.of(sections, {}) as client:
        saga, said = client.server.saga, list[str]()
        for number in range(EVERY - 1):
            reply = await client.chat(words(*said, f"{number}. 간다."))
            said += [f"{number}. 간다.", reply.text]
        await client.post("/api/drain")
        begun = await saga.begin(words(*said, "끝까지 간다."), owner="")
        begun.replies[0].feed("길이 끝난다. 바다가 보인다.")
        await begun.commit()
        with full():  # before the loop turns, so that nothing of it is made yet
            report = await saga.drain(5)
            assert [each.turn for each in report.waiting] == [begun.id]
            assert report.waiting[0].reason
            (job,) = (await client.get("/api/jobs")).json["jobs"]
            assert (job["turn"], job["kind"]) == (begun.id, "views")
            assert "background" in (await client.get("/api/status")).json["degraded"]
            told = await client.chat(words(*said, "끝까지 간다.", "길이 끝난다. 바다가 보인다.", "쉰다."))
            assert told.status == 200 and "not recorded" in told.headers["X-SAGA-Notice"]
        await client.post("/api/jobs/retry")
        assert (await client.post("/api/drain")).json["settled"]
        key = keys.checkpoint(begun.session.id, begun.id)
        assert key in await saga.stores.state.get([key])
        assert [str(each) for each in (await saga.maintenance.verify()).findings] == []
        last = await client.chat(
            words(*said, "끝까지 간다.", "길이 끝난다. 바다가 보인다.", "쉰다.", told.text, "간다.")
        )
        assert len(await client.turns(last.session)) == EVERY + 2, "what was not recorded is taken up from the chat"
        assert (await client.get("/api/status")).json["degraded"] == {}


def long_story(room: int) -> Any:
    async def exported(*_: object) -> bytes:
        return b"{}\n" * room

    return exported


class TestCopies:
    @pytest.fixture
    def here(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.chdir(tmp_path)
        asyncio.run(played(tmp_path / "data", 3))
        return tmp_path

    def saga(self, *arguments: str) -> Result:
        return CliRunner().invoke(main, [*arguments, "--data", "data"])

    def refused(self, here: Path, *arguments: str, room: int = 1_024) -> str:
        """What is told by a command that found no room; everything is as it was."""
        before = files(here)
        with full(room):
            result = self.saga(*arguments)
        assert isinstance(result.exception, SystemExit) and result.exit_code, result.exception
        assert files(here) == before, "nothing is left half written"
        return result.stderr

    def test_a_backup(self, here: Path) -> None:
        (here / "kept").mkdir()
        with closing(sqlite3.connect("data/state.db")) as running:  # as a server has it open
            assert running.execute("SELECT count(*) FROM entries").fetchone()
            assert "kept/one.db" in self.refused(here, "backup", "kept/one.db")
        assert "read back and whole" in self.saga("backup", "kept/one.db").stdout

    def test_restoring(self, here: Path) -> None:
        assert self.saga("backup", "one.db").exit_code == 0
        assert "nothing was changed" in self.refused(here, "restore", "one.db", "--force")
        assert self.saga("restore", "one.db", "--force").exit_code == 0
        assert self.saga("verify").exit_code == 0

    def test_exporting(self, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (session,) = json.loads(self.saga("sessions", "--json").stdout)["sessions"]
        room = 2 * max(files(here).values())
        with monkeypatch.context() as patch:
            patch.setattr(data_access, "ask", long_story(room))
            told = self.refused(here, "export", session["id"], "one.jsonl", room=room)
        assert "one.jsonl: cannot be written" in told
        assert self.saga("export", session["id"], "one.jsonl").exit_code == 0

    def test_importing(self, here: Path) -> None:
        """A session is taken in whole, or what is there of it is no session."""
        (session,) = json.loads(self.saga("sessions", "--json").stdout)["sessions"]
        assert self.saga("export", session["id"], "one.jsonl").exit_code == 0
        with full():
            assert self.saga("import", "one.jsonl").exit_code != 0
        assert self.saga("verify").exit_code == 0
        assert self.saga("import", "one.jsonl").exit_code == 0
        assert len(json.loads(self.saga("sessions", "--json").stdout)["sessions"]) == 2


async def test_a_start(tmp_path: Path) -> None:
    """On a disk that was full before: the server is there, and the chat goes on."""
    story = await played(tmp_path, 2)
    history = [each["content"] for each in story.chat.history]
    with full():
        async with Client.of(config(tmp_path), {}) as client:
            reply = await client.chat(words(*history, "들리나?"))
            assert reply.status == 200 and reply.headers["X-SAGA-Notice"]
            assert (await client.get("/readyz")).status == 503
    async with Saga.open(config(tmp_path)) as saga:
        chat = Frontend(saga, history=[*story.chat.history])
        assert (await chat.say("들리나?", "들린다. 바람이다.")).session.id == story.session
        await saga.drain(20)
        assert (await saga.maintenance.verify()).findings == ()


def test_who_wants_to_delete_learns_where_to_make_room(tmp_path: Path) -> None:
    error = sqlite3.OperationalError("database or disk is full")
    error.sqlite_errorcode = sqlite3.SQLITE_FULL
    with pytest.raises(StoreError, match="and deleting sessions needs room as well"), sqlite_file.translated(tmp_path):
        raise error
