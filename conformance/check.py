"""Checks as data: what is run, for which clauses, and when it applies."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import evolve, frozen

from conformance.spec import KINDS, Clause, clauses
from saga_core.capabilities import Capability
from saga_core.errors import SagaError

if TYPE_CHECKING:
    from conformance.case import Case

T = TypeVar("T")

Run = Callable[["Case"], Awaitable[str | None] | str | None]


class CheckFailed(Exception):
    """The store broke a clause. Raised, never asserted, so that ``python -O`` changes nothing."""

    def __init__(self, message: str, *, clause: str = "") -> None:
        self.clause = clause
        """The clause that was broken, where the check is about several."""
        super().__init__(message)


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


_checks: dict[str, Check] = {}


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
        if found.id in _checks:
            raise RuntimeError(f"two checks have the id {found.id}")
        _checks[found.id] = found
        return run

    return register


def _common(about: list[Clause]) -> tuple[str, ...]:
    return tuple(kind for kind in KINDS if all(kind in part.kinds for part in about))


def registered() -> tuple[Check, ...]:
    """Every check, in the order of ids: that of registration depends on what was imported first."""
    import conformance.checks
    import conformance.machines  # noqa: F401 - both register their checks when they are imported

    return tuple(_checks[name] for name in sorted(_checks))


def require(condition: object, message: str, *, clause: str = "") -> None:
    """Raise ``CheckFailed`` unless ``condition`` holds."""
    if not condition:
        raise CheckFailed(message, clause=clause)


def same(found: Any, wanted: Any, what: str, *, clause: str = "") -> None:
    """Raise ``CheckFailed`` unless both are equal, types included."""
    from conformance.calls import typed

    if typed(found) != typed(wanted):
        raise CheckFailed(f"{what}: gave {_shown(found)}, expected {_shown(wanted)}", clause=clause)


async def refused(error: type[SagaError], made: Awaitable[T], what: str) -> SagaError:
    """The error that ``made`` raises. Raises ``CheckFailed`` when it raises another one, or none."""
    try:
        result = await made
    except error as caught:
        return caught
    except SagaError as other:
        raise CheckFailed(f"{what}: raised {type(other).__name__} ({other}), expected {error.__name__}") from other
    raise CheckFailed(f"{what}: gave {_shown(result)}, expected {error.__name__}")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 600 else f"{text[:600]}… ({len(text)} characters)"
