"""What happens to servers, to their lines and to the database, drawn by a seed."""

from __future__ import annotations

import asyncio
import random
import signal
import time
from collections import Counter
from collections.abc import Sequence

from attrs import define, field

from tests.postgres.chaos.relay import Relay
from tests.postgres.cluster import Member
from tests.postgres.real_server import RealServer

TROUBLES = (
    *("kill",) * 3,
    *("sleep",) * 3,
    *("cut",) * 3,
    *("swallow",) * 2,
    *("hold",) * 2,
    *("failover",) * 2,
    *("term",) * 1,
    *("restart",) * 1,
)
"""The names of what may happen, as often as it does."""


@define
class Served:
    """A server, and the two lines that its database's address names."""

    member: Member
    lines: tuple[Relay, Relay]


@define
class Trouble:
    """``happen`` does one thing, and ends when it is over: everything is there again, if not ready yet."""

    servers: Sequence[Served]
    database: RealServer
    draw: random.Random
    lease: float
    happened: Counter[str] = field(factory=Counter)
    latest: list[str] = field(factory=list)

    async def happen(self) -> None:
        what = self.draw.choice(TROUBLES)
        one = self.draw.choice(self.servers)
        self.happened[what] += 1
        began = _clock()
        await getattr(self, f"_{what}")(one)
        self.latest = [*self.latest[-9:], f"{began} to {_clock()} {what} {one.member.name}"]

    def _long(self) -> float:
        """Seconds up to well beyond a lease."""
        return self.lease * self.draw.uniform(0.3, 2.5)

    async def _kill(self, one: Served) -> None:
        one.member.send(signal.SIGKILL)
        await asyncio.sleep(self.draw.choice((0.0, self._long())))
        one.member.start()
        await one.member.ready()

    async def _term(self, one: Served) -> None:
        one.member.send(signal.SIGTERM)
        await asyncio.to_thread(one.member.wait)
        one.member.start()
        await one.member.ready()

    async def _sleep(self, one: Served) -> None:
        one.member.sleep()
        try:
            await asyncio.sleep(self._long())
        finally:
            one.member.wake()

    async def _cut(self, one: Served) -> None:
        for _ in range(self.draw.randrange(1, 5)):
            for line in one.lines:
                line.cut()
            await asyncio.sleep(self.draw.uniform(0.0, 0.3))

    async def _swallow(self, one: Served) -> None:
        """What is committed now is not told to who commits it."""
        for line in one.lines:
            line.swallow()
        await asyncio.sleep(self.draw.uniform(0.05, 0.6))
        for line in one.lines:
            line.mend()

    async def _hold(self, one: Served) -> None:
        """The server lives, and its database is silent."""
        for line in one.lines:
            line.hold()
        await asyncio.sleep(self._long())
        for line in one.lines:
            line.mend()

    async def _failover(self, _: Served) -> None:
        """The address that served so far is gone for everybody; the other one of the same url answers."""
        now = self.draw.randrange(2)
        for each in self.servers:
            each.lines[now].refuses = True
            each.lines[1 - now].refuses = False
            each.lines[now].cut()
        await asyncio.sleep(self.draw.uniform(0.1, 1.0))

    async def _restart(self, _: Served) -> None:
        self.database.stop(self.draw.choice((signal.SIGINT, signal.SIGQUIT)))
        await asyncio.sleep(self.draw.choice((0.0, self.lease)))
        await asyncio.to_thread(self.database.start)


def _clock() -> str:
    return time.strftime("%H:%M:%S", time.gmtime())
