"""A field of the wrong kind is refused with its name, its value and the remedy, at every door."""

from __future__ import annotations

from typing import Any

import pytest

from saga_server.http import field_kinds
from tests.server.client import CHAT, Client, words
from tests.server.upstream import Upstream

HELLO = words("hello", system=None)
TEXT = {"prompt": "Mara: hello\nI: yes"}
TURN = [{"role": "user", "parts": [{"text": "hello"}]}]
DOORS: dict[str, tuple[dict[str, Any], str]] = {
    CHAT: ({"model": "m", "messages": HELLO}, "CHAT"),
    "/v1/messages": ({"model": "m", "max_tokens": 9, "messages": HELLO}, "MESSAGES"),
    "/v1/responses": ({"model": "m", "input": "hello"}, "RESPONSES"),
    "/v1/completions": ({"model": "m", **TEXT}, "TEXT"),
    "/api/v1/generate": (TEXT, "TEXT"),
    "/completion": (TEXT, "TEXT"),
    "/api/chat": ({"model": "m", "messages": HELLO}, "OLLAMA"),
    "/api/generate": ({"model": "m", "prompt": "hello"}, "OLLAMA"),
    "/v1beta/models/m:generateContent": ({"contents": TURN}, "GEMINI"),
}
WRONG: dict[str, Any] = {
    "a text": 5, "true or false": "yes", "a number": "0.7", "a whole number": 1.5, "an object": [], "a list": "x",
    "a list of objects": [5], "a list of texts": [5], "a text or a list of texts": [5], "a text or an object": 5,
    "a text or a list": 5, "a text or a number": [], "true or false, or a text": 5, "true or false, or an object": 5,
    "true or false, or a whole number": "x",
}  # fmt: skip


@pytest.mark.parametrize("path", DOORS)
async def test_every_field_is_refused_with_its_name_its_value_and_the_remedy(offline: Client, path: str) -> None:
    plain, table = DOORS[path]
    kinds: dict[str, str] = dict(getattr(field_kinds, table))
    assert (await offline.post(path, json=plain)).status == 200
    for name, kind in kinds.items():
        reply = await offline.post(path, json={**plain, name: WRONG[kind]})
        told = reply.raw.decode()
        assert reply.status == 400 and f"{name}: " in told and f"give {kind}" in told, (name, told)
        assert name in ("messages", "prompt") or (await offline.post(path, json={**plain, name: None})).status == 200


@pytest.mark.parametrize(
    ("path", "within", "table"),
    [
        ("/api/chat", "options", "OLLAMA_OPTIONS"),
        ("/v1beta/models/m:generateContent", "generationConfig", "GEMINI_SETTINGS"),
    ],
)
async def test_the_fields_of_settings_are_refused_as_well(offline: Client, path: str, within: str, table: str) -> None:
    for name, kind in getattr(field_kinds, table).items():
        reply = await offline.post(path, json={**DOORS[path][0], within: {name: WRONG[kind]}})
        assert reply.status == 400 and f"{within}.{name}: " in reply.raw.decode()


@pytest.mark.parametrize("value", [5, True, -1, 1e308, "x", {"a": 1}, [5], [[]]])
async def test_tools_that_are_none(client: Client, upstream: Upstream, value: Any) -> None:
    reply = await client.chat(HELLO, tools=value)
    assert (reply.status, reply.error["param"]) == (400, "tools")
    assert upstream.requests == []


async def test_what_clients_send_is_taken(client: Client) -> None:
    sent = {"max_tokens": 500.0, "temperature": 1, "stop": [], "logprobs": 5, "tools": [], "seed": -1, "user": ""}
    assert (await client.chat(HELLO, **sent)).status == 200
