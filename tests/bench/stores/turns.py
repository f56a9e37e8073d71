"""Measure the stores' part of whole turns, in a play that continues over a graph engine and a vector engine.

``python -m tests.bench.stores.turns FOLDER READS TURNS`` prints JSON. The play in FOLDER is
one that ``write_play`` wrote. Its configuration names the engines, which are first filled as ``saga rebuild`` does.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import sys
from pathlib import Path
from typing import Any

from attrs import define, field

from saga_core import Saga
from saga_core.context import default_reader
from saga_core.play import PendingTurn
from saga_server.process import settle
from tests.bench.meters import MeteredEmbedder, Samples, Stopwatch, Taken, full_speed, probe
from tests.bench.play import Play, read_play
from tests.bench.processes import bytes_on_disk, resident_bytes
from tests.bench.story.storyteller import Told

_WARM = 8
_SWIPED = 8
"""Every eighth turn is swiped. Projecting a swipe moves a scope back, and then forward again."""
_PATIENCE = 120.0


@define(eq=False)
class MeteredStore:
    """A store that measures its calls."""

    inner: Any
    _taken: list[Taken] = field(factory=list)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.inner, name)
        if not inspect.iscoroutinefunction(found):
            return found

        async def measured(*positional: Any, **named: Any) -> Any:
            with Stopwatch() as watch:
                result = await found(*positional, **named)
            self._taken.append(watch.taken)
            return result

        return measured

    def take(self) -> float:
        """Milliseconds of CPU of the calls since the last ``take``, and of work that ran beside a call's thread."""
        total = sum(taken.cpu for taken in self._taken)
        self._taken.clear()
        return total


@define
class _Turns:
    saga: Saga
    play: Play
    embedder: MeteredEmbedder
    stores: tuple[MeteredStore, ...]
    samples: dict[str, Samples] = field(factory=dict)
    probes: list[float] = field(factory=lambda: [probe()])

    def note(self, name: str, watch: Stopwatch) -> None:
        """Record the time of a step without embedding, and the stores' part of it."""
        self.probes.append(probe())
        speed = max(self.probes[-2:])
        taken = watch.taken.without(self.embedder.take())
        self.samples.setdefault(name, Samples()).add(taken, speed)
        in_stores = sum(store.take() for store in self.stores)
        self.samples.setdefault(f"{name}.stores", Samples()).add(Taken(in_stores, in_stores), speed)

    async def begin(self, chat: list[tuple[str, str]], words: str) -> tuple[PendingTurn, Stopwatch]:
        """Read the context of a turn."""
        messages = self.play.messages(chat, words)
        with Stopwatch() as watch:
            begun = await self.saga.begin(messages)
        if begun.session.id != self.play.session or begun.context.late or not begun.context.pieces:
            raise RuntimeError(f"the play was not read: late {begun.context.late}, notices {begun.notices}")
        return begun, watch

    async def read(self, count: int) -> None:
        """Read the next turn ``count`` times, with other words each time."""
        for number in range(count + _WARM):
            begun, watch = await self.begin(list(self.play.chat), self.play.wishes[number % len(self.play.wishes)])
            await begun.abandon()
            if number >= _WARM:
                self.note("read", watch)
            else:
                self.forget()

    async def go_on(self, count: int) -> None:
        """Play ``count`` more turns, with swipes."""
        teller, chat = self.play.storyteller(), list(self.play.chat)
        for number in range(count):
            told = teller.next()
            await self.turn(chat, told, "projection")
            if number % _SWIPED == _SWIPED - 1:
                again = teller.again()
                told = Told(told.words, again.reply, again.fields)
                await self.turn(chat, told, "swipe")
            chat.append((told.words, told.reply))

    async def turn(self, chat: list[tuple[str, str]], told: Told, name: str) -> None:
        """Play one whole turn, and measure the projection that runs after it."""
        begun, _ = await self.begin(chat, told.words)
        begun.replies[0].feed(told.raw)
        begun.replies[0].finish()
        await begun.commit()
        self.forget()
        with Stopwatch() as watch:
            report = await self.saga.drain(_PATIENCE)
        if report.waiting:
            raise RuntimeError(f"background work did not end: {report.waiting}")
        self.note(name, watch)

    def forget(self) -> None:
        """Reset the meters."""
        self.embedder.take()
        for store in self.stores:
            store.take()


async def measure_turns(folder: Path, reads: int, turns: int) -> dict[str, Any]:
    """Fill the engines from the journal, read the next turn ``reads`` times, and play ``turns`` more turns."""
    play = read_play(folder)
    async with Saga.open(play.config) as saga:
        missing = {name: reason for name, reason in saga.counters.degraded.items() if not name.endswith(".changed")}
        if missing:
            raise RuntimeError(f"the engines are not there: {missing}")
        with Stopwatch() as filling:
            await saga.maintenance.rebuild(play.session)
        settle()
        projector, stores = saga.parts.projector, saga.stores
        metered = MeteredStore(stores.graph), MeteredStore(stores.vector)
        projector.graph, projector.vectors = metered
        projector.embedder = embedder = MeteredEmbedder(stores.embedder)
        saga.play.reading.reader = default_reader(
            saga.config, stores.counter, clock=saga.parts.clock, vectors=projector.vectors, embedder=embedder
        )
        bench = _Turns(saga, play, embedder, metered)
        await bench.read(reads)
        await bench.go_on(turns)
        differences = await saga.maintenance.differences(play.session)
        if differences:
            raise RuntimeError(f"the stores differ from the journal: {differences}")
        memory = resident_bytes(os.getpid())
        full = full_speed(bench.probes)
        figures = {name: each.figures(full) for name, each in sorted(bench.samples.items())}
        engines = {kind: f"{store.info.name} {store.info.version}" for kind, store in stores.all().items()}
    return {
        "engines": engines,
        "figures": {name: {"cpu": each["cpu_p50"], "cpu_p99": each["cpu_p99"]} for name, each in figures.items()},
        "rebuild": {"cpu": filling.taken.cpu, "wall": filling.taken.wall},
        "rss": memory,
        "disk": bytes_on_disk(folder / "data"),
    }


if __name__ == "__main__":
    json.dump(asyncio.run(measure_turns(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))), sys.stdout)
