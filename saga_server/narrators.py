"""Which provider narrates: from the configuration, the environment and the model's name."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any, cast

from attrs import define, evolve, field, frozen

from saga_core import registry
from saga_core.config import Config
from saga_core.config.model import ProviderConfig
from saga_core.errors import BadInput, SagaError, UpstreamError
from saga_core.ports import ChatModel, ChatPart, ChatRequest
from saga_core.registry import OpenOptions
from saga_server.errors import RequestError

_log = logging.getLogger("saga.server")

OFFLINE = "offline"

KEY_VARIABLES = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
}
"""Provider to the environment variables that may hold its key."""
_OPENAI_DOORS = {
    "anthropic": ("https://api.anthropic.com", "/v1"),
    "google": ("https://generativelanguage.googleapis.com", "/v1beta/openai"),
}
"""Providers that also speak OpenAI's wire: the host's root, and where on it. Used without a backend of their own."""
_FAMILIES = {
    "claude": "anthropic",
    "gemini": "google",
    "gpt-": "openai",
    "chatgpt-": "openai",
    "o1": "openai",
    "o3": "openai",
    "o4": "openai",
}


@frozen
class Provider:
    """A provider that can be asked."""

    name: str
    backend: str
    """The registered chat backend that speaks its wire; any name without one of its own speaks OpenAI's."""
    options: Mapping[str, Any] = field(factory=dict, repr=False)
    passthrough_key: bool = False
    where: str = ""
    """Its address, for people."""


@frozen
class Route:
    """Where a request goes, and the model's name there."""

    provider: Provider
    model: str


@define(eq=False)
class Narrators:
    """The providers that are configured, opened when they are first asked."""

    providers: Mapping[str, Provider]
    model: str | None
    """``models.narration``: replaces the model that a request names."""
    _open: dict[str, asyncio.Task[ChatModel]] = field(factory=dict, init=False)

    @classmethod
    def from_config(cls, config: Config, environ: Mapping[str, str]) -> Narrators:
        """The providers with a key or a base URL of their own; without any, the built-in offline narrator alone."""
        found = {provider.name: provider for provider in _providers(config, environ)}
        model = config.models.narration
        if not found or model == OFFLINE:
            return cls({OFFLINE: Provider(OFFLINE, OFFLINE, where="built in, no model")}, None)
        return cls(found, model)

    @property
    def offline(self) -> bool:
        """Whether there is no model but the built-in one."""
        return OFFLINE in self.providers

    def route(self, model: str) -> Route:
        """The provider for a request that names ``model``: ``provider/model``, by the name's family, or the only one.

        Raises ``RequestError`` when nothing says which model to ask.
        """
        if self.offline:
            return Route(self.providers[OFFLINE], model or OFFLINE)
        wanted = self.model or model
        if not wanted:
            raise RequestError("model: missing; name one, or set models.narration", param="model")
        return self._route(wanted)

    def _route(self, wanted: str) -> Route:
        prefix, slash, rest = wanted.partition("/")
        if slash and rest and prefix in self.providers:
            return Route(self.providers[prefix], rest)
        family = next((name for start, name in _FAMILIES.items() if wanted.lower().startswith(start)), None)
        for name in (family, "openai"):
            if name is not None and name in self.providers:
                return Route(self.providers[name], wanted)
        return Route(next(iter(self.providers.values())), wanted)

    def extraction(self, model: str | None) -> ChatModel | None:
        """The chat model for ``models.extraction``. None: it is not set, or there is only the offline narrator."""
        if model is None or model == OFFLINE or self.offline:
            return None
        return Routed(self, self._route(model))

    async def narrator(self, provider: Provider) -> ChatModel:
        """The provider's chat model, opened at the first call. Raises ``UpstreamError`` when it cannot be."""
        task = self._open.get(provider.name)
        if task is None or (task.done() and (task.cancelled() or task.exception() is not None)):
            task = asyncio.create_task(_open(provider), name=f"saga-open-{provider.name}")
            self._open[provider.name] = task
        return await asyncio.shield(task)

    async def warm(self) -> None:
        """Open every provider now, so that the first request need not wait; a failure is logged and met again then."""
        for provider in self.providers.values():
            try:
                await self.narrator(provider)
            except SagaError as error:
                _log.warning("%s", error)

    async def models(self) -> list[str]:
        """The models of all providers, ``models.narration`` first; those of further ones as ``provider/model``.

        A provider that lists none is left out. Raises ``UpstreamError`` when no provider can be asked.
        """
        found = [self.model] if self.model else []
        failure: UpstreamError | None = None
        listed = False
        for at, provider in enumerate(self.providers.values()):
            try:
                names = await (await self.narrator(provider)).models()
            except UpstreamError as error:
                if error.status in (404, 405, 501):
                    listed = True
                    continue
                _log.warning("the models of %s cannot be listed: %s", provider.name, error)
                failure = failure or error
                continue
            listed = True
            found += names if at == 0 else [f"{provider.name}/{name}" for name in names]
        if failure is not None and not listed:
            raise failure
        return list(dict.fromkeys(found))

    def describe(self) -> list[str]:
        """A line for each provider."""
        return [f"{provider.name} ({provider.where})" for provider in self.providers.values()]

    async def aclose(self) -> None:
        """Let go of all connections."""
        tasks, self._open = list(self._open.values()), {}
        for task in tasks:
            task.cancel()
        for opened in await asyncio.gather(*tasks, return_exceptions=True):
            if not isinstance(opened, BaseException):
                await opened.aclose()


@define(eq=False)
class Routed:
    """A chat model at the end of a route: opened at the first call, and asked under the route's own model."""

    narrators: Narrators
    route: Route

    @property
    def name(self) -> str:
        """The provider's name."""
        return self.route.provider.name

    async def stream(self, request: ChatRequest, *, streaming: bool = True) -> AsyncIterator[ChatPart]:
        """The reply in parts. Raises ``UpstreamError``."""
        model = await self.narrators.narrator(self.route.provider)
        stream = model.stream(evolve(request, model=self.route.model), streaming=streaming)
        async with aclosing(cast("AsyncGenerator[ChatPart, None]", stream)) as parts:
            async for part in parts:
                yield part

    async def models(self) -> list[str]:
        """The model of the route."""
        return [self.route.model]

    async def aclose(self) -> None:
        """The connections are those of the narrators, and closed with them."""


async def _open(provider: Provider) -> ChatModel:
    try:
        backend = registry.load("chat", provider.backend)
        model: ChatModel = await backend.open(OpenOptions(options=provider.options))
    except BadInput as error:
        raise UpstreamError(f"provider {provider.name} cannot be used: {error}", kind="provider_error") from error
    except SagaError as error:
        raise UpstreamError(f"provider {provider.name} cannot be opened: {error}", kind="provider_error") from error
    return model


def _providers(config: Config, environ: Mapping[str, str]) -> list[Provider]:
    known = set(registry.names("chat"))
    found = []
    for name in dict.fromkeys((*config.providers, *KEY_VARIABLES)):
        settings = config.providers.get(name, ProviderConfig())
        key = settings.api_key or getattr(config.api_keys, name, None)
        if key is None and settings.base_url is None:  # the environment's key goes to the provider itself alone
            key = next((environ[variable] for variable in KEY_VARIABLES.get(name, ()) if environ.get(variable)), None)
        if key is None and settings.base_url is None and not settings.passthrough_key:
            continue
        backend = name if name in known else "openai"
        base_url = settings.base_url
        if backend != name and name in _OPENAI_DOORS:
            root, door = _OPENAI_DOORS[name]
            base_url = (base_url or root).rstrip("/")
            base_url = base_url if base_url.endswith(door) else base_url + door
        options: dict[str, Any] = {
            "base_url": base_url,
            "api_key": key,
            "timeout": min(settings.timeout, config.server.request_timeout),
            "max_retries": settings.max_retries,
        }
        if backend != name:
            options["name"] = name
        if key is None and base_url is None and backend == "openai":
            options["base_url"] = "https://api.openai.com/v1"
        found.append(
            Provider(
                name,
                backend,
                options,
                settings.passthrough_key and not config.server.api_keys,
                base_url or "its own address",
            )
        )
    return found
