"""Which engines are installed is told without importing any."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from typing import Any

import pytest

from saga_server.doctor import installed
from saga_server.doctor.installed import Installed


def test_engines_come_with_their_versions() -> None:
    found = {each.name: each for each in installed.installed("vector")}
    assert found["chroma"].engines == (f"chromadb {importlib.metadata.version('chromadb')}",)
    assert found["sqlite"].engines == ()
    assert str(found["lancedb"]).startswith("lancedb (lancedb ")


def test_what_is_missing_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(package: str) -> str:
        if package == "kuzu":
            raise importlib.metadata.PackageNotFoundError(package)
        return "1"

    monkeypatch.setattr(installed, "version", version)
    found = {each.name: each for each in installed.installed("graph")}
    assert found["kuzu"].missing == "pip install 'saga-rp[kuzu]'"
    assert found["ladybug"].missing == ""


def test_a_backend_that_cannot_be_imported_is_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = importlib.metadata.EntryPoint("graph.mine", "no_such_package:BACKEND", "saga.backends")

    def points(*, group: str) -> Any:
        return (broken,)

    monkeypatch.setattr("saga_core.registry.entry_points", points)
    (found,) = installed.installed("graph")
    assert isinstance(found, Installed)
    assert "no_such_package" in found.missing


def test_no_engine_is_imported() -> None:
    program = (
        "import sys\nfrom saga_server.doctor.installed import installed\n"
        "print(len(installed('graph')), len(installed('vector')))\n"
        "print([name for name in ('kuzu', 'ladybug', 'chromadb', 'lancedb', 'networkx') if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "5 5\n[]\n"
