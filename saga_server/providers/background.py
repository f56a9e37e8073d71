"""Background model calls, which give way to narrations when a provider has few slots."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import cast

from attrs import define, evolve

from saga_core.errors import GaveWay
from saga_core.ports import ChatModel, ChatPart, ChatRequest, UsagePart
from saga_server.providers.route import Provider, Route

_QUIETLY = "none"
"""The reasoning effort of background calls. Reading a turn needs none."""


@define(eq=False)
class BackgroundModels:
    """The chat model of a route, for background calls. It is opened at the first call."""

    narrator: Callable[[Provider], Awaitable[ChatModel]]
    route: Route
    gives_way: bool = False
    """Whether any narration at the provider ends the call, even if a slot is free, because one machine runs both."""

    @property
    def name(self) -> str:
        """The provider's name."""
        return self.route.provider.name

    async def stream(self, request: ChatRequest, *, streaming: bool = True) -> AsyncIterator[ChatPart]:
        """Yield the parts of the reply. The model and provider of the route are added to the usage.

        Raises ``UpstreamError``, and ``GaveWay`` when a narration needs the slot before the first part has arrived.
        """
        provider = self.route.provider
        model = await self.narrator(provider)
        params = dict(request.params)
        if provider.dialect == "anthropic":
            params.setdefault("reasoning_effort", _QUIETLY)
        asked = evolve(request, model=self.route.model, params=params)
        async with provider.slots.background(gives_way=self.gives_way) as wanted:
            stream = cast("AsyncGenerator[ChatPart, None]", model.stream(asked, streaming=streaming))
            async with aclosing(stream) as parts:
                first = await _unless(wanted, parts)
                if first is None:
                    raise GaveWay(f"{self.name} narrates")
                for part in first:
                    yield self._signed(part)
                async for part in parts:
                    yield self._signed(part)

    def _signed(self, part: ChatPart) -> ChatPart:
        if not isinstance(part, UsagePart):
            return part
        return evolve(part, model=self.route.model, provider=self.route.provider.dialect)

    async def models(self) -> list[str]:
        """Return the model of the route."""
        return [self.route.model]

    async def aclose(self) -> None:
        """Do nothing: the connections belong to the narrators, which close them."""


async def _unless(wanted: asyncio.Event, parts: AsyncGenerator[ChatPart, None]) -> list[ChatPart] | None:
    """Return the first part in a list, which is empty if there is none. Returns None if ``wanted`` is set first."""
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
