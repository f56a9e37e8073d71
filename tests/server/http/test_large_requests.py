"""Large requests of one key wait for each other, and for pauses; nobody else does, and no reply is waited for."""

from __future__ import annotations

import asyncio
import gzip
import json

import pytest
from aiohttp import web
from attrs import evolve

from saga_server.http.callers.identity import Bearer
from saga_server.http.cpu_shares import (
    _LONGEST_PAUSE,
    LARGE,
    LARGE_FILE,
    LARGE_REQUESTS,
    LargeRequests,
    Share,
)
from tests.server.client import CHAT, Client, words
from tests.server.conftest import Serve
from tests.server.upstream import Received, Upstream, says

LONG = "a word " * (LARGE // 7 + 1)


class Time:
    now = 100.0

    def __call__(self) -> float:
        return self.now


async def settled() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


async def test_those_of_a_key_come_one_after_another() -> None:
    large, order = LargeRequests(), []

    async def one(owner: str, number: int) -> None:
        share = await large.enter(owner)
        order.append(f"{owner}{number}")
        await settled()
        order.append(f"-{owner}{number}")
        share.leave()
        share.leave()

    await asyncio.gather(*(one("a", number) for number in range(3)), one("b", 0))
    of_a = [each for each in order if "a" in each]
    assert of_a == ["a0", "-a0", "a1", "-a1", "a2", "-a2"]
    assert order.index("b0") < order.index("-a0"), "another key's waits for none of them"


async def test_the_next_waits_as_long_as_the_last_one_took_several_times() -> None:
    time = Time()
    large = LargeRequests(now=time)
    share = await large.enter("a")
    time.now += 1.0
    share.leave()
    assert large._keys["a"].free_at == 104.0
    waiting = asyncio.create_task(large.enter("a"))
    await settled()
    assert not waiting.done()
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    time.now = 104.0
    share = await large.enter("a")
    time.now += 60.0
    share.leave()
    assert large._keys["a"].free_at == time.now + _LONGEST_PAUSE, "a store that hangs is nobody's fault"
    assert large._keys["a"].waiting == 0, "who was cancelled waits no more"


async def test_what_was_counted_is_charged_in_full() -> None:
    time = Time()
    large = LargeRequests(now=time)
    share = await large.enter("a")
    time.now += 60.0
    share.spent = 10.0
    share.leave()
    assert large._keys["a"].free_at == time.now + 30.0, "three times the CPU time, though the rest may be a store's"
    time.now += 30.0
    share = await large.enter("a")
    time.now += 1.0
    share.spent = 10.0
    share.leave()
    assert large._keys["a"].free_at == time.now + 3.0, "no more than three times the time that it took"


@pytest.mark.parametrize("most", [20.0, 1e-6])
async def test_what_reading_took_is_counted(serve: Serve, most: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a request that is refused for it as well."""
    charged: list[float] = []
    inner = Share.leave

    def leave(share: Share) -> None:
        charged.append(share.spent)
        inner(share)

    monkeypatch.setattr(Share, "leave", leave)
    async with serve(server={"max_cpu_seconds": most}) as client:
        assert (await client.chat(words(LONG))).status == (200 if most > 1 else 413)
    assert charged and min(charged) > 0


async def test_a_key_that_waits_for_nothing_is_forgotten() -> None:
    time = Time()
    large = LargeRequests(now=time)
    for number in range(1_001):
        (await large.enter(f"k{number}")).leave()
    await large.enter("b")
    assert len(large._keys) < 10


@pytest.mark.parametrize("packed", [False, True])
async def test_only_large_ones_of_the_same_key_wait(serve: Serve, packed: bool) -> None:
    async with serve(server={"api_keys": ["k-one"], "chat_keys": ["k-two"]}) as client:
        runner = client.server._runner
        assert runner is not None
        first, second = evolve(client, key="k-one"), evolve(client, key="k-two")
        share = await runner.app[LARGE_REQUESTS].enter(Bearer("k-one").owner)
        body = json.dumps({"model": "m", "messages": words("hello" if packed else LONG)}).encode()
        headers = {"Content-Encoding": "gzip"} if packed else {}
        large = asyncio.create_task(first.post(CHAT, data=gzip.compress(body) if packed else body, headers=headers))
        assert (await first.chat(words("I go on."))).status == 200
        assert (await second.chat(words(LONG))).status == 200
        assert not large.done()
        share.leave()
        assert (await large).status == 200


async def test_where_no_key_is_wanted_another_name_makes_nobody_else(offline: Client) -> None:
    runner = offline.server._runner
    assert runner is not None
    share = await runner.app[LARGE_REQUESTS].enter("")
    large = asyncio.create_task(evolve(offline, key="made-up").chat(words(LONG)))
    assert (await evolve(offline, key="made-up").chat(words("I go on."))).status == 200
    assert not large.done()
    share.leave()
    assert (await large).status == 200


async def test_no_reply_is_waited_for(client: Client, upstream: Upstream) -> None:
    """The second is read, and asks the narrator too, while the first one's reply has not begun."""
    both, asked = asyncio.Event(), 0
    plain = says("The rain stops.")

    async def held(request: web.Request, received: Received) -> web.StreamResponse:
        nonlocal asked
        asked += 1
        if asked == 2:
            both.set()
        await both.wait()
        return await plain(request, received)

    upstream.otherwise = held
    answers = await asyncio.gather(*(client.chat(words(LONG + end)) for end in ("one", "two")))
    assert [answer.status for answer in answers] == [200, 200]


@pytest.mark.parametrize("wanted", [True, False])
async def test_a_file_that_is_imported_waits_too_where_others_have_keys(serve: Serve, wanted: bool) -> None:
    async with serve(server={"api_keys": ["k-one"]} if wanted else {}) as client:
        if wanted:
            client = evolve(client, key="k-one")
        runner = client.server._runner
        assert runner is not None
        large, owner = runner.app[LARGE_REQUESTS], Bearer("k-one").owner if wanted else ""
        share = await large.enter(owner)
        card = json.dumps({"name": "Mara", "description": "She keeps the mill. " * (LARGE_FILE // 20 + 1)})
        importing = asyncio.create_task(client.post("/api/import?name=mara.json&dry_run=1", data=card.encode()))
        if wanted:
            while large._keys[owner].waiting == 1:  # noqa: ASYNC110 - no event says that it waits
                await asyncio.sleep(0.01)
            assert not importing.done()
            share.leave()
        assert (await importing).status == 200
        share.leave()
