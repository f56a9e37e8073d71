"""What every store has: limits that stored data rests on, and a description without surprises."""

from __future__ import annotations

from saga_core.stores import Health, Limits, StoreInfo


def test_the_limits_are_those_that_backends_are_proved_against() -> None:
    limits = Limits()
    assert (limits.key_bytes, limits.value_bytes, limits.batch) == (1_024, 16 * 1_024 * 1_024, 10_000)
    assert (limits.dimension, limits.name_chars) == (4_096, 256)


def test_a_store_that_says_nothing_of_itself_can_nothing_and_lies_nowhere() -> None:
    info = StoreInfo("graph", "x")
    assert (info.capabilities, info.location, info.limits) == (frozenset(), "", Limits())
    assert Health(True) == Health(True, "", None)
