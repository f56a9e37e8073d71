"""The catalog of checks. They register themselves when their modules are imported, and here all of them are."""

from __future__ import annotations

from conformance.check import REGISTERED, Check
from conformance.checks import concurrency, durability, lifecycle, operations, scale, validation
from conformance.machines import store_machine

SOURCES = (operations, lifecycle, validation, scale, concurrency, durability, store_machine)
"""Where the checks are."""


def registered() -> tuple[Check, ...]:
    """Every check, in the order of ids: that of registration depends on what was imported first."""
    return tuple(REGISTERED[name] for name in sorted(REGISTERED))
