"""Stores that block, end the process or do not open: the run says at which call, and leaves no process behind."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

import pytest
from click.testing import CliRunner

from conformance.cli import main
from conformance.isolated import _LIMITS
from conformance.runner import _BRIEF_PATIENCE
from tests.conformance import liars

RUN = "import conformance.isolated as i; i._LATE = 1.5; from conformance.cli import main; main()"


def test_the_watchdog_of_a_quick_run_bites_soon() -> None:
    assert 2 * _BRIEF_PATIENCE <= _LIMITS["quick"] <= 4 * _BRIEF_PATIENCE


def _line_of(code: str) -> int:
    lines = Path(liars.__file__).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if code in line)


AT = f"L-8.large_calls, in Blocks.commit ({liars.__file__}:{_line_of('the fault itself')})"


@pytest.mark.parametrize(
    ("harness", "number", "told"),
    [
        ("BLOCKS", signal.SIGINT, AT),
        ("BLOCKS", signal.SIGTERM, AT),
        ("BLOCKS", signal.SIGKILL, AT),
        ("OPEN_BLOCKS", signal.SIGINT, "loading the harness, in open ("),
    ],
)
def test_one_signal_to_the_command_alone_ends_a_blocked_store(harness: str, number: int, told: str) -> None:
    run = subprocess.Popen(
        [sys.executable, "-c", RUN, "run", f"tests.conformance.liars:{harness}", "--profile", "quick", "--only", "L-8"],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert run.stderr is not None
    check, _, call = told.partition(", in ")
    running = next(line for line in run.stderr if f"  {check} for " in line and call in line)
    assert running.startswith("     running  ")
    children = Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text(encoding="ascii").split()
    assert children
    run.send_signal(number)
    sleep(0.002)
    run.send_signal(signal.SIGTERM)  # as a runner does that has no patience
    _, said = run.communicate(timeout=10)
    assert run.returncode == (-number if number == signal.SIGKILL else 130)
    assert number == signal.SIGKILL or said.strip().splitlines()[-1].startswith(f"interrupted during {told}")
    end = monotonic() + 10
    while alive := [child for child in children if _runs(child)]:
        assert monotonic() < end, alive
        sleep(0.05)


def _runs(process: str) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(") ")[2][0] != "Z"
    except FileNotFoundError:
        return False


def told(name: str, *only: str) -> str:
    options = [option for each in only for option in ("--only", each)]
    return CliRunner().invoke(main, ["run", f"tests.conformance.liars:{name}", "--profile", "quick", *options]).output


def test_the_call_in_which_the_process_ended_is_named() -> None:
    said = told("LEAVES", "S-4")
    assert "the process ended with exit status 0 during LeavesBeforeItIsJudged.scan" in said
    assert "each call MUST. It returns or raises, and leaves the process running." in said
    assert "S-4 MUST." not in said


def test_sys_exit_in_a_store_ends_its_call_alone() -> None:
    for name in ("QUITS", "TASK_QUITS"):
        said = told(name, "L-10", "S-1")
        assert f"{name.lower()} (state): nonconformant" in said
        assert "SystemExit escaped: no licence" in said
        assert "the process ended" not in said
        assert f"{liars.__file__}" in said


def test_an_error_of_many_checks_is_printed_once_before_the_summary() -> None:
    said = told("OPEN_RAISES", "S-1", "S-4", "S-8")
    assert said.partition("open_raises (state)")[0].count("no engine at ") == 1
    assert f'File "{liars.__file__}", line' in said
