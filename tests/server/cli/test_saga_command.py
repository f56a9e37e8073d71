"""The command line, in processes of its own."""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from saga_server.cli.saga_command import main

READY = re.compile(r"^SAGA ready at (http://\S+)/v1$")
UNWANTED = [name for name in os.environ if name.startswith(("SAGA_", "OPENAI_", "ANTHROPIC_", "GOOGLE_", "GEMINI_"))]
ENVIRON = {name: value for name, value in os.environ.items() if name not in UNWANTED}


def saga(*arguments: str, cwd: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "saga_server", *arguments],
        cwd=cwd, env={**ENVIRON, **environ}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


@contextmanager
def serving(
    *arguments: str, cwd: Path, logged: bool = False, **environ: str
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A server that is ready, and its base URL. ``logged``: it says so in a log of JSON lines."""
    process = subprocess.Popen(
        [sys.executable, "-m", "saga_server", "serve", *arguments],
        cwd=cwd, env={**ENVIRON, **environ}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    with process:
        try:
            assert process.stdout is not None
            assert process.stderr is not None
            said: Iterator[str] = (line.rstrip("\n") for line in process.stdout)
            if logged:
                said = (json.loads(line)["message"] for line in process.stderr)
            found = next(filter(None, map(READY.match, said)), None)
            assert found is not None, process.stderr.read()
            yield found[1], process
        finally:
            process.kill()


def ask(url: str, body: dict[str, Any] | None = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data=data), timeout=30) as reply:
        return json.load(reply)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The working directory of ``invoked``; logging is afterwards as it was."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    root.handlers[:] = handlers
    root.setLevel(level)


def invoked(*arguments: str) -> Result:
    """A command in this process."""
    return CliRunner(env=dict.fromkeys(UNWANTED)).invoke(main, arguments)


class TestServe:
    def test_a_life(self, tmp_path: Path) -> None:
        place = str(tmp_path / "notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(place)
            manager.settimeout(30)
            with serving("--port", "0", "--data", "자료", cwd=tmp_path, NOTIFY_SOCKET=place) as (url, process):
                assert manager.recv(99) == b"READY=1"
                reply = ask(f"{url}/v1/chat/completions", {"messages": [{"role": "user", "content": "안녕"}]})
                assert reply["choices"][0]["message"]["content"]
                assert ask(f"{url}/readyz")["status"] == "ready"
                process.send_signal(signal.SIGINT)
                rest, errors = process.communicate(timeout=30)
            assert manager.recv(99) == b"STOPPING=1"
        assert process.returncode == 0
        assert "SAGA stopped:" in rest
        assert "Traceback" not in errors
        assert (tmp_path / "자료" / "state.db").is_file()

    def test_it_says_how_to_connect_and_where_things_are(self, tmp_path: Path) -> None:
        (tmp_path / "saga.yaml").write_text("server: {port: 0}\nstorage: {path: here}\n", encoding="utf-8")
        process = subprocess.Popen(
            [sys.executable, "-m", "saga_server", "serve"],
            cwd=tmp_path, env=ENVIRON, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        with process:
            assert process.stdout is not None
            said = []
            for line in process.stdout:
                said.append(line)
                if READY.match(line.rstrip("\n")):
                    break
            process.send_signal(signal.SIGTERM)
            assert process.wait(30) == 0
        text = "".join(said)
        for word in ("SillyTavern", "RisuAI", "/v1/chat/completions", "offline", "sqlite", str(tmp_path / "here")):
            assert word in text
        assert "\x1b" not in text

    def test_a_port_in_use(self, here: Path) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = str(taken.getsockname()[1])
            result = invoked("serve", "--port", port)
        assert result.exit_code == 1
        assert result.stdout == ""
        assert result.stderr.strip().splitlines()[-1].startswith(f"saga: 127.0.0.1:{port} is in use")
        assert "Traceback" not in result.stderr
        assert not (here / "saga-data").exists()

    @pytest.mark.parametrize(
        ("text", "arguments", "code", "message"),
        [
            ("server: {port: x}", (), 2, 'saga: saga.yaml: server.port: "x" is not allowed; give a whole number'),
            ("server: {", (), 2, "saga: saga.yaml: line 1"),
            ("servr: {}\nx: 1", (), 2, "saga: saga.yaml: servr: unknown key; did you mean server?"),
            ("server: {host: 0.0.0.0}", (), 2, "set server.api_keys, or server.host: 127.0.0.1"),
            ("", ("--host", "0.0.0.0"), 2, "set server.api_keys, or server.host: 127.0.0.1"),
            ("", ("--config", "nothing.yaml"), 2, "saga: nothing.yaml: there is no such file"),
            ("", ("--port", "abc"), 2, "'abc' is not a valid integer"),
            ("", ("--port", "99999"), 2, "99999 is not in the range"),
            ("", ("--nonsense",), 2, "No such option"),
            ("storage: {state: {backend: postgrse}}", (), 2, "no state backend 'postgrse'; known: "),
            ("storage: {path: saga.yaml/x}", (), 1, "saga.yaml"),
        ],
    )
    def test_what_is_wrong_is_said_in_a_line(
        self, here: Path, text: str, arguments: tuple[str, ...], code: int, message: str
    ) -> None:
        if text:
            (here / "saga.yaml").write_text(text, encoding="utf-8")
        given = arguments if "--port" in arguments or "server:" in text else (*arguments, "--port", "0")
        result = invoked("serve", *given)
        assert result.exit_code == code, result.stderr
        assert message in result.stderr
        assert "Traceback" not in result.stderr
        assert result.stdout == ""

    def test_every_culprit_has_a_line(self, here: Path) -> None:
        (here / "saga.yaml").write_text("a: 1\nb: 2\nserver: {port: -1}\n", encoding="utf-8")
        assert len(invoked("serve").stderr.splitlines()) == 3

    def test_data_of_a_newer_saga(self, here: Path) -> None:
        (here / "saga-data").mkdir()
        assert invoked("sessions").exit_code == 0
        with sqlite3.connect(here / "saga-data" / "state.db") as data:
            data.execute("PRAGMA user_version = 999")
        data.close()
        result = invoked("serve", "--port", "0")
        assert result.exit_code == 1
        assert "newer" in result.stderr
        assert "Traceback" not in result.stderr

    def test_the_environment_names_the_file(self, tmp_path: Path) -> None:
        (tmp_path / "mine.yaml").write_text("nonsense: 1", encoding="utf-8")
        result = saga("serve", cwd=tmp_path, SAGA_CONFIG="mine.yaml")
        assert "saga: mine.yaml: nonsense: unknown key" in result.stderr


class TestDoctor:
    def test_all_is_well(self, tmp_path: Path) -> None:
        result = saga("doctor", cwd=tmp_path)
        assert result.returncode == 0, result.stdout
        assert "all is well" in result.stdout
        assert "!!" not in result.stdout

    def test_it_tells_of_each_store_what_is_opened_how_large_it_is_and_what_else_is_there(self, tmp_path: Path) -> None:
        (tmp_path / "saga.yaml").write_text("storage: {profile: full}", encoding="utf-8")
        result = saga("doctor", cwd=tmp_path)
        assert result.returncode == 0, result.stdout + result.stderr
        for kind, name, more in (
            ("state", "sqlite", "quick check passed"),
            ("graph", "ladybug", "0 nodes"),
            ("vector", "chroma", "every item was read"),
            ("cache", "files", "0 scopes"),
        ):
            assert re.search(
                rf"^ok  {kind}: {name}.* in {re.escape(str(tmp_path))}/.*MB\): .*{more}", result.stdout, re.M
            )
        assert re.search(
            r"^ok  graph backends: installed: kuzu \(kuzu .*\), ladybug \(.*\) in use, ", result.stdout, re.M
        )
        assert re.search(
            r"^ok  vector backends: installed: chroma \(chromadb .*\) in use, lancedb", result.stdout, re.M
        )

    @pytest.mark.deep
    def test_it_tells_of_engines_that_were_used_before_and_changes_nothing(self, here: Path) -> None:
        assert saga("rebuild", "--to", "vector=lancedb", cwd=here).returncode == 0
        for _ in range(2):
            result = invoked("doctor")
            assert result.exit_code == 1
            assert "!!  vector.changed: the data directory was written with lancedb" in result.stdout
            assert "saga rebuild --to vector=sqlite" in result.stdout

    def test_it_tells_what_to_install(self, tmp_path: Path) -> None:
        (tmp_path / "chromadb.py").write_text("raise ImportError('no such engine here')", encoding="utf-8")
        environ = {"PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
        (tmp_path / "saga.yaml").write_text("storage: {vector: {backend: chroma}}", encoding="utf-8")
        result = saga("doctor", cwd=tmp_path, **environ)
        assert result.returncode == 1
        assert "!!  vector.chroma: storage.vector: vector.chroma: chromadb cannot be imported" in result.stdout
        assert "pip install 'saga-rp[chroma]'" in result.stdout
        assert re.search(r"^ok  vector: sqlite", result.stdout, re.M)

    def test_what_is_wrong(self, here: Path) -> None:
        (here / "saga.yaml").write_text(
            "server: {host: 0.0.0.0}\nsession: {default_world: nowhere}\n"
            "providers: {openai: {base_url: 'http://127.0.0.1:1/v1', max_retries: 0}}\n",
            encoding="utf-8",
        )
        world = here / "worlds" / "broken"
        world.mkdir(parents=True)
        (world / "WORLD.md").write_bytes(b"\xff\xfe")
        result = invoked("doctor")
        assert result.exit_code == 1
        marked = [line for line in result.stdout.splitlines() if line.startswith("!!")]
        for word in ("server.api_keys", "nowhere", "world broken", "cannot reach 127.0.0.1:1"):
            assert any(word in line for line in marked), (word, marked)

    def test_slips_in_a_world_are_told(self, here: Path) -> None:
        world = here / "worlds" / "mill"
        world.mkdir(parents=True)
        (world / "LOREBOOK.md").write_text("## Yard\n- type: location\n", encoding="utf-8")
        result = invoked("doctor")
        assert 'ok  world mill: worlds/mill/LOREBOOK.md:1: "Yard" has no layer; read as A3' in result.stdout


class TestHelp:
    @pytest.mark.parametrize("arguments", [[], ["--help"], ["serve", "--help"], ["doctor", "-h"], ["--version"]])
    def test_it_is_there(self, arguments: list[str]) -> None:
        result = CliRunner().invoke(main, arguments)
        assert result.exit_code == (2 if not arguments else 0)
        assert "saga" in result.output.lower()

    def test_it_names_every_command(self) -> None:
        output = CliRunner().invoke(main, ["--help"]).output
        assert all(command in output for command in main.list_commands(click.Context(main)))
