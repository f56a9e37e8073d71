"""The wheel: everything that an installation needs, and nothing that is only a developer's."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zipfile import ZipFile

import pytest

from saga_server.process import READY_AT
from tests.install.wheel import PACKAGES, PAGES, ROOT, fresh_environment
from tests.web.chromium import MISSING, chromium

MOST_BYTES = 4 << 20

_INSTALLED = """
import json
from pathlib import Path
import saga_core
from saga_core.config import load_config
from saga_core.upstream import facts_of
from saga_core.world import WorldLibrary, default_roots

library = WorldLibrary(default_roots(load_config(None).base))
print(json.dumps({
    "from": str(Path(saga_core.__file__).parents[1]),
    "worlds": library.names(),
    "broken": len(library.broken()),
    "rooms": [world.language for world in map(library.get, library.names())],
    "facts": facts_of("claude-sonnet-4-5", "anthropic", {}).breakpoints > 0,
}))
"""


def test_every_file_of_the_packages_and_the_worlds_is_in_it(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        there = set(archive.namelist())
    wanted = {
        path.relative_to(ROOT).as_posix()
        for name in PACKAGES
        for path in (ROOT / name).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    wanted |= {f"saga_core/_packaged_{path.relative_to(ROOT).as_posix()}" for path in (ROOT / "worlds").rglob("*.md")}
    wanted |= {f"saga_server/web/{name}" for name in PAGES}
    assert wanted - there == set()
    assert {name for name in there - wanted if ".dist-info/" not in name} == set()
    assert "conformance/spec/graph.md" in wanted and "saga_core/upstream/models.toml" in wanted
    assert wheel.stat().st_size < MOST_BYTES


def test_what_is_installed_runs_in_any_folder(wheel: Path, tmp_path: Path) -> None:
    installed, elsewhere = tmp_path / "site", tmp_path / "elsewhere"
    elsewhere.mkdir()
    with ZipFile(wheel) as archive:
        archive.extractall(installed)
        (entries,) = (name for name in archive.namelist() if name.endswith("entry_points.txt"))
        assert "saga = saga_server.cli:main" in archive.read(entries).decode()
    environ = {"PYTHONPATH": str(installed), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", _INSTALLED], cwd=elsewhere, env=environ, capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)
    assert found == {
        "from": str(installed),
        "worlds": ["ersia", "harrow"],
        "broken": 0,
        "rooms": ["ko", "en"],
        "facts": True,
    }


@contextmanager
def serving(python: Path | str, folder: Path, environ: dict[str, str]) -> Iterator[str]:
    """``saga serve`` of an installation, started in ``folder``; its address."""
    settings = {"storage": {"profile": "memory"}, "extraction": {"automatic": "never"}}
    (folder / "saga.yaml").write_text(json.dumps(settings), encoding="utf-8")
    command = [str(python), "-m", "saga_server", "serve", "--config", "saga.yaml", "--port", "0"]
    with subprocess.Popen(command, cwd=folder, env=environ, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            found = next((line for line in process.stdout if line.startswith(READY_AT)), None)
            assert found is not None, "the server did not start"
            yield found.removeprefix(READY_AT).strip().removesuffix("/v1")
        finally:
            process.terminate()
            process.communicate(timeout=30)


def play_a_turn(url: str) -> str:
    """On a server that runs; the session's id."""
    body = {"model": "offline", "messages": [{"role": "user", "content": "I go to the quay."}]}
    asked = urllib.request.Request(
        f"{url}/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(asked, timeout=30) as answer:
        return str(answer.headers["X-SAGA-Session"])


async def open_every_page(url: str, session: str) -> None:
    """In a browser, on a phone."""
    from tests.web.browsing import open_browser, visiting
    from tests.web.test_pages import PAGES as LISTED

    at: Any = SimpleNamespace(url=url)
    async with open_browser() as browser, visiting(browser, at, "phone") as visit:
        for name in LISTED:
            await visit.open(name, session=session)
            await visit.page.wait_for_selector(".patience", state="detached")
        await visit.open("people", session=session)
        await visit.page.wait_for_selector("[data-item=graph][data-drawn]:not([data-drawn=false])")


@pytest.mark.skipif(chromium() is None, reason=MISSING)
@pytest.mark.deep
def test_its_pages_open_in_a_browser(wheel: Path, tmp_path: Path) -> None:
    installed = tmp_path / "site"
    with ZipFile(wheel) as archive:
        archive.extractall(installed)
    with serving(sys.executable, tmp_path, {"PYTHONPATH": str(installed), "PYTHONDONTWRITEBYTECODE": "1"}) as url:
        asyncio.run(open_every_page(url, play_a_turn(url)))


@pytest.mark.deep
@pytest.mark.skipif(chromium() is None, reason=MISSING)
def test_installed_into_a_fresh_environment_its_pages_open(wheel: Path, tmp_path: Path) -> None:
    """With nothing but what the extra ``server`` asks for."""
    python = fresh_environment(tmp_path / "fresh", wheel, "server")
    with serving(python, tmp_path, {"PATH": ""}) as url:
        asyncio.run(open_every_page(url, play_a_turn(url)))
