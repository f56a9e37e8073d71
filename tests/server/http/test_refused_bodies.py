"""Bodies of requests that are refused, packed ones above all: nothing of them is unpacked, and the connection ends."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from functools import cache

import pytest

from saga_server.http import bodies
from tests.server.client import CHAT, Client
from tests.server.conftest import Serve
from tests.server.http.test_security_attacks import send_raw

HEAD = "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Encoding: gzip\r\nContent-Length: {size}\r\n{more}\r\n"


@cache
def bomb() -> bytes:
    """200 MB in a body of 200 KB."""
    return gzip.compress(b" " * (200 << 20), 9)


def request(path: str = CHAT, more: str = "") -> bytes:
    return HEAD.format(path=path, size=len(bomb()), more=more).encode() + bomb()


@pytest.fixture
def unpacked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many bytes were unpacked, slice by slice, by whatever unpacks."""
    found: list[int] = []
    real = zlib.decompressobj

    class Counting:
        def __init__(self, *given: int) -> None:
            self._real = real(*given)

        def __getattr__(self, name: str) -> object:
            return getattr(self._real, name)

        def decompress(self, data: bytes, most: int = 0) -> bytes:
            piece = self._real.decompress(data, most)
            found.append(len(piece))
            return piece

    monkeypatch.setattr(zlib, "decompressobj", Counting)
    return found


async def test_without_a_key_nothing_is_unpacked(serve: Serve, unpacked: list[int]) -> None:
    async with serve(server={"api_keys": ["k" * 20]}) as client:
        answer = await send_raw(client, request(), until=b"api_keys")
        assert answer.startswith(b"HTTP/1.1 401 ") and b"Connection: close" in answer
    assert sum(unpacked) == 0


async def test_nor_for_a_foreign_page_or_a_path_that_is_none(offline: Client, unpacked: list[int]) -> None:
    for raw, status in (
        (request(more="Origin: https://evil.example\r\n"), b"403"),
        (request(more="Authorization: Bearer a\r\nAuthorization: Bearer b\r\n"), b"400"),
    ):
        answer = await send_raw(offline, raw, until=b'"code"')
        assert answer.startswith(b"HTTP/1.1 " + status) and b"Connection: close" in answer
    assert sum(unpacked) == 0


async def test_it_is_refused_as_it_grows(serve: Serve, unpacked: list[int]) -> None:
    async with serve(server={"max_body_mb": 1}) as client:
        answer = await send_raw(client, request(), until=b"max_body_mb")
        assert answer.startswith(b"HTTP/1.1 413 ")
    assert 1 << 20 < sum(unpacked) <= (1 << 20) + bodies._SLICE
    assert max(unpacked) <= bodies._SLICE


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress, lambda raw: zlib.compress(raw)[2:-4]])
async def test_what_may_come_packed_still_may(offline: Client, pack: object) -> None:
    assert callable(pack)
    body = b'{"model": "m", "messages": [{"role": "user", "content": "hi"}]}'
    packing = "gzip" if pack is gzip.compress else "deflate"
    reply = await offline.post(CHAT, data=pack(body), headers={"Content-Encoding": packing})
    assert reply.status == 200


@pytest.mark.parametrize(
    ("packing", "raw", "status", "told"),
    [
        ("br", b"x", 415, "gzip or deflate"),
        ("gzip, gzip", b"x", 415, "gzip or deflate"),
        ("gzip", gzip.compress(b"{}" * 100, mtime=0)[:-12], 400, "cut off"),
        ("gzip", b"nothing", 400, "cannot be read"),
        ("deflate", zlib.compress(b"{}") + b"more", 400, "behind its end"),
    ],
    ids=["unknown", "twice", "cut off", "no gzip", "more behind it"],
)
async def test_what_cannot_be_unpacked(offline: Client, packing: str, raw: bytes, status: int, told: str) -> None:
    reply = await offline.post(CHAT, data=raw, headers={"Content-Encoding": packing})
    assert reply.status == status and told in reply.error["message"]


async def test_a_second_authorization_is_refused(serve: Serve) -> None:
    async with serve(server={"api_keys": ["k" * 20]}) as client:
        head = b"GET /api/status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        for lines in (b"Authorization: Bearer x\r\nAuthorization: Bearer " + b"k" * 20,):
            answer = await send_raw(client, head + lines + b"\r\n\r\n")
            assert answer.startswith(b"HTTP/1.1 400 ")


EXPECTING = f"POST {CHAT} HTTP/1.1\r\nHost: localhost\r\nExpect: 100-Continue\r\n"


@pytest.mark.parametrize(
    ("lines", "status"), [("", 401), ("Authorization: Bearer none\r\n", 401), ("Origin: https://evil.example\r\n", 403)]
)
async def test_no_body_is_asked_for_that_is_not_read(serve: Serve, lines: str, status: int) -> None:
    async with serve(server={"api_keys": ["k" * 20]}) as client:
        raw = f"{EXPECTING}{lines}Content-Length: 50000000\r\n\r\n".encode()
        answer = await send_raw(client, raw, until=b'"code"')
        assert answer.startswith(f"HTTP/1.1 {status} ".encode())


@pytest.mark.parametrize("size", [50_000_000, 2 << 20])
async def test_nor_one_that_is_too_large(serve: Serve, size: int) -> None:
    async with serve(server={"max_body_mb": 1}) as client:
        answer = await send_raw(client, f"{EXPECTING}Content-Length: {size}\r\n\r\n".encode(), until=b'"code"')
        assert answer.startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize("body", [b'{"model": "m", "messages": [{"role": "user", "content": "hi"}]}', b"{"])
async def test_one_that_is_read_is_asked_for(serve: Serve, body: bytes) -> None:
    async with serve(server={"api_keys": ["k" * 20]}) as client:
        reader, writer = await asyncio.open_connection("127.0.0.1", client.server.port)
        lines = f"Authorization: Bearer {'k' * 20}\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write((EXPECTING + lines).encode())
        async with asyncio.timeout(20):
            assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
            writer.write(body)
            answer = await reader.read()
        writer.close()
        assert answer.startswith(b"HTTP/1.1 400 " if body == b"{" else b"HTTP/1.1 200 ")


async def test_another_expectation_is_refused(offline: Client) -> None:
    raw = f"{EXPECTING.replace('100-Continue', 'more')}Content-Length: 2\r\nConnection: close\r\n\r\n{{}}".encode()
    assert (await send_raw(offline, raw)).startswith(b"HTTP/1.1 417 ")
