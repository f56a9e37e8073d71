"""The blocks of a prompt: their origin, how long each stays the same, and what may be cached behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, Literal

from attrs import define, field, frozen

SYSTEM_ROLES = ("system", "developer")

CacheLifetime = Literal["5m", "30m", "1h"]
"""How long a cache entry lives after its last use. Which of them a model has, its facts say."""


class Stability(StrEnum):
    """How long a piece of the prompt keeps its bytes. A cache breakpoint may follow the first two kinds only."""

    STABLE = "stable"
    """The same from turn to turn: instructions, pinned pages."""
    HISTORY = "history"
    """Written once, then the same: earlier messages."""
    VOLATILE = "volatile"
    """New each turn: the context, and the player's words that it stands before."""


class Origin(StrEnum):
    """Where a block of a prompt comes from, in the order of the blocks (``saga_core.prompt.build.ORDER``)."""

    CLIENT = "client"
    """The system messages that the client put first."""
    RULES = "rules"
    """SAGA's rules and the instruction for the state block."""
    WORLD = "world"
    """The author's text of the world."""
    PAGES = "pages"
    """The pinned pages."""
    HISTORY = "history"
    """What was said before, and whatever the client put among it."""
    CONTEXT = "context"
    """What is true now, where there are no words of the player to put it before."""
    WORDS = "words"
    """The player's last message."""
    TAIL = "tail"
    """Whatever the client put behind that."""


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
"""What SAGA brings; the rest is the client's."""
FIXED = frozenset({Origin.CLIENT, Origin.RULES, Origin.WORLD})
"""What never changes in a chat, as far as anybody can tell beforehand."""


@frozen
class Frame:
    """What stands around a message in a prompt that is one text: the marks of its template, and white space."""

    head: str
    tail: str
    role: str
    """In whose marks it stands: ``system`` also where a template lends the system the marks of the user."""


@define
class Block:
    """One message of the plan, or volatile text put in front of the text of one.

    Nobody changes one. It is not frozen, for each request makes one of every message of its history, and a frozen one
    takes three times as long to make.
    """

    role: str
    content: str | tuple[Mapping[str, Any], ...]
    """Text, or OpenAI content parts as the client sent them."""
    origin: Origin
    extra: Mapping[str, Any] = field(factory=dict)
    """Other fields of the client's message (name, tool_call_id, …), passed on as they are."""
    lead: str = ""
    """Volatile text that goes before ``content`` inside the same message, behind every breakpoint."""
    breakpoint: CacheLifetime | None = None
    """A cache breakpoint after this block, for entries of this lifetime. Who speaks to the model renders it, on the
    last content part, in the field that the model's facts name; who cannot leaves it out.
    """
    frame: Frame | None = None
    """Where the client's prompt was one text: what stood around this message in it."""

    @property
    def stability(self) -> Stability:
        """How long it keeps its bytes."""
        return _STABILITY[self.origin]

    @property
    def is_system(self) -> bool:
        """Whether it is in the role of the system."""
        return self.role in SYSTEM_ROLES

    @property
    def text(self) -> str:
        """The text of its content; parts that are no text are left out."""
        return flatten(self.content)


def question(system: str, material: str) -> PromptPlan:
    """The prompt of a question that is no narration: what to do, and what to do it with."""
    return PromptPlan((Block("system", system, Origin.RULES), Block("user", material, Origin.WORDS)))


def asked_again(plan: PromptPlan, text: str) -> PromptPlan:
    """``plan`` with one more message: why the last answer could not be used."""
    return PromptPlan((*plan.blocks, Block("user", text, Origin.WORDS)))


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
