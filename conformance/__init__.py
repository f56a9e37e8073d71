"""The conformance suite: proves that a store keeps the contract of its protocol, whoever wrote it.

``test_mine = conforms(HARNESS)`` in a pytest file, or ``python -m conformance run package.module:HARNESS``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.check import CheckFailed
from conformance.harness import Harness, RawRead, load_harness
from conformance.report import Outcome, Report, Status, Verdict
from conformance.runner import run
from saga_core.capabilities import Capability

CONTRACT_VERSION = "1.3"
"""The version of the clauses in ``conformance/spec``. The second number grows when one is added or made stricter."""


def conforms(harness: Harness, *, profile: str | None = None, seed: int | None = None) -> Callable[..., Any]:
    """A test function for pytest, one case for each check that concerns ``harness``."""
    from conformance.pytest_front import conforms as front

    return front(harness, profile=profile, seed=seed)


__all__ = [
    "CONTRACT_VERSION",
    "Capability",
    "CheckFailed",
    "Harness",
    "Outcome",
    "RawRead",
    "Report",
    "Status",
    "Verdict",
    "conforms",
    "load_harness",
    "run",
]
