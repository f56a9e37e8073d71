"""Engines that bear no other in their process keep their contract too: each is put to the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.check import Check
from conformance.report import Report, Status, Verdict, from_json
from conformance.runner import applicable
from tests.conformance.harnesses import IN_THEIR_OWN

ROOT = Path(__file__).resolve().parents[2]
TWINS = {
    "graph-kuzu-raw",
    "graph-ladybug-raw",
    "graph-resident-kuzu",
    "graph-resident-ladybug",
    "vector-resident-chroma",
    "vector-resident-lancedb",
}
"""Whose parts are each tested in another pair: left to the long searches."""
SLOW = {"graph-ladybug", "vector-chroma", "vector-lancedb"}
"""Which take a quarter of a minute of the processor each: left to them too."""
PROFILE = os.environ.get("SAGA_CONFORMANCE", "quick")
LONG_MODULES = {"concurrency", "durability", "limits", "names"}
LONG = frozenset(
    """
    equal_values ordered_values other_filters the_farthest long_keys reads_after_each_write refused_and_dropped
    many_edges many_nodes many_parts many_scopes random_runs refused_and_removed rounded_before_ordered twins
    wide_and_long
    """.split()
)
"""Checks that open a store in many processes, or that ask much: for these engines they take a minute."""
SHORT = {"L-10.some_serial_order", "L-7.what_is_put_in_wrongly"}
"""Those of the long modules that do not."""


def is_long(check: Check) -> bool:
    """Whether the check takes these engines long."""
    name = check.id.partition(".")[2]
    module = check.run.__module__.rpartition(".")[2]
    return check.id not in SHORT and (module in LONG_MODULES or name in LONG or name.endswith("_at_every_size"))


def told(name: str, tmp_path: Path, *options: str) -> Report:
    """What the command line says of an engine; it has ended with 0."""
    place = f"tests.conformance.harnesses:{name.upper().replace('-', '_')}"
    command = [sys.executable, "-m", "conformance", "run", place, "--profile", PROFILE, *options]
    command += ["--report", str(tmp_path / "r.json"), "--junit", str(tmp_path / "r.xml")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    report = from_json((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert report.name == name
    assert 'failures="0"' in (tmp_path / "r.xml").read_text(encoding="utf-8")
    return report


@pytest.mark.parametrize("name", [name for name in IN_THEIR_OWN if name not in TWINS | SLOW])
def test_it_keeps_what_takes_no_minute(name: str, tmp_path: Path) -> None:
    short = [check.id for check in applicable(IN_THEIR_OWN[name]) if not is_long(check)]
    report = told(name, tmp_path, *(part for check in short for part in ("--only", check)))
    for outcome in report.outcomes:
        allowed = {Status.PASS, Status.NOT_PROVIDED} if outcome.check in short else {Status.NOT_RUN}
        assert outcome.status in allowed, outcome
    assert report.verdict is Verdict.PARTIAL
    assert not report.doubts


@pytest.mark.deep
@pytest.mark.parametrize("name", IN_THEIR_OWN)
def test_it_conforms(name: str, tmp_path: Path) -> None:
    report = told(name, tmp_path)
    assert report.verdict is Verdict.CONFORMANT, report.reasons
    assert {outcome.status for outcome in report.outcomes if outcome.must} == {Status.PASS, Status.NOT_PROVIDED}
