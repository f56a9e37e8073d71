"""Checks as data: what is run, for which clauses, and when it applies."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from attrs import evolve, frozen

from conformance.case import Case
from conformance.spec import KINDS, Clause, clauses
from saga_core.capabilities import Capability

Run = Callable[[Case], Awaitable[str | None] | str | None]


@frozen
class Check:
    """One check. ``run`` is a coroutine function, or a plain one that drives the case's loop itself."""

    id: str
    clauses: tuple[str, ...]
    kinds: tuple[str, ...]
    run: Run
    given: frozenset[Capability] = frozenset()
    """Capabilities without which it is "not provided"."""
    unless: frozenset[Capability] = frozenset()
    """Capabilities with which it has nothing to say."""
    search: bool = False
    """A long random search over several clauses rather than an example of one."""
    durable: tuple[str, ...] = ()
    """Clauses that it is about besides, where the store is durable: it opens again what it has written."""

    @property
    def extended(self) -> bool:
        """Whether it is about a declared capability rather than the base contract."""
        return bool(self.given)

    @property
    def must(self) -> bool:
        """Whether any of its clauses is a MUST."""
        return any(clauses()[name].level == "MUST" for name in self.clauses)

    def concerns(self, kind: str, provides: frozenset[Capability]) -> bool:
        """Whether it is part of the suite for such a store, run or "not provided"."""
        return kind in self.kinds and not self.unless & provides

    def of(self, provides: frozenset[Capability]) -> Check:
        """The check as it is for a store with these capabilities."""
        return evolve(self, clauses=(*self.clauses, *self.durable)) if Capability.DURABLE in provides else self


REGISTERED: dict[str, Check] = {}
"""Every check of the modules that were imported, by id. All of them: ``conformance.catalog``."""


def check(
    *names: str,
    kinds: tuple[str, ...] = (),
    given: tuple[Capability, ...] = (),
    search: bool = False,
    durable: tuple[str, ...] = (),
) -> Callable[[Run], Run]:
    """Register the decorated function as the check of the clauses ``names``, and of ``durable`` for durable stores.

    Kinds and capabilities are those of the clauses; ``kinds`` narrows them, ``given`` adds to them.
    """

    def register(run: Run) -> Run:
        about = [clauses()[name] for name in names if name in clauses()]
        name = getattr(run, "__name__", "check")
        prefix = str(getattr(run, "__module__", "")).rsplit(".", 1)[-1]
        found = Check(
            id=f"{prefix}.{name}",
            clauses=names,
            kinds=kinds or _common(about),
            run=run,
            given=frozenset(given)
            | ({part.given for part in about if part.given is not None} if not search else set()),
            unless=frozenset(part.unless for part in about if part.unless is not None) if not search else frozenset(),
            search=search,
            durable=durable,
        )
        if found.id in REGISTERED:
            raise RuntimeError(f"two checks have the id {found.id}")
        REGISTERED[found.id] = found
        return run

    return register


def _common(about: list[Clause]) -> tuple[str, ...]:
    return tuple(kind for kind in KINDS if all(kind in part.kinds for part in about))
