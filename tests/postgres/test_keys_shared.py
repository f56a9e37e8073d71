"""Two servers on one database: a key is known at both, and its quotas are of both together."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from saga_server.hosting import Keyring
from tests.postgres.test_two_servers import served
from tests.server.client import Client, words
from tests.server.upstream import Upstream

ADMIN = "admin-key-1"


@pytest.fixture
async def upstream() -> AsyncIterator[Upstream]:
    async with Upstream() as server:
        yield server


@pytest.fixture
async def two(url: str, schema: str, upstream: Upstream, tmp_path: Path) -> AsyncIterator[tuple[Client, Client]]:
    async with AsyncExitStack() as stack:
        found = [
            await stack.enter_async_context(served(url, schema, upstream, tmp_path, name, api_keys=[ADMIN]))
            for name in "ab"
        ]
        a, b = (Client(each.server, each.http, ADMIN) for each in found)
        yield a, b


async def made(client: Client, **quotas: str) -> dict[str, Any]:
    reply = await client.post("/api/keys", json={"name": "one", **quotas})
    assert reply.status == 201, reply.raw
    found: dict[str, Any] = reply.json
    return found


def at(client: Client, secret: str) -> Client:
    return Client(client.server, client.http, secret)


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> Callable[[Client], AbstractAsyncContextManager[None]]:
    """``async with loaded(client)``: at its end, its server has by itself read keys that were changed in it."""
    load = Keyring._load
    waiting: dict[int, asyncio.Event] = {}

    async def told(self: Keyring, version: bytes | None) -> None:
        await load(self, version)
        if id(self) in waiting:
            waiting[id(self)].set()

    monkeypatch.setattr(Keyring, "_load", told)

    @asynccontextmanager
    async def until(client: Client) -> AsyncIterator[None]:
        event = waiting[id(client.server.saga.parts.admission.access.keys)] = asyncio.Event()
        yield
        async with asyncio.timeout(30):
            await event.wait()

    return until


async def seen(client: Client) -> None:
    """Have a server look now, as it does once a second."""
    await client.server.saga.parts.admission.access.step()


async def test_a_key_of_one_server_is_known_and_refused_at_the_other(
    two: tuple[Client, Client], loaded: Callable[[Client], AbstractAsyncContextManager[None]]
) -> None:
    a, b = two
    async with loaded(b):
        key = await made(a)
    mina = at(b, key["secret"])
    reply = await mina.chat(words("hello"))
    assert reply.status == 200
    passed = await at(a, key["secret"]).chat(words("hello", reply.text, "and on"))
    assert (passed.status, passed.session) == (200, reply.session), "the server that has the session knows the key, too"
    async with loaded(b):
        await a.send("DELETE", f"/api/keys/{key['id']}")
    assert (await mina.chat(words("hello"))).status == 401


async def test_turns_are_counted_where_they_are_played_and_once(two: tuple[Client, Client]) -> None:
    a, b = two
    key = await made(a, turns_a_minute="1000")
    mina, moved = at(a, key["secret"]), at(b, key["secret"])
    await seen(b)
    named = {"X-SAGA-Session": "tale"}
    for number, client in enumerate((mina, moved, mina, moved)):
        assert (await client.chat(words(f"I walk on for the {number}th time."), headers=named)).status == 200
    assert (await b.get("/api/status")).json["counters"]["leases.passed_on"] == 2
    for each in two:
        await each.server.saga.parts.admission.access.step()
    for client in (mina, moved):
        use = (await client.get("/api/me")).json["key"]["use"]
        assert (use["turns"], use["tokens"]) == (4, 4 * 120)


async def test_a_burst_over_two_servers_gets_the_turns_of_a_minute_and_none_more(two: tuple[Client, Client]) -> None:
    a, b = two
    while True:
        key = await made(a, turns_a_minute="5")
        await seen(b)
        began = time.time() // 60
        asked = [at(each, key["secret"]).chat(words(f"I am traveller {n}.")) for n, each in enumerate([a, b] * 6)]
        found = sorted(reply.status for reply in await asyncio.gather(*asked))
        if time.time() // 60 == began:  # else some of them were of the next minute
            break
    assert found == [200] * 5 + [429] * 7


async def test_a_burst_over_two_servers_begins_the_sessions_of_a_key_and_none_more(two: tuple[Client, Client]) -> None:
    a, b = two
    key = await made(a, sessions="2")
    await seen(b)
    names = [f"tale {number}" for number in range(8)]
    asked = [
        at(each, key["secret"]).chat(words("I set out."), headers={"X-SAGA-Session": name})
        for name, each in zip(names, [a, b] * 4, strict=True)
    ]
    found = sorted(reply.status for reply in await asyncio.gather(*asked))
    assert found == [200] * 2 + [429] * 6
    left = (await at(a, key["secret"]).get("/api/sessions")).json["sessions"]
    assert len(left) == 2
    assert (await at(b, key["secret"]).send("DELETE", f"/api/sessions/{left[0]['id']}")).status == 200
    holdings = a.server.saga.parts.admission.access.meter.holdings
    holdings._counted -= 3.0  # what it counted when it refused is no longer fresh
    again = await at(a, key["secret"]).chat(words("I set out anew."), headers={"X-SAGA-Session": "anew"})
    assert again.status == 200, again.raw


async def test_another_players_session_is_not_taken_over_by_who_guesses_its_id(two: tuple[Client, Client]) -> None:
    a, b = two
    one, other = await made(a), await made(a)
    await seen(b)
    session = (await at(a, one["secret"]).chat(words("hello"))).session
    for method, path in (("POST", "reset"), ("POST", "fork"), ("DELETE", "")):
        found = await at(b, other["secret"]).send(
            method, f"/api/sessions/{session}/{path}".rstrip("/"), json={"name": "x"} if path == "fork" else None
        )
        assert found.status == 404, found.raw
    status = (await b.get("/api/status")).json
    assert status["servers"]["sessions"] == 0 and "leases.passed_on" not in status["counters"]


async def test_who_did_what_is_one_log(two: tuple[Client, Client]) -> None:
    a, b = two
    key = await made(a)
    mina = at(b, key["secret"])
    await seen(b)
    await mina.get("/api/sessions")
    await b.server.saga.parts.admission.access.step()
    found = (await a.get("/api/audit", params={"key": key["id"]})).json["entries"]
    assert "GET /api/sessions" in {each["what"] for each in found}
