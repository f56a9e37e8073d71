"""Calls that no player waits for: they give way to narrations where a provider has few slots."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import cast

from attrs import define, evolve, field

from saga_core.errors import GaveWay
from saga_core.ports import ChatModel, ChatPart, ChatRequest, UsagePart
from saga_server.providers.route import Provider, Route

_QUIETLY = "none"
"""The effort that a model is asked to think with where nobody reads along: reading a turn wants none."""


@define(eq=False)
class Background:
    """A chat model at the end of a route: opened at the first call, and asked under the route's own model."""

    narrator: Callable[[Provider], Awaitable[ChatModel]]
    route: Route
    gives_way: bool = False
    """Whether any narration at the provider comes first, and the caller asks again: one machine does both."""
    _gave_way: int = field(default=0, init=False)

    @property
    def name(self) -> str:
        """The provider's name."""
        return self.route.provider.name

    @property
    def gave_way(self) -> int:
        """Calls that were broken off for a narration, and made again."""
        return self._gave_way

    async def stream(self, request: ChatRequest, *, streaming: bool = True) -> AsyncIterator[ChatPart]:
        """The reply in parts. Raises ``UpstreamError``.

        A call that has said nothing yet is broken off when a narration wants its slot, and made again after it. The
        bill names the model and the provider of the route, for nobody else knows them. With ``gives_way`` it is not
        made again: ``GaveWay`` is raised.
        """
        provider = self.route.provider
        model = await self.narrator(provider)
        params = dict(request.params)
        if provider.dialect == "anthropic":
            params.setdefault("reasoning_effort", _QUIETLY)
        asked = evolve(request, model=self.route.model, params=params)
        while True:
            async with provider.slots.background(gives_way=self.gives_way) as wanted:
                stream = cast("AsyncGenerator[ChatPart, None]", model.stream(asked, streaming=streaming))
                async with aclosing(stream) as parts:
                    first = await _unless(wanted, parts)
                    if first is not None:
                        for part in first:
                            yield self._signed(part)
                        async for part in parts:
                            yield self._signed(part)
                        return
            self._gave_way += 1
            if self.gives_way:
                raise GaveWay(f"{self.name} narrates")

    def _signed(self, part: ChatPart) -> ChatPart:
        if not isinstance(part, UsagePart):
            return part
        return evolve(part, model=self.route.model, provider=self.route.provider.dialect)

    async def models(self) -> list[str]:
        """The model of the route."""
        return [self.route.model]

    async def aclose(self) -> None:
        """The connections are those of the narrators, and closed with them."""


async def _unless(wanted: asyncio.Event, parts: AsyncGenerator[ChatPart, None]) -> list[ChatPart] | None:
    """The first part, or nothing when there is none. None: ``wanted`` came before it, and the call is broken off."""
    told = asyncio.create_task(wanted.wait())
    first = asyncio.create_task(_first(parts))
    try:
        await asyncio.wait({told, first}, return_when=asyncio.FIRST_COMPLETED)
        return first.result() if first.done() else None
    finally:
        told.cancel()
        first.cancel()
        await asyncio.gather(told, first, return_exceptions=True)


async def _first(parts: AsyncGenerator[ChatPart, None]) -> list[ChatPart]:
    async for part in parts:
        return [part]
    return []
