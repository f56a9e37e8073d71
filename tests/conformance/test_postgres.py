"""The stores in PostgreSQL keep their contract, as they are and behind the resident layer. Needs a server: see
``tests.postgres.real_server``.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

from conformance.check import Check
from conformance.report import Status, report_on, summary
from conformance.runner import DEFAULT_SEED, applicable, run_check
from tests.conformance.harnesses import IN_POSTGRES
from tests.postgres.shared_server import needs_postgres

PROFILE = os.environ.get("SAGA_CONFORMANCE", "quick")
ALWAYS = {
    "state": {"L-10.some_serial_order", "S-12.no_update_is_lost", "L-10.small_beside_large"},
    "graph": {
        "G-7.the_order_of_a_mutation",
        "G-12.refused_mutations_change_nothing",
        "G-13.types_come_back",
        "G-30.expand_walks",
    },
    "vector": {"V-28.nothing_is_missed", "V-18.equal_and_different", "V-11.text_and_types_come_back"},
    "cache": {"C-2.pages_come_back", "C-7.one_moment"},
}
"""What is checked in each run; the rest is left to the long searches."""


def _cases() -> list[Any]:
    found = []
    for name, harness in IN_POSTGRES.items():
        for check in applicable(harness):
            short = "resident" not in name and check.id in ALWAYS[harness.kind]
            found.append(pytest.param(name, check, id=f"{name}-{check.id}", marks=() if short else pytest.mark.deep))
    return found


@needs_postgres
@pytest.mark.parametrize(("name", "check"), _cases())
def test_it_keeps_the_contract(name: str, check: Check) -> None:
    outcome = run_check(IN_POSTGRES[name], check, profile=PROFILE, seed=DEFAULT_SEED)
    told = summary(report_on(IN_POSTGRES[name], [outcome], profile=PROFILE, seed=DEFAULT_SEED))
    assert outcome.status in (Status.PASS, Status.NOT_PROVIDED), told


def test_what_is_always_checked_exists() -> None:
    for harness in IN_POSTGRES.values():
        assert ALWAYS[harness.kind] <= {check.id for check in applicable(harness)}
