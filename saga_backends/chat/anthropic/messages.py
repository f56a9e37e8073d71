"""Converts a prompt plan for the Messages API, into a system prompt and messages of alternating roles, the user first.

Messages within the history keep their place. A system message stays one if the model accepts it, and otherwise becomes
a user message. Moving it into ``system`` would change the beginning of the prompt on every turn.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from attrs import define, field

from saga_backends.chat.anthropic.reply import SIGNED
from saga_backends.chat.prefill import OPENING, nudge
from saga_core.messages import Block, CacheLifetime, PromptPlan
from saga_core.ports import AdjustedPart
from saga_core.upstream import ParameterRules

_SYSTEM = ("system", "developer")
_DATA_URL = re.compile(r"data:(image/(?:jpeg|png|gif|webp));base64,([A-Za-z0-9+/=\s]+)\Z")
_JPG = re.compile(r"\Adata:image/jpg;")


@define
class _Entry:
    role: str
    blocks: list[dict[str, Any]]


@define
class Arranged:
    """A prompt in the format of the API."""

    system: list[dict[str, Any]] = field(factory=list)
    messages: list[dict[str, Any]] = field(factory=list)
    beginning: str = ""
    """The beginning of the reply, if the model is asked to continue from it instead of being given a prefill."""
    adjusted: list[AdjustedPart] = field(factory=list)


def arrange(plan: PromptPlan, rules: ParameterRules, *, prefill: bool = True) -> Arranged:
    """Convert the messages of the plan. ``prefill`` is false if other settings of the request rule out a prefill."""
    found = Arranged()
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


def _finish(merged: list[_Entry], found: Arranged, prefill: bool) -> None:
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


def _blocks(block: Block, with_lead: Mapping[str, Any] | None, own: bool, found: Arranged) -> list[dict[str, Any]]:
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


def _part(part: Mapping[str, Any], role: str, found: Arranged) -> dict[str, Any] | None:
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


def _result(block: Block, content: Any, found: Arranged) -> dict[str, Any]:
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
