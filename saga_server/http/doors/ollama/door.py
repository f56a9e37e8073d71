"""The endpoints of Ollama's API: text completion, chat, and auxiliary requests."""

from __future__ import annotations

from functools import partial
from typing import Any

from aiohttp import web
from attrs import evolve

from saga_core.errors import NotSupported
from saga_server.http.app_keys import CURRENT
from saga_server.http.doors.asking import answer, call_of, read, read_value
from saga_server.http.doors.ollama.ask import OllamaAsk, read_chat, read_generate
from saga_server.http.doors.ollama.shape import OllamaShape, loaded
from saga_server.http.doors.passing import count_unbilled
from saga_server.http.doors.relaying import json_answer, relayed
from saga_server.http.doors.table import PLACE
from saga_server.http.doors.text import text_call

_VERSION = "0.12.0"
"""The version of Ollama's API that is implemented here; reported if the narrator's server gives none."""
_LONG_AGO = "2025-01-01T00:00:00Z"


async def generate(request: web.Request) -> web.StreamResponse:
    """``POST /api/generate``: a text completion if ``raw`` is set, otherwise a chat with one user message."""
    ask = await read(request, read_generate)
    if isinstance(ask, OllamaAsk):
        return await _told(request, ask, chat=False)
    return await answer(request, text_call(request, partial(OllamaShape, chat=False), ask))


async def chat(request: web.Request) -> web.StreamResponse:
    """``POST /api/chat``."""
    return await _told(request, await read(request, read_chat), chat=True)


async def _told(request: web.Request, ask: OllamaAsk, *, chat: bool) -> web.StreamResponse:
    if not ask.messages:
        return await json_answer(loaded(ask.model, chat=chat))
    call = call_of(request, ask, nameless=True)
    return await answer(request, evolve(call, window=ask.window, shape=partial(OllamaShape, chat=chat)))


# -- auxiliary requests ----------------------------------------------------------------------------------------


async def _from_server(request: web.Request) -> Any:
    return await relayed(request, request[PLACE].path, await read_value(request))


async def tags(request: web.Request) -> web.Response:
    """``GET /api/tags``: the list of models."""
    found = await _from_server(request)
    if found is None:
        names = await request.app[CURRENT].narrators.models()
        found = {"models": [{**_about(name), "modified_at": _LONG_AGO, "size": 0, "digest": ""} for name in names]}
    return await json_answer(found)


async def running(request: web.Request) -> web.Response:
    """``GET /api/ps``: the loaded models."""
    return await json_answer(await _from_server(request) or {"models": []})


async def show(request: web.Request) -> web.Response:
    """``POST /api/show``: details of a model."""
    found = await _from_server(request)
    if found is None:
        about = {"details": _about("")["details"], "model_info": {}, "capabilities": ["completion", "tools"]}
        found = {"modelfile": "", "parameters": "", "template": "", "modified_at": _LONG_AGO, **about}
    return await json_answer(found)


async def version(request: web.Request) -> web.Response:
    """``GET /api/version``."""
    return await json_answer(await _from_server(request) or {"version": _VERSION})


async def embed(request: web.Request) -> web.Response:
    """``POST /api/embed`` and ``/api/embeddings``.

    Raises ``NotSupported`` if the narrator's server makes no embeddings.
    """
    await count_unbilled(request)
    found = await _from_server(request)
    if found is None:
        raise NotSupported("the narrator's server makes no embeddings here; ask a server that does")
    return await json_answer(found)


def _about(name: str) -> dict[str, Any]:
    details = {"format": "", "family": "", "families": [], "parameter_size": "", "quantization_level": ""}
    return {"name": name, "model": name, "details": details}
