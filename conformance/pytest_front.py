"""The front end for pytest. It needs no plugin for asynchronous tests."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from conformance.check import Check
from conformance.harness import Harness
from conformance.report import Outcome, Status, report_on, summary
from conformance.runner import DEFAULT_SEED, applicable, run_check

_STALE = "deviations"


def conforms(harness: Harness, *, profile: str | None = None, seed: int | None = None) -> Callable[..., Any]:
    """Return a parametrised test with a case for each check, and one for the deviations if the harness claims any.

    ``profile`` defaults to the environment variable ``SAGA_CONFORMANCE``, and to ``default`` if that is not set.
    A check of a capability that the store does not provide is skipped. A known deviation is an expected failure.
    """
    chosen = profile or os.environ.get("SAGA_CONFORMANCE", "default")
    number = DEFAULT_SEED if seed is None else seed
    checks: list[Check | None] = list(applicable(harness))
    if harness.deviations:
        checks.append(None)

    def test(check: Check | None) -> None:
        if check is None:
            _no_stale_deviations(harness, chosen, number)
            return
        outcome = run_check(harness, check, profile=chosen, seed=number)
        if outcome.status is Status.FAIL:
            told = summary(report_on(harness, [outcome], profile=chosen, seed=number))
            if outcome.must:
                pytest.fail(told, pytrace=False)
            pytest.xfail(f"a SHOULD: {told}")
        if outcome.status is Status.NOT_PROVIDED:
            pytest.skip(f"not provided: {outcome.detail}")
        if outcome.status is Status.DEVIATION:
            pytest.xfail(_reason(harness, outcome))

    test.__name__ = test.__qualname__ = f"test_{harness.name}"
    test.__doc__ = f"{harness.name} keeps the contract of a {harness.kind} store."
    names = [_STALE if check is None else check.id for check in checks]
    return pytest.mark.parametrize("check", checks, ids=names)(test)


def _reason(harness: Harness, outcome: Outcome) -> str:
    return "; ".join(f"{name}: {harness.deviations[name]}" for name in outcome.clauses if name in harness.deviations)


def _no_stale_deviations(harness: Harness, profile: str, seed: int) -> None:
    about = [check for check in applicable(harness) if set(check.clauses) & set(harness.deviations)]
    report = report_on(
        harness, [run_check(harness, check, profile=profile, seed=seed) for check in about], profile=profile, seed=seed
    )
    stale = [outcome.detail for outcome in report.outcomes if outcome.status is Status.STALE]
    if stale:
        pytest.fail("\n".join(stale), pytrace=False)
