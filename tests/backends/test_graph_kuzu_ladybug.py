"""What is tested of one engine in this process holds of the other as well: in a process of its own.

Its random runs are those of the conformance suite (``tests/conformance/test_separate_engines.py``)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.backends.store_openers import ENGINE

HERE = Path(__file__).resolve().parent
FILES = (
    "test_graph_contract.py",
    "test_graph_kuzu.py",
    "test_graph_kuzu_memory.py",
    "test_graph_kuzu_passes.py",
    "test_graph_cypher.py",
)


@pytest.mark.deep
def test_the_other_engine_passes_them_too() -> None:
    other = "ladybug" if ENGINE == "kuzu" else "kuzu"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    command += [str(HERE / name) for name in FILES] + ["-k", "ladybug or kuzu or cypher"]
    environ = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        command,
        cwd=HERE.parents[1],
        capture_output=True,
        text=True,
        check=False,
        env={"HYPOTHESIS_PROFILE": "quick", **environ, "SAGA_TEST_GRAPH": other},
    )
    assert done.returncode == 0, done.stdout[-6_000:]
    assert " passed" in done.stdout
    assert "skipped" not in done.stdout
