"""Checks as data: the function, the clauses that it covers, and the stores that it applies to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from inspect import unwrap

from attrs import evolve, frozen

from conformance.case import Case
from conformance.spec import KINDS, clauses
from saga_core.capabilities import Capability

Run = Callable[[Case], Awaitable[str | None] | str | None]


@frozen
class Check:
    """One check. ``run`` is a coroutine function, or a plain function that drives the case's event loop itself."""

    id: str
    clauses: tuple[str, ...]
    kinds: tuple[str, ...]
    run: Run
    given: frozenset[Capability] = frozenset()
    """Required capabilities. Without them the outcome is "not provided"."""
    unless: frozenset[Capability] = frozenset()
    """Capabilities that exclude the check."""
    search: bool = False
    """Whether this is a long random search over several clauses rather than an example of one."""
    durable: tuple[str, ...] = ()
    """Additional clauses for durable stores, whose data the check reads again after a reopening."""

    @property
    def extended(self) -> bool:
        """Whether the check concerns a declared capability rather than the base contract."""
        return bool(self.given)

    @property
    def must(self) -> bool:
        """Whether any of the check's clauses is a MUST."""
        return any(clauses()[name].level == "MUST" for name in self.clauses)

    @property
    def place(self) -> str:
        """File and line of the check's function, as ``conformance/checks/graph.py:17``."""
        code = unwrap(self.run).__code__
        return f"{self.run.__module__.replace('.', '/')}.py:{code.co_firstlineno}"

    def concerns(self, kind: str, provides: frozenset[Capability]) -> bool:
        """Whether the suite for such a store includes the check, even if it is "not provided"."""
        return kind in self.kinds and not self.unless & provides

    def of(self, provides: frozenset[Capability]) -> Check:
        """The check for a store with these capabilities, including the ``durable`` clauses if the store is durable."""
        return evolve(self, clauses=(*self.clauses, *self.durable)) if Capability.DURABLE in provides else self


REGISTERED: dict[str, Check] = {}
"""Every check of the imported modules, by id. ``conformance.checks`` imports all modules."""


def check(
    *names: str,
    kinds: tuple[str, ...] = (),
    given: tuple[Capability, ...] = (),
    search: bool = False,
    durable: tuple[str, ...] = (),
) -> Callable[[Run], Run]:
    """Register the decorated function as the check of the clauses ``names``, and of ``durable`` for durable stores.

    The kinds and capabilities come from the clauses. ``kinds`` narrows the kinds, and ``given`` adds capabilities. The
    check's id is its first clause and the function's name; that of a search begins with the kind of store instead.
    """

    def register(run: Run) -> Run:
        about = [clauses()[name] for name in names if name in clauses()]
        bound = kinds or tuple(kind for kind in KINDS if all(kind in part.kinds for part in about))
        from_clauses = () if search else about
        made = Check(
            id=f"{bound[0] if search else names[0]}.{getattr(run, '__name__', 'check')}",
            clauses=names,
            kinds=bound,
            run=run,
            given=frozenset(given) | {part.given for part in from_clauses if part.given is not None},
            unless=frozenset(part.unless for part in from_clauses if part.unless is not None),
            search=search,
            durable=durable,
        )
        if made.id in REGISTERED:
            raise RuntimeError(f"two checks have the id {made.id}")
        REGISTERED[made.id] = made
        return run

    return register


def check_each(*names: str, search: bool = False) -> Callable[[Run], Run]:
    """Register the decorated function once for each kind of store, as the check of those clauses that are its own."""

    def register(run: Run) -> Run:
        for kind in KINDS:
            own = dict.fromkeys(name for name in names if clauses()[name].page == kind)
            if own:
                check(*own, kinds=(kind,), search=search)(run)
        return run

    return register
