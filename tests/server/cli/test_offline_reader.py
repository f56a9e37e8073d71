"""Commands that look, while a server has the data directory open."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from saga_core import Saga
from saga_core.config import Config, load_config
from saga_core.ports import SystemClock
from saga_server.cli.saga_command import main
from saga_server.process.running_server import READY_AT, address_of
from tests.core.frontend import Frontend

SAGA = [sys.executable, "-m", "saga_server"]


class LastMonth(SystemClock):
    """So long ago that an opening nobody came back to is fleeting."""

    def now(self) -> float:
        return super().now() - 30 * 86_400.0


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with a session of two timelines, one of them named."""
    folder = tmp_path_factory.mktemp("here")

    async def play() -> None:
        async with Saga.open({"storage": {"path": str(folder / "data")}}, clock=LastMonth()) as saga:
            chat = Frontend(saga, session="나의 모험/1")
            await chat.say("간다.", "길이 열린다. 바람이 분다.")
            await saga.timelines.fork("나의 모험/1", None, "끝")
            await chat.say("더 간다.", "길이 끝난다. 바다가 보인다.", hp_change=-10)
            await Frontend(saga, greeting="비가 온다.").say("본다.", "창밖이 흐리다. 조용하다.")

    asyncio.run(play())
    return folder


@pytest.fixture(scope="module")
def served(here: Path) -> Iterator[subprocess.Popen[str]]:
    """``saga serve`` on a free port, with keys."""
    (here / "saga.yaml").write_text("storage: {path: data}\nserver: {api_keys: [first, second]}\n", encoding="utf-8")
    process = subprocess.Popen(
        [*SAGA, "serve", "--port", "0"], cwd=here, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if line.startswith(READY_AT):
                break
        else:
            raise AssertionError("the server did not start")
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=30)


@pytest.fixture(autouse=True)
def logging_as_it_was() -> Iterator[None]:
    """Commands set it up."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def _config(here: Path) -> Config:
    return load_config({"storage": {"path": str(here / "data")}})


def run(here: Path, *arguments: str) -> Result:
    """A command in this process, which is another one than the server's."""
    with chdir(here):
        return CliRunner().invoke(main, arguments)


@pytest.fixture
def address(here: Path, served: subprocess.Popen[str]) -> Iterator[Path]:
    """The file in which the server says where it is; it is afterwards as it was."""
    file = here / "data" / "server.json"
    said = file.read_bytes()
    yield file
    file.write_bytes(said)


def test_the_doctor_asks_the_server_of_its_stores(here: Path, served: subprocess.Popen[str], address: Path) -> None:
    result = run(here, "doctor")
    assert result.exit_code == 0, result.stdout
    assert f"ok  stores: open in the server at {address_of(_config(here))}, which says of them:" in result.stdout
    assert "ok  state: sqlite " in result.stdout
    address.unlink()
    result = run(here, "doctor")
    assert result.exit_code == 1
    assert (
        f"!!  stores: storage.state: sqlite: {here / 'data' / 'state.db'}: is open in process {served.pid}"
        in result.stdout
    )


def test_a_server_that_cannot_be_asked_is_named(here: Path, served: subprocess.Popen[str], address: Path) -> None:
    noted = json.loads(address.read_text(encoding="utf-8"))
    address.write_text(json.dumps({**noted, "url": "http://127.0.0.1:9"}), encoding="utf-8")
    result = run(here, "sessions")
    assert result.exit_code == 1
    assert "http://127.0.0.1:9: the server does not answer" in result.stderr


def test_a_second_server_on_the_data_says_who_has_it_and_ends(here: Path, served: subprocess.Popen[str]) -> None:
    result = run(here, "serve", "--port", "0")
    assert result.exit_code == 1
    assert READY_AT not in result.stdout
    assert f"is open in process {served.pid}; stop it, or give this one another path" in result.stderr
    assert run(here, "sessions").exit_code == 0, "the first one serves on"


@pytest.mark.deep
def test_a_running_server_is_asked_and_says_the_same(here: Path, served: subprocess.Popen[str]) -> None:
    beside = {
        "sessions": run(here, "sessions", "--json"),
        "timelines": run(here, "timelines", "나의 모험/1", "--json"),
        "compare": run(here, "compare", "나의 모험/1", "끝", "끝", "--json", "--language", "ko"),
        "unknown": run(here, "timelines", "없는 모험"),
    }
    served.terminate()
    served.communicate(timeout=30)
    assert address_of(_config(here)) is None
    assert (beside["unknown"].exit_code, "없는 모험" in beside["unknown"].stderr) == (2, True)
    assert json.loads(beside["sessions"].stdout)["fleeting"] == 0, "a server collects them when it starts"
    assert json.loads(beside["sessions"].stdout) == json.loads(run(here, "sessions", "--json").stdout)
    for name, arguments in (
        ("timelines", ["나의 모험/1"]),
        ("compare", ["나의 모험/1", "끝", "끝", "--language", "ko"]),
    ):
        alone = json.loads(run(here, name, *arguments, "--json").stdout)
        found = json.loads(beside[name].stdout)
        for row in (*alone.get("timelines", ()), *found.get("timelines", ())):
            row.pop("live")  # stores of a timeline are opened by playing
        assert found == alone
