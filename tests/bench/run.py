"""Run the whole benchmark: write and measure plays of several lengths, and describe the machine."""

from __future__ import annotations

import asyncio
import os
import platform
import shutil
import sqlite3
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from attrs import asdict, evolve

from tests.bench.play import PlayOptions, write_play
from tests.bench.processes import REPEATS, bytes_on_disk, child, import_cpu, server_figures
from tests.bench.turn import READS, TURNS

_LIBRARIES = ("saga-rp", "aiohttp", "attrs", "cattrs", "numpy")

Say = Callable[[str], None]


def run_bench(
    options: PlayOptions,
    lengths: Sequence[int],
    folder: Path,
    say: Say,
    *,
    reads: int = READS,
    turns: int = TURNS,
    repeats: int = REPEATS,
) -> dict[str, Any]:
    """Measure plays of ``lengths`` turns, which are written below ``folder``. Return all results, ready for JSON.

    ``reads`` and ``turns`` say how many of each are measured on a warm session. ``repeats`` is the number of fresh
    processes for each figure of a process, of which the best counts.
    """
    plays = [_run_play(evolve(options, turns=length), folder, say, reads, turns, repeats) for length in lengths]
    say("imports")
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "options": {name: value for name, value in asdict(options).items() if name != "turns"},
        "measured": {"reads": reads, "turns": turns, "repeats": repeats},
        "imports": {module: import_cpu(module, repeats) for module in ("saga_core", "saga_core.saga")},
        "plays": plays,
    }


def _run_play(options: PlayOptions, folder: Path, say: Say, reads: int, turns: int, repeats: int) -> dict[str, Any]:
    place = folder / f"{options.turns}-turns"
    place.mkdir(parents=True)
    say(f"{options.turns} turns: playing")
    play = asyncio.run(write_play(place, options))
    disk = bytes_on_disk(place / "data")
    say(f"{options.turns} turns: loading")
    cold = [child("cold", place) for _ in range(repeats)]
    say(f"{options.turns} turns: serving")
    # The server gets a copy, because it records a turn. The next measurement needs the play unchanged.
    copy = folder / f"{options.turns}-turns-served"
    shutil.copytree(place, copy)
    server = server_figures(evolve(play, folder=copy), repeats)
    shutil.rmtree(copy)
    say(f"{options.turns} turns: reading and playing on")
    warm = child("turns", place, reads, turns)
    return {
        "turns": options.turns,
        "disk": disk,
        "cold": {
            part: {kind: min(found[part][kind] for found in cold) for kind in ("cpu", "wall")}
            for part in ("open", "warm", "load")
        },
        "server": server,
        "warm": warm,
    }


def machine() -> dict[str, Any]:
    """The machine, the interpreter and the libraries."""
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "optimized": "--enable-optimizations" in _build(),
        "sqlite": sqlite3.sqlite_version,
        "libraries": {name: _version(name) for name in _LIBRARIES},
    }


def _build() -> str:
    import sysconfig

    return str(sysconfig.get_config_var("CONFIG_ARGS") or sys.version)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed as a package"
