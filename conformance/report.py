"""What came of a run: outcomes, counts and a verdict, as JSON, JUnit and Markdown."""

from __future__ import annotations

import hashlib
import json
import platform
import re
import sys
from collections.abc import Sequence
from enum import StrEnum
from importlib.metadata import version
from importlib.resources import files
from typing import Any
from xml.etree import ElementTree

from attrs import asdict, frozen

from conformance.harness import Harness
from conformance.spec import clauses
from saga_core.capabilities import Capability

FORMAT = 1
_RUN = re.compile(r"([^\s])\1{63,}")


class Status(StrEnum):
    """How a check ended."""

    PASS = "pass"
    FAIL = "fail"
    NOT_PROVIDED = "not provided"
    DEVIATION = "deviation"
    STALE = "stale deviation"
    NOT_RUN = "not run"


class Verdict(StrEnum):
    """What the run says of the backend."""

    CONFORMANT = "conformant"
    """Every base check and every check of a declared capability passed."""
    PARTIAL = "partial"
    """Nothing failed, but something was not run, or a MUST is not kept, as the harness says."""
    NONCONFORMANT = "nonconformant"
    """A check failed, or a deviation that the harness claims is not there."""
    INVALID = "invalid"
    """The run says nothing: no base check was run, or the suite is not whole."""


@frozen
class Outcome:
    """One check on one backend."""

    check: str
    clauses: tuple[str, ...]
    status: Status
    detail: str = ""
    seconds: float = 0.0
    extended: bool = False
    must: bool = True
    drawn: bool = False
    """Whether it drew from the seed: with another seed it does something else."""


@frozen
class Report:
    """A whole run."""

    name: str
    kind: str
    verdict: Verdict
    reasons: tuple[str, ...]
    """Why the verdict is no better."""
    base: tuple[int, int]
    """How many base checks passed, of how many."""
    extended: tuple[int, int]
    """How many checks of capabilities passed, of how many there are; what is not provided counts as not passed."""
    provides: tuple[str, ...]
    outcomes: tuple[Outcome, ...]
    profile: str
    seed: int
    contract: str
    suite: str
    """The digest of the suite's own files."""
    versions: dict[str, str]
    deviations: dict[str, str]
    runs: int = 1
    """How often what draws from the seed was done."""
    doubts: tuple[str, ...] = ()
    """Why the run is not to be trusted, whatever its outcomes say."""


def report_on(
    harness: Harness,
    outcomes: Sequence[Outcome],
    *,
    profile: str,
    seed: int,
    engine: str = "",
    runs: int = 1,
    doubts: tuple[str, ...] = (),
) -> Report:
    """Count, find stale deviations, and judge."""
    from conformance import CONTRACT_VERSION

    found = [*outcomes, *_stale(harness, outcomes)]
    verdict, reasons, base, extended = judged(found, doubts)
    return Report(
        name=harness.name,
        kind=harness.kind,
        verdict=verdict,
        reasons=reasons,
        base=base,
        extended=extended,
        provides=tuple(sorted(harness.provides)),
        outcomes=tuple(found),
        profile=profile,
        seed=seed,
        contract=CONTRACT_VERSION,
        suite=suite_digest(),
        versions=_versions(engine),
        deviations=dict(harness.deviations),
        runs=runs,
        doubts=doubts,
    )


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


def _stale(harness: Harness, outcomes: Sequence[Outcome]) -> list[Outcome]:
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
    from conformance.check import registered

    tied = {name for check in registered() if not check.search for name in check.clauses}
    problems = [f"clause {name} has no check of its own" for name in clauses() if name not in tied]
    for check in registered():
        named = (*check.clauses, *check.durable)
        problems += [f"check {check.id} names the unknown clause {n}" for n in named if n not in clauses()]
    return tuple(problems)


def suite_digest() -> str:
    """A digest of every file of the suite, so that a report says with which one it was made."""
    total = hashlib.sha256()

    def walk(folder: Any, path: str) -> None:
        for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
            name = f"{path}/{entry.name}"
            if entry.is_dir() and entry.name != "__pycache__":
                walk(entry, name)
            elif entry.name.endswith((".py", ".md")):
                total.update(name.encode() + b"\0" + entry.read_bytes())

    walk(files("conformance"), "")
    return total.hexdigest()[:16]


def _versions(engine: str) -> dict[str, str]:
    return {
        "engine": engine,
        "saga": version("saga-rp"),
        "python": platform.python_version(),
        "platform": f"{sys.platform} {platform.machine()}",
        "hypothesis": version("hypothesis"),
    }


# --- forms ---------------------------------------------------------------------------------------------------


def to_json(report: Report) -> str:
    """The report as JSON text."""
    head = {"format": FORMAT, **asdict(report)}
    lines = [json.dumps(entry, ensure_ascii=False, default=str) for entry in head.pop("outcomes")]
    text = json.dumps(head, ensure_ascii=False, indent=1, default=str).removesuffix("\n}")
    return f'{text},\n "outcomes": [\n  ' + ",\n  ".join(lines) + "\n ]\n}\n"


def from_json(text: str) -> Report:
    """The report that ``to_json`` wrote. Its verdict is made anew from the outcomes, whatever the text says."""
    data: dict[str, Any] = json.loads(text)
    data.pop("format")
    outcomes = tuple(
        Outcome(**{**entry, "clauses": tuple(entry["clauses"]), "status": Status(entry["status"])})
        for entry in data["outcomes"]
    )
    doubts = tuple(data.get("doubts", ()))
    verdict, reasons, base, extended = judged([*outcomes, *_lacking(data, outcomes)], doubts)
    made = {"verdict": verdict, "reasons": reasons, "base": base, "extended": extended, "doubts": doubts}
    return Report(**{**data, **made, "outcomes": outcomes, "provides": tuple(data["provides"])})


def _lacking(data: dict[str, Any], outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Checks of this very suite that the report leaves out: they were not run."""
    from conformance.check import registered

    if data["suite"] != suite_digest():
        return []
    known = {outcome.check for outcome in outcomes}
    provides = frozenset(Capability(name) for name in data["provides"])
    return [
        Outcome(check.id, check.clauses, Status.NOT_RUN, extended=check.extended, must=check.must)
        for check in (found.of(provides) for found in registered())
        if check.id not in known and check.concerns(data["kind"], provides)
    ]


def to_junit(report: Report) -> str:
    """The report as JUnit XML, for whatever reads that."""
    suite = ElementTree.Element("testsuite", name=f"conformance {report.name}", tests=str(len(report.outcomes)))
    counts = {"failures": 0, "skipped": 0}
    for outcome in report.outcomes:
        entry = ElementTree.SubElement(
            suite, "testcase", classname=f"conformance.{report.kind}", name=outcome.check, time=str(outcome.seconds)
        )
        if outcome.status in (Status.FAIL, Status.STALE):
            counts["failures"] += 1
            ElementTree.SubElement(entry, "failure", message=_printable(outcome.detail)[:200]).text = _printable(
                outcome.detail
            )
        elif outcome.status is not Status.PASS:
            counts["skipped"] += 1
            ElementTree.SubElement(entry, "skipped", message=_printable(f"{outcome.status} {outcome.detail}")[:200])
    for name, count in counts.items():
        suite.set(name, str(count))
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _printable(text: str) -> str:
    """XML cannot hold control characters."""
    return "".join(sign if sign.isprintable() or sign in "\n\t" else ascii(sign)[1:-1] for sign in text)


def summary(report: Report) -> str:
    """The report in a few lines."""
    lines = [
        f"{report.name} ({report.kind}): {report.verdict}",
        f"base {report.base[0]} of {report.base[1]}, extended {report.extended[0]} of {report.extended[1]}; "
        f"contract {report.contract}, suite {report.suite}, profile {report.profile}, seed {report.seed}"
        + (f", {report.runs} runs" if report.runs > 1 else ""),
    ]
    for outcome in report.outcomes:
        if outcome.status not in (Status.PASS, Status.NOT_PROVIDED, Status.NOT_RUN):
            lines += [f"{outcome.status}: {outcome.check} ({', '.join(outcome.clauses)})", _indented(outcome.detail)]
            lines += [f"  {name} {clauses()[name].level}. {clauses()[name].text}" for name in outcome.clauses[:3]]
    if report.verdict is Verdict.INVALID:
        lines += list(report.reasons)
    return "\n".join(lines)


def _indented(text: str) -> str:
    """For people: of a long value that is one character over and over, how often is enough."""
    brief = _RUN.sub(lambda run: f"{run[1] * 4}…({len(run[0])} of them)…", text)
    return "\n".join(f"  | {line}" for line in brief.splitlines())
