"""Providers and routes: the provider that a request goes to, and the model's name there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from saga_backends.http_client import is_local
from saga_server.providers.slots import Slots


@frozen
class Provider:
    """A configured provider."""

    name: str
    backend: str
    """The registered chat backend for its protocol. Providers without a backend of their own use ``openai``."""
    options: Mapping[str, Any] = field(factory=dict, repr=False)
    passthrough_key: bool = False
    where: str = ""
    """Its address, to show to people."""
    dialect: str = "any"
    """Whose API rules apply: ``anthropic``, ``openai``, ``google`` or ``openrouter``, or ``any`` when it is unknown."""
    slots: Slots = field(factory=Slots, eq=False, repr=False)

    @property
    def is_near(self) -> bool:
        """Whether it is on this machine or a private network, and does not have the dialect of a commercial one."""
        return self.dialect == "any" and is_local(str(self.options.get("base_url") or ""))

    @property
    def completes_text(self) -> bool:
        """Whether plain text prompts are passed on unchanged, as to any unknown server with the OpenAI API."""
        return self.backend == "openai" and self.dialect == "any"


@frozen
class Route:
    """The provider that a request goes to, and the model's name there."""

    provider: Provider
    model: str
