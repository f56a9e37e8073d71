"""Which checks are run."""

from __future__ import annotations

from typing import Any

import pytest

from conformance import Status, run
from conformance.catalog import registered
from conformance.runner import run_check
from saga_core.errors import BadInput
from tests.conformance.harnesses import HARNESSES

MEMORY = HARNESSES["state-memory"]


@pytest.mark.parametrize(
    ("options", "told"), [({"profile": "slow"}, "profile"), ({"only": ["Z-1"]}, "no clause or check 'Z-1'")]
)
def test_unknown_profiles_and_clauses_are_refused(options: dict[str, Any], told: str) -> None:
    with pytest.raises(BadInput, match=told):
        run(MEMORY, **options)


def test_a_check_that_is_not_provided_is_not_run() -> None:
    (durable,) = (check for check in registered() if check.id == "durability.killed")
    outcome = run_check(MEMORY, durable)
    assert (outcome.status, outcome.detail) == (Status.NOT_PROVIDED, "durable")
