"""OpenAI's chat completions. The form of its messages and settings is also the one into which other doors translate."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import define, field

from saga_core.ports import Usage
from saga_server.http import (
    CHAT,
    DONE,
    MAX_CHOICES,
    Choice,
    ClientRequest,
    Door,
    Incoming,
    ModelFormat,
    PathPattern,
    ReplyFormat,
    RequestError,
    check_kinds,
    kind_of,
    list_models,
    one_model,
    openai_usage,
    plays,
    to_json,
    typed,
)

_OWN = frozenset({"messages", "model", "stream", "stream_options"})


def read_chat(incoming: Incoming) -> ClientRequest:
    """Read ``POST /v1/chat/completions``. Raises ``RequestError`` naming the field, the value and what is allowed."""
    fields = incoming.fields()
    check_kinds(fields, CHAT)
    messages = fields.get("messages")
    if not isinstance(messages, list) or not messages:
        found = "missing" if "messages" not in fields else "empty" if messages == [] else f"a {kind_of(messages)}"
        raise RequestError(f"messages: {found}; send a list with at least one message", param="messages")
    incoming.check_count(len(messages), "messages")
    choices = typed(fields, "n", int)
    choices = 1 if choices is None else choices
    if not 1 <= choices <= MAX_CHOICES:
        raise RequestError(f"n: {choices} is not allowed; give 1 to {MAX_CHOICES}", param="n")
    options = fields.get("stream_options") or {}
    stream = fields.get("stream") or False
    params = {name: value for name, value in fields.items() if name not in _OWN}
    if stream and options:
        params["stream_options"] = options
    return ClientRequest(
        messages=messages,
        reply=ChatFormat,
        model=fields.get("model") or "",
        stream=stream,
        params=params,
        choices=choices,
        user=fields.get("user"),
        wants_usage=options.get("include_usage") is True,
    )


@define(eq=False)
class ChatFormat(ReplyFormat):
    """A ``chat.completion``, or its chunks. The part that all chunks share is rendered once."""

    id: str = field(factory=lambda: f"chatcmpl-{secrets.token_hex(12)}", kw_only=True)
    created: int = field(factory=lambda: int(time.time()), kw_only=True)
    _head: str = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._head = (
            f'data: {{"id":{to_json(self.id)},"object":"chat.completion.chunk","created":{self.created},'
            f'"model":{to_json(self.model)},"choices":['
        )

    def _chunk(self, index: int, delta: str, finish: str = "null") -> bytes:
        return f'{self._head}{{"index":{index},"delta":{delta},"finish_reason":{finish}}}]}}\n\n'.encode()

    def begin(self, index: int) -> bytes:
        """The chunk with the role."""
        return self._chunk(index, '{"role":"assistant","content":""}')

    def text(self, index: int, text: str) -> bytes:
        """A chunk with text."""
        return self._chunk(index, f'{{"content":{to_json(text)}}}')

    def extra(self, index: int, fields: Mapping[str, Any]) -> bytes:
        """A chunk with other fields, as they are."""
        return self._chunk(index, to_json(fields))

    def finish(self, index: int, reason: str) -> bytes:
        """The last chunk of a choice."""
        return self._chunk(index, "{}", to_json(reason))

    def usage(self, usage: Usage, dollars: float | None) -> bytes:
        """A chunk with the token counts and their cost."""
        return f'{self._head}],"usage":{to_json(openai_usage(usage, dollars))}}}\n\n'.encode()

    def end(self) -> bytes:
        """``[DONE]``."""
        return DONE

    def whole(self, choices: Sequence[Choice], usage: Usage | None, dollars: float | None) -> bytes:
        """A ``chat.completion``."""
        told = [
            {
                "index": choice.index,
                "message": {"role": "assistant", "content": choice.text, **choice.extra},
                "logprobs": None,
                "finish_reason": choice.finish,
            }
            for choice in choices
        ]
        head = {"id": self.id, "object": "chat.completion", "created": self.created, "model": self.model}
        counts = {} if usage is None else {"usage": openai_usage(usage, dollars)}
        return to_json({**head, "choices": told, **counts}).encode()


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": int(time.time()), "owned_by": "saga"}


DOOR = Door(
    paths={
        **{path: {"POST": plays(read_chat)} for path in ("/v1/chat/completions", "/chat/completions")},
        **{path: {"GET": list_models} for path in ("/v1/models", "/models")},
    },
    patterns=(
        PathPattern(
            regex=re.compile(r"(?:/v1)?/(?:models/|(?=tunedModels/))(?P<model>.+)"),
            methods={"GET": one_model},
            template="/v1/models/{model}",
        ),
    ),
    models=ModelFormat(one=_model, all=lambda names: {"object": "list", "data": [*map(_model, names)]}),
    chats_at=("/v1/chat/completions",),
)
