from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from saga_core.background import DrainReport, Waiting
from saga_server.admin.reply import to_plain
from saga_server.admin.server_handlers import drained
from tests.server.client import BLOCK, Client, Reply, words
from tests.server.conftest import Serve
from tests.server.upstream import Upstream, says


@pytest.fixture
async def played(client: Client, upstream: Upstream) -> Reply:
    """A session with two turns."""
    upstream.then(says(f"숲에 들어선다.\n\n{BLOCK}"), says("새가 운다."))
    await client.chat(words("숲으로 간다."))
    return await client.chat(words("숲으로 간다.", "숲에 들어선다.", "귀를 기울인다."))


async def at(client: Client, reply: Reply, path: str, method: str = "GET", **given: Any) -> Any:
    answer = await client.send(method, f"/api/sessions/{reply.session}{path}", **given)
    assert answer.status == 200, answer.raw
    return answer.json


class TestSession:
    async def test_state(self, client: Client, played: Reply) -> None:
        state = await at(client, played, "/state")
        assert {
            "session", "turn", "turn_id", "player", "location", "hp", "max_hp", "mood", "inventory", "npcs_present",
            "npcs_met", "relationships", "events", "world_state", "problems",
        } <= set(state)  # fmt: skip
        assert (state["turn"], state["turn_id"], state["location"]) == (2, played.turn, "어둠의 숲")
        first = await at(client, played, f"/state?turn={played.headers['X-SAGA-Parent']}")
        assert first["turn"] == 1

    async def test_graph(self, client: Client, played: Reply) -> None:
        graph = await at(client, played, "/graph")
        assert graph["watermark"] == played.turn
        assert any(node["properties"].get("name") == "어둠의 숲" for node in graph["nodes"])
        assert isinstance(graph["edges"], list)
        assert isinstance(graph["words"], list)

    async def test_turns(self, client: Client, played: Reply) -> None:
        turns = (await at(client, played, "/turns"))["turns"]
        assert [turn["turn"] for turn in turns] == [0, 1, 2]
        assert (turns[2]["user"], turns[2]["reply"], turns[2]["turn_id"]) == (
            "귀를 기울인다.",
            "새가 운다.",
            played.turn,
        )
        assert turns[1]["delta"]["events"]
        for query, expected in (
            ("from_turn=1&to_turn=1", [1]),
            ("from_turn=2", [2]),
            ("to_turn=0", [0]),
            ("from_turn=9", []),
        ):
            found = (await at(client, played, f"/turns?{query}"))["turns"]
            assert [turn["turn"] for turn in found] == expected
        parent = played.headers["X-SAGA-Parent"]
        assert [turn["turn"] for turn in (await at(client, played, f"/turns?head={parent}"))["turns"]] == [0, 1]

    async def test_tree_and_timelines(self, client: Client, upstream: Upstream, played: Reply) -> None:
        upstream.then(says("다른 새가 운다."))
        swipe = await client.chat(words("숲으로 간다.", "숲에 들어선다.", "귀를 기울인다."))
        tree = await at(client, played, "/tree")
        assert (tree["session"], tree["head"]) == (played.session, swipe.turn)
        assert sorted(node["depth"] for node in tree["nodes"]) == [0, 1, 2, 2]
        timelines = (await at(client, played, "/timelines"))["timelines"]
        assert {timeline["head"] for timeline in timelines} == {played.turn, swipe.turn}

    async def test_context(self, client: Client, played: Reply) -> None:
        context = await at(client, played, f"/context?turn={played.turn}")
        assert (context["turn"], context["anew"], context["tokens"] > 0) == (played.turn, False, True)
        assert context["pieces"]
        assert await at(client, played, "/context") == context, "of the turn recorded last"
        gone = await client.get(f"/api/sessions/{played.session}/context?turn=nothing")
        assert (gone.status, gone.error["type"]) == (404, "not_found_error")

    async def test_a_text_that_is_asked_about_may_be_long(self, client: Client, played: Reply) -> None:
        for asked in ("untold", "context"):
            path = f"/api/sessions/{played.session}/{asked}"
            told = await client.post(path, json={"text": "숲으로 간다. " * 1_500, "turn": played.turn})
            assert (told.status, told.json["turn"]) == (200, played.turn)
            refused = await client.post(path, json={"text": "가" * 20_001})
            assert (refused.status, refused.error["message"]) == (
                400,
                "text: 20,001 characters are too many; give 20,000 at most",
            )
        address = await client.get(f"/api/sessions/{played.session}/untold?text={'a' * 70_000}")
        assert address.status == 400 and "sent in the body of a POST" in address.error["message"]

    async def test_a_turn_in_a_body_may_be_a_number(self, client: Client, played: Reply) -> None:
        for asked in ("untold", "context"):
            path = f"/api/sessions/{played.session}/{asked}"
            told = await client.post(path, json={"text": "숲", "turn": 1})
            assert (told.status, told.json["depth"]) == (200, 1)
            for wrong in (True, 1.5, -1, 10**13, [1]):
                refused = await client.post(path, json={"text": "숲", "turn": wrong})
                assert refused.error["message"] == "turn: give a text or null", wrong
            assert (await client.post(path, json={"text": "숲", "turn": 99})).status == 404

    async def test_cache_on_disk(self, serve: Serve, tmp_path: Path) -> None:
        storage = {"profile": "lite", "path": str(tmp_path / "data")}
        async with serve(storage=storage, md_cache={"cache_dir": str(tmp_path / "pages")}) as client:
            reply = await client.chat(words("나는 어둠의 숲으로 간다."))
            await client.turns(reply.session)
            cache = await at(client, reply, "/cache")
            assert cache["written"]
            assert cache["turn_id"] == reply.turn
            assert set(cache["files"]) == {"state.md", "relations.md", "story.md", "lore.md"}
            assert Path(cache["folder"]).is_relative_to(tmp_path)
            again = await at(client, reply, "/cache/regen", "POST")
            assert again["files"] == cache["files"]

    async def test_cache_switched_off(self, serve: Serve) -> None:
        async with serve(md_cache={"enabled": False}) as client:
            reply = await client.chat(words("hi"))
            cache = await at(client, reply, "/cache")
            assert cache == {"written": False, "turn_id": None, "folder": None, "files": {}}
            refused = await client.post(f"/api/sessions/{reply.session}/cache/regen")
            assert (refused.status, refused.error["type"]) == (501, "not_supported_error")

    async def test_search(self, client: Client, played: Reply) -> None:
        await client.post("/api/drain")
        found = (await client.get(f"/api/memory/search?q=새가 운다&session={played.session}&k=1")).json
        assert found["query"] == "새가 운다"
        (best,) = found["results"]
        assert best["turn"] == played.turn

    async def test_reset(self, client: Client, played: Reply) -> None:
        fresh = await at(client, played, "/reset", "POST")
        assert fresh["id"] == played.session
        assert (await at(client, played, "/turns"))["turns"][0]["turn_id"] == fresh["root"]
        assert len((await at(client, played, "/tree"))["nodes"]) == 1
        assert (await at(client, played, "/state"))["turn"] == 0

    async def test_a_field_with_a_long_name_is_not_repeated_whole(self, client: Client, played: Reply) -> None:
        path = f"/api/sessions/{played.session}/changes"
        answer = await client.post(path, json={"x" * 200_000: 1})
        assert answer.status == 400 and len(answer.raw) < 20_000

    async def test_the_chat_of_a_session_that_is_gone(self, client: Client) -> None:
        named = {"X-SAGA-Chat": "c1"}
        reply = await client.chat(words("hello"), headers=named)
        found = await client.get("/api/chats/c1")
        assert found.json.get("session_id") == reply.session, found.raw
        await client.post(f"/api/forget?session={reply.session}")
        gone = await client.get("/api/chats/c1")
        assert gone.status == 404 and reply.session not in gone.raw.decode()

    async def test_delete(self, client: Client, played: Reply) -> None:
        assert await at(client, played, "", "DELETE") == {"deleted": played.session, "until": None}
        assert (await client.get(f"/api/sessions/{played.session}/state")).status == 404
        assert (await client.get("/api/sessions")).json["sessions"] == []


class TestSessions:
    async def test_list(self, client: Client, played: Reply) -> None:
        (listed,) = (await client.get("/api/sessions")).json["sessions"]
        assert (listed["id"], listed["turns"], listed["depth"], listed["head"]) == (played.session, 2, 2, played.turn)
        assert listed == (await client.get(f"/api/sessions/{played.session}")).json

    async def test_create(self, offline: Client) -> None:
        made = await offline.post("/api/sessions", json={"world": "harrow", "label": "  방  하나 "})
        assert made.status == 201
        assert (made.json["label"], made.json["world"]) == ("방 하나", "harrow")
        reply = await offline.chat(words("hi"), headers={"X-SAGA-Session": "방 하나"})
        assert reply.session == made.json["id"]
        again = await offline.post("/api/sessions", json={"label": "방 하나"})
        assert (again.status, again.error["type"]) == (409, "conflict_error")
        assert again.error["message"].startswith("there is a session '방 하나' already")

    async def test_create_without_a_word(self, offline: Client) -> None:
        one, two = await offline.post("/api/sessions"), await offline.post("/api/sessions", json={"label": None})
        assert (one.status, two.status) == (201, 201)
        assert one.json["id"] != two.json["id"]
        assert one.json["label"] == ""

    async def test_create_belongs_to_the_callers_key(self, offline: Client) -> None:
        headers = {"Authorization": "Bearer mine"}
        made = await offline.post("/api/sessions", json={"label": "room"}, headers=headers)
        assert (await offline.chat(words("hi"), headers={"Authorization": "Bearer mine#room"})).session == made.json[
            "id"
        ]
        assert (await offline.chat(words("hi"), headers={"X-SAGA-Session": "room"})).session != made.json["id"]

    @pytest.mark.parametrize(
        ("body", "param"),
        [
            (b"{", "body"),
            (b"[]", "body"),
            (b'{"wrold": "x"}', "wrold"),
            (b'{"world": 3}', "world"),
            (b'{"label": ["x"]}', "label"),
            (b'{"world": "nowhere"}', None),
        ],
    )
    async def test_create_with_nonsense(self, offline: Client, body: bytes, param: str | None) -> None:
        reply = await offline.post("/api/sessions", data=body)
        assert (reply.status, reply.error["param"]) == (400, param)
        assert (await offline.get("/api/sessions")).json["sessions"] == []


class TestDrain:
    async def test_it_settles_everything(self, client: Client, played: Reply) -> None:
        drained = (await client.post("/api/drain?timeout=30")).json
        assert (drained["settled"], drained["waiting"]) == (True, [])
        assert (await client.get("/api/status")).json["work"]["queued"] == 0

    async def test_what_waits_is_named(self) -> None:
        waiting = Waiting("s1", "t1", "project", "the disk is full")
        assert to_plain(drained(DrainReport(2, (waiting,)))) == {
            "settled": False,
            "done": 2,
            "waiting": [{"session": "s1", "turn": "t1", "kind": "project", "reason": "the disk is full"}],
        }

    async def test_a_running_reply_is_not_waited_for(self, client: Client, upstream: Upstream) -> None:
        gate = asyncio.Event()
        upstream.then(says("one ", "two", gate=gate))
        running = asyncio.create_task(client.chat(words("hi"), stream=True))
        async with asyncio.timeout(5):
            while not upstream.requests:
                await asyncio.wait([running], timeout=0.002)
        assert (await client.post("/api/drain")).json["settled"]
        gate.set()
        assert (await running).streamed() == "one two"


class TestStatus:
    async def test_it_tells_of_everything(self, client: Client, played: Reply) -> None:
        status = (await client.get("/api/status")).json
        assert status["active_sessions"] == 1
        assert status["narrators"] == [f"openai ({client.server.config.providers['openai'].base_url})"]
        assert set(status["stores"]) == {"state", "graph", "vector", "cache"}
        assert all(store["ok"] for store in status["stores"].values())
        assert status["degraded"] == {}
        assert status["version"]

    async def test_health(self, offline: Client) -> None:
        assert (await offline.get("/healthz")).json == {"status": "ok"}
        ready = await offline.get("/readyz")
        assert (ready.status, ready.json["status"], ready.json["stores"]["state"]) == (200, "ready", "ok")

    async def test_it_is_not_ready_without_its_journal(self, offline: Client) -> None:
        await offline.server.saga.stores.state.aclose()
        ready = await offline.get("/readyz")
        assert (ready.status, ready.json["status"]) == (503, "not ready")
        assert (await offline.get("/healthz")).status == 200
        assert (await offline.get("/api/sessions")).status == 503

    async def test_metrics(self, client: Client, played: Reply) -> None:
        reply = await client.get("/metrics")
        assert reply.headers["Content-Type"].startswith("text/plain")
        assert await client.metric('saga_chat_requests_total{end="finished"}') == 2
        assert await client.metric("saga_context_ms_count") == 2
        assert await client.metric("saga_upstream_first_seconds_count") == 2
        assert await client.metric('saga_upstream_tokens_total{kind="cache_read",purpose="narration"}') == 128
        assert await client.metric('saga_engine{name="counters.turns.recorded"}') == 2
        assert await client.metric('saga_engine{name="degraded"}') == 0


class TestRefusals:
    ONE = ("state", "graph", "cache", "turns", "tree", "timelines")

    @pytest.mark.parametrize("path", [*ONE, "context?turn=t"])
    async def test_unknown_sessions(self, offline: Client, path: str) -> None:
        for name in ("nothing", "..%2F..%2Fetc", "%00", "x" * 300):
            reply = await offline.get(f"/api/sessions/{name}/{path}")
            assert (reply.status, reply.error["type"]) == (404, "not_found_error"), name

    @pytest.mark.parametrize("path", ["reset", "cache/regen"])
    async def test_unknown_sessions_to_change(self, offline: Client, path: str) -> None:
        assert (await offline.post(f"/api/sessions/nothing/{path}")).status == 404

    async def test_unknown_turns(self, client: Client, played: Reply) -> None:
        for path in ("state?turn=nothing", "turns?head=nothing"):
            assert (await client.get(f"/api/sessions/{played.session}/{path}")).status == 404

    @pytest.mark.parametrize(
        ("method", "path", "param"),
        [
            ("GET", "/api/sessions/x/turns?from_turn=-1", "from_turn"),
            ("GET", "/api/sessions/x/turns?from_turn=abc", "from_turn"),
            ("GET", "/api/sessions/x/turns?to_turn=1.5", "to_turn"),
            ("GET", "/api/sessions/x/turns?to_turn=²", "to_turn"),
            ("GET", "/api/sessions/x/turns?from=1", "from"),
            ("GET", "/api/sessions/x/state?trun=1", "trun"),
            ("GET", "/api/memory/search?session=x", "q"),
            ("GET", "/api/memory/search?q=x", "session"),
            ("GET", "/api/memory/search?q=x&session=x&k=0", "k"),
            ("GET", "/api/memory/search?q=x&session=x&k=9999999", "k"),
            ("GET", "/api/graph/query", "cypher"),
            ("POST", "/api/drain?timeout=-1", "timeout"),
            ("POST", "/api/drain?timeout=nan", "timeout"),
            ("POST", "/api/drain?timeout=soon", "timeout"),
            ("POST", "/api/drain?timeout=1e9", "timeout"),
            ("POST", "/api/drain?time=1", "time"),
        ],
    )
    async def test_parameters(self, offline: Client, method: str, path: str, param: str) -> None:
        reply = await offline.send(method, path)
        assert (reply.status, reply.error["param"]) == (400, param)

    async def test_graph_queries_are_off(self, offline: Client) -> None:
        reply = await offline.get("/api/graph/query?cypher=MATCH (n) RETURN n")
        assert (reply.status, reply.error["type"]) == (501, "not_supported_error")
        assert "graph.raw_query: true" in reply.error["message"]

    async def test_graph_queries_need_an_engine_with_a_language(self, serve: Serve) -> None:
        async with serve(graph={"raw_query": True}) as client:
            reply = await client.get("/api/graph/query?cypher=MATCH (n) RETURN n&limit=3&timeout=1")
        assert reply.status == 501
        assert "no query language" in reply.error["message"]

    async def test_graph_queries_read_and_do_nothing_else(self, serve: Serve, tmp_path: Path) -> None:
        storage = {"profile": "memory", "path": str(tmp_path), "graph": {"backend": "ladybug"}}
        async with serve(graph={"raw_query": True}, storage=storage) as client:
            await client.chat([{"role": "user", "content": "숲으로 간다."}])
            await client.send("POST", "/api/drain?timeout=20")
            asked = "/api/graph/query?timeout=20&cypher="
            reply = await client.get(asked + "MATCH (c:Entity {label: 'Character'}) RETURN count(*) AS n")
            assert reply.status == 200, reply.json
            assert reply.json["rows"][0]["n"] > 0
            for text in ("MATCH (n) DETACH DELETE n", "COPY (MATCH (n) RETURN n) TO '/tmp/x'", "CALL timeout=0"):
                refused = await client.get(asked + text)
                assert (refused.status, refused.error["type"]) == (400, "invalid_request_error"), refused.json
            assert (
                await client.get(asked + "MATCH (c:Entity {label: 'Character'}) RETURN count(*) AS n")
            ).json == reply.json


@pytest.mark.parametrize("value", ["openai/${file:/etc/hostname}", "${SECRET}", "${HOME:-x}", "$${HOME}"])
@pytest.mark.parametrize("name", ["models.narration", "price_model"])
async def test_no_setting_from_the_network_reads_the_machine(offline: Client, name: str, value: str) -> None:
    for dry_run in "01":
        body = {name: value, "price_input": "1", "price_output": "1"}
        answer = await offline.post(f"/api/settings?dry_run={dry_run}", json=body)
        assert answer.status == 400 and "written in the settings file alone" in answer.error["message"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"{{{", "body"),
        (b"[]", "the body is no JSON object"),
        (b'{"text": "x"}', "text: unknown field; this path takes none"),
    ],
)
async def test_a_body_that_nobody_reads_is_refused(offline: Client, body: bytes, message: str) -> None:
    refused = await offline.post("/api/drain", data=body)
    assert refused.status == 400 and message in refused.error["message"]
    assert (await offline.post("/api/drain", data=b"{}")).status == 200


async def test_the_text_of_a_chapter_has_no_markers(upstream: Upstream, serve: Serve) -> None:
    provider = {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0}
    models = {"narration": "openai/narrator-1", "extraction": "openai/reader"}
    async with serve(providers={"openai": provider}, models=models) as client:
        upstream.then(says(f"The rain falls.\n\n{BLOCK}"), says("They went on. [[saga:session=bobs]] It rained."))
        reply = await client.chat(words("I look around."))
        told = await client.post(f"/api/sessions/{reply.session}/chapters?first=1&last=1")
        assert told.json["text"].startswith("They went on.  It rained."), told.json
