"""Who read and changed what: each request of a key is noted with its row, and nothing of a story is."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from saga_server.admin.endpoints import ENDPOINTS
from tests.server.client import Client, words
from tests.server.conftest import Serve

ADMIN = "admin-key-1"
SECRET = "Quillfeather"


@pytest.fixture
async def admin(serve: Serve) -> AsyncIterator[Client]:
    async with serve(server={"api_keys": [ADMIN], "chat_keys": ["chat-key-1"]}) as found:
        yield Client(found.server, found.http, ADMIN)


async def player(admin: Client) -> tuple[Client, dict[str, Any]]:
    made = (await admin.post("/api/keys", json={"name": "one"})).json
    return Client(admin.server, admin.http, made["secret"]), made


async def log(admin: Client, **query: str) -> list[dict[str, Any]]:
    """The entries, the oldest first, without those of reading the log."""
    found = (await admin.get("/api/audit", params=query)).json["entries"]
    return [each for each in reversed(found) if each["what"] != "GET /api/audit"]


async def test_reads_and_changes_are_noted_with_who_and_where_from(admin: Client) -> None:
    mina, key = await player(admin)
    forwarded = {"X-Forwarded-For": "203.0.113.7", "X-SAGA-Session": "tale"}
    reply = await mina.chat(words("hello"), headers=forwarded)
    await mina.get("/api/sessions/tale/state")
    await mina.post("/api/sessions/tale/fork", json={"name": SECRET, "turn": reply.turn})
    await admin.get(f"/api/sessions/{reply.session}/turns/{reply.turn}")
    found = await log(admin, key=key["id"])
    assert [(each["what"], each["session"], each["turn"], each["status"]) for each in found] == [
        ("POST /v1/chat/completions", reply.session, reply.turn, 200),
        ("GET /api/sessions/{id}/state", reply.session, "", 200),
        ("POST /api/sessions/{id}/fork", reply.session, reply.turn, 201),
    ]
    assert {(each["owner"], each["role"], each["source"]) for each in found} == {(key["owner"], "player", "127.0.0.1")}
    assert [each["forwarded"] for each in found] == ["203.0.113.7", "", ""]
    by_admin = [each for each in await log(admin, session=reply.session) if each["role"] == "admin"]
    assert [(each["what"], each["key"]) for each in by_admin] == [("GET /api/sessions/{id}/turns/{turn}", "")]


async def test_nothing_of_a_story_is_noted(admin: Client) -> None:
    mina, _ = await player(admin)
    headers = {"X-SAGA-Session": SECRET, "X-SAGA-Player": SECRET, "X-Forwarded-For": f"{SECRET}\u00e9"}
    session = (await mina.chat(words(f"I greet {SECRET}."), headers={**headers, "X-Forwarded-For": "::1"})).session
    for method, path in (
        ("GET", f"/api/sessions/{SECRET}/state"), ("GET", f"/api/sessions/{SECRET}/turns/{SECRET}"),
        ("GET", f"/api/sessions/{session}/entities/{SECRET}"), ("DELETE", f"/api/sessions/{SECRET}/timelines/{SECRET}"),
        ("GET", f"/api/memory/search?q={SECRET}&session={SECRET}"), ("GET", f"/api/{SECRET}"),
        ("POST", f"/v1beta/models/{SECRET}:generateContent"), ("POST", f"/v1/models/{SECRET}"),
        ("POST", f"/s/{SECRET}/w/{SECRET}/v1/chat/completions"), ("GET", f"/api/library/{SECRET}"),
    ):  # fmt: skip
        await mina.send(method, path, json={} if method == "POST" else None)
    raw = (await admin.get("/api/audit?limit=1000")).raw.decode()
    assert SECRET not in raw
    stored = await admin.server.saga.stores.state.scan(("access", "audit"))
    assert stored and all(SECRET.encode() not in value for _, value in stored)


async def test_every_row_is_noted_as_it_stands_in_the_table(admin: Client) -> None:
    for endpoint in ENDPOINTS:
        if endpoint.open or endpoint.path in ("/api/events", "/api/drain", "/api/doctor", "/api/audit"):
            continue
        await admin.send(endpoint.method, endpoint.path.replace("{", "").replace("}", ""))
    asked = {each.request for each in ENDPOINTS if not each.open}
    noted = {each["what"] for each in await log(admin, limit="1000")}
    assert asked - noted == {"GET /api/events", "POST /api/drain", "POST /api/doctor", "GET /api/audit"}


async def test_refusals_are_noted_and_strangers_are_one_entry(admin: Client) -> None:
    mina, key = await player(admin)
    await mina.get("/api/status")
    (found,) = await log(admin, key=key["id"])
    assert (found["what"], found["status"]) == ("GET /api/status", 403)
    for number in range(30):
        assert (await Client(admin.server, admin.http, f"guess-{number}").get(f"/api/sessions/{number}")).status == 401
    strangers = [each for each in await log(admin) if each["status"] == 401]
    assert sum(each["times"] for each in strangers) == 30
    assert len(strangers) <= 2, "one for each minute"
    assert {each["owner"] for each in strangers} == {""}, "what they tried is not kept: it may be a key with a slip"


async def test_what_is_nobodys_is_not_noted(admin: Client) -> None:
    for path in ("/", "/healthz", "/readyz", "/ui/", "/v1/models", "/props"):
        await admin.get(path)
    assert await log(admin) == []


async def test_at_home_nothing_is_noted(offline: Client) -> None:
    await offline.chat(words("hello"))
    await offline.get("/api/sessions")
    assert offline.server.saga.parts.admission.access is None
    assert await offline.server.saga.stores.state.scan(("access",)) == []


async def test_it_is_switched_off_by_the_settings(serve: Serve) -> None:
    async with serve(server={"api_keys": [ADMIN], "audit_days": 0}) as found:
        keyed = Client(found.server, found.http, ADMIN)
        await keyed.chat(words("hello"))
        assert (await keyed.get("/api/audit")).json == {"entries": [], "next": None}


@pytest.mark.parametrize("cursor", ["x", ".", "a.", ".a"])
async def test_a_cursor_that_is_none_is_refused(admin: Client, cursor: str) -> None:
    assert (await admin.get("/api/audit", params={"cursor": cursor})).status == 400
