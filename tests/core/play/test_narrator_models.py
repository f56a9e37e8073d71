"""What is known of models: as configured, and how they count, as bills show."""

from __future__ import annotations

from saga_backends.memory import MemoryState
from saga_core.config import Settings, load_config
from saga_core.counters import Counters
from saga_core.play import NarratorModels, PromptMemories
from saga_core.upstream import ModelFacts


def known(**facts: dict[str, object]) -> NarratorModels:
    config = load_config({"models": {"facts": facts}} if facts else {})
    return NarratorModels(Settings(config), PromptMemories(MemoryState(), Counters()))


def test_a_model_without_a_name_caches_nothing_that_is_known() -> None:
    assert known().facts("", "anthropic") == ModelFacts("anthropic")


def test_what_is_configured_stands_over_what_is_built_in() -> None:
    assert known().facts("claude-sonnet-4-5", "anthropic").cache == "explicit"
    found = known(**{"claude-sonnet": {"cache": "none", "input": 9.5}}).facts("claude-sonnet-4-5", "anthropic")
    assert (found.cache, found.input) == ("none", 9.5)


def test_other_settings_count_from_the_next_question_on() -> None:
    models = known()
    models.settings.config = load_config({"models": {"facts": {"house-model": {"window": 8_000}}}})
    assert models.facts("house-model-2", "local").window == 8_000


def test_a_models_scale_is_that_of_its_bills_and_before_them_that_of_its_facts() -> None:
    models = known()
    facts = ModelFacts("p", scale=1.1)
    assert models.scale(facts, "m") == 1.1
    models.memories.learn(("p", "m"), 1_000, 1_500)
    assert models.scale(facts, "m") == 1.5
    assert models.scale(facts, "other") == models.scale(ModelFacts("q", scale=1.1), "m") == 1.1
