"""Report: a whole run with its counts and its verdict."""

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
    """A whole run."""

    name: str
    kind: str
    verdict: Verdict
    reasons: tuple[str, ...]
    """Why the verdict is no better."""
    base: tuple[int, int]
    """How many base checks passed, of how many."""
    extended: tuple[int, int]
    """How many checks of capabilities passed, of how many there are; what is not provided counts as not passed."""
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
    """How often what draws from the seed was done."""
    doubts: tuple[str, ...] = ()
    """Why the run is not to be trusted, whatever its outcomes say."""


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
    """Count, find stale deviations, and judge."""
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
