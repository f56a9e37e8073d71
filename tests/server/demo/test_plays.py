"""The demo itself, whole: the real server as a process, HTTP, real stores, a kill on the way."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from attrs import evolve

from saga_server.demo.adventure import Expected, adventure
from saga_server.demo.play import play
from saga_server.demo.screen import Screen, make_console
from saga_server.demo.server_process import ServerFailed, ServerProcess

HARROW = adventure("en")
ROOT = Path(__file__).resolve().parents[3]

ENDS = {
    "ko": ("마지막 상태가 모험이 이끈 그대로다.", "잃은 턴: 0"),
    "en": ("The final state is what the adventure leads to.", "lost turns: 0"),
}


@pytest.mark.parametrize(
    ("language", "stores", "shown"),
    [
        ("ko", (), "graph networkx"),
        pytest.param("en", (), "vector sqlite", marks=pytest.mark.deep),
        pytest.param(
            "ko", ("--profile", "full"), "graph ladybug 0.* vector chroma 1.", marks=pytest.mark.deep
        ),  # in each run the engines are compared by tests/backends/test_same_context.py
        pytest.param("en", ("--profile", "full-lance"), "graph ladybug 0.* vector lancedb 0.", marks=pytest.mark.deep),
        pytest.param(
            "en", ("--profile", "full", "--graph", "kuzu"), "graph kuzu 0.* vector chroma 1.", marks=pytest.mark.deep
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_the_adventure_ends_as_it_should(language: str, stores: tuple[str, ...], shown: str, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "saga_server",
        "demo",
        "--lang",
        language,
        *stores,
        "--plain",
        "--keep",
        str(tmp_path / "data"),
    ]
    success, lost = ENDS[language]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=110, check=False)
    assert re.search(shown, " ".join(done.stdout.split()))
    assert done.returncode == 0, done.stdout[-4_000:] + done.stderr[-2_000:]
    assert success in done.stdout
    assert lost in done.stdout
    assert "✗" not in done.stdout
    assert "```" not in done.stdout
    assert "\x1b" not in done.stdout
    assert (tmp_path / "data" / "server.log").is_file()


@pytest.mark.deep  # it plays the whole demonstration
async def test_a_wrong_end_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    short = evolve(HARROW, steps=HARROW.steps[:2], final=Expected(hp=99, dead=frozenset({"Corin Fenwright"})))
    server = ServerProcess(tmp_path, "lite", "harrow")
    assert not await play(short, server, Screen(make_console(plain=True), HARROW.screen))
    shown = capsys.readouterr().out
    assert "hp: 100, not 99" in shown
    assert "dead: [], not ['Corin Fenwright']" in shown


async def test_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    server = ServerProcess(tmp_path, "no-such-profile", "ersia")
    with pytest.raises(ServerFailed, match="no-such-profile"):
        await server.start()
    await server.stop()


async def test_a_demo_of_engines_that_are_missing_is_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It goes on over the engines that take their place, says so, and does not pretend to have succeeded."""
    (tmp_path / "ladybug.py").write_text("raise ImportError('no such engine here')", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(tmp_path), str(ROOT))))
    short = evolve(HARROW, steps=HARROW.steps[:1], final=Expected())
    server = ServerProcess(tmp_path, "full", "harrow", stores={"vector": "sqlite"})
    assert not await play(short, server, Screen(make_console(plain=True), HARROW.screen))
    said = " ".join(capsys.readouterr().out.split())
    assert "graph networkx" in said
    assert "pip install 'saga-rp[ladybug]'" in said
    assert "lost turns: 0" in said
