from __future__ import annotations

from typing import Any

import pytest

from saga_core.errors import BadInput
from saga_core.upstream.facts import facts_of
from saga_core.upstream.parameters import ParameterRules, rules_of, takes

SAMPLING = ("temperature", "top_p", "top_k")


@pytest.mark.parametrize(
    ("model", "rules"),
    [
        ("claude-sonnet-5-5", ParameterRules(SAMPLING, prefill=False, thinks=True, quiet="between_tools")),
        ("claude-haiku-5-5-20261001", ParameterRules(SAMPLING, prefill=False, thinks=True, quiet="disabled")),
        ("anthropic/claude-opus-5.5", ParameterRules(SAMPLING, prefill=False, thinks=True)),
        ("claude-sonnet-4-5", ParameterRules(together=("temperature", "top_p"), system_turns=False)),
        ("claude-sonnet-4-6", ParameterRules(together=("temperature", "top_p"), prefill=False, system_turns=False)),
        ("claude-9-unheard-of", ParameterRules(SAMPLING, prefill=False, system_turns=False, thinks=True)),
        ("mixtral", ParameterRules()),
    ],
)
def test_rules_of_claude(model: str, rules: ParameterRules) -> None:
    assert rules_of(model, "anthropic") == rules


def test_reasoning_models_of_openai() -> None:
    rules = rules_of("gpt-5.6-sol", "openai")
    assert rules.limit == "max_completion_tokens"
    assert {"temperature", "top_p", "stop"} <= set(rules.refuses)
    assert rules_of("gpt-5-chat-latest", "openai").refuses == ()
    assert rules_of("gpt-4.1", "openai") == ParameterRules()


def test_behind_another_provider_little_is_known() -> None:
    assert rules_of("gpt-5.6", "my-server") == ParameterRules()
    assert rules_of("anthropic/claude-sonnet-5.5", "openrouter") == ParameterRules(prefill=False)
    assert rules_of("claude-sonnet-5-5", "my-server") == ParameterRules()


def test_what_a_provider_takes() -> None:
    assert {"messages", "seed", "prompt_cache_key"} <= takes("openai")
    assert "min_p" not in takes("openai")
    assert "frequency_penalty" not in takes("google")
    assert takes("local") == frozenset()


def test_a_configuration_overrides_rules_and_facts_side_by_side() -> None:
    overrides: dict[str, Any] = {"claude-sonnet-5-5": {"prefill": True, "refuses": ["top_k"], "cache_minimum": 2048}}
    rules = rules_of("claude-sonnet-5-5", "anthropic", overrides)
    assert (rules.prefill, rules.refuses, rules.thinks) == (True, ("top_k",), True)
    assert facts_of("claude-sonnet-5-5", "anthropic", overrides).cache_minimum == 2048


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"prefill": "no"}, r"models\.facts\.claude\.prefill: 'no' given; give true or false"),
        ({"refuses": "top_k"}, "give a list of texts"),
        ({"limit": 3}, "give a text"),
    ],
)
def test_a_wrong_rule_is_named(given: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        rules_of("claude-opus-5", "anthropic", {"claude": given})
