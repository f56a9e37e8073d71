"""A model or the curator breaks in mid-play: what the player saw, and that everything catches up, in order, once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web

from saga_core.assembly import curators
from tests.faults.breakable import MODES, Breakable, Mode
from tests.server.client import CHAT, Client, Reply, words
from tests.server.upstream import Received, Step, Upstream, closed_port, errors, fails, hangs, resets, says, truncates

CALM = "비가 온다. 아무 일도 없다."
TOLD = "```state\nhp_change: -30\n```"


async def known(client: Client, session: str) -> list[str]:
    """What is known of a session, in order, when all work is done; every view is right."""
    turns = await client.turns(session)
    assert [str(each) for each in (await client.server.saga.maintenance.verify()).findings] == []
    return [text for turn in turns for text in (turn["user"], turn["reply"])]


class TestNarrator:
    """The reply, or a proper error of the provider; never half a turn that counts."""

    @pytest.mark.parametrize("stream", [False, True])
    @pytest.mark.parametrize(
        ("step", "status"),
        [(fails(500, "overloaded"), 502), (fails(429, "slow down", Retry_After="7"), 429), (fails(401, "no key"), 401)],
    )
    async def test_it_refuses(self, client: Client, upstream: Upstream, step: Step, status: int, stream: bool) -> None:
        first = await client.chat(words("간다."))
        upstream.then(step)
        refused = await client.chat(words("간다.", first.text, "더 간다."), stream=stream)
        assert refused.status == status and refused.error["message"]
        again = await client.chat(words("간다.", first.text, "더 간다."))
        assert await known(client, first.session) == ["간다.", first.text, "더 간다.", again.text]

    async def test_nobody_listens(self, client: Client, upstream: Upstream) -> None:
        first = await client.chat(words("간다."))
        provider = next(iter(client.server.narrators.providers.values()))
        assert provider.where.endswith(str(upstream.port) + "/v1") and closed_port() != upstream.port
        upstream.then(resets())
        refused = await client.chat(words("간다.", first.text, "더 간다."))
        assert refused.status in (502, 503) and refused.error["message"]
        assert await known(client, first.session) == ["간다.", first.text]

    @pytest.mark.parametrize("step", [resets("새가 ", "운다."), truncates("새가 ", "운다."), errors("새가 ", "운다.")])
    async def test_it_breaks_off(self, client: Client, upstream: Upstream, step: Step) -> None:
        """What was shown is kept as far as it was shown, and the player goes on from it or asks again."""
        first = await client.chat(words("간다."))
        upstream.then(step)
        broken = await client.chat(words("간다.", first.text, "귀를 기울인다."), stream=True)
        shown = broken.streamed()
        assert broken.status == 200 and shown in ("새가 운다.", "새가 ")
        on = await client.chat(words("간다.", first.text, "귀를 기울인다.", shown, "더 듣는다."))
        assert await known(client, first.session) == [
            "간다.",
            first.text,
            "귀를 기울인다.",
            shown,
            "더 듣는다.",
            on.text,
        ]

    async def test_it_is_slow(self, client: Client, upstream: Upstream) -> None:
        gate, reached = asyncio.Event(), asyncio.Event()

        async def slow_one(request: web.Request, received: Received) -> web.StreamResponse:
            reached.set()
            return await says("새가 ", "운다.", gate=gate)(request, received)

        upstream.then(slow_one)
        waiting = asyncio.create_task(client.chat(words("간다.")))
        await reached.wait()
        other = await client.chat(words("쉰다.", system="Another story."))
        assert other.status == 200, "others do not wait"
        gate.set()
        slow = await waiting
        assert slow.text == "새가 운다."
        assert await known(client, slow.session) == ["간다.", "새가 운다."]

    async def test_it_hangs_and_the_player_leaves(self, client: Client, upstream: Upstream) -> None:
        first = await client.chat(words("간다."))
        upstream.then(hangs("새가 "))
        body = {"model": "narrator-1", "messages": words("간다.", first.text, "귀를 기울인다."), "stream": True}
        async with client.request("POST", CHAT, json=body) as response:
            async for line in response.content:
                if "새가" in line.decode():
                    break
            response.close()
        async with asyncio.timeout(10):
            await upstream.gone.wait()
        again = await client.chat(words("간다.", first.text, "귀를 기울인다."))
        assert await known(client, first.session) == ["간다.", first.text, "귀를 기울인다.", again.text]


class TestExtraction:
    """The player waits for nothing; what was not read is read when the model is there again, each turn once."""

    @pytest.fixture
    async def small(self) -> AsyncIterator[Upstream]:
        async with Upstream() as server:
            server.otherwise = says(TOLD)
            yield server

    @pytest.fixture
    async def reading(self, upstream: Upstream, small: Upstream) -> AsyncIterator[Client]:
        upstream.otherwise = says(CALM)
        providers = {
            "openai": {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0},
            "cheap": {"base_url": small.url, "api_key": "sk-small", "max_retries": 0},
        }
        async with Client.of({"providers": providers, "models": {"extraction": "cheap/tiny-1"}}, {}) as found:
            yield found

    async def play(self, client: Client, upstream: Upstream, turns: int) -> Reply:
        chat: list[str] = []
        for number in range(turns):
            upstream.then(says(f"{CALM} {number}"))
            reply = await client.chat(words(*chat, f"{number}. 간다."))
            assert reply.status == 200
            chat += [f"{number}. 간다.", reply.text]
        return reply

    @pytest.mark.parametrize("step", [fails(503, "overloaded"), says("I cannot help with that."), resets()])
    async def test_it_fails(self, reading: Client, upstream: Upstream, small: Upstream, step: Step) -> None:
        small.otherwise = step
        last = await self.play(reading, upstream, 3)
        await reading.post("/api/drain")
        jobs = (await reading.get("/api/jobs")).json["jobs"]
        assert 1 <= len(jobs) <= 3 and all(job["kind"] == "extract" for job in jobs)
        assert any(job["reason"] for job in jobs), "it says why"
        small.otherwise = says(TOLD)
        for _ in range(4):
            await reading.post("/api/jobs/retry")
            await reading.post("/api/drain")
        assert (await reading.get("/api/jobs")).json == {"jobs": [], "stuck": 0}
        state = (await reading.get(f"/api/sessions/{last.session}/state")).json
        assert state["hp"] == 100 - 3 * 30, "each turn once"
        assert len(await known(reading, last.session)) == 6

    async def test_it_hangs(self, reading: Client, upstream: Upstream, small: Upstream) -> None:
        small.then(hangs())
        last = await self.play(reading, upstream, 3)
        assert last.status == 200
        small.otherwise = says(TOLD)
        drained = (await reading.post("/api/drain?timeout=0.3")).json
        assert len(drained["waiting"]) <= 3, "a turn waits once"


class TestCurator:
    @pytest.mark.parametrize("mode", MODES)
    async def test_it_breaks(self, mode: Mode, monkeypatch: pytest.MonkeyPatch) -> None:
        """The player sees nothing of it, and the story is reviewed when it is well again."""
        opened: list[Breakable] = []
        real = curators._open

        async def breakable(*given: Any) -> Any:
            opened.append(Breakable(await real(*given)))
            return opened[-1]

        monkeypatch.setattr(curators, "_open", breakable)
        sections = {"curator": {"interval": 2}, "session": {"default_world": "ersia"}}
        async with Client.of(sections, {}) as client:
            opened[0].breaks(mode, "review")
            chat: list[str] = []
            for number in range(5):
                reply = await client.chat(words(*chat, f"{number}. 숲으로 간다."))
                assert reply.status == 200 and reply.text
                chat += [f"{number}. 숲으로 간다.", reply.text]
            await client.post("/api/drain?timeout=1")
            assert opened[0].struck, "it was asked"
            assert len(client.server.saga.background.reviews.waiting({})) <= 5
            opened[0].recovers()
            for _ in range(3):
                await client.post("/api/drain")
            assert await known(client, reply.session) == chat
            assert (await client.get("/api/status")).json["degraded"] == {}
