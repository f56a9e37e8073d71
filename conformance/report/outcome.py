"""The ``Outcome`` of a check, its ``Status``, and the ``Verdict`` on a whole run."""

from __future__ import annotations

from enum import StrEnum

from attrs import frozen


class Status(StrEnum):
    """How a check ended."""

    PASS = "pass"
    FAIL = "fail"
    NOT_PROVIDED = "not provided"
    DEVIATION = "deviation"
    STALE = "stale deviation"
    NOT_RUN = "not run"


class Verdict(StrEnum):
    """The verdict of a run on the backend."""

    CONFORMANT = "conformant"
    """Every MUST check of the base contract and of the declared capabilities passed."""
    PARTIAL = "partial"
    """Nothing failed, but a check was not run, or the harness declares a deviation from a MUST."""
    NONCONFORMANT = "nonconformant"
    """A check of a MUST failed, or the harness declares a deviation that does not exist."""
    INVALID = "invalid"
    """The run proves nothing, because no base check was run or the suite is not intact."""


@frozen
class Outcome:
    """The outcome of one check on one backend."""

    check: str
    clauses: tuple[str, ...]
    status: Status
    detail: str = ""
    seconds: float = 0.0
    extended: bool = False
    must: bool = True
    drawn: bool = False
    """Whether the check used the seed and therefore behaves differently with another seed."""
