"""Who asks without a key again and again waits, and is not answered in the end. Who has a key is not held up."""

from __future__ import annotations

import asyncio

import aiohttp
import pytest
from attrs import evolve

from saga_server.http import REFUSALS, Refusals, access
from tests.server.client import CHAT, Client, words
from tests.server.conftest import Serve


class Time:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def waited(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long each answer waited; nobody waits in fact."""
    found: list[float] = []

    async def sleep(seconds: float) -> None:
        found.append(round(seconds, 3))

    monkeypatch.setattr(access.asyncio, "sleep", sleep)
    return found


async def test_some_are_answered_at_once_then_ten_a_second_then_none(waited: list[float]) -> None:
    time = Time()
    held = Refusals(now=time)
    answered = [await held.wait("10.0.0.9") for _ in range(150)]
    assert answered == sorted(answered, reverse=True) and sum(answered) in (99, 100), "50 at once, and 10 for 5 seconds"
    assert waited == sorted(waited) and len(waited) in (49, 50) and waited[-1] <= 5.0
    assert await held.wait("10.0.0.8"), "another address is another matter"
    time.now += 60.0
    waited.clear()
    assert await held.wait("10.0.0.9") and waited == [], "after a while it begins anew"


async def test_a_network_of_ipv6_is_one_address_and_those_of_ipv4_are_each(waited: list[float]) -> None:
    held = Refusals(now=Time())
    for number in range(100):
        await held.wait(f"2001:db8::{number:x}")
    assert not await held.wait("2001:db8::ffff%eth0")
    assert await held.wait("2001:db8:0:1::1")
    assert await held.wait(None) and await held.wait("")


async def test_addresses_are_forgotten() -> None:
    time = Time()
    held = Refusals(now=time)
    for number in range(access._ADDRESSES + 1):
        await held.wait(f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}")
    time.now += 60.0
    await held.wait("10.9.9.9")
    assert len(held._free_at) == 1


async def test_a_key_that_may_not_do_this_is_a_key_all_the_same(serve: Serve) -> None:
    async with serve(server={"api_keys": ["k-one"], "chat_keys": ["k-two"]}) as client:
        assert (await evolve(client, key="k-two").get("/api/sessions")).status == 403
        runner = client.server._runner
        assert runner is not None
        assert runner.app[REFUSALS]._free_at == {}
        assert (await evolve(client, key="k-none").get("/api/sessions")).status == 401
        assert len(runner.app[REFUSALS]._free_at) == 1


async def test_an_address_that_is_not_answered_is_logged_once(
    waited: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    held = Refusals(now=Time())
    for _ in range(150):
        await held.wait("10.0.0.9")
    assert len([each for each in caplog.records if "10.0.0.9" in each.getMessage()]) == 1


async def test_whoever_has_a_key_plays_on_beside_it(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "_AT_ONCE", 3)
    monkeypatch.setattr(access, "_LONGEST", 0.1)
    monkeypatch.setattr(access, "_A_SECOND", 0.001)
    async with serve(server={"api_keys": ["k-one"]}) as client:
        wrong = evolve(client, key="k-wrong")
        for _ in range(3):
            assert (await _status(wrong)) == 401
        with pytest.raises(aiohttp.ClientError):
            await _status(wrong)
        known = evolve(client, key="k-one")
        assert (await known.chat(words("I go on."))).status == 200
        status = (await known.get("/api/status")).json
        assert status["counters"]["refusals.unanswered"] == 1
        runner = client.server._runner
        assert runner is not None
        assert len(runner.app[REFUSALS]._free_at) == 1


async def _status(client: Client) -> int:
    response = await asyncio.wait_for(client.post(CHAT, json={"model": "m", "messages": words("hello")}), 10)
    return response.status
