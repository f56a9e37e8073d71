"""The results of a run: outcomes, counts and a verdict, as JSON, JUnit XML, text and Markdown."""

from __future__ import annotations

from conformance.report.as_json import from_json, to_json
from conformance.report.as_junit import to_junit
from conformance.report.as_text import summary
from conformance.report.digest import suite_digest
from conformance.report.matrix import matrix_page
from conformance.report.outcome import Outcome, Status, Verdict
from conformance.report.run_report import Report, report_on

__all__ = [
    "Outcome",
    "Report",
    "Status",
    "Verdict",
    "from_json",
    "matrix_page",
    "report_on",
    "suite_digest",
    "summary",
    "to_json",
    "to_junit",
]
