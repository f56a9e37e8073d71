"""Auxiliary requests of frontends to a local model server: relayed to the narrator's server, or answered by SAGA."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from aiohttp import web

from saga_core.errors import BadInput, NotSupported, UpstreamError
from saga_core.ports import TextServer
from saga_server.http.app_keys import CURRENT, SAGA
from saga_server.http.doors.asking import read_value
from saga_server.http.doors.table import PLACE
from saga_server.http.entry.budget import check_text
from saga_server.http.entry.large_requests import leave
from saga_server.http.entry.security import BEARER
from saga_server.http.errors import RequestError
from saga_server.http.openai_schema import to_json

_log = logging.getLogger("saga.server")

_LONG = 64 * 1_024
"""Length of a text in characters from which on its tokens are counted in a thread."""
_NO_SUCH_THING = (404, 405, 501)


async def relay(request: web.Request) -> web.StreamResponse:
    """Relay an auxiliary request to the narrator's server, or answer it with what SAGA knows."""
    path, body = request[PLACE].path, await read_value(request, {})
    found = await relayed(request, path, body)
    if request[BEARER].role != "admin":
        found = _without_prompts(found)
    return await json_answer(await _own(request, path, body) if found is None else found)


def _without_prompts(value: Any) -> Any:
    """Remove every field ``prompt``: llama.cpp reports its last prompt together with its settings."""
    if isinstance(value, dict):
        return {name: _without_prompts(part) for name, part in value.items() if name != "prompt"}
    return [_without_prompts(part) for part in value] if isinstance(value, list) else value


async def relayed(request: web.Request, path: str, body: Any) -> Any:
    """Return the reply of the narrator's server.

    None if the narrator's provider has no text completion or does not know the path.
    """
    narrators = request.app[CURRENT].narrators
    try:
        provider = narrators.route("", nameless=True).provider
    except BadInput:  # several models, and none is the default
        return None
    if not provider.completes_text:
        return None
    narrator = await narrators.narrator(provider)
    if not isinstance(narrator, TextServer):
        return None
    leave(request)  # the request was read, and the server may take long
    try:
        return await narrator.relay(request.method, path, body)
    except UpstreamError as error:
        if error.status not in _NO_SUCH_THING:
            raise
        _log.debug("%s has no %s: %s", provider.name, path, error)
        return None


async def _own(request: web.Request, path: str, body: Any) -> Any:
    """Return SAGA's own reply. Raises ``NotSupported`` for a path that only a model server can answer."""
    current, saga = request.app[CURRENT], request.app[SAGA]
    window = current.config.token_budget.total_context_max
    model = current.narrators.model or "saga"
    own: dict[str, Any] = {
        "/health": {"status": "ok"},
        "/api/v1/model": {"result": model},
        "/api/v1/info/version": {"result": "1.2.5"},
        "/api/extra/version": {"result": "KoboldCpp", "version": "1.93", "protected": False},
        "/api/extra/true_max_context_length": {"value": window},
        "/api/v1/config/max_context_length": {"value": window},
        "/v1/internal/model/info": {"model_name": model},
    }
    if path in own:
        return own[path]
    if path == "/api/extra/tokencount":
        text = body.get("prompt") if isinstance(body, dict) else None
        if not isinstance(text, str):
            raise RequestError("prompt: missing; send the text whose tokens are counted", param="prompt")
        check_text([{"content": text}], current.config.server.max_text_mb)
        counter = saga.stores.counter
        long = len(text) >= _LONG
        return {"value": await asyncio.to_thread(counter.count, text) if long else counter.count(text), "ids": []}
    raise NotSupported(f"{path}: the narrator does not tell this; let the frontend estimate its tokens")


async def json_answer(value: Any) -> web.Response:
    """Return ``value`` as a JSON reply. It is encoded in a thread, because a relayed reply may be large."""
    return web.Response(text=await asyncio.to_thread(to_json, value), content_type="application/json")
