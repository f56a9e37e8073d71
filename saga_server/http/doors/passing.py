"""Pass requests that are not part of a story on to the provider: embeddings, speech, images and moderation."""

from __future__ import annotations

import asyncio
from typing import Any

from aiohttp import web

from saga_core.errors import NotSupported
from saga_core.ports import PassesOn
from saga_server.http.app_keys import CURRENT, SAGA
from saga_server.http.doors.asking import read_value
from saga_server.http.doors.table import PLACE
from saga_server.http.entry.bodies import BODY
from saga_server.http.entry.large_requests import leave
from saga_server.http.entry.security import BEARER
from saga_server.http.errors import RequestError
from saga_server.http.openai_schema import to_json, typed
from saga_server.tenancy import tenancy_of

_NO_PAGE = {"Content-Security-Policy": "sandbox; default-src 'none'", "X-Content-Type-Options": "nosniff"}
"""Headers that keep a browser from running a reply's scripts as this server's, whatever content type it has."""


async def count_unbilled(request: web.Request) -> None:
    """Count a turn of the key for a request that is not billed.

    Raises ``RequestError`` (403) if the key has a limit for tokens or money, which could not be enforced.
    """
    record = request[BEARER].record
    if record is not None and (record.quotas.tokens_a_day or record.quotas.dollars_a_day):
        raise RequestError(
            "this key has a limit of tokens or money, and what is passed on is not billed; it may chat",
            status=403,
            kind="permission_error",
        )
    await tenancy_of(request.app[SAGA]).admit(request[BEARER].key_id)


async def pass_on(request: web.Request) -> web.Response:
    """``POST /v1/embeddings`` and the like: send the body to the provider of its model, and return its reply unchanged.

    Raises ``BadInput`` if no provider has the model, and ``NotSupported`` if the provider's API has only chats.
    """
    path, body = request[PLACE].path.removeprefix("/v1"), request[BODY]
    asked: Any = await read_value(request, {}) if request.content_type == "application/json" else {}
    asked = asked if isinstance(asked, dict) else {}
    model = typed(asked, "model", str, "a text") or ""
    narrators = request.app[CURRENT].narrators
    route = narrators.route_of(model)  # the request's own model, even if the settings choose the narrator's
    narrator = await narrators.narrator(route.provider)
    if not isinstance(narrator, PassesOn):
        raise NotSupported(
            f"{path}: {route.provider.name}, which has {model or 'no model of that name'}, takes chats alone; name a "
            "model of another provider (provider/model), or ask the provider itself"
        )
    if route.model != model:
        renamed = {**asked, "model": route.model}
        body = (await asyncio.to_thread(to_json, renamed)).encode()
    await count_unbilled(request)
    key = request[BEARER].key if route.provider.passthrough_key else None
    leave(request)  # the request was read, and the provider may take long
    found = await narrator.pass_on(path, body, request.headers.get("Content-Type", "application/json"), key or None)
    return web.Response(body=found.body, headers={"Content-Type": found.content_type, **_NO_PAGE})
