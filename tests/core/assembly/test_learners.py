"""Which memory strategies learn: those that are configured, each checked before anything is opened."""

from __future__ import annotations

from typing import Any

import pytest

from saga_core import Saga
from saga_core.assembly.learners import choose_model, open_strategies, paces_of, source_of
from saga_core.config import load_config
from saga_core.errors import BadInput
from saga_core.jobs import Pace
from tests.core.extraction.scripted import Scripted


def config(**strategies: Any) -> Any:
    return load_config({"storage": {"profile": "memory"}, "memory_strategies": strategies})


async def test_a_strategy_is_known_by_its_own_name_or_by_what_it_says_to_use() -> None:
    found = await open_strategies(config(facts={}, mine={"use": "preferences"}))
    assert list(found) == ["facts", "mine"] and found["facts"].kinds != found["mine"].kinds
    assert await open_strategies(config()) == {}


@pytest.mark.parametrize(
    ("strategies", "why"),
    [
        ({"mine": {}}, r"memory_strategies\.mine\.use: there is no strategy 'mine'; there are: .*facts"),
        ({"facts": {"options": {"x": 1}}}, r"memory_strategies\.facts\.options\.x"),
        ({"facts": {"namespace": "/all"}}, r"memory_strategies\.facts\.namespace: '/all' would mix"),
    ],
)
async def test_what_is_wrong_is_named_with_its_setting(strategies: dict[str, Any], why: str) -> None:
    with pytest.raises(BadInput, match=why):
        await open_strategies(config(**strategies))


def test_the_curators_model_is_asked_or_else_that_of_extraction() -> None:
    named = load_config(
        {"models": {"curator": "big", "extraction": "little"}, "providers": {"openai": {"api_key": "k"}}}
    )
    curator, extractor = Scripted(name="c"), Scripted(name="e")
    assert choose_model(named, curator, extractor) == (curator, "big")
    assert choose_model(named, None, extractor) == (extractor, "little")
    assert choose_model(load_config({}), None, extractor) == (extractor, "e")
    assert choose_model(named, None, None) is None


async def test_without_a_model_nothing_is_learned_and_that_is_said() -> None:
    async with Saga.open(config(facts={})) as saga:
        (reason,) = [why for name, why in saga.counters.degraded.items() if name.endswith("facts")]
        assert reason.startswith("no model: set models.curator or models.extraction")


async def test_each_has_its_pace_and_what_was_learned_is_told_where_there_is_one() -> None:
    settings = config(facts={"every": 5, "tokens": 900})
    ((name, pace),) = paces_of(settings).items()
    assert name.endswith("facts") and pace == Pace(5, 900, whole=True)
    assert len(source_of(await open_strategies(settings))) == 1 and source_of({}) == ()
