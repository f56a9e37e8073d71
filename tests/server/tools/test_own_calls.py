"""What ``/mcp`` asks this server's own API is a request of the caller: with its key, and from its address."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.server.client import Client, words
from tests.server.conftest import Serve
from tests.server.tools.test_tools import BY_NAME, posted

ADMIN = "admin-key-1"


@pytest.fixture
async def admin(serve: Serve) -> AsyncIterator[Client]:
    async with serve(server={"api_keys": [ADMIN]}) as found:
        yield Client(found.server, found.http, ADMIN)


async def player(admin: Client) -> Client:
    secret = (await admin.post("/api/keys", json={"name": "one"})).json["secret"]
    found = Client(admin.server, admin.http, secret)
    await found.chat(words("I wait."), headers={"X-SAGA-Session": "tale"})
    return found


async def test_a_large_call_does_not_wait_for_itself(admin: Client) -> None:
    names = set(BY_NAME["correct"].params) - {"session", "kind", "turn"}
    long = {"session": "tale", "kind": "note", **dict.fromkeys(names, "가" * 2_000)}
    async with asyncio.timeout(20):
        assert "'note' takes text" in await posted(await player(admin), "/mcp", "correct", long)


@pytest.mark.parametrize("header", ["Authorization", "X-Api-Key", "X-Goog-Api-Key"])
async def test_the_key_and_the_address_are_those_of_the_caller(admin: Client, header: str) -> None:
    mine = await player(admin)
    key = {header: f"Bearer {mine.key}" if header == "Authorization" else mine.key}
    anonymous = Client(admin.server, admin.http)
    claimed = {"X-Forwarded-For": f"203.0.113.7, {'9' * 300}"}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    params: dict[str, Any] = {"name": "remember", "arguments": {"session": "tale", "text": "The boat is blue."}}
    accept = {"Accept": "application/json, text/event-stream"}
    reply = await anonymous.post("/mcp", json={**message, "params": params}, headers={**accept, **key, **claimed})
    assert "change" in json.loads(reply.json["result"]["content"][0]["text"])
    (entry,) = [each for each in (await admin.get("/api/audit")).json["entries"] if "(by a tool)" in each["what"]]
    assert entry["forwarded"].startswith("203.0.113.7, ") and entry["forwarded"].endswith(", 127.0.0.1")


async def test_a_player_does_not_learn_the_servers_address(admin: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = await player(admin)
    monkeypatch.setattr("saga_server.tools.over_http.SECONDS", 1e-9)
    told = await posted(mine, "/mcp", "undo", {"session": "tale", "change": "a1"})
    assert "the server does not answer" in told and "127.0.0.1" not in told
