"""The checks. Those of a clause of one kind of store are in the module of that name; clauses for all kinds are divided.

``python -m conformance clauses G-17`` prints a clause with the places of its checks.
"""

from __future__ import annotations

from conformance.check import REGISTERED, Check
from conformance.checks import (
    cache,
    concurrency,
    curator,
    durability,
    event_loop,
    graph,
    lifecycle,
    limits,
    names,
    searches,
    several_writers,
    state,
    vector,
)

__all__ = ["registered"]

_MODULES = (
    state,
    graph,
    vector,
    cache,
    curator,
    lifecycle,
    limits,
    names,
    durability,
    concurrency,
    event_loop,
    several_writers,
    searches,
)
"""The modules of checks. Importing them registers the checks."""


def registered() -> tuple[Check, ...]:
    """Every check, sorted by id. The order of registration would depend on the order of imports."""
    return tuple(REGISTERED[name] for name in sorted(REGISTERED))
