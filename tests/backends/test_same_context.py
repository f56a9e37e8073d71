"""Whatever the stores are, the model is told the same, byte for byte: graph engines times vector engines."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.backends.same_context import LANGUAGES, TURNS, VECTORS

ROOT = Path(__file__).resolve().parents[2]
PROCESSES = (("networkx", "ladybug"), ("kuzu",))
"""One process does not bear both."""

SOURCES = {"briefing", "connections", "lorebook", "recollection"}


def start(folder: Path, graphs: tuple[str, ...]) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.backends.same_context", str(folder), *graphs]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.deep
def test_every_combination_tells_the_same(tmp_path: Path) -> None:
    found: dict[str, Any] = {}
    running = [start(tmp_path, graphs) for graphs in PROCESSES]
    for process in running:
        output, errors = process.communicate()
        assert process.returncode == 0, errors[-4_000:]
        found.update(json.loads(output))
    assert set(found) == {f"{graph} and {vector}" for graphs in PROCESSES for graph in graphs for vector in VECTORS}
    wanted = found["networkx and sqlite"]
    for lang in LANGUAGES:
        played, shown = wanted[lang]["played"], wanted[lang]["shown"]
        assert len(played) > TURNS
        assert len(shown) > 5
        assert len({text for text, _, _ in played}) > TURNS * 0.8, "contexts that never change prove little"
        assert {source for _, sources, _ in played for source in sources} >= SOURCES
        assert {source for _, sources, _ in shown for source in sources} >= SOURCES
    for name, plays in found.items():
        for lang, told in plays.items():
            for way in ("played", "shown"):
                for number, (here, there) in enumerate(zip(told[way], wanted[lang][way], strict=True)):
                    assert here == there, f"{name}, {lang}, {way}, request {number}"
