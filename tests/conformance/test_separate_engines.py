"""Engines that bear no other in their process keep their contract too: each is put to the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.report import Status, Verdict, from_json
from tests.conformance.harnesses import IN_THEIR_OWN

ROOT = Path(__file__).resolve().parents[2]
TWINS = {
    "graph-kuzu-raw",
    "graph-ladybug-raw",
    "graph-resident-kuzu",
    "vector-resident-chroma",
    "vector-resident-lancedb",
}
"""Whose parts are each tested in another pair: left to the long searches."""
PROFILE = os.environ.get("SAGA_CONFORMANCE", "quick")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.deep if name in TWINS else ()) for name in IN_THEIR_OWN]
)
def test_it_conforms(name: str, tmp_path: Path) -> None:
    place = f"tests.conformance.harnesses:{name.upper().replace('-', '_')}"
    command = [sys.executable, "-m", "conformance", "run", place, "--profile", PROFILE]
    command += ["--report", str(tmp_path / "r.json"), "--junit", str(tmp_path / "r.xml")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    report = from_json((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert report.verdict is Verdict.CONFORMANT, report.reasons
    assert report.name == name
    assert {outcome.status for outcome in report.outcomes} == {Status.PASS, Status.NOT_PROVIDED}
    assert 'failures="0"' in (tmp_path / "r.xml").read_text(encoding="utf-8")
