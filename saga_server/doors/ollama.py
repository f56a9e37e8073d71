"""Ollama's API: chats, texts with their template filled in, and what its clients ask beside them."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Handler
from attrs import define, field

from saga_core.errors import NotSupported
from saga_core.ports import Usage
from saga_core.tool_calls import GatheredCall, GatheredCalls
from saga_server.http import (
    CURRENT,
    OLLAMA,
    OLLAMA_OPTIONS,
    PLACE,
    Choice,
    ClientRequest,
    Door,
    Failure,
    Incoming,
    ReplyFormat,
    RequestError,
    admit_unbilled,
    answer,
    call_of,
    check_kinds,
    image,
    json_answer,
    json_form,
    json_of,
    read_text,
    reasoning_in,
    received,
    relayed,
    to_json,
    tool_call,
    typed,
    wrong_kind,
)

_SETTINGS = {"num_predict": "max_tokens"}
_SAME = frozenset(
    "temperature top_p top_k min_p typical_p tfs_z stop seed presence_penalty frequency_penalty repeat_penalty "
    "repeat_last_n mirostat mirostat_eta mirostat_tau".split()
)
"""Options that chat APIs know by the same name. Other options say how the model is loaded."""
_ROLES = ("system", "user", "assistant", "tool")
_TOLD = ("stop", "length", "content_filter")
"""Finish reasons that are passed on. Ollama itself has no name for the last."""
_VERSION = "0.12.0"
"""The version of Ollama's API that is implemented here; reported if the narrator's server gives none."""
_LONG_AGO = "2025-01-01T00:00:00Z"


# -- requests --------------------------------------------------------------------------------------------------


def read_generate(incoming: Incoming) -> ClientRequest:
    """Read ``POST /api/generate``: a text completion if ``raw`` is set, otherwise a chat with one user message.

    Raises ``RequestError`` naming the field, the value and what is allowed.
    """
    fields = _fields(incoming)
    for name, remedy in (("suffix", "SAGA fills no gaps"), ("template", "send raw: true with the template filled in")):
        if fields.get(name):
            raise RequestError(f"{name}: not taken here; {remedy}, or leave it out", param=name)
    stream = _streams(fields)
    reply = partial(OllamaFormat, chat=False)
    if fields.get("raw") is not True:
        message = {"role": "user", "content": fields.get("prompt") or "", "images": fields.get("images")}
        system = [{"role": "system", "content": fields["system"]}] if fields.get("system") else []
        return _chat(incoming, {**fields, "messages": [*system, message] if fields.get("prompt") else []}, reply)
    left = {name: value for name, value in fields.items() if name not in ("raw", "stream", "options", "system")}
    return read_text(incoming, {**_options(fields), **left}, "ollama", reply, stream=stream)


def read_chat(incoming: Incoming) -> ClientRequest:
    """Read ``POST /api/chat``. Raises ``RequestError`` naming the field, the value and what is allowed."""
    return _chat(incoming, _fields(incoming), OllamaFormat)


def _fields(incoming: Incoming) -> dict[str, Any]:
    fields = incoming.fields()
    check_kinds(fields, OLLAMA)
    check_kinds(fields.get("options") or {}, OLLAMA_OPTIONS, "options")
    return fields


def _streams(fields: Mapping[str, Any]) -> bool:
    """Whether to stream the reply. Ollama streams by default."""
    return fields.get("stream") is not False


def _options(fields: Mapping[str, Any]) -> dict[str, Any]:
    return fields.get("options") or {}


def _chat(incoming: Incoming, fields: Mapping[str, Any], reply: Callable[[str], ReplyFormat]) -> ClientRequest:
    listed = fields.get("messages") or []
    incoming.check_count(len(listed), "messages")
    options = _options(fields)
    params = {
        _SETTINGS.get(name, name): value
        for name, value in options.items()
        if name in _SAME or (name in _SETTINGS and type(value) is int and value > 0)
    }
    form = fields.get("format")
    if form == "json" or (isinstance(form, Mapping) and form):
        params |= json_form(None if form == "json" else form)
    if tools := fields.get("tools"):
        params["tools"] = tools
    if "think" in fields and fields["think"] is not True:
        params["reasoning_effort"] = fields["think"] or "none"
    size = options.get("num_ctx")
    return ClientRequest(
        messages=list(_messages(listed)),
        reply=reply,
        model=fields.get("model") or "",
        stream=_streams(fields),
        params=params,
        window=max(0, size - params.get("max_tokens", 0)) if type(size) is int else 0,
        nameless=True,
    )


def _messages(listed: list[Any]) -> Iterator[dict[str, Any]]:
    """Yield the messages in OpenAI's format.

    A result without an id belongs to the first call of its tool that has no result yet.
    """
    waiting: deque[tuple[str, str]] = deque()
    count = 0
    for at, message in enumerate(listed):
        where = f"messages[{at}]"
        if not isinstance(message, Mapping):
            raise wrong_kind(message, where, "a message is an object")
        role, text = message.get("role"), message.get("content")
        if role not in _ROLES:
            raise RequestError(f"{where}.role: use one of {', '.join(_ROLES)}", param=f"{where}.role")
        if text is not None and not isinstance(text, str):
            raise wrong_kind(text, f"{where}.content", "send a text")
        found: dict[str, Any] = {"role": role, "content": _with_images(text or "", message.get("images"), where)}
        calls = []
        for call in typed(message, "tool_calls", list, "of calls") or []:
            count += 1
            calls.append(_call_of(call, count, f"{where}.tool_calls"))
            waiting.append((calls[-1]["function"]["name"], calls[-1]["id"]))
        if calls:
            found |= {"tool_calls": calls, "content": found["content"] or None}
        if role == "tool":
            name = message.get("tool_name") or message.get("name")
            number = message.get("tool_call_id")
            pair = next(
                (each for each in waiting if number == each[1] or (not number and name in (None, each[0]))), None
            )
            if pair is not None:
                waiting.remove(pair)
            found["tool_call_id"] = str(number or (pair[1] if pair else name or ""))
        yield found


def _with_images(text: str, images: Any, where: str) -> Any:
    if not images:
        return text
    if not isinstance(images, list) or not all(isinstance(each, str) for each in images):
        raise RequestError(f"{where}.images: send a list of images in base64", param=f"{where}.images")
    shown = [image(f"data:{_kind(each)};base64,{each}") for each in images]
    return [*shown, {"type": "text", "text": text}]


def _kind(picture: str) -> str:
    """Return the MIME type of a base64 image, judged by its first bytes; PNG by default."""
    kinds = {"/9j/": "image/jpeg", "R0lGOD": "image/gif", "UklGR": "image/webp"}
    return next((kind for start, kind in kinds.items() if picture.startswith(start)), "image/png")


def _call_of(call: Any, number: int, where: str) -> dict[str, Any]:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping):
        raise RequestError(f"{where}: a call has a function with a name and arguments", param=where)
    written = function.get("arguments")
    arguments = written if isinstance(written, str) else json.dumps(written or {}, ensure_ascii=False)
    return tool_call(call.get("id") or f"call_{number}", function.get("name"), arguments)


# -- replies ---------------------------------------------------------------------------------------------------


def error(failure: Failure) -> dict[str, Any]:
    """An error reply, or the last line of a stream."""
    return {"error": failure.message}


@define(eq=False)
class OllamaFormat(ReplyFormat):
    """The format of ``/api/chat``, or of ``/api/generate`` if ``chat`` is false. Tool calls are sent as a whole."""

    chat: bool = True
    _began: int = field(factory=time.perf_counter_ns, init=False)
    _calls: GatheredCalls = field(factory=GatheredCalls, init=False)

    @property
    def content_type(self) -> str:
        """The content type of a stream."""
        return "application/x-ndjson"

    def _part(self, text: str, thought: str = "", calls: Sequence[GatheredCall] = (), **more: Any) -> dict[str, Any]:
        said: dict[str, Any] = {"thinking": thought} if thought else {}
        if calls:
            said["tool_calls"] = [_call(call) for call in calls]
        body = {"message": {"role": "assistant", "content": text, **said}} if self.chat else {"response": text, **said}
        made = datetime.now(UTC).isoformat().replace("+00:00", "Z")
        return {"model": self.model, "created_at": made, **body, "done": False, **more}

    def _ended(self, reason: str, usage: Usage | None) -> dict[str, Any]:
        took = time.perf_counter_ns() - self._began
        told = {"total_duration": took, "load_duration": 0, "prompt_eval_duration": 0, "eval_duration": took}
        counts = {} if usage is None else {"prompt_eval_count": usage.input, "eval_count": usage.output}
        return {"done": True, "done_reason": reason if reason in _TOLD else "stop", **told, **counts}

    def text(self, index: int, text: str) -> bytes:
        """A line with text."""
        return _line(self._part(text))

    def extra(self, index: int, fields: Mapping[str, Any]) -> bytes:
        """A line with reasoning text. Tool calls are kept for the end."""
        self._calls.gather(fields)
        thought = reasoning_in(fields)
        return _line(self._part("", thought)) if thought else b""

    def end(self) -> bytes:
        """A line with the tool calls, if any, and the last line."""
        calls = _line(self._part("", "", self._calls.calls)) if self._calls.calls else b""
        return calls + _line(self._part("", **self._ended(self.reason, self.counts)))

    def keep_alive(self) -> bytes:
        """A line without text. It must be JSON, because clients parse every line."""
        return _line(self._part(""))

    def notice(self, text: str) -> bytes:
        """Nothing, because a line has no place for notices."""
        return b""

    def failure(self, failure: Failure) -> bytes:
        """A line with the error."""
        return _line(error(failure))

    def whole(self, choices: Sequence[Choice], usage: Usage | None, dollars: float | None) -> bytes:
        """The reply as one JSON object."""
        choice = choices[0]
        self._calls.gather(choice.extra)
        ended = self._ended(choice.finish, usage)
        return to_json(self._part(choice.text, reasoning_in(choice.extra), self._calls.calls, **ended)).encode()


def _loaded(model: str, *, chat: bool) -> dict[str, Any]:
    """Return the reply to a request without messages, which clients send to load a model."""
    return {**OllamaFormat(model, chat)._part(""), "done": True, "done_reason": "load"}


def _call(call: GatheredCall) -> dict[str, Any]:
    return {"id": call.id, "function": {"name": call.name, "arguments": call.parsed}}


def _line(value: Mapping[str, Any]) -> bytes:
    return to_json(value).encode() + b"\n"


# -- auxiliary requests ----------------------------------------------------------------------------------------


async def _from_server(request: web.Request) -> Any:
    return await relayed(request, request[PLACE].path, await json_of(request))


async def tags(request: web.Request) -> web.StreamResponse:
    """``GET /api/tags``: the list of models."""
    found = await _from_server(request)
    if found is None:
        names = await request.app[CURRENT].narrators.models()
        found = {"models": [{**_about(name), "modified_at": _LONG_AGO, "size": 0, "digest": ""} for name in names]}
    return await json_answer(found)


async def running(request: web.Request) -> web.StreamResponse:
    """``GET /api/ps``: the loaded models."""
    return await json_answer(await _from_server(request) or {"models": []})


async def show(request: web.Request) -> web.StreamResponse:
    """``POST /api/show``: details of a model."""
    found = await _from_server(request)
    if found is None:
        about = {"details": _about("")["details"], "model_info": {}, "capabilities": ["completion", "tools"]}
        found = {"modelfile": "", "parameters": "", "template": "", "modified_at": _LONG_AGO, **about}
    return await json_answer(found)


async def version(request: web.Request) -> web.StreamResponse:
    """``GET /api/version``."""
    return await json_answer(await _from_server(request) or {"version": _VERSION})


async def embed(request: web.Request) -> web.StreamResponse:
    """``POST /api/embed`` and ``/api/embeddings``.

    Raises ``NotSupported`` if the narrator's server makes no embeddings.
    """
    await admit_unbilled(request)
    found = await _from_server(request)
    if found is None:
        raise NotSupported("the narrator's server makes no embeddings here; ask a server that does")
    return await json_answer(found)


def _about(name: str) -> dict[str, Any]:
    details = {"format": "", "family": "", "families": [], "parameter_size": "", "quantization_level": ""}
    return {"name": name, "model": name, "details": details}


# -- the door --------------------------------------------------------------------------------------------------


def _plays(read: Callable[[Incoming], ClientRequest], *, chat: bool) -> Handler:
    async def handler(request: web.Request) -> web.StreamResponse:
        asked = await received(request, read)
        if not asked.messages:  # clients send this to load a model
            return await json_answer(_loaded(asked.model, chat=chat))
        return await answer(request, call_of(request, asked))

    return handler


DOOR = Door(
    paths={
        "/api/generate": {"POST": _plays(read_generate, chat=False)},
        "/api/chat": {"POST": _plays(read_chat, chat=True)},
        "/api/tags": {"GET": tags},
        "/api/show": {"POST": show},
        "/api/version": {"GET": version},
        "/api/ps": {"GET": running},
        "/api/embed": {"POST": embed},
        "/api/embeddings": {"POST": embed},
    },
    error=error,
    chats_at=("/api/chat",),
    texts_at=("/api/generate",),
)
