"""Where a request goes: a provider, and the model's name there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from saga_server.providers.slots import Slots


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
    dialect: str = "any"
    """Whose rules hold for it: those of ``anthropic``, ``openai``, ``google``, ``openrouter``, or of nobody known."""
    slots: Slots = field(factory=Slots, eq=False, repr=False)

    @property
    def completes_text(self) -> bool:
        """Whether prompts of one text go to it as they are: to every server of nobody known behind OpenAI's wire."""
        return self.backend == "openai" and self.dialect == "any"


@frozen
class Route:
    """Where a request goes, and the model's name there."""

    provider: Provider
    model: str
