"""The committed reports are of this contract and these engines, and the page is made from them."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance import CONTRACT_VERSION, Verdict
from conformance.report import Report, Status, from_json, matrix_page, to_json
from conformance.runner import applicable
from conformance.spec import clauses
from tests.conformance.harnesses import HARNESSES

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "conformance"
AGAIN = "make it anew: python -m tests.conformance.write_reports"


def report(name: str) -> Report:
    return from_json((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def test_the_page_is_made_from_the_reports() -> None:
    made = matrix_page(sorted(FOLDER.glob("*.json")))
    assert (FOLDER / "README.md").read_text(encoding="utf-8") == made, AGAIN


def test_every_engine_has_a_report_and_no_report_is_left_over() -> None:
    assert {file.stem for file in FOLDER.glob("*.json")} == set(HARNESSES), AGAIN


@pytest.mark.parametrize("name", HARNESSES)
def test_a_report_is_of_this_suite_and_says_conformant(name: str) -> None:
    found, harness = report(name), HARNESSES[name]
    assert found.verdict is Verdict.CONFORMANT
    assert found.contract == CONTRACT_VERSION, AGAIN
    assert [outcome.check for outcome in found.outcomes] == [check.id for check in applicable(harness)], AGAIN
    assert found.provides == tuple(sorted(harness.provides)), AGAIN
    assert found.deviations == dict(harness.deviations), AGAIN
    assert {clauses()[name].level for name in found.deviations} <= {"SHOULD"}
    assert found.base[0] == found.base[1] == sum(not outcome.extended for outcome in found.outcomes)
    assert not found.doubts
    lacking = {check.id for check in applicable(harness) if check.given - harness.provides}
    for outcome in found.outcomes:
        wanted = Status.NOT_PROVIDED if outcome.check in lacking else Status.PASS
        if set(outcome.clauses) & set(harness.deviations):
            wanted = Status.DEVIATION
        assert outcome.status is wanted, outcome.check


@pytest.mark.parametrize("name", HARNESSES)
def test_a_report_is_read_as_it_was_written(name: str) -> None:
    text = (FOLDER / f"{name}.json").read_text(encoding="utf-8")
    assert to_json(from_json(text)) == text
