"""The lists of models in the formats of OpenAI, Anthropic and Google. The request's path and headers select one."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal

from aiohttp import web

from saga_core.errors import NotFound
from saga_server.http.app_keys import CURRENT
from saga_server.http.doors.table import PLACE
from saga_server.http.openai_schema import to_json

_GOOGLE = ("X-Goog-Api-Key", "X-Goog-Api-Client")
_METHODS = ["generateContent", "streamGenerateContent", "countTokens"]

_Api = Literal["openai", "anthropic", "google"]


async def list_models(request: web.Request) -> web.Response:
    """``GET /v1/models``: the models of all providers."""
    ids = await request.app[CURRENT].narrators.models()
    return _answer(_listed(ids, _who_asks(request), int(time.time())))


async def one_model(request: web.Request) -> web.Response:
    """``GET /v1/models/MODEL``. Raises ``NotFound`` if the model is not listed."""
    name = request[PLACE].named["model"]
    if name not in await request.app[CURRENT].narrators.models():
        raise NotFound(f"model: {name} is not listed; GET {request.path.removesuffix(f'/{name}')} has those that are")
    return _answer(_model(name, _who_asks(request), int(time.time())))


def _who_asks(request: web.Request) -> _Api:
    if request[PLACE].door.api == "google" or any(name in request.headers for name in _GOOGLE):
        return "google"
    return "anthropic" if "Anthropic-Version" in request.headers else "openai"


def _listed(ids: Sequence[str], api: _Api, created: int) -> dict[str, Any]:
    models = [_model(name, api, created) for name in ids]
    if api == "google":
        return {"models": models}
    if api == "anthropic":
        ends = {"first_id": ids[0] if ids else None, "last_id": ids[-1] if ids else None}
        return {"data": models, "has_more": False, **ends}
    return {"object": "list", "data": models}


def _model(name: str, api: _Api, created: int) -> dict[str, Any]:
    if api == "google":
        bare = name.removeprefix("models/")  # Google lists its models with this prefix
        return {"name": f"models/{bare}", "displayName": bare, "supportedGenerationMethods": _METHODS}
    if api == "anthropic":
        made = datetime.fromtimestamp(created, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return {"type": "model", "id": name, "display_name": name, "created_at": made}
    return {"id": name, "object": "model", "created": created, "owned_by": "saga"}


def _answer(value: Mapping[str, Any]) -> web.Response:
    return web.Response(text=to_json(value), content_type="application/json")
