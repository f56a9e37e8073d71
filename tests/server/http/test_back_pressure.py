"""A client that reads slowly slows its upstream down; one that reads nothing loses its reply; others notice nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from saga_core.ports import ChatPart, ChatRequest, FinishPart, TextPart
from saga_server.http import open_connections
from saga_server.http.exchange import WINDOW
from tests.server.client import CHAT, Client, words
from tests.server.conftest import Serve

PIECE = "비가 그친다. " * 4_096
MANY = 20_000
"""Pieces: more than a gigabyte."""


class Flood:
    """A model that says more than anybody wants to hear."""

    name = "flood"

    def __init__(self) -> None:
        self.said = 0
        self.over = asyncio.Event()

    async def stream(self, request: ChatRequest, *, streaming: bool = True) -> AsyncGenerator[ChatPart, None]:
        try:
            for _ in range(MANY if "flood" in request.plan.text() else 3):
                self.said += 1
                yield TextPart(PIECE)
                await asyncio.sleep(0)
            yield FinishPart("stop")
        finally:
            self.over.set()

    async def models(self) -> list[str]:
        return []

    async def aclose(self) -> None:
        pass


def narrated_by(client: Client, flood: Flood) -> None:
    opened: asyncio.Future[Flood] = asyncio.get_running_loop().create_future()
    opened.set_result(flood)
    client.server.narrators._open["up"] = opened  # type: ignore[assignment]


async def test_upstream_is_read_no_faster_than_the_client_reads(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_connections, "SEND_SECONDS", 0.5)
    provider = {"up": {"base_url": "http://127.0.0.1:9/v1"}}
    async with serve(providers=provider) as client:
        flood = Flood()
        narrated_by(client, flood)
        body = {"model": "m", "messages": words("flood"), "stream": True}
        async with client.request("POST", CHAT, json=body) as answer:
            await answer.content.readany()
            async with asyncio.timeout(20):
                other = await client.chat(words("잠깐"), model="m")  # meanwhile
                assert other.text.startswith("비가 그친다.")
                await flood.over.wait()  # nothing was taken for so long that the reply ends there
        assert WINDOW < flood.said * len(PIECE.encode()) < 64 << 20
        assert flood.said < MANY


async def test_a_client_that_reads_gets_everything(serve: Serve) -> None:
    async with serve(providers={"up": {"base_url": "http://127.0.0.1:9/v1"}}) as client:
        narrated_by(client, Flood())
        reply = await client.chat(words("말해"), model="m", stream=True)
        assert reply.streamed() == PIECE * 3


async def test_others_run_between_the_small_pieces_of_a_reply(serve: Serve) -> None:
    """They may all have arrived at once, so that reading them never waits."""
    turns: list[int] = []

    class AtOnce(Flood):
        async def stream(self, request: ChatRequest, *, streaming: bool = True) -> AsyncGenerator[ChatPart, None]:
            rounds, counting = 0, True

            async def count() -> None:
                nonlocal rounds
                while counting:
                    rounds += 1
                    await asyncio.sleep(0)

            counter = asyncio.create_task(count())
            for _ in range(100):
                yield TextPart("비가 그친다. " * 500)
            yield FinishPart("stop")
            turns.append(rounds)
            counting = False
            await counter

    async with serve(providers={"up": {"base_url": "http://127.0.0.1:9/v1"}}) as client:
        narrated_by(client, AtOnce())
        await client.chat(words("말해"), model="m")
    assert turns[0] >= 50, "a rest for each piece of 4,000 characters, or for two"
