"""A backend of somebody else: packaged, installed in an environment of its own, and proved by both front ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.docs.pages import page
from tests.template_backend.packaging import PROJECT, build_wheel, make_environment, run


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("template")
    return str(make_environment(folder / "venv", build_wheel(PROJECT, folder)))


def test_it_is_installed_there_and_registered(python: str, tmp_path: Path) -> None:
    program = (
        "import saga_log_state; from saga_core.registry import load\n"
        "print(saga_log_state.__file__, load('state', 'log').summary)"
    )
    place, summary = run([python, "-c", program], cwd=tmp_path).split(" ", 1)
    assert str(PROJECT) not in place
    assert "site-packages" in place
    assert summary.startswith("an append-only file")


@pytest.mark.deep
def test_the_command_says_that_it_conforms(python: str, tmp_path: Path) -> None:
    harness = "saga_log_state.harness:HARNESS"
    options = ["--profile", "quick", "--report", "r.json", "--junit", "r.xml"]
    told = run([python, "-m", "conformance", "run", harness, *options], cwd=tmp_path)
    assert told.startswith("log-state (state): conformant\n"), told
    report = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert report["verdict"] == "conformant"
    assert report["base"][0] == report["base"][1] > 25
    assert report["provides"] == ["durable"]
    assert {entry["status"] for entry in report["outcomes"]} == {"pass", "not provided"}


@pytest.mark.deep
def test_its_own_pytest_file_passes_without_a_plugin(python: str, tmp_path: Path) -> None:
    (tmp_path / "test_contract.py").write_bytes((PROJECT / "tests" / "test_contract.py").read_bytes())
    quiet = ["-q", "-p", "no:asyncio", "-p", "no:cacheprovider", "-W", "error"]
    told = run([python, "-m", "pytest", *quiet, "test_contract.py"], cwd=tmp_path)
    assert "passed" in told
    assert "failed" not in told


def test_the_page_shows_what_the_template_is_made_of() -> None:
    """docs/write-a-backend.md is all that its author had to follow."""
    text = page("docs/write-a-backend.md").text
    for shown in ("conforms(HARNESS", "python -m conformance run", "Harness(", "saga.backends"):
        assert shown in text, shown
