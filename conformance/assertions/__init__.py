"""Assertions on the results of a store. They raise exceptions, so ``python -O`` does not disable them."""

from __future__ import annotations

from conformance.assertions.comparison import same, typed
from conformance.assertions.failure import CheckFailed, require
from conformance.assertions.refusals import Refused, refusal, refused

__all__ = ["CheckFailed", "Refused", "refusal", "refused", "require", "same", "typed"]
