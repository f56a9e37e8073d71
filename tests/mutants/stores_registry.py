"""Wrong backends by the clause that each of them breaks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from attrs import frozen

from conformance import Capability, Harness, RawRead

T = TypeVar("T", bound=type[Any])

RAW = RawRead(rows="nodes", writes=("forget",))


@frozen
class Mutant:
    """A wrong backend."""

    name: str
    clause: str
    file: str
    harness: Harness


MUTANTS: dict[str, Mutant] = {}


async def opened(kind: type[Any], path: Path) -> Any:
    """A store of this class, on ``path`` when it keeps files."""
    store = kind()
    begin = getattr(store, "begin", None)
    if begin is not None:
        begin(path)
    return store


def harness(kind: type[Any], *provides: Capability, recall: float = 1.0) -> Harness:
    """A harness that believes what the class says of itself."""
    store = kind()
    says = frozenset(provides) or store.info.capabilities
    journal = partial(opened, kind.journal) if hasattr(kind, "journal") else None
    name, opener = kind.__name__, partial(opened, kind)
    return Harness(name, store.info.kind, opener, says, recall=recall, journal=journal, raw=RAW)


def breaks(clause: str, *provides: Capability, recall: float = 1.0) -> Callable[[T], T]:
    """Register the decorated class as a backend that breaks ``clause``."""

    def register(kind: T) -> T:
        _register(MUTANTS, kind, clause, harness(kind, *provides, recall=recall))
        return kind

    return register


CAPS = (500, 1_000, 2_000, 5_000, 8_192, 10_000)
"""Numbers at which engines, and those who wrap them, leave off."""

CAPPED: dict[str, Mutant] = {}
"""Backends that are right up to one of these numbers."""


def capped(clause: str, *provides: Capability, of_a_batch: bool = False) -> Callable[[T], T]:
    """Register the decorated class once for each of ``CAPS``, which is its ``cap`` then.

    What is counted in ``of_a_batch`` has no more than 10,000 by default: the last cap is one less there.
    """

    def register(kind: T) -> T:
        for cap in CAPS:
            cut = min(cap, 9_999) if of_a_batch else cap
            made: T = type(f"{kind.__name__}{cut}", (kind,), {"cap": cut, "__module__": kind.__module__})
            _register(CAPPED, made, clause, harness(made, *provides))
        return kind

    return register


def _register(into: dict[str, Mutant], kind: type[Any], clause: str, told: Harness) -> None:
    name = f"{told.kind}.{kind.__name__}"
    if name in into:
        raise RuntimeError(f"two mutants are called {name}")
    into[name] = Mutant(name, clause, kind.__module__, told)


def renaming(kind: type[Any], methods: str, rename: Callable[[str], str]) -> None:
    """Let the ``methods`` of the class see their scope under another name."""

    def wrapped(method: str) -> Callable[..., Any]:
        async def call(self: Any, scope: Any, *args: Any, **options: Any) -> Any:
            changed = rename(scope) if isinstance(scope, str) and scope else scope
            return await getattr(super(kind, self), method)(changed, *args, **options)

        return call

    for method in methods.split():
        setattr(kind, method, wrapped(method))
