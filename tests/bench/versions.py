"""Compare the speed of two versions of SAGA more exactly than two runs of the benchmark ``turn`` can.

``python tests/bench/versions.py OLD NEW``, each the folder of a checkout, prints how long each step of a turn takes in
NEW, as a multiple of OLD. Both have a process, and these play in turn, a few turns at a time, so that a machine that
slows down meets both. Of two processes with the same code, one may be a twentieth faster throughout, and so may be the
one that was started second. So there are several pairs of processes, and the order changes from pair to pair.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

READ, PLAY = "read", "play"
_READY = "ready"


async def work(what: str, portion: int, length: int) -> None:
    """Be one process: measure a ``portion`` of reads or turns for each line on the standard input.

    Each answer is a line with the milliseconds of CPU time by step. The versions' own benchmarks are used.
    """
    from saga_core import Saga

    try:  # versions up to 18d39bea had their benchmark in the product
        from saga_server.bench import turn
        from saga_server.bench.play import PlayOptions, write_play
    except ImportError:
        from tests.bench import turn
        from tests.bench.play import PlayOptions, write_play

    with tempfile.TemporaryDirectory() as folder:
        play = await write_play(Path(folder), PlayOptions(length))
        async with Saga.open(play.config) as saga:
            bench: Any = turn._Bench(saga, play, turn._meter(saga))
            await bench.warm_up()
            await bench.read(portion)
            turn.settle()  # as ``saga serve`` does
            print(_READY, flush=True)

            async def asked() -> None:
                if not await asyncio.to_thread(sys.stdin.readline):
                    raise SystemExit
                bench.samples.clear()
                bench.probes.clear()

            def answer() -> None:
                print(json.dumps({name: samples.cpu for name, samples in bench.samples.items()}), flush=True)

            await asked()
            while what == READ:
                await bench.read(portion)
                answer()
                await asked()
            whole, played = turn._Bench._turn, 0

            async def one_turn(self: Any, *given: Any) -> None:
                nonlocal played
                await whole(self, *given)
                played += 1
                if played % portion == 0:
                    answer()
                    await asked()

            setattr(turn._Bench, "_turn", one_turn)  # noqa: B010 - the class has slots
            await bench.go_on(1_000_000)


class Process:
    """A process that runs ``work`` with the code of a checkout."""

    def __init__(self, checkout: Path, *given: str) -> None:
        self.samples: dict[str, list[float]] = {}
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--work", *given],
            env={**os.environ, "PYTHONPATH": str(checkout), "PYTHONSAFEPATH": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._line(_READY)

    def measure(self) -> None:
        """Measure another portion."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        for name, cpu in json.loads(self._line()).items():
            self.samples.setdefault(name, []).extend(cpu)

    def end(self) -> None:
        """End the process."""
        self._process.communicate()

    def _line(self, wanted: str = "") -> str:
        assert self._process.stdout is not None
        while line := self._process.stdout.readline():
            if not wanted or line.strip() == wanted:
                return line
        raise SystemExit(f"the process ended with code {self._process.wait()}")


def compared(old: Path, new: Path, *given: str, pairs: int, rounds: int) -> dict[str, list[tuple[float, float]]]:
    """For each step, the ratios of the medians and of the means, new to old, of each pair of processes."""
    found: dict[str, list[tuple[float, float]]] = {}
    for pair in range(pairs):
        order = (old, new) if pair % 2 == 0 else (new, old)
        processes = {checkout: Process(checkout, *given) for checkout in order}
        for number in range(rounds):
            for checkout in order if number % 2 == 0 else reversed(order):
                processes[checkout].measure()
        for process in processes.values():
            process.end()
        before, now = processes[old].samples, processes[new].samples
        for name in before.keys() & now.keys():
            ratios = [average(now[name]) / average(before[name]) for average in (statistics.median, statistics.fmean)]
            found.setdefault(name, []).append((ratios[0], ratios[1]))
    return found


def geometric(ratios: list[float]) -> tuple[float, float]:
    """The geometric mean of ratios, with its standard error as a part of it."""
    logarithms = list(map(math.log, ratios))
    error = statistics.stdev(logarithms) / math.sqrt(len(ratios)) if len(ratios) > 1 else math.nan
    return math.exp(statistics.fmean(logarithms)), error


def main() -> None:
    """Read the arguments, and print a line for each step."""
    if sys.argv[1:2] == ["--work"]:
        asyncio.run(work(sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
    parser = argparse.ArgumentParser(description="Compare the speed of two versions of SAGA.")
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--what", choices=(READ, PLAY), default=PLAY, help="reads of one turn, or whole turns")
    parser.add_argument("--turns", type=int, default=100, help="length of the play (default: 100)")
    parser.add_argument("--portion", type=int, default=10, help="reads or turns at a time (default: 10)")
    parser.add_argument("--rounds", type=int, default=10, help="portions of each process (default: 10)")
    parser.add_argument("--pairs", type=int, default=10, help="pairs of processes (default: 10)")
    asked = parser.parse_args()
    given = (asked.what, str(asked.portion), str(asked.turns))
    found = compared(asked.old.resolve(), asked.new.resolve(), *given, pairs=asked.pairs, rounds=asked.rounds)
    print("| step | median: new to old | mean: new to old |\n| --- | ---: | ---: |")
    for name, ratios in sorted(found.items()):
        cells = (geometric([ratio[at] for ratio in ratios]) for at in (0, 1))
        print(f"| {name} | {' | '.join(f'{ratio:.3f} ± {error:.3f}' for ratio, error in cells)} |")


if __name__ == "__main__":
    main()
