"""Builds a request for the OpenAI chat API, in the provider's dialect."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from saga_backends.chat.parameter import GOOGLE, fitting
from saga_backends.chat.prefill import OPENING, nudge
from saga_core.messages import Block, PromptPlan
from saga_core.ports import AdjustedPart, ChatRequest
from saga_core.upstream import ModelFacts, ParameterRules, takes

STRICT = ("openai", "google")
"""Dialects that reject unknown fields."""

_MESSAGE = frozenset({"role", "content", "name", "tool_calls", "tool_call_id", "refusal"})
_SYSTEM = ("system", "developer")
_MARK = "prompt_cache_breakpoint"


def openai_body(
    request: ChatRequest, dialect: str, rules: ParameterRules, facts: ModelFacts, *, streaming: bool
) -> tuple[dict[str, Any], list[AdjustedPart]]:
    """Build the body of a request, adjusted to what the model accepts. Also returns the adjustments."""
    params, adjusted = fitting(request.params, rules, takes(dialect))
    messages = list(_messages(request.plan, dialect, rules, facts))
    if sum(map(_without_googles, messages)):
        adjusted.append(AdjustedPart("content", "a part that only Gemini's own API has is left out"))
    tools = [message for message in messages if message["role"] == "tool"] if dialect in STRICT else []
    if sum(map(_without_pictures, tools)):
        why = "a picture that a tool returned is left out: this API takes only text from tools"
        adjusted.append(AdjustedPart("content", why))
    if not rules.system_turns:
        messages = in_turns(messages)
    if messages and messages[-1].get("role") == "assistant" and not rules.prefill:
        messages.append({"role": "user", "content": nudge(str(messages[-1].get("content", "")))})
        adjusted.append(AdjustedPart("prefill", "the model cannot be given a reply's beginning; it is asked to go on"))
    body = {**params, "model": request.model, "messages": messages, "stream": streaming}
    options = body.pop("stream_options", None)
    if streaming and "stream_options" not in rules.refuses:
        body["stream_options"] = {**(options if isinstance(options, Mapping) else {}), "include_usage": True}
    if dialect == "openai":
        if request.thread and "prompt_cache_key" not in rules.refuses:
            body.setdefault("prompt_cache_key", hashlib.sha256(request.thread.encode()).hexdigest()[:32])
        if any(_MARK in part for message in messages for part in _parts(message)):
            body.setdefault("prompt_cache_options", {"mode": "explicit"})
    return body, adjusted


def _messages(plan: PromptPlan, dialect: str, rules: ParameterRules, facts: ModelFacts) -> Iterable[dict[str, Any]]:
    marked = _marked(plan.blocks, facts)
    refused = {name.removeprefix("messages.") for name in rules.refuses if name.startswith("messages.")}
    for at, (block, message) in enumerate(zip(plan.blocks, plan.to_openai(), strict=True)):
        if dialect in STRICT:
            message = {name: value for name, value in message.items() if name in _MESSAGE}
        for name in refused & set(message):
            del message[name]
        if dialect == "google" and not message.get("content") and not message.get("tool_calls"):
            continue
        ttl = marked.get(at)
        if ttl is not None and not block.lead:
            message["content"] = _with_mark(message["content"], facts.mark, ttl)
        yield message


def _without_googles(message: dict[str, Any]) -> bool:
    """Remove the parts of type ``google``. Returns whether there were any."""
    parts = _parts(message)
    kept = [part for part in parts if part.get("type") != GOOGLE]
    if len(kept) == len(parts):
        return False
    message["content"] = kept or "(a file)"
    return True


def _without_pictures(message: dict[str, Any]) -> bool:
    """Remove everything but text from the result of a tool. Returns whether anything was removed."""
    parts = _parts(message)
    texts = [part for part in parts if part.get("type") == "text"]
    if len(texts) == len(parts):
        return False
    message["content"] = texts or "(a picture)"
    return True


def in_turns(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rearrange messages into one leading system message, then alternating user and assistant messages, user first.

    A later system message becomes a user message in the same place. Adjacent messages of the same role are merged.
    """
    found: list[dict[str, Any]] = []
    for message in messages:
        told = any(each["role"] not in _SYSTEM for each in found)
        role = "user" if message["role"] in _SYSTEM and told else message["role"]
        content = message.get("content")
        if content in ("", []) and not message.get("tool_calls"):
            continue
        plain = isinstance(content, str) and set(message) <= {"role", "content", "name"}
        if found and plain and found[-1]["role"] == role and isinstance(found[-1].get("content"), str):
            found[-1] = {**found[-1], "content": f"{found[-1]['content']}\n\n{content}"}
            continue
        if role == "assistant" and not told:
            found.append({"role": "user", "content": OPENING})
        found.append({**message, "role": role})
    if all(message["role"] in _SYSTEM for message in found):
        found.append({"role": "user", "content": OPENING})
    return found


def _marked(blocks: tuple[Block, ...], facts: ModelFacts) -> dict[int, str]:
    """Return the lifetime of each cache breakpoint by block. If a block cannot have one, an earlier block gets it."""
    found: dict[int, str] = {}
    for at, block in enumerate(blocks):
        if block.breakpoint is None or not facts.mark:
            continue
        while at >= 0 and not (blocks[at].content and facts.can_mark(blocks[at].role)):
            at -= 1
        if at >= 0:
            found[at] = block.breakpoint
    return found


def _with_mark(content: Any, mark: str, ttl: str) -> list[dict[str, Any]]:
    given = [{"type": "text", "text": content}] if isinstance(content, str) else content
    parts: list[dict[str, Any]] = [dict(part) for part in given]
    if mark == _MARK:
        parts[-1][mark] = {"mode": "explicit"}
    else:
        parts[-1][mark] = {"type": "ephemeral", "ttl": "1h"} if ttl == "1h" else {"type": "ephemeral"}
    return parts


def _parts(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = message.get("content")
    return content if isinstance(content, list) else []
