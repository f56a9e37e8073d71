"""The catalog of checks. Importing this module imports every module of checks, and thereby registers all checks."""

from __future__ import annotations

from conformance.check import REGISTERED, Check
from conformance.checks import concurrency, durability, lifecycle, operations, scale, validation
from conformance.machines import store_machine

SOURCES = (operations, lifecycle, validation, scale, concurrency, durability, store_machine)
"""The packages and modules that contain the checks."""


def registered() -> tuple[Check, ...]:
    """Every check, sorted by id. The order of registration would depend on the order of imports."""
    return tuple(REGISTERED[name] for name in sorted(REGISTERED))
