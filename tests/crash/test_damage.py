"""Damage: whatever happened to the files, the server starts, says what it found, and mends every view by itself."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import logging
import resource
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import define, field

from saga_core import Saga
from saga_core.config import load_config
from saga_core.errors import NewerSchema, StoreCorrupt, StoreError
from saga_core.journal import keys
from saga_core.storage.journal_guard import DAMAGED
from saga_core.stores.state_kv import Batch
from saga_server.server import Server
from tests.core.frontend import Frontend
from tests.crash.read_only import read_only
from tests.server.client import Client, words

FULL = importlib.util.find_spec("chromadb") is not None and importlib.util.find_spec("ladybug") is not None
LANCE = importlib.util.find_spec("lancedb") is not None and importlib.util.find_spec("ladybug") is not None


def config(data: Path, **storage: Any) -> dict[str, Any]:
    return {"storage": {"path": str(data), **storage}, "session": {"default_world": "ersia"}, "server": {"port": 0}}


@define
class Story:
    """A session that was played, and what is known in it."""

    chat: Frontend
    session: str
    known: dict[str, Any]


def below(data: Path, pattern: str) -> list[Path]:
    """What is there, in order, without logs."""
    return sorted(path for path in data.rglob(pattern) if not path.name.endswith(("-wal", "-shm")))


async def played(data: Path, turns: int = 6, **storage: Any) -> Story:
    async with Saga.open(config(data, **storage)) as saga:
        chat = Frontend(saga)
        for number in range(turns):
            turn = await chat.say(f"{number}. 간다.", f"{number}번째 길이 열린다. 바람이 분다.", hp_change=-1)
        await saga.drain(30)
        return Story(chat, turn.session.id, await saga.describe(turn.session.id))


def cut(path: Path) -> None:
    """Half of it is gone."""
    raw = path.read_bytes()
    path.write_bytes(raw[: len(raw) // 2])


def garbage(path: Path) -> None:
    """Another file stands there."""
    path.write_bytes(bytes((each * 37 + 11) % 251 for each in range(path.stat().st_size)))


def torn(path: Path) -> None:
    """The beginning is right, and the rest is zeros."""
    raw = path.read_bytes()
    path.write_bytes(raw[:4096] + bytes(max(0, len(raw) - 4096)))


def missing(path: Path) -> None:
    """It is not there."""
    path.unlink()


def newer(path: Path) -> None:
    """A later version wrote it."""
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA user_version = 99")
    database.close()


async def comes_back(data: Path, story: Story, **storage: Any) -> Saga:
    """Open as a server does, play on, and see that everything is there and right."""
    saga = await Saga.open(config(data, **storage), tolerant=True)
    story.chat.saga = saga
    turn = await story.chat.say("돌아왔다.", "반갑다. 불이 켜진다.", hp_change=-1)
    assert turn.session.id == story.session, "it is the story that was played"
    await saga.drain(30)
    assert (await saga.describe(story.session))["hp"] == story.known["hp"] - 1
    for _ in range(3):  # damage that only reading finds is mended when it is found
        verdict = await saga.maintenance.verify()
        if verdict.equal:
            break
        await saga.drain(30)
    assert [str(each) for each in verdict.findings] == []
    return saga


class TestVectors:
    @pytest.mark.parametrize("harm", [cut, garbage, torn, missing, newer])
    async def test_sqlite(self, tmp_path: Path, harm: Callable[[Path], None]) -> None:
        story = await played(tmp_path)
        harm(tmp_path / "vectors.db")
        saga = await comes_back(tmp_path, story)
        found = saga.counters.counts["vector.mended"]
        await saga.aclose()
        aside = below(tmp_path, "vectors.db.damaged-*")
        assert (found, len(aside)) == ((0, 0) if harm is missing else (1, 1))

    @pytest.mark.skipif(not FULL, reason="chroma and ladybug are not installed")
    async def test_chroma_and_ladybug(self, tmp_path: Path) -> None:
        story = await played(tmp_path, profile="full")
        garbage(tmp_path / "vectors.chroma" / "chroma.sqlite3")
        garbage(tmp_path / "graph.ladybug" / "graph.db")
        saga = await comes_back(tmp_path, story, profile="full")
        assert (saga.counters.counts["vector.mended"], saga.counters.counts["graph.mended"]) == (1, 1)
        await saga.aclose()

    @pytest.mark.skipif(not LANCE, reason="lancedb and ladybug are not installed")
    async def test_lance_and_a_graph_that_is_cut(self, tmp_path: Path) -> None:
        story = await played(tmp_path, profile="full-lance")
        for path in below(tmp_path / "vectors.lancedb", "*"):
            if path.is_file() and path.name not in (".lock", "saga.json"):
                garbage(path)
        cut(tmp_path / "graph.ladybug" / "graph.db")
        saga = await comes_back(tmp_path, story, profile="full-lance")
        assert (saga.counters.counts["vector.mended"], saga.counters.counts["graph.mended"]) == (1, 1)
        await saga.aclose()

    @pytest.mark.skipif(not FULL, reason="chroma and ladybug are not installed")
    async def test_a_graph_that_is_gone_and_vectors_of_a_later_version(self, tmp_path: Path) -> None:
        story = await played(tmp_path, 2, profile="full")
        shutil.rmtree(tmp_path / "graph.ladybug")
        about = tmp_path / "vectors.chroma" / "saga.json"
        about.write_text(json.dumps({**json.loads(about.read_text()), "version": 99}))
        saga = await comes_back(tmp_path, story, profile="full")
        assert (saga.counters.counts["vector.mended"], saga.counters.counts["graph.mended"]) == (1, 0)
        assert await saga.stores.graph.watermark(f"{story.session}.0"), "drawn anew, with nothing to put aside"
        await saga.aclose()


class TestPages:
    @pytest.mark.parametrize("harm", [cut, garbage, missing])
    @pytest.mark.parametrize("name", ["state.md", "story.md", ".generation.json"])
    async def test_a_torn_file(self, tmp_path: Path, name: str, harm: Callable[[Path], None]) -> None:
        story = await played(tmp_path, 2)
        (file,) = below(tmp_path / "pages", name)
        harm(file)
        saga = await comes_back(tmp_path, story)
        pages, _ = await saga.views.pages(story.session)
        assert pages is not None and len(pages.files) == 4
        await saga.aclose()


class TestJournal:
    """What it lost cannot be made up: nothing more is written, a copy is kept, and the player plays on."""

    async def told(self, data: Path, story: Story) -> tuple[str, str]:
        """What the player and the operator are told by a server on damaged data."""
        history = [each["content"] for each in story.chat.history]
        async with Client.of(config(data), {}) as client:
            reply = await client.chat(words(*history, "들리나?"))
            assert reply.status == 200 and reply.text, "the player gets a reply"
            assert (await client.get("/healthz")).status == 200
            status = await client.get("/api/status")
            assert status.status == 200, status.raw
            assert (await client.get("/readyz")).status == 503
            return reply.headers["X-SAGA-Notice"], status.json["degraded"][DAMAGED]

    @pytest.mark.parametrize("harm", [cut, garbage])
    async def test_damaged(self, tmp_path: Path, harm: Callable[[Path], None]) -> None:
        story = await played(tmp_path, 40)
        file = tmp_path / "state.db"
        harm(file)
        before = file.read_bytes()
        with pytest.raises(StoreCorrupt):
            async with Saga.open(config(tmp_path)) as saga:
                await saga.drain(1)
                await saga.sessions.list()
        notice, degraded = await self.told(tmp_path, story)
        assert "journal" in notice
        assert "saga restore FILE --force" in degraded and str(file) in degraded
        assert f"saga restore {file} --damaged --force" in degraded
        assert file.read_bytes() == before, "it is as it was found"
        (copy,) = below(tmp_path, "state.db.damaged-*")
        assert copy.read_bytes() == before

    async def test_damage_that_is_found_while_it_runs(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        story = await played(tmp_path, 2)
        async with Saga.open(config(tmp_path), tolerant=True) as saga:
            inner: Any = saga.stores.state

            async def broken(*_: Any, **__: Any) -> Any:
                raise StoreCorrupt(f"{tmp_path / 'state.db'}: is damaged")

            with monkeypatch.context() as patch:
                patch.setattr(inner._inner, "scan", broken)
                with pytest.raises(StoreCorrupt):
                    await saga.parts.journal.jobs()
            with pytest.raises(StoreCorrupt, match="nothing more is written"):
                await saga.stores.state.commit(Batch({("x",): b""}))
            assert await saga.sessions.get(story.session), "what can be read is read"
            assert "saga restore" in saga.counters.degraded[DAMAGED]
            assert not (await saga.stores.state.check()).ok
        assert len(below(tmp_path, "state.db.damaged-*")) == 1

    async def test_emptied(self, tmp_path: Path) -> None:
        story = await played(tmp_path, 2)
        (tmp_path / "state.db").write_bytes(b"")
        _, degraded = await self.told(tmp_path, story)
        assert "is empty, although views of its data exist" in degraded
        assert (tmp_path / "state.db").read_bytes() == b""

    async def test_gone(self, tmp_path: Path) -> None:
        story = await played(tmp_path, 2)
        (tmp_path / "state.db").unlink()
        async with Saga.open(config(tmp_path), tolerant=True) as saga:
            assert "a new journal begins" in saga.counters.degraded["journal.new"]
            story.chat.saga = saga
            turn = await story.chat.say("들리나?", "들린다. 바람뿐이다.")
            assert len(await saga.views.turns(turn.session.id)) == 4, "the chat's own history is taken up again"

    async def test_of_a_newer_version(self, tmp_path: Path) -> None:
        await played(tmp_path, 2)
        newer(tmp_path / "state.db")
        before = (tmp_path / "state.db").read_bytes()
        with pytest.raises(NewerSchema, match="upgrade SAGA"):
            async with Server(load_config(config(tmp_path), environ={}), {}):
                raise AssertionError("it started")
        assert (tmp_path / "state.db").read_bytes() == before

    async def test_of_a_newer_format(self, tmp_path: Path) -> None:
        await played(tmp_path, 2)
        async with Saga.open(config(tmp_path)) as saga:
            await saga.stores.state.commit(Batch({keys.FORMAT_KEY: b'{"format":99}'}))
        with pytest.raises(NewerSchema, match=r"format 99.*install a newer SAGA"):
            await Saga.open(config(tmp_path), tolerant=True)


class TestDisk:
    @pytest.mark.parametrize("what", ["files", "folders", "both"])
    async def test_that_may_only_be_read(self, tmp_path: Path, what: str) -> None:
        data = tmp_path / "data"
        data.mkdir()
        story = await played(data, 2)
        files = [path for path in below(data, "*") if path.is_file()] if what != "folders" else []
        folders = [data, *(path for path in below(data, "*") if path.is_dir())] if what != "files" else []
        with read_only([*files, *folders]):
            notice, degraded = await TestJournal().told(data, story)
        assert "cannot be opened" in degraded and "this user" in degraded and "journal" in notice
        assert "is safe" in degraded and "restore" not in degraded, "a backup would mend nothing"
        await (await comes_back(data, story)).aclose()

    def test_that_is_full(self, tmp_path: Path) -> None:
        """No file may grow beyond what is there: every reply comes all the same, and is taken up when there is room."""
        story = asyncio.run(played(tmp_path, 30))
        program = (
            "import asyncio, sys; from pathlib import Path; from tests.crash.test_damage import play_on_a_full_disk; "
            "asyncio.run(play_on_a_full_disk(Path(sys.argv[1])))"
        )
        done = subprocess.run(
            [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == 0, done.stderr
        lines = done.stdout.splitlines()
        assert "full" in lines[0] or "failed" in lines[0], lines
        assert lines[-1] == "all replied"

        async def afterwards() -> None:
            saga = await Saga.open(config(tmp_path))
            assert (await saga.maintenance.verify()).findings == ()
            assert (await saga.describe(story.session))["hp"] >= story.known["hp"] - 8
            await saga.aclose()

        asyncio.run(afterwards())


async def play_on_a_full_disk(data: Path) -> None:
    """In a process of its own: the player plays on while nothing can be written."""
    logging.disable(logging.CRITICAL)
    async with Client.of(config(data), {}) as client:
        largest = max(path.stat().st_size for path in below(data, "*") if path.is_file())
        sys.dont_write_bytecode = True  # Python would keep half of a module's bytecode
        resource.setrlimit(resource.RLIMIT_FSIZE, (min(largest, 4096), resource.RLIM_INFINITY))
        history, notices = ["시작한다."], []
        for number in range(8):
            reply = await client.chat(words(*history))
            assert reply.status == 200 and reply.text, reply.raw
            notices += [reply.headers["X-SAGA-Notice"]] if "X-SAGA-Notice" in reply.headers else []
            history += [reply.text, f"{number}. 더 간다."]
        print(notices[0].replace("\n", " ") if notices else "nothing was said")
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        last = await client.chat(words(*history))
        assert last.status == 200, last.raw
        turns = await client.turns(last.session)
        assert [turn["reply"] for turn in turns] == [*history[1::2], last.text], "all that was shown is known"
        print("all replied")


@define
class Jumping:
    """A clock that somebody sets."""

    at: float = field(factory=time.time)

    def now(self) -> float:
        return self.at

    def monotonic(self) -> float:
        return time.perf_counter()


@pytest.mark.parametrize("jump", [-40 * 365 * 86_400.0, -60.0, 60.0, 20 * 365 * 86_400.0])
async def test_a_clock_that_jumps(tmp_path: Path, jump: float) -> None:
    clock = Jumping()
    async with Saga.open(config(tmp_path), clock=clock) as saga:
        chat = Frontend(saga)
        await chat.say("시작한다.", "아침이다. 해가 뜬다.", hp_change=-1)
        clock.at += jump
        await chat.say("간다.", "길이 열린다. 바람이 분다.", hp_change=-1)
        await saga.drain(10)
    clock = Jumping()
    for by in (jump, -jump, 0.0):
        clock.at += by
        async with Saga.open(config(tmp_path), clock=clock) as saga:
            chat.saga = saga
            turn = await chat.say(f"계속 {by}.", f"이어진다. 물이 흐른다 {by}.", hp_change=-1)
            await saga.drain(10)
            assert (await saga.maintenance.verify()).findings == ()
    async with Saga.open(config(tmp_path)) as saga:
        told = await saga.describe(turn.session.id)
        assert (told["turn"], told["hp"], len(await saga.sessions.list())) == (5, 95, 1)


async def test_views_that_cannot_be_put_aside_are_kept_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = await played(tmp_path, 2)
    garbage(tmp_path / "vectors.db")

    def refused(*_: Any) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr("saga_core.storage.self_healing.put_aside", refused)
        with pytest.raises(StoreError, match="cannot be set aside"):
            await Saga.open(config(tmp_path))
        saga = await comes_back(tmp_path, story)
        assert "kept in memory" in saga.counters.degraded["vector.sqlite"]
        await saga.aclose()
    await (await comes_back(tmp_path, Story(story.chat, story.session, {"hp": story.known["hp"] - 1}))).aclose()
