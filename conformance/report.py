"""The results of a run: outcomes, counts and a verdict, as JSON, JUnit XML, text and Markdown."""

from __future__ import annotations

import hashlib
import json
import platform
import re
import sys
from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import partial
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from attrs import asdict, evolve, frozen

from conformance.assertions import EACH_CALL
from conformance.checks import registered
from conformance.harness import Harness
from conformance.spec import CONTRACT_VERSION, KINDS, Clause, clauses
from saga_core.capabilities import Capability
from saga_core.errors import BadInput


class Status(StrEnum):
    """How a check ended."""

    PASS = "pass"
    FAIL = "fail"
    NOT_PROVIDED = "not provided"
    DEVIATION = "deviation"
    STALE = "stale deviation"
    NOT_RUN = "not run"


class Verdict(StrEnum):
    """The verdict of a run on the backend."""

    CONFORMANT = "conformant"
    """Every MUST check of the base contract and of the declared capabilities passed."""
    PARTIAL = "partial"
    """Nothing failed, but a check was not run, or the harness declares a deviation from a MUST."""
    NONCONFORMANT = "nonconformant"
    """A check of a MUST failed, or the harness declares a deviation that does not exist."""
    INVALID = "invalid"
    """The run proves nothing, because no check was run or the suite is not intact."""


@frozen
class Outcome:
    """The outcome of one check on one backend."""

    check: str
    clauses: tuple[str, ...]
    status: Status
    detail: str = ""
    seconds: float = 0.0
    extended: bool = False
    must: bool = True
    drawn: bool = False
    """Whether the check used the seed and therefore behaves differently with another seed."""


def suite_digest() -> str:
    """A digest over all ``.py`` and ``.md`` files of the suite. Every report contains it."""
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
    part = any(outcome.status is Status.NOT_RUN for outcome in base)  # as with --only
    if not any(outcome.status in (Status.PASS, Status.FAIL, Status.DEVIATION) for outcome in (found if part else base)):
        return Verdict.INVALID, ("no check was run",)
    without = sum(o.must and o.status is Status.DEVIATION for o in base)
    if without > _passed(base) and not any(o.status is Status.NOT_RUN for o in base):
        return Verdict.NONCONFORMANT, (f"{without} base checks deviate by declaration, and {_passed(base)} pass",)
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


@frozen
class Report:
    """The report of a whole run."""

    name: str
    kind: str
    verdict: Verdict
    reasons: tuple[str, ...]
    """The reasons why the verdict is not better."""
    base: tuple[int, int]
    """The number of base checks that passed, and the number of all base checks."""
    extended: tuple[int, int]
    """The number of capability checks that passed, and of all. A check that is not provided counts as not passed."""
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
    """How often the checks that use the seed were run."""
    doubts: tuple[str, ...] = ()
    """The reasons not to trust the run, whatever its outcomes are."""
    only: tuple[str, ...] = ()
    """The clauses and checks that the run was restricted to; empty if it was not."""


def report_on(
    harness: Harness,
    outcomes: Sequence[Outcome],
    *,
    profile: str,
    seed: int,
    engine: str = "",
    runs: int = 1,
    doubts: tuple[str, ...] = (),
    only: Iterable[str] = (),
) -> Report:
    """Make the report: find stale deviations, count the outcomes and decide the verdict."""
    found = [*outcomes, *stale_deviations(harness, outcomes)]
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
        only=tuple(sorted(only)),
    )


def _versions(engine: str) -> dict[str, str]:
    return {
        "engine": engine,
        "saga": version("saga-rp"),
        "python": platform.python_version(),
        "platform": f"{sys.platform} {platform.machine()}",
        "hypothesis": version("hypothesis"),
    }


FORMAT = 1


def to_json(report: Report) -> str:
    """The report as JSON text."""
    head = {"format": FORMAT, **asdict(report)}
    lines = [json.dumps(entry, ensure_ascii=False, default=str) for entry in head.pop("outcomes")]
    if not report.only:
        del head["only"]
    text = json.dumps(head, ensure_ascii=False, indent=1, default=str).removesuffix("\n}")
    return f'{text},\n "outcomes": [\n  ' + ",\n  ".join(lines) + "\n ]\n}\n"


def from_json(text: str) -> Report:
    """Read a report that ``to_json`` wrote. Raises ``BadInput`` for another text.

    The verdict and the counts are recomputed from the outcomes. What this version of the suite knows of a check is not
    taken from ``text`` either, and a check that ``text`` leaves out was not run.
    """
    try:
        data: dict[str, Any] = json.loads(text)
        if data.pop("format") != FORMAT:
            raise ValueError("another format")
        outcomes = [
            Outcome(**{**entry, "clauses": tuple(entry["clauses"]), "status": Status(entry["status"])})
            for entry in data["outcomes"]
        ]
        if data["suite"] == suite_digest():
            outcomes = _as_the_suite_has_them(data, outcomes)
        doubts = tuple(data.get("doubts", ()))
        verdict, reasons, base, extended = judged(outcomes, doubts)
        made = {"verdict": verdict, "reasons": reasons, "base": base, "extended": extended, "doubts": doubts}
        lists = {"outcomes": tuple(outcomes), "provides": tuple(data["provides"]), "only": tuple(data.get("only", ()))}
        return Report(**{**data, **made, **lists})
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadInput(f"report: is not one of this suite ({type(error).__name__}: {error}); make it anew") from error


def _as_the_suite_has_them(data: dict[str, Any], outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The outcome of each check for such a store, with only the status, detail and time of ``outcomes``."""
    told = {outcome.check: outcome for outcome in outcomes}
    provides = frozenset(Capability(name) for name in data["provides"])
    made = []
    for check in (found.of(provides) for found in registered() if found.concerns(data["kind"], provides)):
        found = told.get(check.id, Outcome(check.id, check.clauses, Status.NOT_RUN))
        status = found.status
        if (status is Status.NOT_PROVIDED) != bool(check.given - provides) or status is Status.STALE:
            status = Status.NOT_RUN
        if status is Status.DEVIATION and not data["deviations"]:
            status = Status.FAIL
        made.append(evolve(found, clauses=check.clauses, status=status, extended=check.extended, must=check.must))
    return [*made, *(outcome for outcome in outcomes if outcome.status is Status.STALE)]


def not_verified(file: Path) -> list[str]:
    """Say what of the report in ``file`` is not as this suite would have written it. Raises ``BadInput``."""
    text = file.read_text(encoding="utf-8")
    report, data = from_json(text), json.loads(text)
    found = []
    if report.suite != suite_digest():
        found.append(f"the suite {report.suite} made it, and this one is {suite_digest()}; make it anew")
    elif to_json(report) != text:
        found.append(f"it was edited; it says {data['verdict']}, and by its outcomes it is {report.verdict}")
    if report.only or report.profile == "quick":
        found.append(f"it is of a part of the suite alone: {', '.join(report.only) or 'the profile quick'}")
    if file.stem != report.name:
        found.append(f"it is of {report.name}; name the file {report.name}.json")
    return found


def to_junit(report: Report) -> str:
    """The report as JUnit XML."""
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
    """Escape control characters, which XML cannot contain."""
    return "".join(sign if sign.isprintable() or sign in "\n\t" else ascii(sign)[1:-1] for sign in text)


_RUN = re.compile(r"([^\s])\1{63,}")


def summary(report: Report) -> str:
    """The report in a few lines."""
    left = sum(outcome.status is Status.NOT_RUN for outcome in report.outcomes)
    broken = sorted({name for each in report.outcomes for name in each.clauses if each.status is Status.FAIL})
    lines = [
        f"{report.name} ({report.kind}): {report.verdict}"
        + (f", but breaks a SHOULD: {', '.join(broken)}" if broken and report.verdict is Verdict.CONFORMANT else "")
        + (f" of {', '.join(report.only)} alone" if report.only else "")
        + (f" ({left} of {len(report.outcomes)} checks were not run)" if left else ""),
        f"base {report.base[0]} of {report.base[1]}, extended {report.extended[0]} of {report.extended[1]}; "
        f"contract {report.contract}, suite {report.suite}, profile {report.profile}, seed {report.seed}"
        + (f", {report.runs} runs" if report.runs > 1 else ""),
    ]
    for outcome in report.outcomes:
        if outcome.status is Status.PASS and outcome.detail.startswith("noted: "):
            lines += [f"{outcome.detail} ({outcome.check})"]
    for alike in _alike(report):
        first, *others = sorted(alike, key=lambda each: '  File "' not in each.detail)  # one with the place, if any
        lines += [f"{first.status}: {first.check} ({', '.join(first.clauses)})", _indented(first.detail)]
        if not _RULE.search(first.detail):
            lines += [f"  {name} {clauses()[name].level}. {clauses()[name].text}" for name in first.clauses[:3]]
        if others:
            lines += [f"  {len(others)} more with the same error: {', '.join(each.check for each in others)}"]
    if report.verdict is Verdict.INVALID:
        lines += list(report.reasons)
    return "\n".join(lines)


def _alike(report: Report) -> Iterable[list[Outcome]]:
    """What did not pass, in groups with the same error. The small checks of the kind's own base clauses come first."""
    found: dict[tuple[Status, str], list[Outcome]] = {}
    for outcome in sorted(report.outcomes, key=partial(_distance, report.kind)):
        if outcome.status not in (Status.PASS, Status.NOT_PROVIDED, Status.NOT_RUN):
            found.setdefault((outcome.status, error_of(outcome)), []).append(outcome)
    return found.values()


def error_of(outcome: Outcome) -> str:
    """The error that an outcome tells, without the paths and the call before it, by which outcomes are alike."""
    line = _PATH.sub("…", outcome.detail.partition("\n")[0]).replace(" escaped: ", ": ")
    error = _ERROR.search(line)
    return error[0] if error else line


_RULE = re.compile(rf"^({EACH_CALL}|[A-Z]-\d+ (MUST|SHOULD)\.) ", re.MULTILINE)
"""A failure's own line about what is broken, which is more exact than the clauses of the check that met it."""
_PATH = re.compile(r"\S*/\S+")
_ERROR = re.compile(r"\b[A-Z]\w+: .*")


def _distance(kind: str, outcome: Outcome) -> tuple[bool, bool, bool, int, str, int]:
    head, _, number = outcome.check.partition(".")[0].partition("-")
    own = number.isdigit() and clauses()[f"{head}-{number}"].page == kind
    return not outcome.must, outcome.extended, not own, len(outcome.clauses), head, int(number) if own else 0


def _indented(text: str) -> str:
    """Indent ``text``, and abbreviate a long run of one character to the number of repetitions."""
    brief = _RUN.sub(lambda run: f"{run[1] * 4}…({len(run[0])} of them)…", text)
    return "\n".join(f"  | {line}" for line in brief.splitlines())


_HEAD = """\
# Conformance

This page is generated from the reports next to it by `python -m conformance matrix FOLDER --out FOLDER/README.md`. The
clauses are in `conformance/spec/` of SAGA, and `docs/write-a-backend.md` explains how to run the suite on a backend of
your own.

*Base* counts the checks that every store of a kind has to pass, *extended* those of the optional capabilities. A
capability that a store does not declare counts as not passed and is shown as a dash. A clause is `pass` if all its
checks passed. *Suite* is the digest of the suite's own files, and `python -m conformance digest` prints that of the
installed suite. Verdicts and counts are recomputed from the outcomes whenever this page is generated.
"""

_WORST = (Status.FAIL, Status.STALE, Status.DEVIATION, Status.NOT_RUN, Status.NOT_PROVIDED, Status.PASS)
_SIGNS = {Status.PASS: "pass", Status.FAIL: "**FAIL**", Status.STALE: "**STALE**", Status.NOT_PROVIDED: "–"}


def matrix_page(files: Sequence[Path]) -> str:
    """The page for these JSON reports."""
    reports = sorted((from_json(file.read_text(encoding="utf-8")) for file in files), key=_place)
    parts = [_HEAD, _overview(reports)]
    for kind in KINDS:
        of_kind = [report for report in reports if report.kind == kind]
        if of_kind:
            parts.append(_table(kind, of_kind))
    return "\n".join(parts)


def _place(report: Report) -> tuple[int, str]:
    return KINDS.index(report.kind), report.name


def _overview(reports: Sequence[Report]) -> str:
    lines = [
        "| backend | kind | verdict | base | extended | provides | profile, seed | engine | suite |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for report in reports:
        cells = (
            f"[{report.name}]({report.name}.json)",
            report.kind,
            str(report.verdict),
            f"{report.base[0]} of {report.base[1]}",
            f"{report.extended[0]} of {report.extended[1]}",
            ", ".join(report.provides) or "–",
            ", ".join((report.profile, str(report.seed), *(f"only {name}" for name in report.only))),
            report.versions.get("engine") or "–",
            report.suite,
        )
        lines.append(f"| {' | '.join(cells)} |")
    notes = [f"- {report.name}: {name}: {why}" for report in reports for name, why in report.deviations.items()]
    return "\n".join([*lines, "", *(["Known deviations:", "", *notes, ""] if notes else [])])


def _table(kind: str, reports: Sequence[Report]) -> str:
    lines = [f"## {kind}", "", f"| clause | {' | '.join(report.name for report in reports)} |"]
    lines.append(f"| --- |{' --- |' * len(reports)}")
    for clause in clauses().values():
        if kind in clause.kinds:
            cells = [_cell(clause, report) for report in reports]
            lines.append(f"| {clause.id} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _cell(clause: Clause, report: Report) -> str:
    about: list[Outcome] = [outcome for outcome in report.outcomes if clause.id in outcome.clauses]
    if not about:
        return "–"
    worst = min((outcome.status for outcome in about), key=_WORST.index)
    return _SIGNS.get(worst, str(worst))
