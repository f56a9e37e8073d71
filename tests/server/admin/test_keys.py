"""Keys over HTTP: made, shown once, changed, rotated and revoked by administrators alone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from saga_core.errors import StoreUnavailable
from saga_server.hosting import Access, Keyring
from saga_server.tenancy import tenancy_of
from tests.server.client import Client, words
from tests.server.conftest import Serve

ADMIN = "admin-key-1"
HELLO = words("hello")


@pytest.fixture
async def admin(serve: Serve) -> AsyncIterator[Client]:
    async with serve(server={"api_keys": [ADMIN], "chat_keys": ["chat-key-1"]}) as found:
        yield Client(found.server, found.http, ADMIN)


async def made(admin: Client, **given: str) -> tuple[Client, dict[str, Any]]:
    """A client with a key of its own, and what was answered."""
    reply = await admin.post("/api/keys", json={"name": "one", **given})
    assert reply.status == 201, reply.raw
    return Client(admin.server, admin.http, reply.json["secret"]), reply.json


async def test_a_key_is_told_once(admin: Client) -> None:
    player, key = await made(admin)
    assert (key["role"], key["revoked"], key["secret"][:9]) == ("player", None, key["prefix"])
    assert (await player.chat(HELLO)).status == 200
    for path in ("/api/keys", f"/api/keys/{key['id']}", "/api/audit", "/api/log", "/api/status", "/metrics"):
        reply = await admin.get(path)
        assert reply.status == 200 and key["secret"] not in reply.raw.decode(), path


async def test_who_asks(admin: Client) -> None:
    player, key = await made(admin, turns_a_minute="9", dollars_a_day="1.50")
    await player.chat(HELLO)
    me = (await player.get("/api/me")).json
    assert (me["locked"], me["role"], me["owner"]) == (True, "player", key["owner"])
    assert me["key"]["quotas"] == {
        "turns_a_minute": 9, "tokens_a_day": 0, "dollars_a_day": 1.5, "sessions": 0, "bytes": 0,
    }  # fmt: skip
    assert (me["key"]["use"]["turns"], me["key"]["use"]["sessions"]) == (1, 1)
    assert (await admin.get("/api/me")).json["key"] is None
    assert (await admin.get("/api/me")).json["role"] == "admin"


async def test_without_keys_nothing_is_locked(offline: Client) -> None:
    assert (await offline.get("/api/me")).json == {"locked": False, "role": "admin", "owner": "", "key": None}
    refused = await offline.post("/api/keys", json={"name": "one"})
    assert (refused.status, "server.api_keys" in refused.error["message"]) == (501, True)
    await offline.chat(HELLO)
    assert (await offline.get("/api/audit")).json == {"entries": [], "next": None}


async def test_a_revoked_key_is_refused_at_once_and_its_sessions_stay(admin: Client) -> None:
    player, key = await made(admin)
    session = (await player.chat(HELLO)).session
    assert (await admin.send("DELETE", f"/api/keys/{key['id']}")).json["revoked"] > 0
    for reply in (await player.chat(HELLO), await player.get("/api/sessions"), await player.get("/v1/models")):
        assert (reply.status, reply.error["code"]) == (401, "invalid_api_key")
    again, _ = await made(admin, owner=key["owner"])
    assert [each["id"] for each in (await again.get("/api/sessions")).json["sessions"]] == [session]


async def test_a_rotated_key_goes_on_with_its_sessions(admin: Client) -> None:
    player, key = await made(admin)
    session = (await player.chat(HELLO)).session
    rotated = (await admin.post(f"/api/keys/{key['id']}/rotate")).json
    assert (await player.chat(HELLO)).status == 401
    fresh = Client(admin.server, admin.http, rotated["secret"])
    assert [each["id"] for each in (await fresh.get("/api/sessions")).json["sessions"]] == [session]


async def test_the_key_before_may_be_taken_for_a_while(admin: Client) -> None:
    player, key = await made(admin)
    rotated = await admin.post(f"/api/keys/{key['id']}/rotate?grace=3600")
    assert rotated.json["former_until"] > rotated.json["created"]
    assert (await player.chat(HELLO)).status == 200
    assert (await admin.post(f"/api/keys/{key['id']}/rotate?grace=1e9")).status == 400


async def test_keys_of_the_settings_are_what_they_were(admin: Client) -> None:
    await made(admin)
    chatter = Client(admin.server, admin.http, "chat-key-1")
    assert (await chatter.chat(HELLO)).status == 200
    for path in ("/api/me", "/api/sessions", "/api/keys", "/metrics"):
        assert (await chatter.get(path)).status == 403, path


@pytest.mark.parametrize("role", ["chat", "player"])
async def test_only_administrators_make_keys(admin: Client, role: str) -> None:
    somebody, key = await made(admin, role=role)
    for method, path in (
        ("GET", "/api/keys"), ("POST", "/api/keys"), ("GET", f"/api/keys/{key['id']}"), ("GET", "/api/audit"),
        ("POST", f"/api/keys/{key['id']}"), ("POST", f"/api/keys/{key['id']}/rotate"),
        ("DELETE", f"/api/keys/{key['id']}"),
    ):  # fmt: skip
        reply = await somebody.send(method, path, json={"name": "me", "role": "admin", "turns_a_minute": "0"})
        assert (reply.status, reply.error["type"]) == (403, "permission_error"), (method, path)
    assert (await admin.get(f"/api/keys/{key['id']}")).json["role"] == role


async def test_an_administrators_key_may_be_made_and_does_everything(admin: Client) -> None:
    second, key = await made(admin, role="admin")
    _, other = await made(second, name="two")
    assert {each["id"] for each in (await second.get("/api/keys")).json["keys"]} == {key["id"], other["id"]}
    assert (await second.get("/metrics")).status == 200


async def test_what_is_wrong_is_told_by_its_field(admin: Client) -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({}, "name"), ({"name": "  "}, "name"), ({"name": "a", "role": "king"}, "role"),
        ({"name": "a", "owner": "x"}, "owner"), ({"name": "a", "sessions": "-1"}, "sessions"),
        ({"name": "a", "dollars_a_day": "free"}, "dollars_a_day"), ({"name": "a", "colour": "red"}, "colour"),
        ({"name": "a", "sessions": 3}, "sessions"),
    ]  # fmt: skip
    for body, param in wrong:
        reply = await admin.post("/api/keys", json=body)
        assert (reply.status, reply.error["param"]) == (400, param), body
    assert (await admin.get("/api/keys")).json["keys"] == []


async def test_a_key_stands_in_the_headers_of_other_apis_too(admin: Client) -> None:
    player, _ = await made(admin)
    nobody = Client(admin.server, admin.http)
    assert player.key is not None
    for headers in ({"X-Api-Key": player.key}, {"X-Goog-Api-Key": player.key}):
        assert (await nobody.chat(HELLO, headers=headers)).status == 200
    assert (await nobody.post(f"/v1beta/models/x:generateContent?key={player.key}", json={
        "contents": [{"role": "user", "parts": [{"text": "hello"}]}]
    })).status == 200  # fmt: skip


async def test_stored_keys_lock_a_server_whose_settings_have_none_any_more(admin: Client, serve: Serve) -> None:
    """Nobody finds the stories of others open because a line of the settings went."""
    async with serve() as open_:
        access = await tenancy_of(open_.server.saga).bring_in()
        record, secret = await access.keys.create("one")
        assert (await open_.get("/api/sessions")).status == 401
        assert (await open_.chat(HELLO)).status == 401
        assert (await Client(open_.server, open_.http, secret).chat(HELLO)).status == 200
        await access.keys.revoke(record.id)
        assert (await open_.get("/api/sessions")).status == 200


async def test_the_trash_is_no_way_around_a_quota_of_sessions(admin: Client) -> None:
    player, _ = await made(admin, sessions="1")
    first = (await player.chat(HELLO)).session
    await player.send("DELETE", f"/api/sessions/{first}?undo=1")
    second = (await player.post("/api/sessions", json={"label": "second"})).json["id"]
    refused = await player.post(f"/api/trash/{first}")
    assert (refused.status, refused.error["code"]) == (429, "quota_sessions")
    assert [each["id"] for each in (await player.get("/api/sessions")).json["sessions"]] == [second]
    assert [each["id"] for each in (await player.get("/api/trash")).json["sessions"]] == [first], "it is not lost"
    await player.send("DELETE", f"/api/sessions/{second}")
    access = tenancy_of(admin.server.saga).access
    assert access is not None
    await access.meter.holdings.count("")  # as it is done again after two seconds
    assert (await player.post(f"/api/trash/{first}")).status == 200


async def weighed(access: Access, owner: str) -> None:
    """What happens in the background within a minute."""
    await access.meter.holdings.settled()
    await access.meter.holdings._weigh(owner, anew=True)


async def test_a_key_over_its_bytes_writes_nothing_and_the_trash_makes_no_room(admin: Client) -> None:
    player, key = await made(admin, bytes="500")
    session = (await player.chat(HELLO)).session
    access = tenancy_of(admin.server.saga).access
    assert access is not None
    await weighed(access, key["owner"])
    note = {"kind": "note", "text": "The bridge is out."}
    call = {"name": "remember", "arguments": {"session": session, "text": "The bridge is out."}}
    for path, body in (
        (f"/api/sessions/{session}/changes", note),
        ("/api/sessions", {"label": "another"}),
        (f"/api/sessions/{session}/fork", {"name": "evening"}),
    ):
        refused = await player.post(path, json=body)
        assert (refused.status, refused.error["code"]) == (429, "quota_bytes"), path
    told = await player.send(
        "POST", "/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call},
        headers={"Accept": "application/json, text/event-stream"},
    )  # fmt: skip
    assert b"bytes: this key may use 500" in told.raw
    await player.send("DELETE", f"/api/sessions/{session}?undo=1")
    assert await access.meter.holdings.count(key["owner"]) == 0
    await weighed(access, key["owner"])
    assert (await player.chat(HELLO)).status == 429, "what lies in the trash counts"
    assert (await player.post(f"/api/trash/{session}")).status == 200, "and restoring it adds nothing"
    await player.send("DELETE", f"/api/sessions/{session}")
    await weighed(access, key["owner"])
    assert (await player.post("/api/sessions", json={"label": "another"})).status == 201


async def test_what_lies_in_the_trash_is_forgotten_by_id_and_by_name(admin: Client) -> None:
    player, _ = await made(admin)
    for asked in ("session", "label"):
        headers = {"X-SAGA-Session": "tale"}
        session = (await player.chat(HELLO, headers=headers)).session
        await player.send("DELETE", f"/api/sessions/{session}?undo=1")
        refused = await admin.post("/api/forget?session=tale&name=hello")
        assert refused.status == 404 and "is in the trash" in refused.error["message"]
        name = session if asked == "session" else "tale"
        for blank in ("", "%20%20"):
            widened = await admin.post(f"/api/forget?session={name}&name={blank}")
            assert (
                widened.status == 400
                and "is blank; without it more would be removed; give a text" in widened.error["message"]
            )
        forgotten = await admin.post(f"/api/forget?session={name}")
        assert (forgotten.status, forgotten.json["sessions"]) == (200, [session])
        assert (await player.get("/api/trash")).json["sessions"] == []
        assert (await admin.post(f"/api/forget?session={name}")).status == 404


async def test_everything_of_a_key_is_forgotten_though_it_all_lies_in_the_trash(admin: Client) -> None:
    player, key = await made(admin)
    for live in (False, True):
        session = (await player.chat(HELLO)).session
        await player.send("DELETE", f"/api/sessions/{session}?undo=1")
        more = [(await player.chat(words("another"))).session] if live else []
        forgotten = await admin.post(f"/api/forget?owner={key['owner']}")
        assert (forgotten.status, sorted(forgotten.json["sessions"])) == (200, sorted([session, *more]))
        assert (await player.get("/api/trash")).json["sessions"] == []


async def test_keys_that_cannot_be_read(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fails(self: Keyring) -> None:
        raise StoreUnavailable("/home/rin/saga/state.db: its lock file cannot be opened")

    monkeypatch.setattr(Keyring, "look", fails)
    async with serve(server={"api_keys": [ADMIN], "chat_keys": ["chat-key-1"]}) as found:
        admin = Client(found.server, found.http, ADMIN)
        for _ in range(2):  # the first request brings the keys in
            stranger = await Client(found.server, found.http, "sk-bogus").get("/api/sessions")
            assert stranger.status == 503 and b"/home" not in stranger.raw
            assert (await Client(found.server, found.http, "").get("/api/sessions")).status == 401
            assert (await Client(found.server, found.http, "chat-key-1").chat(HELLO)).status == 200
            listed = await admin.get("/api/keys")
            assert listed.status == 503 and b"/home" in listed.raw, "the administrator is told why"
        monkeypatch.undo()
        assert (await admin.get("/api/keys")).json == {"keys": []}
        assert (await Client(found.server, found.http, "sk-bogus").get("/api/sessions")).status == 401
