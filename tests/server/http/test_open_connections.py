"""Who keeps connections open without need loses them before anybody is locked out."""

from __future__ import annotations

import asyncio
import errno
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from attrs import evolve

from saga_core.counters import Counters
from saga_server.http import CONNECTIONS, Connections, open_connections
from tests.server.client import CHAT, Client, until
from tests.server.conftest import Serve
from tests.server.upstream import Upstream, says

HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
LONGEST = 10.0
Line = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@asynccontextmanager
async def lines(client: Client, count: int, sent: bytes = b"") -> AsyncIterator[list[Line]]:
    """Open connections, one after another, each after the answer to what was sent on the one before."""
    found: list[Line] = []
    try:
        for _ in range(count):
            reader, writer = await asyncio.open_connection("127.0.0.1", client.server.port)
            found.append((reader, writer))
            if sent:
                await asked(found[-1], sent)
        yield found
    finally:
        for _, writer in found:
            writer.close()


async def asked(line: Line, sent: bytes = HEALTH) -> bytes:
    reader, writer = line
    writer.write(sent)
    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), LONGEST)
    length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r")[0])
    return head + await asyncio.wait_for(reader.readexactly(length), LONGEST)


async def ended(line: Line) -> bool:
    try:
        return await asyncio.wait_for(line[0].read(), LONGEST) == b""
    except ConnectionResetError:
        return True


async def open_still(lines: list[Line]) -> int:
    """How many connections answer another request."""
    results = await asyncio.gather(*(asked(each) for each in lines), return_exceptions=True)
    return sum(isinstance(each, bytes) for each in results)


def among(client: Client) -> Connections:
    assert client.server._runner is not None
    return client.server._runner.app[CONNECTIONS]


def chat(key: str) -> bytes:
    body = b'{"model": "m", "messages": [{"role": "user", "content": "I go on."}]}'
    head = f"POST {CHAT} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\nContent-Length: {len(body)}"
    return head.encode() + b"\r\n\r\n" + body


# -- headers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("then", [b"", b"GE", b"GET /healthz HTTP/1.1\r\nHo"])
async def test_a_later_request_has_as_long_for_its_headers_as_the_first(
    offline: Client, monkeypatch: pytest.MonkeyPatch, then: bytes
) -> None:
    async with lines(offline, 1, HEALTH) as (line,):
        monkeypatch.setattr(open_connections, "HEAD_SECONDS", 0.1)
        await asked(line)
        await asyncio.sleep(0.15)  # idle, which is no request
        assert b"200 OK" in await asked(line, HEALTH + then), "its end, and the begin of the next one"
        line[1].write(b"GET /he" if not then else b"T")
        assert await ended(line)


async def test_a_reply_that_takes_long_is_no_request_that_takes_long(
    client: Client, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_connections, "HEAD_SECONDS", 0.05)
    gate = asyncio.Event()
    upstream.then(says("The rain stops.", gate=gate))
    asyncio.get_running_loop().call_later(0.2, gate.set)
    async with lines(client, 1) as (line,):
        assert b"The rain stops." in await asked(line, chat("k"))
        await asyncio.sleep(0.1)
        assert b"200 OK" in await asked(line)


async def test_no_body_is_waited_for_where_no_key_is_wanted(offline: Client) -> None:
    async with lines(offline, 1) as (line,):
        head = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"
        assert b"200 OK" in await asyncio.wait_for(asked(line, head), 5.0)


# -- too many --------------------------------------------------------------------------------------------------


async def test_an_address_keeps_some_connections_without_a_key(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(open_connections, "_STRANGERS", 3)
    monkeypatch.setattr(open_connections, "_STRANGERS_SECONDS", 0.0)
    async with serve(server={"api_keys": ["k-one"]}) as client, lines(client, 1, chat("k-one")) as known:
        async with lines(client, 8, HEALTH) as strangers:
            assert [await ended(each) for each in strangers[:5]] == [True] * 5
            assert await open_still(strangers[5:]) == 3
            assert b"200 OK" in await asked(known[0], chat("k-one")), "a connection with a key is no stranger's"
        status = (await evolve(client, key="k-one").get("/api/status")).json
        assert status["counters"]["connections.closed_for_others"] >= 5
    told = [each for each in caplog.records if "without a key" in each.getMessage()]
    assert len(told) == 1 and "127.0.0.1" in told[0].getMessage()


async def test_many_at_once_have_time_to_show_their_key(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_connections, "_STRANGERS", 2)
    async with serve(server={"api_keys": ["k-one"]}) as client, lines(client, 6) as several:
        answers = await asyncio.gather(*(asked(each, chat("k-one")) for each in several))
        assert all(b"200 OK" in each for each in answers)


async def test_strangers_and_then_idle_connections_give_way_when_there_are_too_many(serve: Serve) -> None:
    async with serve(server={"api_keys": ["k-one"]}) as client:
        among(client).most = 4
        async with lines(client, 3, chat("k-one")) as known, lines(client, 5, HEALTH) as strangers:
            assert [await ended(each) for each in strangers[:4]] == [True] * 4
            assert b"200 OK" in await asked(known[0], chat("k-one"))
            async with lines(client, 2, chat("k-one")):
                assert await ended(strangers[4])
                assert await ended(known[1]), "it was idle for longer than the first one"
                assert b"200 OK" in await asked(known[0], chat("k-one"))


async def test_whoever_is_being_answered_is_not_closed(
    serve: Serve, upstream: Upstream, caplog: pytest.LogCaptureFixture
) -> None:
    gate = asyncio.Event()
    upstream.then(says("The rain stops.", gate=gate))
    providers = {"openai": {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0}}
    async with serve(providers=providers, server={"api_keys": ["k-one"]}) as client:
        among(client).most = 1
        async with lines(client, 1) as (line,):
            playing = asyncio.create_task(asked(line, chat("k-one")))
            await until(lambda: bool(upstream.requests))
            async with lines(client, 2) as others:
                assert [await ended(each) for each in others] == [True, True]
            gate.set()
            assert b"The rain stops." in await playing
        assert client.server.saga.counters.counts["connections.refused"] == 2
    assert len([each for each in caplog.records if "refuses more" in each.getMessage()]) == 1


async def test_a_lack_of_files_is_logged_once_and_makes_room(offline: Client, caplog: pytest.LogCaptureFixture) -> None:
    async with lines(offline, 2, HEALTH) as idle:
        loop = asyncio.get_running_loop()
        error = OSError(errno.EMFILE, "Too many open files")
        for _ in range(300):
            loop.call_exception_handler({"message": "socket.accept() out of system resource", "exception": error})
        assert [await ended(each) for each in idle] == [True, True]
    told = [each for each in caplog.records if each.levelno >= logging.WARNING and "open files" in each.getMessage()]
    assert len(told) == 1 and told[0].exc_info is None
    assert offline.server.saga.counters.counts["connections.out_of_files"] == 1


async def test_other_errors_of_the_loop_are_logged_as_ever(offline: Client, caplog: pytest.LogCaptureFixture) -> None:
    assert (await offline.get("/healthz")).status == 200
    asyncio.get_running_loop().call_exception_handler({"message": "something else", "exception": ValueError("seven")})
    assert "something else" in caplog.text


@pytest.mark.parametrize(("files", "most"), [(1_024, 448), (256, 64), (64, 16), (65_536, 10_000), (-1, 10_000)])
def test_the_limit_of_open_files_decides(monkeypatch: pytest.MonkeyPatch, files: int, most: int) -> None:
    resource: Any = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (files, files))
    assert Connections(Counters()).most == most


async def test_nothing_of_closed_connections_stays(offline: Client) -> None:
    async with lines(offline, 3, HEALTH), lines(offline, 2):
        assert among(offline)._open
    connections = among(offline)
    await until(lambda: not connections._open)
    assert (connections._open, connections._strangers, connections._idle) == ({}, {}, {})
