"""A chat model that answers as a test says, and remembers what it was asked."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Any

from attrs import define, field

from saga_core.ports import ChatPart, ChatRequest, FinishPart, TextPart, Usage, UsagePart
from saga_core.state_block import BlockFields
from tests.blocks import render_block

Answer = str | Exception | Callable[[ChatRequest], str]
"""What is said, what is raised, or what makes the answer from the question."""


def changes(**fields: Any) -> str:
    """An answer that reports ``fields``."""
    return render_block(BlockFields(**fields))


NOTHING = "```state\n```"


@define(eq=False)
class Scripted:
    """Takes the answers of ``script`` in order, then ``otherwise``."""

    script: deque[Answer] = field(factory=deque)
    otherwise: Answer = NOTHING
    name: str = "small"
    asked: list[ChatRequest] = field(factory=list)
    gate: asyncio.Event | None = None
    """Holds every call until it is set."""
    reached: asyncio.Event = field(factory=asyncio.Event)
    """Set when a call has begun."""
    running: int = 0
    most: int = 0
    closed: int = 0
    finish: str = "stop"

    async def stream(self, request: ChatRequest, *, streaming: bool = True) -> AsyncIterator[ChatPart]:
        self.asked.append(request)
        self.running += 1
        self.most = max(self.most, self.running)
        self.reached.set()
        try:
            if self.gate is not None:
                await self.gate.wait()
            answer = self.script.popleft() if self.script else self.otherwise
            if isinstance(answer, Exception):
                raise answer
            text = answer if isinstance(answer, str) else answer(request)
            half = len(text) // 2
            yield TextPart(text[:half])
            yield TextPart(text[half:])
            yield TextPart("another choice", 1)
            yield FinishPart(self.finish)
            yield UsagePart(Usage(700, 60))
        finally:
            self.running -= 1
            self.closed += 1

    async def models(self) -> list[str]:
        return [self.name]

    async def aclose(self) -> None:
        return None

    def told(self) -> str:
        """All that it was asked, as text."""
        return "\n\n".join(request.plan.text() for request in self.asked)
