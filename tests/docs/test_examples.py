"""What the pages show as Python runs: every file in docs/examples, and every ```python block."""

from __future__ import annotations

import inspect
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from docs.examples.dict_state import DictState
from saga_core import registry
from saga_core.capabilities import Capability
from saga_core.stores import Curator, GraphStore, MdCache, StateKV, Store, VectorStore
from tests.docs.pages import ROOT, Block, page, pages

EXAMPLES = sorted((ROOT / "docs" / "examples").glob("*.py"))
BACKEND_PAGE = page("docs/write-a-backend.md")


def run(script: Path, folder: Path, *more_paths: Path) -> str:
    """What a script prints, run as a process of its own in ``folder``; a warning is an error there."""
    paths = os.pathsep.join(str(path) for path in (*more_paths, ROOT))
    environ = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        cwd=folder,
        env={**environ, "PYTHONPATH": paths, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"{script} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def python_blocks() -> list[Block]:
    return [block for found in pages() for block in found.blocks if block.language == "python" and block.runs]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """What an example prints. Each runs once."""

    @cache
    def of(name: str) -> str:
        folder = tmp_path_factory.mktemp("example")
        said = run(ROOT / "docs" / "examples" / name, folder)
        assert list(folder.iterdir()) == [], "an example leaves nothing behind"
        return said

    return of


@pytest.mark.parametrize("name", [script.name for script in EXAMPLES])
def test_every_example_runs_as_it_stands(shown: Callable[[str], str], name: str) -> None:
    assert shown(name), "an example shows something"


@pytest.mark.parametrize("block", python_blocks(), ids=str)
def test_every_python_block_runs_as_it_stands(block: Block, tmp_path: Path) -> None:
    script = tmp_path / "block.py"
    script.write_text(block.text, encoding="utf-8")
    run(script, tmp_path)


def test_the_pages_show_python() -> None:
    assert EXAMPLES
    assert python_blocks()


def test_both_sources_of_the_tides_are_told(shown: Callable[[str], str]) -> None:
    told = shown("tides.py")
    assert "Gull Causeway: under water" in told
    assert "The tide is high." in told


def test_the_embedded_engine_forgets_what_was_deleted(shown: Callable[[str], str]) -> None:
    told = shown("embed.py")
    health = [int(found) for found in re.findall(r"HP (\d+)/100", told)]
    assert health[0] == 100
    assert health[1] < 100, "the fight hurts"
    assert health[2] == 100, "and never happened once it is deleted"
    assert "3 turns in the tree, 2 on the path" in told
    assert "silver spoon" in told


# -- docs/write-a-backend.md --------------------------------------------------------------------------------------


def test_the_entry_point_of_the_page_makes_the_engine_run_on_the_example(tmp_path: Path) -> None:
    site, work = tmp_path / "site", tmp_path / "work"
    installed = site / "saga_dict_state-1.0.dist-info"
    installed.mkdir(parents=True)
    work.mkdir()
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: saga-dict-state\nVersion: 1.0\n")
    (toml,) = (block.text for block in BACKEND_PAGE.blocks if block.language == "toml")
    head, *entries = toml.strip().splitlines()
    assert head == f'[project.entry-points."{registry.GROUP}"]'
    named = [re.fullmatch(r'"([^"]+)" = "([^"]+)"', entry) for entry in entries]
    points = "".join(f"{entry[1]} = {entry[2]}\n" for entry in named if entry)
    assert points
    (installed / "entry_points.txt").write_text(f"[{registry.GROUP}]\n{points}")
    shutil.copy(ROOT / "docs" / "examples" / "dict_state.py", site)
    script = work / "play.py"
    script.write_text(
        "import asyncio\n"
        "from saga_core import Saga\n"
        "async def main():\n"
        "    async with Saga.open({'storage': {'profile': 'memory', 'state': {'backend': 'dict'}}}) as saga:\n"
        "        turn = await saga.begin([{'role': 'user', 'content': 'I look around.'}])\n"
        "        turn.replies[0].feed('There is nothing but fog.')\n"
        "        (recorded,) = await turn.commit()\n"
        "        print((await saga.status())['stores']['state']['backend'], recorded.depth)\n"
        "asyncio.run(main())\n"
    )
    assert run(script, work, site) == "dict 1\n"


def test_the_page_begins_with_a_class_that_works(tmp_path: Path) -> None:
    first = next(block for block in BACKEND_PAGE.blocks if block.language == "python")
    assert first.text.partition("class MyStore")[2].partition("async def opened")[0].count("\n") <= 40
    (tmp_path / "mystore.py").write_text(first.text, encoding="utf-8")
    script = tmp_path / "play.py"
    script.write_text(
        "import asyncio, subprocess, sys\n"
        "from saga_core import Saga\n"
        "async def main():\n"
        "    async with Saga.open({'storage': {'profile': 'memory', 'state': 'mystore:MyStore'}}) as saga:\n"
        "        print((await saga.status())['stores']['state']['backend'], flush=True)\n"
        "asyncio.run(main())\n"
        "command = [sys.executable, '-m', 'conformance', 'run', 'mystore:HARNESS', '--profile', 'quick']\n"
        "sys.exit(subprocess.run(command).returncode)\n"
    )
    backend, verdict, *_ = run(script, tmp_path, tmp_path).splitlines()
    assert (backend, verdict) == ("mine", "mine (state): conformant")


def test_the_page_names_every_protocol_with_all_its_operations() -> None:
    protocols = {
        "state": StateKV,
        "graph": GraphStore,
        "vector": VectorStore,
        "cache": MdCache,
        "curator": Curator,
    }
    shared = {name for name in vars(Store) if not name.startswith("_")}
    listed = {row[0].strip("`"): row for row in BACKEND_PAGE.rows if len(row) == 3 and row[0].strip("`") in protocols}
    assert set(listed) == set(protocols)
    for kind, protocol in protocols.items():
        _, name, operations = listed[kind]
        own = {method for method in vars(protocol) if not method.startswith("_")} - shared
        assert name == f"`{protocol.__name__}`"
        assert set(re.findall(r"`(\w+)`", operations)) == own


def test_the_example_has_the_signatures_of_its_protocol() -> None:
    for protocol in (Store, StateKV):
        for name, method in vars(protocol).items():
            if inspect.isfunction(method) and not name.startswith("_"):
                assert inspect.signature(getattr(DictState, name)) == inspect.signature(method), name


def test_the_page_lists_every_capability() -> None:
    listed = {row[0].strip("`") for row in BACKEND_PAGE.rows if len(row) == 2}
    assert {capability.value for capability in Capability} <= listed


def test_the_page_names_the_suites_commands_and_verdicts() -> None:
    from conformance import Verdict
    from conformance.cli import main

    for name in main.commands:
        assert f"python -m conformance {name}" in BACKEND_PAGE.text
    for verdict in Verdict:
        assert f"`{verdict.value}`" in BACKEND_PAGE.text
