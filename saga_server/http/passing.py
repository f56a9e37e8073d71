"""A request for a session that another server writes: it is passed on to that server, and its answer streams through.

Where the other server cannot be reached, or stops before it answers, the request waits until the session is free, and
is played here. One that was passed on once is not passed on again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypeVar

from aiohttp import web

from saga_core import Saga
from saga_core.errors import BadInput, NotFound, OwnedElsewhere, StoreError
from saga_core.ownership import LOOK_CLOSELY, Leases
from saga_server.http.app_keys import CURRENT, SAGA
from saga_server.http.entry.bodies import BODY
from saga_server.http.entry.large_requests import leave
from saga_server.http.entry.security import BEARER
from saga_server.http.errors import Handler

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientSession
    from multidict import CIMultiDict

_log = logging.getLogger("saga.server")
T = TypeVar("T")

PASSED = "X-SAGA-Passed-On"
"""Which server passed a request on."""
NOT_MINE = "X-SAGA-Not-Owner"
"""Set on an answer that says only that the session is not written here."""
_OF_ONE_CONNECTION = frozenset(
    {"connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer", "transfer-encoding"}
    | {"upgrade", "host", "content-length", "content-encoding", "expect"}
)
_LOOK_SECONDS = 0.2
"""How often it is looked whether the other server still lives."""
_MORE_SECONDS = 5.0
"""What a request waits for a free session at most, beyond the length of a lease and of a server's stop."""
_CLIENT: Final = web.AppKey("passing", dict)
"""Holds the connections to other servers, once there are any."""


def prepare_passing(app: web.Application) -> None:
    """Make room for the connections to other servers, which close with the application."""
    app[_CLIENT] = {}
    app.on_cleanup.append(_close)


async def _close(app: web.Application) -> None:
    for client in app[_CLIENT].values():
        await client.close()


@web.middleware
async def passed_on(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answers by the server that writes the session, where that is another one."""
    saga = request.app[SAGA]
    leases = saga.parts.leases
    if leases is None:
        return await handler(request)
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
                LOOK_CLOSELY.set(True)  # whoever was asked knows better
            await asyncio.sleep(_LOOK_SECONDS)
    finally:
        LOOK_CLOSELY.reset(closely)


def longest_wait(saga: Saga) -> float:
    """The seconds that a request waits for a session at most: one that stops may have a reply under way for long."""
    leases = saga.parts.leases
    lease = leases.seconds if leases is not None else 0.0
    return lease + saga.config.server.drain_timeout + _MORE_SECONDS


async def _is_of_us(request: web.Request, leases: Leases) -> bool:
    """Whether the server that passed a request on shares the journal: one with a copy of it, which was made to look
    into, has the addresses of those that go on, and what is said to it is not meant for them.
    """
    try:
        return await leases.knows(request.headers[PASSED])
    except (StoreError, BadInput):
        return False


def _not_mine() -> web.Response:
    """Anybody may say that a request was passed on: where other servers are is told to none who does."""
    message = "this session is played on another server; ask again in a moment"
    return web.json_response({"error": {"message": message}}, status=503, headers={NOT_MINE: "1", "Retry-After": "1"})


async def _own_named(request: web.Request, saga: Saga) -> None:
    """A request that changes a session by its id goes to its server as a whole, before anything of it is done."""
    leases = saga.parts.leases
    parts = request.path.split("/")
    if leases is None or request.method in ("GET", "HEAD", "OPTIONS") or parts[1:2] != ["api"]:
        return
    named = parts[3] if parts[2:3] == ["sessions"] and len(parts) > 3 else request.query.get("session", "")
    if named:
        with suppress(NotFound):  # whoever answers says so
            await leases.own((await saga.sessions.get(named, request[BEARER].scope)).id)


async def _ask(
    request: web.Request, saga: Saga, error: OwnedElsewhere, unreachable: set[str]
) -> web.StreamResponse | None:
    """What the other server answers; None where it does not, or does not write the session any more."""
    found = await _asked(request, saga, error, unreachable)
    if found is None:
        return None
    async with found:
        saga.counters.add("leases.passed_on")
        return await _through(request, saga, error.server, found)


async def done_elsewhere(request: web.Request, error: OwnedElsewhere) -> bool:
    """Have a server do its part of what a request asks for. Whether it had one, and did it.

    Raises ``error`` where it refuses, or where the request was passed on to this server itself.
    """
    if PASSED in request.headers:
        raise error
    found = await _asked(request, request.app[SAGA], error, set()) if error.address else None
    if found is None:
        LOOK_CLOSELY.set(True)
        return False
    async with found:
        await found.read()
        if found.status not in (200, 404):
            raise error
        return True


async def _asked(
    request: web.Request, saga: Saga, error: OwnedElsewhere, unreachable: set[str]
) -> ClientResponse | None:
    """The answer of the other server, to be closed; None where there is none, or no session of its own."""
    import aiohttp

    leases = saga.parts.leases
    assert leases is not None
    leave(request)  # read here; the other server has turns of its own
    headers = kept(request.headers)
    headers[PASSED] = leases.server
    asking = client_of(request.app).request(
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


def client_of(app: web.Application) -> ClientSession:
    """The connections to other servers."""
    import aiohttp

    held = app[_CLIENT]
    if "client" not in held:
        held["client"] = aiohttp.ClientSession(
            timeout=aiohttp.ClientTimeout(total=None, connect=5.0),
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
        )
    client: ClientSession = held["client"]
    return client


def kept(headers: Mapping[str, str]) -> CIMultiDict[str]:
    """The headers that are for whoever answers, not for one connection."""
    from multidict import CIMultiDict

    found = CIMultiDict(headers)
    for name in {*found}:
        if name.lower() in _OF_ONE_CONNECTION:
            found.popall(name, None)
    return found


async def _through(request: web.Request, saga: Saga, server: str, found: ClientResponse) -> web.StreamResponse:
    import aiohttp

    response = web.StreamResponse(status=found.status, headers=kept(found.headers))
    await response.prepare(request)
    watching = asyncio.create_task(_watch(saga, server, found))
    try:
        while piece := await found.content.readany():
            await response.write(piece)
        await response.write_eof()
    except (OSError, aiohttp.ClientError):
        _log.warning("the server %s broke off an answer that was passed on", server)
        if request.transport is not None:
            request.transport.abort()  # what was sent is no whole answer, and must not look like one
    finally:
        watching.cancel()
    return response


async def _watch(saga: Saga, server: str, found: ClientResponse) -> None:
    """Break off an answer whose server is gone."""
    leases = saga.parts.leases
    assert leases is not None
    while True:
        await asyncio.sleep(_LOOK_SECONDS)
        if leases.is_gone(server):
            break
    found.content.set_exception(ConnectionError(f"{server} gives no sign of life"))
    found.close()


async def _while_alive(saga: Saga, server: str, work: Awaitable[T]) -> T:
    """What ``work`` gives. Raises ``ConnectionError`` when ``server`` is gone before."""
    leases = saga.parts.leases
    assert leases is not None
    task = asyncio.ensure_future(work)
    try:
        while not (await asyncio.wait({task}, timeout=_LOOK_SECONDS))[0]:
            if leases.is_gone(server):
                raise ConnectionError(f"{server} gives no sign of life")
        return task.result()
    finally:
        task.cancel()
