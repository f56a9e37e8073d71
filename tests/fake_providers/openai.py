"""A strict server of the OpenAI chat API in its dialects: OpenAI's own, Google's, OpenRouter's, a local server's.

The rules are written independently of those in SAGA, so that the two can disagree.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from aiohttp import web
from attrs import define, field

from tests.fake_providers.server import ProtocolServer, Received, Step, Wire
from tests.fake_providers.steps import says

Dialect = Literal["openai", "google", "openrouter", "local"]

USAGE = {
    "prompt_tokens": 100,
    "completion_tokens": 20,
    "total_tokens": 120,
    "prompt_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 6},
}
_STOP = {"stop": "stop", "length": "length", "filtered": "content_filter", "tool": "tool_calls"}
_OPENAI = frozenset(
    "messages model stream stream_options temperature top_p n max_tokens max_completion_tokens stop presence_penalty "
    "frequency_penalty logit_bias user seed tools tool_choice response_format logprobs top_logprobs reasoning_effort "
    "parallel_tool_calls prompt_cache_key prompt_cache_options service_tier store metadata verbosity modalities "
    "safety_identifier prediction audio".split()
)
_GOOGLE = frozenset(
    "messages model stream stream_options temperature top_p n max_tokens max_completion_tokens stop tools tool_choice "
    "response_format reasoning_effort parallel_tool_calls user modalities".split()
)
_TAKES: Mapping[Dialect, frozenset[str]] = {"openai": _OPENAI, "google": _GOOGLE}
_MESSAGE = frozenset("role content name tool_calls tool_call_id refusal".split())
_REASONING = re.compile(r"(?:openai/)?(?:o[134]|gpt-[5-9])(?!.*-chat)")
_MARKS: Mapping[Dialect, str] = {"openai": "prompt_cache_breakpoint", "openrouter": "cache_control"}


@define(eq=False)
class OpenAIChatServer(ProtocolServer):
    """A strict ``POST /v1/chat/completions`` in one of the dialects."""

    otherwise: Step = field(factory=lambda: says("The rain ", "stops."))
    dialect: Dialect = "openai"

    @property
    def _base(self) -> str:
        return "/v1beta/openai" if self.dialect == "google" else "/v1"

    @property
    def url(self) -> str:
        """The base URL, as the SDK expects it."""
        return self.root + self._base

    def _routes(self) -> list[web.RouteDef]:
        return [
            web.post(f"{self._base}/chat/completions", self._answer),
            web.get(f"{self._base}/models", self._list),
        ]

    def _wire(self, request: web.Request, received: Received) -> Wire:
        usage = self.account(received) if self.account is not None else USAGE
        return ChatWire(request, received, usage, google=self.dialect == "google")

    def _problem(self, received: Received) -> str | None:
        return next(_problems(received.body, self.dialect), None)


def _problems(body: Mapping[str, Any], dialect: Dialect) -> Iterator[str]:
    unknown = sorted(set(body) - _TAKES.get(dialect, frozenset(body)))
    if unknown and dialect == "google":
        yield "\n".join(f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.' for name in unknown)
    elif unknown:
        yield f"Unrecognized request arguments supplied: {', '.join(unknown)}"
    model = body.get("model")
    if not isinstance(model, str) or not model:
        yield "you must provide a model parameter"
    elif dialect == "openai" and _REASONING.match(model):
        yield from _reasoning(body)
    if "stream_options" in body and not body.get("stream"):
        yield "The 'stream_options' parameter is only allowed when 'stream' is enabled."
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        yield "messages must not be empty"
        return
    for at, message in enumerate(messages):
        yield from _message(message, at, dialect)
    mark = _MARKS.get(dialect, "")
    count = sum(mark in part for message in messages for part in _parts(message)) if mark else 0
    if count > 4:
        yield f"at most 4 breakpoints are allowed, {count} given"


def _reasoning(body: Mapping[str, Any]) -> Iterator[str]:
    if "max_tokens" in body:
        yield (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        )
    for name, default in (("temperature", 1), ("top_p", 1), ("presence_penalty", 0), ("frequency_penalty", 0)):
        if body.get(name, default) != default:
            yield f"Unsupported value: '{name}' does not support {body[name]} with this model. Only the default is."
    for name in ("logit_bias", "logprobs", "top_logprobs", "stop"):
        if name in body:
            yield f"Unsupported parameter: '{name}' is not supported with this model."


def _message(message: Mapping[str, Any], at: int, dialect: Dialect) -> Iterator[str]:
    role = message.get("role")
    if role not in ("system", "developer", "user", "assistant", "tool"):
        yield f"Invalid value: '{role}'. messages[{at}].role"
    if dialect in _TAKES and set(message) - _MESSAGE:
        yield f"Unknown parameter: 'messages[{at}].{sorted(set(message) - _MESSAGE)[0]}'."
    content = message.get("content")
    parts = isinstance(content, list) and content and all(part.get("type") for part in content)
    if not isinstance(content, str) and not parts and not message.get("tool_calls"):
        yield f"Invalid type for 'messages[{at}].content'"
    if dialect == "google" and not message.get("tool_calls") and content in ("", []):
        yield "Unable to submit request because it must include at least one parts field"
    for part in _parts(message):
        for mark in ("cache_control", "prompt_cache_breakpoint"):
            if mark in part and dialect in ("openai", "google") and _MARKS.get(dialect) != mark:
                yield f"Unknown parameter: 'messages[{at}].content[0].{mark}'."
        if role == "assistant" and "prompt_cache_breakpoint" in part:
            yield f"Invalid value: 'messages[{at}]': assistant content cannot carry a prompt_cache_breakpoint"


def _parts(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = message.get("content")
    return content if isinstance(content, list) else []


@define(eq=False)
class ChatWire(Wire):
    """Writes the chunks of a completion."""

    google: bool = False
    _calls: list[dict[str, Any]] = field(factory=list, init=False)
    _thoughts: list[str] = field(factory=list, init=False)

    async def _chunk(self, delta: Mapping[str, Any], finish: str | None = None, **fields: Any) -> None:
        choices = [{"index": at, "delta": delta, "finish_reason": finish} for at in range(self._count())]
        await self._data({**self._head("chat.completion.chunk"), "choices": choices, **fields})

    def _count(self) -> int:
        return int(self.received.body.get("n") or 1)

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": "chatcmpl-up", "object": kind, "created": 1, "model": self.received.body.get("model")}

    async def _data(self, value: Mapping[str, Any]) -> None:
        await self.write(f"data: {json.dumps(value, ensure_ascii=False)}\n\n".encode())

    async def start(self) -> None:
        """Send the chunk with the role."""
        if self.response is None and self.received.streaming:
            await self._chunk({"role": "assistant", "content": ""})

    async def _text(self, piece: str) -> None:
        await self.start()
        await self._chunk({"content": piece})

    async def think(self, piece: str) -> None:
        """Send a piece of ``reasoning_content``."""
        self._thoughts.append(piece)
        if self.received.streaming:
            await self.start()
            await self._chunk({"reasoning_content": piece})

    async def call(self, name: str, arguments: str) -> None:
        """Send ``tool_calls``, with the arguments in two pieces."""
        function = {"name": name, "arguments": arguments}
        at = len(self._calls)
        self._calls.append({"index": at, "id": f"call_{at + 1}", "type": "function", "function": function})
        if self.received.streaming:
            await self.start()
            half = len(arguments) // 2
            begun = {**self._calls[at], "function": {"name": name, "arguments": arguments[:half]}}
            await self._chunk({"tool_calls": [begun]})
            await self._chunk({"tool_calls": [{"index": at, "function": {"arguments": arguments[half:]}}]})

    async def ping(self) -> None:
        """Send a comment."""
        await self.write(b": PROCESSING\n\n")

    async def error_event(self, message: str) -> None:
        """Send a chunk that is an error."""
        await self._data({"error": {"message": message, "type": "overloaded_error", "code": 503}})

    async def _end(self, finish: str) -> None:
        await self.start()
        await self._chunk({}, _STOP.get(finish, finish))
        if (self.received.body.get("stream_options") or {}).get("include_usage"):
            await self._data({**self._head("chat.completion.chunk"), "choices": [], "usage": self.usage})
        await self.write(b"data: [DONE]\n\n")

    def _whole(self, finish: str) -> Mapping[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": "".join(self.said)}
        if self._thoughts:
            message["reasoning_content"] = "".join(self._thoughts)
        if self._calls:
            message["tool_calls"] = self._calls
        choices = [
            {"index": at, "message": message, "finish_reason": _STOP.get(finish, finish)} for at in range(self._count())
        ]
        return {**self._head("chat.completion"), "choices": choices, "usage": self.usage}

    def error(
        self, status: int, message: str, kind: str = "", headers: Mapping[str, str] | None = None
    ) -> web.Response:
        """``{"error": …}``. Google puts it into a list."""
        about = {"message": message, "type": kind or "invalid_request_error", "param": None, "code": None}
        if self.google:
            return web.json_response([{"error": {"code": status, "message": message}}], status=status, headers=headers)
        return web.json_response({"error": about}, status=status, headers=headers)
