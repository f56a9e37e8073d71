"""What a dialect is: the API of a provider, as pure functions. ``ChatClient`` does everything else for all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from attrs import field, frozen

from saga_core.ports import AdjustedPart, ChatPart, ChatRequest
from saga_core.upstream import ParameterRules


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


class Pieces(Protocol):
    """Turns what a provider sends of one reply into parts. It keeps what a later piece needs of earlier ones.

    Finish reasons are passed on as the provider names them.
    """

    @property
    def shape(self) -> Sequence[str]:
        """The names of the fields of which a reply has at least one, the most usual one first."""
        ...

    @property
    def done(self) -> bool:
        """Whether the provider has said that nothing follows."""
        ...

    def read(self, value: Mapping[str, Any], *, whole: bool) -> Iterable[ChatPart]:
        """Return the parts of an event, or of a ``whole`` reply."""
        ...

    def end(self) -> Iterable[ChatPart]:
        """Return what is known only after the last piece, such as the usage."""
        ...


class Dialect(Protocol):
    """The API of a provider: what is sent, and how the reply is read."""

    @property
    def single(self) -> bool:
        """Whether a request yields one reply, so that several choices take several requests."""
        ...

    @property
    def models_path(self) -> str:
        """Where the provider lists its models."""
        ...

    def headers(self, key: str | None) -> dict[str, str]:
        """Return the headers that show ``key``."""
        ...

    def rules(self, model: str) -> ParameterRules:
        """Return what is known in advance about what ``model`` accepts."""
        ...

    def outgoing(self, request: ChatRequest, rules: ParameterRules, *, streaming: bool) -> Outgoing:
        """Return the request as the provider takes it, adjusted to ``rules``."""
        ...

    def pieces(self, request: ChatRequest, index: int) -> Pieces:
        """Return the reader of a reply. With ``single`` APIs, the reply is choice ``index``."""
        ...

    def models(self, answer: Any) -> Any:
        """Return the list of models in the format of OpenAI's ``/models``."""
        ...
