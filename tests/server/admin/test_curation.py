"""Curation over HTTP: a model reviews the story behind the replies, badly at times, and all of it can be undone."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.server.client import Client, words
from tests.server.conftest import Serve
from tests.server.upstream import Step, Upstream, fails, says

INTERVAL = 3


@pytest.fixture
async def small() -> AsyncIterator[Upstream]:
    async with Upstream() as server:
        server.otherwise = calls(("finish", {}))
        yield server


def settings(upstream: Upstream, small: Upstream, **curator: Any) -> dict[str, Any]:
    return {
        "providers": {
            "openai": {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0},
            "cheap": {"base_url": small.url, "api_key": "sk-small", "max_retries": 0},
        },
        "models": {"curator": "cheap/judge-1"},
        "curator": {"interval": INTERVAL, **curator},
    }


@pytest.fixture
async def reviewing(upstream: Upstream, small: Upstream, serve: Serve) -> AsyncIterator[Client]:
    async with serve(**settings(upstream, small)) as found:
        yield found


@pytest.fixture
async def asking_once(upstream: Upstream, small: Upstream, serve: Serve) -> AsyncIterator[Client]:
    async with serve(**settings(upstream, small, backend="direct")) as found:
        yield found


def calls(*wanted: tuple[str, dict[str, Any] | str]) -> Step:
    """An answer that calls tools."""
    made = [
        {
            "id": f"call_{at}",
            "type": "function",
            "function": {"name": name, "arguments": given if isinstance(given, str) else json.dumps(given)},
        }
        for at, (name, given) in enumerate(wanted)
    ]
    return says("", finish="tool_calls", extra={"tool_calls": made})


async def play(client: Client, upstream: Upstream, turns: int, start: int = 0, past: tuple[str, ...] = ()) -> Any:
    said = list(past)
    for number in range(start, start + turns):
        spoken, reply = f"{number}번째 길로 간다.", f"{number}번째 골목은 어둡고 길다. 바람이 {number}번 분다."
        upstream.then(says(f"{reply}\n\n```state\nnotes: {number}번째 골목\n```"))
        last = await client.chat(words(*said, spoken))
        said += [spoken, reply]
    return last.session, tuple(said)


async def curation(client: Client, session: str) -> dict[str, Any]:
    assert (await client.post("/api/drain")).json["settled"]
    found: dict[str, Any] = (await client.get(f"/api/sessions/{session}/curation")).json
    return found


async def test_the_model_keeps_its_memory_and_its_proposals_are_journaled(
    reviewing: Client, upstream: Upstream, small: Upstream
) -> None:
    small.then(
        calls(
            ("memory_replace", {"block": "narrative_summary", "text": "그는 골목을 헤맨다."}),
            ("schedule_event", {"name": "종이 울린다", "due": 9, "expires": 12}),
        ),
        calls(
            ("tell_story", {"first": 1, "last": 3, "text": "골목을 셋 지났다."}),
            ("learn_lore", {"entry": "골목", "text": "끝이 없다.", "turns": [2]}),
            ("report_contradiction", {"summary": "바람이 두 번 불었다.", "turns": [1, 2], "who": []}),
        ),
        calls(("finish", {})),
    )
    session, said = await play(reviewing, upstream, INTERVAL)
    found = await curation(reviewing, session)
    assert found["blocks"]["narrative_summary"] == {"text": "그는 골목을 헤맨다.", "version": 1, "since": 3}
    assert found["lore"] == {"골목": "끝이 없다."}
    assert [each["name"] for each in found["schedule"]] == ["종이 울린다"]
    assert found["story"][0]["text"].startswith("골목을 셋 지났다.")
    assert [each["text"] for each in found["findings"]] == ["바람이 두 번 불었다."]
    assert len(small.requests) == 3
    assert all(request.body["model"] == "judge-1" and request.body["tools"] for request in small.requests)
    assert "그는 골목을 헤맨다." in small.requests[1].text, "each step sees its memory as it is by now"
    small.then(
        calls(("memory_append", {"block": "narrative_summary", "text": "아직도."})),
        calls(("decide", {"finding": found["findings"][0]["key"], "verdict": "deliberate"}), ("finish", {})),
    )
    await play(reviewing, upstream, INTERVAL, INTERVAL, said)
    later = await curation(reviewing, session)
    assert "그는 골목을 헤맨다." in small.requests[3].text, "today's review knows yesterday's"
    assert later["blocks"]["narrative_summary"]["text"] == "그는 골목을 헤맨다.\n아직도."
    assert later["blocks"]["narrative_summary"]["version"] == 2
    assert [each["verdict"] for each in later["findings"]] == ["deliberate"]


async def test_what_was_accepted_is_undone_and_the_undoing_too(
    reviewing: Client, upstream: Upstream, small: Upstream
) -> None:
    small.then(calls(("learn_lore", {"entry": "골목", "text": "끝이 없다.", "turns": [2]}), ("finish", {})))
    session, _ = await play(reviewing, upstream, INTERVAL)
    assert (await curation(reviewing, session))["lore"] == {"골목": "끝이 없다."}
    path = f"/api/sessions/{session}/changes"
    changes = (await reviewing.get(path)).json["changes"]
    (learned,) = [each for each in changes if each["by"] == "blocks"]
    assert learned["summary"] == "골목: 끝이 없다."
    undone = await reviewing.send("DELETE", f"{path}/{learned['id']}")
    assert undone.json["turn_id"] == learned["turn_id"]
    assert (await curation(reviewing, session))["lore"] == {}
    assert (await reviewing.send("DELETE", f"{path}/{learned['id']}")).status == 400
    assert (await reviewing.send("DELETE", f"{path}/nothing")).status == 404
    undoing = undone.json["change"]
    assert [each["undone"] for each in (await reviewing.get(path)).json["changes"] if each["by"] == "blocks"] == [
        undoing
    ]
    assert (await reviewing.send("DELETE", f"{path}/{undoing}")).status == 200
    assert (await curation(reviewing, session))["lore"] == {"골목": "끝이 없다."}
    assert not any(each["undone"] for each in (await reviewing.get(path)).json["changes"])


@pytest.mark.parametrize("verdict", ["accept", "refuse"])
async def test_what_waits_counts_when_a_person_accepts_it_and_not_before(
    upstream: Upstream, small: Upstream, serve: Serve, verdict: str
) -> None:
    async with serve(**settings(upstream, small, review="ask")) as client:
        small.then(
            calls(
                ("memory_replace", {"block": "narrative_summary", "text": "메모."}),
                ("learn_lore", {"entry": "골목", "text": "끝이 없다.", "turns": [2]}),
                ("finish", {}),
            )
        )
        session, said = await play(client, upstream, INTERVAL)
        found = await curation(client, session)
        assert (found["lore"], found["blocks"]["narrative_summary"]["text"]) == ({}, "메모.")
        path = f"/api/sessions/{session}/changes"
        listed = await client.get(path)
        (waiting,) = [each for each in listed.json["changes"] if each["waiting"]]
        assert waiting["summary"] == "골목: 끝이 없다."
        await play(client, upstream, 1, INTERVAL, said)  # the story goes on meanwhile
        assert (await client.post(f"{path}/{waiting['id']}", json={"verdict": "perhaps"})).status == 400
        tag = (await client.get(path)).headers["ETag"]
        decided = await client.post(f"{path}/{waiting['id']}", json={"verdict": verdict}, headers={"If-Match": tag})
        assert (decided.status, decided.json["turn_id"]) == (200, waiting["turn_id"])
        expected = {"골목": "끝이 없다."} if verdict == "accept" else {}
        assert (await curation(client, session))["lore"] == expected
        (after,) = [each for each in (await client.get(path)).json["changes"] if each["id"] == waiting["id"]]
        assert (after["waiting"], bool(after["undone"])) == (False, verdict == "refuse")
        assert (await client.post(f"{path}/{waiting['id']}", json={"verdict": verdict})).status == 400
        assert (await client.post(f"{path}/nothing", json={"verdict": verdict})).status == 404


async def test_no_model_is_asked_before_the_reply_nor_for_what_is_swiped_away(
    reviewing: Client, upstream: Upstream, small: Upstream
) -> None:
    session, said = await play(reviewing, upstream, INTERVAL)
    await reviewing.server.saga.background.drain_views(5)
    assert small.requests == [], "the last turn is not proved yet"
    upstream.then(says("다른 골목이다."))
    await reviewing.chat(words(*said[:-1]))
    await reviewing.server.saga.background.drain_views(5)
    assert small.requests == []
    await curation(reviewing, session)
    assert len(small.requests) == 1
    await curation(reviewing, session)
    assert len(small.requests) == 1, "a path is reviewed once"


BAD = {
    "prose": says("I think the story is lovely."),
    "broken": says('{"contradictions": [{"summary": "한'),
    "refusal": says("", finish="content_filter"),
    "error": fails(503),
    "fields": says('{"answer": 42}'),
}


@pytest.mark.parametrize("how", BAD)
@pytest.mark.parametrize("backend", ["direct", "blocks"])
async def test_a_model_that_answers_badly_costs_nothing_but_its_review(
    upstream: Upstream, small: Upstream, serve: Serve, how: str, backend: str
) -> None:
    small.otherwise = BAD[how]
    async with serve(**settings(upstream, small, backend=backend)) as client:
        session, said = await play(client, upstream, INTERVAL)
        found = await curation(client, session)
        assert [each["curator"] for each in found["reviews"]] == ["rules"]
        status = (await client.get("/api/status")).json
        assert [(each["curator"], each["session"]) for each in status["curation"]["failed"]] == [(backend, session)]
        assert f"curation.{backend}" in status["degraded"]
        upstream.then(says("비가 온다."))
        next_turn = await client.chat(words(*said, "간다."))
        assert next_turn.status == 200
        small.otherwise = says('{"lore": []}') if backend == "direct" else calls(("finish", {}))
        found = await curation(client, session)
        assert [each["curator"] for each in found["reviews"]] == ["rules", backend]
        status = (await client.get("/api/status")).json
        assert (status["curation"]["failed"], status["degraded"]) == ([], {})


async def test_a_model_that_never_finishes_is_stopped(reviewing: Client, upstream: Upstream, small: Upstream) -> None:
    small.otherwise = calls(("memory_append", {"block": "contradiction_log", "text": "또."}))
    session, _ = await play(reviewing, upstream, INTERVAL)
    found = await curation(reviewing, session)
    assert len(small.requests) == 8
    assert found["blocks"]["contradiction_log"]["text"] == "또.", "the same call again does nothing"
    counters = (await reviewing.get("/api/status")).json["counters"]
    assert (counters["curation.endless"], counters["curation.steps"]) == (1, 8)


async def test_wrong_calls_are_answered_and_can_be_corrected(
    reviewing: Client, upstream: Upstream, small: Upstream
) -> None:
    small.then(
        calls(
            ("learn_lore", {"entry": "골목", "text": "끝이 없다.", "turns": [99]}),
            ("memory_replace", {"block": "diary", "text": "x"}),
            ("memory_replace", {"block": "narrative_summary", "text": "길다" * 2_000}),
            ("dance", {}),
            ("schedule_event", "{broken"),
            ("schedule_event", {"name": "종", "who": "없는 사람"}),
        ),
        calls(("learn_lore", {"entry": "골목", "text": "끝이 없다.", "turns": [2]}), ("finish", {})),
    )
    session, _ = await play(reviewing, upstream, INTERVAL)
    found = await curation(reviewing, session)
    assert (found["lore"], found["blocks"], found["schedule"]) == ({"골목": "끝이 없다."}, {}, [])
    told = small.requests[1].text
    assert told.count("error:") == 6
    assert "99" in told and "diary" in told and "4000" in told and "dance" in told


async def test_a_provider_without_tools_is_asked_for_json(
    reviewing: Client, upstream: Upstream, small: Upstream
) -> None:
    small.then(
        fails(400, "tools are not supported by this model"),
        says('```json\n{"calls": [{"tool": "learn_lore", "entry": "골목", "text": "길다.", "turns": ["2"]},]}\n```'),
        says('{"tool": "finish"}'),
    )
    session, _ = await play(reviewing, upstream, INTERVAL)
    assert (await curation(reviewing, session))["lore"] == {"골목": "길다."}
    assert ["tools" in request.body for request in small.requests] == [True, False, False]


async def test_the_answer_of_one_call_is_repaired_once(
    asking_once: Client, upstream: Upstream, small: Upstream
) -> None:
    answer = {
        "contradictions": [{"summary": "바람이 두 번 불었다.", "turns": [1, "2턴"], "who": ["아무개"]}],
        "story": [{"first": 1, "last": 3, "text": "골목을 셋 지났다."}, {"first": 9, "last": 30, "text": "거짓."}],
        "events": [{"name": "종", "due": 9}],
        "lore": [{"entry": "골목", "text": "길다.", "turns": [2]}, {"entry": "탑", "text": "높다.", "turns": [40]}],
    }
    small.then(
        says("좋은 이야기입니다."), says(f"<think>{{}}</think>다음과 같습니다.\n{json.dumps(answer)}\n이상입니다.")
    )
    session, _ = await play(asking_once, upstream, INTERVAL)
    found = await curation(asking_once, session)
    assert len(small.requests) == 2
    assert (found["lore"], [each["name"] for each in found["schedule"]]) == ({"골목": "길다."}, ["종"])
    (review,) = [each for each in found["reviews"] if each["curator"] == "direct"]
    assert len(review["accepted"]) == 4
    assert [each["reason"] for each in review["refused"]] == [
        "first and last are no turns of the path up to 3",
        "turn '40' was not shown",
    ]


async def test_a_branch_has_a_memory_of_its_own(reviewing: Client, upstream: Upstream, small: Upstream) -> None:
    small.then(calls(("learn_lore", {"entry": "골목", "text": "길다.", "turns": [3]}), ("finish", {})))
    session, said = await play(reviewing, upstream, INTERVAL)
    assert (await curation(reviewing, session))["lore"] == {"골목": "길다."}
    upstream.then(says("다른 골목이다. 여기는 밝다."))
    await reviewing.chat(words(*said[:-1]))
    assert (await curation(reviewing, session))["lore"] == {}
    assert len(small.requests) == 2


async def test_without_a_model_the_named_curator_is_missed_visibly(upstream: Upstream, serve: Serve) -> None:
    async with serve(curator={"backend": "direct"}) as client:
        status = (await client.get("/api/status")).json
        assert status["curation"]["curators"] == ["rules"]
        assert "models.curator" in status["degraded"]["curation.direct"]
    async with serve(curator={"enabled": False}) as client:
        assert (await client.get("/api/status")).json["curation"]["curators"] == []


async def test_a_person_says_once_what_becomes_of_lore_and_takes_it_back(
    upstream: Upstream, small: Upstream, serve: Serve
) -> None:
    def lore(at: int) -> Step:
        return calls(("learn_lore", {"entry": f"골목 {at}", "text": "끝이 없다.", "turns": [at]}), ("finish", {}))

    async with serve(**settings(upstream, small, review="ask")) as client:
        small.then(lore(2))
        session, said = await play(client, upstream, INTERVAL)
        await curation(client, session)
        here = f"/api/sessions/{session}"
        (held,) = [each for each in (await client.get(f"{here}/changes")).json["changes"] if each["waiting"]]
        assert (held["by"], held["kind"]) == ("blocks", "lore")
        listed = await client.get(f"{here}/standing")
        assert listed.json == {"session": session, "rules": []}
        wanted = {"change": held["id"], "verdict": "accept"}
        tag = {"If-Match": listed.headers["ETag"]}
        assert (await client.post(f"{here}/standing", json={**wanted, "verdict": "perhaps"})).status == 400
        assert (await client.post(f"{here}/standing", json={**wanted, "change": "nothing"})).status == 404
        made = await client.post(f"{here}/standing", json=wanted, headers=tag)
        assert (made.status, made.json["by"], made.json["kind"], made.json["verdict"]) == (
            201, "blocks", "lore", "accept",
        )  # fmt: skip
        other = {**wanted, "verdict": "refuse"}
        assert (await client.post(f"{here}/standing", json=other, headers=tag)).status == 412, "another was faster"
        small.then(lore(5))
        _, said = await play(client, upstream, INTERVAL, INTERVAL, said)
        assert (await curation(client, session))["lore"] == {"골목 5": "끝이 없다."}
        found = (await client.get(f"{here}/standing")).json["rules"]
        assert [{"session": session, **each} for each in found] == [made.json]
        rule = f"{here}/standing/{made.json['id']}"
        assert (await client.send("DELETE", rule, headers=tag)).status == 412
        assert (await client.send("DELETE", rule)).json == made.json
        assert (await client.send("DELETE", rule)).status == 404
        small.then(lore(8))
        await play(client, upstream, INTERVAL, 2 * INTERVAL, said)
        assert (await curation(client, session))["lore"] == {"골목 5": "끝이 없다."}
        changes = (await client.get(f"{here}/changes")).json["changes"]
        assert [each["turn"] for each in changes if each["waiting"]] == [3, 9]
