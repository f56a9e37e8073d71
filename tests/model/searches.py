"""How far the searches of the simulated frontend go: the same chats each time in ``make test``, new ones in deep."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

_SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]


def repeatable(examples: int, steps: int) -> settings:
    """The same chats in each run, so that a verdict repeats."""
    return settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        suppress_health_check=_SLOW,
        derandomize=True,
        database=None,
    )


def deep(examples: int, steps: int) -> settings:
    """Other chats in each run."""
    return settings(
        max_examples=examples, stateful_step_count=steps, deadline=None, suppress_health_check=_SLOW, print_blob=True
    )
