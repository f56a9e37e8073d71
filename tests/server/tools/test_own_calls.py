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
MESSAGE = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}


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
    assert told.endswith("look whether it was made all the same")


CALL = '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "roll", "arguments": {"dice": %s}}}'


@pytest.mark.parametrize(
    ("dice", "status", "code", "reason"),
    [
        (f'"{"d" * (512 << 10)}"', 413, -32600, "the message is larger than 512 KB"),
        (f"[{'[],' * 10_000}1]", 413, -32600, "the body holds more than 10,000 values"),
        (f"{'[' * 65}{']' * 65}", 400, -32700, "the body is nested too deeply: more than 64 levels"),
        ("d6", 400, -32700, "the body is not JSON: Expecting value"),
        ("NaN", 400, -32700, "the body is not JSON: NaN is no JSON number"),
    ],
)
async def test_a_message_that_is_too_large_is_not_read(
    admin: Client, dice: str, status: int, code: int, reason: str
) -> None:
    """The package reads a message in one step, and nobody else is served meanwhile: seconds, for one of 4 MB."""
    reply = await admin.post("/mcp", data=(CALL % dice).encode(), headers=MESSAGE)
    assert (reply.status, reply.json["error"]["code"]) == (status, code)
    assert reply.json["error"]["message"].startswith(reason)


async def test_a_message_is_read_as_any_request(admin: Client) -> None:
    body = "\ufeff" + CALL % r'"\ud800"'
    reply = await admin.post("/mcp", data=body.encode(), headers=MESSAGE)
    assert "'\ufffd' are no dice" in reply.json["result"]["content"][0]["text"]


async def answered(client: Client, method: str, **params: Any) -> Any:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    return (await client.post("/mcp?allow=read&allow=change", json=message, headers=MESSAGE)).json


async def asked(client: Client, method: str, **params: Any) -> Any:
    return (await answered(client, method, **params))["result"]


async def test_what_is_read_is_bounded_as_the_answers_of_tools_are(
    admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = await player(admin)
    monkeypatch.setattr("saga_server.tools.resources.MOST", 50)
    for method, params in (
        ("resources/read", {"uri": "saga://sessions/tale"}),
        ("prompts/get", {"name": "character_sheet", "arguments": {"session": "tale", "entity": "Player"}}),
    ):
        why = (await answered(mine, method, **params))["error"]["message"]
        assert why.endswith("characters, at most 50 are sent; ask for less")
    told = await asked(mine, "tools/call", name="who_is", arguments={"session": "tale", "entity": "Player"})
    assert told["isError"] and told["content"][0]["text"].endswith("at most 50 are sent; ask for less")


async def test_a_write_whose_answer_is_too_long_is_not_told_as_failed(
    admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = await player(admin)
    monkeypatch.setattr("saga_server.tools.resources.MOST", 200)
    monkeypatch.setattr("saga_server.tools.over_mcp._SHORT", 100)
    move = {"session": "tale", "kind": "move", "place": "The Castle of the Four Winds"}
    told = await asked(mine, "tools/call", name="correct", arguments=move)
    assert not told["isError"]
    made = json.loads(told["content"][0]["text"])
    assert made["left_out"] == {"effect": "more than 100 characters"} and "effect" not in made
    (change,) = (await mine.get("/api/sessions/tale/changes")).json["changes"]
    assert change["id"] == made["change"]


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
