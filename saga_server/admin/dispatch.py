"""Dispatch a request by the table: match the path, read the parameters, call the handler, send the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any
from weakref import WeakValueDictionary

from aiohttp import web
from aiohttp.typedefs import Handler
from attrs import define, field

from saga_core.errors import NotFound, SagaError, StoreError, StoreUnavailable
from saga_server.admin.endpoint import TABLE, Endpoint
from saga_server.admin.endpoints import ENDPOINTS
from saga_server.admin.read_params import params_of, read_params
from saga_server.admin.reply import as_json, tag_of, tagged
from saga_server.http import ACTION, BEARER, KEY_REQUIRED, SAGA, Action, RequestError, choose_engine, saga_id, saga_of
from saga_server.tenancy import tenancy_of


def dispatcher() -> Handler:
    """Return the handler of all requests to the table.

    It raises aiohttp's errors for unknown paths and methods, and ``SagaError`` otherwise.
    """
    return _Dispatcher().dispatch


_READINGS = 2
"""Readings of sessions that are answered at once for one key. Each may hold all turns of a large session."""
_REPEATS = 8
"""The maximum number of times that a reading is repeated because sessions were removed meanwhile."""
ENDLESS = "/api/events"
"""The path that streams until the client disconnects, and so does not support HEAD."""


@define(eq=False)
class _Dispatcher:
    router: web.UrlDispatcher = field(factory=web.UrlDispatcher)
    rows: dict[web.AbstractRoute, Endpoint] = field(factory=dict)
    reading: dict[str, Endpoint] = field(factory=dict)
    """The rows with the method GET, by path."""
    readings: WeakValueDictionary[str, asyncio.Semaphore] = field(
        factory=lambda: WeakValueDictionary[str, asyncio.Semaphore]()
    )
    """Admits readings of sessions, by key."""
    editing: WeakValueDictionary[str, asyncio.Lock] = field(factory=lambda: WeakValueDictionary[str, asyncio.Lock]())
    """Locks by path. They keep conditional edits of the same thing from interleaving between check and change."""

    def __attrs_post_init__(self) -> None:
        for endpoint in ENDPOINTS:
            self.rows[self.router.add_route(endpoint.method, endpoint.path, _unused)] = endpoint
            if endpoint.method == "GET":
                if endpoint.path != ENDLESS:
                    self.rows[self.router.add_route("HEAD", endpoint.path, _unused)] = endpoint
                self.reading[endpoint.path] = endpoint

    async def dispatch(self, request: web.Request) -> web.StreamResponse:
        match = await self.router.resolve(request)
        if match.http_exception is not None:
            raise match.http_exception
        endpoint = self.rows[match.route]
        request[TABLE] = ENDPOINTS
        if not endpoint.open:
            request[ACTION] = Action(endpoint.request)
        if endpoint.reach == "admin" and request[BEARER].role != "admin":
            raise RequestError(
                f"{endpoint.request} wants a key that may administer; this one sees its own sessions alone",
                status=403,
                kind="permission_error",
            )
        given = await _scoped(request, endpoint, await read_params(endpoint, request, match))
        if endpoint.costs:
            await tenancy_of(request.app[SAGA]).admit(request[BEARER].key_id)
        elif endpoint.grows:
            await tenancy_of(request.app[SAGA]).has_room(request[BEARER].key_id)
        if endpoint.method == "GET" and endpoint.path != ENDLESS and given.get("session") is not None:
            # Without required keys a client can send any key, so all clients share the places.
            owner = request[BEARER].owner if request[KEY_REQUIRED] else ""
            places = self.readings.setdefault(owner, asyncio.Semaphore(_READINGS))
            async with places:
                answer = await _read(request, endpoint, given)
                await answer.prepare(request)
                await answer.write_eof()  # the place is kept until the client has taken it
                return answer
        condition = request.headers.get("If-Match")
        if condition is None or endpoint.method == "GET":
            return await _answer(request, endpoint, given)
        if endpoint.if_match is None:
            raise RequestError(f"If-Match: {endpoint.request} takes no condition; leave it out", param="If-Match")
        lock = self.editing.setdefault(endpoint.if_match.format_map(match), asyncio.Lock())
        async with lock:
            await self._compare(request, self.reading[endpoint.if_match], match, condition)
            return await _answer(request, endpoint, given)

    async def _compare(
        self, request: web.Request, source: Endpoint, match: web.UrlMappingMatchInfo, condition: str
    ) -> None:
        action = request[ACTION]
        parts = {each.key: match[each.name] for each in params_of(source.handler) if each.spec.place == "path"}
        given = await _scoped(request, source, parts)
        request[ACTION] = action
        answer = await as_json(await source.handler(request, **given))
        tag = tag_of(answer.body if isinstance(answer.body, bytes) else b"")
        if condition.strip() != "*" and tag not in (each.strip() for each in condition.split(",")):
            where = source.path.format_map(match)
            message = f"If-Match: {where} has changed since it was read; read it again, and edit what it says now"
            raise RequestError(message, param="If-Match", status=412, kind="precondition_error")


async def _scoped(request: web.Request, endpoint: Endpoint, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the parameters with the session's name replaced by its id. Also sets ``ACTION``.

    Raises ``NotFound`` if the session is not the player's. For an administrator, the handler reports what is not found.
    """
    named = given.get("session")
    owner = request[BEARER].scope
    if named is None or endpoint.open:
        return given
    saga = await choose_engine(request, named, owner)
    found = saga_id(named)
    try:
        found = (await saga.sessions.get(named, owner)).id
        given = {**given, "session": found}
    except SagaError as error:
        if owner is not None or isinstance(error, StoreUnavailable):
            raise
    if saga is request.app[SAGA]:  # the audit log keeps nothing of an ephemeral session
        request[ACTION] = Action(endpoint.request, found, saga_id(given.get("turn")))
    return given


async def _answer(request: web.Request, endpoint: Endpoint, given: Mapping[str, Any]) -> web.StreamResponse:
    found = await endpoint.handler(request, **given)
    if isinstance(found, web.StreamResponse):
        return found
    response = await as_json(found, endpoint.status if endpoint.status_of is None else endpoint.status_of(found))
    if endpoint.method == "GET" and response.status == 200 and not endpoint.open:
        return tagged(response, request.headers.get("If-None-Match"))
    return response


async def _read(request: web.Request, endpoint: Endpoint, given: Mapping[str, Any]) -> web.StreamResponse:
    """Answer a reading of a session. It is repeated if a session was reset, pruned or deleted meanwhile."""
    locks = saga_of(request).parts.play.locks
    for _ in range(_REPEATS):
        changes = locks.changes
        try:
            return await _answer(request, endpoint, given)
        except (StoreError, NotFound):
            if not await locks.changed(changes):
                raise
    return await _answer(request, endpoint, given)


async def _unused(request: web.Request) -> web.StreamResponse:
    raise AssertionError("the dispatcher calls the handler of the row")
