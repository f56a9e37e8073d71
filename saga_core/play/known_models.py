"""The facts about the requested models, as configured, and how their token counts compare with ours."""

from __future__ import annotations

from attrs import define

from saga_core.config import Settings
from saga_core.play.prompt_memories import PromptMemories
from saga_core.upstream import ModelFacts, facts_of


@define(eq=False)
class KnownModels:
    """Knows the models of all sessions."""

    settings: Settings
    memories: PromptMemories

    def facts(self, model: str, provider: str) -> ModelFacts:
        """The facts about a model, as configured. A model without a name is not known to cache."""
        return facts_of(model, provider, self.settings.config.models.facts) if model else ModelFacts(provider)

    def scale(self, facts: ModelFacts, model: str) -> float:
        """The number of the model's tokens per token as counted here: learned from bills, or else from the facts."""
        return self.memories.scales.get((facts.provider, model), facts.scale)
