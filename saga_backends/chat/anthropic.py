"""Anthropic's Messages API: how requests are built, and how replies are read. Without any I/O, but for opening."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar, Literal, get_args

from attrs import define, evolve, field, frozen

from saga_backends.chat.arranged import (
    OPENING,
    SYSTEM,
    Arranged,
    arguments_of,
    as_text,
    calls_of,
    effort_of,
    functions_of,
    nudge,
    picture_url,
    schema_of,
    stops_of,
    voice_of,
    with_speaker,
)
from saga_backends.chat.client import ChatClient, connect, read_options
from saga_backends.chat.dialect import Dialect, Outgoing, Pieces, token_count
from saga_backends.chat.parameter import LIMITS, fitting
from saga_backends.json_text import inside, rows
from saga_core.errors import BadInput
from saga_core.messages import Block, CacheLifetime, PromptPlan
from saga_core.ports import (
    AdjustedPart,
    ChatPart,
    ChatRequest,
    ExtraPart,
    FinishPart,
    TextPart,
    Usage,
)
from saga_core.registry import Backend, OpenOptions
from saga_core.upstream import ParameterRules

ADDRESS = "https://api.anthropic.com"
Thinking = Literal["model", "off"]


async def _open(options: OpenOptions) -> ChatClient:
    given = read_options(options, "anthropic", thinking="model")
    if given["thinking"] not in get_args(Thinking):
        raise BadInput(f"options.thinking: {given['thinking']!r} given; give one of {', '.join(get_args(Thinking))}")
    address = (given["base_url"] or ADDRESS).rstrip("/").removesuffix("/v1")
    dialect = AnthropicDialect("anthropic", given["facts"], given["thinking"])
    return await connect(ChatClient, dialect, given, address, {"anthropic-version": VERSION})


BACKEND = Backend(
    kind="chat",
    name="anthropic",
    open=_open,
    summary="Claude through Anthropic's own API",
)


@frozen
class AnthropicDialect(Dialect):
    """The Messages API, at Anthropic or at compatible servers.

    ``thinking`` is ``model`` to let the model decide, or ``off`` to avoid thinking as far as possible. It is overridden
    by ``reasoning_effort`` in a request.
    """

    thinking: Thinking = "model"
    models_path: ClassVar[str] = "/v1/models?limit=1000"

    def outgoing(self, request: ChatRequest, rules: ParameterRules, *, streaming: bool) -> Outgoing:
        """Return the request as the API takes it."""
        return messages_request(request, rules, self.thinking, streaming=streaming)

    def pieces(self, request: ChatRequest, index: int) -> MessagePieces:
        """Return the reader of a message."""
        return MessagePieces(index=index)


# -- the request -------------------------------------------------------------------------------------------------

SIGNED = "anthropic-claude-v1"
"""The name in ``reasoning_details`` for the format of Anthropic's signatures, the same as at OpenRouter."""
VERSION = "2026-10-21"
SAMPLING_VERSION = "2023-06-01"
"""The last API version that accepts a temperature. The newer version rejects it for every model."""

MAX_TOKENS = 4_096
"""The maximum length of a reply if the client sets no limit. The API requires one."""
_ROOM = {"low": 2_048, "medium": 8_192, "high": 16_384, "xhigh": 32_768, "max": 32_768}
"""Tokens for thinking by effort. They are added to those for the reply, because the API's limit covers both."""
_ROOM_UNASKED = 8_192
_LOWEST = ("none", "minimal", "off")
_SAMPLING = ("temperature", "top_p", "top_k")
_TAKES = frozenset(
    {*_SAMPLING, "stop", "thinking", "output_config", "metadata", "service_tier", "speed", "inference_geo", "container"}
)
"""Parameters that are passed on to the API unchanged."""
_MADE = ("max_tokens", "max_completion_tokens", "reasoning_effort", "reasoning", "tools", "tool_choice", "n")
_IGNORED = ("user", "parallel_tool_calls", "stream_options")
"""Parameters that do not change a reply."""
_CHOICES = {"auto": "auto", "none": "none", "required": "any"}


def messages_request(request: ChatRequest, rules: ParameterRules, thinking: Thinking, *, streaming: bool) -> Outgoing:
    """Build the body of a request, adjusted to what the model accepts."""
    params = dict(request.params)
    made = {name: params.pop(name, None) for name in _MADE}
    for name in _IGNORED:
        params.pop(name, None)
    schema = schema_of(params.get("response_format"))
    if schema is not None:
        del params["response_format"]
    kept, adjusted = fitting(params, rules, _TAKES)
    body: dict[str, Any] = {"model": request.model, "max_tokens": _limit(made)}
    if stops := [stop for stop in stops_of(kept.pop("stop", None)) if stop.strip()]:
        body["stop_sequences"] = stops
    body.update({name: value for name, value in kept.items() if value is not None})
    _sample(body, adjusted)
    thinks = _think(body, _effort(made, thinking), rules)
    if thinks:
        for name in _SAMPLING:
            if body.pop(name, None) is not None:
                adjusted.append(AdjustedPart(name, f"{name} is left out: the model is asked to think"))
    if schema is not None and "output_config" not in rules.refuses:
        form = {"format": {"type": "json_schema", "schema": schema}}
        body["output_config"] = {**body.get("output_config", {}), **form}
    elif schema is not None:
        adjusted.append(AdjustedPart("response_format", "response_format is left out: the model takes no schema"))
    _tools(body, made)
    arranged = arrange(request.plan, rules, prefill=not thinks)
    if arranged.system:
        body["system"] = arranged.system
    body["messages"] = arranged.messages
    if streaming:
        body["stream"] = True
    version = SAMPLING_VERSION if any(name in body for name in _SAMPLING) else VERSION
    return Outgoing(
        "/v1/messages",
        body,
        settings=body,
        headers={"anthropic-version": version},
        beginning=arranged.beginning,
        adjusted=[*adjusted, *arranged.adjusted],
    )


def _limit(made: Mapping[str, Any]) -> int:
    given = (made[name] for name in LIMITS)
    return next((limit for limit in given if type(limit) is int and limit > 0), MAX_TOKENS)


def _sample(body: dict[str, Any], adjusted: list[AdjustedPart]) -> None:
    temperature = body.get("temperature")
    if isinstance(temperature, int | float) and temperature > 1:
        body["temperature"] = 1.0
        adjusted.append(
            AdjustedPart("temperature", f"temperature {temperature:g} becomes 1, the highest that there is")
        )
    if body.get("top_k") in (0, -1):
        del body["top_k"]  # means no limit


def _effort(made: Mapping[str, Any], thinking: Thinking) -> str:
    """Return the thinking effort, ``off``, or an empty text if the client and the configuration leave it open."""
    asked = effort_of(made)
    if isinstance(asked, str) and asked in _ROOM:
        return asked
    return "off" if thinking == "off" or asked in _LOWEST else ""


def _think(body: dict[str, Any], effort: str, rules: ParameterRules) -> bool:
    """Set how much to think and raise ``max_tokens`` for it.

    Returns whether the model is asked to think, in which case sampling parameters are not allowed.
    """
    if "thinking" in body or "thinking" in rules.refuses:
        kind, budget = (inside(body.get("thinking"), name) for name in ("type", "budget_tokens"))
        if kind == "enabled" and type(budget) is int:
            body["max_tokens"] = max(body["max_tokens"], budget + MAX_TOKENS)
        return kind in ("enabled", "adaptive")
    if effort in ("", "off"):
        if effort == "off" and rules.quiet:
            body["thinking"] = {"type": rules.quiet}
        elif effort == "off" and rules.thinks:
            body.setdefault("output_config", {"effort": "low"})
            body["max_tokens"] += _ROOM["low"]
        elif rules.thinks:
            body["max_tokens"] += _ROOM_UNASKED
        return False
    body["max_tokens"] += _ROOM[effort]
    if rules.prefill and not rules.thinks:  # older models do not support an effort
        body["thinking"] = {"type": "enabled", "budget_tokens": max(1_024, _ROOM[effort] - 1_024)}
    else:
        body["thinking"] = {"type": "adaptive"}
        body.setdefault("output_config", {"effort": effort})
    return True


def _tools(body: dict[str, Any], made: Mapping[str, Any]) -> None:
    tools = [
        {**about, "input_schema": schema or {"type": "object", "properties": {}}}
        for about, schema in functions_of(made["tools"])
    ]
    if not tools:
        return
    body["tools"] = tools
    choice = made["tool_choice"]
    if isinstance(choice, str) and choice in _CHOICES:
        body["tool_choice"] = {"type": _CHOICES[choice]}
    elif isinstance(inside(choice, "function"), Mapping):
        body["tool_choice"] = {"type": "tool", "name": str(inside(choice, "function", "name") or "")}


# -- the messages ------------------------------------------------------------------------------------------------

_DATA_URL = re.compile(r"data:(image/(?:jpeg|png|gif|webp));base64,([A-Za-z0-9+/=\s]+)\Z")
_JPG = re.compile(r"\Adata:image/jpg;")


def arrange(plan: PromptPlan, rules: ParameterRules, *, prefill: bool = True) -> Arranged:
    """Convert the messages of the plan into a system prompt and messages of alternating roles, the user first.

    Messages within the history keep their place. A system message stays one if the model accepts it, and otherwise
    becomes a user message. Moving it into ``system`` would change the beginning of the prompt on every turn.
    ``prefill`` is false if other settings of the request rule out a prefill.
    """
    found = Arranged("content")
    own = any(block.breakpoint for block in plan.blocks)
    lead = next((at for at, block in enumerate(plan.blocks) if block.role not in SYSTEM), len(plan.blocks))
    for at, (block, message) in enumerate(zip(plan.blocks, plan.to_openai(), strict=True)):
        blocks = _blocks(block, message["content"] or "", own, found)
        if at < lead:
            found.system += blocks
        else:
            found.say("system" if block.role in SYSTEM else voice_of(block), blocks)
        _mark(found.messages[-1]["content"] if found.messages else found.system, block.breakpoint)
    _two_voices(found, rules)
    _pair_tools(found.messages)
    last = found.messages[-1]
    end = last["content"][-1]
    if last["role"] == "assistant" and end.get("type") == "text":
        if rules.prefill and prefill:
            end["text"] = end["text"].rstrip()  # the API rejects trailing white space
        else:
            found.go_on(end["text"], {"type": "text", "text": nudge(end["text"])})
    return found


def _two_voices(found: Arranged, rules: ParameterRules) -> None:
    """Keep a system message where the API accepts it, which is after a user message and last or before a reply.

    All other system messages become user messages. A user message is put first if there is none.
    """
    entries, found.messages = found.messages, []
    for at, entry in enumerate(entries):
        following = entries[at + 1]["role"] if at + 1 < len(entries) else ""
        behind_user = bool(found.messages) and found.messages[-1]["role"] == "user"
        accepted = rules.system_turns and behind_user and following in ("", "assistant")
        found.say("user" if entry["role"] == "system" and not accepted else entry["role"], entry["content"])
    if not found.messages or found.messages[0]["role"] != "user":
        found.messages.insert(0, {"role": "user", "content": [{"type": "text", "text": OPENING}]})


def _pair_tools(messages: list[dict[str, Any]]) -> None:
    """Turn a result without its call, or a call without its result, into text. A history may be cut between them."""
    called: set[str] = set()
    for at, message in enumerate(messages):
        blocks, following = message["content"], messages[at + 1]["content"] if at + 1 < len(messages) else []
        answered = {block["tool_use_id"] for block in following if block["type"] == "tool_result"}
        for place, block in enumerate(blocks):
            kept = {name: block[name] for name in ("cache_control",) if name in block}
            if block["type"] == "tool_result" and block["tool_use_id"] not in called:
                blocks[place : place + 1] = _unasked(block["content"], kept)
            elif block["type"] == "tool_use" and block["id"] not in answered:
                blocks[place] = {"type": "text", "text": as_text(block["name"], block["input"]), **kept}
        if message["role"] == "user":
            blocks.sort(key=lambda block: block["type"] != "tool_result")
        called = {block["id"] for block in blocks if block["type"] == "tool_use"}


def _unasked(content: Any, kept: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the result of a call that is no longer in the history as ordinary content of the user."""
    parts = content if isinstance(content, list) else [{"type": "text", "text": content or "(no result)"}]
    return [*parts[:-1], {**parts[-1], **kept}]


def _mark(blocks: list[dict[str, Any]], ttl: CacheLifetime | None) -> None:
    if ttl is not None and blocks:
        blocks[-1]["cache_control"] = {"type": "ephemeral", "ttl": "1h"} if ttl == "1h" else {"type": "ephemeral"}


def _blocks(block: Block, content: Any, own: bool, found: Arranged) -> list[dict[str, Any]]:
    if block.role == "tool":
        return [_result(block, content, found)]
    parts: Iterable[Mapping[str, Any]] = [{"type": "text", "text": content}] if isinstance(content, str) else content
    made = []
    for part in parts:
        one = _part(part, block.role, found)
        if one is not None:
            if not own and isinstance(part.get("cache_control"), Mapping):
                one["cache_control"] = dict(part["cache_control"])
            made.append(one)
    if made and made[0]["type"] == "text":
        made[0]["text"] = with_speaker(made[0]["text"], block.extra.get("name"))
    if block.role == "assistant":
        uses = _uses(block.extra.get("tool_calls"))
        made = [*(_thoughts(block.extra.get("reasoning_details")) if uses else ()), *made, *uses]
    return made


def _thoughts(details: Any) -> Iterable[dict[str, Any]]:
    """Return the signed thoughts that came before tool calls."""
    for detail in rows(details):
        if inside(detail, "format") != SIGNED:
            continue
        if detail.get("type") == "reasoning.text" and detail.get("signature"):
            text = str(detail.get("text") or "")
            yield {"type": "thinking", "thinking": text, "signature": str(detail["signature"])}
        elif detail.get("type") == "reasoning.encrypted":
            yield {"type": "redacted_thinking", "data": str(detail.get("data"))}


def _part(part: Mapping[str, Any], role: str, found: Arranged) -> dict[str, Any] | None:
    kind = part.get("type")
    if kind == "text":
        text = part.get("text")
        return {"type": "text", "text": text} if isinstance(text, str) and text.strip() else None
    if kind == "image_url" and role in ("user", "tool"):
        source = _source(picture_url(part))
        if source is not None:
            return {"type": "image", "source": source}
    found.leave_out(kind)
    return None


def _source(url: Any) -> dict[str, Any] | None:
    if not isinstance(url, str):
        return None
    if url.startswith(("http://", "https://")):
        return {"type": "url", "url": url}
    match = _DATA_URL.match(_JPG.sub("data:image/jpeg;", url))
    return {"type": "base64", "media_type": match[1], "data": "".join(match[2].split())} if match else None


def _result(block: Block, content: Any, found: Arranged) -> dict[str, Any]:
    """Return the result of a tool, as one text or as texts and pictures in order."""
    given: Any = content
    if not isinstance(content, str):
        parts = [made for part in content if (made := _part(part, block.role, found)) is not None]
        texts = [part["text"] for part in parts if part["type"] == "text"]
        given = "\n".join(texts) if len(texts) == len(parts) else parts
    return {"type": "tool_result", "tool_use_id": str(block.extra.get("tool_call_id", "")), "content": given}


def _uses(calls: Any) -> list[dict[str, Any]]:
    return [
        {
            "type": "tool_use",
            "id": str(call.get("id", "")),
            "name": str(function.get("name") or ""),
            "input": arguments_of(function),
        }
        for call, function in calls_of(calls)
    ]


# -- the reply ---------------------------------------------------------------------------------------------------


@define
class MessagePieces(Pieces):
    """Turns the events of one message into parts of choice ``index``.

    Thinking is passed on as ``reasoning_content``, and at the end of each block as ``reasoning_details`` with its
    signature. Without the latter, the API does not continue thinking after a tool call.
    """

    _calls: int = field(default=0, init=False)
    _thinking: list[str] = field(factory=list, init=False)
    _signature: list[str] = field(factory=list, init=False)

    @property
    def shape(self) -> tuple[str, ...]:
        """See ``Pieces``."""
        return ("content", "delta", "content_block")

    def read(self, value: Mapping[str, Any], *, whole: bool) -> Iterator[ChatPart]:
        """Yield the parts of an event, or of a whole message."""
        kind = value.get("type")
        if whole:
            yield from self._message(value)
        elif kind == "content_block_delta":
            yield from self._delta(value.get("delta"))
        elif kind == "content_block_start":
            yield from self._block(value.get("content_block"), whole=False)
        elif kind == "content_block_stop":
            yield from self._signed()
        elif kind == "message_start":
            if self._bill(inside(value, "message", "usage")):
                yield from self.end()
        elif kind == "message_delta":
            self._bill(value.get("usage"))
            yield from self._end_of(value.get("delta"))
        elif kind == "message_stop":
            self.done = True

    def _message(self, message: Mapping[str, Any]) -> Iterator[ChatPart]:
        self._bill(message.get("usage"))
        for block in rows(message.get("content")):
            yield from self._block(block, whole=True)
            yield from self._signed()
        yield from self._end_of(message)

    def _text(self, text: Any) -> Iterator[ChatPart]:
        if isinstance(text, str) and text:
            yield TextPart(text, self.index)

    def _thought(self, text: Any) -> Iterator[ChatPart]:
        if isinstance(text, str) and text:
            self._thinking.append(text)
            yield ExtraPart({"reasoning_content": text}, self.index)

    def _signed(self) -> Iterator[ChatPart]:
        """Yield the thoughts of a block with the signature by which the provider recognises them."""
        thought, signature = "".join(self._thinking), "".join(self._signature)
        self._thinking, self._signature = [], []
        if signature:
            yield self._detail({"type": "reasoning.text", "text": thought, "signature": signature})

    def _detail(self, detail: Mapping[str, Any]) -> ExtraPart:
        return ExtraPart({"reasoning_details": [{**detail, "format": SIGNED}]}, self.index)

    def _delta(self, delta: Any) -> Iterator[ChatPart]:
        if not isinstance(delta, Mapping):
            return
        kind = delta.get("type")
        if kind == "text_delta":
            yield from self._text(delta.get("text"))
        elif kind == "thinking_delta":
            yield from self._thought(delta.get("thinking"))
        elif kind == "signature_delta" and isinstance(delta.get("signature"), str):
            self._signature.append(delta["signature"])
        elif kind == "input_json_delta" and isinstance(delta.get("partial_json"), str) and delta["partial_json"]:
            yield self._call({"function": {"arguments": delta["partial_json"]}})

    def _block(self, block: Any, *, whole: bool) -> Iterator[ChatPart]:
        if not isinstance(block, Mapping):
            return
        kind = block.get("type")
        if kind == "text":
            yield from self._text(block.get("text"))
        elif kind == "thinking":
            yield from self._thought(block.get("thinking"))
            self._signature = [block["signature"]] if isinstance(block.get("signature"), str) else []
        elif kind == "redacted_thinking" and isinstance(block.get("data"), str):
            yield self._detail({"type": "reasoning.encrypted", "data": block["data"]})
        elif kind == "tool_use":
            self._calls += 1
            arguments = json.dumps(block.get("input") or {}, ensure_ascii=False) if whole else ""
            yield self._call(
                {
                    "id": str(block.get("id", "")),
                    "type": "function",
                    "function": {"name": str(block.get("name") or ""), "arguments": arguments},
                }
            )

    def _call(self, call: Mapping[str, Any]) -> ExtraPart:
        return ExtraPart({"tool_calls": [{"index": max(0, self._calls - 1), **call}]}, self.index)

    def _end_of(self, delta: Any) -> Iterator[ChatPart]:
        reason, why = inside(delta, "stop_reason"), inside(delta, "stop_details", "explanation")
        if not isinstance(reason, str):
            return
        if reason == "refusal" and isinstance(why, str) and why:
            yield ExtraPart({"refusal": why}, self.index)
        yield FinishPart(reason, self.index)

    def _bill(self, bill: Any) -> bool:
        """Add a usage report, and return whether there was one. Counts are cumulative; unchanged ones may be absent."""
        if not isinstance(bill, Mapping):
            return False
        before = self.usage or Usage()
        fresh = before.input - before.cache_read - before.cache_write
        read = token_count(bill.get("cache_read_input_tokens"), before.cache_read)
        written = token_count(bill.get("cache_creation_input_tokens"), before.cache_write)
        hour = inside(bill, "cache_creation", "ephemeral_1h_input_tokens")
        self.usage = evolve(
            before,
            input=token_count(bill.get("input_tokens"), fresh) + read + written,
            output=token_count(bill.get("output_tokens"), before.output),
            cache_read=read,
            cache_write=written,
            cache_write_1h=min(written, token_count(hour, before.cache_write_1h)),
        )
        return True
