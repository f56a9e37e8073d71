"""How many servers, cores, memory and disk a number of players needs: a simulation of the busiest minutes.

``python -m tests.bench.sizes`` prints the table of docs/scale.md. What is assumed stands in ``Assumed``, and what was
measured in ``Measured``; both may be given otherwise. Players are bound to servers by chance, as sessions are, so one
server may have more to do than another. A server works off its turns one after another, on one core. Sessions that
left its memory are read again, which costs CPU of its own.
"""

from __future__ import annotations

import heapq
import random
from collections import OrderedDict

from attrs import frozen


@frozen(kw_only=True)
class Assumed:
    """How people play."""

    playing: float = 0.1
    """The share of players who play in the busiest minutes."""
    reply_seconds: float = 20.0
    """How long a narrator writes: the median of a log-normal distribution with sigma 0.5."""
    reading_seconds: float = 60.0
    """How long a player reads and writes: the same with sigma 0.8."""
    turns_a_day: float = 20.0
    """Of each player, those who do not play that day included."""
    wait_ms: float = 200.0
    """What 99 % of turns may wait at most until the server comes to them, beside the seconds that a narrator takes."""
    minutes: float = 20.0
    """What is simulated. The first half fills the servers' memory, and is not counted."""


@frozen(kw_only=True)
class Measured:
    """What a turn costs; milliseconds are of CPU."""

    server_ms: float
    """A turn in the server, with views and its stream."""
    database_ms: float
    """A turn in PostgreSQL."""
    load_ms: float = 105.0
    """A session of 200 turns that is read from the journal (docs/performance.md)."""
    in_memory: int = 64
    """Sessions that a server keeps in memory."""
    server_mb: float
    """A server with as many."""
    disk_kb: float
    """A turn in the database, with its indexes."""


@frozen(kw_only=True)
class Size:
    """What a number of players needs."""

    players: int
    playing: int
    turns_a_second: float
    servers: int
    busiest: float
    """The share of its core that the busiest server needs."""
    waits_ms: float
    """What 99 % of turns wait at most until the server comes to them."""
    loads: float
    """The share of turns before which the session was read again."""
    database_cores: float
    memory_mb: float
    disk_gb: float
    """A year."""


def size(players: int, assumed: Assumed, measured: Measured, seed: int = 1) -> Size:
    """The fewest servers with which 99 % of turns wait for ``wait_ms`` at most, to a twentieth."""
    playing = max(1, round(players * assumed.playing))
    most = playing / (assumed.reply_seconds + assumed.reading_seconds)  # turns a second: real ones take longer
    servers = max(1, int(most * measured.server_ms / 1_000 / 2))
    while True:
        found = _busiest_minutes(players, playing, servers, assumed, measured, seed)
        if found.waits_ms <= assumed.wait_ms:
            return found
        servers = max(servers + 1, round(servers * 1.05))


def _busiest_minutes(players: int, playing: int, servers: int, assumed: Assumed, measured: Measured, seed: int) -> Size:
    draw = random.Random(f"{seed} {players}")
    ends = assumed.minutes * 60.0
    counted = ends / 2
    free = [0.0] * servers
    worked = [0.0] * servers
    memory: list[OrderedDict[int, None]] = [OrderedDict() for _ in range(servers)]
    home = [draw.randrange(servers) for _ in range(playing)]
    asks = [(draw.uniform(0.0, assumed.reading_seconds), player) for player in range(playing)]
    heapq.heapify(asks)
    waits: list[float] = []
    loads = 0
    while asks and asks[0][0] < ends:
        now, player = heapq.heappop(asks)
        server = home[player]
        known = memory[server]
        work = measured.server_ms / 1_000 * draw.uniform(0.5, 1.5)
        not_known = player not in known
        known[player] = None
        known.move_to_end(player)
        if not_known:
            work += measured.load_ms / 1_000
            if len(known) > measured.in_memory:
                known.popitem(last=False)
        begins = max(now, free[server])
        free[server] = begins + work
        if now >= counted:
            waits.append(begins - now)
            worked[server] += work
            loads += not_known
        reply = draw.lognormvariate(0.0, 0.5) * assumed.reply_seconds
        reading = draw.lognormvariate(0.0, 0.8) * assumed.reading_seconds
        heapq.heappush(asks, (begins + work + reply + reading, player))
    waits.sort()
    return Size(
        players=players,
        playing=playing,
        turns_a_second=len(waits) / counted,
        servers=servers,
        busiest=max(worked) / counted,
        waits_ms=1_000 * waits[int(0.99 * (len(waits) - 1))] if waits else 0.0,
        loads=loads / max(1, len(waits)),
        database_cores=len(waits) / counted * measured.database_ms / 1_000,
        memory_mb=servers * measured.server_mb,
        disk_gb=players * assumed.turns_a_day * 365 * measured.disk_kb / 2**20,
    )


def table(assumed: Assumed, measured: Measured) -> str:
    """The rows of docs/scale.md."""
    rows = [
        "| players | at once | turns a second | servers | busiest core | waits, 99 % | sessions read again "
        "| cores of PostgreSQL | memory | disk a year |",
        "|" + " --- |" * 10,
    ]
    for players in (10, 1_000, 100_000):
        found = size(players, assumed, measured)
        rows.append(
            f"| {found.players:,} | {found.playing:,} | {found.turns_a_second:,.2f} | {found.servers} "
            f"| {found.busiest:.0%} | {found.waits_ms:.0f} ms | {found.loads:.0%} | {found.database_cores:.2f} "
            f"| {found.memory_mb / 1_000:.1f} GB | {found.disk_gb:,.1f} GB |"
        )
    return "\n".join(rows)


MEASURED = Measured(server_ms=30.0, database_ms=5.8, server_mb=140.0, disk_kb=7.1)
"""Three servers on one PostgreSQL whose players are moved with each request (docs/scale.md)."""


if __name__ == "__main__":
    print(table(Assumed(), MEASURED))
