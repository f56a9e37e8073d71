"""Servers that are killed, put to sleep past their lease and woken, and a database that restarts, under players who are
moved between them: no reply is lost that ended, and no fork is there that no player made.

``SAGA_CHAOS_ROUNDS`` says how many rounds are played (120), ``SAGA_CHAOS_SEED`` with which seed.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import random
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from saga_core import Saga
from saga_core.config import load_config
from saga_core.journal import keys
from tests.postgres.cluster import Member
from tests.postgres.moved_player import MovedPlayer
from tests.postgres.real_server import RealServer
from tests.server.client import BLOCK
from tests.server.upstream import Received, Upstream, says

pytestmark = pytest.mark.deep

ROUNDS = int(os.environ.get("SAGA_CHAOS_ROUNDS", "120"))
SEED = int(os.environ.get("SAGA_CHAOS_SEED", "11"))
LEASE = 2.0
PLAYERS = 4


_WORDS = (
    "amber barley cedar dolphins embers falcons garlic harbours ivory jackdaws kettles lanterns marble nettles olives "
    "pearls quarries ravens saffron thistles umbrellas violets walnuts yarrow zinc anvils beacons cobwebs ditches elms"
).split()


def numbered() -> Any:
    """Replies that no other reply equals or begins like."""
    count = itertools.count()

    async def step(request: web.Request, received: Received) -> web.StreamResponse:
        number = next(count)
        seen = random.Random(number).sample(_WORDS, 9)
        told = f"{number:05d} stands on the gate. You see {', '.join(seen[:5])} and hear of {', '.join(seen[5:])}.\n\n"
        # Long enough that servers go while a reply is under way.
        await asyncio.sleep(random.Random(number).uniform(0.0, 0.2))
        gate = asyncio.Event()
        asyncio.get_running_loop().call_later(random.Random(number).uniform(0.0, 0.5), gate.set)
        return await says(told[:20], told[20:], BLOCK, gate=gate)(request, received)

    return step


class Trouble:
    """What happens to servers and database, drawn by a seed."""

    def __init__(self, members: list[Member], database: RealServer, draw: random.Random) -> None:
        self._members, self._database, self._draw = members, database, draw
        self.happened: Counter[str] = Counter()

    async def go_on(self) -> None:
        while True:
            troubles = ["kill", "kill", "sleep", "sleep", "sleep", "cut", "restart"]
            self._draw.shuffle(troubles)
            for what in troubles:
                await asyncio.sleep(self._draw.uniform(0.2, 1.0))
                self.happened[what] += 1
                await getattr(self, f"_{what}")(self._draw.choice(self._members))

    async def _kill(self, member: Member) -> None:
        member.send(signal.SIGKILL)
        member.start()
        await member.ready()

    async def _sleep(self, member: Member) -> None:
        member.sleep()
        try:
            await asyncio.sleep(LEASE * self._draw.uniform(0.5, 2.5))
        finally:
            member.wake()

    async def _cut(self, member: Member) -> None:
        import psycopg

        try:
            async with await psycopg.AsyncConnection.connect(self._database.url, autocommit=True) as line:
                await line.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'saga'"
                )
        except psycopg.OperationalError:
            self.happened["cut in vain"] += 1

    async def _restart(self, member: Member) -> None:
        self._database.stop(self._draw.choice((signal.SIGINT, signal.SIGQUIT)))
        await asyncio.to_thread(self._database.start)


@pytest.mark.parametrize("count", [2, 3])
async def test_no_reply_is_lost_and_no_fork_is_there_that_no_player_made(
    count: int, server: RealServer, tmp_path: Path
) -> None:
    draw = random.Random(SEED)
    async with Upstream(otherwise=numbered()) as upstream:
        sections: dict[str, Any] = {
            "server": {"lease_seconds": LEASE},
            "storage": {"profile": "scale", "url": server.url},
            "session": {"default_world": "ersia"},
            "extraction": {"automatic": "never"},
            "providers": {"openai": {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0}},
        }
        members = [Member(tmp_path / name, name, sections) for name in "abc"[:count]]
        try:
            for member in members:
                member.start()
            await asyncio.gather(*(member.ready() for member in members))
            players = [MovedPlayer(f"Aria{number}", members, random.Random(SEED + number)) for number in range(PLAYERS)]
            trouble = Trouble(members, server, draw)
            happening = asyncio.create_task(trouble.go_on())
            try:
                await asyncio.gather(*(_plays(player, ROUNDS // PLAYERS) for player in players))
            finally:
                happening.cancel()
                await asyncio.gather(happening, return_exceptions=True)
            for member in members:
                await member.ready()
            for player in players:
                await player.says(f"{player.name} comes home, and the story of this day ends.")
                await player.says(f"{player.name} sleeps.")  # its history mends what the last reply may have lost
        finally:
            for member in members:
                member.remove()
        told = "\n".join(member.log() for member in members)
        assert "Traceback" not in told, told[told.index("Traceback") - 500 :][:4_000]
        print(
            f"\n{count} servers, {sum(player.asked for player in players)} requests, trouble: {dict(trouble.happened)},"
            f" not recorded: {sum(len(player.unrecorded) for player in players)}, slowest round: "
            f"{max(player.slowest for player in players):.1f} s"
        )
        await _examine(load_config({**sections, "storage": {**sections["storage"], "path": str(tmp_path)}}), players)


async def _plays(player: MovedPlayer, rounds: int) -> None:
    for _ in range(rounds):
        await player.round()


async def _examine(config: Any, players: list[MovedPlayer]) -> None:
    async with Saga.open(config) as saga:
        await saga.drain(60)
        journal = saga.parts.journal
        sessions = {each.id for each in await journal.sessions()}
        assert {player.session for player in players} <= sessions
        for player in players:
            tree = await journal.tree(player.session)
            turns = await journal.turns(player.session, list(tree.nodes))
            told = {turn.id: turn.reply.strip() for turn in turns}
            twice = [reply for reply, number in Counter(told.values()).items() if reply and number > 1]
            assert twice == [], "a reply stands in the tree twice: a fork that nobody made"
            shown = [reply.strip() for _, reply in player.history]
            path = [told[node.id] for node in reversed(list(tree.upwards(_leaf(told, shown[-1]))))]
            assert [each for each in path if each] == shown, "the path is what the player saw"
            assert len(tree) - 1 <= player.asked, "no more turns than requests"
            lost = {reply for reply in player.ended if reply.strip() not in told.values()}
            assert lost <= player.unrecorded, "replies that ended, whose notice said nothing, and that nobody has"
            order = (await saga.stores.state.get([keys.order(player.session)]))[keys.order(player.session)]
            assert int(order) >= len(tree) - 1
            assert await saga.maintenance.differences(player.session) == []


def _leaf(told: dict[str, str], reply: str) -> str:
    found = [turn for turn, text in told.items() if text == reply]
    assert len(found) == 1, f"{reply!r} is in the tree {len(found)} times"
    return found[0]
