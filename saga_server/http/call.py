"""A request of any door, read and checked: what is to be played, who narrates, and what the answer looks like."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from attrs import field, frozen

from saga_server.http.shapes import ChatShape, Shape
from saga_server.http.text_ask import TextAsk
from saga_server.providers import Route


@frozen
class Call:
    """A request, ready to be played."""

    messages: list[Any]
    session: str | None
    world: str | None
    owner: str
    choices: int
    stream: bool
    wants_usage: bool
    params: Mapping[str, Any]
    routes: tuple[Route, ...]
    """Who is asked, and who is when the one before fails."""
    model: str
    """The model's name as the client hears it."""
    api_key: str | None = field(default=None, repr=False)
    """The client's own, for providers to which it is passed on."""
    player: str = ""
    """The name of the player's character, where the request gives it."""
    marked: frozenset[str] = frozenset()
    """Which of ``session`` and ``world`` a marker in a message named: unknown ones are left out, with a notice."""
    notices: tuple[str, ...] = ()
    """What of the request is not heeded, in words."""
    discreet: bool = False
    """Whether whoever asks may chat and no more: what concerns other chats is not for them."""
    key_id: str = ""
    """The key of whoever asks, where it has quotas."""
    aside: bool = False
    """Whether a program asks, for an answer of a form of its own: that is no turn of the story."""
    speaker: str = ""
    """Whose reply is to come, where the prompt says it behind all messages."""
    window: int = 0
    """Tokens that the prompt may have, as the client knows it; 0: it does not."""
    shape: Callable[[str], Shape] = ChatShape
    """What the answer looks like, made with the model's name."""
    text: TextAsk | None = None
    """The prompt, where it came as one text."""

    @property
    def tools(self) -> bool:
        """Whether the model may call tools."""
        return bool(self.params.get("tools")) and self.params.get("tool_choice") != "none"

    @property
    def route(self) -> Route:
        """Who is asked first."""
        return self.routes[0]
