"""Checks that input beyond the declared limits, or of the wrong kind, is rejected and changes nothing."""

from __future__ import annotations

from conformance.checks.validation import limits, put_in_wrongly

__all__ = ["limits", "put_in_wrongly"]
