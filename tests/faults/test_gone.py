"""A client that goes away while something else is in trouble: nothing is paid for nobody, and nothing is lost."""

from __future__ import annotations

import asyncio

import pytest

from saga_core.play import play as engine
from tests.faults.breakable import breakable
from tests.faults.test_stores import Player, caught_up, settle
from tests.server.client import CHAT, Client, words
from tests.server.upstream import Upstream, hangs


def leaving(client: Client, player: Player, said: str, *, stream: bool) -> asyncio.Task[None]:
    """A request whose client goes away when the task is cancelled."""

    async def asks() -> None:
        body = {"model": "narrator-1", "messages": words(*player.chat, said), "stream": stream}
        async with client.request("POST", CHAT, json=body) as response:
            await response.read()

    return asyncio.create_task(asks())


@pytest.mark.parametrize("stream", [False, True])
async def test_while_the_journal_is_read(stream: bool, upstream: Upstream, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model is never asked for it."""
    monkeypatch.setattr(engine, "ANSWER_SECONDS", 5.0)
    sections = {"providers": {"openai": {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0}}}
    with breakable(monkeypatch) as parts:
        async with Client.of({**sections, "session": {"default_world": "empty"}}, {}) as client:
            player = Player(client)
            await player.says("숲으로 간다.")
            await settle(client)
            asked, exchanges = len(upstream.requests), client.server.open_requests
            # Its session is not in memory, so that it has to be read.
            client.server.saga.parts.live.forget(player.replies[-1].session)
            parts["state"].breaks("hang", "get", "scan")
            task = leaving(client, player, "귀를 기울인다.", stream=stream)
            while not parts["state"].struck:
                await client.get("/healthz")
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            parts["state"].recovers()
            async with asyncio.timeout(10):
                while client.server.open_requests > exchanges:
                    await client.get("/healthz")
            assert len(upstream.requests) == asked, "nobody pays for a reply that nobody waits for"
            await caught_up(player)


async def test_while_nothing_can_be_written_and_the_model_hangs(
    upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model's call ends; what was shown is told again by the chat itself."""
    sections = {"providers": {"openai": {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0}}}
    with breakable(monkeypatch) as parts:
        async with Client.of({**sections, "session": {"default_world": "empty"}}, {}) as client:
            player = Player(client)
            await player.says("숲으로 간다.")
            await settle(client)
            parts["state"].breaks("before", "commit")
            upstream.then(hangs("새가 운다. "))
            body = {"model": "m", "messages": words(*player.chat, "귀를 기울인다."), "stream": True}
            async with client.request("POST", CHAT, json=body) as response:
                async for line in response.content:
                    if "새가" in line.decode():
                        break
                response.close()
            async with asyncio.timeout(10):
                await upstream.gone.wait()
                while client.server.open_requests:
                    await client.get("/healthz")
            parts["state"].recovers()
            player.chat += ["귀를 기울인다.", "새가 운다. "]
            await caught_up(player)
