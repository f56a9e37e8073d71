"""What every store has: limits that stored data rests on, and a description without surprises."""

from __future__ import annotations

import pytest
from attrs import evolve

from saga_core.stores import MINIMUM, Health, Limits, StoreInfo
from saga_core.stores.validate import too_small


def test_the_limits_are_those_that_backends_are_proved_against() -> None:
    limits = Limits()
    assert (limits.key_bytes, limits.value_bytes, limits.batch) == (1_024, 16 * 1_024 * 1_024, 10_000)
    assert (limits.dimension, limits.name_chars) == (4_096, 256)


def test_a_store_that_says_nothing_of_itself_can_nothing_and_lies_nowhere() -> None:
    info = StoreInfo("graph", "x")
    assert (info.capabilities, info.location, info.limits) == (frozenset(), "", Limits())
    assert Health(True) == Health(True, "", None)


@pytest.mark.parametrize("kind", MINIMUM)
def test_what_is_smaller_than_saga_needs_is_told_with_both_numbers(kind: str) -> None:
    assert too_small(kind, MINIMUM[kind]) == too_small(kind, Limits()) == ()
    less = evolve(MINIMUM[kind], value_bytes=MINIMUM[kind].value_bytes - 1)
    assert too_small(kind, less) == (f"value_bytes: {less.value_bytes}, SAGA needs {less.value_bytes + 1}",)


def test_what_a_kind_does_not_write_may_be_small() -> None:
    assert too_small("graph", Limits(key_bytes=1, dimension=1)) == ()
    assert too_small("curator", Limits(1, 1, 1, 1, 1)) == ()
    assert len(too_small("vector", Limits(1, 1, 1, 1, 1))) == 4
