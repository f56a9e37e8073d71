"""What ``pip install saga-rp`` brings, alone and with ``conformance``: the SDK, and the suite for its stores."""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import page
from tests.install.wheel import ROOT, fresh_environment

NOT_COUNTED = {"saga-rp", "pip", "setuptools"}
"""SAGA itself, and the installers, which an environment of Python 3.11 has from the beginning."""
MEGABYTE = 2**20

_TURN = """
import asyncio, json, sys
from saga_core import Saga

async def reply(plan):
    yield "The quay is quiet.\\n\\n```state\\nlocation: Quay\\n```"

async def main():
    async with Saga.open({"storage": {"path": "data"}}) as saga:
        turn = await saga.begin([{"role": "user", "content": "I go to the quay."}])
        shown = [text async for text in turn.visible(reply(turn.plan))]
        await turn.commit()
        await saga.drain(30)
        status = await saga.status()
        print(json.dumps({
            "shown": "".join(shown),
            "location": (await saga.describe(turn.session.id))["location"],
            "stores": {kind: store["backend"] for kind, store in status["stores"].items()},
            "degraded": status["degraded"],
            "different": await saga.maintenance.differences(turn.session.id),
            "imported": sorted({"aiohttp", "httpx2", "networkx.algorithms", "rich"} & set(sys.modules)),
        }))

asyncio.run(main())
"""

_TIMES = """
import time
started = time.process_time()
{statement}
took = time.process_time() - started
counted, started = 0, time.process_time()
for number in range(2_000_000):
    counted += number % 7
print(took * 0.12 / (time.process_time() - started))
"""
"""Prints the seconds on a machine that counts so far in 0.12 s: a host that others use may be five times slower."""

_HARNESS = """
from dict_state import BACKEND
from conformance import Harness
from saga_core import OpenOptions

async def opened(folder):
    return await BACKEND.open(OpenOptions(path=folder))

HARNESS = Harness("dict", "state", opened)
"""


@pytest.fixture(scope="module")
def base(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fresh_environment(tmp_path_factory.mktemp("base") / "venv", wheel)


@pytest.fixture(scope="module")
def suite(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fresh_environment(tmp_path_factory.mktemp("suite") / "venv", wheel, "conformance")


def installed(python: Path) -> dict[str, Distribution]:
    (site,) = python.parents[1].glob("lib/python*/site-packages")
    return {found.name.lower(): found for found in distributions(path=[str(site)])}


def megabytes(python: Path) -> float:
    """The size of what is installed, without bytecode and without pip."""
    files = [
        each
        for name, found in installed(python).items()
        if name not in NOT_COUNTED - {"saga-rp"}
        for each in found.files or ()
    ]
    kept = [Path(str(each.locate())) for each in files if each.suffix != ".pyc"]
    return sum(path.stat().st_size for path in kept if path.is_file()) / MEGABYTE


def run(python: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environ = {"PATH": "", "HOME": str(folder)}
    return subprocess.run(
        [str(python), *arguments], cwd=folder, env=environ, capture_output=True, text=True, check=False
    )


def takes(python: Path, folder: Path, statement: str, most: float) -> bool:
    """Whether importing takes at most so many seconds of CPU, beyond the start of Python. Tried again: other work adds
    to it."""
    program = _TIMES.format(statement=statement)
    return any(float(run(python, folder, "-c", program).stdout) <= most for _ in range(8))


def test_the_base_is_eight_packages_and_those_that_they_need(base: Path) -> None:
    found = installed(base)
    assert len(set(found) - NOT_COUNTED) <= 16, sorted(found)
    assert {"attrs", "cattrs", "pyyaml", "cachetools", "rapidfuzz", "networkx", "numpy", "sqlite-utils"} <= set(found)
    assert megabytes(base) <= 120


def test_it_opens_lite_and_plays_a_turn(base: Path, tmp_path: Path) -> None:
    done = run(base, tmp_path, "-c", _TURN)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert found == {
        "shown": "The quay is quiet.",
        "location": "Quay",
        "stores": {"state": "sqlite", "graph": "networkx", "vector": "sqlite", "cache": "files"},
        "degraded": {},
        "different": [],
        "imported": [],
    }


def test_what_a_store_imports_costs_little(base: Path, tmp_path: Path) -> None:
    assert takes(base, tmp_path, "import saga_core.stores", 0.1)
    assert takes(base, tmp_path, "from saga_core import Saga", 0.6)


@pytest.mark.parametrize("arguments", [("serve",), ("--help",), ("doctor", "--deep")])
def test_a_command_without_the_server_says_what_to_install(
    base: Path, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    wanted = "saga: no aiohttp here; the command line needs: pip install 'saga-rp[server]'\n"
    for start in ((str(base.with_name("saga")),), ("-m", "saga_server")):
        done = run(base, tmp_path, *start, *arguments)
        assert (done.returncode, done.stdout, done.stderr) == (1, "", wanted)


def test_a_model_without_the_server_says_what_to_install(base: Path, tmp_path: Path) -> None:
    program = "from saga_core.registry import load; load('chat', 'openai')"
    done = run(base, tmp_path, "-c", program)
    assert "install it: pip install 'saga-rp[server]'" in done.stderr.splitlines()[-1]


def test_the_suite_without_its_extra_says_what_to_install(base: Path, tmp_path: Path) -> None:
    done = run(base, tmp_path, "-m", "conformance", "run", "harness:HARNESS")
    wanted = "conformance: no hypothesis here; the suite needs: pip install 'saga-rp[conformance]'\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", wanted)


def test_the_suite_judges_the_store_of_the_page_with_nothing_else_installed(suite: Path, tmp_path: Path) -> None:
    found = installed(suite)
    assert len(set(found) - NOT_COUNTED) <= 22, sorted(found)
    assert megabytes(suite) <= 140
    shutil.copy(ROOT / "docs" / "examples" / "dict_state.py", tmp_path)
    (tmp_path / "harness.py").write_text(_HARNESS, encoding="utf-8")
    done = run(suite, tmp_path, "-m", "conformance", "run", "harness:HARNESS", "--profile", "quick")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "dict (state): conformant" in done.stdout


def documented() -> list[tuple[str, str]]:
    """The modules and names of SAGA that docs/write-a-backend.md imports or mentions by their full name."""
    found = page("docs/write-a-backend.md")
    code = "\n".join(re.findall(r"^```python\n(.*?)^```", found.text, re.MULTILINE | re.DOTALL))
    lines = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.ImportFrom) and node.module]
    names = [(str(node.module), alias.name) for node in lines for alias in node.names]
    names += [(name, "") for name in re.findall(r"`((?:saga_core|saga_backends|conformance)[\w.]*)`", found.prose)]
    return [(module, name) for module, name in names if not module.startswith("docs")]


def test_what_the_page_of_backends_imports_is_there(suite: Path, tmp_path: Path) -> None:
    wanted = documented()
    assert ("saga_core.stores.validate", "") in wanted and ("conformance", "Harness") in wanted
    program = "import sys\nfrom pkgutil import resolve_name\n"
    program += "\n".join(f"resolve_name({(f'{module}:{name}' if name else module)!r})" for module, name in wanted)
    done = run(suite, tmp_path, "-c", program)
    assert done.returncode == 0, done.stderr
