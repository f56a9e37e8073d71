"""Measure whole processes: imports, a server's start, and the memory of a server that holds a long session."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from saga_server.process import READY_AT
from tests.bench.play import Play

REPEATS = 5
_SECONDS = 120.0
_IMPORT = "import time; began = time.process_time(); import {}; print(time.process_time() - began)"


class ProcessFailed(Exception):
    """A measured process failed. The message has its output."""


def import_cpu(module: str, repeats: int = REPEATS) -> float:
    """The fewest milliseconds of CPU for importing ``module`` in a fresh interpreter, without the latter's start."""
    return min(float(run_python(["-c", _IMPORT.format(module)])) * 1_000 for _ in range(repeats))


def child(what: str, folder: Path, *numbers: int) -> dict[str, Any]:
    """Run ``tests.bench.child`` on the play in ``folder``, and return its results."""
    found: dict[str, Any] = json.loads(run_python(["-m", "tests.bench.child", what, str(folder), *map(str, numbers)]))
    return found


def run_python(arguments: Sequence[str]) -> str:
    """Run a fresh interpreter, and return its stdout. Raises ``ProcessFailed``."""
    done = subprocess.run(
        [sys.executable, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise ProcessFailed(f"python {' '.join(arguments)} ended with code {done.returncode}:\n{done.stderr}")
    return done.stdout


def server_figures(play: Play, repeats: int = REPEATS) -> dict[str, Any]:
    """Start the server on the play's data ``repeats`` times, and measure its start and its memory.

    Returns the fewest milliseconds until it is ready, of wall time and of CPU, and its memory in bytes. Memory is
    measured after the last start, once one turn was played over HTTP and projected into every store.
    """
    ready: list[float] = []
    used: list[float] = []
    memory: int | None = None
    for number in range(repeats):
        process, base, taken = start_server(play.config)
        try:
            ready.append(taken)
            used += [cpu for cpu in (cpu_milliseconds(process.pid),) if cpu is not None]
            if number == repeats - 1:
                _play_one(play, base)
                memory = resident_bytes(process.pid)
        finally:
            end_process(process)
    return {"ready": min(ready), "ready_cpu": min(used, default=None), "rss": memory}


def start_server(config: Path) -> tuple[subprocess.Popen[str], str, float]:
    """Start ``saga serve``. Return its process, its base URL, and the milliseconds until it was ready."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "saga_server", "serve", "--config", str(config), "--port", "0"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONUTF8": "1"},
    )
    assert process.stdout is not None
    said: list[str] = []
    for line in process.stdout:
        said.append(line)
        if line.startswith(READY_AT):
            return process, line.removeprefix(READY_AT).strip(), (time.perf_counter() - began) * 1_000
    raise ProcessFailed(f"the server did not start (code {process.wait()}):\n{''.join(said)}")


def end_process(process: subprocess.Popen[str]) -> None:
    """Terminate a process as a user would, and wait for it. It is killed after 120 seconds."""
    process.send_signal(signal.SIGTERM)
    try:
        process.communicate(timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()


def _play_one(play: Play, base: str) -> None:
    body = {"model": "offline", "messages": play.messages(play.chat, play.wishes[0])}
    reply = _post(f"{base}/chat/completions", body)
    if not reply["choices"][0]["message"]["content"]:
        raise ProcessFailed(f"the server narrated nothing: {reply}")
    drained = _post(f"{base.removesuffix('/v1')}/api/drain?timeout=60", {})
    if drained.get("waiting"):
        raise ProcessFailed(f"the server's background work did not end: {drained}")


def _post(url: str, body: Any) -> Any:
    request = urllib.request.Request(
        url, json.dumps(body).encode(), {"content-type": "application/json"}, method="POST"
    )
    with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
        return json.load(answer)


def resident_bytes(pid: int) -> int | None:
    """The resident memory of a process, in bytes, or None if neither the system nor psutil reports it."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except FileNotFoundError:
        pass
    try:
        import psutil
    except ImportError:
        return None
    return int(psutil.Process(pid).memory_info().rss)


def cpu_milliseconds(pid: int) -> float | None:
    """Milliseconds of CPU of all threads of a process so far, or None if neither the system nor psutil reports it."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * 1_000 / os.sysconf("SC_CLK_TCK")
    except FileNotFoundError:
        pass
    try:
        import psutil
    except ImportError:
        return None
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system) * 1_000


def bytes_on_disk(folder: Path) -> int:
    """The size of all files below ``folder``."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
