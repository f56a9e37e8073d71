"""Rounds of play: in each something happens to some servers, and after each it is looked whether all is right."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, ClientTimeout
from attrs import define, field

from saga_core.config import load_config
from saga_core.counters import Counters
from saga_core.journal import Journal
from saga_core.storage import open_journal_store
from tests.postgres.chaos.history import History
from tests.postgres.chaos.moved_player import MovedPlayer
from tests.postgres.chaos.narrator import Narrator
from tests.postgres.chaos.record import commits_since, keep_record
from tests.postgres.chaos.relay import Relay
from tests.postgres.chaos.tree import wrong_in_tree
from tests.postgres.chaos.trouble import Served, Trouble
from tests.postgres.cluster import Member
from tests.postgres.real_server import RealServer
from tests.server.upstream import Upstream

PLAYERS = 3
STORY = 6
"""Rounds that a player's chat lasts; then another one begins."""
_CALM_SECONDS = 60.0


class Found(AssertionError):
    """What must not be was found."""


@define(kw_only=True)
class Game:
    """``play`` it once."""

    count: int
    """Servers."""
    rounds: int
    seed: int
    lease: float = 1.5
    folder: Path
    database: RealServer
    say: Callable[[str], None] = print
    history: History = field(factory=History)
    _number: int = 0
    """That of the last commit that was looked at."""
    _narrator: Narrator = field(factory=Narrator)
    _read: int = 0
    """Characters of logs that were looked at."""
    _slowest: float = 0.0
    _turns: int = 0
    _unrecorded: int = 0
    _reads: int = 0

    async def play(self) -> dict[str, Any]:
        """Play all rounds; what was played, in figures. Raises ``Found`` with the number of the round."""
        self.database.clear()
        relays = [Relay(self.database.port) for _ in range(2 * self.count)]
        draw = random.Random(self.seed)
        async with Upstream(otherwise=self._narrator) as upstream:
            for relay in relays:
                await relay.start()
            servers = [
                self._server(name, (relays[2 * at], relays[2 * at + 1]), upstream.url)
                for at, name in enumerate("abc"[: self.count])
            ]
            trouble = Trouble(servers, self.database, draw, self.lease)
            try:
                servers[0].member.start()
                await servers[0].member.ready()
                keep_record(self.database.url)
                for each in servers[1:]:
                    each.member.start()
                await self._ready(servers)
                await self._play(servers, trouble, draw)
            finally:
                for each in servers:
                    await asyncio.to_thread(each.member.remove)
                for relay in relays:
                    await relay.aclose()
        return {
            "servers": self.count, "rounds": self.rounds, "seed": self.seed, "requests": len(self._narrator.told),
            "turns": self._turns, "reads": self._reads, "unrecorded": self._unrecorded,
            "commits": self.history.commits, "takings": self.history.takings,
            "slowest": round(self._slowest, 1), "trouble": dict(trouble.happened),
        }  # fmt: skip

    def _server(self, name: str, lines: tuple[Relay, Relay], upstream: str) -> Served:
        hosts = ",".join(f"127.0.0.1:{line.port}" for line in lines)
        asked = f"target_session_attrs=read-write&connect_timeout=2&application_name=saga-{name}"
        sections: dict[str, Any] = {
            "server": {"lease_seconds": self.lease},
            "storage": {"profile": "scale", "url": f"postgresql://saga@{hosts}/postgres?{asked}"},
            "session": {"default_world": "ersia"},
            "extraction": {"automatic": "never"},
            "providers": {"openai": {"base_url": upstream, "api_key": "sk-up", "max_retries": 0}},
        }
        return Served(Member(self.folder / name, name, sections), lines)

    async def _play(self, servers: list[Served], trouble: Trouble, draw: random.Random) -> None:
        players: list[MovedPlayer] = []
        config = load_config(
            {"storage": {"profile": "scale", "url": self.database.url, "path": str(self.folder / "reader")}}
        )
        store = await open_journal_store(config, Counters())
        try:
            for number in range(self.rounds):
                if number % STORY == 0:
                    await _leave(players)
                    members = [each.member for each in servers]
                    players = [
                        MovedPlayer(f"Aria{number}x{at}", members, random.Random(f"{self.seed} {number} {at}"))
                        for at in range(PLAYERS)
                    ]
                try:
                    await self._round(servers, players, trouble, draw)
                    await self._examine(servers, players, Journal(store, Counters()))
                except AssertionError as error:
                    logs = "\n".join(f"-- {each.member.name}\n{each.member.log()[-6_000:]}" for each in servers)
                    told = f"round {number}, seed {self.seed}, {self.count} servers, latest: {trouble.latest[-4:]}"
                    raise Found(f"{told}: {error}\n{logs}") from error
                if number % 10 == 9:
                    self.say(f"{time.strftime('%H:%M:%S')} {self.count} servers, {number + 1} rounds: all is right")
        finally:
            await _leave(players)
            await store.aclose()

    async def _round(
        self, servers: list[Served], players: list[MovedPlayer], trouble: Trouble, draw: random.Random
    ) -> None:
        over = asyncio.Event()

        async def plays(player: MovedPlayer) -> None:
            await player.act()
            while not over.is_set():
                await player.act()

        async def happens() -> None:
            try:
                for _ in range(draw.choice((1, 1, 2))):
                    await asyncio.sleep(draw.uniform(0.0, 0.4))
                    await trouble.happen()
            finally:
                over.set()

        playing = [asyncio.create_task(plays(player)) for player in players]
        try:
            await asyncio.gather(happens(), *playing)
        finally:
            for task in playing:
                task.cancel()
            await asyncio.gather(*playing, return_exceptions=True)
        await self._ready(servers)
        await asyncio.gather(*(self._comes_to_rest(player) for player in players))

    async def _comes_to_rest(self, player: MovedPlayer) -> None:
        """Speak until nothing stands in the history that is not recorded: a next request mends what was lost."""
        for _ in range(5):
            await player.says(f"{player.name} rests a while, {player.asked} breaths long.")
            if player.history[-1][1] not in player.unrecorded:
                return
        raise AssertionError(f"{player.name} rests, nothing happens, and five replies were not recorded")

    async def _ready(self, servers: list[Served]) -> None:
        await asyncio.gather(*(each.member.ready() for each in servers))

    async def _examine(self, servers: list[Served], players: list[MovedPlayer], journal: Journal) -> None:
        await self._calm(servers, players)
        commits = await asyncio.to_thread(commits_since, self.database.url, self._number)
        self._number = max([self._number, *(commit.last for commit in commits)])
        self.history.follow(commits)
        wrong = self.history.wrong
        for player in players:
            self.history.compare(player.appended, player.reads)
            wrong += await wrong_in_tree(journal, player, self._narrator)
            self._turns += len(player.appended)
            self._reads += len(player.reads)
            self._unrecorded += len(player.unrecorded)
            self._slowest = max(self._slowest, player.slowest)
            player.appended, player.reads = player.appended[-1:], []
            player.unrecorded.clear()
        wrong += self._traces(servers)
        assert not wrong, "\n".join(wrong[:10])

    async def _calm(self, servers: list[Served], players: list[MovedPlayer]) -> None:
        """Wait until no work is left, and have the views held against the journal, by each server in turn."""
        ends = time.monotonic() + _CALM_SECONDS
        async with ClientSession(timeout=ClientTimeout(total=_CALM_SECONDS)) as http:
            while True:
                told = []
                for each in servers:
                    async with http.post(f"{each.member.url}/api/drain") as answer:
                        assert answer.status == 200, await answer.text()
                for player in players:
                    for each in servers:
                        url = f"{each.member.url}/api/verify?session={player.session}"
                        async with http.get(url) as answer:
                            found = await answer.json()
                        if answer.status != 200 or not found["equal"] or found["waiting"]:
                            told.append(f"{each.member.name}: {answer.status} {found}")
                if not told:
                    return
                assert time.monotonic() < ends, f"views are not as the journal has it: {told}"
                await asyncio.sleep(0.2)

    def _traces(self, servers: list[Served]) -> list[str]:
        """What servers did not expect."""
        told = "".join(each.member.log() for each in servers)
        at = told.find("Traceback")
        return [] if at < 0 else [told[max(0, at - 500) : at + 4_000]]


async def _leave(players: list[MovedPlayer]) -> None:
    for player in players:
        await player.aclose()
