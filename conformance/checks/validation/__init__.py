"""Validation: what is beyond the declared limits or no value at all is refused, and changes nothing."""

from __future__ import annotations

from conformance.checks.validation import limits, put_in_wrongly

__all__ = ["limits", "put_in_wrongly"]
