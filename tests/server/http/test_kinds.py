"""A request chooses the kind of its session by a header or a marker; the admin API serves both kinds alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.core.sessions.shared import shared_config
from tests.server.client import Client, words
from tests.server.conftest import Serve

MARK = "[[saga:kind=ephemeral]]"


async def test_a_marked_chat_is_listed_and_read_like_any_other(offline: Client) -> None:
    kept = await offline.chat(words("I knock at the door."))
    reply = await offline.chat(words(f"I climb the tower.{MARK}"))
    assert "nothing of it is kept" in reply.headers["X-SAGA-Notice"]
    listed = {each["id"]: each["kind"] for each in (await offline.get("/api/sessions")).json["sessions"]}
    assert listed == {kept.session: "personal", reply.session: "ephemeral"}
    state = (await offline.get(f"/api/sessions/{reply.session}/state")).json
    assert state["turn"] == 1
    assert [each["user"] for each in await offline.turns(reply.session)] == ["I climb the tower."]
    noted = await offline.post(f"/api/sessions/{reply.session}/changes", json={"kind": "hp", "hp": "70"})
    assert noted.status == 201
    assert (await offline.send("DELETE", f"/api/sessions/{reply.session}", params={"undo": "1"})).json["until"] is None
    assert (await offline.get(f"/api/sessions/{reply.session}")).status == 404
    assert [each["id"] for each in (await offline.get("/api/sessions")).json["sessions"]] == [kept.session]


async def test_an_unknown_kind_is_refused_in_a_header_and_not_heeded_in_a_marker(offline: Client) -> None:
    refused = await offline.chat(words("Hello."), headers={"X-SAGA-Kind": "secret"})
    assert refused.status == 400 and refused.error["param"] == "X-SAGA-Kind"
    reply = await offline.chat(words("[[saga:kind=secret]] Hello."))
    assert "there is no kind of session 'secret'" in reply.headers["X-SAGA-Notice"]


async def test_the_audit_log_names_no_ephemeral_session_and_players_see_their_own(serve: Serve) -> None:
    async with serve(server={"api_keys": ["admin-key-1"]}) as found:
        admin = Client(found.server, found.http, "admin-key-1")
        one, two = [
            Client(found.server, found.http, (await admin.post("/api/keys", json={"name": name})).json["secret"])
            for name in ("one", "two")
        ]
        reply = await one.chat(words("I climb the tower."), headers={"X-SAGA-Kind": "ephemeral"})
        assert (await one.get(f"/api/sessions/{reply.session}/state")).status == 200
        assert (await two.get(f"/api/sessions/{reply.session}/state")).status == 404
        assert (await two.get("/api/sessions")).json["sessions"] == []
        assert [each["id"] for each in (await one.get("/api/sessions")).json["sessions"]] == [reply.session]
        entries = (await admin.get("/api/audit")).json["entries"]
        assert {each["session"] for each in entries if each["role"] == "player"} == {""}


async def test_a_session_joins_and_leaves_a_shared_world_by_one_call(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared_config(tmp_path)
    monkeypatch.chdir(tmp_path)
    weir = {"X-SAGA-World": "low-weir"}
    async with serve() as client:
        marked = await client.chat(words("I come to the weir.[[saga:kind=world:friday]]"), headers=weir)
        reply = await client.chat(words("I sleep at the mill."), headers=weir)
        path = f"/api/sessions/{reply.session}/share"
        joined = (await client.post(path, json={"world": "friday"})).json
        assert (joined["kind"], joined["share"]) == ("world", "low-weir:friday")
        listed = {each["id"]: each["share"] for each in (await client.get("/api/sessions")).json["sessions"]}
        assert listed == {marked.session: "low-weir:friday", reply.session: "low-weir:friday"}
        left = (await client.send("DELETE", path)).json
        assert (left["kind"], left["share"]) == ("personal", "")
        elsewhere = (await client.chat(words("Hello."))).session
        refused = await client.post(f"/api/sessions/{elsewhere}/share", json={})
        assert refused.status == 400 and "shares nothing" in refused.error["message"]
