""".ci/matrix.yaml: the versions that the project says it runs on, and commands that exist."""

from __future__ import annotations

import re
import shlex
import tomllib
from typing import Any

import yaml
from click.testing import CliRunner

from saga_server.cli.saga_command import main
from tests.docs.pages import ROOT

TREE: dict[str, Any] = yaml.safe_load((ROOT / ".ci" / "matrix.yaml").read_text(encoding="utf-8"))
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def runs(job: str) -> list[str]:
    return [step["run"] for step in TREE["jobs"][job]["steps"] if "run" in step]


def test_every_python_of_the_project_is_tried() -> None:
    said = [found[1] for text in PROJECT["classifiers"] if (found := re.search(r"Python :: (3\.\d+)$", text))]
    assert TREE["jobs"]["test"]["strategy"]["matrix"]["python"] == said
    installed = TREE["jobs"]["install"]["strategy"]["matrix"]
    assert installed["python"] == [said[0], said[-1]]
    assert {name.partition("-")[0] for name in installed["os"]} == {"ubuntu", "macos", "windows"}


def test_what_is_run_is_what_make_test_runs() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for tool in ("ruff check .", "ruff format --check .", "mypy", "lint-imports", 'pytest -m "not deep"'):
        assert tool in makefile
        assert any(tool in line for line in runs("test")), tool


def test_the_commands_take_these_words() -> None:
    for line in runs("install"):
        program, *words = shlex.split(line)
        if program == "saga":
            assert CliRunner().invoke(main, [*words, "--help"]).exit_code == 0, line
    extras = {
        name for line in runs("test") for found in re.findall(r"\.\[([a-z,]+)\]", line) for name in found.split(",")
    }
    assert extras <= PROJECT["optional-dependencies"].keys()
