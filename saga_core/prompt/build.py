"""Building the plan: the client's system as sent, SAGA's rules, the world, pinned pages, history, the player's words.

Nothing that changes from turn to turn stands before the player's last words: the context goes into that very message,
in front of its text. A system message in mid-history is left where the client put it, and none is added there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from saga_core.prompt.plan import Block, PromptPlan, Stability
from saga_core.state_block import hide

_SYSTEM = ("system", "developer")
_CARRIED, _CARRIED_END = "[System prompt, for this reply]", "[/System prompt]"


def build_plan(
    messages: Sequence[Mapping[str, Any]],
    *,
    rules: str = "",
    world: str = "",
    pages: str = "",
    context: str = "",
    carried: str = "",
) -> PromptPlan:
    """The plan for a request. Without anything but ``messages`` it is the client's prompt.

    ``carried``: text of the client's own system messages that goes in front of the context.
    """
    if carried:
        frame = f"{_CARRIED}\n{carried}\n{_CARRIED_END}"
        context = f"{frame}\n\n{context}" if context else frame
    lead = next((i for i, message in enumerate(messages) if message.get("role") not in _SYSTEM), len(messages))
    last_user = max((i for i, message in enumerate(messages) if message.get("role") == "user"), default=None)
    blocks: list[Block] = []
    for index, message in enumerate(messages):
        if index == lead:
            blocks += _prefix(rules, world, pages)
        if index < lead:
            stability = Stability.STABLE
        elif last_user is not None and index >= last_user:
            stability = Stability.VOLATILE
        else:
            stability = Stability.HISTORY
        blocks.append(_block(message, stability, context if index == last_user else ""))
    if lead == len(messages):
        blocks += _prefix(rules, world, pages)
    if last_user is None and context:
        # The client has the whole chat in other roles. An unfinished reply stays the last message.
        end = len(blocks) - (blocks[-1].role == "assistant")
        blocks.insert(end, Block("system", context, Stability.VOLATILE))
    return PromptPlan(tuple(blocks))


def _prefix(*texts: str) -> list[Block]:
    return [Block("system", text, Stability.STABLE) for text in texts if text]


def _block(message: Mapping[str, Any], stability: Stability, lead: str) -> Block:
    extra = {key: value for key, value in message.items() if key not in ("role", "content")}
    content = message.get("content")
    role = str(message["role"])
    if content is None:
        # A tool call's message has no text; the field itself is part of what the client sent.
        return Block(role, "", stability, {**extra, "content": None} if not lead else extra, lead)
    if isinstance(content, str):
        return Block(role, _clean(content) if role == "assistant" else content, stability, extra, lead)
    parts = tuple(
        {**part, "text": _clean(part["text"])} if role == "assistant" and part.get("type") == "text" else part
        for part in content
    )
    return Block(role, parts, stability, extra, lead)


def _clean(text: str) -> str:
    """An earlier reply without the state block that a client may have kept: old state must not be read as new."""
    return hide(text).visible if "`" in text or "~" in text else text


_TOLD_BY = 16_000
"""Characters that tell a text's language."""


def language_of(text: str, default: str = "en") -> Literal["ko", "en"]:
    """``ko`` when a text is written in Hangul for the most part, ``en`` when in Latin letters, else ``default``."""
    text = text[:_TOLD_BY]
    hangul = sum("가" <= char <= "힣" for char in text)
    latin = sum(char.isascii() and char.isalpha() for char in text)
    if hangul * 2 > latin:
        return "ko"
    return "en" if latin or default != "ko" else "ko"
