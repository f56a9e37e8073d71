"""Read requests in Ollama's API: raw text with its template filled in, or a chat."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import field, frozen

from saga_server.http.entry.budget import check_text
from saga_server.http.errors import RequestError
from saga_server.http.openai_schema import kind_of, read_json, typed
from saga_server.http.text_ask import TextRequest, text_request

_SETTINGS = {"num_predict": "max_tokens"}
_SAME = frozenset(
    "temperature top_p top_k min_p typical_p tfs_z stop seed presence_penalty frequency_penalty repeat_penalty "
    "repeat_last_n mirostat mirostat_eta mirostat_tau".split()
)
"""Options that chat APIs know by the same name. Other options say how the model is loaded."""
_ROLES = ("system", "user", "assistant", "tool")


@frozen(kw_only=True)
class OllamaAsk:
    """A checked chat request. The texts are not checked here; the engine does that."""

    messages: list[Any] = field(repr=False)
    model: str
    stream: bool
    params: Mapping[str, Any] = field(repr=False)
    window: int = 0
    """The size of the prompt in tokens that the client allows; 0 if the request does not say."""


def read_generate(body: bytes, max_messages: int, max_text_mb: int = 16) -> TextRequest | OllamaAsk:
    """Read a request to ``/api/generate``: a text completion if ``raw`` is set, otherwise a chat.

    Raises ``RequestError`` naming the field, the value and what is allowed.
    """
    ask = _object(body)
    for name, remedy in (("suffix", "SAGA fills no gaps"), ("template", "send raw: true with the template filled in")):
        if ask.get(name):
            raise RequestError(f"{name}: not taken here; {remedy}, or leave it out", param=name)
    stream = _streams(ask)
    if ask.get("raw") is not True:
        message = {"role": "user", "content": ask.get("prompt") or "", "images": ask.get("images")}
        system = [{"role": "system", "content": ask["system"]}] if ask.get("system") else []
        return _chat({**ask, "messages": [*system, message] if ask.get("prompt") else []}, max_messages, max_text_mb)
    left = {name: value for name, value in ask.items() if name not in ("raw", "stream", "options", "system")}
    return text_request(
        {**_options(ask), **left}, "ollama", stream=stream, max_messages=max_messages, max_text_mb=max_text_mb
    )


def read_chat(body: bytes, max_messages: int, max_text_mb: int = 16) -> OllamaAsk:
    """Read a request to ``/api/chat``. Raises ``RequestError`` naming the field, the value and what is allowed."""
    return _chat(_object(body), max_messages, max_text_mb)


def _object(body: bytes) -> dict[str, Any]:
    ask = read_json(body)
    if not isinstance(ask, dict):
        raise RequestError(f"the body is a JSON {kind_of(ask)}; send an object", param="body")
    return ask


def _streams(ask: Mapping[str, Any]) -> bool:
    """Whether to stream the reply. Ollama streams by default."""
    return typed(ask, "stream", bool, "true or false") is not False


def _options(ask: Mapping[str, Any]) -> dict[str, Any]:
    return typed(ask, "options", dict, "an object") or {}


def _chat(ask: Mapping[str, Any], max_messages: int, max_text_mb: int) -> OllamaAsk:
    given = typed(ask, "messages", list, "a list of messages") or []
    if len(given) > max_messages:
        raise RequestError(
            f"messages: {len(given)} given; at most {max_messages} are taken (server.max_messages)",
            param="messages",
            status=413,
        )
    messages = list(_messages(given))
    check_text(messages, max_text_mb)
    options = _options(ask)
    params = {
        _SETTINGS.get(name, name): value
        for name, value in options.items()
        if name in _SAME or (name in _SETTINGS and type(value) is int and value > 0)
    }
    params |= _form(ask.get("format"))
    if tools := typed(ask, "tools", list, "a list of tools"):
        params["tools"] = tools
    if "think" in ask and ask["think"] is not True:
        params["reasoning_effort"] = ask["think"] or "none"
    sizes = [options[name] for name in ("num_ctx",) if type(options.get(name)) is int]
    return OllamaAsk(
        messages=messages,
        model=typed(ask, "model", str, "a text") or "",
        stream=_streams(ask),
        params=params,
        window=max(0, min(sizes) - params.get("max_tokens", 0)) if sizes else 0,
    )


def _form(given: Any) -> dict[str, Any]:
    if given == "json":
        return {"response_format": {"type": "json_object"}}
    if isinstance(given, Mapping) and given:
        return {"response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": given}}}
    return {}


def _messages(given: list[Any]) -> Iterator[dict[str, Any]]:
    """Yield the messages in OpenAI's format.

    A result without an id belongs to the first call of its tool that has no result yet.
    """
    waiting: deque[tuple[str, str]] = deque()
    count = 0
    for at, message in enumerate(given):
        where = f"messages[{at}]"
        if not isinstance(message, Mapping):
            raise RequestError(f"{where}: a {kind_of(message)} given; a message is an object", param=where)
        role, text = message.get("role"), message.get("content")
        if role not in _ROLES:
            raise RequestError(f"{where}.role: use one of {', '.join(_ROLES)}", param=f"{where}.role")
        if text is not None and not isinstance(text, str):
            raise RequestError(f"{where}.content: a {kind_of(text)} given; send a text", param=f"{where}.content")
        found: dict[str, Any] = {"role": role, "content": _with_images(text or "", message.get("images"), where)}
        calls = []
        for call in typed(message, "tool_calls", list, "a list of calls") or []:
            count += 1
            calls.append(_call(call, count, f"{where}.tool_calls"))
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
    if not isinstance(images, list) or not all(isinstance(image, str) for image in images):
        raise RequestError(f"{where}.images: send a list of images in base64", param=f"{where}.images")
    shown = [{"type": "image_url", "image_url": {"url": f"data:{_kind(image)};base64,{image}"}} for image in images]
    return [*shown, {"type": "text", "text": text}]


def _kind(image: str) -> str:
    """Return the MIME type of a base64 image, judged by its first bytes; PNG by default."""
    kinds = {"/9j/": "image/jpeg", "R0lGOD": "image/gif", "UklGR": "image/webp"}
    return next((kind for start, kind in kinds.items() if image.startswith(start)), "image/png")


def _call(call: Any, number: int, where: str) -> dict[str, Any]:
    function = call.get("function") if isinstance(call, Mapping) else None
    if not isinstance(function, Mapping):
        raise RequestError(f"{where}: a call has a function with a name and arguments", param=where)
    given = function.get("arguments")
    arguments = given if isinstance(given, str) else json.dumps(given or {}, ensure_ascii=False)
    told = {"name": str(function.get("name", "")), "arguments": arguments}
    return {"id": str(call.get("id") or f"call_{number}"), "type": "function", "function": told}
