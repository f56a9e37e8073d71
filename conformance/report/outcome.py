"""Outcome: what came of a check, and the words for it and for a whole run."""

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
    """What the run says of the backend."""

    CONFORMANT = "conformant"
    """Every base check and every check of a declared capability passed."""
    PARTIAL = "partial"
    """Nothing failed, but something was not run, or a MUST is not kept, as the harness says."""
    NONCONFORMANT = "nonconformant"
    """A check failed, or a deviation that the harness claims is not there."""
    INVALID = "invalid"
    """The run says nothing: no base check was run, or the suite is not whole."""


@frozen
class Outcome:
    """One check on one backend."""

    check: str
    clauses: tuple[str, ...]
    status: Status
    detail: str = ""
    seconds: float = 0.0
    extended: bool = False
    must: bool = True
    drawn: bool = False
    """Whether it drew from the seed: with another seed it does something else."""
