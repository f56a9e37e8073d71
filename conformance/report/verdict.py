"""The verdict on a run, computed only from its outcomes, the doubts and the integrity of the suite."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.catalog import registered
from conformance.harness import Harness
from conformance.report.outcome import Outcome, Status, Verdict
from conformance.spec import clauses


def judged(
    found: Sequence[Outcome], doubts: tuple[str, ...] = ()
) -> tuple[Verdict, tuple[str, ...], tuple[int, int], tuple[int, int]]:
    """Compute verdict, reasons and the two counts from outcomes alone. Readers of a report recompute them."""
    base = [outcome for outcome in found if not outcome.extended and outcome.status is not Status.STALE]
    extended = [outcome for outcome in found if outcome.extended]
    verdict, reasons = (Verdict.INVALID, doubts) if doubts else _judge(found, base)
    return verdict, reasons, (_passed(base), len(base)), (_passed(extended), len(extended))


def _passed(outcomes: Sequence[Outcome]) -> int:
    return sum(outcome.status is Status.PASS for outcome in outcomes)


def stale_deviations(harness: Harness, outcomes: Sequence[Outcome]) -> list[Outcome]:
    """An outcome for each declared deviation that no check found, although all checks of the clause were run."""
    stale = []
    for clause, reason in harness.deviations.items():
        about = [outcome for outcome in outcomes if clause in outcome.clauses]
        ran = [outcome for outcome in about if outcome.status is not Status.NOT_RUN]
        if len(ran) == len(about) and not any(outcome.status is Status.DEVIATION for outcome in ran):
            detail = f"the harness declares a deviation from {clause} ({reason}), but none was found; remove it"
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
    """Describe clauses without a check and checks that name unknown clauses."""
    tied = {name for check in registered() if not check.search for name in check.clauses}
    problems = [f"clause {name} has no check of its own" for name in clauses() if name not in tied]
    for check in registered():
        named = (*check.clauses, *check.durable)
        problems += [f"check {check.id} names the unknown clause {n}" for n in named if n not in clauses()]
    return tuple(problems)
