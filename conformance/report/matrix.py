"""The Markdown page of several reports, with a summary and, for each kind, a table of clauses by backend."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from conformance.report.as_json import from_json
from conformance.report.outcome import Outcome, Status
from conformance.report.run_report import Report
from conformance.spec import KINDS, Clause, clauses

_HEAD = """\
# Conformance of the included engines

This page is generated from the reports next to it by
`python -m conformance matrix docs/conformance --out docs/conformance/README.md`.
The clauses are in `conformance/spec/`. [Write a backend](../write-a-backend.md#testing-it) explains how to run the
suite on a backend of your own.

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
            f"{report.profile}, {report.seed}",
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
