"""The prompt plan: messages in order, each piece marked by how long it stays the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Literal

from attrs import field, frozen

Ttl = Literal["5m", "30m", "1h"]
"""How long a cache entry lives after its last use. Which of them a model has, its facts say."""


class Stability(StrEnum):
    """How long a piece of the prompt keeps its bytes. A cache breakpoint may follow the first two kinds only."""

    STABLE = "stable"
    """The same from turn to turn: instructions, pinned pages."""
    HISTORY = "history"
    """Written once, then the same: earlier messages."""
    VOLATILE = "volatile"
    """New each turn: the context, and the player's words that it stands before."""


@frozen
class Block:
    """One message of the plan, or a volatile piece put in front of the text of one."""

    role: str
    content: str | tuple[Mapping[str, Any], ...]
    """Text, or OpenAI content parts as the client sent them."""
    stability: Stability
    extra: Mapping[str, Any] = field(factory=dict)
    """Other fields of the client's message (name, tool_call_id, …), passed on as they are."""
    lead: str = ""
    """Volatile text that goes before ``content`` inside the same message, behind every breakpoint."""
    breakpoint: Ttl | None = None
    """A cache breakpoint after this block, for entries of this lifetime. Who speaks to the model renders it, on the
    last content part, in the field that the model's facts name; who cannot leaves it out.
    """


@frozen
class PromptPlan:
    """The whole prompt. The same input gives the same bytes."""

    blocks: tuple[Block, ...]

    def to_openai(self) -> list[dict[str, Any]]:
        """The plan as messages of the OpenAI chat API."""
        return [_message(block) for block in self.blocks]

    def text(self) -> str:
        """All text of the plan, for reading and for counting tokens."""
        return "\n\n".join(part for block in self.blocks for part in (block.lead, flatten(block.content)) if part)


def flatten(content: str | Sequence[Mapping[str, Any]]) -> str:
    """The text in a message's content; parts that are no text are left out."""
    if isinstance(content, str):
        return content
    return "\n".join(str(part["text"]) for part in content if part.get("type") == "text" and "text" in part)


def _message(block: Block) -> dict[str, Any]:
    content: Any = block.content
    if block.lead:
        if isinstance(content, str):
            content = f"{block.lead}\n\n{content}" if content else block.lead
        else:
            content = [{"type": "text", "text": block.lead}, *content]
    elif not isinstance(content, str):
        content = list(content)
    return {"role": block.role, "content": content, **block.extra}
