"""Opens the embedder and the token counter with their options, completed from the rest of the configuration.

What is not SAGA's own is checked with every call, a chat model too, so that a wrong answer is named at its source.
"""

from __future__ import annotations

from array import array
from collections.abc import AsyncIterable, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, nullcontext
from typing import Any, cast

from attrs import frozen

from saga_core import registry
from saga_core.config import Config
from saga_core.counters import Counters
from saga_core.errors import BadInput, SagaError, UpstreamError
from saga_core.foreign import foreign
from saga_core.ports import (
    ChatModel,
    ChatPart,
    ChatRequest,
    Embedder,
    ExtraPart,
    FinishPart,
    Mode,
    TextPart,
    TokenCounter,
    Usage,
    UsagePart,
)
from saga_core.registry import OpenOptions
from saga_core.stores.validate import as_float32, check_object, shown

_REMOTE = "openai"
_PATHS = {"embedder": ("path",), "tokens": ("directory", "file")}
"""Options that are paths, relative to the configuration's folder."""


async def open_embedder(config: Config) -> Embedder:
    """Open the embedder that ``recall.embedder`` names. Raises ``BadInput`` and ``StoreUnavailable``."""
    options = dict(config.recall.options)
    if config.recall.embedder == _REMOTE:
        _complete(options, config)
    embedder: Embedder = await _open("embedder", config.recall.embedder, "recall.embedder", "recall.", config, options)
    check_embedder(f"recall.embedder: {config.recall.embedder!r}", embedder)
    return guarded("recall.embedder", embedder)


def guarded(where: str, embedder: Embedder) -> Embedder:
    """Return an embedder that is not one of SAGA's, which check their vectors themselves, as a ``ForeignEmbedder``."""
    ours = isinstance(embedder, ForeignEmbedder) or type(embedder).__module__.startswith("saga_backends.")
    return embedder if ours else ForeignEmbedder(where, embedder)


def check_embedder(where: str, embedder: object) -> None:
    """Raise ``BadInput`` for what is no ``Embedder``."""
    check_object(where, embedder, Embedder)
    check_id(where, embedder)
    semantic, dimension = getattr(embedder, "semantic", None), getattr(embedder, "dimension", None)
    if not isinstance(semantic, bool):
        raise BadInput(f"{where}: its semantic is {semantic!r}; give True or False: whether it sees meaning")
    if type(dimension) is not int or dimension < 1:
        raise BadInput(f"{where}: its dimension is {dimension!r}; give the number of components of its vectors")


def check_id(where: str, given: object, field: str = "id") -> None:
    """Raise ``BadInput`` unless the ``id`` by which something is told apart is a text."""
    value = getattr(given, field)
    if not isinstance(value, str) or not value:
        raise BadInput(f"{where}: its {field} is {value!r}; give a text that names it")


class ForeignEmbedder:
    """An embedder whose errors and wrong vectors become ``UpstreamError`` that names the setting and the embedder."""

    def __init__(self, where: str, given: Embedder) -> None:
        self._where, self._given = where, given
        self.id, self.dimension, self.semantic = given.id, given.dimension, given.semantic
        self.baseline = given.baseline

    def __getattr__(self, name: str) -> Any:
        return getattr(self._given, name)

    async def embed(self, texts: Sequence[str], mode: Mode) -> list[array[float]]:
        """See ``Embedder.embed``."""
        named = f"{self._where}: {self._given.id}"
        try:
            with foreign:
                vectors: Any = await self._given.embed(texts, mode)
        except SagaError:
            raise
        except Exception as error:
            raise UpstreamError(f"{named} failed in embed ({registry.why(error)})") from error
        if not isinstance(vectors, Sequence) or len(vectors) != len(texts):
            gave = f"{len(vectors)} vectors" if isinstance(vectors, Sequence) else f"a {type(vectors).__name__}"
            raise UpstreamError(
                f"{named} gave {gave} for {len(texts)} texts; give a list with a vector for each text, in their order, "
                "as `list(array)` makes of an array of rows"
            )
        try:
            sizes = {len(as_float32("a vector", vector)) for vector in vectors}
        except BadInput as error:
            raise UpstreamError(f"{named}: {error}") from error
        if odd := sizes - {self._given.dimension}:
            told = ", ".join(map(str, sorted(odd)))
            raise UpstreamError(f"{named} gave vectors of {told} components, and says it gives {self.dimension}")
        return [*vectors]


_OURS = ("saga_backends.", "saga_server.")


def checked_chat(where: str, given: object) -> ChatModel:
    """Return a chat model that is not one of SAGA's as a ``ForeignChat``. Raises ``BadInput`` for what is none."""
    check_object(where, given, ChatModel)
    check_id(where, given, "name")
    model = cast(ChatModel, given)
    ours = isinstance(model, ForeignChat) or type(model).__module__.startswith(_OURS)
    return model if ours else ForeignChat(where, model)


class ForeignChat:
    """A chat model whose stream is checked: what is no part raises ``UpstreamError``, which names the setting."""

    def __init__(self, where: str, given: ChatModel) -> None:
        self._where, self._given = where, given

    def __getattr__(self, name: str) -> Any:
        return getattr(self._given, name)

    @property
    def name(self) -> str:
        """See ``ChatModel.name``."""
        return self._given.name

    async def stream(self, request: ChatRequest, *, streaming: bool = True) -> AsyncIterator[ChatPart]:
        """See ``ChatModel.stream``."""
        named = f"{self._where}: {type(self._given).__name__}.stream"
        try:
            with foreign:
                stream: Any = self._given.stream(request, streaming=streaming)
                if not isinstance(stream, AsyncIterable):
                    kind = type(stream).__name__
                    raise UpstreamError(f"{named} gives a {kind}; write it with async def, and yield each part")
                parts: Any = stream.__aiter__()
                async with aclosing(parts) if hasattr(parts, "aclose") else nullcontext():
                    async for part in parts:
                        yield _checked_part(named, part)
        except SagaError:
            raise
        except Exception as error:
            raise UpstreamError(f"{named} failed ({registry.why(error)})") from error

    async def models(self) -> list[str]:
        """See ``ChatModel.models``."""
        with foreign:
            return await self._given.models()

    async def aclose(self) -> None:
        """See ``ChatModel.aclose``."""
        await self._given.aclose()


def _checked_part(named: str, part: Any) -> ChatPart:
    if not isinstance(part, ChatPart):
        told = "yield parts of saga_core.ports, a text as TextPart(text)"
        raise UpstreamError(f"{named} yields a {type(part).__name__}; {told}")
    of, kind = _MAIN.get(type(part), ("", object))
    if of and not isinstance(held := getattr(part, of), kind):
        told = f"{named} yields a {type(part).__name__} whose {of} is a {type(held).__name__}"
        raise UpstreamError(f"{told}; give a {kind.__name__}")
    return part


_MAIN: dict[type[Any], tuple[str, type[Any]]] = {
    TextPart: ("text", str),
    FinishPart: ("reason", str),
    UsagePart: ("usage", Usage),
    ExtraPart: ("fields", Mapping),
}
"""The main field of each part, and its type."""


@frozen
class ForeignCounter:
    """A counter that is not one of SAGA's. Where it raises, or gives no count, the estimate stands in."""

    given: TokenCounter
    estimate: TokenCounter
    counters: Counters

    @property
    def id(self) -> str:
        """The name of the counter."""
        return self.given.id

    def count(self, text: str) -> int:
        """Tokens of ``text``."""
        try:
            with foreign:
                found = self.given.count(text)
        except Exception as error:  # noqa: BLE001 - whatever it is, the story goes on
            why = f"{type(error).__name__}: {error}"[:_SHOWN]
        else:
            if type(found) is int and 0 <= found <= _MOST_A_LETTER * len(text) + _SPECIAL:
                return found
            why = f"it counts {str(found)[:_SHOWN]} tokens in {len(text)} characters"
            if type(found) is not int:
                why = f"count gave {shown(found)}, a {type(found).__name__}; give an int"
        if _FAILS not in self.counters.degraded:  # the first reason will do, and not another line for each text
            self.counters.degrade(
                _FAILS, f"token_budget.counter: {self.given.id} fails ({why}); such texts are estimated"
            )
        return self.estimate.count(text)


_FAILS = "tokens.counter"
_MOST_A_LETTER, _SPECIAL, _SHOWN = 4, 16, 200
"""Most tokens of a character, which has at most four bytes, and of what a tokenizer adds to a text."""


async def open_counter(config: Config, counters: Counters) -> TokenCounter:
    """Open the counter that ``token_budget.counter`` names. Raises ``BadInput`` and ``StoreUnavailable``."""
    options = dict(config.token_budget.counter_options)
    at, options_at = "token_budget.counter", "token_budget.counter_"
    counter: TokenCounter = await _open("tokens", config.token_budget.counter, at, options_at, config, options)
    check_object(f"token_budget.counter: {config.token_budget.counter}", counter, TokenCounter)
    check_id(f"token_budget.counter: {config.token_budget.counter}", counter)
    if type(counter).__module__.startswith("saga_backends."):
        return counter
    estimate = await _open("tokens", "estimate", at, options_at, config, {})
    return ForeignCounter(counter, estimate, counters)


async def _open(
    kind: registry.Kind, name: str, at: str, options_at: str, config: Config, options: dict[str, Any]
) -> Any:
    for each in _PATHS[kind]:
        if isinstance(options.get(each), str) and options[each]:
            options[each] = str(config.resolve(options[each]))
    return await registry.open_plugin(
        kind, name, OpenOptions(config.data_dir / kind, options=options), at=at, options_at=options_at
    )


def _complete(options: dict[str, Any], config: Config) -> None:
    """Fill missing options from ``models.embedding`` and ``providers``.

    A provider's key is sent only to that provider's address. Options with their own ``base_url`` must have their own
    key.
    """
    model = options.get("model") or config.models.embedding
    provider = options.pop("provider", None)
    if isinstance(model, str):
        prefix, slash, rest = model.partition("/")
        if provider is None and slash and rest and (prefix in config.providers or prefix == _REMOTE):
            provider, model = prefix, rest
        options["model"] = model
    if provider is not None and provider != _REMOTE and provider not in config.providers:
        known = ", ".join(sorted({_REMOTE, *config.providers}))
        raise BadInput(f"recall.options.provider: {provider!r} is not among the providers; known: {known}")
    provider = provider or _REMOTE
    options.setdefault("name", provider)
    if options.get("base_url"):
        return
    settings = config.providers.get(provider)
    key = (settings.api_key if settings is not None else None) or getattr(config.api_keys, provider, None)
    if settings is not None and settings.base_url:
        options["base_url"] = settings.base_url
    elif provider != _REMOTE:
        raise BadInput(
            f"recall.options.base_url: which address has the provider {provider!r}? Give it here, or as "
            f"providers.{provider}.base_url"
        )
    if key and not options.get("api_key"):
        options["api_key"] = key
