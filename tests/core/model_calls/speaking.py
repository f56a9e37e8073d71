"""A chat model whose calls are written out part by part."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from attrs import define, field

from saga_core.ports import ChatPart, ChatRequest

Call = list[ChatPart] | Exception


@define(eq=False)
class Speaking:
    """Takes one call after the other; a call that is an exception is raised. Without any it never answers."""

    calls: list[Call] = field(factory=list)
    name: str = "small"
    asked: list[ChatRequest] = field(factory=list)
    closed: int = 0

    async def stream(self, request: ChatRequest, *, streaming: bool = True) -> AsyncIterator[ChatPart]:
        """The next call."""
        assert not streaming
        self.asked.append(request)
        try:
            if not self.calls:
                await asyncio.Event().wait()
            call = self.calls.pop(0)
            if isinstance(call, Exception):
                raise call
            for part in call:
                yield part
        finally:
            self.closed += 1

    async def models(self) -> list[str]:
        """None are listed."""
        return []

    async def aclose(self) -> None:
        """Nothing is held."""
