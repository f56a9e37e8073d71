"""Chooses the provider of a request by the configuration, the environment and the model's name."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping
from typing import Any, cast
from urllib.parse import urlsplit, urlunsplit

from attrs import define, evolve, field
from cachetools import LRUCache

from saga_core import registry
from saga_core.config import Config, ProviderConfig
from saga_core.errors import BadInput, SagaError, UpstreamError
from saga_core.ports import ChatModel
from saga_core.registry import OpenOptions
from saga_core.storage import checked_chat
from saga_server.providers.background import BackgroundModels
from saga_server.providers.context_size import ANY, AnswersJson, ask_context_sizes
from saga_server.providers.route import Provider, Route, Slots

_log = logging.getLogger("saga.server")

OFFLINE = "offline"

KEY_VARIABLES = {
    "openai": ("OPENAI_API_KEY",),
    "anthropic": ("ANTHROPIC_API_KEY",),
    "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
    "openrouter": ("OPENROUTER_API_KEY",),
}
"""The environment variables that may hold a provider's key."""
_GOOGLES_OPENAI = "/openai"
"""Ending of the addresses at which Google offers the OpenAI API."""
_OPENAI = "https://api.openai.com/v1"
_ADDRESSES = {"openrouter": "https://openrouter.ai/api/v1"}
_HOSTS = {
    "api.anthropic.com": "anthropic",
    "api.openai.com": "openai",
    "generativelanguage.googleapis.com": "google",
    "openrouter.ai": "openrouter",
}
"""The dialect of a host, whatever the provider's name is."""
_FAMILIES = {
    "claude": "anthropic",
    "gemini": "google",
    "gpt-": "openai",
    "chatgpt-": "openai",
    "o1": "openai",
    "o3": "openai",
    "o4": "openai",
}


_TAUGHT = 1_024
"""How many of the latest refusals are remembered."""
_OWN = ("openai", "anthropic", "gemini")
"""Backends of this package, which take more options than other chat backends."""


@define(eq=False)
class Narrators:
    """The configured providers. Each is opened when it is first used."""

    providers: Mapping[str, Provider]
    model: str | None
    """``models.narration``: replaces the model that a request names."""
    aliases: Mapping[str, str] = field(factory=dict)
    """``models.aliases``."""
    fallback: tuple[str, ...] = ()
    """``models.fallback``."""
    beside: Mapping[str, Provider] = field(factory=dict)
    """The configured providers beside the built-in narrator, for the models that work in the background."""
    narrated: Route | None = field(default=None, init=False)
    """The route of the last narration."""
    _windows: LRUCache[tuple[str, str, str], int] = field(factory=lambda: LRUCache(_TAUGHT), init=False)
    """(provider, model, asker) -> tokens of the longest prompt, as far as the server's refusals taught it."""
    _contexts: dict[tuple[str, str], int] = field(factory=dict, init=False)
    """(provider, model) -> tokens of the context, as far as the server told it."""
    _toolless: LRUCache[tuple[str, str, str], bool] = field(factory=lambda: LRUCache(_TAUGHT), init=False)
    """(provider, model, asker) of those that refused tools."""
    _open: dict[str, asyncio.Task[ChatModel]] = field(factory=dict, init=False)
    _heir: Narrators | None = field(default=None, init=False)
    """The narrators that replaced these after a reload."""
    _given: frozenset[str] = field(default=frozenset(), init=False)
    """The names of the providers that ``_heir`` took over."""

    @classmethod
    def from_config(cls, config: Config, environ: Mapping[str, str]) -> Narrators:
        """Return the providers with a key or a base URL. Without any, or if ``models.narration`` wants it, the built-in
        narrator tells the story."""
        found = {provider.name: provider for provider in _providers(config, environ)}
        model = config.models.narration
        if not found or model == OFFLINE:
            built_in = {OFFLINE: Provider(OFFLINE, OFFLINE, where="built in, no model")}
            return cls(built_in, None, config.models.aliases, beside=found)
        return cls(found, model, config.models.aliases, config.models.fallback)

    @property
    def offline(self) -> bool:
        """Whether the built-in narrator tells the story."""
        return OFFLINE in self.providers

    def unheard(self, config: Config) -> str:
        """Return what to do if ``models.narration`` is set but no provider is configured, or else an empty text."""
        wanted = config.models.narration
        if not self.offline or wanted in (None, OFFLINE):
            return ""
        return (
            f"models.narration: {wanted} is asked for, and no provider has a key or a base_url, so that the built-in "
            "narrator answers; set OPENAI_API_KEY or another provider's key, or providers.<name>.base_url"
        )

    def route(self, model: str, *, nameless: bool = False) -> Route:
        """Return the route for a request that names ``model``, after resolving aliases.

        The provider is that of ``provider/model``, or that of the model's family, or else ``openai`` or the first one.
        Raises ``BadInput`` when no model is named, unless ``nameless`` is set and the server needs none.
        """
        if self.offline:
            return Route(self.providers[OFFLINE], model or OFFLINE)
        wanted = self.model or model
        if not wanted and not (nameless and self._route("").provider.completes_text):
            raise BadInput("model: missing; name one, or set models.narration")
        return self._route(wanted)

    def route_of(self, model: str) -> Route:
        """Return the route for ``model``, ignoring ``models.narration``. Raises ``BadInput`` without a provider."""
        if self.offline and model != OFFLINE and not self.beside:
            raise BadInput(
                f"{model}: no provider has a key or a base_url; set OPENAI_API_KEY or another provider's key, or"
                " providers.<name>.base_url"
            )
        return Route(self.providers[OFFLINE], OFFLINE) if self.offline and model == OFFLINE else self._route(model)

    def routes(self, model: str, *, nameless: bool = False) -> tuple[Route, ...]:
        """Return the route for ``model`` and those of ``models.fallback``, each once. Raises like ``route``."""
        found = [self.route(model, nameless=nameless)]
        for route in () if self.offline else map(self._route, self.fallback):
            if route not in found:
                found.append(route)
        return tuple(found)

    def _route(self, asked: str) -> Route:
        wanted = self.aliases.get(asked, asked)
        providers = self.beside or self.providers
        prefix, slash, rest = wanted.partition("/")
        if slash and rest and prefix in providers:
            return Route(providers[prefix], rest)
        family = next((name for start, name in _FAMILIES.items() if wanted.lower().startswith(start)), None)
        for name in (family, "openai"):
            if name is not None and name in providers:
                return Route(providers[name], wanted)
        return Route(next(iter(providers.values())), wanted)

    def after(self, before: Narrators) -> Narrators:
        """Return these narrators with the connections and slots of ``before``, for providers that have not changed."""
        same = {name: each for name, each in before.providers.items() if self.providers.get(name) == each}
        found = evolve(self, providers={**self.providers, **same})
        for name in same:
            if name in before._open:
                found._open[name] = before._open.pop(name)
        before._heir, before._given = found, frozenset(same)
        found._windows.update({key: size for key, size in before._windows.items() if key[0] in same})
        found._toolless.update({key: True for key in before._toolless if key[0] in same})
        found._contexts.update({key: size for key, size in before._contexts.items() if key[0] in same})
        if before.narrated is not None and before.narrated.provider.name in same:
            found.narrated = before.narrated
        return found

    def extraction(self, model: str | None) -> BackgroundModels | None:
        """Return the chat model for ``models.extraction``, or None if that is unset or there is no real provider."""
        if model is None or model == OFFLINE or (self.offline and not self.beside):
            return None
        return BackgroundModels(self.narrator, self._route(model))

    async def narrator(self, provider: Provider) -> ChatModel:
        """Return the provider's chat model, which the first call opens. Raises ``UpstreamError`` when that fails."""
        if self._heir is not None and provider.name in self._given:
            return await self._heir.narrator(provider)
        task = self._open.get(provider.name)
        if task is None or (task.done() and (task.cancelled() or task.exception() is not None)):
            task = asyncio.create_task(_open(provider), name=f"saga-open-{provider.name}")
            self._open[provider.name] = task
        return await asyncio.shield(task)

    async def warm(self) -> None:
        """Open all providers, so that the first request need not wait. Failures are logged and retried by requests."""
        for provider in self.providers.values():
            try:
                await self.narrator(provider)
            except SagaError as error:
                _log.warning("%s", error)

    async def models(self) -> list[str]:
        """Return the models of all providers, with ``models.narration`` and the aliases first.

        Models of all but the first provider are named ``provider/model``. Providers that list no models are
        left out. Raises ``UpstreamError`` when no provider can be asked.
        """
        found = [*([self.model] if self.model else []), *(() if self.offline else self.aliases)]
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

    async def ask_context_sizes(self) -> None:
        """Ask the servers on this machine and on private networks for the size of their contexts."""
        for provider in self.providers.values():
            if not provider.is_near:
                continue
            try:
                client = await self.narrator(provider)
            except SagaError:
                continue  # logged by ``warm``
            if hasattr(client, "json"):
                sizes = await ask_context_sizes(cast(AnswersJson, client), str(provider.options["base_url"]))
                self._contexts.update({(provider.name, model): size for model, size in sizes.items()})

    def window(self, route: Route, asker: str, asked: int, reply: int) -> int:
        """The tokens that a prompt for ``route`` may have before a reply of ``reply`` tokens, 0 if that is not known.

        That is the least of what the client says (``asked``, 0: nothing), of what the server told when it was asked for
        its context, and of what its refusals taught. A refusal may be due to what one client sends, so it teaches
        something only of requests of the same ``asker``: those of one key with the same settings.
        """
        name = route.provider.name
        told = self._contexts.get((name, route.model)) or self._contexts.get((name, ANY), 0)
        learned = self._windows.get((name, route.model, asker), 0)
        return min(filter(None, (asked, learned, max(told - reply, told // 2))), default=0)

    def learn_window(self, route: Route, asker: str, tokens: int) -> None:
        """Note the tokens that a prompt for ``route`` may have."""
        self._windows[route.provider.name, route.model, asker] = tokens

    def learn_no_tools(self, route: Route, asker: str) -> None:
        """Note that the model of ``route`` refuses tools."""
        self._toolless[route.provider.name, route.model, asker] = True

    def calls_no_tools(self, route: Route, asker: str) -> bool:
        """Whether the model of ``route`` has refused tools."""
        return (route.provider.name, route.model, asker) in self._toolless

    def describe(self) -> list[str]:
        """Return a description of each provider, with the sizes of contexts and prompts as far as they are known."""
        return [
            f"{provider.name} ({provider.where})"
            + (f"; context of {told}" if (told := _sizes(self._contexts.items(), provider.name)) else "")
            + (f"; prompts of {learned}" if (learned := _sizes(self._windows.items(), provider.name)) else "")
            for provider in self.providers.values()
        ]

    async def aclose(self) -> None:
        """Close all connections."""
        tasks, self._open = list(self._open.values()), {}
        for task in tasks:
            task.cancel()
        for opened in await asyncio.gather(*tasks, return_exceptions=True):
            if not isinstance(opened, BaseException):
                await opened.aclose()


_LISTED = 5
"""The number of models whose sizes are shown."""


def _sizes(sizes: Iterable[tuple[tuple[str, str] | tuple[str, str, str], int]], provider: str) -> str:
    """The sizes by model, the smallest of each."""
    least = dict[str, int]()
    for (of, model, *_), tokens in sizes:
        if of == provider:
            least[model] = min(tokens, least.get(model, tokens))
    found = [f"{model or 'its model'}: {tokens:,} tokens" for model, tokens in least.items()]
    return ", ".join(found[:_LISTED]) + (f" and {len(found) - _LISTED} more" if len(found) > _LISTED else "")


async def _open(provider: Provider) -> ChatModel:
    at = f"providers.{provider.name}"
    try:
        await asyncio.to_thread(registry.load, "chat", provider.backend)  # importing its modules takes 30 ms
        options = OpenOptions(options=provider.options)
        model = checked_chat(
            at, await registry.open_plugin("chat", provider.backend, options, at=at, options_at=f"{at}.")
        )
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
        if key is None and settings.base_url is None:  # keys of the environment go to the official address only
            key = next((environ[variable] for variable in KEY_VARIABLES.get(name, ()) if environ.get(variable)), None)
        if key is None and settings.base_url is None and not settings.passthrough_key:
            continue
        dialect = settings.dialect or _dialect(name, settings.base_url)
        backend = name if name in known and name not in _OWN else "openai"
        if dialect == "anthropic":
            backend = "anthropic"
        base_url = settings.base_url
        if backend == "openai" and dialect == "google" and not (base_url or "").rstrip("/").endswith(_GOOGLES_OPENAI):
            backend = "gemini"
        options: dict[str, Any] = {
            "base_url": base_url,
            "api_key": key,
            "timeout": min(settings.timeout, config.server.request_timeout),
            "max_retries": settings.max_retries,
        }
        if backend in _OWN:
            options |= {"retry_seconds": settings.retry_seconds, "facts": dict(config.models.facts)}
            beside: dict[str, dict[str, Any]] = {
                "anthropic": {"thinking": settings.thinking},
                "openai": {"dialect": dialect},
            }
            options |= beside.get(backend, {})
        if backend != name:
            options["name"] = name
        if base_url is None and backend == "openai" and (key is None or name in _ADDRESSES):
            options["base_url"] = _ADDRESSES.get(name, _OPENAI)
        found.append(
            Provider(
                name,
                backend,
                options,
                settings.passthrough_key and not config.server.api_keys,
                _shown(base_url) if base_url else "its own address",
                dialect,
                Slots(settings.slots),
            )
        )
    return found


def _shown(base_url: str) -> str:
    """Return the address without user and password."""
    parts = urlsplit(base_url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def _dialect(name: str, base_url: str | None) -> str:
    """Return the dialect of a provider, judged by its address or its name."""
    host = urlsplit(base_url).hostname if base_url is not None else None
    if host in _HOSTS:
        return _HOSTS[host]
    if name in ("anthropic", "google") or (name in ("openai", "openrouter") and base_url is None):
        return name
    return "any"
