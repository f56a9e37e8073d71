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
    return Harness(kind.__name__, store.info.kind, partial(opened, kind), says, recall=recall, raw=RAW)


def breaks(clause: str, *provides: Capability, recall: float = 1.0) -> Callable[[T], T]:
    """Register the decorated class as a backend that breaks ``clause``."""

    def register(kind: T) -> T:
        told = harness(kind, *provides, recall=recall)
        name = f"{told.kind}.{kind.__name__}"
        if name in MUTANTS:
            raise RuntimeError(f"two mutants are called {name}")
        MUTANTS[name] = Mutant(name, clause, kind.__module__, told)
        return kind

    return register


def renaming(kind: type[Any], methods: str, rename: Callable[[str], str]) -> None:
    """Let the ``methods`` of the class see their scope under another name."""

    def wrapped(method: str) -> Callable[..., Any]:
        async def call(self: Any, scope: Any, *args: Any, **options: Any) -> Any:
            changed = rename(scope) if isinstance(scope, str) and scope else scope
            return await getattr(super(kind, self), method)(changed, *args, **options)

        return call

    for method in methods.split():
        setattr(kind, method, wrapped(method))
