"""Anthropic's Messages API: how requests are built, and how replies are read. Without any I/O, but for opening."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, get_args

from attrs import define, evolve, field, frozen

from saga_backends.chat.client import ChatClient, connect, read_options
from saga_backends.chat.dialect import Outgoing
from saga_backends.chat.parameter import LIMITS, fitting
from saga_backends.chat.prefill import OPENING, nudge
from saga_backends.http_client import bearer
from saga_core.errors import BadInput
from saga_core.messages import Block, CacheLifetime, PromptPlan
from saga_core.ports import (
    MOST_TOKENS,
    AdjustedPart,
    ChatPart,
    ChatRequest,
    ExtraPart,
    FinishPart,
    TextPart,
    Usage,
    UsagePart,
)
from saga_core.registry import Backend, OpenOptions
from saga_core.upstream import ParameterRules, rules_of

ADDRESS = "https://api.anthropic.com"
Thinking = Literal["model", "off"]


async def _open(options: OpenOptions) -> ChatClient:
    given = read_options(options, "anthropic", thinking="model")
    if given["thinking"] not in get_args(Thinking):
        raise BadInput(f"options.thinking: {given['thinking']!r} given; give one of {', '.join(get_args(Thinking))}")
    address = (given["base_url"] or ADDRESS).rstrip("/").removesuffix("/v1")
    dialect = AnthropicDialect(given["thinking"], given["facts"])
    return await connect(ChatClient, dialect, given, address, {"anthropic-version": VERSION})


BACKEND = Backend(
    kind="chat",
    name="anthropic",
    open=_open,
    summary="Claude through Anthropic's own API",
)


@frozen
class AnthropicDialect:
    """The Messages API, at Anthropic or at compatible servers.

    ``thinking`` is ``model`` to let the model decide, or ``off`` to avoid thinking as far as possible. It is overridden
    by ``reasoning_effort`` in a request.
    """

    thinking: Thinking = "model"
    facts: Mapping[str, Mapping[str, Any]] = field(factory=dict)
    single: bool = field(default=True, init=False)
    models_path: str = field(default="/v1/models?limit=1000", init=False)

    def headers(self, key: str | None) -> dict[str, str]:
        """Return the header that shows ``key``."""
        return bearer(key)

    def rules(self, model: str) -> ParameterRules:
        """Return what is known about what ``model`` accepts."""
        return rules_of(model, "anthropic", self.facts)

    def outgoing(self, request: ChatRequest, rules: ParameterRules, *, streaming: bool) -> Outgoing:
        """Return the request as the API takes it."""
        return messages_request(request, rules, self.thinking, streaming=streaming)

    def pieces(self, request: ChatRequest, index: int) -> MessagePieces:
        """Return the reader of a message."""
        return MessagePieces(index)

    def models(self, answer: Any) -> Any:
        """Return the list of models, whose format is OpenAI's."""
        return answer


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
    schema = _schema(params)
    kept, adjusted = fitting(params, rules, _TAKES)
    body: dict[str, Any] = {"model": request.model, "max_tokens": _limit(made)}
    stops = kept.pop("stop", None)
    stops = [stops] if isinstance(stops, str) else stops if isinstance(stops, list) else []
    if stops := [stop for stop in stops if isinstance(stop, str) and stop.strip()]:
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


def _schema(params: dict[str, Any]) -> Any:
    """Remove the JSON schema for the reply from the parameters and return it, or None if there is none."""
    form = params.get("response_format")
    held = form.get("json_schema") if isinstance(form, Mapping) and form.get("type") == "json_schema" else None
    if not isinstance(held, Mapping) or not isinstance(held.get("schema"), Mapping):
        return None
    del params["response_format"]
    return held["schema"]


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
    reasoning = made["reasoning"]
    asked = made["reasoning_effort"] or (reasoning.get("effort") if isinstance(reasoning, Mapping) else None)
    if isinstance(asked, str) and asked in _ROOM:
        return asked
    return "off" if thinking == "off" or asked in _LOWEST else ""


def _think(body: dict[str, Any], effort: str, rules: ParameterRules) -> bool:
    """Set how much to think and raise ``max_tokens`` for it.

    Returns whether the model is asked to think, in which case sampling parameters are not allowed.
    """
    if "thinking" in body or "thinking" in rules.refuses:
        given = body.get("thinking")
        kind = given.get("type") if isinstance(given, Mapping) else None
        if kind == "enabled" and isinstance(given, Mapping) and type(given.get("budget_tokens")) is int:
            body["max_tokens"] = max(body["max_tokens"], given["budget_tokens"] + MAX_TOKENS)
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
    tools = []
    for tool in made["tools"] if isinstance(made["tools"], list) else ():
        function = tool.get("function") if isinstance(tool, Mapping) else None
        if isinstance(function, Mapping):
            about = {name: function[name] for name in ("name", "description") if function.get(name)}
            tools.append({**about, "input_schema": function.get("parameters") or {"type": "object", "properties": {}}})
    if not tools:
        return
    body["tools"] = tools
    choice = made["tool_choice"]
    if isinstance(choice, str) and choice in _CHOICES:
        body["tool_choice"] = {"type": _CHOICES[choice]}
    elif isinstance(choice, Mapping) and isinstance(choice.get("function"), Mapping):
        body["tool_choice"] = {"type": "tool", "name": str(choice["function"].get("name", ""))}


# -- the messages ------------------------------------------------------------------------------------------------

_SYSTEM = ("system", "developer")
_DATA_URL = re.compile(r"data:(image/(?:jpeg|png|gif|webp));base64,([A-Za-z0-9+/=\s]+)\Z")
_JPG = re.compile(r"\Adata:image/jpg;")


@define
class _Entry:
    role: str
    blocks: list[dict[str, Any]]


@define
class ArrangedMessages:
    """A prompt in the format of the API."""

    system: list[dict[str, Any]] = field(factory=list)
    messages: list[dict[str, Any]] = field(factory=list)
    beginning: str = ""
    """The beginning of the reply, if the model is asked to continue from it instead of being given a prefill."""
    adjusted: list[AdjustedPart] = field(factory=list)


def arrange(plan: PromptPlan, rules: ParameterRules, *, prefill: bool = True) -> ArrangedMessages:
    """Convert the messages of the plan into a system prompt and messages of alternating roles, the user first.

    Messages within the history keep their place. A system message stays one if the model accepts it, and otherwise
    becomes a user message. Moving it into ``system`` would change the beginning of the prompt on every turn.
    ``prefill`` is false if other settings of the request rule out a prefill.
    """
    found = ArrangedMessages()
    own = any(block.breakpoint for block in plan.blocks)
    lead = next((at for at, block in enumerate(plan.blocks) if block.role not in _SYSTEM), len(plan.blocks))
    entries: list[_Entry] = []
    for at, block in enumerate(plan.blocks):
        blocks = _blocks(block, plan.to_openai()[at] if block.lead else None, own, found)
        if at < lead:
            found.system += blocks
            _mark(found.system, block.breakpoint)
            continue
        role = "system" if block.role in _SYSTEM else "assistant" if block.role == "assistant" else "user"
        if blocks and entries and entries[-1].role == role:
            entries[-1].blocks += blocks
        elif blocks:
            entries.append(_Entry(role, blocks))
        if entries:
            _mark(entries[-1].blocks, block.breakpoint)
        else:
            _mark(found.system, block.breakpoint)
    merged = _two_voices(entries, rules)
    if not merged or merged[0].role != "user":
        merged.insert(0, _Entry("user", [{"type": "text", "text": OPENING}]))
    _pair_tools(merged)
    _finish(merged, found, rules.prefill and prefill)
    found.messages = [{"role": entry.role, "content": entry.blocks} for entry in merged]
    return found


def _two_voices(entries: list[_Entry], rules: ParameterRules) -> list[_Entry]:
    """Keep a system message where the API accepts it, which is after a user message and last or before a reply.

    All other system messages become user messages. Adjacent messages of the same role are merged.
    """
    found: list[_Entry] = []
    for at, entry in enumerate(entries):
        following = entries[at + 1].role if at + 1 < len(entries) else ""
        role = entry.role
        if role == "system" and not (
            rules.system_turns and found and found[-1].role == "user" and following in ("", "assistant")
        ):
            role = "user"
        if found and found[-1].role == role:
            found[-1].blocks += entry.blocks
        else:
            found.append(_Entry(role, list(entry.blocks)))
    return found


def _finish(merged: list[_Entry], found: ArrangedMessages, prefill: bool) -> None:
    last = merged[-1]
    if last.role != "assistant":
        return
    end = last.blocks[-1]
    if end.get("type") != "text":
        return
    if prefill:
        end["text"] = end["text"].rstrip()  # the API rejects trailing white space
        return
    found.beginning = end["text"]
    merged.append(_Entry("user", [{"type": "text", "text": nudge(end["text"])}]))
    found.adjusted.append(
        AdjustedPart("prefill", "the model cannot be given a reply's beginning; it is asked to go on from there")
    )


def _pair_tools(merged: list[_Entry]) -> None:
    """Turn a result without its call, or a call without its result, into text. A history may be cut between them."""
    called: set[str] = set()
    for at, entry in enumerate(merged):
        following = merged[at + 1].blocks if at + 1 < len(merged) else []
        answered = {block["tool_use_id"] for block in following if block["type"] == "tool_result"}
        for place, block in enumerate(entry.blocks):
            kept = {name: block[name] for name in ("cache_control",) if name in block}
            if block["type"] == "tool_result" and block["tool_use_id"] not in called:
                entry.blocks[place : place + 1] = _unasked(block["content"], kept)
            elif block["type"] == "tool_use" and block["id"] not in answered:
                said = f"({block['name']}: {json.dumps(block['input'], ensure_ascii=False)})"
                entry.blocks[place] = {"type": "text", "text": said, **kept}
        entry.blocks.sort(key=lambda block: block["type"] != "tool_result" if entry.role == "user" else False)
        called = {block["id"] for block in entry.blocks if block["type"] == "tool_use"}


def _unasked(content: Any, kept: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the result of a call that is no longer in the history as ordinary content of the user."""
    parts = content if isinstance(content, list) else [{"type": "text", "text": content or "(no result)"}]
    return [*parts[:-1], {**parts[-1], **kept}]


def _mark(blocks: list[dict[str, Any]], ttl: CacheLifetime | None) -> None:
    if ttl is not None and blocks:
        blocks[-1]["cache_control"] = {"type": "ephemeral", "ttl": "1h"} if ttl == "1h" else {"type": "ephemeral"}


def _blocks(
    block: Block, with_lead: Mapping[str, Any] | None, own: bool, found: ArrangedMessages
) -> list[dict[str, Any]]:
    content = with_lead["content"] if with_lead is not None else block.content
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
    name = block.extra.get("name")
    if made and isinstance(name, str) and name and made[0]["type"] == "text":
        begun = made[0]["text"].lstrip().startswith(f"{name}:")
        made[0]["text"] = made[0]["text"] if begun else f"{name}: {made[0]['text']}"
    if block.role == "assistant":
        uses = _uses(block.extra.get("tool_calls"))
        made = [*(_thoughts(block.extra.get("reasoning_details")) if uses else ()), *made, *uses]
    return made


def _thoughts(details: Any) -> Iterable[dict[str, Any]]:
    """Return the signed thoughts that came before tool calls."""
    for detail in details if isinstance(details, list) else ():
        if not isinstance(detail, Mapping) or detail.get("format") != SIGNED:
            continue
        if detail.get("type") == "reasoning.text" and detail.get("signature"):
            text = str(detail.get("text") or "")
            yield {"type": "thinking", "thinking": text, "signature": str(detail["signature"])}
        elif detail.get("type") == "reasoning.encrypted":
            yield {"type": "redacted_thinking", "data": str(detail.get("data"))}


def _part(part: Mapping[str, Any], role: str, found: ArrangedMessages) -> dict[str, Any] | None:
    kind = part.get("type")
    if kind == "text":
        text = part.get("text")
        return {"type": "text", "text": text} if isinstance(text, str) and text.strip() else None
    if kind == "image_url" and role in ("user", "tool"):
        image = part.get("image_url")
        source = _source(image.get("url") if isinstance(image, Mapping) else image)
        if source is not None:
            return {"type": "image", "source": source}
    found.adjusted.append(AdjustedPart("content", f"a part of kind {kind!r} is left out: the model does not take it"))
    return None


def _source(url: Any) -> dict[str, Any] | None:
    if not isinstance(url, str):
        return None
    if url.startswith(("http://", "https://")):
        return {"type": "url", "url": url}
    match = _DATA_URL.match(_JPG.sub("data:image/jpeg;", url))
    return {"type": "base64", "media_type": match[1], "data": "".join(match[2].split())} if match else None


def _result(block: Block, content: Any, found: ArrangedMessages) -> dict[str, Any]:
    """Return the result of a tool, as one text or as texts and pictures in order."""
    given: Any = content
    if not isinstance(content, str):
        parts = [made for part in content if (made := _part(part, block.role, found)) is not None]
        texts = [part["text"] for part in parts if part["type"] == "text"]
        given = "\n".join(texts) if len(texts) == len(parts) else parts
    return {"type": "tool_result", "tool_use_id": str(block.extra.get("tool_call_id", "")), "content": given}


def _uses(calls: Any) -> list[dict[str, Any]]:
    found = []
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, Mapping) else None
        if isinstance(function, Mapping):
            try:
                given = json.loads(str(function.get("arguments") or "{}"))
            except ValueError:
                given = {"arguments": str(function.get("arguments"))}
            found.append(
                {
                    "type": "tool_use",
                    "id": str(call.get("id", "")),
                    "name": str(function.get("name", "")),
                    "input": given if isinstance(given, dict) else {"arguments": given},
                }
            )
    return found


# -- the reply ---------------------------------------------------------------------------------------------------


@define
class MessagePieces:
    """Turns the events of one message into parts of choice ``index``.

    Thinking is passed on as ``reasoning_content``, and at the end of each block as ``reasoning_details`` with its
    signature. Without the latter, the API does not continue thinking after a tool call.
    """

    index: int = 0
    done: bool = field(default=False, init=False)
    shape: tuple[str, ...] = field(default=("content", "delta", "content_block"), init=False)
    _usage: Usage | None = field(default=None, init=False)
    _calls: int = field(default=0, init=False)
    _thinking: str = field(default="", init=False)
    _signature: str = field(default="", init=False)

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
            message = value.get("message")
            if isinstance(message, Mapping) and self._bill(message.get("usage")):
                yield from self.end()
        elif kind == "message_delta":
            self._bill(value.get("usage"))
            yield from self._end_of(value.get("delta"))
        elif kind == "message_stop":
            self.done = True

    def end(self) -> Iterator[ChatPart]:
        """Yield the usage as it is known by now."""
        if self._usage is not None:
            yield UsagePart(self._usage)

    def _message(self, message: Mapping[str, Any]) -> Iterator[ChatPart]:
        content = message.get("content")
        self._bill(message.get("usage"))
        for block in content if isinstance(content, list) else ():
            yield from self._block(block, whole=True)
            yield from self._signed()
        yield from self._end_of(message)

    def _text(self, text: Any) -> Iterator[ChatPart]:
        if isinstance(text, str) and text:
            yield TextPart(text, self.index)

    def _thought(self, text: Any) -> Iterator[ChatPart]:
        if isinstance(text, str) and text:
            self._thinking += text
            yield ExtraPart({"reasoning_content": text}, self.index)

    def _signed(self) -> Iterator[ChatPart]:
        """Yield the thoughts of a block with the signature by which the provider recognises them."""
        thought, signature = self._thinking, self._signature
        self._thinking = self._signature = ""
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
            self._signature += delta["signature"]
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
            self._signature = block["signature"] if isinstance(block.get("signature"), str) else ""
        elif kind == "redacted_thinking" and isinstance(block.get("data"), str):
            yield self._detail({"type": "reasoning.encrypted", "data": block["data"]})
        elif kind == "tool_use":
            self._calls += 1
            arguments = json.dumps(block.get("input") or {}, ensure_ascii=False) if whole else ""
            yield self._call(
                {
                    "id": str(block.get("id", "")),
                    "type": "function",
                    "function": {"name": str(block.get("name", "")), "arguments": arguments},
                }
            )

    def _call(self, call: Mapping[str, Any]) -> ExtraPart:
        return ExtraPart({"tool_calls": [{"index": max(0, self._calls - 1), **call}]}, self.index)

    def _end_of(self, delta: Any) -> Iterator[ChatPart]:
        reason = delta.get("stop_reason") if isinstance(delta, Mapping) else None
        if not isinstance(reason, str):
            return
        details = delta.get("stop_details")
        why = details.get("explanation") if isinstance(details, Mapping) else None
        if reason == "refusal" and isinstance(why, str) and why:
            yield ExtraPart({"refusal": why}, self.index)
        yield FinishPart(reason, self.index)

    def _bill(self, bill: Any) -> bool:
        """Add a usage report, and return whether there was one. Counts are cumulative; unchanged ones may be absent."""
        if not isinstance(bill, Mapping):
            return False
        before = self._usage or Usage()
        fresh = before.input - before.cache_read - before.cache_write
        read = _tokens(bill.get("cache_read_input_tokens"), before.cache_read)
        written = _tokens(bill.get("cache_creation_input_tokens"), before.cache_write)
        by_life = bill.get("cache_creation")
        hour = by_life.get("ephemeral_1h_input_tokens") if isinstance(by_life, Mapping) else None
        self._usage = evolve(
            before,
            input=_tokens(bill.get("input_tokens"), fresh) + read + written,
            output=_tokens(bill.get("output_tokens"), before.output),
            cache_read=read,
            cache_write=written,
            cache_write_1h=min(written, _tokens(hour, before.cache_write_1h)),
        )
        return True


def _tokens(value: Any, before: int) -> int:
    return value if type(value) is int and 0 <= value < MOST_TOKENS else before
