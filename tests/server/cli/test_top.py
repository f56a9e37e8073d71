"""``saga top`` against a real server."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from click.testing import CliRunner

from saga_backends.path_lock import PathLock
from saga_core.config import load_config
from saga_server.admin.backups import state_file
from saga_server.cli.saga_command import main
from saga_server.cli.top import look, rows
from saga_server.process.running_server import NotAnswered, ask, publish_address
from tests.server.client import Client, words
from tests.server.conftest import Serve
from tests.server.upstream import closed_port


async def test_it_shows_what_the_server_does(offline: Client) -> None:
    await offline.chat(words("hello"))
    offline.server.saga.counters.degrade("journal.write", "디스크가 찼다")
    status, metrics = await asyncio.to_thread(look, offline.server.url, None)
    shown = dict(rows(status, metrics))
    assert shown["sessions"] == "1"
    assert shown["requests"] == "0 open; 1 finished, 0 aborted, 0 failed"
    assert shown["context"].endswith("of 1")
    assert shown["degraded"] == "journal.write: 디스크가 찼다"


async def test_it_shows_who_writes_no_blocks(offline: Client) -> None:
    status, metrics = await asyncio.to_thread(look, offline.server.url, None)
    shown = dict(rows(status, metrics))
    assert (shown["blocks"], shown["silent"]) == ("-", "nobody")
    status = dict(status)
    status["counters"] = {"block.ok": 4, "block.fallback": 5}
    row = {"session": "s1", "model": "tale", "replies": 5, "unread": 5, "read_by": None, "remedy": "set one"}
    status["silent"] = [row, {**row, "read_by": "near", "remedy": None}]
    shown = dict(rows(status, metrics))
    assert shown["blocks"] == "4 read, 5 missing"
    one, other = shown["silent"].splitlines()
    assert one == "tale: no block in 5 replies in a row (session s1); set one"
    assert other.endswith("near reads them")
    del status["silent"]
    assert dict(rows(status, metrics))["silent"] == "nobody", "a server of an older version"


async def test_once(offline: Client) -> None:
    result = await asyncio.to_thread(CliRunner().invoke, main, ["top", "--once", "--url", offline.server.url])
    assert result.exit_code == 0, result.output
    assert "sessions" in result.output and "degraded" in result.output


async def test_a_key_is_wanted(serve: Serve) -> None:
    async with serve(server={"api_keys": ["saga-key-1"]}) as client:
        for arguments, code in ((["--key", "saga-key-1"], 0), ([], 1)):
            given = ["top", "--once", "--url", client.server.url, *arguments]
            result = await asyncio.to_thread(CliRunner(env={"SAGA_KEY": ""}).invoke, main, given)
            assert result.exit_code == code
            assert code == 0 or "server.api_keys" in result.output


@pytest.mark.parametrize("url", ["file:///etc/passwd", "127.0.0.1:8765"])
def test_an_address_is_one(url: str) -> None:
    assert CliRunner().invoke(main, ["top", "--once", "--url", url]).exit_code == 2


async def test_the_server_of_the_data_is_found_and_its_key(serve: Serve, tmp_path: Path) -> None:
    async with serve(server={"api_keys": ["saga-key-1"]}) as client:
        file = tmp_path / "saga.yaml"
        file.write_text(f"storage: {{path: {tmp_path}}}\nserver: {{api_keys: [saga-key-1]}}\n")
        given = ["top", "--once", "--config", str(file)]
        journal = state_file(load_config({"storage": {"path": str(tmp_path)}}))
        journal.parent.mkdir(exist_ok=True)
        journal.touch()
        lock = PathLock(journal)
        publish_address(load_config({"storage": {"path": str(tmp_path)}}), client.server.url)
        try:
            result = await asyncio.to_thread(CliRunner(env={"SAGA_KEY": ""}).invoke, main, given)
        finally:
            lock.release()
        assert result.exit_code == 0, result.output


async def test_whoever_has_the_port_after_a_crash_gets_no_key(tmp_path: Path) -> None:
    """The address is still there, the lock is not, or another process has it."""
    heard: list[str] = []

    async def listen(request: web.Request) -> web.Response:
        heard.append(request.headers.get("Authorization", ""))
        return web.json_response({})

    app = web.Application()
    app.router.add_get("/{rest:.*}", listen)
    async with TestServer(app) as nobody:
        config = load_config({"storage": {"path": str(tmp_path)}, "server": {"api_keys": ["saga-key-1"]}})
        journal = state_file(config)
        journal.parent.mkdir(exist_ok=True)
        journal.touch()
        lock = PathLock(journal)
        publish_address(config, f"http://127.0.0.1:{nobody.port}")
        lock.release()
        with pytest.raises(NotAnswered, match="no server has said"):
            await ask(config, "/api/me")
        lock = PathLock(journal)
        lock.file.write_text("999999\n")  # another process, such as a command
        try:
            with pytest.raises(NotAnswered, match="no server has said"):
                await ask(config, "/api/me")
        finally:
            lock.release()
        assert not heard
        file = tmp_path / "saga.yaml"
        file.write_text(f"storage: {{path: {tmp_path}}}\nserver: {{port: {nobody.port}, api_keys: [saga-key-1]}}\n")
        given = ["top", "--once", "--config", str(file)]
        await asyncio.to_thread(CliRunner(env={"SAGA_KEY": ""}).invoke, main, given)
    assert heard and "saga-key-1" not in "".join(heard)


def test_nobody_there() -> None:
    result = CliRunner().invoke(main, ["top", "--once", "--url", f"http://127.0.0.1:{closed_port()}"])
    assert result.exit_code == 1
    assert "is the server running?" in result.output
