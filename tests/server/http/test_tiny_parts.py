"""Requests and answers in parts of one byte take no more of the processor than their share."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from statistics import median
from time import monotonic, thread_time

import pytest

from saga_backends import piece_pace
from saga_backends.chat.patience import Patience
from saga_core.errors import UpstreamError
from saga_server.http.reading_pace import ReadingPace
from tests.server.client import until
from tests.server.conftest import Serve


def test_the_parsers_time_for_a_network_is_limited() -> None:
    pace = ReadingPace()
    assert pace.spent("a", 0.0001, 5_000, 10.0) == 0.0, "large parts are free"
    assert pace.spent("a", 0.05, 0, 10.0) == 0.0, "what was saved"
    assert pace.spent("a", 0.01, 0, 10.0) == pytest.approx(0.5), "all its connections together"
    assert pace.left("a", 10.05) == pytest.approx(0.45)
    assert pace.left("b", 10.05) == pace.left("a", 11.0) == 0.0
    assert pace.spent("b", 100.0, 0, 10.0) == 5.0


FLOOD = """
import asyncio, sys
async def flood():
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", int(sys.argv[1]))
            writer.write(f"POST /v1/chat/completions HTTP/1.1\\r\\nHost: a\\r\\n{sys.argv[2]}".encode())
            writer.write(b"Transfer-Encoding: chunked\\r\\n\\r\\n")
            while True:
                writer.write(b"1\\r\\n \\r\\n" * 20_000)
                await writer.drain()
        except OSError:
            await asyncio.sleep(0.01)
async def main():
    await asyncio.gather(*(flood() for _ in range(12)))
asyncio.run(main())
"""
"""A program that sends bodies in chunks of one byte for ever, and begins again when one is refused."""


@pytest.mark.parametrize("key", ["", "Authorization: Bearer k-one\r\n"])
async def test_bodies_in_tiny_chunks_leave_the_loop_to_others(serve: Serve, key: str) -> None:
    async with serve(server={"api_keys": ["k-one", "k-two"]}) as client:
        flood = await asyncio.create_subprocess_exec(sys.executable, "-c", FLOOD, str(client.server.port), key)
        try:
            await until(lambda: client.server.saga.counters.counts["connections.paused"] > 0)
            begun, late = thread_time(), list[float]()
            for _ in range(20):  # of the same address, each on a new connection
                asked = monotonic()
                reader, writer = await asyncio.open_connection("127.0.0.1", client.server.port)
                head = "GET /v1/models HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer k-two\r\nConnection: close\r\n\r\n"
                writer.write(head.encode())
                assert (await reader.read()).startswith(b"HTTP/1.1 200")
                writer.close()
                late.append(monotonic() - asked)
                await asyncio.sleep(0.1)
            spent = thread_time() - begun
        finally:
            flood.kill()
            await flood.wait()
        assert spent < 1.0, "of two seconds and more"
        assert median(late) < 0.5, late
        assert (await client.get("/healthz")).status == 200


async def test_an_answer_in_tiny_pieces_is_read_slowly_and_leaves_the_loop_to_others() -> None:
    read = 0

    async def pieces() -> AsyncIterator[bytes]:
        while True:
            yield b"\n"

    async def reader() -> None:
        nonlocal read
        patience, chunks = Patience(60.0, lambda: UpstreamError("silent")), pieces()
        while await patience.next_of(chunks) is not None:
            read += 1

    task = asyncio.create_task(reader())
    begun, turns = monotonic(), 0
    while monotonic() - begun < 1.0:
        await asyncio.sleep(0)
        turns += 1
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert piece_pace._AT_ONCE <= read <= piece_pace._AT_ONCE + 2 * piece_pace._A_SECOND
    assert turns > 1_000
