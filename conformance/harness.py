"""Harness: what an author says about a backend, and all that the suite needs of it."""

from __future__ import annotations

import importlib
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from attrs import field, frozen, validators

from conformance.spec import KINDS, clauses
from saga_core.capabilities import Capability
from saga_core.errors import BadInput
from saga_core.stores import Limits


def _known_clauses(_harness: object, _attribute: object, deviations: Mapping[str, str]) -> None:
    for clause, reason in deviations.items():
        if clause not in clauses():
            raise BadInput(f"deviations: no clause {clause!r}; the spec pages have them")
        if not reason.strip():
            raise BadInput(f"deviations[{clause!r}]: is empty; say why the clause is not kept")


def _frozen(provides: Iterable[Capability]) -> frozenset[Capability]:
    return frozenset(provides)


@frozen
class RawRead:
    """Statements of a graph engine's own language, for stores that declare ``RAW_QUERY``."""

    rows: str
    """Reads; gives two rows or more once a scope holds three nodes."""
    writes: tuple[str, ...]
    """Would change something, each in its way."""


@frozen
class Harness:
    """A backend and its claims."""

    name: str
    kind: str = field(validator=validators.in_(KINDS))
    open: Callable[[Path], Awaitable[Any]]
    """A store that is ready to use, on what lies in this directory; the directory exists. For a durable store a
    function of an importable module, or a ``functools.partial`` of one: a second process opens the store with it."""
    provides: frozenset[Capability] = field(default=frozenset(), converter=_frozen)
    limits: Limits = field(factory=Limits)
    deviations: Mapping[str, str] = field(factory=dict, validator=_known_clauses)
    """Clauses that the backend is known not to keep, and why."""
    recall: float = 1.0
    """The share of the true nearest that an approximate vector store finds."""
    retries: int = 0
    """How often a call is made again that raised ``StoreUnavailable``: for a service that refuses now and then."""
    raw: RawRead | None = None
    """Needed when ``RAW_QUERY`` is provided."""


def load_harness(place: str) -> Harness:
    """The harness at ``package.module:NAME``. Raises ``BadInput`` when there is none."""
    module, _, name = place.partition(":")
    if not module or not name:
        raise BadInput(f"harness: {place!r}; give package.module:NAME")
    try:
        found = importlib.import_module(module)
    except ImportError as error:
        raise BadInput(f"harness: {place!r} cannot be imported: {error}") from error
    if not hasattr(found, name):
        raise BadInput(f"harness: {module} has no {name}; give package.module:NAME of a conformance.Harness")
    harness = getattr(found, name)
    if not isinstance(harness, Harness):
        raise BadInput(f"harness: {place!r} is a {type(harness).__name__}; give a conformance.Harness")
    return harness
