"""Readings of large sessions: in slices, two at a time for one key, and no other key waits for them."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from typing import Any

import pytest
from attrs import frozen

from saga_core import Saga, codec
from saga_core.errors import StoreCorrupt
from saga_core.journal import Journal, keys
from saga_core.model import Turn
from saga_core.stores import Batch
from saga_server.admin import dispatch
from saga_server.admin.reply import as_json, to_text
from saga_server.http import SAGA
from tests.core.frontend import memory_config
from tests.server.client import CHAT, Client, words
from tests.server.conftest import Serve
from tests.server.upstream import Upstream

TURNS = 1_500
SLICE = 256


@frozen
class Answer:
    name: str
    rows: Any
    others: Any = ()
    none: str | None = None


@pytest.fixture
async def saga() -> Any:
    history = [{"role": ("user", "assistant")[n % 2], "content": f"Line {n} of the tale."} for n in range(2 * TURNS)]
    async with Saga.open(memory_config()) as saga:
        await saga.begin([*history, {"role": "user", "content": "On."}])
        await saga.drain(60)
        yield saga


async def test_records_are_decoded_and_listed_in_slices(saga: Saga, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted: the records that are decoded between two rounds of the event loop."""
    (listed,) = await saga.sessions.list()
    decoded: Counter[int] = Counter()
    at = 0
    inner = codec.decode

    def counted(raw: bytes, cls: type[Any]) -> Any:
        decoded[at] += cls is Turn
        return inner(raw, cls)

    async def rounds() -> None:
        nonlocal at
        while True:
            at += 1
            await asyncio.sleep(0)

    monkeypatch.setattr(codec, "decode", counted)
    ticking = asyncio.create_task(rounds())
    try:
        for reading in (saga.views.tree(listed.session.id), saga.views.turns(listed.session.id)):
            decoded.clear()
            await reading
            assert sum(decoded.values()) >= TURNS - 20 and max(decoded.values()) <= SLICE
    finally:
        ticking.cancel()


@pytest.mark.parametrize("count", [0, 1, 100, 101, 250])
@pytest.mark.parametrize("make", [list, tuple])
async def test_an_answer_in_slices_is_the_same_text(count: int, make: Any) -> None:
    rows = make([{"turn": n, "text": f'"그림자", {n}\n', "none": None, "parts": [n, [n]]} for n in range(count)])
    for answer in (Answer("a", rows), Answer("a", rows, make(range(count)), "x"), rows, {"rows": rows}):
        text = to_text(answer)
        assert (await as_json(answer)).body == text.encode()
        assert json.loads(text) is not None


async def test_a_long_answer_is_encoded_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    longest = 0
    inner = json.dumps

    def counted(value: Any, **how: Any) -> str:
        nonlocal longest
        longest = max(longest, len(value) if isinstance(value, (list, tuple)) else 0)
        return inner(value, **how)

    monkeypatch.setattr(json, "dumps", counted)
    await as_json(Answer("a", [{"turn": n} for n in range(5_000)]))
    assert 0 < longest <= 100


async def test_two_at_a_time_for_a_key_and_others_do_not_wait(
    serve: Serve, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    providers = {"openai": {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0}}
    keys = ("first-key-0123456789", "second-key-0123456789")
    async with serve(server={"api_keys": list(keys)}, providers=providers) as client:
        first, second = (Client(client.server, client.http, key) for key in keys)
        assert (await first.post(CHAT, json={"model": "m", "messages": words("I go on.")})).status == 200
        session = (await first.get("/api/sessions", params={"fleeting": "all"})).json["sessions"][0]["id"]
        running, most, opened = 0, 0, asyncio.Event()
        inner = dispatch._answer

        async def started(least: int) -> None:
            for _ in range(500):
                if running >= least:
                    return
                await asyncio.sleep(0.01)
            pytest.fail(f"{running} readings run")

        async def slow(*asked: Any) -> Any:
            nonlocal running, most
            running += 1
            most = max(most, running)
            await opened.wait()
            running -= 1
            return await inner(*asked)

        monkeypatch.setattr(dispatch, "_answer", slow)
        readings = [asyncio.create_task(first.get(f"/api/sessions/{session}/tree")) for _ in range(6)]
        await started(2)
        assert (running, most) == (2, 2)
        other = asyncio.create_task(second.get(f"/api/sessions/{session}/tree"))
        await started(3)
        opened.set()
        assert {(await each).status for each in (*readings, other)} == {200}
        assert most == 3


@pytest.mark.parametrize(("removal", "status"), [("delete", 404), ("reset", 200)])
async def test_a_session_that_is_removed_while_it_is_read_is_no_loss(
    offline: Client, removal: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (await offline.post(CHAT, json={"model": "m", "messages": words("I go on.")})).status == 200
    session = (await offline.get("/api/sessions", params={"fleeting": "all"})).json["sessions"][0]["id"]
    inner, removed = Journal.turns, False

    async def turns(self: Journal, asked: str, ids: Any) -> Any:
        nonlocal removed
        if not removed:
            removed = True
            path = f"/api/sessions/{session}"
            reply = await (offline.send("DELETE", path) if removal == "delete" else offline.post(f"{path}/reset"))
            assert reply.status == 200
        return await inner(self, asked, ids)

    monkeypatch.setattr(Journal, "turns", turns)
    reply = await offline.get(f"/api/sessions/{session}/tree")
    assert removed and reply.status == status, reply.raw
    assert status == 404 or len(reply.json["nodes"]) == 1


async def test_turns_that_are_still_being_recorded_are_not_shown_yet(
    offline: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (await offline.post(CHAT, json={"model": "m", "messages": words("I go on.")})).status == 200
    session = (await offline.get("/api/sessions", params={"fleeting": "all"})).json["sessions"][0]["id"]
    held, written = asyncio.Event(), asyncio.Event()
    inner = Journal.append

    async def append(self: Journal, *asked: Any, **how: Any) -> Any:
        held.set()
        await written.wait()
        return await inner(self, *asked, **how)

    monkeypatch.setattr(Journal, "append", append)
    history = [{"role": ("user", "assistant")[n % 2], "content": f"Line {n} of the tale."} for n in range(20)]
    asked = {"model": "m", "messages": [*history, {"role": "user", "content": "On."}]}
    playing = asyncio.create_task(offline.post(CHAT, json=asked, headers={"X-SAGA-Session": session}))
    await held.wait()
    before = await offline.get(f"/api/sessions/{session}/tree")
    written.set()
    assert (await playing).status == 200
    after = await offline.get(f"/api/sessions/{session}/tree")
    assert (before.status, len(before.json["nodes"])) == (200, 2), before.raw
    assert after.status == 200 and len(after.json["nodes"]) >= 11, after.raw


async def test_a_turn_that_is_lost_is_told(offline: Client) -> None:
    assert (await offline.post(CHAT, json={"model": "m", "messages": words("I go on.")})).status == 200
    runner = offline.server._runner
    assert runner is not None
    saga = runner.app[SAGA]
    (listed,) = await saga.sessions.list()
    turn = (await saga.views.turns(listed.session.id))[-1].id
    await saga.parts.journal.kv.commit(Batch(deletes=frozenset({keys.turn(listed.session.id, turn)})))
    reply = await offline.get(f"/api/sessions/{listed.session.id}/tree")
    assert reply.status == 500 and "the journal lost the turns" in reply.error["message"]


@pytest.mark.parametrize("path", ["/api/jobs", "/api/verify", "/api/sessions"])
async def test_damage_is_told_where_no_session_is_named(
    offline: Client, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def damaged(*_: Any) -> Any:
        raise StoreCorrupt("the journal is damaged")

    monkeypatch.setattr(dispatch, "_answer", damaged)
    reply = await offline.get(path)
    assert (reply.status, reply.error["message"]) == (500, "the journal is damaged")
