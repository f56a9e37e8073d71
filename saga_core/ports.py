"""Ports: everything nondeterministic or external comes in through one of these."""

from __future__ import annotations

import secrets
import time
from array import array
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, Literal, Protocol, runtime_checkable

from attrs import field, frozen

from saga_core.messages import PromptPlan


class Clock(Protocol):
    """Time."""

    def now(self) -> float:
        """Seconds since the Unix epoch."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back, for measuring."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> float:
        """Seconds since the Unix epoch; 0 for a clock that stands before it, which no file of a session may say."""
        return max(0.0, time.time())

    def monotonic(self) -> float:
        """Seconds that never go back."""
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
    """How many tokens a text costs. Never downloads, never blocks. Threads may ask at the same time."""

    @property
    def id(self) -> str:
        """Names the method and its tables."""
        ...

    def count(self, text: str) -> int:
        """Tokens of ``text``, at least 0."""
        ...


Mode = Literal["query", "passage"]


class Embedder(Protocol):
    """Text to vectors."""

    @property
    def id(self) -> str:
        """Names model and version; vectors of two ids are never compared."""
        ...

    @property
    def dimension(self) -> int:
        """Components of each vector."""
        ...

    @property
    def baseline(self) -> float:
        """The cosine similarity of unrelated texts, subtracted where similarities are scored."""
        ...

    @property
    def semantic(self) -> bool:
        """Whether texts that mean the same in other words are near; False when it sees no more than their spelling.

        Earlier turns are asked for by spelling anyway: their vectors are made for an embedder that sees more.
        """
        ...

    async def embed(self, texts: Sequence[str], mode: Mode) -> list[array[float]]:
        """A vector for each text, ``array('f')`` of unit length (or zero for an empty text)."""
        ...

    async def aclose(self) -> None:
        """Let go of connections."""
        ...


TextWire = Literal["openai", "kobold", "llamacpp", "ollama"]
"""How text completion is spoken: ``/v1/completions``, KoboldAI's ``/api/v1/generate``, llama.cpp's ``/completion``,
Ollama's ``/api/generate``."""


@frozen
class TextCall:
    """A prompt as one text, for a server that completes text."""

    prompt: str = field(repr=False)
    wire: TextWire


@frozen
class ChatRequest:
    """One call to a model."""

    plan: PromptPlan
    model: str
    params: Mapping[str, Any] = field(factory=dict)
    """The client's other fields, passed through: temperature, max_tokens, n, stop, …"""
    api_key: str | None = field(default=None, repr=False)
    """A key that the client brought, when passing it through is configured."""
    thread: str = ""
    """What the conversation is called, for providers that keep a cache by a name; empty when it has none."""
    text: TextCall | None = None
    """The plan as one text, where the client sent one: a provider that completes text is sent this."""


@frozen
class TextPart:
    """A piece of choice ``index``'s reply."""

    text: str
    index: int = 0


@frozen
class FinishPart:
    """Choice ``index`` ended; ``reason`` is OpenAI's: stop, length, content_filter."""

    reason: str
    index: int = 0


MOST_TOKENS = 1_000_000_000
"""More tokens than any call has: what a provider counts beyond that is nonsense, and no count."""


@frozen
class Usage:
    """Tokens of one call, as the provider accounts them. ``input`` counts all of the prompt."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    """All that was written to the cache."""
    cache_write_1h: int = 0
    """What of ``cache_write`` was written for an hour, which costs more."""


@frozen
class UsagePart:
    """The bill of the call, as far as it is known; the last one counts."""

    usage: Usage
    model: str = ""
    provider: str = ""
    """Who bills, where that is not who was asked: behind a route or an alias. ``provider`` is whose prices hold."""


@frozen
class ExtraPart:
    """Fields of a choice's delta that SAGA does not interpret (tool calls, reasoning), passed on as they are."""

    fields: Mapping[str, Any]
    index: int = 0


@frozen
class AdjustedPart:
    """The request was changed so that the model accepts it: ``name`` says what was changed, ``why`` how, in words."""

    name: str
    why: str


ChatPart = TextPart | FinishPart | UsagePart | ExtraPart | AdjustedPart


@runtime_checkable
class TextServer(Protocol):
    """A chat model behind which a server completes text, and has other things to ask: its tokens, its version."""

    async def relay(self, method: str, path: str, body: Any = None) -> Any:
        """The JSON that the server has at ``path``, from its root on. Raises ``UpstreamError``."""
        ...


@frozen
class Passed:
    """A provider's answer to what was passed on."""

    body: bytes = field(repr=False)
    content_type: str


@runtime_checkable
class PassesOn(Protocol):
    """A chat model whose provider has more than chats, which are none of SAGA's."""

    async def pass_on(self, path: str, body: bytes, content_type: str, api_key: str | None) -> Passed:
        """What the provider answers at ``path``, from its API's root on. Raises ``UpstreamError``."""
        ...


@runtime_checkable
class Warms(Protocol):
    """A chat model that works at once, and better when it had time to import what is large."""

    async def warm(self) -> None:
        """Import it, beside the loop."""
        ...


class ChatModel(Protocol):
    """A narration or extraction model."""

    @property
    def name(self) -> str:
        """The provider's name, for logs and ``/api/status``."""
        ...

    def stream(self, request: ChatRequest, *, streaming: bool = True) -> AsyncIterator[ChatPart]:
        """The reply in parts; closing the iterator cancels the call. Raises ``UpstreamError``.

        ``streaming`` false asks the provider for the reply in one piece.
        """
        ...

    async def models(self) -> list[str]:
        """The models that the provider lists."""
        ...

    async def aclose(self) -> None:
        """Let go of connections."""
        ...
