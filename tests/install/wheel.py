"""The wheel of this checkout, and environments in which nothing else is installed."""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("saga_core", "saga_backends", "saga_server", "conformance")
PAGES = ("index.html", "dist/app.js", "build/style.css", "img/logo.svg")
"""Files of a page, some in folders that .gitignore names."""


def build(copy: Path) -> Path:
    """A wheel of a copy of this checkout, with pages in ``saga_server/web``."""
    for name in (*PACKAGES, "worlds"):
        shutil.copytree(ROOT / name, copy / name)
    for name in ("pyproject.toml", "README.md", "LICENSE", ".gitignore"):
        shutil.copy(ROOT / name, copy / name)
    for name in PAGES:
        page = copy / "saga_server" / "web" / name
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(name, encoding="utf-8")
    made = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(copy / "made")]
    subprocess.run(made, cwd=copy, check=True, capture_output=True)
    (found,) = (copy / "made").glob("*.whl")
    return found


def fresh_environment(folder: Path, wheel: Path, *extras: str) -> Path:
    """A new environment with the wheel and these extras; its Python. By uv if that is here, else by the pip of this
    environment: one of its own takes 4 s to make, and is slower."""
    venv.create(folder)
    python = folder / "bin" / "python"
    what = [f"{wheel}[{','.join(extras)}]" if extras else str(wheel), "-c", str(ROOT / "constraints.txt")]
    if shutil.which("uv") is not None:
        install = ["uv", "pip", "install", "-q", "--python", str(python), *what]
    else:
        pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
        install = [*pip, "install", "-q", "--no-compile", *what]
    done = subprocess.run(install, capture_output=True, text=True, check=False)
    if done.returncode and any(each in done.stderr for each in ("Failed to establish", "dns error", "Failed to fetch")):
        pytest.skip(f"the package index was not reached: {done.stderr[-200:]}")
    assert done.returncode == 0, done.stderr
    return python
