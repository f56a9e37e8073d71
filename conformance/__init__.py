"""The conformance suite: proves that a store keeps the contract of its protocol, whoever wrote it.

``test_mine = conforms(HARNESS)`` in a pytest file, or ``python -m conformance run package.module:HARNESS``.
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

# Imported when they are first asked for: second processes and modules of harnesses need few of them.
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
