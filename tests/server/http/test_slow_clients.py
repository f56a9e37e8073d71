"""Clients that stop sending, or that take nothing of what is sent to them, hold little memory, and not for long."""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from attrs import evolve

from saga_server.admin import dispatch
from saga_server.http import HELD_BYTES, HeldBytes, bodies, held_bytes, open_connections
from saga_server.http.errors import RequestError
from saga_server.http.held_bytes import Holding
from tests.server.client import CHAT, Client, until, words
from tests.server.conftest import Serve
from tests.server.upstream import Received, Upstream, says

MB = 1 << 20
KEYS = {"server": {"api_keys": ["k-one", "k-two"]}}


class Line:
    """A connection whose own buffers take little."""

    def __init__(self, port: int) -> None:
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        self.socket.connect(("127.0.0.1", port))
        self.socket.setblocking(False)

    async def send(self, data: bytes) -> None:
        await asyncio.get_running_loop().sock_sendall(self.socket, data)

    async def read(self, size: int) -> bytes:
        """Read some of it; nothing once the connection is closed."""
        try:
            return await asyncio.wait_for(asyncio.get_running_loop().sock_recv(self.socket, size), 10.0)
        except ConnectionResetError:
            return b""


@asynccontextmanager
async def lines(client: Client, count: int) -> AsyncIterator[list[Line]]:
    found = [Line(client.server.port) for _ in range(count)]
    try:
        yield found
    finally:
        for each in found:
            each.socket.close()


def head(method: str, path: str, key: str, length: int = 0) -> bytes:
    wanted = f"{method} {path} HTTP/1.1", "Host: localhost", f"Authorization: Bearer {key}", f"Content-Length: {length}"
    return "\r\n".join((*wanted, "", "")).encode()


def held_by(client: Client, most: int) -> HeldBytes:
    """What the server holds, of which it may hold ``most``."""
    assert client.server._runner is not None
    found: HeldBytes = client.server._runner.app[HELD_BYTES]
    found.most = most
    return found


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held_bytes, "_LITTLE", 64 * 1_024)


# -- shares ----------------------------------------------------------------------------------------------------


def test_only_who_holds_more_than_an_even_part_is_refused() -> None:
    held = HeldBytes(100 * MB)
    assert not held.add("a", 100 * MB)
    assert held.add("a", 1), "alone it may hold everything"
    assert not held.add("b", 50 * MB) and held.add("b", 1)
    assert not held.add("c", 33 * MB) and held.add("c", MB)
    assert not any(held.add(f"player {n}", 4 * MB) for n in range(50)), "a little is always there"
    assert not held.add("c", -MB), "and makes no part smaller"
    held.add("a", -100 * MB - 1)
    held.add("b", -50 * MB - 1)
    held.add("c", -33 * MB)
    assert len(held._by_owner) == 50 and held._total == 200 * MB


def test_what_is_refused_is_given_back_as_well() -> None:
    held = HeldBytes(10 * MB)
    holding = Holding(held, "a")
    holding.more(10 * MB)
    with pytest.raises(RequestError, match="10 MB") as told:
        holding.more(1)
    assert told.value.status == 429
    holding.now(0)
    holding.now(0)
    assert held._total == 0 and not held._by_owner


# -- bodies ----------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("little")
@pytest.mark.parametrize("path", [CHAT, "/v1/audio/transcriptions", "/api/import?name=x.json"])
async def test_bodies_that_stop_hold_no_more_than_their_part(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr(bodies, "BODY_STALL_SECONDS", 2.0)
    async with serve(**KEYS) as client, lines(client, 12) as stopped:
        held = held_by(client, 4 * MB)
        for each in stopped:
            await each.send(head("POST", path, "k-one", MB + 10) + b" " * MB)
        reading = [asyncio.create_task(each.read(4_096)) for each in stopped]
        await until(lambda: sum(each.done() for each in reading) >= 8)
        assert 3 * MB <= held._total <= 4 * MB
        refused = [each for each in reading if each.done()]
        assert len(refused) <= 9 and all(b" 429 " in each.result() for each in refused)
        card = json.dumps({"name": "Mara", "description": "She keeps the mill. " * 50_000}).encode()
        other = evolve(client, key="k-two")
        assert (await other.post("/api/import?name=mara.json&dry_run=1", data=card)).status == 200
        others = [each for each in reading if each not in refused]
        assert all(b" 408 " in each for each in await asyncio.gather(*others)), "long before the minute is over"
    await until(lambda: held._total == 0)


@pytest.mark.usefixtures("little")
async def test_requests_in_progress_count_as_well(serve: Serve, upstream: Upstream) -> None:
    gate, asked = asyncio.Event(), 0
    plain = says("The rain stops.")

    async def waits(request: web.Request, received: Received) -> web.StreamResponse:
        nonlocal asked
        asked += 1
        await gate.wait()
        return await plain(request, received)

    upstream.otherwise = waits
    providers = {"openai": {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0}}
    async with serve(**KEYS, providers=providers) as client:
        held = held_by(client, MB)
        one, two = evolve(client, key="k-one"), evolve(client, key="k-two")
        playing = []
        for number in range(2):
            playing.append(asyncio.create_task(one.chat(words(f"{number} " + "a word " * 70_000))))
            await until(lambda: asked > len(playing) - 1)
        refused = await one.chat(words("3 " + "a word " * 70_000))
        assert (refused.status, refused.error["type"]) == (429, "rate_limit_error")
        playing.append(asyncio.create_task(two.chat(words("4 " + "a word " * 70_000))))
        await until(lambda: asked == 3)
        gate.set()
        assert [(await each).status for each in playing] == [200] * 3
    await until(lambda: held._total == 0)


async def test_a_packed_body_counts_as_it_is_unpacked(serve: Serve) -> None:
    async with serve(**KEYS) as client:
        held_by(client, 8 * MB)
        packed = gzip.compress(json.dumps({"model": "m", "messages": words("hello")}).encode() + b" " * (9 * MB))
        reply = await evolve(client, key="k-one").post(CHAT, data=packed, headers={"Content-Encoding": "gzip"})
        assert reply.status == 429


async def test_many_small_values_count_as_what_they_take(serve: Serve) -> None:
    async with serve(**KEYS) as client:
        held = held_by(client, 8 * MB)
        asked = {"model": "m", "messages": words("hello"), "extra": [{"n": ""}] * 40_000}
        assert len(json.dumps(asked)) < MB
        assert (await evolve(client, key="k-one").post(CHAT, json=asked)).status == 429
        asked["extra"] = "a word, " * 10_000
        assert (await evolve(client, key="k-one").post(CHAT, json=asked)).status == 200
        await until(lambda: held._total == 0)


async def test_a_slow_body_that_moves_arrives(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "BODY_STALL_SECONDS", 0.5)
    body = json.dumps({"model": "m", "messages": words("I go on.")}).encode()
    async with serve(**KEYS) as client, lines(client, 1) as (line,):
        await line.send(head("POST", CHAT, "k-one", len(body)))
        for start in range(0, len(body), 8):
            await line.send(body[start : start + 8])
            await asyncio.sleep(0.1)
        assert (await line.read(4_096)).startswith(b"HTTP/1.1 200")


# -- answers ---------------------------------------------------------------------------------------------------


async def session_of(client: Client) -> str:
    assert (await client.chat(words("I go on."))).status == 200
    found: str = (await client.get("/api/sessions", params={"fleeting": "all"})).json["sessions"][0]["id"]
    return found


async def test_a_reading_that_nobody_takes_keeps_its_place_and_is_given_up(
    serve: Serve, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with serve(**KEYS) as client, lines(client, 6) as unread:
        one, two = evolve(client, key="k-one"), evolve(client, key="k-two")
        path, made = f"/api/sessions/{await session_of(one)}/tree", 0
        inner = dispatch._answer

        async def answer(*asked: Any) -> web.StreamResponse:
            nonlocal made
            if asked[1].path.endswith("/tree"):
                made += 1
                return web.Response(body=b"x" * (2 * MB))
            return await inner(*asked)

        monkeypatch.setattr(dispatch, "_answer", answer)
        monkeypatch.setattr(open_connections, "SEND_SECONDS", 1.0)
        held = held_by(client, 256 * MB)
        for each in unread:
            await each.send(head("GET", path, "k-one"))
        await until(lambda: made == 2)
        await asyncio.sleep(0.3)
        assert made == 2 and 2 * MB < held._total <= 4 * MB
        assert len((await two.get(path)).raw) == 2 * MB
        await until(lambda: made == 7)
        counters = (await one.get("/api/status")).json["counters"]
        assert counters["connections.unread"] >= 4
        await until(lambda: held._total == 0)
    told = [each for each in caplog.records if "took nothing" in each.getMessage()]
    assert len(told) == 1 and told[0].levelno == logging.WARNING


@pytest.mark.usefixtures("little")
async def test_what_clients_of_a_key_leave_unread_is_bounded(serve: Serve, upstream: Upstream) -> None:
    """Here whole replies of a narrator."""
    upstream.otherwise = says("The rain stops. " * (MB // 20))
    providers = {"openai": {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0}}
    body = json.dumps({"model": "m", "messages": words("I go on.")}).encode()
    async with serve(**KEYS, providers=providers) as client, lines(client, 8) as unread:
        held = held_by(client, 2 * MB)
        for number, each in enumerate(unread):
            asked = body.replace(b"go on", b"go on %d" % number)
            await each.send(head("POST", CHAT, "k-one", len(asked)) + asked)
        status = evolve(client, key="k-two")
        for _ in range(200):
            counters = (await status.get("/api/status")).json["counters"]
            if counters.get("connections.unread", 0) >= 3:
                break
            await asyncio.sleep(0.05)
        else:
            pytest.fail("their connections stay")
        assert held._total <= 3 * MB
        assert (await status.chat(words("I go on."))).text.startswith("The rain stops.")
    await until(lambda: held._total == 0)


async def test_a_slow_reader_that_moves_gets_everything(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    async with serve(**KEYS) as client, lines(client, 1) as (line,):
        path = f"/api/sessions/{await session_of(evolve(client, key='k-one'))}/tree"

        async def answer(*_: Any) -> web.StreamResponse:
            return web.Response(body=b"x" * MB)

        monkeypatch.setattr(dispatch, "_answer", answer)
        monkeypatch.setattr(open_connections, "SEND_SECONDS", 0.25)
        await line.send(head("GET", path, "k-one"))
        taken = b""
        while taken.count(b"x") < MB:
            data = await line.read(32_768)
            assert data, f"cut off after {len(taken)} bytes"
            taken += data
            await asyncio.sleep(0.02)
