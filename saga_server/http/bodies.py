"""Receive and unpack the body of a request that passed the access check, up to the size limit.

aiohttp's own unpacking is off, because it also unpacks the bodies of refused requests, only to discard them.
"""

from __future__ import annotations

import asyncio
import zlib
from io import BytesIO
from typing import Final

from aiohttp import HttpVersion11, web

from saga_server.http.errors import RequestError
from saga_server.http.held_bytes import Holding
from saga_server.http.open_connections import CONNECTIONS

BODY: Final = web.RequestKey("body", bytes)
"""The unpacked body. ``check_access`` sets it."""

LIMIT: Final = web.AppKey("limit", int)
"""The limit for a body in bytes, both packed and unpacked."""
BODY_SECONDS = 60.0
"""Seconds that a request's body may take to arrive."""
BODY_STALL_SECONDS = 15.0
"""Seconds without a byte after which a body counts as one that never arrives."""
PACKINGS = ("gzip", "deflate")
_SLICE = 1 << 18
"""Bytes that are unpacked in one step."""


async def uninvited(request: web.Request) -> None:
    """Handle ``Expect`` without asking for the body, which ``receive`` does when it is known who sends it."""
    if request.version == HttpVersion11 and not _waits(request):
        raise web.HTTPExpectationFailed


def _waits(request: web.Request) -> bool:
    return request.version == HttpVersion11 and request.headers.get("Expect", "").lower() == "100-continue"


async def receive(request: web.Request, holding: Holding) -> bytes:
    """Receive the whole body as sent, and count it in ``holding``.

    Raises ``RequestError`` (413, 429) as soon as it is too large, or if it takes too long (408).
    """
    packing(request)  # refuses an unsupported encoding before the body arrives
    limit, loop = request.app[LIMIT], asyncio.get_running_loop()
    declared = request.content_length
    if declared is not None and declared > limit:
        raise _too_large(limit)
    if _waits(request):
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        await request.writer.drain()
        request.writer.output_size = 0  # aiohttp takes anything else for a reply that has begun
    whole = BytesIO()  # not a list, because joining its parts would hold the interpreter's lock
    ends = loop.time() + BODY_SECONDS
    try:
        async with asyncio.timeout(min(BODY_SECONDS, BODY_STALL_SECONDS)) as patience:
            while chunk := await request.content.readany():
                whole.write(chunk)
                if whole.tell() > limit:
                    raise _too_large(limit)
                holding.more(len(chunk))
                await request.app[CONNECTIONS].turn(request.protocol)
                if not request.content.is_eof():
                    patience.reschedule(min(ends, loop.time() + BODY_STALL_SECONDS))
    except TimeoutError:
        raise RequestError(
            f"the body did not arrive within {BODY_SECONDS:g} s, or nothing of it for {BODY_STALL_SECONDS:g} s",
            param="body",
            status=408,
            kind="timeout_error",
        ) from None
    return whole.getvalue()


def packing(request: web.Request) -> str:
    """Return how the body is packed; empty if it is not. Raises ``RequestError`` (415) for an unsupported encoding."""
    sent_as = ", ".join(request.headers.getall("Transfer-Encoding", [])).strip().lower()
    if sent_as not in ("", "chunked"):  # a proxy may unpack it, and aiohttp does not
        told = f"Transfer-Encoding: {sent_as[:80]!r} is not taken; send chunked alone"
        raise RequestError(told, param="Transfer-Encoding", status=501)
    found = ", ".join(request.headers.getall("Content-Encoding", [])).strip().lower()
    if found in ("", "identity"):
        return ""
    if found not in PACKINGS:
        raise RequestError(
            f"Content-Encoding: {found[:80]!r} is not taken; send {' or '.join(PACKINGS)}, or nothing packed",
            param="Content-Encoding",
            status=415,
        )
    return found


async def unpacked(request: web.Request, received: bytes, holding: Holding) -> bytes:
    """Unpack the body if necessary. Raises ``RequestError`` (413) as soon as it is too large, and 429."""
    packed_as = packing(request)
    if not packed_as:
        return received
    body = await asyncio.to_thread(_unpacked, packed_as, received, request.app[LIMIT])
    holding.more(len(body) - len(received))
    return body


def _unpacked(packed_as: str, received: bytes, limit: int) -> bytes:
    """Unpack a body. Runs in a thread; zlib releases the GIL while it unpacks a slice."""
    whole, unpacker, waiting = BytesIO(), _Unpacker(packed_as), received
    while waiting:
        piece, waiting = unpacker.unpack(waiting)
        if whole.tell() + len(piece) > limit:
            raise _too_large(limit)
        whole.write(piece)
    if received and not unpacker.whole:
        raise RequestError("the body cannot be read: it is cut off before the end of its packing", param="body")
    return whole.getvalue()


def _too_large(limit: int) -> RequestError:
    return RequestError(f"the request is larger than {limit >> 20} MB (server.max_body_mb)", param="body", status=413)


class _Unpacker:
    """Unpacks slices of at most ``_SLICE`` bytes."""

    def __init__(self, packed_as: str) -> None:
        self._gzip = packed_as == "gzip"
        self._unpacking: zlib._Decompress | None = None

    @property
    def whole(self) -> bool:
        """Whether the end of the packed data was reached."""
        return self._unpacking is not None and self._unpacking.eof

    def unpack(self, packed: bytes) -> tuple[bytes, bytes]:
        """Unpack a slice. Return the slice and the rest of ``packed``."""
        if self._unpacking is None or (self.whole and self._gzip):  # gzip may have several members
            self._unpacking = zlib.decompressobj(self._window(packed))
        elif self.whole:
            raise RequestError("the body cannot be read: there is more behind its end", param="body")
        try:
            piece = self._unpacking.decompress(packed, _SLICE)
        except zlib.error as error:
            raise RequestError(f"the body cannot be read: {error}", param="body") from None
        return piece, self._unpacking.unconsumed_tail or self._unpacking.unused_data

    def _window(self, packed: bytes) -> int:
        if self._gzip:
            return 16 + zlib.MAX_WBITS
        return zlib.MAX_WBITS if packed[0] & 0x0F == 8 else -zlib.MAX_WBITS
