"""The formats of OpenAI's chat API: read and check a request, write a reply in chunks or as a whole."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from attrs import define, field, frozen

from saga_core import codec
from saga_core.ports import Usage
from saga_server.http.entry.budget import check_density, check_nodes, check_text
from saga_server.http.errors import RequestError

MAX_CHOICES = 16
DONE = b"data: [DONE]\n\n"
ALIVE = b": waiting\n\n"
"""A comment in the event stream. Clients ignore it; it keeps proxies from closing the connection as idle."""

_OWN = frozenset({"messages", "model", "stream", "stream_options"})
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_ESCAPED_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


@frozen(kw_only=True)
class ChatAsk:
    """A checked chat request. The content of the messages is not checked here; the engine does that."""

    messages: list[Any]
    model: str
    stream: bool
    choices: int
    user: str | None
    wants_usage: bool
    """Whether the client wants the token counts at the end of the stream."""
    params: Mapping[str, Any]
    """All other fields, which are passed upstream."""


def read_json(body: bytes) -> Any:
    """Return the JSON value in a request's body. Raises ``RequestError``."""
    check_density(body)
    try:
        text = body.decode("utf-8-sig")  # given bytes, json.loads would also accept UTF-16
        value = json.loads(text, parse_constant=codec.no_constant, parse_float=codec.finite)
    except UnicodeDecodeError:
        raise RequestError("the body is not UTF-8", param="body") from None
    except RecursionError:
        raise RequestError("the body is nested too deeply", param="body") from None
    except ValueError as error:
        raise RequestError(f"the body is not JSON: {error}", param="body") from None
    check_nodes(value)
    if b"\\u" in body and _ESCAPED_SURROGATE.search(body):
        value = _without_surrogates(value)
    return value


def _without_surrogates(value: Any) -> Any:
    """Replace lone surrogates, which JSON can escape but UTF-8 cannot encode, by U+FFFD."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_without_surrogates(entry) for entry in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(entry) for key, entry in value.items()}
    return value


def read_chat(body: bytes, max_messages: int, max_text_mb: int = 16) -> ChatAsk:
    """Read the chat request in ``body``. Raises ``RequestError`` naming the field, the value and what is allowed."""
    ask = read_json(body)
    if not isinstance(ask, dict):
        raise RequestError(f"the body is a JSON {kind_of(ask)}; send an object", param="body")
    messages = ask.get("messages")
    if not isinstance(messages, list) or not messages:
        given = "missing" if "messages" not in ask else "empty" if messages == [] else f"a {kind_of(messages)}"
        raise RequestError(f"messages: {given}; send a list with at least one message", param="messages")
    if len(messages) > max_messages:
        raise RequestError(
            f"messages: {len(messages)} given; at most {max_messages} are taken (server.max_messages)",
            param="messages",
            status=413,
        )
    check_text(messages, max_text_mb)
    choices = typed(ask, "n", int, "a whole number")
    choices = 1 if choices is None else choices
    if not 1 <= choices <= MAX_CHOICES:
        raise RequestError(f"n: {choices} is not allowed; give 1 to {MAX_CHOICES}", param="n")
    options = typed(ask, "stream_options", dict, "an object") or {}
    stream = typed(ask, "stream", bool, "true or false") or False
    params = {name: value for name, value in ask.items() if name not in _OWN}
    if stream and options:
        params["stream_options"] = options
    return ChatAsk(
        messages=messages,
        model=typed(ask, "model", str, "a text") or "",
        stream=stream,
        choices=choices,
        user=typed(ask, "user", str, "a text"),
        wants_usage=options.get("include_usage") is True,
        params=params,
    )


def typed(ask: Mapping[str, Any], name: str, cls: type, what: str) -> Any:
    """Return a field of a request, None if it is missing. Raises ``RequestError`` if it is not of type ``cls``.

    ``what`` names the type in the error message.
    """
    value = ask.get(name)
    if value is not None and type(value) is not cls:
        raise RequestError(f"{name}: {short(value)} is not allowed; give {what} or null", param=name)
    return value


def short(value: Any) -> str:
    """Return a value as JSON for an error message, cut to 60 characters."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."


def kind_of(value: Any) -> str:
    """Return the name of a value's JSON type, for error messages."""
    return {dict: "object", list: "list", str: "text", bool: "truth value", type(None): "null"}.get(
        type(value), "number"
    )


# -- replies ---------------------------------------------------------------------------------------------------


def text_json(text: str) -> str:
    """Return ``text`` as a JSON string. Non-ASCII characters are escaped only if it holds a lone surrogate."""
    found = json.dumps(text, ensure_ascii=False)
    return found if found.isascii() or not _SURROGATE.search(found) else json.dumps(text)


def to_json(value: Any) -> str:
    """Return ``value`` as JSON. Non-ASCII characters are escaped only if it holds a lone surrogate."""
    found = json.dumps(value, ensure_ascii=False)
    return found if found.isascii() or not _SURROGATE.search(found) else json.dumps(value)


@define
class ChunkWriter:
    """Writes the server-sent events of one completion. The part that all chunks share is rendered once."""

    id: str
    created: int
    model: str
    _head: str = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._head = (
            f'data: {{"id":{text_json(self.id)},"object":"chat.completion.chunk","created":{self.created},'
            f'"model":{text_json(self.model)},"choices":['
        )

    def _choice(self, index: int, delta: str, finish: str = "null") -> bytes:
        return f'{self._head}{{"index":{index},"delta":{delta},"finish_reason":{finish}}}]}}\n\n'.encode()

    def role(self, index: int) -> bytes:
        """The first chunk of a choice."""
        return self._choice(index, '{"role":"assistant","content":""}')

    def text(self, index: int, text: str) -> bytes:
        """A piece of a choice's text."""
        return self._choice(index, f'{{"content":{text_json(text)}}}')

    def extra(self, index: int, fields: Mapping[str, Any]) -> bytes:
        """A chunk with fields that are passed on unchanged."""
        return self._choice(index, to_json(fields))

    def finish(self, index: int, reason: str) -> bytes:
        """The last chunk of a choice."""
        return self._choice(index, "{}", text_json(reason))

    def usage(self, usage: Usage, dollars: float | None = None) -> bytes:
        """The chunk with the token counts and their cost."""
        return f'{self._head}],"usage":{to_json(usage_object(usage, dollars))}}}\n\n'.encode()


def error_event(body: bytes) -> bytes:
    """The event that reports a failure in mid-stream."""
    return b"data: " + body + b"\n\n"


def usage_object(usage: Usage, dollars: float | None = None) -> dict[str, Any]:
    """Return token counts in the API's format. ``cost``, in US dollars, is present only if ``dollars`` is given."""
    written = {"cache_write_tokens": usage.cache_write} if usage.cache_write else {}
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read, **written},
        **({} if dollars is None else {"cost": round(dollars, 6)}),
    }


@define
class Choice:
    """One choice of a reply that is sent as a whole."""

    index: int
    text: str = ""
    extra: dict[str, Any] = field(factory=dict)
    finish: str = "stop"
    seen: bool = False
    """Whether the provider sent anything for this choice."""

    def add(self, fields: Mapping[str, Any]) -> None:
        """Add fields that are passed on unchanged. Texts and lists are appended to, other values replaced."""
        for name, value in fields.items():
            before: Any = self.extra.get(name)
            grows = isinstance(before, str | list) and type(before) is type(value)
            self.extra[name] = before + value if grows else value


def completion(
    reply_id: str, created: int, model: str, choices: list[Choice], usage: Usage | None, dollars: float | None = None
) -> bytes:
    """Return a whole reply as JSON."""
    answer: dict[str, Any] = {
        "id": reply_id,
        "object": "chat.completion",
        "created": created,
        "model": model,
        "choices": [
            {
                "index": choice.index,
                "message": {"role": "assistant", "content": choice.text, **choice.extra},
                "logprobs": None,
                "finish_reason": choice.finish,
            }
            for choice in choices
        ],
    }
    if usage is not None:
        answer["usage"] = usage_object(usage, dollars)
    return to_json(answer).encode()
