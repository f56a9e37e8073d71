"""A strict server of Anthropic's Messages API. It refuses what the documentation forbids, in the API's own words.

The rules are written independently of those in SAGA, so that the two can disagree.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from aiohttp import web
from attrs import define, field, frozen

from tests.fake_providers.server import ProtocolServer, Received, Step, Wire
from tests.fake_providers.steps import says

VERSIONS = ("2023-06-01", "2026-10-21")
USAGE = {
    "input_tokens": 30,
    "cache_creation_input_tokens": 6,
    "cache_read_input_tokens": 64,
    "cache_creation": {"ephemeral_5m_input_tokens": 2, "ephemeral_1h_input_tokens": 4},
    "output_tokens": 1,
}
OUTPUT_TOKENS = 20

_FIELDS = frozenset(
    "model messages max_tokens system stream stop_sequences temperature top_p top_k tools tool_choice thinking "
    "metadata service_tier output_config cache_control container diagnostics inference_geo speed".split()
)
_SAMPLING = ("temperature", "top_p", "top_k")
_STOP = {"stop": "end_turn", "length": "max_tokens", "filtered": "refusal", "tool": "tool_use"}
_BLOCKS: Mapping[str, frozenset[str]] = {
    "text": frozenset({"type", "text", "cache_control", "citations"}),
    "image": frozenset({"type", "source", "cache_control"}),
    "tool_use": frozenset({"type", "id", "name", "input", "cache_control"}),
    "tool_result": frozenset({"type", "tool_use_id", "content", "is_error", "cache_control"}),
    "thinking": frozenset({"type", "thinking", "signature"}),
}
_MEDIA = ("image/jpeg", "image/png", "image/gif", "image/webp")


@frozen
class Refuses:
    """What a model refuses."""

    sampling: bool = True
    both: bool = False
    """Temperature together with top_p."""
    prefill: bool = True
    system: bool = False
    """System messages among the messages."""
    thinking: tuple[str, ...] = ("enabled",)
    """Types of ``thinking``."""


_RULES = (
    ("claude-(opus|sonnet|haiku)-4-5", Refuses(False, True, False, True, ("adaptive", "between_tools"))),
    ("claude-(opus|sonnet)-4-6", Refuses(False, True, True, True, ("between_tools",))),
    ("claude-opus-4-7", Refuses(True, False, True, True, ("enabled", "between_tools"))),
    ("claude-opus-4-8", Refuses(True, False, True, False, ("enabled", "between_tools"))),
    ("claude-(opus|sonnet)-5-5", Refuses(thinking=("enabled", "disabled"))),
    ("claude-haiku-5-5", Refuses(thinking=("enabled", "between_tools"))),
    ("claude-sonnet-5", Refuses(system=True, thinking=("enabled", "between_tools"))),
    ("claude-opus-5", Refuses(thinking=("enabled", "between_tools"))),
)


def refusals_of(model: str) -> Refuses:
    """What ``model`` refuses. A model that is not listed refuses the same as the newest ones."""
    return next((rules for pattern, rules in _RULES if re.match(pattern, model)), Refuses())


@define(eq=False)
class AnthropicMessages(ProtocolServer):
    """A strict ``POST /v1/messages``. ``refuses`` replaces the model's own rules."""

    otherwise: Step = field(factory=lambda: says("The rain ", "stops."))
    refuses: Refuses | None = None
    models: tuple[str, ...] = ("claude-sonnet-5-5", "claude-haiku-5-5")

    @property
    def url(self) -> str:
        """The host's root, as the SDK expects it."""
        return self.root

    def _routes(self) -> list[web.RouteDef]:
        return [web.post("/v1/messages", self._answer), web.get("/v1/models", self._list)]

    def _wire(self, request: web.Request, received: Received) -> Wire:
        usage = self.account(received) if self.account is not None else USAGE
        return MessagesWire(request, received, usage)

    def _problem(self, received: Received) -> str | None:
        version = {name.lower(): value for name, value in received.headers.items()}.get("anthropic-version")
        if version not in VERSIONS:
            return f"anthropic-version: {version!r} is not a valid version"
        rules = self.refuses or refusals_of(str(received.body.get("model")))
        return next(_problems(received.body, version, rules), None)


def _problems(body: Mapping[str, Any], version: str, rules: Refuses) -> Iterator[str]:
    for name in body:
        if name not in _FIELDS or (name in _SAMPLING and version == VERSIONS[1]):
            yield f"{name}: Extra inputs are not permitted"
    if not isinstance(body.get("model"), str) or not body["model"]:
        yield "model: Field required"
    if type(body.get("max_tokens")) is not int:
        yield "max_tokens: Field required"
    elif body["max_tokens"] < 1:
        yield "max_tokens: Input should be greater than or equal to 1"
    given = [name for name in _SAMPLING if name in body]
    if given and rules.sampling:
        yield f"`{given[0]}` is deprecated for this model."
    if rules.both and "temperature" in body and "top_p" in body:
        yield "`temperature` and `top_p` cannot both be specified for this model. Please use only one."
    if not 0 <= body.get("temperature", 0) <= 1:
        yield "temperature: Input should be less than or equal to 1"
    yield from _thinking(body, rules)
    for stop in body.get("stop_sequences", ()):
        if not isinstance(stop, str) or not stop.strip():
            yield "stop_sequences: each stop sequence must contain non-whitespace"
    yield from _system(body.get("system", []))
    yield from _messages(body.get("messages"), rules)
    yield from _breakpoints(body)


def _thinking(body: Mapping[str, Any], rules: Refuses) -> Iterator[str]:
    thinking = body.get("thinking")
    if thinking is None:
        return
    kind = thinking.get("type") if isinstance(thinking, Mapping) else None
    if kind not in ("enabled", "disabled", "adaptive", "between_tools"):
        yield "thinking: Input tag found does not match any of the expected tags"
    elif kind in rules.thinking:
        yield f'"thinking.type.{kind}" is not supported for this model.'
    elif kind == "enabled" and not 1_024 <= thinking.get("budget_tokens", 0) < body.get("max_tokens", 0):
        yield "`max_tokens` must be greater than `thinking.budget_tokens`"


def _system(system: Any) -> Iterator[str]:
    if isinstance(system, str):
        return
    for at, block in enumerate(system):
        if block.get("type") != "text":
            yield f"system.{at}: only text blocks are allowed"
        yield from _block(block, f"system.{at}", "system")


def _messages(messages: Any, rules: Refuses) -> Iterator[str]:
    if not isinstance(messages, list) or not messages:
        yield "messages: at least one message is required"
        return
    roles = [message.get("role") for message in messages]
    if roles[0] == "system":
        yield "messages.0: use the top-level 'system' parameter for the initial system prompt"
    if roles[0] != "user":
        yield 'messages: first message must use the "user" role'
    for at, message in enumerate(messages):
        if set(message) != {"role", "content"}:
            yield f"messages.{at}: Extra inputs are not permitted"
        if roles[at] not in ("user", "assistant", "system"):
            yield f"messages.{at}.role: Input should be 'user' or 'assistant'"
        if roles[at] == "system":
            if rules.system:
                yield "role 'system' is not supported on this model"
            if at == 0 or roles[at - 1] != "user" or (at + 1 < len(roles) and roles[at + 1] != "assistant"):
                yield f"messages.{at}: a system message must follow a user message and be last or before an assistant's"
        yield from _content(message.get("content"), f"messages.{at}", roles[at])
    yield from _tools(messages)
    if roles[-1] == "assistant":
        if rules.prefill:
            yield (
                "This model does not support assistant message prefill. The conversation must end with a user message."
            )
        last = messages[-1]["content"]
        end = last if isinstance(last, str) else last[-1].get("text", "")
        if end != end.rstrip():
            yield "messages: final assistant content cannot end with trailing whitespace"


def _content(content: Any, where: str, role: str) -> Iterator[str]:
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    if not isinstance(blocks, list) or not blocks:
        yield f"{where}: all messages must have non-empty content"
        return
    for at, block in enumerate(blocks):
        yield from _block(block, f"{where}.content.{at}", role)


def _block(block: Mapping[str, Any], where: str, role: str) -> Iterator[str]:
    kind = str(block.get("type"))
    if kind not in _BLOCKS:
        yield f"{where}: Input tag '{kind}' found using 'type' does not match any of the expected tags"
        return
    for name in set(block) - _BLOCKS[kind]:
        yield f"{where}.{kind}.{name}: Extra inputs are not permitted"
    if kind == "text":
        if not block.get("text"):
            yield "messages: text content blocks must be non-empty"
        elif not str(block["text"]).strip():
            yield "messages: text content blocks must contain non-whitespace text"
    elif role == "system":
        yield f"{where}: system messages take text only"
    if kind == "image":
        source = block.get("source", {})
        if role != "user":
            yield f"{where}: images are allowed in user messages only"
        if source.get("type") == "base64" and source.get("media_type") not in _MEDIA:
            yield f"{where}.image.source.base64.media_type: Input should be one of {', '.join(_MEDIA)}"
        if source.get("type") == "url" and not str(source.get("url", "")).startswith(("http://", "https://")):
            yield f"{where}.image.source.url: Only HTTP(S) URLs are supported"


def _tools(messages: list[Mapping[str, Any]]) -> Iterator[str]:
    called: set[str] = set()
    for at, message in enumerate(messages):
        blocks = message["content"] if isinstance(message["content"], list) else []
        answered = {block.get("tool_use_id") for block in blocks if block.get("type") == "tool_result"}
        if answered - called:
            yield f"messages.{at}: unexpected `tool_use_id` found in `tool_result` blocks"
        if called - answered:
            yield f"messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately after"
        called = {block["id"] for block in blocks if block.get("type") == "tool_use"}


def _breakpoints(body: Mapping[str, Any]) -> Iterator[str]:
    marks = [block["cache_control"] for block in blocks_of(body) if block.get("cache_control")]
    if len(marks) > 4:
        yield f"A maximum of 4 blocks with cache_control may be provided. Found {len(marks)}."
    short = False
    for mark in marks:
        if mark.get("type") != "ephemeral" or mark.get("ttl", "5m") not in ("5m", "1h"):
            yield "cache_control.ttl: Input should be '5m' or '1h'"
        if mark.get("ttl") == "1h" and short:
            yield "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block"
        short = short or mark.get("ttl", "5m") == "5m"


def blocks_of(body: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Every block of the prompt in the order of the cache's prefix: system, then messages."""
    parts = [body.get("system") or [], *(message["content"] for message in body.get("messages", []))]
    for part in parts:
        yield from [{"type": "text", "text": part}] if isinstance(part, str) else part


@define(eq=False)
class MessagesWire(Wire):
    """Writes a reply as the events of a message."""

    _open: str = ""
    _blocks: list[dict[str, Any]] = field(factory=list, init=False)

    def _bill(self) -> dict[str, Any]:
        return {**(self.usage or USAGE)}

    async def _event(self, kind: str, **fields: Any) -> None:
        data = json.dumps({"type": kind, **fields}, ensure_ascii=False)
        await self.write(f"event: {kind}\ndata: {data}\n\n".encode())

    async def start(self) -> None:
        """Send ``message_start``, with the usage of the prompt."""
        if self.response is None and self.received.streaming:
            await self._event("message_start", message={**self._message(), "content": [], "usage": self._bill()})

    def _message(self) -> dict[str, Any]:
        model = self.received.body.get("model")
        return {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "stop_reason": None}

    async def _block(self, block: dict[str, Any]) -> None:
        await self._close()
        await self.start()
        self._open = str(block["type"])
        self._blocks.append(block)
        if self.received.streaming:
            await self._event("content_block_start", index=len(self._blocks) - 1, content_block=block)

    async def _close(self) -> None:
        if self._open and self.received.streaming:
            await self._event("content_block_stop", index=len(self._blocks) - 1)
        self._open = ""

    async def _delta(self, **delta: Any) -> None:
        if self.received.streaming:
            await self._event("content_block_delta", index=len(self._blocks) - 1, delta=delta)

    async def _text(self, piece: str) -> None:
        if self._open != "text":
            await self._block({"type": "text", "text": ""})
        await self._delta(type="text_delta", text=piece)

    async def think(self, piece: str) -> None:
        """Send a thinking block, with its signature."""
        await self._block({"type": "thinking", "thinking": "", "signature": ""})
        await self._delta(type="thinking_delta", thinking=piece)
        await self._delta(type="signature_delta", signature="c2ln")
        if not self.received.streaming:
            self._blocks[-1] = {"type": "thinking", "thinking": piece, "signature": "c2ln"}

    async def call(self, name: str, arguments: str) -> None:
        """Send a ``tool_use`` block whose input comes in pieces."""
        text = "".join(self.said)
        if not self.received.streaming and text:
            self._blocks.append({"type": "text", "text": text})
            self.said.clear()
        given = {} if self.received.streaming else json.loads(arguments)
        number = 1 + sum(block["type"] == "tool_use" for block in self._blocks)
        await self._block({"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": given})
        half = len(arguments) // 2
        for piece in ("", arguments[:half], arguments[half:]):
            await self._delta(type="input_json_delta", partial_json=piece)

    async def ping(self) -> None:
        """Send a ``ping`` event."""
        await self.start()
        await self._event("ping")

    async def error_event(self, message: str) -> None:
        """Send an ``error`` event."""
        await self._event("error", error={"type": "overloaded_error", "message": message})

    async def _end(self, finish: str) -> None:
        await self.start()
        await self._close()
        delta: dict[str, Any] = {"stop_reason": _STOP.get(finish, finish), "stop_sequence": None}
        if finish == "filtered":
            delta["stop_details"] = {"type": "refusal", "category": None, "explanation": "not that"}
        await self._event("message_delta", delta=delta, usage={"output_tokens": OUTPUT_TOKENS})
        await self._event("message_stop")

    def _whole(self, finish: str) -> Mapping[str, Any]:
        text = "".join(self.said)
        said = [{"type": "text", "text": text}] if text else []
        details = {"type": "refusal", "category": None, "explanation": "not that"} if finish == "filtered" else None
        return {
            **self._message(),
            "content": [*self._blocks, *said],
            "stop_reason": _STOP.get(finish, finish),
            "stop_details": details,
            "usage": {**self._bill(), "output_tokens": OUTPUT_TOKENS},
        }

    def error(
        self, status: int, message: str, kind: str = "", headers: Mapping[str, str] | None = None
    ) -> web.Response:
        """``{"type": "error", "error": …}``."""
        kinds = {400: "invalid_request_error", 401: "authentication_error", 404: "not_found_error",
                 429: "rate_limit_error", 529: "overloaded_error"}  # fmt: skip
        about = {"type": kind or kinds.get(status, "api_error"), "message": message}
        return web.json_response(
            {"type": "error", "error": about, "request_id": "req_1"}, status=status, headers=headers
        )
