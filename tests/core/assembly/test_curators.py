"""Which curators review: the rules always, and one more as configured."""

from __future__ import annotations

from typing import Any

import pytest

from saga_core import Saga
from saga_core.errors import BadInput
from tests.core.extraction.scripted import Scripted


async def reviewing(*, model: Scripted | None = None, **curator: Any) -> tuple[list[str], dict[str, str]]:
    config = {"storage": {"profile": "memory"}, "curator": curator}
    async with Saga.open(config, curator=model) as saga:
        names = [each.info.name for each in saga.background.reviews.curators]
        return names, {name: why for name, why in saga.counters.degraded.items() if name.startswith("curation")}


async def test_the_rules_review_alone_without_a_model() -> None:
    assert await reviewing() == (["rules"], {})
    assert await reviewing(backend="rules") == (["rules"], {})


async def test_with_a_model_its_blocks_review_too() -> None:
    assert await reviewing(model=Scripted()) == (["rules", "blocks"], {})
    assert await reviewing(model=Scripted(), backend="direct") == (["rules", "direct"], {})


async def test_a_curator_that_asks_a_model_and_has_none_is_left_out_and_that_is_said() -> None:
    names, degraded = await reviewing(backend="direct")
    assert names == ["rules"]
    assert degraded == {"curation.direct": "no model: set models.curator and a provider for it; the rules review alone"}


async def test_nobody_reviews_where_that_is_switched_off() -> None:
    assert await reviewing(enabled=False, model=Scripted()) == ([], {})


async def test_a_curator_that_asks_nobody_reviews_beside_the_rules() -> None:
    assert await reviewing(backend="memory") == (["rules", "memory"], {})


@pytest.mark.parametrize(
    ("curator", "why"),
    [
        ({"backend": "nobody"}, r"curator\.backend: .*no curator backend 'nobody'"),
        ({"options": {"x": 1}}, r"curator\.options\.x"),
    ],
)
async def test_what_is_wrong_is_named_with_its_setting(curator: dict[str, Any], why: str) -> None:
    with pytest.raises(BadInput, match=why):
        await reviewing(**curator)
