"""Lies that a harness, a store or a file may tell, and what the suite says of them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from click.testing import CliRunner, Result

from conformance import Status, Verdict, isolated, run
from conformance.checks import registered
from conformance.cli import main
from conformance.isolated import code_digest, run_isolated
from conformance.report import from_json, matrix_page, not_verified, to_json
from conformance.runner import run_check
from tests.conformance import liars
from tests.conformance.harnesses import HARNESSES


def told(name: str, *options: str, lie: str = "") -> Result:
    """The command line on a liar, which lives in the process of its run alone."""
    command = ["run", f"tests.conformance.liars:{name}", "--profile", "quick", *options]
    return CliRunner(env={"SAGA_LIE": lie}).invoke(main, command)


@pytest.mark.parametrize("lie", ["passes everything", pytest.param("compares nothing", marks=pytest.mark.deep)])
def test_a_harness_that_patches_the_suite_is_seen(lie: str) -> None:
    done = told("FORGETFUL", "--only", "S-1", lie=lie)
    assert done.exit_code == 3, done.output
    assert "invalid" in done.output
    assert "the harness changed the suite" in done.output
    assert "was judged wrongly" in done.output, "the canaries see it by themselves"


def test_a_store_that_ends_the_process_is_not_taken_for_a_right_one() -> None:
    done = told("LEAVES", "--only", "S-4")
    assert done.exit_code == 3, done.output
    assert "the process ended with exit status" in done.output


@pytest.mark.deep
def test_a_store_that_blocks_a_search_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search is a plain function, which has no timeout in its own process."""
    monkeypatch.setitem(isolated._LIMITS, "quick", 10.0)
    report = run_isolated("tests.conformance.liars:BLOCKS", profile="quick", only=["state.random_runs", "S-17"])
    found = {outcome.check: outcome for outcome in report.outcomes}["state.random_runs"]
    told = f"no answer for 10 seconds: Blocks.commit ({liars.__file__}:88) hangs, and the process was killed"
    hung = [outcome for outcome in report.outcomes if outcome.status is Status.FAIL]
    assert [outcome.detail.splitlines()[0] for outcome in hung] == [told]
    assert found.status in (Status.FAIL, Status.NOT_RUN)
    assert report.verdict is Verdict.INVALID
    assert f"{hung[0].check}: {told}" in report.reasons


def test_a_harness_that_ends_with_a_good_code_changes_no_verdict() -> None:
    done = told("FORGETFUL", "--only", "S-1", lie="ends well")
    assert done.exit_code == 1, done.output


def test_a_recall_of_nothing_is_too_little() -> None:
    done = told("NO_RECALL", "--only", "V-29", "--only", "V-1")
    assert done.exit_code == 1
    assert "0.00 of the ten best of 150 were found; the least is 0.8" in done.output


@pytest.mark.deep
def test_the_recall_is_measured_and_told() -> None:
    harness = HARNESSES["vector-memory"]
    approximate = liars.evolve(harness, provides=harness.provides | {liars.Capability.APPROXIMATE})
    (check,) = (each for each in registered() if each.id == "V-29.the_ten_best")
    outcome = run_check(approximate, check, profile="quick", seed=1)
    assert outcome.status is Status.PASS
    assert outcome.detail == "recall at 10: 1.000 of 20, 1.000 of 150, 1.000 of 1200, 1.000 of 300"


def test_a_store_that_asks_who_runs_it_is_told_nothing() -> None:
    done = told("ASKS", "--only", "G-24")
    assert done.exit_code == 1, done.output
    assert re.search(r"^ +fail  G-24\.\w+ \(G-24\): \w", done.stderr, re.M), "why it fails is printed at once"


@pytest.mark.parametrize(("options", "code"), [pytest.param((), 0, marks=pytest.mark.deep), (("--strict",), 3)])
def test_strict_takes_nothing_for_something(options: tuple[str, ...], code: int) -> None:
    """A deviation, and a part of the checks."""
    done = told("DEVIATES", *options, "--only", "S-1", "--only", "S-17")
    assert done.exit_code == code, done.output
    assert "partial" in done.output


def test_a_verdict_that_was_edited_is_made_anew(tmp_path: Path) -> None:
    report = run(liars.FORGETFUL, profile="quick", only=["S-1"])
    data = json.loads(to_json(report))
    data["verdict"], data["base"], data["reasons"] = "conformant", [99, 99], []
    file = tmp_path / "liar.json"
    file.write_text(json.dumps(data), encoding="utf-8")
    assert from_json(file.read_text(encoding="utf-8")).verdict is Verdict.NONCONFORMANT
    page = matrix_page([file])
    assert "nonconformant" in page
    assert "99 of 99" not in page


def test_checks_that_a_report_leaves_out_were_not_run() -> None:
    report = run(HARNESSES["curator-memory"], profile="quick")
    assert report.verdict is Verdict.CONFORMANT
    data = json.loads(to_json(report))
    data["outcomes"] = [outcome for outcome in data["outcomes"] if outcome["check"] != "U-5.nothing_happened"]
    found = from_json(json.dumps(data))
    assert found.verdict is Verdict.PARTIAL
    assert found.reasons == ("U-5.nothing_happened (U-5): not run",)


@pytest.mark.parametrize(
    ("field", "value"),
    [("status", "not provided"), ("must", False), ("clauses", ["L-16"]), ("status", "stale deviation")],
)
def test_an_outcome_that_was_edited_helps_nobody(tmp_path: Path, field: str, value: Any) -> None:
    report = run(liars.FORGETFUL, profile="quick", only=["S-1"])
    file = tmp_path / "liar.json"
    file.write_text(to_json(evolve(report, only=())), encoding="utf-8")
    assert not_verified(file) == ["it is of a part of the suite alone: the profile quick"]
    data = json.loads(to_json(report))
    (failed,) = (outcome for outcome in data["outcomes"] if outcome["check"] == "S-1.get_gives_those_that_exist")
    failed[field] = value
    file.write_text(json.dumps(data), encoding="utf-8")
    assert from_json(file.read_text(encoding="utf-8")).verdict is not Verdict.CONFORMANT
    assert any("it was edited" in doubt for doubt in not_verified(file))


def test_the_matrix_says_what_it_cannot_verify(tmp_path: Path) -> None:
    report = run(HARNESSES["curator-memory"], profile="default")
    (tmp_path / "curator-memory.json").write_text(to_json(report), encoding="utf-8")
    done = CliRunner().invoke(main, ["matrix", str(tmp_path)])
    assert (done.exit_code, done.stderr) == (0, "")
    (tmp_path / "other.json").write_text(to_json(evolve(report, suite="old")), encoding="utf-8")
    done = CliRunner().invoke(main, ["matrix", str(tmp_path)])
    assert done.exit_code == 1
    assert "other.json: the suite old made it" in done.stderr
    assert "other.json: it is of curator-memory; name the file curator-memory.json" in done.stderr
    (tmp_path / "other.json").write_text("{}", encoding="utf-8")
    done = CliRunner().invoke(main, ["matrix", str(tmp_path)])
    assert done.exit_code == 2
    assert "is not one of this suite" in done.stderr


def test_what_is_lost_seldom_is_found_by_more_runs() -> None:
    """The dice are the same each time, so that this test is."""
    liars.LosesOneOfAThousand.dice.seed(1)
    once = run(liars.LOSES, profile="quick", only=["state.random_runs"])
    assert once.verdict is Verdict.PARTIAL, "one run sees nothing"
    often = run(liars.LOSES, profile="quick", only=["state.random_runs"], runs=40)
    assert often.verdict is Verdict.NONCONFORMANT
    (failed,) = (outcome for outcome in often.outcomes if outcome.status is Status.FAIL)
    assert "times, then failed with the seed" in failed.detail
    assert often.runs == 40


@pytest.mark.deep
def test_an_isolated_run_says_what_a_run_here_says() -> None:
    place = "tests.conformance.harnesses:CURATOR_RULES"
    elsewhere = run_isolated(place, profile="quick")
    here = run(HARNESSES["curator-rules"], profile="quick")
    assert [(o.check, o.status) for o in elsewhere.outcomes] == [(o.check, o.status) for o in here.outcomes]
    assert (elsewhere.verdict, elsewhere.base, elsewhere.extended) == (here.verdict, here.base, here.extended)
    assert code_digest() == code_digest()
