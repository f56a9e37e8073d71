"""The command line: ``python -m conformance`` and ``saga conformance``."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from conformance.cli import main
from saga_server.cli.saga_command import main as saga

PLACE = "tests.conformance.harnesses:CURATOR_MEMORY"


def test_run_tells_the_verdict_and_writes_reports(tmp_path: Path) -> None:
    files = ["--report", str(tmp_path / "r.json"), "--junit", str(tmp_path / "r.xml")]
    done = CliRunner().invoke(main, ["run", PLACE, "--profile", "quick", "-v", *files])
    assert done.exit_code == 0, done.output
    assert "curator-memory (curator): conformant" in done.output
    assert "U-4.the_view_is_left_alone (U-4)" in done.output
    assert '"verdict": "conformant"' in (tmp_path / "r.json").read_text(encoding="utf-8")
    assert "<testsuite" in (tmp_path / "r.xml").read_text(encoding="utf-8")
    page = CliRunner().invoke(main, ["matrix", str(tmp_path)])
    assert "| U-4 | pass |" in page.output


@pytest.mark.parametrize("option", ["--report", "--junit"])
def test_a_report_that_cannot_be_written_is_refused_before_the_run(tmp_path: Path, option: str) -> None:
    done = CliRunner().invoke(main, ["run", "no_such_module:X", option, str(tmp_path / "missing" / "r")])
    assert done.exit_code == 2
    assert f"the folder {tmp_path / 'missing'} is missing" in done.output


def test_a_wrong_store_ends_with_one() -> None:
    place = "tests.conformance.forgetful:FORGETFUL"
    done = CliRunner().invoke(main, ["run", place, "--profile", "quick", "--only", "S-1"])
    assert done.exit_code == 1
    assert "forgetful (state): nonconformant of S-1 alone (" in done.output
    assert "checks were not run)" in done.output


def test_a_check_that_takes_long_is_named_and_blocking_is_looked_for_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("conformance.isolated._LATE", 0.001)
    options = ["--profile", "quick", "-v", "--only", "L-1", "--only", "L-8"]
    done = CliRunner().invoke(main, ["run", "tests.conformance.harnesses:STATE_MEMORY", *options])
    assert "running  L-8.small_calls for 0.001 seconds" in done.output
    assert done.output.index("pass  L-8.small_calls") < done.output.index("pass  L-1.it_describes_itself")


def test_a_run_that_says_nothing_ends_with_three() -> None:
    options = ["--profile", "quick", "--only", "L-12"]
    assert CliRunner().invoke(main, ["run", "tests.conformance.harnesses:GRAPH_NETWORKX", *options]).exit_code == 3


@pytest.mark.deep
def test_what_cannot_be_found_ends_with_two() -> None:
    for place, told in {
        "nowhere": "package.module:NAME",
        "no_such_module:X": "cannot be imported",
        f"{PLACE}S": "has no CURATOR_MEMORYS",
    }.items():
        done = CliRunner().invoke(main, ["run", place])
        assert done.exit_code == 2
        assert told in done.output


def test_clauses_are_listed() -> None:
    assert "S-12 MUST. Two commits" in CliRunner().invoke(main, ["clauses", "S-12"]).output
    assert CliRunner().invoke(main, ["clauses"]).output.count("\n") > 100
    unknown = CliRunner().invoke(main, ["clauses", "S-99", "S-12"])
    assert (unknown.exit_code, "no clause S-99; " in unknown.output) == (2, True)


def test_saga_has_it_too() -> None:
    done = CliRunner().invoke(saga, ["conformance", "run", PLACE, "--profile", "quick"])
    assert done.exit_code == 0, done.output
    assert "curator-memory (curator): conformant" in done.output
    assert "Usage: saga conformance" in CliRunner().invoke(saga, ["conformance"]).output
    assert "conformance" in CliRunner().invoke(saga, ["--help"]).output
