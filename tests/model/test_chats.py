"""A simulated frontend against a pure model: swipes, edits, branches, returns, stops, continues and restarts."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.model.machine import machine

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


def test_the_state_is_that_of_the_path_the_chat_proves() -> None:
    run_state_machine_as_test(
        machine(),
        settings=settings(
            max_examples=40,
            stateful_step_count=50,
            deadline=None,
            suppress_health_check=SLOW,
            derandomize=True,
            database=None,
        ),
    )
