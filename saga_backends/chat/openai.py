"""The OpenAI chat API, in the dialects of OpenAI, Google, OpenRouter and of any server that is compatible with it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar
from urllib.parse import urlsplit

from attrs import define, frozen

from saga_backends.chat.arranged import OPENING, SYSTEM, nudge
from saga_backends.chat.client import ChatClient, connect, read_options
from saga_backends.chat.dialect import Dialect, Outgoing, Pieces, usage_of
from saga_backends.chat.parameter import GOOGLE, fitting
from saga_backends.chat.text_completion import TextPieces, server_root, text_outgoing
from saga_core.errors import BadInput, UpstreamError
from saga_core.messages import Block, PromptPlan
from saga_core.ports import (
    AdjustedPart,
    ChatPart,
    ChatRequest,
    ExtraPart,
    FinishPart,
    Passed,
    TextPart,
)
from saga_core.registry import Backend, OpenOptions
from saga_core.upstream import ModelFacts, ParameterRules, facts_of, takes

ADDRESS = "https://api.openai.com/v1"
_ACCOUNT = {"OPENAI_ORG_ID": "OpenAI-Organization", "OPENAI_PROJECT_ID": "OpenAI-Project"}
"""Maps environment variables to the headers that tell OpenAI which account to bill."""
_HOSTS = {
    "api.openai.com": "openai",
    "generativelanguage.googleapis.com": "google",
    "openrouter.ai": "openrouter",
}


async def _open(options: OpenOptions) -> OpenAIClient:
    """Open a client. If the option ``dialect`` is empty, it is derived from the address."""
    given = read_options(options, "openai", dialect="")
    base_url, headers = given["base_url"], dict[str, str]()
    if base_url is None:  # environment variables only apply to OpenAI itself
        base_url = os.environ.get("OPENAI_BASE_URL") or ADDRESS
        given["api_key"] = given["api_key"] or os.environ.get("OPENAI_API_KEY")
        if not given["api_key"]:
            remedy = "give it or base_url"
            raise BadInput(f"options.api_key: none is given, and OPENAI_API_KEY is not set; {remedy}")
        headers = {header: os.environ[name] for name, header in _ACCOUNT.items() if os.environ.get(name)}
    dialect = OpenAIDialect(given["dialect"] or dialect_at(base_url), given["facts"], base_url)
    return await connect(OpenAIClient, dialect, given, base_url, headers)


BACKEND = Backend(
    kind="chat",
    name="openai",
    open=_open,
    summary="any server that speaks the OpenAI chat API",
)


def dialect_at(base_url: str) -> str:
    """Return the dialect of the server at ``base_url``: ``openai``, ``google``, ``openrouter`` or ``any``."""
    try:
        return _HOSTS.get(urlsplit(base_url).hostname or "", "any")
    except ValueError:  # no URL; opening the client says so
        return "any"


class OpenAIClient(ChatClient):
    """A provider with the OpenAI API, which has more endpoints than chat, and may be a text-completion server."""

    async def relay(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request to ``path`` below the server's root and return the JSON reply. Raises ``UpstreamError``."""
        return await self.json(method, server_root(str(self.http.base_url)) + path, body)

    async def pass_on(self, path: str, body: bytes, content_type: str, api_key: str | None) -> Passed:
        """Pass ``body`` on to ``path`` below the base URL and return the reply. Raises ``UpstreamError``."""
        return await self.passed(path, body, content_type, self.dialect.headers(api_key or self.api_key), api_key)


@frozen
class OpenAIDialect(Dialect):
    """The API as a provider speaks it: ``openai``, ``google``, ``openrouter`` or ``any``."""

    base_url: str = ""
    single: ClassVar[bool] = False

    def outgoing(self, request: ChatRequest, rules: ParameterRules, *, streaming: bool) -> Outgoing:
        """Return the request as the provider takes it: a chat, or a text to complete."""
        if request.text is not None:
            return text_outgoing(request, request.text, self.base_url, streaming=streaming)
        return chat_outgoing(
            request, self.name, rules, facts_of(request.model, self.name, self.facts), streaming=streaming
        )

    def pieces(self, request: ChatRequest, index: int) -> Pieces:
        """Return the reader of a completion."""
        return ChatPieces() if request.text is None else TextPieces(request.text.wire)


# -- the request -------------------------------------------------------------------------------------------------

STRICT = ("openai", "google")
"""Dialects that reject unknown fields."""

_MESSAGE = frozenset({"role", "content", "name", "tool_calls", "tool_call_id", "refusal"})
_MARK = "prompt_cache_breakpoint"


def chat_outgoing(
    request: ChatRequest, dialect: str, rules: ParameterRules, facts: ModelFacts, *, streaming: bool
) -> Outgoing:
    """Build a request, adjusted to what the model accepts."""
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
    beginning = ""
    if messages and messages[-1].get("role") == "assistant" and not rules.prefill:
        beginning = str(messages[-1].get("content") or "")
        messages.append({"role": "user", "content": nudge(beginning)})
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
    return Outgoing("/chat/completions", body, settings=body, beginning=beginning, adjusted=adjusted)


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
        told = any(each["role"] not in SYSTEM for each in found)
        role = "user" if message["role"] in SYSTEM and told else message["role"]
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
    if all(message["role"] in SYSTEM for message in found):
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


# -- the reply ---------------------------------------------------------------------------------------------------

_READ = frozenset({"content", "role"})
_TEXTS = ("name", "arguments")
MOST_CHOICES = 128
"""The maximum number of choices in a chunk, as many as OpenAI gives at most. Each takes some work."""


@define
class ChatPieces(Pieces):
    """Turns the chunks of one completion into parts. What SAGA does not know of a delta is passed on as it is."""

    @property
    def shape(self) -> tuple[str, ...]:
        """See ``Pieces``."""
        return ("choices",)

    def read(self, value: Mapping[str, Any], *, whole: bool) -> Iterator[ChatPart]:
        """Yield the parts of a chunk, or of a whole completion."""
        if isinstance(value.get("usage"), Mapping):
            self.usage = usage_of(value["usage"])
        choices = value.get("choices")
        if isinstance(choices, list) and len(choices) > MOST_CHOICES:
            raise UpstreamError(f"the provider sent {len(choices):,} choices at once, more than {MOST_CHOICES}")
        for position, choice in enumerate(choices if isinstance(choices, list) else ()):
            if isinstance(choice, Mapping):
                index = choice.get("index")
                yield from self._choice(choice, index if type(index) is int and index >= 0 else position)

    def _choice(self, choice: Mapping[str, Any], index: int) -> Iterator[ChatPart]:
        delta = choice.get("delta") or choice.get("message")
        if isinstance(delta, Mapping):
            extra = {name: value for name, value in delta.items() if name not in _READ and value is not None}
            if "tool_calls" in extra and (calls := _well_formed(extra.pop("tool_calls"))):
                extra["tool_calls"] = calls
            thoughts = _texts(delta.get("content"), "thinking")
            if thoughts and "reasoning_content" not in extra:
                extra["reasoning_content"] = thoughts
            if extra:
                yield ExtraPart(extra, index)
            if text := _texts(delta.get("content"), "text"):
                yield TextPart(text, index)
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            yield FinishPart(reason, index)


def _texts(content: Any, kind: str) -> str:
    """Return the text of a content, or of its parts of one ``kind``. Mistral nests those of a thought."""
    if isinstance(content, str):
        return content if kind == "text" else ""
    parts = content if isinstance(content, list) else ()
    texts = [part.get(kind) for part in parts if isinstance(part, Mapping) and part.get("type") == kind]
    return "".join(text if isinstance(text, str) else _texts(text, "text") for text in texts)


def _well_formed(calls: Any) -> list[Any]:
    """Return the tool calls that are objects. Arguments become JSON, which many small servers send as an object."""
    return [_call(call) for call in calls if isinstance(call, Mapping)] if isinstance(calls, list) else []


def _call(call: Mapping[str, Any]) -> Mapping[str, Any]:
    function = call.get("function")
    if isinstance(function, Mapping) and all(isinstance(function.get(name) or "", str) for name in _TEXTS):
        return call
    given = function if isinstance(function, Mapping) else {}
    return {**call, "function": {**given, **{name: _as_text(given[name]) for name in _TEXTS if name in given}}}


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
