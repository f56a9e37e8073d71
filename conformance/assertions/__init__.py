"""Assertions: what a check requires of the answers of a store. They raise, so that ``python -O`` changes nothing."""

from __future__ import annotations

from conformance.assertions.comparison import same, typed
from conformance.assertions.failure import CheckFailed, require
from conformance.assertions.refusals import Refused, refusal, refused

__all__ = ["CheckFailed", "Refused", "refusal", "refused", "require", "same", "typed"]
