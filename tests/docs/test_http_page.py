"""docs/http.md: its paths are the server's, and what it says of answers, headers and errors is what comes back."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import ClientResponse, ClientSession

from saga_core.config import load_config
from saga_server.admin.endpoint_list import with_lists
from saga_server.admin.endpoints import ENDPOINTS
from saga_server.http import MAX_CHOICES, Doors
from saga_server.http.access import _EXPOSED
from saga_server.http.door import BASES
from saga_server.http.errors import _ANSWERS
from saga_server.server import Server
from tests.docs.pages import page
from tests.replay.test_chat_sources import OPERATIONS as OF_CHATS
from tests.replay.test_chat_sources import SOURCES as CHATS
from tests.replay.test_text_completion import OPERATIONS, SOURCES

HTTP = page("docs/http.md")
METHODS = ("GET", "POST", "DELETE")
DOORS = Doors.load()


def requests() -> dict[str, list[str]]:
    """Each request of the page's tables, such as ``GET /api/status``, to the rest of its row."""
    return {
        row[0].strip("`"): row[1:] for row in HTTP.rows if re.fullmatch(rf"`(?:{'|'.join(METHODS)}) /[^`]*`", row[0])
    }


def fields(cell: str) -> set[str]:
    return set(re.findall(r"`(\w+)`", cell))


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    config = load_config({"server": {"port": 0, "drain_timeout": 1}, "storage": {"profile": "memory"}}, environ={})
    async with Server(config, environ={}) as started:
        yield started


@pytest.fixture
async def client(server: Server) -> AsyncIterator[ClientSession]:
    async with ClientSession(server.url) as session:
        yield session


async def chat(client: ClientSession, base: str = "/v1", words: str = "I look around.", **more: Any) -> ClientResponse:
    headers, system = more.pop("headers", {}), more.pop("system", "You are the narrator.")
    messages = [{"role": "system", "content": system}, {"role": "user", "content": words}]
    response = await client.post(f"{base}/chat/completions", json={"messages": messages, **more}, headers=headers)
    await response.read()
    return response


def test_the_page_has_every_path_of_the_server_and_no_other() -> None:
    served = {endpoint.request for endpoint in ENDPOINTS}
    chats = [DOORS.loaded[name].paths for name in ("chat", "gemini", "messages", "responses")]
    served |= {f"{method} {path}" for paths in chats for path in paths if path[:3] == "/v1" for method in paths[path]}
    verbs = ("generateContent", "streamGenerateContent", "countTokens")
    served |= {f"POST /v1beta/models/{{model}}:{verb}" for verb in verbs} | {"GET /v1/models/{model}"}
    assert {request.partition("?")[0] for request in requests()} == served


def test_the_page_has_every_path_of_text_completion() -> None:
    """And every source and operation that is played, and no other."""
    rows = [row for row in HTTP.rows if len(row) == 3 and row[1].startswith("`/") and "{" not in row[1]]
    listed = {path for row in rows for cell in row[1:] for path in re.findall(r"`(/[^`]*)`", cell)}
    assert listed - {"/v1/models", "/api/generate"} == set(DOORS.loaded["text"].paths)
    head = next(row for row in HTTP.rows if row[0] == "source")
    assert head[1:] == list(OPERATIONS)
    cells = {row[0]: row[1:] for row in HTTP.rows if len(row) == len(head) and row[0] not in ("source", "---")}
    assert cells == {name: ["yes"] * len(OPERATIONS) for name in (*SOURCES, *CHATS)}
    assert OF_CHATS == OPERATIONS


def test_the_page_has_every_other_door() -> None:
    """Ollama's paths, and what is passed on."""
    listed = {path for row in HTTP.rows if len(row) == 2 for cell in row for path in re.findall(r"`(/[^`{]*)`", cell)}
    passed_on = {path for path in DOORS.loaded["passthrough"].paths if path.startswith("/v1")}
    assert {*DOORS.loaded["ollama"].paths, *passed_on} <= listed
    assert {path for path in listed if DOORS.find(path) is None} <= {"/", "/healthz", "/readyz", "/metrics"}


def test_the_lists_are_those_of_the_table() -> None:
    assert with_lists(HTTP.text) == HTTP.text, "write them anew: make endpoints"


def test_the_page_has_every_base_url_of_the_chat() -> None:
    listed = {base for row in HTTP.rows for cell in row for base in re.findall(r"`(/[sw]/[^`]*/v1)`", cell)}
    assert listed == {f"{base}/v1" for base in BASES if base}
    for base in listed:
        for path in (f"{base}/chat/completions", f"{base.removesuffix('/v1')}/chat/completions/"):
            place = DOORS.find(path)
            assert place is not None
            names = {name: f"{{{name}}}" for name in ("session", "world") if f"{{{name}}}" in base}
            assert {"session": place.session, "world": place.world} == {"session": "", "world": "", **names}


async def test_answers_have_the_fields_that_the_page_says(client: ClientSession) -> None:
    reply = await chat(client, "/w/harrow/v1", headers={"X-SAGA-Chat": "one"})
    session, turn = reply.headers["X-SAGA-Session"], reply.headers["X-SAGA-Turn"]
    change, file = "", b""
    async with client.get(f"/api/sessions/{session}/entities") as response:
        who = (await response.json())["entities"][0]["id"]
    for request, row in requests().items():
        method, path = request.split(" ")
        if not path.startswith("/api"):
            continue
        filled = path.replace("{id}", session).replace("TURN", turn).replace("TEXT", "look").replace("{name}", "dark")
        filled = filled.replace("{change}", change).replace("{turn}", turn).replace("{entity}", who)
        filled = filled.replace("{world}", "harrow").replace("{module}", "map").replace("{chat}", "one")
        if request == "POST /api/sessions/{id}/changes/{change}" or (method != "GET" and "/standing" in path):
            continue  # nothing waits here; tests/server/admin/test_curation.py decides what does
        if "/api/keys/" in path:
            continue  # without server.api_keys there are none; tests/server/admin/test_keys.py has some
        if request == "POST /api/sessions/{id}/share":
            continue  # this world shares nothing; tests/server/http/test_kinds.py has one that does
        if request == "POST /api/library/{world}":
            continue  # these are the worlds of the checkout; tests/server/admin/test_library.py writes others
        if path.endswith("/reset") or path.startswith("/api/forget") or (method == "DELETE" and path.endswith("{id}")):
            filled = filled.replace(session, (await chat(client, "/s/doomed/v1")).headers["X-SAGA-Session"])
        if path.endswith("/{deleted}"):
            doomed = (await chat(client, "/s/deleted/v1")).headers["X-SAGA-Session"]
            await client.delete(f"/api/sessions/{doomed}?undo=1")
            filled = filled.replace("{deleted}", doomed)
        if path.endswith("/prune"):
            await chat(client, f"/s/{session}/v1", "I look away.")
        bodies = {"fork": {"name": "dark"}, "{name}": {"name": "dark"}, "prune": {"turn": turn}}
        bodies |= {
            "changes": {"kind": "note", "text": "It rains."},
            "{id}": {"label": "renamed"},
            "keys": {"name": "one"},
            "context": {"text": "look", "turn": turn},
            "untold": {"text": "look"},
        }
        body = bodies.get(path.rpartition("/")[2]) if method == "POST" else None
        data = file if request.startswith("POST /api/import") else None
        async with client.request(method, filled, json=body, data=data) as response:
            if path.startswith("/api/sessions/{id}/export"):
                file = await response.read()
                assert response.content_type == "application/jsonl"
                continue
            if path.startswith("/api/library/{world}/export"):
                assert response.content_type == "application/octet-stream"
                continue
            if path.startswith("/api/events"):
                assert response.content_type == "text/event-stream"
                continue
            if path.endswith("/portrait"):
                assert response.status == 404, "the example world is no imported card"
                continue
            if path.startswith("/api/sessions/{id}/{module}.svg"):
                assert response.content_type == "image/svg+xml"
                continue
            answer = await response.json()
            last = path.rpartition("/")[2]
            optional = path.startswith("/api/graph/query") or last.startswith(("reextract", "backfill", "chapters"))
            if optional or request in ("POST /api/backups", "POST /api/reload", "POST /api/keys", "POST /api/settings"):
                assert response.status == 501, "the page says that it is not always there"
                continue
            assert response.status == (201 if "Answers 201" in row[1] else 200), answer
            assert set(answer) == fields(row[0]), request
            change = answer.get("change", change)


async def test_other_paths_answer(client: ClientSession) -> None:
    for request in requests():
        method, path = request.split(" ")
        if method == "GET" and not path.startswith("/api"):
            assert (await client.get(path.replace("{model}", "saga-offline"))).status == 200


async def test_every_form_names_the_session_and_the_world(client: ClientSession) -> None:
    forms: list[tuple[str, dict[str, Any]]] = [
        ("/s/one/v1", {}),
        ("/v1", {"headers": {"X-SAGA-Session": "one"}}),
        ("/v1", {"system": "You are the narrator.\n[[saga:session=one]]"}),
    ]
    found = {(await chat(client, base, **more)).headers["X-SAGA-Session"] for base, more in forms}
    assert len(found) == 1
    with_key = [
        await chat(client, headers={"Authorization": "Bearer key#one"}),
        await chat(client, "/s/one/v1", headers={"Authorization": "Bearer key"}),
    ]
    (owned,) = {reply.headers["X-SAGA-Session"] for reply in with_key}
    assert owned not in found, "another key's session of the same name is another one"
    worlds: list[tuple[str, dict[str, Any]]] = [
        ("/w/ersia/s/two/v1", {}),
        ("/s/three/w/ersia/v1", {}),
        ("/s/four/v1", {"headers": {"X-SAGA-World": "ersia"}}),
        ("/s/five/v1", {"system": "[[saga:world=ersia]]"}),
    ]
    for base, more in worlds:
        session = (await chat(client, base, **more)).headers["X-SAGA-Session"]
        assert (await (await client.get(f"/api/sessions/{session}")).json())["world"] == "ersia", base


async def test_keys_that_are_none_are_the_same(client: ClientSession) -> None:
    tokens = [{}, *({"Authorization": f"Bearer {word}".strip()} for word in ("", "undefined", "null"))]
    found = {(await chat(client, "/s/mine/v1", headers=headers)).headers["X-SAGA-Session"] for headers in tokens}
    assert len(found) == 1


async def test_headers_of_a_reply_are_listed(client: ClientSession) -> None:
    listed = {row[0].strip("`") for row in HTTP.rows if row[0].startswith("`X-SAGA-")}
    sometimes = {"X-SAGA-Late", "X-SAGA-Silent", "X-SAGA-Notice", "X-SAGA-Cost", "X-SAGA-Cost-Without"}
    reply = await chat(client)
    assert {name for name in reply.headers if name.startswith("X-SAGA-")} == listed - sometimes
    assert listed == {name for name in _EXPOSED.split(", ") if name.startswith("X-SAGA-")}


async def test_errors_have_the_shape_and_the_types_that_are_listed(client: ClientSession) -> None:
    listed = {(row[0], kind) for row in HTTP.rows if row[0].isdigit() for kind in fields(row[1])}
    assert {(str(status), kind) for _, (status, kind) in _ANSWERS} <= listed
    origin = {"Origin": "https://elsewhere.example"}
    tried = [
        (await client.get("/api/sessions/nobody/state"), "404"),
        (await client.get("/api/status?colour=red"), "400"),
        (await client.get("/nowhere"), "404"),
        (await client.put("/api/status"), "405"),
        (await chat(client, "/w/nowhere/v1"), "400"),
        (await client.get("/api/status", headers=origin), "403"),
        (await chat(client, n=MAX_CHOICES + 1), "400"),
        (await client.post("/api/sessions", json={"label": "taken"}), "201"),
        (await client.post("/api/sessions", json={"label": "taken"}), "409"),
    ]
    for response, status in tried:
        assert str(response.status) == status
        if response.status >= 400:
            error = (await response.json())["error"]
            assert list(error) == ["message", "type", "param", "code"]
            assert (status, error["type"]) in listed
    assert f"up to {MAX_CHOICES}" in HTTP.text


async def test_keys_are_asked_for_where_the_page_says(client: ClientSession) -> None:
    config = load_config(
        {"server": {"port": 0, "api_keys": ["open-sesame"]}, "storage": {"profile": "memory"}}, environ={}
    )
    async with Server(config, environ={}) as guarded, ClientSession(guarded.url) as stranger:
        for path, status in (("/", 200), ("/healthz", 200), ("/readyz", 200), ("/metrics", 401), ("/v1/models", 401)):
            response = await stranger.get(path)
            assert response.status == status
        assert (await response.json())["error"]["type"] == "authentication_error"
        known = await stranger.get("/api/status", headers={"Authorization": "Bearer open-sesame"})
        assert known.status == 200
