"""Reports as JUnit XML."""

from __future__ import annotations

from xml.etree import ElementTree

from conformance.report.outcome import Status
from conformance.report.run_report import Report


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
