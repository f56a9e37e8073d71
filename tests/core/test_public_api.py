"""The core's public face: what it exports, and what importing it costs."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import saga_core

ROOT = Path(__file__).resolve().parents[2]
HEAVY = (
    "aiohttp openai anthropic networkx numpy sqlite3 sqlite_utils kuzu ladybug chromadb lancedb click rich yaml "
    "tiktoken"
).split()


def loaded_by(statement: str) -> set[str]:
    """The top-level modules that a fresh interpreter has after ``statement``."""
    program = (
        f"{statement}\nimport json, sys\nprint(json.dumps(sorted({{name.partition('.')[0] for name in sys.modules}})))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


@pytest.mark.parametrize("statement", ["import saga_core", "import saga_core.saga", "import saga_core.stores"])
def test_importing_the_core_loads_no_engine_and_no_network(statement: str) -> None:
    assert loaded_by(statement) & set(HEAVY) == set()


def test_heavy_engines_wait_until_they_are_opened() -> None:
    names = ("saga_backends.graph.networkx", "saga_backends.chat.openai", "saga_backends.state_kv.sqlite")
    loaded = loaded_by("; ".join(f"import {name}" for name in names))
    assert loaded & {"networkx", "openai", "sqlite_utils"} == set()


def test_every_public_name_is_there() -> None:
    assert saga_core.__all__ == [*saga_core.__all__[:1], *sorted(saga_core.__all__[1:])]
    for name in saga_core.__all__:
        assert getattr(saga_core, name) is not None
    assert dir(saga_core) == sorted(saga_core.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Dragon'"):
        saga_core.Dragon  # noqa: B018


def test_the_default_installation_is_small() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    names = {entry.split(">")[0].split("[")[0] for entry in project["dependencies"]}
    assert names & {"kuzu", "ladybug", "chromadb", "lancedb", "torch"} == set()
