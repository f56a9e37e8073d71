"""Measure what a turn costs in a play on disk: loading, reading, recording, projecting, swiping and branching.

The measurement runs in a process of its own, which starts as cold as a fresh server.
"""

from __future__ import annotations

import gc
from collections.abc import Sequence
from typing import Any

from attrs import define, field

from saga_core import Saga, warm_up_steps
from saga_core.context import default_reader
from saga_core.play import PendingTurn
from saga_server.process import settle
from tests.bench.meters import (
    MeteredEmbedder,
    MeteredJournal,
    Samples,
    Stopwatch,
    Taken,
    collections,
    full_speed,
    percentile,
    probe,
)
from tests.bench.play import Play
from tests.bench.story.storyteller import Storyteller, Told

READS = 400
TURNS = 240
_WARM = 20
_EACH = 12
"""Turns between a swipe and a branch, which alternate. A branch goes far enough back for a slot of its own."""
_BACK = 20
_PIECE = 12
"""Characters in a piece of the model's reply."""
_PATIENCE = 120.0
_INSISTENCE = 4


async def measure_cold(play: Play) -> dict[str, Any]:
    """Measure loading the session, by the first request after opening and warming up."""
    with Stopwatch() as opening:
        saga = await Saga.open(play.config)
    with Stopwatch() as warming:
        for step in warm_up_steps():
            step()
    settle()  # as ``saga serve`` does
    embedder = _meter(saga)
    try:
        with Stopwatch() as first:
            begun = await saga.begin(play.messages(play.chat, play.wishes[0]))
        embedding = embedder.take()
        _expect(begun, play, play.options.turns)
        await begun.abandon()
    finally:
        await saga.aclose()
    loading = first.taken.without(embedding)
    return {
        "open": {"cpu": opening.taken.cpu, "wall": opening.taken.wall},
        "warm": {"cpu": warming.taken.cpu, "wall": warming.taken.wall},
        "load": {"cpu": loading.cpu, "wall": loading.wall},
    }


async def measure_turns(play: Play, reads: int = READS, turns: int = TURNS) -> dict[str, Any]:
    """Measure a warm session: ``reads`` context reads at its last turn, then ``turns`` more turns of play."""
    async with Saga.open(play.config) as saga:
        for step in warm_up_steps():
            step()
        settle()  # as ``saga serve`` does
        bench = _Bench(saga, play, _meter(saga))
        await bench.warm_up()
        with collections() as collected:
            await bench.read(reads)
        with collections() as collected_in_play:
            await bench.go_on(turns)
        found = bench.figures()
        for name, pauses in (("read", collected), ("play", collected_in_play)):
            found[f"gc_{name}"] = {"count": pauses.count, "total": pauses.total, "longest": pauses.longest}
        found["objects"] = len(gc.get_objects())
        found["counters"] = {name: count for name, count in (await saga.status())["counters"].items() if count}
        return found


def _meter(saga: Saga) -> MeteredEmbedder:
    """Wrap the embedder of ``saga`` in a meter, and return the meter."""
    stores = saga.stores
    embedder = MeteredEmbedder(stores.embedder)
    saga.parts.projector.embedder = embedder
    saga.play.reading.reader = default_reader(
        saga.config, stores.counter, clock=saga.parts.clock, vectors=stores.vector, embedder=embedder
    )
    return embedder


def _expect(begun: PendingTurn, play: Play, depth: int) -> None:
    """Raise ``RuntimeError`` unless ``begun`` continues the play at ``depth`` with a complete context."""
    if begun.session.id != play.session or begun.parent.depth != depth:
        raise RuntimeError(f"the play was not found again: turn {begun.parent.depth} of {begun.session.id}")
    if not begun.context.pieces or begun.context.late:
        raise RuntimeError(f"the context was not read: late {begun.context.late}, {begun.notices}")


@define
class _Bench:
    """An open play and its measurements."""

    saga: Saga
    play: Play
    embedder: MeteredEmbedder
    samples: dict[str, Samples] = field(factory=dict)
    parts: dict[str, Samples] = field(factory=dict)
    """Samples by part of a read, wall time only."""
    probes: list[float] = field(factory=list)
    """The speed of the machine after each step, as ``probe`` measures it."""
    pieces: list[int] = field(factory=list)
    _chat: list[tuple[str, str]] = field(init=False)
    _depth: int = field(init=False)
    _journal: MeteredJournal = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._chat = list(self.play.chat)
        self._depth = self.play.options.turns
        self._journal = self.saga.play.recorder.journal = MeteredJournal(self.saga.parts.journal.kv)

    async def warm_up(self) -> None:
        """Load the session, and the modules that are imported lazily."""
        for number in range(_WARM):
            begun = await self._begin(self._chat, self.play.wishes[-1 - number], "warm up", self._depth)
            await begun.abandon()

    async def read(self, count: int) -> None:
        """Read the context of the next turn ``count`` times, with other words each time.

        On a busy machine, read up to four times as often, until a quarter of ``count`` reads ran at full speed.
        """
        wishes = self.play.wishes
        for number in range(count * _INSISTENCE):
            if number >= count and self._at_full_speed("read") >= count // 4:
                break
            begun = await self._begin(self._chat, wishes[number % len(wishes)], "read", self._depth)
            await begun.abandon()

    def _at_full_speed(self, name: str) -> int:
        full = full_speed(self.probes)
        return sum(speed <= full for speed in self.samples[name].speed)

    async def go_on(self, count: int) -> None:
        """Play ``count`` more turns. Background work is drained between them, as it would end while a player reads."""
        teller = self.play.storyteller()
        for number in range(count):
            told = teller.next()
            await self._turn(self._chat, told, "turn", self._depth)
            self._chat.append((told.words, told.reply))
            self._depth += 1
            if number % (2 * _EACH) == _EACH:
                await self._swipe(teller)
            elif number and number % (2 * _EACH) == 0 and self._depth > _BACK:
                await self._branch(teller, "branch", self._chat[:-_BACK], self._depth - _BACK)
            elif number % _EACH == _EACH // 2:
                await self._branch(teller, "early", self.play.opening, len(self.play.opening))

    async def _swipe(self, teller: Storyteller) -> None:
        """Swipe the last reply. The player continues with the new one."""
        words = self._chat.pop()[0]
        told = teller.again()
        told = Told(words, told.reply, told.fields)
        await self._turn(self._chat, told, "swipe", self._depth - 1)
        self._chat.append((words, told.reply))

    async def _branch(self, teller: Storyteller, name: str, chat: Sequence[tuple[str, str]], depth: int) -> None:
        """Play a turn that branches off at an earlier ``depth``. The player then continues the main story."""
        told = teller.again()
        told = Told(teller.wish(-1), told.reply, told.fields)
        await self._turn(chat, told, name, depth)

    async def _turn(self, chat: Sequence[tuple[str, str]], told: Told, name: str, depth: int) -> None:
        """Play one whole turn (read, reply, record), then drain its background work."""
        begun = await self._begin(chat, told.words, f"{name}.read", depth)
        raw, reply = told.raw, begun.replies[0]
        with Stopwatch() as feeding:
            for start in range(0, len(raw), _PIECE):
                reply.feed(raw[start : start + _PIECE])
            reply.finish()
        self._take(f"{name}.feed", feeding)
        with Stopwatch() as committing:
            await begun.commit()
        speed = self._take(f"{name}.commit", committing)
        self.samples.setdefault("journal", Samples()).add(self._journal.last, speed)
        with Stopwatch() as projecting:
            report = await self.saga.drain(_PATIENCE)
        if report.waiting:
            raise RuntimeError(f"background work did not end: {report.waiting}")
        self._take(f"{name}.projection", projecting)
        await self._index()

    async def _index(self) -> None:
        """Measure the indexing of the last turn, by indexing its text once more under another id."""
        live = await self.saga.parts.live.get(self.play.session)
        index, text = live.episodes, live.tree.get(live.head).episode
        with Stopwatch() as indexing:
            index.add("", text)
        self._take("index", indexing)
        index.remove("", text)

    async def _begin(self, chat: Sequence[tuple[str, str]], words: str, name: str, depth: int) -> PendingTurn:
        messages = self.play.messages(chat, words)
        with Stopwatch() as reading:
            begun = await self.saga.begin(messages)
        _expect(begun, self.play, depth)
        speed = self._take(name, reading)
        taken = {**begun.timings, **{f"context.{part}": each for part, each in begun.context.timings.items()}}
        for part, each in taken.items():
            self.parts.setdefault(f"{name}.{part}", Samples()).add(Taken(0.0, each), speed)
        self.pieces.append(len(begun.context.pieces))
        return begun

    def _take(self, name: str, watch: Stopwatch) -> float:
        """Record a measurement, with embedding kept apart. Return the slower of the probes around it."""
        self.probes.append(probe())
        speed = max(self.probes[-2:])
        embedding = self.embedder.take()
        self.samples.setdefault(name, Samples()).add(watch.taken.without(embedding), speed)
        if embedding.cpu:
            self.samples.setdefault(f"{name}.embedding", Samples()).add(embedding, speed)
        return speed

    def figures(self) -> dict[str, Any]:
        """All figures by name, in milliseconds."""
        full = full_speed(self.probes)
        found: dict[str, Any] = {name: samples.figures(full) for name, samples in sorted(self.samples.items())}
        found["parts"] = {
            name: {"p50": each["wall_p50"], "p99": each["wall_p99"]}
            for name, each in ((name, samples.figures(full)) for name, samples in sorted(self.parts.items()))
        }
        found["pieces"] = percentile(self.pieces, 50)
        found["probes"] = {"full": full, "median": percentile(self.probes, 50), "most": percentile(self.probes, 99)}
        return found
