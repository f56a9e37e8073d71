"""The ``Report`` of a whole run, with its counts and its verdict."""

from __future__ import annotations

import platform
import sys
from collections.abc import Sequence
from importlib.metadata import version

from attrs import frozen

from conformance.harness import Harness
from conformance.report.digest import suite_digest
from conformance.report.outcome import Outcome, Verdict
from conformance.report.verdict import judged, stale_deviations
from conformance.spec import CONTRACT_VERSION


@frozen
class Report:
    """The report of a whole run."""

    name: str
    kind: str
    verdict: Verdict
    reasons: tuple[str, ...]
    """The reasons why the verdict is not better."""
    base: tuple[int, int]
    """The number of base checks that passed, and the number of all base checks."""
    extended: tuple[int, int]
    """The number of capability checks that passed, and of all. A check that is not provided counts as not passed."""
    provides: tuple[str, ...]
    outcomes: tuple[Outcome, ...]
    profile: str
    seed: int
    contract: str
    suite: str
    """The digest of the suite's own files."""
    versions: dict[str, str]
    deviations: dict[str, str]
    runs: int = 1
    """How often the checks that use the seed were run."""
    doubts: tuple[str, ...] = ()
    """The reasons not to trust the run, whatever its outcomes are."""


def report_on(
    harness: Harness,
    outcomes: Sequence[Outcome],
    *,
    profile: str,
    seed: int,
    engine: str = "",
    runs: int = 1,
    doubts: tuple[str, ...] = (),
) -> Report:
    """Make the report: find stale deviations, count the outcomes and decide the verdict."""
    found = [*outcomes, *stale_deviations(harness, outcomes)]
    verdict, reasons, base, extended = judged(found, doubts)
    return Report(
        name=harness.name,
        kind=harness.kind,
        verdict=verdict,
        reasons=reasons,
        base=base,
        extended=extended,
        provides=tuple(sorted(harness.provides)),
        outcomes=tuple(found),
        profile=profile,
        seed=seed,
        contract=CONTRACT_VERSION,
        suite=suite_digest(),
        versions=_versions(engine),
        deviations=dict(harness.deviations),
        runs=runs,
        doubts=doubts,
    )


def _versions(engine: str) -> dict[str, str]:
    return {
        "engine": engine,
        "saga": version("saga-rp"),
        "python": platform.python_version(),
        "platform": f"{sys.platform} {platform.machine()}",
        "hypothesis": version("hypothesis"),
    }
