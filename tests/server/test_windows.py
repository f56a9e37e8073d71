"""What is different on Windows, as far as it can be simulated: signals beside the loop, and code pages."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

_WITHOUT_SIGNALS = """
import asyncio, sys

def refused(*_):
    raise NotImplementedError  # as ProactorEventLoop does

asyncio.SelectorEventLoop.add_signal_handler = refused
from saga_server.cli import main
main(["serve", "--port", "0"], prog_name="saga")
"""
_SAID = "import sys; from saga_server.terminal import *; let_everything_be_said(); {}"


@pytest.mark.skipif(sys.platform == "win32", reason="another process cannot be sent SIGINT there")
@pytest.mark.parametrize("number", [pytest.param(signal.SIGINT, marks=pytest.mark.deep), signal.SIGTERM])
def test_a_loop_that_takes_no_signals(tmp_path: Path, number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _WITHOUT_SIGNALS], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            assert any(line.startswith("SAGA ready at") for line in process.stdout)
            process.send_signal(number)
            rest = process.stdout.read()
            assert process.wait(30) == 0
        finally:
            process.kill()
    assert "SAGA is stopping" in rest and "SAGA stopped" in rest


def said(call: str, encoding: str) -> bytes:
    environ = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    done = subprocess.run([sys.executable, "-c", _SAID.format(call)], env=environ, capture_output=True, check=True)
    return done.stdout.rstrip()


@pytest.mark.parametrize(("encoding", "kept"), [("cp949", "여관 ━"), ("cp1252", "café"), ("utf-8", "여관 é 😀 ═")])
def test_a_code_page_shows_what_it_has(encoding: str, kept: str) -> None:
    assert said(f"say({kept!r})", encoding).decode(encoding) == kept


@pytest.mark.parametrize("encoding", ["cp949", "cp1252"])
def test_what_a_code_page_lacks_is_written_out(encoding: str) -> None:
    text = said("say('한 é 😀')", encoding).decode(encoding)
    assert re.sub(r"(?:\\u[0-9a-f]{4})+", lambda found: json.loads(f'"{found[0]}"'), text) == "한 é 😀"


@pytest.mark.parametrize("encoding", ["cp949", "cp1252"])
def test_json_stays_json(encoding: str) -> None:
    assert json.loads(said("say_json({'이름': 'é 😀'})", encoding).decode(encoding)) == {"이름": "é 😀"}


def test_the_demo_and_the_setup_begin_in_any_code_page(tmp_path: Path) -> None:
    environ = {**os.environ, "PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"}
    setup = [sys.executable, "-m", "saga_server", "setup", "--yes", "--no-doctor", "--talk", "ko"]
    done = subprocess.run(setup, cwd=tmp_path, env=environ, capture_output=True, check=True)
    assert rb"SillyTavern: API Connections" in done.stdout and rb"\uc124\uc815" in done.stdout
