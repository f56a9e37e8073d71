"""The caching rules of providers behind the strict servers, and a witness of what changes before the breakpoints."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from attrs import define, field, frozen

from saga_backends.tokens.estimate import EstimateCounter
from tests.bench.cache.rules import AutomaticCache, Charge, MarkedCache, Piece
from tests.fake_providers.server import Received

_TOKENIZER = EstimateCounter(1.15)
"""The provider counts otherwise than SAGA."""
OUTPUT = 40


@define
class Till:
    """Bills requests by a cache's rules, in the dialect's own shape: the ``account`` of a strict server."""

    cache: MarkedCache | AutomaticCache
    dialect: str
    charges: list[Charge] = field(factory=list)
    prompts: list[list[Piece]] = field(factory=list)

    def __call__(self, received: Received) -> Mapping[str, Any]:
        pieces = pieces_of(received.body, self.dialect)
        charge = self.cache.send(pieces, time.time())
        self.prompts.append(pieces)
        self.charges.append(charge)
        if self.dialect == "anthropic":
            return {
                "input_tokens": charge.plain,
                "cache_read_input_tokens": charge.read,
                "cache_creation_input_tokens": charge.written,
                "cache_creation": {
                    "ephemeral_5m_input_tokens": charge.written - charge.written_1h,
                    "ephemeral_1h_input_tokens": charge.written_1h,
                },
                "output_tokens": OUTPUT,
            }
        return {
            "prompt_tokens": charge.total,
            "completion_tokens": OUTPUT,
            "total_tokens": charge.total + OUTPUT,
            "prompt_tokens_details": {"cached_tokens": charge.read, "cache_write_tokens": charge.written},
        }

    def reuse(self, start: int = 2) -> float:
        """Tokens read of those that could have been read, from the request ``start`` on."""
        counted = self.charges[start:]
        return sum(each.read for each in counted) / max(1, sum(each.shared for each in counted))


def pieces_of(body: Mapping[str, Any], dialect: str) -> list[Piece]:
    """The content blocks of a request, in the order of the cache's prefix."""
    messages = [(str(each["role"]), each["content"]) for each in body["messages"]]
    if dialect == "anthropic":
        messages.insert(0, ("system", body.get("system") or []))
    found = []
    for role, content in messages:
        for part in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            text = str(part.get("text") or {key: value for key, value in part.items() if key != "cache_control"})
            found.append(Piece(f"{role}\n{text}", _TOKENIZER.count(text) + 4, _mark(part), role == "assistant"))
    return found


def _mark(part: Mapping[str, Any]) -> Any:
    if "prompt_cache_breakpoint" in part:
        return "30m"
    mark = part.get("cache_control")
    return None if mark is None else mark.get("ttl", "5m")


@frozen
class Sent:
    """A request of the client, what was made of it, and why its prefix may be another."""

    asked: tuple[tuple[str, str], ...]
    """The client's own messages."""
    prompt: tuple[Piece, ...]
    reason: str


@define
class Witness:
    """Compares each prompt with the one in its session that it shares most of the chat with, and of the prompt."""

    sent: dict[str, list[Sent]] = field(factory=dict)
    changed: list[str] = field(factory=list)
    """The recorded reasons of prompts whose marked prefix is not that of the one before."""

    def see(self, session: str, messages: list[dict[str, Any]], prompt: list[Piece], bill: Mapping[str, Any]) -> None:
        """One more. Fails when a byte before the last breakpoint changed without a word, and the chat did not."""
        asked = tuple((str(m["role"]), str(m["content"])) for m in messages)
        now = Sent(asked, tuple(prompt), str(bill["pinned"] or bill["note"]))
        earlier = self.sent.setdefault(session, [])
        talk = _talk(asked)
        before = max(earlier, key=lambda each: _likeness(each, talk, prompt), default=None)
        earlier.append(now)
        if before is None:
            return
        marked = max((at for at, piece in enumerate(before.prompt) if piece.mark), default=-1)
        kept = _common([p.text for p in before.prompt], [p.text for p in prompt])
        if kept > marked:
            return
        told = _talk(before.asked)
        theirs = _common(told, talk) < len(told) - 1
        assert now.reason or theirs, (
            f"{prompt[kept].text[:200]!r} was {before.prompt[kept].text[:200]!r}: nobody says why"
        )
        self.changed.append(now.reason)


def _likeness(sent: Sent, talk: list[str], prompt: list[Piece]) -> tuple[int, int]:
    return _common(_talk(sent.asked), talk), _common([p.text for p in sent.prompt], [p.text for p in prompt])


def _talk(asked: tuple[tuple[str, str], ...]) -> list[str]:
    return [text for role, text in asked if role != "system"]


def _common(one: Any, other: Any) -> int:
    at = 0
    while at < min(len(one), len(other)) and one[at] == other[at]:
        at += 1
    return at
