"""A client that goes away before it is answered is no failure of the server."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import aiohttp
import pytest

from tests.server.client import CHAT, Client, words
from tests.server.upstream import Received, Upstream, says


async def test_who_goes_before_the_first_word_leaves_no_error_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    asked_for, gate = asyncio.Event(), asyncio.Event()

    async def waits(request: Any, received: Received) -> Any:
        asked_for.set()
        await gate.wait()
        return await says("The rain stops.")(request, received)

    async with Upstream(otherwise=waits) as upstream:
        settings = {
            "storage": {"profile": "memory"},
            "session": {"default_world": "ersia"},
            "providers": {"openai": {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0}},
        }
        async with Client.of(settings, {}) as client:
            asked = {"model": "narrator-1", "messages": words("hello"), "stream": True}
            async with aiohttp.ClientSession() as http:
                asking = asyncio.create_task(http.post(f"{client.server.url}{CHAT}", json=asked))
                await asked_for.wait()
                asking.cancel()
                await asyncio.gather(asking, return_exceptions=True)
            runner = client.server._runner
            assert runner is not None and runner.server is not None
            while runner.server.connections:  # the server has not noticed yet
                await asyncio.sleep(0)
            gate.set()
            with caplog.at_level(logging.ERROR, "saga.server"):
                await client.server.stop(20.0)
    assert [each.getMessage() for each in caplog.records if each.name == "saga.server"] == []
