"""Requests that are not part of a story, passed on to the provider: embeddings, speech, images and moderation."""

from __future__ import annotations

import asyncio
from typing import Any

from aiohttp import web

from saga_core.errors import NotSupported
from saga_core.ports import PassesOn
from saga_server.http import BEARER, BODY, CURRENT, PLACE, Door, admit_unbilled, json_of, leave, to_json, typed

_NO_PAGE = {"Content-Security-Policy": "sandbox; default-src 'none'", "X-Content-Type-Options": "nosniff"}
"""Headers that keep a browser from running a reply's scripts as this server's, whatever content type it has."""


async def pass_on(request: web.Request) -> web.StreamResponse:
    """Send the body to the provider of its model, and return its reply unchanged.

    Raises ``BadInput`` if no provider has the model, and ``NotSupported`` if the provider's API has only chats.
    """
    path, body = request[PLACE].path.removeprefix("/v1"), request[BODY]
    fields: Any = await json_of(request, {}) if request.content_type == "application/json" else {}
    fields = fields if isinstance(fields, dict) else {}
    model = typed(fields, "model", str) or ""
    narrators = request.app[CURRENT].narrators
    route = narrators.route_of(model)  # the request's own model, even if the settings choose the narrator's
    narrator = await narrators.narrator(route.provider)
    if not isinstance(narrator, PassesOn):
        raise NotSupported(
            f"{path}: {route.provider.name}, which has {model or 'no model of that name'}, takes chats alone; name a "
            "model of another provider (provider/model), or ask the provider itself"
        )
    if route.model != model:
        body = (await asyncio.to_thread(to_json, {**fields, "model": route.model})).encode()
    await admit_unbilled(request)
    key = request[BEARER].key if route.provider.passthrough_key else None
    leave(request)  # the request was read, and the provider may take long
    found = await narrator.pass_on(path, body, request.headers.get("Content-Type", "application/json"), key or None)
    return web.Response(body=found.body, headers={"Content-Type": found.content_type, **_NO_PAGE})


DOOR = Door(
    paths={
        path: {"POST": pass_on}
        for each in (
            "/embeddings /moderations /audio/speech /audio/transcriptions /audio/translations /images/generations"
            " /images/edits /images/variations"
        ).split()
        for path in (f"/v1{each}", each)
    },
)
