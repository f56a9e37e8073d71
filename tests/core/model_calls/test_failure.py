"""A call that failed says whether it was answered, which is paid for."""

from __future__ import annotations

from saga_core.errors import SagaError
from saga_core.model_calls import ModelCallFailed


def test_a_failure_counts_as_answered_unless_it_says_otherwise() -> None:
    assert ModelCallFailed("no use").answered and not ModelCallFailed("late", answered=False).answered
    assert isinstance(ModelCallFailed("no use"), SagaError) and str(ModelCallFailed("no use")) == "no use"
