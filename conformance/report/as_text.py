"""Reports as a short text for people."""

from __future__ import annotations

import re

from conformance.report.outcome import Status, Verdict
from conformance.report.run_report import Report
from conformance.spec import clauses

_RUN = re.compile(r"([^\s])\1{63,}")


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
    """Indent ``text``, and abbreviate a long run of one character to the number of repetitions."""
    brief = _RUN.sub(lambda run: f"{run[1] * 4}…({len(run[0])} of them)…", text)
    return "\n".join(f"  | {line}" for line in brief.splitlines())
