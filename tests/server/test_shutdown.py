"""Shutting down: running replies get their time, nothing hangs for longer than the deadline, and what is left waits."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientError

from saga_server import server as server_module
from saga_server.http import exchange
from tests.faults.breakable import breakable
from tests.server.cli.test_saga_command import serving
from tests.server.client import Client, Reply, words
from tests.server.conftest import Serve
from tests.server.process.test_readiness import anon
from tests.server.upstream import Upstream, hangs, says

SOON = 0.2


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """What may take long when something hangs takes a moment here."""
    monkeypatch.setattr(exchange, "COMMIT_SECONDS", SOON)
    monkeypatch.setattr(server_module, "CLOSING_SECONDS", SOON)


def up(upstream: Upstream) -> dict[str, Any]:
    return {"openai": {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0}}


async def asked(client: Client, upstream: Upstream, **fields: Any) -> asyncio.Task[Reply]:
    """A chat request that reached upstream."""
    playing = asyncio.create_task(client.chat(words("안녕"), **fields))
    await anon(lambda: upstream.requests)
    return playing


async def test_a_running_reply_gets_its_time(client: Client, upstream: Upstream) -> None:
    gate = asyncio.Event()
    upstream.then(says("one ", "two", gate=gate))
    playing = await asked(client, upstream, stream=True)
    stopping = asyncio.create_task(client.server.stop())
    await asyncio.sleep(0)
    gate.set()
    reply = await playing
    assert reply.streamed() == "one two" and reply.events[-1] == "[DONE]"
    await stopping
    assert client.server.abandoned == ()


async def test_an_upstream_that_hangs_is_left_after_the_deadline(
    serve: Serve, upstream: Upstream, tmp_path: Path
) -> None:
    """The player keeps what was told, is told why it ends, and finds the turn after the next start."""
    storage = {"profile": "lite", "path": str(tmp_path)}
    upstream.then(hangs("The rain "))
    async with serve(providers=up(upstream), storage=storage, server={"drain_timeout": SOON}) as client:
        playing = await asked(client, upstream, stream=True)
        await anon(lambda: client.server.open_requests)
        began = time.monotonic()
        await client.server.stop()
        assert time.monotonic() - began < SOON + 2
        reply = await playing
        assert reply.streamed() == "The rain "
        assert "shutting down" in reply.events[-2]["error"]["message"]
        assert client.server.abandoned == ()
    async with serve(providers=up(upstream), storage=storage) as client:
        (turn,) = await client.turns(reply.session)
        assert (turn["reply"], turn["finish"]) == ("The rain ", "aborted")


async def test_an_upstream_that_says_nothing_is_left_too(serve: Serve, upstream: Upstream) -> None:
    upstream.then(hangs())
    async with serve(providers=up(upstream), server={"drain_timeout": SOON}) as client:
        playing = await asked(client, upstream)
        await client.server.stop()
        assert (await playing).error["type"] == "unavailable_error"


async def test_a_store_that_hangs_does_not_keep_the_server(quick: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it keeps from being done waits in the journal, and is named."""
    with breakable(monkeypatch) as parts:
        async with Client.of({"server": {"drain_timeout": SOON}}, {}) as client:
            parts["vector"].breaks("hang")
            await client.chat(words("안녕"))
            began = time.monotonic()
            report = await client.server.stop()
            assert time.monotonic() - began < SOON + 2
            assert {each.kind for each in report.waiting} == {"project"}
            assert client.server.abandoned == ()


async def test_a_journal_that_hangs_is_left_behind_and_said(quick: None, monkeypatch: pytest.MonkeyPatch) -> None:
    with breakable(monkeypatch) as parts:
        async with Client.of({"server": {"drain_timeout": SOON}}, {}) as client:
            parts["state"].breaks("hang", "commit")
            monkeypatch.setattr(parts["state"].inner, "aclose", asyncio.Event().wait)
            playing = asyncio.create_task(client.chat(words("안녕")))
            await anon(lambda: client.server.open_requests)
            began = time.monotonic()
            await client.server.stop()
            assert time.monotonic() - began < SOON + 3
            assert client.server.abandoned == ("recording what was shown", "storage.state")
            assert (await playing).status == 503


async def test_administration_that_hangs_is_ended(quick: None, monkeypatch: pytest.MonkeyPatch) -> None:
    with breakable(monkeypatch) as parts:
        async with Client.of({"server": {"drain_timeout": SOON}}, {}) as client:
            parts["state"].breaks("hang", "commit")
            making = asyncio.create_task(client.post("/api/sessions", json={"label": "새 이야기"}))
            await anon(lambda: parts["state"].struck)
            await client.server.stop()
            assert client.server.abandoned == ("a request to the admin API",)
            with pytest.raises(ClientError):
                await making


@pytest.mark.skipif(os.name != "posix", reason="signals")
async def test_a_second_signal_ends_at_once(upstream: Upstream, tmp_path: Path) -> None:
    """With the first the reply still has its minute; the exit code says which signal it was."""
    upstream.then(hangs("The rain "))
    settings = (
        f"server: {{port: 0, drain_timeout: 60}}\nproviders: {{openai: {{base_url: {upstream.url}, api_key: k}}}}\n"
    )
    (tmp_path / "saga.yaml").write_text(settings)

    def live() -> tuple[int, str]:
        import urllib.request

        with serving(cwd=tmp_path) as (url, process):
            body = b'{"model": "m", "stream": true, "messages": [{"role": "user", "content": "hello"}]}'
            with urllib.request.urlopen(
                urllib.request.Request(f"{url}/v1/chat/completions", data=body), timeout=30
            ) as up:
                assert up.readline()
                process.send_signal(signal.SIGTERM)
                assert process.stdout is not None
                said = process.stdout.readline()
                process.send_signal(signal.SIGTERM)
                rest, _ = process.communicate(timeout=10)
            return process.returncode, said + rest

    code, said = await asyncio.to_thread(live)
    assert code == 128 + signal.SIGTERM
    assert "1 open reply" in said and "ends at once" in said


async def test_what_hangs_at_every_step_is_left_after_all_of_them(quick: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Providers of settings that held earlier close at the same time: reading settings often adds nothing."""
    with breakable(monkeypatch) as parts:
        async with Client.of({"server": {"drain_timeout": 0}}, {}) as client:
            server = client.server
            for _ in range(3):
                server._hold(server.config)
            for narrators in (server.narrators, *server._former):
                monkeypatch.setattr(type(narrators), "aclose", hung)
            monkeypatch.setattr(parts["state"].inner, "aclose", asyncio.Event().wait)
            began = time.monotonic()
            await server.stop()
            assert time.monotonic() - began < 3 * SOON + 2
            assert server.abandoned == ("storage.state", "connections to providers")


async def hung(_: object) -> None:
    await asyncio.Event().wait()
