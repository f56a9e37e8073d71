"""Read a request for text completion, in which the prompt is one text instead of a list of messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from saga_core.ports import TextWire
from saga_core.text_prompt import read_prompt
from saga_server.http.client_request import LIMITS, MAX_CHOICES, ClientRequest, Incoming, TextCompletion, stops_of
from saga_server.http.errors import RequestError
from saga_server.http.json_body import check_text, kind_of, typed
from saga_server.http.reply_format import ReplyFormat

_OWN = frozenset({"prompt", "model", "stream"})
_WINDOWS = ("truncation_length", "max_context_length", "num_ctx")
_BYTES = 3
"""Bytes per token: a low estimate, as English text has about four."""


def read_text(
    incoming: Incoming,
    fields: Mapping[str, Any],
    wire: TextWire,
    reply: Callable[[str], ReplyFormat],
    *,
    stream: bool | None = None,
) -> ClientRequest:
    """Read a request for text completion. ``fields`` are those of its body, in the API ``wire``.

    ``stream`` is the mode that the path implies; if it is None, the field ``stream`` decides.
    Raises ``RequestError`` naming the field, the value and what is allowed.
    """
    prompt = fields.get("prompt")
    if isinstance(prompt, list) and len(prompt) == 1 and isinstance(prompt[0], str):
        prompt = prompt[0]
    if not isinstance(prompt, str):
        found = "missing" if "prompt" not in fields else f"a {kind_of(prompt)}"
        raise RequestError(f"prompt: {found}; send one text", param="prompt")
    if fields.get("echo"):
        raise RequestError("echo: true would tell what SAGA adds to the prompt; leave it out", param="echo")
    check_text([{"content": prompt}], incoming.max_text_mb)
    read = read_prompt(prompt, stops_of(fields))
    if not any(message["content"] for message in read.messages):
        raise RequestError("prompt: no words stand in it; send the chat", param="prompt")
    incoming.check_count(len(read.messages), "prompt", "messages stand in it")
    choices = (typed(fields, "n", int) if wire == "openai" else None) or 1
    if not 1 <= choices <= MAX_CHOICES:
        raise RequestError(f"n: {choices} is not allowed; give 1 to {MAX_CHOICES}", param="n")
    options = typed(fields, "stream_options", dict) or {}
    streamed = (typed(fields, "stream", bool) or False) if stream is None else stream
    own = _OWN if wire != "kobold" else frozenset({"prompt"})
    dropped = own if streamed else own | {"stream_options"}
    return ClientRequest(
        messages=[dict(message) for message in read.messages],
        reply=reply,
        model=_model(fields),
        stream=streamed,
        params={name: value for name, value in fields.items() if name not in dropped},
        choices=choices,
        user=fields["user"] if isinstance(fields.get("user"), str) else None,
        wants_usage=options.get("include_usage") is True,
        window=_window(fields),
        nameless=True,
        text=TextCompletion(read, wire),
    )


def _model(fields: Mapping[str, Any]) -> str:
    """Return the model's name. Frontends without a model send ``undefined`` or ``null``."""
    model = typed(fields, "model", str) or ""
    return "" if model in ("undefined", "null") else model


def _window(fields: Mapping[str, Any]) -> int:
    """Return how many tokens the prompt may have; 0 if the request does not give the size of the context.

    It is the context without the reply and without ``memory``, a text that KoboldCpp puts before the prompt.
    """
    sizes = [fields[name] for name in _WINDOWS if type(fields.get(name)) is int and fields[name] > 0]
    limits = [fields[name] for name in LIMITS if type(fields.get(name)) is int and fields[name] > 0]
    memory = fields.get("memory")  # if both do not fit, KoboldCpp cuts off the beginning of the prompt
    front = len(memory.encode("utf-8", "surrogatepass")) // _BYTES if isinstance(memory, str) else 0
    return max(0, min(sizes) - min(limits, default=0) - front) if sizes else 0
