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


async def asked(client: Client, method: str, **params: Any) -> Any:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    accept = {"Accept": "application/json, text/event-stream"}
    return (await client.post("/mcp", json=message, headers=accept)).json["result"]


@pytest.mark.parametrize(
    ("tool", "name", "about"),
    [
        ("state", "lines", {}),
        ("people_places_things", "entities", {}),
        ("who_knows", "people", {"about": 1}),
        ("who_knows", "facts", {"who": "Player"}),
        ("lore", "entries", {}),
    ],
)
async def test_what_is_too_long_at_once_is_read_in_parts(
    admin: Client, tool: str, name: str, about: dict[str, Any]
) -> None:
    mine = await player(admin)
    here = "/api/sessions/tale/changes"
    told = {"who": "Bram", "number": "1"}
    for fields in ({"kind": "met", "who": "Bram"}, {"kind": "note", "text": "It rains."}, {"kind": "told", **told}):
        assert (await mine.post(here, json=fields)).status == 201
    arguments = {"session": "tale", **about}

    async def part(**more: Any) -> Any:
        return await asked(mine, "tools/call", name=tool, arguments={**arguments, **more})

    whole = json.loads((await part())["content"][0]["text"])[name]
    found = list[Any]()
    more: dict[str, Any] = {}
    while not found or more["cursor"]:
        page = json.loads((await part(limit=1, **more))["content"][0]["text"])
        found += page[name]
        more = {"cursor": page["next"]}
    assert found == whole


async def test_the_list_of_resources_goes_on(admin: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("saga_server.tools.resources._LISTED", 2)
    mine = await player(admin)
    for number in range(4):
        await mine.post("/api/sessions", json={"label": f"tale {number}"})
    found, more = list[str](), dict[str, str]()
    for _ in range(3):
        page = await asked(mine, "resources/list", **more)
        found += [each["name"] for each in page["resources"]]
        more = {"cursor": page.get("nextCursor")}
    assert found == ["tale", *(f"tale {number}" for number in range(4))] and more == {"cursor": None}
