"""The verdict on a run, from nothing but its outcomes and from whether the suite is whole."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.catalog import registered
from conformance.harness import Harness
from conformance.report.outcome import Outcome, Status, Verdict
from conformance.spec import clauses


def judged(
    found: Sequence[Outcome], doubts: tuple[str, ...] = ()
) -> tuple[Verdict, tuple[str, ...], tuple[int, int], tuple[int, int]]:
    """Verdict, reasons and the two counts, from nothing but outcomes: whoever prints a verdict makes it anew."""
    base = [outcome for outcome in found if not outcome.extended and outcome.status is not Status.STALE]
    extended = [outcome for outcome in found if outcome.extended]
    verdict, reasons = (Verdict.INVALID, doubts) if doubts else _judge(found, base)
    return verdict, reasons, (_passed(base), len(base)), (_passed(extended), len(extended))


def _passed(outcomes: Sequence[Outcome]) -> int:
    return sum(outcome.status is Status.PASS for outcome in outcomes)


def stale_deviations(harness: Harness, outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Claimed deviations that no check found, though all of the clause's checks were run."""
    stale = []
    for clause, reason in harness.deviations.items():
        about = [outcome for outcome in outcomes if clause in outcome.clauses]
        ran = [outcome for outcome in about if outcome.status is not Status.NOT_RUN]
        if len(ran) == len(about) and not any(outcome.status is Status.DEVIATION for outcome in ran):
            detail = f"the harness says that {clause} is not kept ({reason}), and it is; remove the deviation"
            stale.append(Outcome(f"deviation.{clause}", (clause,), Status.STALE, detail))
    return stale


def _judge(found: Sequence[Outcome], base: Sequence[Outcome]) -> tuple[Verdict, tuple[str, ...]]:
    untied = suite_problems()
    if untied:
        return Verdict.INVALID, untied
    if not any(outcome.status in (Status.PASS, Status.FAIL, Status.DEVIATION) for outcome in base):
        return Verdict.INVALID, ("no base check was run",)
    red = [o for o in found if o.status is Status.STALE or (o.status is Status.FAIL and o.must)]
    if red:
        return Verdict.NONCONFORMANT, tuple(f"{o.check} ({', '.join(o.clauses[:4])}): {o.status}" for o in red)
    open_ = [o for o in found if o.status is Status.NOT_RUN or (o.status is Status.DEVIATION and o.must)]
    if open_:
        return Verdict.PARTIAL, tuple(f"{o.check} ({', '.join(o.clauses[:4])}): {o.status}" for o in open_)
    return Verdict.CONFORMANT, ()


def suite_problems() -> tuple[str, ...]:
    """Clauses without a check, and checks of clauses that do not exist."""
    tied = {name for check in registered() if not check.search for name in check.clauses}
    problems = [f"clause {name} has no check of its own" for name in clauses() if name not in tied]
    for check in registered():
        named = (*check.clauses, *check.durable)
        problems += [f"check {check.id} names the unknown clause {n}" for n in named if n not in clauses()]
    return tuple(problems)
