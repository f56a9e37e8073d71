"""A server for one user, and a program that embeds the engine, never import the room for several users."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.server.client import Client
from tests.server.conftest import Serve

_EMBEDDED = """
import asyncio, sys
from saga_core import Saga

async def main():
    async with Saga.open({"storage": {"path": sys.argv[1]}}) as saga:
        turn = await saga.begin([{"role": "user", "content": "I open the door."}], owner="somebody")
        turn.replies[0].feed("It creaks.")
        turn.replies[0].finish()
        await turn.commit()
        await saga.drain(30)
        assert len(await saga.sessions.list()) == 1
"""
_SERVED = """
import asyncio, sys
import aiohttp
import saga_server.cli.saga_command, saga_server.cli.serve
from saga_core.config import load_config
from saga_server.server import Server

async def main():
    config = load_config({"server": {"port": 0}, "storage": {"path": sys.argv[1]}}, environ={})
    async with Server(config, {}) as server, aiohttp.ClientSession(server.url) as client:
        await server._warming
        body = {"model": "saga-offline", "messages": [{"role": "user", "content": "I open the door."}]}
        async with client.post("/v1/chat/completions", json=body) as reply:
            assert reply.status == 200, await reply.text()
        for path in ("/api/status", "/api/sessions", "/api/me", "/metrics", "/readyz", "/ui/"):
            async with client.get(path) as reply:
                assert reply.status == 200, (path, await reply.text())
"""
_NAMED = """
asyncio.run(main())
print([name for name in sys.modules if name.startswith("saga_server.hosting")])
"""


@pytest.mark.parametrize(
    "program", [pytest.param(_EMBEDDED, marks=pytest.mark.deep), _SERVED], ids=["embedded", "served"]
)
def test_who_has_it_alone_imports_nothing_for_others(program: str, tmp_path: Path) -> None:
    ran = subprocess.run([sys.executable, "-c", program + _NAMED, str(tmp_path)], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[-1] == "[]"


async def test_stored_keys_lock_the_next_server_without_keys_in_its_settings(serve: Serve, tmp_path: Path) -> None:
    storage = {"profile": "lite", "path": str(tmp_path)}
    async with serve(server={"api_keys": ["key-of-this-test"]}, storage=storage) as keyed:
        admin = Client(keyed.server, keyed.http, "key-of-this-test")
        secret = (await admin.post("/api/keys", json={"name": "Mina"})).json["secret"]
    async with serve(storage=storage) as open_:
        assert (await open_.get("/api/sessions")).status == 401
        assert (await Client(open_.server, open_.http, secret).get("/api/sessions")).status == 200


def damage(state: Path) -> None:
    state.write_bytes(state.read_bytes()[:100] + b"\xee" * 8_000)


@pytest.mark.parametrize("lose", [damage, lambda state: state.write_bytes(b""), Path.unlink])
async def test_a_server_that_lost_its_stored_keys_stays_closed(
    serve: Serve, tmp_path: Path, lose: Callable[[Path], None]
) -> None:
    storage = {"profile": "lite", "path": str(tmp_path)}
    async with serve(server={"api_keys": ["key-of-this-test"]}, storage=storage) as keyed:
        admin = Client(keyed.server, keyed.http, "key-of-this-test")
        secret = (await admin.post("/api/keys", json={"name": "Mina"})).json["secret"]
    lose(tmp_path / "state.db")
    for _ in range(2):
        async with serve(storage=storage) as closed:
            for key in ("", secret):
                asking = Client(closed.server, closed.http, key)
                for path in ("/api/status", "/api/sessions"):
                    assert (await asking.get(path)).status == 503
                assert (await asking.post("/v1/chat/completions", json={})).status == 503
    async with serve(server={"api_keys": ["key-of-this-test"]}, storage=storage) as keyed:
        admin = Client(keyed.server, keyed.http, "key-of-this-test")
        assert (await admin.get("/api/status")).status == 200
