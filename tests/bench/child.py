"""One measurement in a process of its own: ``python -m tests.bench.child cold|turns FOLDER …`` prints JSON."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.bench.play import read_play
from tests.bench.turn import measure_cold, measure_turns


def measure(what: str, folder: Path, numbers: Sequence[int]) -> dict[str, Any]:
    """Run ``cold``, or ``turns`` with the numbers of reads and of turns to play."""
    play = read_play(folder)
    if what == "cold":
        return asyncio.run(measure_cold(play))
    reads, turns = numbers
    return asyncio.run(measure_turns(play, reads, turns))


if __name__ == "__main__":
    json.dump(measure(sys.argv[1], Path(sys.argv[2]), list(map(int, sys.argv[3:]))), sys.stdout)
