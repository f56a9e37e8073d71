"""Reports as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from attrs import asdict

from conformance.catalog import registered
from conformance.report.digest import suite_digest
from conformance.report.outcome import Outcome, Status
from conformance.report.run_report import Report
from conformance.report.verdict import judged
from saga_core.capabilities import Capability

FORMAT = 1


def to_json(report: Report) -> str:
    """The report as JSON text."""
    head = {"format": FORMAT, **asdict(report)}
    lines = [json.dumps(entry, ensure_ascii=False, default=str) for entry in head.pop("outcomes")]
    text = json.dumps(head, ensure_ascii=False, indent=1, default=str).removesuffix("\n}")
    return f'{text},\n "outcomes": [\n  ' + ",\n  ".join(lines) + "\n ]\n}\n"


def from_json(text: str) -> Report:
    """Read a report that ``to_json`` wrote. The verdict is recomputed from the outcomes and not taken from ``text``."""
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
    """Return a "not run" outcome for each check missing from a report that this version of the suite made."""
    if data["suite"] != suite_digest():
        return []
    known = {outcome.check for outcome in outcomes}
    provides = frozenset(Capability(name) for name in data["provides"])
    return [
        Outcome(check.id, check.clauses, Status.NOT_RUN, extended=check.extended, must=check.must)
        for check in (found.of(provides) for found in registered())
        if check.id not in known and check.concerns(data["kind"], provides)
    ]
