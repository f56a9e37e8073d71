"""Players on one port behind which processes are killed, stopped and started again, and what must hold all the same.

``python -m tests.server.hosting.workers.game --rounds 100 --seed 7 --workers 3`` plays it by hand.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, ClientTimeout, TCPConnector
from attrs import define, field

from saga_backends import path_lock
from saga_core.config import load_config
from saga_core.counters import Counters
from saga_core.journal import Journal
from saga_core.storage import open_journal_store
from tests.postgres.chaos.history import History
from tests.postgres.chaos.moved_player import MovedPlayer
from tests.postgres.chaos.narrator import Narrator
from tests.postgres.chaos.tree import wrong_in_tree
from tests.server.hosting.workers.together import Door, Together, changes_since
from tests.server.upstream import Upstream

PLAYERS = 3
STORY = 6
"""Rounds that a player's chat lasts; then another one begins."""
_CALM_SECONDS = 60.0
_TROUBLES = (*("kill",) * 4, *("nap",) * 3, *("stop",) * 2, *("term",) * 1, *("parent",) * 1, *("again",) * 1)


class HomePlayer(MovedPlayer):
    """Asks over a new connection each time, so that any process may be the one."""

    def _client(self) -> ClientSession:
        if self._http is None:
            self._http = ClientSession(timeout=ClientTimeout(total=60), connector=TCPConnector(force_close=True))
        return self._http


@define(kw_only=True)
class WorkersGame:
    """``play`` it once."""

    workers: int
    rounds: int
    seed: int
    folder: Path
    lease: float = 1.5
    say: Callable[[str], None] = print
    happened: Counter[str] = field(factory=Counter)
    history: History = field(factory=History)
    _number: int = 0
    """That of the last commit that was looked at."""
    _narrator: Narrator = field(factory=Narrator)
    _turns: int = 0
    _reads: int = 0
    _unrecorded: int = 0
    _slowest: float = 0.0

    async def play(self) -> dict[str, Any]:
        """Play all rounds; what was played, in figures. Raises ``AssertionError`` with the number of the round."""
        draw = random.Random(self.seed)
        async with Upstream(otherwise=self._narrator) as upstream:
            home = Together(
                self.folder,
                self.workers,
                {
                    "server": {"lease_seconds": self.lease},
                    "session": {"default_world": "ersia"},
                    "extraction": {"automatic": "never"},
                    "providers": {"openai": {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0}},
                },
                recorded=True,
            )
            home.start()
            try:
                await home.doors()
                await self._play(home, draw)
                assert await asyncio.to_thread(home.stop) in (0, 1)
            finally:
                await asyncio.to_thread(home.remove)
        return {
            "workers": self.workers, "rounds": self.rounds, "seed": self.seed, "turns": self._turns,
            "reads": self._reads, "unrecorded": self._unrecorded, "slowest": round(self._slowest, 1),
            "commits": self.history.commits, "takings": self.history.takings, "trouble": dict(self.happened),
        }  # fmt: skip

    async def _play(self, home: Together, draw: random.Random) -> None:
        players: list[HomePlayer] = []
        # This process reads beside those that write, as one of them would.
        path_lock.inherit([home.data / "state.db"], first=False)
        store = await open_journal_store(load_config({"storage": {"path": str(home.data)}}), Counters())
        try:
            for number in range(self.rounds):
                if number % STORY == 0:
                    await _leave(players)
                    players = [self._player(home.door, f"{number}x{at}") for at in range(PLAYERS)]
                try:
                    await self._round(home, players, draw)
                    await self._examine(home, players, Journal(store, Counters()))
                except AssertionError as error:
                    told = f"round {number}, seed {self.seed}: {error}\n{home.log()[-8_000:]}"
                    raise AssertionError(told) from error
                if number % 10 == 9:
                    self.say(f"{time.strftime('%H:%M:%S')} {self.workers} workers, {number + 1} rounds: all is right")
        finally:
            await _leave(players)
            await store.aclose()

    def _player(self, door: Door, name: str) -> HomePlayer:
        return HomePlayer(f"Aria{name}", [door], random.Random(f"{self.seed} {name}"))  # type: ignore[list-item]

    async def _round(self, home: Together, players: list[HomePlayer], draw: random.Random) -> None:
        over = asyncio.Event()

        async def plays(player: HomePlayer) -> None:
            await player.act()
            while not over.is_set():
                await player.act()

        async def happens() -> None:
            try:
                await asyncio.sleep(draw.uniform(0.0, 0.4))
                what = draw.choice(_TROUBLES)
                self.happened[what] += 1
                await self._happen(what, home, draw)
            finally:
                over.set()

        await asyncio.gather(happens(), *map(plays, players))
        await home.doors()
        for player in players:
            await self._comes_to_rest(player)

    async def _happen(self, what: str, home: Together, draw: random.Random) -> None:
        process = home.process
        assert process is not None
        children = home.children()
        one = draw.choice(children) if children else process.pid
        if what == "kill":
            _send(one, signal.SIGKILL)
        elif what == "term":
            _send(one, signal.SIGTERM)
        elif what == "nap":  # it wakes before anybody gives it up
            _send(one, signal.SIGSTOP)
            await asyncio.sleep(self.lease * draw.uniform(0.1, 0.7))
            _send(one, signal.SIGCONT)
        elif what == "stop":  # nobody wakes it: its parent ends it
            _send(one, signal.SIGSTOP)
            await asyncio.sleep(self.lease * 1.5)
        elif what == "parent":  # the others end by themselves
            process.kill()
            await asyncio.to_thread(process.wait)
            await self._started_again(home)
        else:
            await asyncio.to_thread(home.stop)
            home.start()
        await asyncio.sleep(draw.uniform(0.0, 0.5))

    async def _started_again(self, home: Together) -> None:
        """As a service manager does it: again and again until those that are left have let the data go."""
        while True:
            home.start()
            process = home.process
            assert process is not None
            waiting = asyncio.create_task(home.doors())
            ended = asyncio.create_task(asyncio.to_thread(process.wait))
            await asyncio.wait({waiting, ended}, return_when=asyncio.FIRST_COMPLETED)
            if waiting.done() and waiting.exception() is None:
                return
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            await asyncio.sleep(0.2)

    async def _comes_to_rest(self, player: HomePlayer) -> None:
        for _ in range(5):
            await player.says(f"{player.name} rests a while, {player.asked} breaths long.")
            if player.history[-1][1] not in player.unrecorded:
                return
        raise AssertionError(f"{player.name} rests, nothing happens, and five replies were not recorded")

    async def _examine(self, home: Together, players: list[HomePlayer], journal: Journal) -> None:
        await self._calm(home, players)
        commits = await asyncio.to_thread(changes_since, home.data, self._number)
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
        told = home.log()
        at = told.find("Traceback")
        if at >= 0:
            wrong.append(told[max(0, at - 500) : at + 4_000])
        assert not wrong, "\n".join(wrong[:10])

    async def _calm(self, home: Together, players: list[HomePlayer]) -> None:
        """Wait until no work is left, and have the views held against the journal by each process."""
        ends = time.monotonic() + _CALM_SECONDS
        async with ClientSession(timeout=ClientTimeout(total=_CALM_SECONDS)) as http:
            while True:
                told, doors = [], await home.doors()
                for door in doors:
                    async with http.post(f"{door.url}/api/drain") as answer:
                        assert answer.status == 200, await answer.text()
                for player in players:
                    for door in doors:
                        async with http.get(f"{door.url}/api/verify?session={player.session}") as answer:
                            found = await answer.json()
                        if answer.status != 200 or not found["equal"] or found["waiting"]:
                            told.append(f"{door.name}: {answer.status} {found}")
                if not told:
                    return
                assert time.monotonic() < ends, f"views are not as the journal has it: {told}"
                await asyncio.sleep(0.2)


def _send(pid: int, what: signal.Signals) -> None:
    try:
        os.kill(pid, what)
    except ProcessLookupError:
        return  # it has ended by itself


async def _leave(players: list[HomePlayer]) -> None:
    for player in players:
        await player.aclose()


def main() -> None:
    given = argparse.ArgumentParser(prog="python -m tests.server.hosting.workers.game", description=__doc__)
    given.add_argument("--rounds", type=int, default=100)
    given.add_argument("--seed", type=int, default=11)
    given.add_argument("--workers", type=int, default=3)
    given.add_argument("--lease", type=float, default=1.5, help="seconds; more where others use the machine")
    asked = given.parse_args()
    with tempfile.TemporaryDirectory(prefix="saga-workers-") as folder:
        game = WorkersGame(
            workers=asked.workers,
            rounds=asked.rounds,
            seed=asked.seed,
            folder=Path(folder),
            lease=asked.lease,
            say=lambda told: print(told, flush=True),
        )
        print(asyncio.run(game.play()), flush=True)


if __name__ == "__main__":
    main()
