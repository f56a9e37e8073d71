"""Ports: the protocols for everything nondeterministic or external."""

from __future__ import annotations

import secrets
import time
from array import array
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Literal, Protocol, runtime_checkable

from attrs import field, frozen

from saga_core.messages import PromptPlan


class Clock(Protocol):
    """A source of time."""

    def now(self) -> float:
        """Seconds since the Unix epoch."""
        ...

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back, for measuring durations."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> float:
        """Seconds since the Unix epoch, at least 0. A session file must not contain a negative time."""
        return max(0.0, time.time())

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back."""
        return time.perf_counter()


class Entropy(Protocol):
    """Randomness for ids."""

    def token(self, size: int) -> bytes:
        """``size`` random bytes."""
        ...


class SystemEntropy:
    """The operating system's randomness."""

    def token(self, size: int) -> bytes:
        """``size`` random bytes."""
        return secrets.token_bytes(size)


class TokenCounter(Protocol):
    """Counts the tokens of a text. It never downloads or blocks, and threads may call it concurrently."""

    @property
    def id(self) -> str:
        """The name of the method and its tables."""
        ...

    def count(self, text: str) -> int:
        """Tokens of ``text``, at least 0."""
        ...


Mode = Literal["query", "passage"]


class Embedder(Protocol):
    """Text to vectors."""

    @property
    def id(self) -> str:
        """The model and its version. Vectors of different ids are never compared."""
        ...

    @property
    def dimension(self) -> int:
        """The number of components of each vector."""
        ...

    @property
    def baseline(self) -> float:
        """The cosine similarity of unrelated texts. It is subtracted when similarities are scored."""
        ...

    @property
    def semantic(self) -> bool:
        """Whether texts with the same meaning but different words have similar vectors; false if only spelling counts.

        Recall searches earlier turns by spelling in any case, so their vectors are only made by a semantic embedder.
        """
        ...

    async def embed(self, texts: Sequence[str], mode: Mode) -> list[array[float]]:
        """Return one ``array('f')`` of unit length for each text, or a zero vector for an empty text."""
        ...

    async def aclose(self) -> None:
        """Close the connections."""
        ...


TextWire = Literal["openai", "kobold", "llamacpp", "ollama"]
"""The API of a text-completion server.

One of ``/v1/completions``, KoboldAI's ``/api/v1/generate``, llama.cpp's ``/completion``, Ollama's ``/api/generate``.
"""


@frozen
class TextCall:
    """A prompt as a single text, for a text-completion server."""

    prompt: str = field(repr=False)
    wire: TextWire


@frozen
class ChatRequest:
    """One call to a model."""

    plan: PromptPlan
    model: str
    params: Mapping[str, Any] = field(factory=dict)
    """The client's other fields, which are passed through: temperature, max_tokens, n, stop, …"""
    api_key: str | None = field(default=None, repr=False)
    """The client's own key, if passing it through is configured."""
    thread: str = ""
    """The name of the conversation, for providers that keep a cache by name; empty if there is none."""
    text: TextCall | None = None
    """The plan as one text, if the client sent one. Text-completion providers receive this."""


@frozen
class TextPart:
    """A piece of the reply of choice ``index``."""

    text: str
    index: int = 0


@frozen
class FinishPart:
    """The end of choice ``index``. ``reason`` is an OpenAI finish reason: stop, length, content_filter."""

    reason: str
    index: int = 0


MOST_TOKENS = 1_000_000_000
"""An upper limit for token counts from providers. Larger values are ignored as invalid."""


@frozen
class Usage:
    """The tokens of one call as the provider counts them. ``input`` covers the whole prompt."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    """All tokens written to the cache."""
    cache_write_1h: int = 0
    """The part of ``cache_write`` written for one hour, which costs more."""


@frozen
class UsagePart:
    """The usage of the call as known so far. The last one counts."""

    usage: Usage
    model: str = ""
    provider: str = ""
    """The billing provider, whose prices apply. It may differ from the called one behind a route or an alias."""


@frozen
class ExtraPart:
    """Fields of a choice's delta that SAGA does not interpret (tool calls, reasoning) and passes on unchanged."""

    fields: Mapping[str, Any]
    index: int = 0


@frozen
class AdjustedPart:
    """The request was changed so that the model accepts it. ``name`` identifies the change, ``why`` explains it."""

    name: str
    why: str


ChatPart = TextPart | FinishPart | UsagePart | ExtraPart | AdjustedPart


@runtime_checkable
class TextServer(Protocol):
    """A chat model backed by a text-completion server that also answers other requests (token counts, version)."""

    async def relay(self, method: str, path: str, body: Any = None) -> Any:
        """Return the JSON response at ``path``, relative to the server's root. Raises ``UpstreamError``."""
        ...


@frozen
class Passed:
    """A provider's response to a request that was passed on."""

    body: bytes = field(repr=False)
    content_type: str


@runtime_checkable
class PassesOn(Protocol):
    """A chat model whose provider has endpoints besides chat, which SAGA passes on."""

    async def pass_on(self, path: str, body: bytes, content_type: str, api_key: str | None) -> Passed:
        """Return the provider's response at ``path``, relative to its API root. Raises ``UpstreamError``."""
        ...


class ChatModel(Protocol):
    """A narration or extraction model."""

    @property
    def name(self) -> str:
        """The provider's name, for logs and ``/api/status``."""
        ...

    def stream(self, request: ChatRequest, *, streaming: bool = True) -> AsyncIterator[ChatPart]:
        """Yield the parts of the reply. Closing the iterator cancels the call. Raises ``UpstreamError``.

        If ``streaming`` is false, the provider is asked for the reply in one piece.
        """
        ...

    async def models(self) -> list[str]:
        """Return the models that the provider lists."""
        ...

    async def aclose(self) -> None:
        """Close the connections."""
        ...
