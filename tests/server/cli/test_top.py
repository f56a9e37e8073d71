"""``saga top`` against a real server."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from click.testing import CliRunner

from saga_core.config import load_config
from saga_server.cli.saga_command import main
from saga_server.cli.top import look, rows
from saga_server.process.running_server import NotAnswered, address_of, ask, note_of, publish_address, withdraw_address
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


@pytest.mark.parametrize("url", ["file:///etc/passwd", "127.0.0.1:8765", "http://", "http://127.0.0.1:99999"])
def test_an_address_is_one(url: str) -> None:
    assert CliRunner().invoke(main, ["top", "--once", "--url", url]).exit_code == 2


@pytest.mark.parametrize(
    "command", [["top", "--once"], ["sessions"], ["mcp"], ["tools", "--format", "utcp"], ["doctor"]]
)
@pytest.mark.parametrize(
    "url",
    [
        "http://joe:geheim@127.0.0.1:9", "http://geheim@127.0.0.1:9", "htp://joe:geheim@127.0.0.1:9",
        "http://joe:ge/heim@127.0.0.1:9", "http://joe:9/geheim@127.0.0.1:9", "http://127.0.0.1:9/?key=geheim",
        "http://127.0.0.1:9#geheim", "http://joe:geheim@127.0.0.1:x",
    ],
)  # fmt: skip
def test_a_secret_in_an_address_is_refused_with_the_remedy_and_not_repeated(command: list[str], url: str) -> None:
    result = CliRunner(env={"SAGA_KEY": "k"}).invoke(main, [*command, "--url", url])
    assert result.exit_code == 2 and "heim" not in result.output + repr(result.exception)
    assert "give " in result.output and "http://" in result.output


async def test_the_server_of_the_data_is_found_and_its_key(serve: Serve, tmp_path: Path) -> None:
    async with serve(server={"api_keys": ["saga-key-1"]}) as client:
        file = tmp_path / "saga.yaml"
        file.write_text(f"storage: {{path: {tmp_path}}}\nserver: {{api_keys: [saga-key-1]}}\n")
        given = ["top", "--once", "--config", str(file)]
        config = load_config({"storage": {"path": str(tmp_path)}})
        publish_address(config, client.server.url)
        try:
            result = await asyncio.to_thread(CliRunner(env={"SAGA_KEY": ""}).invoke, main, given)
        finally:
            withdraw_address(config)
        assert result.exit_code == 0, result.output


@pytest.mark.parametrize("command", ["sessions", "doctor", "jobs", "verify"])
@pytest.mark.parametrize("how", ["found", "given"])
async def test_beside_a_server_whose_journal_is_no_file(command: str, how: str, serve: Serve, tmp_path: Path) -> None:
    """No file tells who has the journal open: the server is found by the note that it holds, or by its address."""
    storage = {"path": str(tmp_path / "data"), "state": "memory"}
    async with serve(storage=storage, server={"api_keys": ["saga-key-1"]}) as client:
        config = load_config({"storage": storage})
        file = tmp_path / "saga.yaml"
        file.write_text(json.dumps({"storage": storage}))
        given = [command, "--config", str(file)]
        if how == "found":
            publish_address(config, client.server.url)
        else:
            given += ["--url", client.server.url + "/"]
        try:
            result = await asyncio.to_thread(CliRunner(env={"SAGA_KEY": "saga-key-1"}).invoke, main, given)
        finally:
            withdraw_address(config)
    assert result.exit_code == 0, result.output
    if command == "doctor":
        assert f"stores: open in the server at {client.server.url}" in result.output


def test_a_second_server_leaves_the_note_of_the_first(tmp_path: Path) -> None:
    config = load_config({"storage": {"path": str(tmp_path), "state": "memory"}})
    publish_address(config, "http://127.0.0.1:1")
    try:
        second = "from saga_server.process.running_server import *\nfrom saga_core.config import load_config\n"
        second += f"config = load_config({{'storage': {{'path': {str(tmp_path)!r}, 'state': 'memory'}}}})\n"
        second += (
            "try:\n    publish_address(config, 'http://127.0.0.1:2')\nexcept Exception as error:\n    print(error)\n"
        )
        second += "withdraw_address(config)\n"
        done = subprocess.run([sys.executable, "-c", second], capture_output=True, text=True, check=True)
        assert f"is open in process {os.getpid()}" in done.stdout
        assert address_of(config) == "http://127.0.0.1:1"
    finally:
        withdraw_address(config)


async def test_whoever_has_the_port_after_a_crash_gets_no_key(tmp_path: Path) -> None:
    """The address is still there, and nobody holds it."""
    heard: list[str] = []

    async def listen(request: web.Request) -> web.Response:
        heard.append(request.headers.get("Authorization", ""))
        return web.json_response({})

    app = web.Application()
    app.router.add_get("/{rest:.*}", listen)
    async with TestServer(app) as nobody:
        config = load_config({"storage": {"path": str(tmp_path)}, "server": {"api_keys": ["saga-key-1"]}})
        publish_address(config, f"http://127.0.0.1:{nobody.port}")
        note = note_of(config).read_bytes()
        withdraw_address(config)
        assert not note_of(config).exists()
        note_of(config).write_bytes(note)  # as a server leaves it that was killed
        with pytest.raises(NotAnswered, match="no server has said"):
            await ask(config, "/api/me")
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
