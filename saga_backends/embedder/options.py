"""Checks of options that several embedders have. Each raises ``BadInput`` with the name of the option."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from saga_core.errors import BadInput


def check_least(given: Mapping[str, Any], **least: float) -> None:
    """Check that each named option has at least the given value."""
    for name, bound in least.items():
        if given[name] < bound:
            raise BadInput(f"recall.options.{name}: {given[name]!r} is out of range; give at least {bound:g}")


def baseline_or(given: Any, usual: float | None) -> float | None:
    """Return the option ``baseline`` if it is given, and ``usual`` otherwise."""
    if given is None:
        return usual
    if type(given) not in (int, float) or not 0.0 <= given < 1.0:
        raise BadInput(f"recall.options.baseline: {given!r} is no cosine; give a number from 0 to below 1")
    return float(given)
