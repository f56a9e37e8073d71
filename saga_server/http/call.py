"""A request to any of the chat APIs, read and checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import field, frozen

from saga_server.http.shapes import ChatShape, Shape
from saga_server.http.text_ask import TextAsk
from saga_server.providers import Route


@frozen
class Call:
    """A request that is ready to be played: its messages, the models to ask, and the format of the reply."""

    messages: list[Any]
    session: str | None
    world: str | None
    owner: str
    choices: int
    stream: bool
    wants_usage: bool
    params: Mapping[str, Any]
    routes: tuple[Route, ...]
    """The models to ask, in order. Each is a fallback for the one before."""
    model: str
    """The model's name in the reply."""
    api_key: str | None = field(default=None, repr=False)
    """The client's own key, for providers to which it is passed on."""
    player: str = ""
    """The name of the player's character, if the request gives it."""
    marked: frozenset[str] = frozenset()
    """Which of ``session`` and ``world`` come from a marker. An unknown name in a marker is ignored, with a notice."""
    notices: tuple[str, ...] = ()
    """Notices about parts of the request that are ignored."""
    discreet: bool = False
    """Whether the caller may only chat. Messages then say nothing about other chats."""
    key_id: str = ""
    """The id of the caller's key, if the key has a record (and so may have quotas)."""
    aside: bool = False
    """Whether a program wants a reply in a format of its own. Such a request is not a turn of the story."""
    speaker: str = ""
    """The character who is to reply, if the prompt ends with this name."""
    window: int = 0
    """The size of the prompt in tokens that the client allows; 0 if the client does not say."""
    shape: Callable[[str], Shape] = ChatShape
    """Makes the format of the reply, given the model's name."""
    text: TextAsk | None = None
    """The prompt of a text completion."""

    @property
    def tools(self) -> bool:
        """Whether the model may call tools."""
        return bool(self.params.get("tools")) and self.params.get("tool_choice") != "none"

    @property
    def route(self) -> Route:
        """The route that is tried first."""
        return self.routes[0]
