"""What a turn costs on a play that lies on disk: loading, reading, recording, showing, swiping, branching.

Run in a process of its own, so that nothing is warm that a fresh server would find cold.
"""

from __future__ import annotations

import gc
from collections.abc import Sequence
from typing import Any

from attrs import define, field

from saga_core.context import default_reader
from saga_core.engine.begun import BegunTurn
from saga_core.engine.saga import Saga
from saga_server.bench.meters import MeteredEmbedder, MeteredJournal, Samples, Stopwatch, collections, percentile
from saga_server.bench.play import Play
from saga_server.bench.storyteller import Storyteller, Told
from saga_server.collector import settle

READS = 400
TURNS = 240
_WARM = 20
_EACH = 12
"""After so many ordinary turns comes a swipe, and after as many again a branch: far enough for a slot of its own."""
_BACK = 20
_PIECE = 12
"""Characters that a model sends at a time."""
_PATIENCE = 120.0


async def measure_cold(play: Play) -> dict[str, Any]:
    """The first request after opening: what loading the session takes."""
    with Stopwatch() as opening:
        saga = await Saga.open(play.config)
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
        "load": {"cpu": loading.cpu, "wall": loading.wall},
    }


async def measure_turns(play: Play, reads: int = READS, turns: int = TURNS) -> dict[str, Any]:
    """Everything of a warm session: ``reads`` reads at its last turn, then ``turns`` more turns of play."""
    async with Saga.open(play.config) as saga:
        settle()
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
    """Put a meter before the embedder of ``saga``."""
    stores = saga.stores
    embedder = MeteredEmbedder(stores.embedder)
    saga.projector.embedder = embedder
    saga.reader = default_reader(
        saga.config, stores.counter, clock=saga.clock, vectors=stores.vector, embedder=embedder
    )
    return embedder


def _expect(begun: BegunTurn, play: Play, depth: int) -> None:
    """A benchmark of something else than a turn would be worth nothing."""
    if begun.session.id != play.session or begun.parent.depth != depth:
        raise RuntimeError(f"the play was not found again: turn {begun.parent.depth} of {begun.session.id}")
    if not begun.context.pieces or begun.context.late:
        raise RuntimeError(f"the context was not read: late {begun.context.late}, {begun.notices}")


@define
class _Bench:
    """One open play, and what was measured of it."""

    saga: Saga
    play: Play
    embedder: MeteredEmbedder
    samples: dict[str, Samples] = field(factory=dict)
    parts: dict[str, list[float]] = field(factory=dict)
    """Milliseconds by part of a read."""
    pieces: list[int] = field(factory=list)
    _chat: list[tuple[str, str]] = field(init=False)
    _depth: int = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._chat = list(self.play.chat)
        self._depth = self.play.options.turns
        self.saga.journal = MeteredJournal(self.saga.journal.kv)

    async def warm_up(self) -> None:
        """Load the session and what is imported late."""
        for number in range(_WARM):
            begun = await self._begin(self._chat, self.play.wishes[-1 - number], "warm up", self._depth)
            await begun.abandon()
        self.parts.clear()

    async def read(self, count: int) -> None:
        """Read the context of the next turn, again and again with other words."""
        for number in range(count):
            words = self.play.wishes[number % len(self.play.wishes)]
            begun = await self._begin(self._chat, words, "read", self._depth)
            await begun.abandon()

    async def go_on(self, count: int) -> None:
        """Play ``count`` turns more. Background work ends between them, as it does while a player reads."""
        teller = self.play.storyteller()
        for number in range(count):
            told = teller.next()
            await self._turn(self._chat, told, "turn", self._depth)
            self._chat.append((told.words, told.reply))
            self._depth += 1
            if number % (2 * _EACH) == _EACH:
                await self._swipe(teller)
            elif number and number % (2 * _EACH) == 0 and self._depth > _BACK:
                await self._branch(teller)

    async def _swipe(self, teller: Storyteller) -> None:
        """Another reply to the last words; the player goes on with this one."""
        words = self._chat.pop()[0]
        told = teller.again()
        told = Told(words, told.reply, told.fields)
        await self._turn(self._chat, told, "swipe", self._depth - 1)
        self._chat.append((words, told.reply))

    async def _branch(self, teller: Storyteller) -> None:
        """A turn from 20 turns back; the player then goes on where the story was."""
        told = teller.again()
        told = Told(teller.wish(-1), told.reply, told.fields)
        await self._turn(self._chat[:-_BACK], told, "branch", self._depth - _BACK)

    async def _turn(self, chat: Sequence[tuple[str, str]], told: Told, name: str, depth: int) -> None:
        """One whole turn: read, reply, record; then what runs after it."""
        begun = await self._begin(chat, told.words, f"{name}.read", depth)
        raw, reply = told.raw, begun.replies[0]
        with Stopwatch() as feeding:
            for start in range(0, len(raw), _PIECE):
                reply.feed(raw[start : start + _PIECE])
            reply.finish()
        with Stopwatch() as committing:
            await begun.commit()
        self._take(f"{name}.feed", feeding)
        self._take(f"{name}.commit", committing)
        with Stopwatch() as projecting:
            report = await self.saga.drain(_PATIENCE)
        if report.waiting:
            raise RuntimeError(f"background work did not end: {report.waiting}")
        self._take(f"{name}.projection", projecting)

    async def _begin(self, chat: Sequence[tuple[str, str]], words: str, name: str, depth: int) -> BegunTurn:
        messages = self.play.messages(chat, words)
        with Stopwatch() as reading:
            begun = await self.saga.begin(messages)
        _expect(begun, self.play, depth)
        self._take(name, reading)
        self._note(begun, name)
        return begun

    def _take(self, name: str, watch: Stopwatch) -> None:
        """Keep what was measured, embedding apart."""
        embedding = self.embedder.take()
        self.samples.setdefault(name, Samples()).add(watch.taken.without(embedding))
        if embedding.cpu:
            self.samples.setdefault(f"{name}.embedding", Samples()).add(embedding)

    def _note(self, begun: BegunTurn, name: str) -> None:
        for part, taken in begun.timings.items():
            self.parts.setdefault(f"{name}.{part}", []).append(taken)
        for part, taken in begun.context.timings.items():
            self.parts.setdefault(f"{name}.context.{part}", []).append(taken)
        self.pieces.append(len(begun.context.pieces))

    def figures(self) -> dict[str, Any]:
        """Everything, by name; milliseconds."""
        journal = self.saga.journal
        assert isinstance(journal, MeteredJournal)
        found: dict[str, Any] = {name: samples.figures() for name, samples in sorted(self.samples.items())}
        found["journal"] = journal.appends.figures()
        found["parts"] = {
            name: {"p50": percentile(values, 50), "p99": percentile(values, 99)}
            for name, values in sorted(self.parts.items())
        }
        found["pieces"] = percentile(self.pieces, 50)
        return found
