"""A simulated frontend whose narrator often reports nothing: extraction makes every proved path whole."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.model.silent import SilentMachine

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


def test_what_nobody_reported_is_known_on_every_path_that_is_proved() -> None:
    run_state_machine_as_test(
        SilentMachine,
        settings=settings(max_examples=15, stateful_step_count=40, deadline=None, suppress_health_check=SLOW),
    )
