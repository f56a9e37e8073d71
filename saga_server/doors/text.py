"""Text completion in the APIs of OpenAI (``/v1/completions``), KoboldCpp and llama.cpp."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from aiohttp import web
from attrs import define, field, frozen

from saga_core.errors import NotSupported
from saga_core.ports import TextWire, Usage
from saga_server.http import (
    BEARER,
    CURRENT,
    DONE,
    EXCHANGES,
    KEY_REQUIRED,
    PLACE,
    SAGA,
    Choice,
    ClientRequest,
    Door,
    Failure,
    Incoming,
    ReplyFormat,
    RequestError,
    check_text,
    error_json,
    event,
    json_answer,
    json_of,
    openai_error,
    openai_usage,
    plays,
    read_text,
    relayed,
    to_json,
)

_LONG = 64 * 1_024
"""Length of a text in characters from which on its tokens are counted in a thread."""


# -- requests --------------------------------------------------------------------------------------------------


@frozen
class _Completion:
    """The text completion API at a path."""

    wire: TextWire
    reply: Callable[[str], ReplyFormat]
    stream: bool | None = None
    """Whether replies at the path are streamed; None if the request's field ``stream`` decides."""


def read_completion(incoming: Incoming) -> ClientRequest:
    """Read a text completion of the API that the path belongs to. Raises ``RequestError``."""
    api = COMPLETIONS[incoming.path]
    return read_text(incoming, incoming.fields(), api.wire, api.reply, stream=api.stream)


# -- replies ---------------------------------------------------------------------------------------------------


@define(eq=False)
class CompletionFormat(ReplyFormat):
    """OpenAI's text completions."""

    _id: str = field(factory=lambda: f"cmpl-{secrets.token_hex(12)}", init=False)
    _created: int = field(factory=lambda: int(time.time()), init=False)

    def _head(self) -> dict[str, Any]:
        return {"id": self._id, "object": "text_completion", "created": self._created, "model": self.model}

    def _chunk(self, index: int, text: str, finish: str | None = None, **fields: Any) -> bytes:
        choice = {"index": index, "text": text, "logprobs": None, "finish_reason": finish, **fields}
        return event({**self._head(), "choices": [choice]})

    def text(self, index: int, text: str) -> bytes:
        """A chunk with text."""
        return self._chunk(index, text)

    def extra(self, index: int, fields: Mapping[str, Any]) -> bytes:
        """A chunk with other fields, such as ``reasoning``."""
        return self._chunk(index, "", **fields)

    def finish(self, index: int, reason: str) -> bytes:
        """The last chunk of a choice."""
        return self._chunk(index, "", reason)

    def usage(self, usage: Usage, dollars: float | None) -> bytes:
        """A chunk with the token counts and their cost."""
        return event({**self._head(), "choices": [], "usage": openai_usage(usage, dollars)})

    def end(self) -> bytes:
        """``[DONE]``."""
        return DONE

    def whole(self, choices: Sequence[Choice], usage: Usage | None, dollars: float | None) -> bytes:
        """A ``text_completion``."""
        told = [
            {
                "index": choice.index,
                "text": choice.text,
                "logprobs": None,
                "finish_reason": choice.finish,
                **choice.extra,
            }
            for choice in choices
        ]
        counts = {} if usage is None else {"usage": openai_usage(usage, dollars)}
        return to_json({**self._head(), "choices": told, **counts}).encode()


@define(eq=False)
class KoboldFormat(ReplyFormat):
    """The format of KoboldAI and KoboldCpp: ``results`` in a whole reply, events with a ``token`` in a stream."""

    def _token(self, text: str, finish: str | None = None) -> bytes:
        return event({"token": text, "finish_reason": finish}, "message")

    def text(self, index: int, text: str) -> bytes:
        """An event with text."""
        return self._token(text)

    def finish(self, index: int, reason: str) -> bytes:
        """The last event."""
        return self._token("", reason)

    def failure(self, failure: Failure) -> bytes:
        """An event with the error. The API defines none; clients that only read tokens see the end of the reply."""
        error = error_json(openai_error(failure)).removeprefix(b"{")
        return b'event: message\ndata: {"token":"","finish_reason":"error",' + error + b"\n\n"

    def whole(self, choices: Sequence[Choice], usage: Usage | None, dollars: float | None) -> bytes:
        """``results``."""
        counts = {} if usage is None else {"prompt_tokens": usage.input, "completion_tokens": usage.output}
        results = [{"text": choice.text, "finish_reason": choice.finish, **counts} for choice in choices]
        return to_json({"results": results}).encode()


@define(eq=False)
class LlamaFormat(ReplyFormat):
    """The format of llama.cpp: ``content``, and ``stop`` with the reason of the end."""

    def text(self, index: int, text: str) -> bytes:
        """An event with text."""
        return event({"index": index, "content": text, "tokens": [], "stop": False})

    def finish(self, index: int, reason: str) -> bytes:
        """The last event."""
        return event({"index": index, "content": "", "tokens": [], **self._ended(reason)})

    def whole(self, choices: Sequence[Choice], usage: Usage | None, dollars: float | None) -> bytes:
        """The reply as one JSON object."""
        choice = choices[0]
        counts = {} if usage is None else {"tokens_evaluated": usage.input, "tokens_predicted": usage.output}
        told = {"index": 0, "content": choice.text, "tokens": [], **self._ended(choice.finish), **counts}
        return to_json(told).encode()

    def _ended(self, reason: str) -> dict[str, Any]:
        limit = reason == "length"
        return {
            "model": self.model,
            "stop": True,
            "stop_type": "limit" if limit else "eos",
            "stopped_eos": not limit,
            "stopped_limit": limit,
            "stopped_word": False,
            "stopping_word": "",
        }


# -- other requests --------------------------------------------------------------------------------------------


async def relay(request: web.Request) -> web.StreamResponse:
    """Relay a request to the narrator's server, or answer it with what SAGA knows."""
    path, body = request[PLACE].path, await json_of(request, {})
    found = await relayed(request, path, body)
    if request[BEARER].role != "admin":
        found = _for_players(found)
    return await json_answer(await _own(request, path, body) if found is None else found)


def _for_players(value: Any) -> Any:
    """Remove every field ``prompt``: llama.cpp reports its last prompt together with its settings. Of the path of a
    model's file only the name is left."""
    if isinstance(value, dict):
        return {name: _for_player(name, part) for name, part in value.items() if name != "prompt"}
    return [_for_players(part) for part in value] if isinstance(value, list) else value


def _for_player(name: str, value: Any) -> Any:
    if name.endswith("_path") and isinstance(value, str):
        return value.replace("\\", "/").rpartition("/")[2]
    return _for_players(value)


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


async def progress(_: web.Request) -> web.StreamResponse:
    """``POST /api/extra/generate/check``: how far the reply is that another request waits for. Always empty.

    KoboldAI Lite asks this every second while it does not stream. The server that speaks the reply is not asked: its
    text may hold the state block.
    """
    return await json_answer({"results": [{"text": ""}]})


async def abort(request: web.Request) -> web.StreamResponse:
    """``POST /api/extra/abort``: stop this key's replies, and pass the request on to the narrator's server.

    The server would stop whatever it is writing. So it is not passed on while another reply is running, nor for a key
    that has none: the server may be writing for somebody whom SAGA does not see.
    """
    body = await json_of(request, {})
    own, others = request.app[EXCHANGES].stop_texts(request[BEARER].owner)
    if not others and (own or not request[KEY_REQUIRED]):
        await relayed(request, request[PLACE].path, body)
    return await json_answer({"success": True})


# -- the door --------------------------------------------------------------------------------------------------

_OPENAI = _Completion("openai", CompletionFormat)
COMPLETIONS: Final[Mapping[str, _Completion]] = {
    "/v1/completions": _OPENAI,
    "/completions": _OPENAI,
    "/api/v1/generate": _Completion("kobold", KoboldFormat, stream=False),
    "/api/extra/generate/stream": _Completion("kobold", KoboldFormat, stream=True),
    "/completion": _Completion("llamacpp", LlamaFormat),
}
INFORMATION: Final = (
    "/props /health /api/v1/model /api/v1/info/version /api/extra/version /api/extra/true_max_context_length"
    " /api/v1/config/max_context_length /v1/internal/model/info"
).split()
"""Requests for information about the narrator's server."""
TOKENS: Final = "/api/extra/tokencount /tokenize /detokenize /v1/internal/encode".split()
"""Requests for the tokens of a text, from the tokenizer of the narrator's server."""

DOOR = Door(
    paths={
        **{path: {"POST": plays(read_completion)} for path in COMPLETIONS},
        **{path: {"GET": relay} for path in INFORMATION},
        **{path: {"POST": relay} for path in TOKENS},
        "/api/extra/abort": {"POST": abort},
        "/api/extra/generate/check": {"POST": progress},
    },
    texts_at=("/v1/completions", "/api/v1/generate", "/completion"),
)
