"""Quotas at the doors: what is over them is refused in the words of each API, and says when it is free again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from itertools import product
from typing import Any

import pytest

from saga_core.errors import QuotaExceeded
from tests.server.client import CHAT, Client, Reply, words
from tests.server.conftest import Serve
from tests.server.upstream import Upstream, errors, fails, resets, says

ADMIN = "admin-key-1"
FACTS = {"facts": {"narrator": {"input": 1_000.0, "output": 5_000.0}}}
"""Dollars for a million tokens: one of the upstream's replies costs 20 cents."""


@pytest.fixture
async def admin(serve: Serve, upstream: Upstream) -> AsyncIterator[Client]:
    providers = {"openai": {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0}}
    async with serve(server={"api_keys": [ADMIN]}, providers=providers, models=FACTS) as found:
        found.server.saga.parts.admission.access.meter.clock = _Noon(found.server.saga.parts.clock)
        yield Client(found.server, found.http, ADMIN)


class _Noon:
    """A clock that stands still for whoever counts: no minute ends within a test."""

    def __init__(self, clock: Any) -> None:
        self.at, self.monotonic = 1_700_049_600.0, clock.monotonic

    def now(self) -> float:
        return self.at


async def player(admin: Client, **quotas: str) -> Client:
    made = await admin.post("/api/keys", json={"name": "one", **quotas})
    assert made.status == 201, made.raw
    return Client(admin.server, admin.http, made.json["secret"])


async def use(client: Client) -> dict[str, Any]:
    found: dict[str, Any] = (await client.get("/api/me")).json["key"]["use"]
    return found


async def hang_up(client: Client, upstream: Upstream) -> None:
    """Leave a streamed reply when its first text, which has "rains", has arrived."""
    ask = {"model": "narrator-1", "messages": words("hello"), "stream": True}
    async with client.request("POST", CHAT, json=ask) as response:
        async for line in response.content:
            if b"rains" in line:
                break
    async with asyncio.timeout(20):
        await upstream.gone.wait()


def refused(reply: Reply, quota: str) -> None:
    assert (reply.status, reply.error["type"], reply.error["code"]) == (429, "rate_limit_error", f"quota_{quota}")
    assert reply.error["message"].startswith(f"{quota}: this key may use ")
    assert int(reply.headers["Retry-After"]) >= 1


async def test_turns_a_minute(admin: Client, upstream: Upstream) -> None:
    mina, other = await player(admin, turns_a_minute="2"), await player(admin)
    assert [(await mina.chat(words(f"hello {at}"))).status for at in range(2)] == [200, 200]
    over = await mina.chat(words("hello again"))
    refused(over, "turns_a_minute")
    assert over.headers["Retry-After"] == "60"
    assert len(upstream.requests) == 2, "no model was asked"
    assert (await other.chat(words("hello"))).status == 200, "others go on"
    admin.server.saga.parts.admission.access.meter.clock.at += 60.0  # type: ignore[attr-defined]
    assert (await mina.chat(words("hello again"))).status == 200


async def test_turns_that_come_at_once_are_counted_one_by_one(admin: Client) -> None:
    mina = await player(admin, turns_a_minute="3")
    found = await asyncio.gather(*(mina.chat(words(f"hello {at}")) for at in range(9)))
    assert sorted(each.status for each in found) == [200] * 3 + [429] * 6


async def test_a_double_click_is_one_turn(admin: Client) -> None:
    mina = await player(admin, turns_a_minute="1")
    found = await asyncio.gather(mina.chat(words("hello")), mina.chat(words("hello")))
    assert [each.status for each in found] == [200, 200]
    assert (await use(mina))["turns"] == 1


async def test_tokens_a_day(admin: Client) -> None:
    mina = await player(admin, tokens_a_day="121")
    assert (await mina.chat(words("hello"))).status == 200
    assert (await use(mina))["tokens"] == 120, "as the provider bills"
    assert (await mina.chat(words("hello"))).status == 200, "it begins below the limit"
    over = await mina.chat(words("hello"))
    refused(over, "tokens_a_day")
    assert over.headers["Retry-After"] == str(86_400 - 12 * 3_600)


async def test_money_a_day(admin: Client) -> None:
    mina = await player(admin, dollars_a_day="0.10")
    first = await mina.chat(words("hello"))
    assert (await use(mina))["dollars"] == pytest.approx(float(first.headers["X-SAGA-Cost"]), abs=1e-3)
    refused(await mina.chat(words("hello")), "dollars_a_day")


async def test_requests_that_fail_leave_no_session(admin: Client, upstream: Upstream) -> None:
    mina = await player(admin, sessions="1")
    upstream.then(fails(400), fails(400), fails(503), resets(), says("", usage=None))
    for at, status in enumerate((400, 400, 503, 502, 200)):
        assert (await mina.chat(words(f"hello {at}"))).status == status
        assert (await mina.get("/api/sessions?fleeting=all")).json["sessions"] == []
    upstream.then(errors())
    assert "overloaded" in (await mina.chat(words("hello"), stream=True)).raw.decode()
    assert (await mina.chat(words("hello"))).status == 200, "the provider is back"
    refused(await mina.chat(words("another story")), "sessions")


async def test_an_empty_reply_that_was_paid_for_takes_one_session(admin: Client, upstream: Upstream) -> None:
    mina = await player(admin, sessions="1")
    upstream.then(says(""), says(""))
    for _ in range(3):
        assert (await mina.chat(words("hello"))).status == 200
    (session,) = (await mina.get("/api/sessions?fleeting=all")).json["sessions"]
    assert session["turns"] == 1


async def test_side_requests_count_too(admin: Client) -> None:
    mina = await player(admin, tokens_a_day="100")
    form = {"response_format": {"type": "json_object"}}
    assert (await mina.chat(words("Sum the story up."), **form)).status == 200
    refused(await mina.chat(words("Sum the story up, again."), **form), "tokens_a_day")


async def test_hanging_up_before_the_bill_is_not_for_nothing(admin: Client, upstream: Upstream) -> None:
    mina = await player(admin, tokens_a_day="1")
    upstream.then(says("It rains, and rains. " * 20, "It stops.", gate=asyncio.Event()))
    await hang_up(mina, upstream)
    assert (await admin.post("/api/drain")).json["settled"]
    assert (await use(mina))["tokens"] >= 1
    refused(await mina.chat(words("hello")), "tokens_a_day")


@pytest.mark.parametrize(
    ("extra", "tokens"),
    [
        ({"reasoning_content": "hm " * 4_000}, 3_000),
        ({"reasoning": "hm " * 4_000, "reasoning_details": [{"type": "text", "text": "hm " * 4_000}]}, 3_000),
        ({"tool_calls": [{"index": 0, "function": {"name": "look", "arguments": "ab" * 6_000}}]}, 3_000),
        ({"reasoning_details": [{"type": "encrypted", "data": "Q" * 12_000}]}, 0),
    ],
)
async def test_reasoning_and_tool_calls_before_hanging_up_count(
    admin: Client, upstream: Upstream, extra: dict[str, Any], tokens: int
) -> None:
    mina = await player(admin)
    upstream.then(says("It rains.", "It stops.", extra=extra, gate=asyncio.Event()))
    await hang_up(mina, upstream)
    assert (await admin.post("/api/drain")).json["settled"]
    assert tokens <= (await use(mina))["tokens"] < tokens + 2_000


async def test_sessions(admin: Client) -> None:
    mina = await player(admin, sessions="2")
    for name in ("one", "two"):
        assert (await mina.chat(words(f"This is the story of {name}."), headers={"X-SAGA-Session": name})).status == 200
    refused(await mina.chat(words("A third."), headers={"X-SAGA-Session": "three"}), "sessions")
    refused(await mina.post("/api/sessions", json={"label": "three"}), "sessions")
    assert (await mina.chat(words("I go on."), headers={"X-SAGA-Session": "two"})).status == 200
    assert (await mina.send("DELETE", "/api/sessions/one")).status == 200
    admin.server.saga.parts.admission.access.meter.holdings._counted -= 3.0  # the count is no longer fresh
    assert (await mina.chat(words("A third."), headers={"X-SAGA-Session": "three"})).status == 200


async def test_a_turn_that_begins_one_session_too_many_counts_nowhere(admin: Client, upstream: Upstream) -> None:
    mina = await player(admin, sessions="1", turns_a_minute="3")
    assert (await mina.chat(words("This is one."), headers={"X-SAGA-Session": "one"})).status == 200
    for _ in range(4):
        refused(await mina.chat(words("This is two."), headers={"X-SAGA-Session": "two"}), "sessions")
    assert (await mina.chat(words("I go on."), headers={"X-SAGA-Session": "one"})).status == 200
    used = await use(mina)
    assert used["turns"] == used["turns_in_minute"] == len(upstream.requests) == 2


async def test_bytes(admin: Client) -> None:
    mina = await player(admin, bytes="1000")
    holdings = admin.server.saga.parts.admission.access.meter.holdings
    await mina.chat(words("I write a long story. " * 100), headers={"X-SAGA-Session": "long"})
    owner = (await mina.get("/api/me")).json["owner"]
    holdings._weighed.clear()
    assert await holdings.bytes(owner, fresh=True) > 1_000
    refused(await mina.chat(words("I go on."), headers={"X-SAGA-Session": "long"}), "bytes")
    assert (await mina.send("DELETE", "/api/sessions/long")).status == 200
    holdings._weighed.clear()
    assert (await mina.chat(words("I begin anew."))).status == 200


DOORS: dict[str, dict[str, Any]] = {
    "/v1/messages": {"max_tokens": 9},
    "/v1/responses": {"input": "hello"},
    "/v1/completions": {"prompt": "hello"},
    "/api/chat": {"model": "narrator-1"},
    "/v1beta/models/narrator-1:generateContent": {"contents": [{"role": "user", "parts": [{"text": "hello"}]}]},
}


async def test_each_door_says_it_in_its_own_words(admin: Client) -> None:
    mina = await player(admin, turns_a_minute="1")
    assert (await mina.chat(words("hello"))).status == 200
    for door, stream in product(DOORS, (False, True)):
        given = DOORS[door]
        path = door.replace("generate", "streamGenerate") if stream else door
        chat = {} if {"contents", "input", "prompt"} & given.keys() else {"messages": words("hello", system=None)}
        body = given if "contents" in given else {"model": "narrator-1", "stream": stream, **chat, **given}
        reply = await mina.post(path if "contents" in given else door, json=body)
        assert (reply.status, int(reply.headers["Retry-After"])) == (429, 60), (door, reply.raw)
        error = reply.json["error"]
        told = error if isinstance(error, str) else error["message"]
        assert told.startswith("turns_a_minute: this key may use 1 turns a minute")
        if door == "/v1/messages":
            assert (reply.json["type"], error["type"]) == ("error", "rate_limit_error")
        if "contents" in given:
            assert error["status"] == "RESOURCE_EXHAUSTED"


async def test_what_is_passed_on_is_a_turn_and_is_not_for_those_whose_money_is_limited(admin: Client) -> None:
    mina, rich = await player(admin, turns_a_minute="1"), await player(admin, dollars_a_day="100")
    await mina.chat(words("hello"))
    refused(await mina.post("/v1/embeddings", json={"model": "openai/x", "input": "hello"}), "turns_a_minute")
    reply = await rich.post("/v1/embeddings", json={"model": "openai/x", "input": "hello"})
    assert (reply.status, reply.error["type"]) == (403, "permission_error")


async def test_work_behind_the_replies_counts_for_the_owner(admin: Client) -> None:
    mina = await player(admin, tokens_a_day="1000")
    session = (await mina.chat(words("hello"))).session
    saga = admin.server.saga
    saga.counters.emit("billed", session=session, turn="t", purpose="extraction", model="m", input=500, output=500,
                       read=0, written=0, dollars=0.25, uncached=None)  # fmt: skip
    await saga.parts.admission.access.step()
    found = await use(mina)
    assert (found["tokens"], found["dollars"]) == (1_120, pytest.approx(0.45, abs=0.01))
    refused(await mina.chat(words("hello")), "tokens_a_day")


async def test_an_adopted_history_is_read_as_far_as_the_day_allows_and_no_more_after_the_key_is_revoked(
    serve: Serve, upstream: Upstream
) -> None:
    def read() -> int:
        return sum(each.body["model"] == "reader-1" for each in upstream.requests)

    upstream.otherwise = says("```state\n```")
    upstreams = {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0}
    models = {"extraction": "reader/reader-1", "narration": "openai/narrator-1"}
    providers = {"openai": upstreams, "reader": {"dialect": "openai", **upstreams}}
    async with serve(server={"api_keys": [ADMIN]}, providers=providers, models=models) as found:
        saga, admin = found.server.saga, Client(found.server, found.http, ADMIN)
        clock = saga.parts.admission.access.meter.clock = _Noon(saga.parts.clock)
        made = (await admin.post("/api/keys", json={"name": "one", "tokens_a_day": "600"})).json
        mina = Client(admin.server, admin.http, made["secret"])
        told = [
            text for at in range(20) for text in (f"I go to hall {at}.", f"Hall {at} is dark, and the lamps are out.")
        ]
        session = (await mina.chat(words(*told, "I wait."))).session
        await saga.drain(20)
        first = read()
        assert (await use(mina))["tokens"] < 600 + 2 * 120, "two are read at the same time"
        assert 1 <= first <= 6
        waiting = [
            each for each in (await admin.get("/api/status")).json["work"]["waiting"] if each["kind"] == "extract"
        ]
        assert len(waiting) >= 10
        assert all(each["reason"].startswith("tokens_a_day: this key may use 600") for each in waiting), waiting
        clock.at += 86_400.0
        saga.background.extraction.kick(session)
        await saga.drain(20)
        assert first < (second := read()) <= first + 6, "the rest goes on the next day"
        assert (await admin.send("DELETE", f"/api/keys/{made['id']}")).status == 200
        clock.at += 86_400.0
        await saga.drain(20)
        assert read() == second


COOK = (
    ("The cook, Mrs. Pike, bangs a pot.", "location: galley\npresent: [Mrs. Pike]"),
    ("You step out on the deck.", "location: deck\npresent: []"),
    ('"Margery Pike, cook," she says, and Mrs. Pike shakes your hand.', "present: [Margery Pike]"),
    ("Rain.", "hp_change: 0"),
)


async def test_cards_names_and_reviews_are_asked_about_only_as_far_as_the_quotas_allow(
    serve: Serve, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def used_up(self: Any, owner: str) -> None:
        raise QuotaExceeded("tokens_a_day: used up", quota="tokens_a_day", free_in=0.3)

    def asked() -> list[str]:
        return [each.body["model"] for each in upstream.requests if each.body["model"] != "narrator-1"]

    upstreams = {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0}
    models = {"extraction": "reader/reader-1", "curator": "reader/judge-1", "narration": "openai/narrator-1"}
    providers = {"openai": upstreams, "reader": {"dialect": "openai", **upstreams}}
    curator = {"interval": 2, "backend": "direct"}
    async with serve(server={"api_keys": [ADMIN]}, providers=providers, models=models, curator=curator) as found:
        saga, admin = found.server.saga, Client(found.server, found.http, ADMIN)
        mina = await player(admin)
        kind = type(saga.parts.admission)
        with monkeypatch.context() as patch:
            patch.setattr(kind, "admit_call", used_up)
            told: list[str] = []
            for text, block in COOK:
                upstream.then(says(f"{text}\n\n```state\n{block}\n```"))
                reply = await mina.chat(
                    words(*told, "I go on.", system="Dez is a courier. He carries a letter of his aunt.")
                )
                told += ["I go on.", reply.text]
                await saga.drain(20)
            assert asked() == []
            assert not (await admin.get("/api/status")).json["degraded"]
        upstream.otherwise = says("Rain.\n\n```state\nhp_change: 0\n```")
        for _ in range(4):
            reply = await mina.chat(
                words(*told, "I go on.", system="Dez is a courier. He carries a letter of his aunt.")
            )
            told += ["I go on.", reply.text]
            await saga.drain(20)
        async with asyncio.timeout(10):  # the card and the names wait until they are allowed
            while asked().count("reader-1") < 2:
                await asyncio.sleep(0.1)
                await saga.drain(20)
        assert "judge-1" in asked()


async def test_keys_of_the_settings_have_no_limits(admin: Client) -> None:
    for at in range(5):
        assert (await admin.chat(words(f"hello {at}"))).status == 200
    assert await admin.server.saga.stores.state.scan(("access", "use")) == []
