"""The blocks of a prompt, with their origin, their stability and their cache breakpoints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Literal

from attrs import define, field, frozen

SYSTEM_ROLES = ("system", "developer")

CacheLifetime = Literal["5m", "30m", "1h"]
"""How long a cache entry lives after its last use. The model's facts say which lifetimes it supports."""


class Stability(StrEnum):
    """How long a part of the prompt keeps its bytes. A cache breakpoint may follow only the first two kinds."""

    STABLE = "stable"
    """The same from turn to turn: instructions, pinned pages."""
    HISTORY = "history"
    """Written once, then the same: earlier messages."""
    VOLATILE = "volatile"
    """New in each turn: the context and the player's message, which the context precedes."""


class Origin(StrEnum):
    """Where a block of a prompt comes from, in the order of the blocks (``saga_core.prompt.plan.ORDER``)."""

    CLIENT = "client"
    """The system messages at the beginning of the client's request."""
    RULES = "rules"
    """SAGA's rules and the instruction for the state block."""
    WORLD = "world"
    """The world text by its author."""
    PAGES = "pages"
    """The pinned pages."""
    HISTORY = "history"
    """The earlier messages, with anything else the client put between them."""
    CONTEXT = "context"
    """The current state of the world, if there is no message of the player to put it before."""
    WORDS = "words"
    """The player's last message."""
    TAIL = "tail"
    """Any messages after the player's last message."""


_STABILITY = {
    Origin.CLIENT: Stability.STABLE,
    Origin.RULES: Stability.STABLE,
    Origin.WORLD: Stability.STABLE,
    Origin.PAGES: Stability.STABLE,
    Origin.HISTORY: Stability.HISTORY,
    Origin.CONTEXT: Stability.VOLATILE,
    Origin.WORDS: Stability.VOLATILE,
    Origin.TAIL: Stability.VOLATILE,
}
OWN = frozenset({Origin.RULES, Origin.WORLD, Origin.PAGES, Origin.CONTEXT})
"""The blocks that SAGA adds; all others come from the client."""
FIXED = frozenset({Origin.CLIENT, Origin.RULES, Origin.WORLD})
"""The blocks that are expected not to change during a chat."""


@frozen
class Frame:
    """The text around a message in a text-completion prompt: the template's markers and white space."""

    head: str
    tail: str
    role: str
    """The role whose markers are used. It is ``system`` even if a template gives the system the user's markers."""


@define
class Block:
    """One message of the plan, or volatile text put in front of a message's text.

    Treat blocks as immutable. The class is not frozen because each request creates a block for every message of its
    history, and a frozen instance takes three times as long to create.
    """

    role: str
    content: str | tuple[Mapping[str, Any], ...]
    """Text, or OpenAI content parts as the client sent them."""
    origin: Origin
    extra: Mapping[str, Any] = field(factory=dict)
    """Other fields of the client's message (name, tool_call_id, …), passed on as they are."""
    lead: str = ""
    """Volatile text that is put before ``content`` in the same message, after every breakpoint."""
    breakpoint: CacheLifetime | None = None
    """A cache breakpoint after this block, with the lifetime of its entries.

    A model adapter renders it on the last content part, in the field that the model's facts name. Adapters without
    cache support omit it.
    """
    frame: Frame | None = None
    """The text around this message, if the client's prompt was a single text."""

    @property
    def stability(self) -> Stability:
        """How long the block keeps its bytes."""
        return _STABILITY[self.origin]

    @property
    def is_system(self) -> bool:
        """Whether the block has a system role."""
        return self.role in SYSTEM_ROLES

    @property
    def text(self) -> str:
        """The text of the content, without parts that are not text."""
        return flatten(self.content)


def question(system: str, material: str) -> PromptPlan:
    """Return the prompt of a question that is not a narration: the instructions, and the material they apply to."""
    return PromptPlan((Block("system", system, Origin.RULES), Block("user", material, Origin.WORDS)))


def asked_again(plan: PromptPlan, text: str) -> PromptPlan:
    """Return ``plan`` with another message that says why the last answer could not be used."""
    return PromptPlan((*plan.blocks, Block("user", text, Origin.WORDS)))


@frozen
class PromptPlan:
    """The whole prompt. The same input yields the same bytes."""

    blocks: tuple[Block, ...]

    def to_openai(self) -> list[dict[str, Any]]:
        """The plan as messages of the OpenAI chat API."""
        return [_message(block) for block in self.blocks]

    def text(self) -> str:
        """All text of the plan, for reading and for counting tokens."""
        return "\n\n".join(part for block in self.blocks for part in (block.lead, flatten(block.content)) if part)


def characters(value: Any) -> int:
    """Return the characters of all texts in a JSON value, such as the parts of a message."""
    if type(value) is str:
        return len(value)
    inner = value.values() if type(value) is dict else value if type(value) is list else ()
    return sum(map(characters, inner))


def flatten(content: str | Sequence[Mapping[str, Any]]) -> str:
    """Return the text of a message's content, without parts that are not text."""
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
