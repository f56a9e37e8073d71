"""The ``Harness``, with which an author describes a backend to the suite."""

from __future__ import annotations

import importlib
import traceback
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from attrs import field, frozen

from conformance.spec import KINDS, clauses
from saga_core.capabilities import Capability
from saga_core.errors import BadInput
from saga_core.stores import Limits


def _known_clauses(_harness: object, _attribute: object, deviations: Any) -> None:
    if not isinstance(deviations, Mapping):
        raise BadInput(f"deviations: is a {type(deviations).__name__}; give a mapping of clauses to reasons")
    for clause, reason in deviations.items():
        if clause not in clauses():
            raise BadInput(f"deviations: unknown clause {clause!r}; `python -m conformance clauses` lists them")
        if not reason.strip():
            raise BadInput(f"deviations[{clause!r}]: is empty; give the reason why the clause is not kept")


def _known_kind(_harness: object, _attribute: object, kind: str) -> None:
    if kind not in KINDS:
        raise BadInput(f"kind: {kind!r} is no kind of store; give one of {', '.join(KINDS)}")


def _callable(_harness: object, attribute: Any, opener: Any) -> None:
    if not callable(opener) and (opener is not None or attribute.default is not None):
        raise BadInput(f"{attribute.name}: is a {type(opener).__name__}; give a coroutine function that takes a folder")


def _callable_contents(_harness: object, _attribute: object, contents: Any) -> None:
    if not callable(contents):
        raise BadInput(f"contents: is a {type(contents).__name__}; give a function that takes a file and returns bytes")


def _capabilities(provides: Iterable[Capability | str]) -> frozenset[Capability]:
    given = [provides] if isinstance(provides, str) else list(provides)
    unknown = [each for each in given if each not in list(Capability)]
    if unknown:
        raise BadInput(f"provides: {unknown[0]!r} is no capability; give some of {', '.join(Capability)}")
    return frozenset(map(Capability, given))


def _made(kind: type) -> Callable[[object, Any, Any], None]:
    def fits(_harness: object, attribute: Any, value: Any) -> None:
        if not isinstance(value, kind) and (value is not None or attribute.default is not None):
            raise BadInput(f"{attribute.name}: is a {type(value).__name__}; give a {kind.__name__}")

    return fits


def _within(least: float, most: float) -> Callable[[object, Any, Any], None]:
    def fits(_harness: object, attribute: Any, value: Any) -> None:
        if not isinstance(value, int | float) or not least <= value <= most:
            raise BadInput(f"{attribute.name}: is {value!r}; give a number from {least:g} to {most:g}")

    return fits


@frozen
class RawRead:
    """Statements in a graph engine's own language, for stores that declare ``RAW_QUERY``."""

    rows: str
    """A reading statement that returns at least two rows once a scope holds three nodes."""
    writes: tuple[str, ...]
    """Statements that would change something, each in a different way. ``query`` has to refuse them."""


@frozen
class Harness:
    """A backend and its claims about itself."""

    name: str
    kind: str = field(validator=_known_kind)
    open: Callable[[Path], Awaitable[Any]] = field(validator=_callable)
    """Opens the store in the given directory, which exists, and returns it ready to use. For a durable store this must
    be a function of an importable module, or a ``functools.partial`` of one, so a second process can open the store."""
    provides: frozenset[Capability] = field(default=frozenset(), converter=_capabilities)
    limits: Limits = field(factory=Limits, validator=_made(Limits))
    deviations: Mapping[str, str] = field(factory=dict, validator=_known_clauses)
    """Known deviations: the clauses that the backend does not keep, with the reason for each."""
    recall: float = field(default=1.0, validator=_within(0, 1))
    """The share of the true nearest neighbours that an approximate vector store finds."""
    retries: int = field(default=0, validator=_within(0, 100))
    """How often to retry a call that raised ``StoreUnavailable``, for services that occasionally reject calls."""
    contents: Callable[[Path], bytes] = field(default=Path.read_bytes, validator=_callable_contents)
    """What a file of the store holds, for a store that compresses or encrypts and declares ``COMPACTS``: everything
    that is in the file, decoded, not only what the store would still return."""
    journal: Callable[[Path], Awaitable[Any]] | None = field(default=None, validator=_callable)
    """Opens the StateKV of the same engine that has the same ``info.identity``, in the same directory. Required if
    ``SHARED`` is provided by a graph, vector or cache store, whose writes a row of the journal fences."""
    raw: RawRead | None = field(default=None, validator=_made(RawRead))
    """Required if ``RAW_QUERY`` is provided."""


def _line_of(error: BaseException) -> str:
    """The line of the module that could not be imported; empty if there is no such module."""
    lines = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.name == "<module>"]
    return f" ({lines[-1].filename}:{lines[-1].lineno})" if lines else ""


def load_harness(place: str) -> Harness:
    """Load the harness at ``package.module:NAME``. Raises ``BadInput`` if there is none."""
    module, _, name = place.partition(":")
    if not module or not name:
        raise BadInput(f"harness: {place!r}; give package.module:NAME")
    try:
        found = importlib.import_module(module)
    except (Exception, SystemExit) as error:  # whatever the module does when it is imported
        told = str(error) if isinstance(error, BadInput) else f"{type(error).__name__}: {error}"
        raise BadInput(f"harness: {place!r} cannot be imported: {told}{_line_of(error)}") from error
    if not hasattr(found, name):
        raise BadInput(f"harness: {module} has no {name}; give package.module:NAME of a conformance.Harness")
    harness = getattr(found, name)
    if not isinstance(harness, Harness):
        raise BadInput(f"harness: {place!r} is a {type(harness).__name__}; give a conformance.Harness")
    return harness
