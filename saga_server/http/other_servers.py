"""The other servers that share the journal: pass requests for their sessions on to them, and merge their events.

If the owner of a session cannot be reached, or stops before it replies, the request waits until the session is free and
is then handled here. A request that was passed on once is not passed on again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypeVar

import aiohttp
from aiohttp import web
from aiohttp.typedefs import Handler
from multidict import CIMultiDict

from saga_core import Saga
from saga_core.errors import BadInput, NotFound, OwnedElsewhere, StoreError
from saga_server.http.app_keys import CURRENT, SAGA
from saga_server.http.bodies import BODY
from saga_server.http.callers.identity import BEARER
from saga_server.http.cpu_shares import leave
from saga_server.tenancy import tenancy_of

if TYPE_CHECKING:
    from saga_server.hosting import Leases

_log = logging.getLogger("saga.server")
T = TypeVar("T")

PASSED = "X-SAGA-Passed-On"
"""Request header: the server that passed the request on."""
NOT_MINE = "X-SAGA-Not-Owner"
"""Reply header: set when the reply says only that this server does not own the session."""
_OF_ONE_CONNECTION = frozenset(
    {"connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer", "transfer-encoding"}
    | {"upgrade", "host", "content-length", "content-encoding", "expect"}
)
_LOOK_SECONDS = 0.2
"""Seconds between two checks whether the other server is still alive."""
_MORE_SECONDS = 5.0
"""Seconds that a request waits for a free session, in addition to the lease and the drain timeout of a server."""
_LARGEST_EVENT: Final = 1 << 20
"""The largest event in bytes. If a server sends a larger one, its stream is opened anew."""
_LOOK_FOR_SERVERS: Final = 0.5
"""Seconds between two checks which servers are alive."""
_CLIENT: Final = web.AppKey("passing", aiohttp.ClientSession)


def prepare_forwarding(app: web.Application) -> None:
    """Keep an HTTP client for other servers as long as the application runs."""
    app.cleanup_ctx.append(_client)


async def _client(app: web.Application) -> AsyncIterator[None]:
    async with aiohttp.ClientSession(
        timeout=aiohttp.ClientTimeout(total=None, connect=5.0),
        auto_decompress=False,
        cookie_jar=aiohttp.DummyCookieJar(),
    ) as client:
        app[_CLIENT] = client
        yield


@web.middleware
async def forward_to_owner(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Pass the request on if another server owns its session. Raises ``OwnedElsewhere`` after ``longest_wait``."""
    saga = request.app[SAGA]
    leases = tenancy_of(saga).leases
    if leases is None:
        return await handler(request)
    from saga_server.hosting import LOOK_CLOSELY

    if PASSED in request.headers and (request.app[CURRENT].stopping or not await _is_of_us(request, leases)):
        return _not_mine()
    deadline = asyncio.get_running_loop().time() + longest_wait(saga)
    unreachable: set[str] = set()
    closely = LOOK_CLOSELY.set(PASSED in request.headers)
    try:
        while True:
            try:
                await _own_named(request, saga)
                return await handler(request)
            except OwnedElsewhere as error:
                if PASSED in request.headers:
                    return _not_mine()
                answer = await _ask(request, saga, error, unreachable) if error.address else None
                if answer is not None:
                    return answer
                if asyncio.get_running_loop().time() > deadline:
                    raise
                LOOK_CLOSELY.set(True)  # from now on, do not guess the owner before the session is read
            await asyncio.sleep(_LOOK_SECONDS)
    finally:
        LOOK_CLOSELY.reset(closely)


def longest_wait(saga: Saga) -> float:
    """Return the longest wait for a session in seconds. A server that shuts down may still finish a long reply."""
    leases = tenancy_of(saga).leases
    lease = leases.seconds if leases is not None else 0.0
    return lease + saga.config.server.drain_timeout + _MORE_SECONDS


async def _is_of_us(request: web.Request, leases: Leases) -> bool:
    """Whether the server that passed the request on shares this journal.

    A server that was started on a copy of the journal finds the addresses of the live servers in it, but its requests
    are not meant for them.
    """
    try:
        return await leases.knows(request.headers[PASSED])
    except (StoreError, BadInput):
        return False


def _not_mine() -> web.Response:
    """Refuse a passed-on request. Any client can set ``PASSED``, so the reply does not give the owner's address."""
    message = "this session is played on another server; ask again in a moment"
    return web.json_response({"error": {"message": message}}, status=503, headers={NOT_MINE: "1", "Retry-After": "1"})


async def _own_named(request: web.Request, saga: Saga) -> None:
    """Own the session that an admin request changes. Raises ``OwnedElsewhere`` before the handler did anything."""
    leases = tenancy_of(saga).leases
    parts = request.path.split("/")
    if leases is None or request.method in ("GET", "HEAD", "OPTIONS") or parts[1:2] != ["api"]:
        return
    named = parts[3] if parts[2:3] == ["sessions"] and len(parts) > 3 else request.query.get("session", "")
    if named:
        with suppress(NotFound):  # the handler reports it
            await leases.own((await saga.sessions.get(named, request[BEARER].scope)).id)


async def _ask(
    request: web.Request, saga: Saga, error: OwnedElsewhere, unreachable: set[str]
) -> web.StreamResponse | None:
    """Return the reply of the other server. None if it does not reply or no longer owns the session."""
    found = await _reply_of(request, saga, error, unreachable)
    if found is None:
        return None
    async with found:
        saga.counters.add("leases.passed_on")
        return await _stream_through(request, saga, error.server, found)


async def done_by_owner(request: web.Request, error: OwnedElsewhere) -> bytes | None:
    """Have the owner of a session carry out its part of a request. Return its reply, or None if there is none.

    A reply of 404 counts as done, and is empty. Raises ``error`` if the owner refuses, or if the request itself was
    passed on.
    """
    if PASSED in request.headers:
        raise error
    found = await _reply_of(request, request.app[SAGA], error, set()) if error.address else None
    if found is None:
        from saga_server.hosting import LOOK_CLOSELY

        LOOK_CLOSELY.set(True)
        return None
    async with found:
        body = await found.read()
        if found.status not in (200, 404):
            raise error
        return body if found.status == 200 else b""


async def _reply_of(
    request: web.Request, saga: Saga, error: OwnedElsewhere, unreachable: set[str]
) -> aiohttp.ClientResponse | None:
    """Return the other server's reply, which the caller must close. None if it is not reached or not the owner."""
    leases = tenancy_of(saga).leases
    assert leases is not None
    leave(request)  # this server is done reading it; the other server has its own queue for large requests
    headers = _end_to_end(request.headers)
    headers[PASSED] = leases.server
    asking = request.app[_CLIENT].request(
        request.method, error.address + request.path_qs, data=request.get(BODY, b""), headers=headers
    )
    try:
        found = await _while_alive(saga, error.server, asking)
    except (aiohttp.ClientError, TimeoutError, OSError) as failure:
        if error.server not in unreachable:
            unreachable.add(error.server)
            saga.counters.add("leases.unreachable")
            _log.warning("the server %s cannot be reached at %s: %s", error.server, error.address, failure)
        return None
    if NOT_MINE in found.headers:
        found.close()
        return None
    return found


def _end_to_end(headers: Mapping[str, str]) -> CIMultiDict[str]:
    """Return ``headers`` without those that concern a single connection (hop-by-hop headers)."""
    found = CIMultiDict(headers)
    for name in {*found}:
        if name.lower() in _OF_ONE_CONNECTION:
            found.popall(name, None)
    return found


async def _stream_through(
    request: web.Request, saga: Saga, server: str, found: aiohttp.ClientResponse
) -> web.StreamResponse:
    response = web.StreamResponse(status=found.status, headers=_end_to_end(found.headers))
    await response.prepare(request)
    watching = asyncio.create_task(_watch(saga, server, found))
    try:
        while piece := await found.content.readany():
            await response.write(piece)
        await response.write_eof()
    except (OSError, aiohttp.ClientError):
        _log.warning("the server %s broke off an answer that was passed on", server)
        if request.transport is not None:
            request.transport.abort()  # the reply is incomplete, and the client must notice
    finally:
        watching.cancel()
    return response


async def _watch(saga: Saga, server: str, found: aiohttp.ClientResponse) -> None:
    """Break off the reply ``found`` once its server is gone."""
    leases = tenancy_of(saga).leases
    assert leases is not None
    while True:
        await asyncio.sleep(_LOOK_SECONDS)
        if leases.is_gone(server):
            break
    found.content.set_exception(ConnectionError(f"{server} gives no sign of life"))
    found.close()


async def _while_alive(saga: Saga, server: str, work: Awaitable[T]) -> T:
    """Return the result of ``work``. Raises ``ConnectionError`` if ``server`` is gone before that."""
    leases = tenancy_of(saga).leases
    assert leases is not None
    task = asyncio.ensure_future(work)
    try:
        while not (await asyncio.wait({task}, timeout=_LOOK_SECONDS))[0]:
            if leases.is_gone(server):
                raise ConnectionError(f"{server} gives no sign of life")
        return task.result()
    finally:
        task.cancel()


# -- events ----------------------------------------------------------------------------------------------------


async def merge_events(request: web.Request, take: Callable[[bytes], None]) -> None:
    """Pass each event of the same stream on the other live servers to ``take``, until cancelled.

    Each server is asked with the listener's own key, so that it sends only what the listener may see. Without listeners
    nothing is requested. Events of a server that cannot be reached are lost; the journal has the data.
    """
    leases = tenancy_of(request.app[SAGA]).leases
    if leases is None or PASSED in request.headers:
        return
    following: dict[str, asyncio.Task[None]] = {}
    try:
        while True:
            others = leases.status()["others"]
            alive = {each["server"]: each["address"] for each in others if each["alive"] and each["address"]}
            for server in following.keys() - alive.keys():
                following.pop(server).cancel()
            for server, address in alive.items():
                if server not in following or following[server].done():
                    following[server] = asyncio.create_task(_follow(request, leases.server, address, take))
            await asyncio.sleep(_LOOK_FOR_SERVERS)
    finally:
        for task in following.values():
            task.cancel()
        await asyncio.gather(*following.values(), return_exceptions=True)


async def _follow(request: web.Request, server: str, address: str, take: Callable[[bytes], None]) -> None:
    headers = _end_to_end(request.headers)
    headers.popall("Accept-Encoding", None)
    headers[PASSED] = server
    try:
        async with request.app[_CLIENT].get(address + request.path_qs, headers=headers) as answer:
            left = b""
            while answer.status == 200 and len(left) <= _LARGEST_EVENT:
                piece = await answer.content.readany()
                if not piece:
                    return
                *events, left = (left + piece).split(b"\n\n")
                for each in events:
                    if each.startswith(b"event:"):  # keep-alive comments are dropped; this server sends its own
                        take(each + b"\n\n")
    except (aiohttp.ClientError, OSError):
        return  # the caller asks again while the server is alive
