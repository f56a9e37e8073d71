"""The model-based test of chats notices every matcher that is broken in a known way."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.model.machine import Mutation, machine
from tests.mutants.matchers import MUTANTS

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


@pytest.mark.parametrize("mutation", MUTANTS.values(), ids=MUTANTS.keys())
def test_a_broken_matcher_is_caught(mutation: Mutation) -> None:
    # Without shrinking: that it fails is the point, not the smallest chat that shows it.
    quick = settings(
        max_examples=60,
        stateful_step_count=24,
        deadline=None,
        suppress_health_check=SLOW,
        phases=[Phase.generate],
        database=None,
        derandomize=True,
        report_multiple_bugs=False,
    )
    with pytest.raises(AssertionError):
        run_state_machine_as_test(machine(mutation), settings=quick)
