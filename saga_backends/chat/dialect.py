"""What a dialect is: the API of a provider, as pure functions. ``ChatClient`` does everything else for all of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from attrs import define, field, frozen

from saga_backends.http_client import bearer
from saga_backends.json_text import inside
from saga_core.ports import MOST_TOKENS, AdjustedPart, ChatPart, ChatRequest, Usage, UsagePart
from saga_core.upstream import ParameterRules, rules_of


@frozen
class Outgoing:
    """A request in the format of a provider."""

    path: str
    """Relative to the base URL, or a full URL."""
    body: dict[str, Any] = field(repr=False)
    settings: Mapping[str, Any] | None = field(default=None, repr=False)
    """The settings that were sent, by their chat names, to find the one that a refusal is about.

    None if a refusal cannot be learned from, because the request is sent as the client gave it.
    """
    headers: Mapping[str, str] = field(factory=dict)
    beginning: str = field(default="", repr=False)
    """The text that the reply must not repeat, because the model was asked to go on from there."""
    adjusted: Sequence[AdjustedPart] = ()


@define
class Pieces(ABC):
    """Turns what a provider sends of one reply into parts. It keeps what a later piece needs of earlier ones.

    Finish reasons are passed on as the provider names them.
    """

    index: int = field(default=0, kw_only=True)
    """Which choice the reply is, with ``single`` APIs."""
    done: bool = field(default=False, init=False)
    """Whether the provider has said that nothing follows."""
    usage: Usage | None = field(default=None, init=False)
    """The usage as it is known by now."""

    @property
    @abstractmethod
    def shape(self) -> Sequence[str]:
        """The names of the fields of which a reply has at least one, the most usual one first."""

    @abstractmethod
    def read(self, value: Mapping[str, Any], *, whole: bool) -> Iterable[ChatPart]:
        """Return the parts of an event, or of a ``whole`` reply."""

    def end(self) -> Iterator[ChatPart]:
        """Yield what is known only after the last piece, such as the usage."""
        if self.usage is not None:
            yield UsagePart(self.usage)


@frozen
class Dialect(ABC):
    """The API of a provider: what is sent, and how the reply is read. ``name`` is what the facts know it by."""

    name: str
    facts: Mapping[str, Mapping[str, Any]] = field(factory=dict)
    single: ClassVar[bool] = True
    """Whether a request yields one reply, so that several choices take several requests."""
    models_path: ClassVar[str] = "/models"
    """Where the provider lists its models."""

    def headers(self, key: str | None) -> dict[str, str]:
        """Return the headers that show ``key``."""
        return bearer(key)

    def rules(self, model: str) -> ParameterRules:
        """Return what is known in advance about what ``model`` accepts."""
        return rules_of(model, self.name, self.facts)

    @abstractmethod
    def outgoing(self, request: ChatRequest, rules: ParameterRules, *, streaming: bool) -> Outgoing:
        """Return the request as the provider takes it, adjusted to ``rules``."""

    @abstractmethod
    def pieces(self, request: ChatRequest, index: int) -> Pieces:
        """Return the reader of a reply. With ``single`` APIs, the reply is choice ``index``."""

    def models(self, answer: Any) -> Any:
        """Return the list of models in the format of OpenAI's ``/models``."""
        return answer


# -- token counts ------------------------------------------------------------------------------------------------


def usage_of(bill: Mapping[str, Any]) -> Usage:
    """Return the tokens that a bill in the format of OpenAI's API counts."""
    cached = inside(bill, "prompt_tokens_details", "cached_tokens")
    return Usage(
        input=token_count(bill.get("prompt_tokens")),
        output=token_count(bill.get("completion_tokens")),
        cache_read=token_count(cached) or token_count(bill.get("prompt_cache_hit_tokens")),
        cache_write=token_count(inside(bill, "prompt_tokens_details", "cache_write_tokens")),
    )


def token_count(value: Any, otherwise: int = 0) -> int:
    """Return a number of tokens, or ``otherwise`` if ``value`` is none."""
    return value if type(value) is int and 0 <= value < MOST_TOKENS else otherwise
