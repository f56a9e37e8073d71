"""An embedder over HTTP in play: a turn never waits for it longer than its deadline, and what it makes is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest

from saga_core import Saga
from saga_core.config import Config, load_config
from saga_core.recall.episodes import episodes_scope
from tests.backends.embeddings_server import EmbeddingsServer, fails, waits
from tests.core.frontend import Frontend

KEY = "sk-geheim-geheim-2"


@pytest.fixture
async def server() -> AsyncIterator[EmbeddingsServer]:
    async with EmbeddingsServer(key=KEY) as found:
        yield found


def config(data: Path, server: EmbeddingsServer, model: str = "my-model", **recall: Any) -> Config:
    tree = {
        "storage": {"path": str(data)},
        "providers": {"box": {"base_url": server.url, "api_key": KEY}},
        "models": {"embedding": f"box/{model}"},
        "recall": {
            "embedder": "openai",
            "deadline_ms": 5_000,
            "options": {"dimension": 16, "baseline": 0.2, "max_retries": 0},
            **recall,
        },
    }
    return load_config(tree, environ={})


async def played(saga: Saga, turns: int) -> Frontend:
    frontend = Frontend(saga)
    for number in range(turns):
        await frontend.say(f"{number}번 문을 연다.", f"{number}번 문 뒤에는 늙은 대장장이가 있었다.")
        await saga.drain(10)
    return frontend


async def test_turns_are_embedded_behind_the_reply_and_asked_in_the_next(
    tmp_path: Path, server: EmbeddingsServer
) -> None:
    async with Saga.open(config(tmp_path, server)) as saga:
        frontend = await played(saga, 3)
        assert frontend.last is not None and frontend.last.context.late == ()
        session = frontend.last.session.id
        assert await saga.stores.vector.count(episodes_scope(session)) == 3
        made = await saga.stores.vector.describe(episodes_scope(session))
        assert made is not None and made.embedder.split()[0] == "box/my-model/16/1"
        assert [batch for batch in server.batches if batch == ["2번 문을 연다."]], "the question, once"
        assert await saga.maintenance.differences(session) == []
        assert (await saga.status())["vectors"]["dimension"] == 16


async def test_an_answer_that_is_late_is_left_out_named_and_there_for_the_swipe(
    tmp_path: Path, server: EmbeddingsServer
) -> None:
    async with Saga.open(config(tmp_path, server, deadline_ms=100)) as saga:
        frontend = await played(saga, 1)
        before = saga.counters.counts["late.embedder"]  # the first may have met a client that was not made yet
        open_ = asyncio.Event()
        server.then(waits(open_))
        began = perf_counter()
        turn = await frontend.begin("누가 문 뒤에 있었지?")
        assert "embedder" in turn.context.late and perf_counter() - began < 2
        assert saga.counters.counts["late.embedder"] == before + 1
        asked = len(server.asked)
        open_.set()
        while turn.context.late:
            turn = await frontend.begin("누가 문 뒤에 있었지?")
        assert len(server.asked) == asked, "it came after all, and was remembered"


async def test_a_server_that_fails_costs_vectors_and_nothing_else(tmp_path: Path, server: EmbeddingsServer) -> None:
    async with Saga.open(config(tmp_path, server)) as saga:
        server.then(*[fails(429, f"slow down, {KEY}", retry_after="30")] * 3)
        frontend = Frontend(saga)
        turn = await frontend.say("문을 연다.", "늙은 대장장이가 있었다.")
        async with asyncio.timeout(60):
            while [each.kind for each in (await saga.drain(0.1)).waiting] != ["embed"]:
                pass  # the rest is done soon; that alone rests until the server may be asked again
        assert "429" in str(saga.counters.degraded) and KEY not in str(await saga.status())
        again = await frontend.begin("문 뒤를 본다.")
        assert "embedder" in again.context.late and again.session.id == turn.session.id


async def test_another_model_is_another_embedder(tmp_path: Path, server: EmbeddingsServer) -> None:
    async with Saga.open(config(tmp_path, server)) as saga:
        await played(saga, 2)
    async with Saga.open(config(tmp_path, server, "other-model")) as saga:
        await saga.drain(10)
        (session,) = await saga.parts.journal.sessions()
        made = await saga.stores.vector.describe(episodes_scope(session.id))
        assert made is not None and made.embedder.split()[0] == "box/other-model/16/1"
        assert await saga.stores.vector.count(episodes_scope(session.id)) == 2
