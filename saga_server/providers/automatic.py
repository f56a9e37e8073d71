"""Chooses a model that reads replies without a state block, if none is configured: one that costs nothing."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import cast

from attrs import define, field

from saga_core.config import Config
from saga_core.errors import UpstreamError
from saga_core.ports import ChatPart, ChatRequest
from saga_core.upstream import facts_of
from saga_server.providers.background import BackgroundModels
from saga_server.providers.narrators import OFFLINE, Narrators
from saga_server.providers.route import Provider, Route

_OPEN_WEIGHTS = re.compile(r"gpt-oss", re.IGNORECASE)
"""Models with open weights, whose names look like those of commercial models."""
_NO_CHAT = re.compile(r"embed|rerank|whisper|tts|clip", re.IGNORECASE)
"""Names of models that are not chat models."""


@define(eq=False)
class AutomaticExtraction:
    """The chat model for extraction when ``models.extraction`` is not set and ``extraction.automatic`` allows one.

    It is the model that narrated last, if that may be used, or else a model of the first provider that may be used.
    """

    narrators: Narrators
    config: Config
    _listed: dict[str, str] = field(factory=dict, init=False)
    """The model to use, by provider, when no narration has named one."""
    _relays: set[str] = field(factory=set, init=False)
    """Local providers that turned out to relay requests to a paid one."""

    @classmethod
    def of(cls, narrators: Narrators, config: Config) -> AutomaticExtraction | None:
        """Return None when no provider may be used, or when ``models.extraction`` is set."""
        if config.models.extraction is not None or config.extraction.automatic == "never" or narrators.offline:
            return None
        found = cls(narrators, config)
        return found if found._provider() is not None else None

    @property
    def name(self) -> str:
        """What the player is shown of the model in use: its name, or else its provider's. Empty when none is left."""
        route = self._known_route()
        if route is not None:
            return route.model
        provider = self._provider()
        return f"a model of the provider {provider.name}" if provider is not None else ""

    async def stream(self, request: ChatRequest, *, streaming: bool = True) -> AsyncIterator[ChatPart]:
        """Yield the parts of the reply.

        Raises ``UpstreamError``, and ``GaveWay`` when a narration begins at a local server before the first part.
        """
        route = self._known_route() or await self._found_route()
        model = BackgroundModels(self.narrators.narrator, route, gives_way=route.provider.is_near)
        stream = cast("AsyncGenerator[ChatPart, None]", model.stream(request, streaming=streaming))
        async with aclosing(stream) as parts:
            async for part in parts:
                yield part

    async def models(self) -> list[str]:
        """Return the model that would be used now."""
        return [(self._known_route() or await self._found_route()).model]

    async def aclose(self) -> None:
        """Do nothing: the connections belong to the narrators, which close them."""

    def _known_route(self) -> Route | None:
        """Return the route of the last or the configured narrator, if it may be used, or else None."""
        narrators = self.narrators
        named = narrators.routes("") if narrators.model else ()
        for route in (*([narrators.narrated] if narrators.narrated is not None else []), *named):
            if route.model and self._may_be_asked(route.provider) and self._is_free(route):
                return route
        return None

    def _may_be_asked(self, provider: Provider) -> bool:
        keyless = provider.passthrough_key and not provider.options.get("api_key")
        if self.config.extraction.automatic == "always":
            return not keyless and provider.backend != OFFLINE
        return provider.is_near

    def _is_free(self, route: Route) -> bool:
        """Whether a model may be used. A commercial model on a local server shows that this server is a relay."""
        if self.config.extraction.automatic == "always" or not _is_sold(route.model):
            return True
        self._relays.add(route.provider.name)
        return False

    def _provider(self) -> Provider | None:
        narrated = self.narrators.narrated
        if narrated is not None:
            self._is_free(narrated)
        return next(
            (
                provider
                for provider in self.narrators.providers.values()
                if self._may_be_asked(provider) and provider.name not in self._relays
            ),
            None,
        )

    async def _found_route(self) -> Route:
        provider = self._provider()
        if provider is None:
            raise UpstreamError(
                "no provider is left that may be asked about replies without a block; set models.extraction",
                kind="provider_error",
            )
        if provider.name not in self._listed:
            listed = await (await self.narrators.narrator(provider)).models()
            free = [name for name in listed if self._is_free(Route(provider, name))]
            talking = [name for name in free if not _NO_CHAT.search(name)]
            if not talking or provider.name in self._relays:
                raise UpstreamError(
                    f"{provider.name} lists no model that may read replies without a block; set models.extraction",
                    kind="provider_error",
                )
            self._listed[provider.name] = talking[0]
        return Route(provider, self._listed[provider.name])


def _is_sold(model: str) -> bool:
    """Whether a model is commercial: SAGA knows its provider, and its weights are not open."""
    return bool(facts_of(model).provider) and not _OPEN_WEIGHTS.search(model)


def is_own(route: Route) -> bool:
    """Whether a narrator is a model of the player's own: on this machine or a private network, and not a commercial one
    behind a relay there."""
    return route.provider.is_near and not _is_sold(route.model)
