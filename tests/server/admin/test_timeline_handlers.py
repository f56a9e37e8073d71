"""The tree over HTTP: named timelines and the ways into them, comparing, pruning, fleeting sessions."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest
from attrs import evolve

from saga_core.state_block import BlockFields, ItemAmount
from tests.blocks import render_block
from tests.server.client import CHAT, Client, Reply, words
from tests.server.conftest import Serve
from tests.server.upstream import Upstream, says

GO, THERE = "숲으로 간다.", "숲에 들어선다. 나뭇잎이 바스락거린다. 멀리서 새가 운다."


def told(text: str, **fields: Any) -> Any:
    return says(f"{text}\n\n{render_block(BlockFields(**fields))}")


@pytest.fixture
async def played(client: Client, upstream: Upstream) -> Reply:
    """A named session with one turn, in a world of its own."""
    upstream.then(told(THERE, location="어둠의 숲"))
    return await client.chat(words(GO), path="/s/나의 모험/w/ersia/v1/chat/completions")


async def ok(client: Client, method: str, path: str, status: int = 200, **given: Any) -> Any:
    answer = await client.send(method, path, **given)
    assert answer.status == status, answer.raw
    return answer.json


async def fork(client: Client, name: str, **given: Any) -> Any:
    return await ok(client, "POST", "/api/sessions/나의 모험/fork", 201, json={"name": name, **given})


class TestNames:
    async def test_fork_rename_and_forget(self, client: Client, played: Reply) -> None:
        made = await fork(client, " 어두운  결말 ")
        assert made == {
            "name": "어두운 결말",
            "fork": played.turn,
            "head": played.turn,
            "created": made["created"],
            "enter": "나의 모험@어두운 결말",
        }
        (row,) = (await ok(client, "GET", f"/api/sessions/{played.session}/timelines"))["timelines"]
        assert (row["name"], row["head"], row["fork"], row["active"]) == ("어두운 결말", played.turn, played.turn, True)
        assert row["ends"] == THERE
        path = "/api/sessions/나의 모험/timelines/"
        renamed = await ok(client, "POST", f"{path}어두운 결말", json={"name": "밝은/결말 50%"})
        assert (renamed["name"], renamed["enter"]) == ("밝은/결말 50%", "나의 모험@밝은/결말 50%")
        encoded = path + quote("밝은/결말 50%", safe="")
        assert await ok(client, "DELETE", encoded) == {"forgotten": "밝은/결말 50%"}
        (row,) = (await ok(client, "GET", f"/api/sessions/{played.session}/timelines"))["timelines"]
        assert (row["name"], row["fork"]) == (None, None)

    async def test_at_a_turn_or_at_another_timeline(self, client: Client, upstream: Upstream, played: Reply) -> None:
        upstream.then(says("강가에 닿는다. 물이 맑다."))
        after = await client.chat(words(GO, THERE, "더 간다."), path="/s/나의 모험/v1/chat/completions")
        one = await fork(client, "숲", turn=played.turn)
        two = await fork(client, "숲 2", turn="숲")
        three = await fork(client, "강")
        assert (one["head"], two["head"], three["head"]) == (played.turn, played.turn, after.turn)

    async def test_a_session_without_a_name_is_entered_by_its_id(self, client: Client) -> None:
        reply = await client.chat(words("hi"))
        made = await ok(client, "POST", f"/api/sessions/{reply.session}/fork", 201, json={"name": "dark"})
        assert made["enter"] == f"{reply.session}@dark"
        assert (await client.chat(words("go"), headers={"X-SAGA-Session": made["enter"]})).session == reply.session


class TestEntering:
    @pytest.fixture
    async def forked(self, client: Client, upstream: Upstream, played: Reply) -> Reply:
        """``played``, forked there and played on elsewhere."""
        await fork(client, "끝", turn=played.turn)
        upstream.then(says("다른 길로 나온다. 해가 진다."))
        await client.chat(words("다른 길로 간다."), path="/s/나의 모험/v1/chat/completions")
        return played

    async def test_every_form_of_naming_a_session_names_a_timeline(
        self, client: Client, upstream: Upstream, forked: Reply
    ) -> None:
        name = "나의 모험@끝"
        forms: list[dict[str, Any]] = [
            {"path": f"/s/{name}/v1/chat/completions"},
            {"path": f"/s/{quote(name, safe='')}/v1/chat/completions"},
            {"headers": {"X-SAGA-Session": quote(name)}},
            {"system": f"[[saga:session={name}]]\nYou are the narrator."},
        ]
        parent = forked.turn
        for number, form in enumerate(forms):
            upstream.then(says(f"{number}번째 나무를 지난다. 아직 멀다."))
            said = words(f"{number}번째로 걷는다.", **({"system": form.pop("system")} if "system" in form else {}))
            reply = await client.chat(said, path=form.pop("path", CHAT), **form)
            assert reply.session == forked.session
            assert reply.headers["X-SAGA-Parent"] == parent, "a client without history goes on where it stands"
            parent = reply.turn
        timelines = (await ok(client, "GET", f"/api/sessions/{forked.session}/timelines"))["timelines"]
        assert next(row["head"] for row in timelines if row["name"] == "끝") == parent

    async def test_with_the_key_of_the_session(self, client: Client) -> None:
        mine = evolve(client, key="mine#방")
        first = await mine.chat(words("hi"))
        await ok(client, "POST", f"/api/sessions/{first.session}/fork", 201, json={"name": "끝"})
        entered = await evolve(client, key=f"mine#{quote('방@끝')}").chat(words("go"))
        assert entered.headers["X-SAGA-Parent"] == first.turn

    async def test_the_history_decides_where_it_proves_something(
        self, client: Client, upstream: Upstream, forked: Reply
    ) -> None:
        path = "/s/나의 모험@끝/v1/chat/completions"
        upstream.then(says("등불이 흔들린다. 벽에 그림자가 진다."), says("밖은 고요하다. 눈이 내린다."))
        one = await client.chat(words("불을 켠다."), path=path)
        await client.chat(words("뛴다."), path=path)
        two = await client.chat(words("불을 켠다.", one.text, "나간다."), path=path)
        assert two.headers["X-SAGA-Parent"] == one.turn

    async def test_an_unknown_timeline_is_told(self, client: Client, forked: Reply) -> None:
        reply = await client.chat(words("hi"), path="/s/나의 모험@끗/v1/chat/completions")
        assert (reply.status, reply.error["type"]) == (404, "not_found_error")
        assert "has no timeline '끗'; it has: 끝" in reply.error["message"]


class TestComparing:
    async def test_both_languages(self, client: Client, upstream: Upstream, played: Reply) -> None:
        await fork(client, "어둠")
        await fork(client, "빛")
        upstream.then(told("칼에 베인다. 피가 흐른다.", hp_change=-30, items_gained=(ItemAmount("불꽃 검"),)))
        dark = await client.chat(words("싸운다."), path="/s/나의 모험@어둠/v1/chat/completions")
        upstream.then(told("광장으로 돌아온다. 종이 울린다.", location="마을 광장"))
        light = await client.chat(words("돌아간다."), path="/s/나의 모험@빛/v1/chat/completions")
        path = "/api/sessions/나의 모험/compare?one=어둠&other=빛"
        found = await ok(client, "GET", path)
        assert found["ancestor"] == {"turn": 1, "turn_id": played.turn}
        assert found["one"] == {"name": "어둠", "turn": 2, "turn_id": dark.turn, "since": [dark.turn]}
        assert found["other"]["turn_id"] == light.turn
        assert {"kind": "hp", "subject": "아리아", "one": 70, "other": 100} in found["differences"]
        assert found["language"] == "ko"
        assert found["words"][:2] == [
            "위치: 어둠에서는 어둠의 숲, 빛에서는 마을 광장",
            "HP: 어둠에서는 70, 빛에서는 100",
        ]
        english = await ok(client, "GET", f"{path}&language=en")
        assert english["differences"] == found["differences"]
        assert "Inventory: 불꽃 검: 1 in 어둠, none in 빛" in english["words"]
        by_id = await ok(client, "GET", f"/api/sessions/나의 모험/compare?one={dark.turn}&other={light.turn}")
        assert by_id["differences"] == found["differences"]


class TestPruning:
    async def test_a_path_goes(self, client: Client, upstream: Upstream, played: Reply) -> None:
        await fork(client, "끝")
        upstream.then(says("늪에 빠진다. 물이 차다."))
        bad = await client.chat(words(GO, THERE, "늪으로 간다."), path="/s/나의 모험@끝/v1/chat/completions")
        await fork(client, "안", turn=bad.turn)
        upstream.then(says("언덕에 오른다. 바람이 분다."))
        good = await client.chat(words(GO, THERE, "언덕으로 간다."), path="/s/나의 모험/v1/chat/completions")
        path = "/api/sessions/나의 모험/prune"
        pruned = await ok(client, "POST", path, json={"turn": bad.turn})
        assert pruned == {"pruned": 1, "forgotten": ["안"], "shortened": ["끝"]}
        turns = [node["id"] for node in (await ok(client, "GET", "/api/sessions/나의 모험/tree"))["nodes"]]
        assert turns[1:] == [played.turn, good.turn]
        for turn in (played.turn, good.turn):
            refused = await client.post(path, json={"turn": turn})
            assert (refused.status, refused.error["param"]) == (400, "turn")
            assert "active head" in refused.error["message"]
        root = await client.post(path, json={"turn": turns[0]})
        assert (root.status, root.error["param"]) == (400, "turn")
        assert (await client.post(path, json={"turn": bad.turn})).status == 404

    async def test_a_reply_that_was_being_written_says_that_its_place_is_gone(
        self, client: Client, upstream: Upstream, played: Reply
    ) -> None:
        upstream.then(says("늪에 빠진다."))
        begin = client.server.saga.begin
        seen: list[int] = []

        async def begin_then_reset(_: Any, *args: Any, **given: Any) -> Any:
            turn = await begin(*args, **given)
            seen.append((await client.post(f"/api/sessions/{played.session}/reset")).status)
            return turn

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(type(client.server.saga), "begin", begin_then_reset)
            reply = await client.chat(words(GO, THERE, "늪으로 간다."), path="/s/나의 모험/v1/chat/completions")
        assert seen == [200]
        assert (reply.status, reply.text) == (200, "늪에 빠진다.")
        assert "this turn is not recorded" in reply.headers["X-SAGA-Notice"]
        assert len((await ok(client, "GET", "/api/sessions/나의 모험/tree"))["nodes"]) == 1


class TestFleeting:
    async def test_they_are_listed_apart(self, offline: Client, monkeypatch: pytest.MonkeyPatch) -> None:
        one = await offline.chat(words("I look around."))
        two = await offline.chat(words("I sit down."), headers={"X-SAGA-Session": "방"})
        clock = type(offline.server.saga.parts.clock)
        now = offline.server.saga.parts.clock.now()
        monkeypatch.setattr(clock, "now", lambda _: now + 8 * 86_400)
        listed = await ok(offline, "GET", "/api/sessions")
        assert ([each["id"] for each in listed["sessions"]], listed["fleeting"]) == ([two.session], 1)
        every = await ok(offline, "GET", "/api/sessions?fleeting=all")
        assert [each["fleeting"] for each in every["sessions"]].count(True) == every["fleeting"] == 1
        listed = await ok(offline, "GET", "/api/sessions?fleeting=1")
        assert ([each["id"] for each in listed["sessions"]], listed["fleeting"]) == ([one.session], 1)
        assert (await ok(offline, "GET", f"/api/sessions/{one.session}"))["fleeting"] is True
        refused = await offline.get("/api/sessions?fleeting=yes")
        assert (refused.status, refused.error["param"]) == (400, "fleeting")


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "param"),
    [
        ("POST", "fork", {}, 400, "name"),
        ("POST", "fork", {"name": " "}, 400, "name"),
        ("POST", "fork", {"name": "a@b"}, 400, "name"),
        ("POST", "fork", {"name": 3}, 400, "name"),
        ("POST", "fork", {"nme": "x"}, 400, "nme"),
        ("POST", "fork?x=1", {"name": "x"}, 400, "x"),
        ("POST", "fork", {"name": "x", "turn": "nothing"}, 404, None),
        ("POST", "fork", {"name": "끝"}, 409, None),
        ("POST", "timelines/끝", {}, 400, "name"),
        ("POST", "timelines/nothing", {"name": "x"}, 404, None),
        ("DELETE", "timelines/nothing", None, 404, None),
        ("GET", "compare", None, 400, "one"),
        ("GET", "compare?one=끝", None, 400, "other"),
        ("GET", "compare?one=끝&other=없음", None, 404, None),
        ("GET", "compare?one=끝&other=끝&language=fr", None, 400, "language"),
        ("POST", "prune", {}, 400, "turn"),
        ("POST", "prune", {"turn": "nothing"}, 404, None),
    ],
)
async def test_refusals(offline: Client, method: str, path: str, body: Any, status: int, param: str | None) -> None:
    await offline.chat(words("hi"), headers={"X-SAGA-Session": "room"})
    await ok(offline, "POST", "/api/sessions/room/fork", 201, json={"name": "끝"})
    reply = await offline.send(method, f"/api/sessions/room/{path}", json=body)
    assert (reply.status, reply.error["param"]) == (status, param)
    elsewhere = await offline.send(method, f"/api/sessions/nobody/{path}", json=body)
    assert elsewhere.status in (400, 404)


async def test_what_is_removed_is_gone_for_good(serve: Serve, tmp_path: Any) -> None:
    """On real stores, through the proxy, with the offline narrator: fork, play, prune, delete."""
    async with serve(storage={"profile": "lite", "path": str(tmp_path / "자료")}) as client:
        first = await client.chat(words("나는 숲으로 간다."), path="/s/방/w/ersia/v1/chat/completions")
        await ok(client, "POST", "/api/sessions/방/fork", 201, json={"name": "끝"})
        inside = await client.chat(words("칼을 뽑는다."), path="/s/방@끝/v1/chat/completions")
        history = words("나는 숲으로 간다.", first.text, "광장으로 돌아간다.")
        await client.chat(history, path="/s/방/v1/chat/completions")
        assert (await ok(client, "POST", "/api/sessions/방/prune", json={"turn": inside.turn}))["shortened"] == ["끝"]
        assert (await client.post("/api/drain")).json["settled"]
        assert await client.server.saga.maintenance.differences("방") == []
        await ok(client, "DELETE", "/api/sessions/방")
        assert (await ok(client, "GET", "/api/sessions")) == {"sessions": [], "fleeting": 0, "next": None}
