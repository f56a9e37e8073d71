"""A job whose work a test watches, holds up and breaks."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence

from saga_core.background import DONE, InSections, Job, Retry, Step, Supervisor, Waiting
from saga_core.counters import Counters


class Work(Job):
    """Records the turns that it is given, fails as often as asked, and holds at a gate."""

    kind = "project"
    counter = "work"
    mode = "background"
    in_sections = InSections.AWAITED
    finishes_at_close = True
    keeps_queued_loaded = True

    def __init__(self, failures: int = 0) -> None:
        self.calls: list[tuple[str, tuple[str, ...]]] = []
        self.running: set[str] = set()
        self.overlaps: list[str] = []
        self.most = 0
        self.failures = failures
        self.gate = asyncio.Event()
        self.gate.set()
        self.turns: dict[str, list[str]] = {}

    def submit(self, session: str, turns: Sequence[str], **how: bool) -> None:
        self.turns.setdefault(session, []).extend(turns)
        self.wake(session, **how)

    async def step(self, session: str) -> Step:
        if session in self.running:
            self.overlaps.append(session)
        self.running.add(session)
        self.most = max(self.most, len(self.running))
        turns = tuple(self.turns.get(session, ()))
        if not turns:
            self.running.discard(session)
            return DONE
        try:
            await self.gate.wait()
            if self.failures:
                self.failures -= 1
                raise OSError("disk is full")
            self.calls.append((session, turns))
            self.turns[session] = self.turns[session][len(turns) :]
        finally:
            self.running.discard(session)
        return Step(bool(self.turns[session]), len(turns))

    def waiting(self, reasons: Mapping[str, str]) -> Iterable[Waiting]:
        return [
            Waiting(session, turn, self.kind, reasons.get(session) or "queued")
            for session, turns in self.turns.items()
            for turn in turns
        ]

    def depth(self) -> int:
        return sum(map(len, self.turns.values()))

    def forget(self, session: str) -> None:
        self.turns.pop(session, None)


class OneByOne(Work):
    """One session at a time, and one turn at a step."""

    kind = "embed"
    counter = "vectors"
    mode = "embedder"
    at_once = 1
    retry = Retry(100.0, 100.0)
    in_sections = InSections.RESTS
    finishes_at_close = False

    async def step(self, session: str) -> Step:
        rest = self.turns.get(session, [])[1:]
        self.turns[session] = self.turns.get(session, [])[:1]
        try:
            found = await super().step(session)
        finally:
            self.turns[session] += rest
        return Step(bool(rest), found.done)


def supervised(*jobs: Job, counters: Counters | None = None) -> Supervisor:
    """A supervisor of ``jobs``."""
    found = Supervisor(counters or Counters())
    for job in jobs:
        found.add(job)
    return found


async def turns_of_the_loop(count: int = 20) -> None:
    """Let everything that can go on go on."""
    for _ in range(count):
        await asyncio.sleep(0)
