"""The conformance suite: checks that a storage backend keeps the contract of its protocol.

Put ``test_mine = conforms(HARNESS)`` into a pytest file, or run ``python -m conformance run package.module:HARNESS``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from saga_core.lazy_face import lazy_face

if TYPE_CHECKING:
    from conformance.assertions import CheckFailed
    from conformance.harness import Harness, RawRead, load_harness
    from conformance.pytest_front import conforms
    from conformance.report import Outcome, Report, Status, Verdict
    from conformance.runner import run
    from conformance.spec import CONTRACT_VERSION
    from saga_core.capabilities import Capability

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

# Each name is imported on first use, because second processes and harness modules need only a few of them.
__getattr__ = lazy_face(
    {
        "CONTRACT_VERSION": "conformance.spec:CONTRACT_VERSION",
        "Capability": "saga_core.capabilities:Capability",
        "CheckFailed": "conformance.assertions:CheckFailed",
        "Harness": "conformance.harness:Harness",
        "Outcome": "conformance.report:Outcome",
        "RawRead": "conformance.harness:RawRead",
        "Report": "conformance.report:Report",
        "Status": "conformance.report:Status",
        "Verdict": "conformance.report:Verdict",
        "conforms": "conformance.pytest_front:conforms",
        "load_harness": "conformance.harness:load_harness",
        "run": "conformance.runner:run",
    }
)
