from __future__ import annotations

import pytest

from saga_core.errors import BadInput
from saga_core.upstream.facts import facts_of


@pytest.mark.parametrize(
    ("model", "provider", "minimum", "price"),
    [
        ("claude-haiku-4-5", "anthropic", 4096, 1.0),
        ("claude-haiku-4-5-20251001", "anthropic", 4096, 1.0),
        ("anthropic/claude-sonnet-4.5", "openrouter", 1024, 3.0),
        ("claude-opus-5-5", "anthropic", 512, 4.0),
        ("claude-opus-5", "anthropic", 512, 5.0),
        ("claude-opus-4-7", "anthropic", 2048, 5.0),
        ("gpt-4o-mini-2024-07-18", "openai", 1024, 0.15),
        ("gemini-2.5-pro", "google", 2048, 1.25),
    ],
)
def test_a_known_model_is_found_by_the_longest_beginning(model: str, provider: str, minimum: int, price: float) -> None:
    facts = facts_of(model, provider)
    assert (facts.cache_minimum, facts.input, facts.provider) == (minimum, price, provider)
    assert facts.priced and facts.source.startswith("https://") and facts.read_on >= "2026-11"


def test_the_rules_of_claude() -> None:
    facts = facts_of("claude-sonnet-5-5", "anthropic")
    assert (facts.cache, facts.mark, facts.lookback, facts.breakpoints) == ("explicit", "cache_control", 20, 4)
    assert facts.writes == {"5m": 1.25, "1h": 2.0} and facts.read == 0.05
    assert facts_of("claude-opus-5", "anthropic").read == 0.1


def test_gpt_caches_by_itself_until_breakpoints_came() -> None:
    old, new = facts_of("gpt-5.1", "openai"), facts_of("gpt-5.6", "openai")
    assert (old.cache, old.mark, old.cache_minimum, old.cache_step) == ("automatic", "", 1024, 128)
    assert (new.cache, new.mark, new.lookback) == ("explicit", "prompt_cache_breakpoint", 1)
    assert new.writes == {"30m": 1.25}
    assert not new.priced


def test_what_is_not_known_is_neither_marked_nor_priced() -> None:
    facts = facts_of("지음-12b", "local")
    assert (facts.cache, facts.mark, facts.breakpoints, facts.priced) == ("none", "", 0, False)
    family = facts_of("claude-epos-9", "anthropic")
    assert (family.cache, family.cache_minimum, family.priced) == ("explicit", 4096, False)


def test_a_known_model_behind_a_stranger_is_not_marked() -> None:
    facts = facts_of("claude-sonnet-5-5", "my-gateway")
    assert (facts.cache, facts.mark, facts.breakpoints, facts.input) == ("none", "", 0, 2.0)


def test_a_configuration_overrides_single_fields() -> None:
    facts = facts_of("llama-3.3-70b", "local", {"llama-3": {"cache": "automatic", "input": 0.2, "output": 0.6}})
    assert (facts.cache, facts.input, facts.output) == ("automatic", 0.2, 0.6)
    facts = facts_of("claude-haiku-4-5", "anthropic", {"claude-haiku": {"cache_minimum": 2048, "write_1h": 3}})
    assert facts.cache_minimum == 2048 and facts.writes["1h"] == 3.0 and facts.input == 1.0


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"cahce": "none"}, r"models\.facts\.claude\.cahce is no fact of a model; known are .*cache_minimum"),
        ({"cache": "maybe"}, r"models\.facts\.claude\.cache: 'maybe' given; use one of 'explicit'"),
        ({"input": -1}, r"models\.facts\.claude\.input: -1 given; give a number of at least 0"),
        ({"input": True}, "True given"),
        ({"provider": "x"}, "no fact"),
    ],
)
def test_a_wrong_override_is_named(given: dict[str, object], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        facts_of("claude-haiku-4-5", "anthropic", {"claude": given})
