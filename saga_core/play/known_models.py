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
        """What is known of a model, as configured. A model without a name caches nothing that is known."""
        return facts_of(model, provider, self.settings.config.models.facts) if model else ModelFacts(provider)

    def scale(self, facts: ModelFacts, model: str) -> float:
        """How many tokens of the model one token as counted here is: as bills showed, else as the facts say."""
        return self.memories.scales.get((facts.provider, model), facts.scale)
