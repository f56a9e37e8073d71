"""Play many sessions at once through one real server, and measure errors, reading times and memory.

There are three processes: ``saga serve``, the model's server, and this one, which plays.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, ClientTimeout, TCPConnector
from attrs import define, evolve, field

from saga_server.process import READY_AT
from tests.bench.load.player import Findings, Player
from tests.bench.load.script import LoadOptions, Script, plain, world_files
from tests.bench.meters import calibrate, percentile
from tests.bench.processes import ProcessFailed, cpu_milliseconds, resident_bytes
from tests.bench.run import machine
from tests.bench.story.cast import NAME

STALL = 20.0
"""Milliseconds that a round of the server's event loop should not exceed."""

_START_SECONDS = 120.0
_DRAIN_SECONDS = 600
_REST = 3.0
"""Seconds that a server is left alone before its memory is read."""
_IDLE_TURNS = 3
_WATCHED = 0.25
_STEPS = 10
"""Readings of the memory during a soak."""
_METRIC = re.compile(r'(saga_loop_\w+)\{clock="(\w+)"(?:,le="([^"]+)")?\} (\S+)')

Say = Callable[[str], None]


@define(eq=False)
class _Served:
    """A server with its own data and its own model's server."""

    pid: int
    base: str
    http: ClientSession
    peak: int = 0

    def memory(self) -> int:
        """The resident memory in bytes. Raises ``ProcessFailed``."""
        found = resident_bytes(self.pid)
        if found is None:
            raise ProcessFailed("the memory of a process cannot be read on this system; install psutil")
        return found

    async def watch(self) -> None:
        """Record the peak of the memory, until cancelled."""
        while True:
            self.peak = max(self.peak, self.memory())
            await asyncio.sleep(_WATCHED)

    async def drain(self) -> None:
        """Wait until the background work is done. Raises ``ProcessFailed`` if it does not end."""
        async with self.http.post(f"/api/drain?timeout={_DRAIN_SECONDS}") as response:
            report = await response.json()
        if not report.get("settled"):
            raise ProcessFailed(f"the server's background work did not end: {str(report)[:500]}")

    async def resting(self) -> int:
        """The resident memory in bytes once no work is left."""
        await self.drain()
        await asyncio.sleep(_REST)
        return self.memory()

    async def rounds(self) -> dict[str, Any]:
        """The durations of the event loop's rounds since the server was ready, by clock."""
        async with self.http.get("/metrics") as response:
            text = await response.text()
        found: dict[str, Any] = {}
        for name, clock, bound, value in _METRIC.findall(text):
            of = found.setdefault(clock, {"buckets": {}})
            if bound:
                of["buckets"][bound] = int(float(value))
            elif name == "saga_loop_longest_ms":
                of["longest"] = float(value)
        for of in found.values():
            of["stalls"] = of["buckets"]["+Inf"] - of["buckets"][f"{STALL:g}"]
        return found


@define
class Run:
    """A whole load run."""

    options: LoadOptions
    folder: Path
    say: Say
    _servers: int = field(default=0, init=False)

    async def play(self) -> dict[str, Any]:
        """Play all sessions at once, at the players' pace."""
        options = self.options
        async with self._serving(options) as served:
            before = await served.resting()
            self.say(f"{options.sessions} sessions of {options.turns} turns")
            began, worked = time.perf_counter(), cpu_milliseconds(served.pid)
            findings, players = Findings(), self._players(options, served)
            for player in players:
                player.findings = findings
            watching = asyncio.create_task(served.watch())
            # The starts are spread out, because people do not begin in the same millisecond.
            turn = options.pause + (400 / 12 / options.pieces if options.pieces else 0.0)
            delays = [turn * at / len(players) for at in range(len(players))]
            await asyncio.gather(
                *(player.play(options.turns, delay) for player, delay in zip(players, delays, strict=True))
            )
            took, now = time.perf_counter() - began, cpu_milliseconds(served.pid)
            await served.drain()
            rounds = await served.rounds()
            await asyncio.gather(*(player.check() for player in players if player.session))
            _all_different(players, findings)
            after = await served.resting()
            watching.cancel()
        return {
            **_of(findings),
            "seconds": took,
            "cpu": (now - worked) / 1_000 / took if now is not None and worked is not None else None,
            "rounds": rounds,
            "rss": {"before": before, "peak": served.peak, "after": after},
        }

    async def idle(self, sessions: int) -> dict[str, Any]:
        """Measure the memory of an idle server that holds ``sessions`` sessions of a few turns each."""
        options = evolve(self.options, sessions=sessions, turns=_IDLE_TURNS, pieces=0.0, pause=0.0)
        async with self._serving(options) as served:
            self.say(f"{sessions} sessions, then nothing")
            findings, players = Findings(), self._players(options, served)
            for start in range(0, sessions, 10):
                some = players[start : start + 10]
                for player in some:
                    player.findings = findings
                await asyncio.gather(*(player.play(_IDLE_TURNS) for player in some))
            memory = await served.resting()
            await asyncio.gather(*(player.check() for player in players if player.session))
        return {**_of(findings), "sessions": sessions, "rss": memory}

    async def soak(self, turns: int) -> dict[str, Any]:
        """Play ``turns`` turns in all, as fast as they go, and read the memory after each step.

        Each step plays new chats, so that anything the earlier chats leave in memory shows as growth.
        """
        at_once = max(1, min(self.options.sessions, turns // _STEPS))
        each = max(1, turns // (at_once * _STEPS))
        options = evolve(self.options, sessions=at_once * _STEPS, turns=each, pieces=0.0, pause=0.0)
        async with self._serving(options) as served:
            findings, players = Findings(), self._players(options, served)
            for player in players:
                player.findings = findings
            began, readings = time.perf_counter(), list[dict[str, float]]()
            for step in range(1, _STEPS + 1):
                some = players[at_once * (step - 1) : at_once * step]
                await asyncio.gather(*(player.play(each) for player in some))
                memory = await served.resting()
                readings.append({"turns": findings.turns, "rss": memory, "at": time.perf_counter() - began})
                self.say(f"soak: {findings.turns} turns, {memory / 2**20:.0f} MB")
                if findings.errors:
                    break
                await asyncio.gather(*(player.check() for player in some if player.session))
            rounds = await served.rounds()
        return {**_of(findings), "readings": readings, "rounds": rounds}

    def _players(self, options: LoadOptions, served: _Served) -> list[Player]:
        nobody = Findings()
        return [Player(Script(options, number), served.http, nobody) for number in range(1, options.sessions + 1)]

    @asynccontextmanager
    async def _serving(self, options: LoadOptions) -> AsyncIterator[_Served]:
        self._servers += 1
        folder = self.folder / str(self._servers)
        world = folder / "worlds" / NAME
        world.mkdir(parents=True)
        for name, text in world_files(options).items():
            (world / name).write_text(text, encoding="utf-8")
        async with _process("tests.bench.load.upstream", json.dumps(plain(options))) as (model, lines):
            port = (await lines()).strip()
            config = {
                "storage": {"path": "data"},
                "session": {"default_world": NAME},
                "models": {"narration": "openai/scripted"},
                "extraction": {"automatic": "never"},
                "providers": {"openai": {"base_url": f"http://127.0.0.1:{port}/v1", "max_retries": 0}},
            }
            file = folder / "saga.yaml"
            file.write_text(json.dumps(config), encoding="utf-8")  # JSON is YAML
            given = ("serve", "--config", str(file), "--host", "127.0.0.1", "--port", "0", "--log-level", "warning")
            async with _process("saga_server", *given, log=folder / "server.log") as (server, lines):
                while not (line := await lines()).startswith(READY_AT):
                    pass
                base = line.removeprefix(READY_AT).strip().removesuffix("/v1")
                async with ClientSession(
                    base_url=base, connector=TCPConnector(limit=0), timeout=ClientTimeout(total=None, sock_read=120.0)
                ) as http:
                    yield _Served(server.pid, base, http)
                server.terminate()
                await server.wait()
            assert model.stdin is not None
            model.stdin.close()
            await model.wait()


_Lines = Callable[[], Any]


@asynccontextmanager
async def _process(
    module: str, *arguments: str, log: Path | None = None
) -> AsyncIterator[tuple[asyncio.subprocess.Process, _Lines]]:
    """Run a module as a process. Yield it, and a function that reads its next line. It is killed if still running."""
    with (log or Path("/dev/null")).open("wb") as stderr:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", module, *arguments),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=stderr,
        )

    async def line() -> str:
        assert process.stdout is not None
        async with asyncio.timeout(_START_SECONDS):
            found = (await process.stdout.readline()).decode("utf-8", "replace")
        if not found:
            raise ProcessFailed(f"{module} ended with code {await process.wait()}:\n{_end_of(log)}")
        return found

    try:
        yield process, line
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def _end_of(log: Path | None) -> str:
    return log.read_text(encoding="utf-8", errors="replace")[-2_000:] if log is not None else ""


def _all_different(players: list[Player], findings: Findings) -> None:
    seen: dict[str, int] = {}
    for player in players:
        if player.session and seen.setdefault(player.session, player.script.number) != player.script.number:
            findings.mixed.append(f"sessions {seen[player.session]} and {player.script.number} became one")


def _of(findings: Findings) -> dict[str, Any]:
    times = {
        name: {"p50": percentile(values, 50), "p99": percentile(values, 99), "most": max(values)}
        for name in ("context", "first", "whole")
        if (values := getattr(findings, name))
    }
    return {
        "turns": findings.turns,
        "errors": findings.errors,
        "mixed": findings.mixed,
        "late": findings.late,
        "times": times,
    }


async def run_load(options: LoadOptions, folder: Path, say: Say, *, idle: int = 200, soak: int = 0) -> dict[str, Any]:
    """Run all parts, and return the results, ready for JSON. Raises ``ProcessFailed``.

    ``idle`` is the number of sessions in the second part, ``soak`` the number of turns in the third. 0 skips the part.
    """
    run = Run(options, folder, say)
    found: dict[str, Any] = {"machine": machine(), "options": plain(options), "calibration": [calibrate()]}
    found["play"] = await run.play()
    if idle:
        found["idle"] = await run.idle(idle)
    if soak:
        found["soak"] = await run.soak(soak)
    found["calibration"].append(calibrate())
    return found
