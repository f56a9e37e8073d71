"""Second processes, as their parent sees them: started, watched, killed, and their answers read."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from conformance.assertions import CheckFailed, require
from conformance.calls import Order, StoreCall
from conformance.case import Case

_PATIENCE = 60.0
_SOON = 200
"""The lines of a process within which it must notice something. Some may be in the pipe."""


def child(case: Case, path: Path, *, seed: int = 0, **order: Any) -> subprocess.Popen[bytes]:
    """Start a process that opens the harness's store at ``path``. ``order`` has the fields of ``Order``."""
    path.mkdir(parents=True, exist_ok=True)
    try:
        text = pickle.dumps(Order(case.harness.open, str(path), **order))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise CheckFailed(
            f"harness.open cannot be sent to another process ({error}); make it a function of an importable module, "
            "or a functools.partial of one"
        ) from error
    file = case.place(f"order-{case.count()}")
    file.write_bytes(text)
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(part or os.curdir for part in sys.path)}
    environ["PYTHONHASHSEED"] = str(seed)
    flags = ["-O"] if sys.flags.optimize else []
    command = [sys.executable, *flags, "-m", "conformance.second_process", str(file)]
    with _errors_of(command).open("wb") as errors:  # no pipe: a store that prints much would wait for a reader
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env=environ)


def ended_as(code: int) -> str:
    """How a process ended: the signal, or the exit status."""
    return f"by {signal.Signals(-code).name}" if code < 0 else f"with exit status {code}"


def _errors_of(command: Any) -> Path:
    """The file of what the process of ``command`` prints. The store's own prints are there, too."""
    return Path(command[-1] + ".stderr")


def _lines(process: subprocess.Popen[bytes], kill_after: int | None, late: float) -> list[str]:
    """The lines that the process prints. It is killed when it has finished ``kill_after`` calls, and has been at the
    next one for ``late`` times as long as at each of those."""
    lines: list[str] = []
    began = monotonic()
    if process.stdout is None:
        raise CheckFailed("the second process has no output")
    for raw in process.stdout:
        lines.append(raw.decode().strip())
        began = began if len(lines) > 1 else monotonic()
        if kill_after is not None and len(lines) == kill_after + 1:  # the first line says that the store is open
            sleep(late * (monotonic() - began) / max(1, kill_after))
            process.kill()
    return lines


async def watched(
    process: subprocess.Popen[bytes], kill_after: int | None = None, late: float = 0.0
) -> tuple[list[str], str]:
    """Wait for the process, and return its lines and the end of its stderr. The process is gone afterwards."""
    try:
        async with asyncio.timeout(_PATIENCE):
            lines = await asyncio.to_thread(_lines, process, kill_after, late)
            await asyncio.to_thread(process.communicate)
    finally:
        end(process)
    errors = _errors_of(process.args).read_text(errors="replace").strip()
    if process.returncode not in (0, -signal.SIGKILL):
        errors += f"\nthe process ended {ended_as(process.returncode)}"
    last = errors.rpartition("\n")[2]  # of a traceback, the line that says what it was
    return lines, errors if last == errors else f"{last}\n{errors[-2_000:]}"


class Watched:
    """A second process whose lines are read while it runs."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        for raw in self.process.stdout or ():
            self.lines.append(raw.decode().strip())

    async def until(self, word: str, what: str) -> None:
        """Wait until the next two lines in a row are ``word``. Raises ``CheckFailed`` if that does not come soon."""
        begun, end = len(self.lines), monotonic() + _PATIENCE
        while not (len(self.lines) > begun + 1 and self.lines[-2:] == [word] * 2):
            ended = not self._reader.is_alive() or monotonic() > end or len(self.lines) > begun + _SOON
            require(not ended, f"{what}: gave {self.lines[-3:]}, expected {word}")
            await asyncio.sleep(0.001)

    async def ended(self) -> list[str]:
        """Wait for the end of the process, and return its lines."""
        await asyncio.to_thread(self._reader.join, _PATIENCE)
        return list(self.lines)

    def end(self) -> None:
        """Kill the process if it still runs."""
        self.process.kill()
        self._reader.join()
        end(self.process)


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill the process if it still runs, and close its pipes."""
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


async def read_elsewhere(
    case: Case, path: Path, calls: Sequence[StoreCall], *, seed: int = 0, close: bool = True, **order: Any
) -> tuple[list[Any], Any]:
    """Make ``calls`` in another process. Returns the typed answers, and the contents that it sees afterwards."""
    file = case.place(f"answers-{case.count()}")
    process = child(case, path, seed=seed, calls=tuple(calls), close=close, answers=str(file), **order)
    lines, errors = await watched(process, None if close else len(calls) + 1)
    require(lines[:1] == ["open"], f"another process could not open the store: it printed {lines}. {errors}")
    require("answered" in lines, f"another process failed after {lines[1:]}: {errors}")
    found: tuple[list[Any], Any] = pickle.loads(file.read_bytes())
    return found
