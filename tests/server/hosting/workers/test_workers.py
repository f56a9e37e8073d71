"""Real processes on one port and one data directory: what players see when one of them is killed, or hangs."""

from __future__ import annotations

import asyncio
import os
import random
import select
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession

from saga_backends.path_lock import PathLock
from saga_core import Saga
from saga_core.errors import StoreLocked
from saga_server.cli.top import _by_name
from tests.postgres.chaos.moved_player import MovedPlayer
from tests.postgres.chaos.narrator import Narrator
from tests.server.hosting.workers.game import WorkersGame
from tests.server.hosting.workers.together import Door, Together
from tests.server.upstream import Upstream

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for its processes in /proc")

ROUNDS = int(os.environ.get("SAGA_CHAOS_ROUNDS", "20"))
SEED = int(os.environ.get("SAGA_CHAOS_SEED", "11"))


@asynccontextmanager
async def served(folder: Path, workers: int, lease: float, **server: Any) -> AsyncIterator[Together]:
    async with Upstream(otherwise=Narrator()) as upstream:
        sections: dict[str, Any] = {
            "server": {"lease_seconds": lease, **server},
            "session": {"default_world": "ersia"},
            "extraction": {"automatic": "never"},
            "providers": {"openai": {"base_url": upstream.url, "api_key": "sk-up", "max_retries": 0}},
        }
        home = Together(folder, workers, sections)
        home.start()
        try:
            yield home
        finally:
            await asyncio.to_thread(home.remove)


async def status(http: ClientSession, door: Door) -> Any:
    async with http.get(f"{door.url}/api/status") as answer:
        return await answer.json()


async def ended(pid: int) -> None:
    """Wait for the end of a process that is nobody's child any more."""
    line = os.pidfd_open(pid)
    try:
        await asyncio.to_thread(select.select, [line], [], [])
    finally:
        os.close(line)


async def until(holds: Callable[[], bool], home: Together) -> None:
    while not holds():
        assert home.process is not None and home.process.poll() is None, home.log()
        await asyncio.sleep(0.05)


async def test_two_processes_are_one_server_and_one_goes_on_when_the_other_is_killed(tmp_path: Path) -> None:
    # Longer than the test: nobody is killed for being slow on a busy machine.
    async with served(tmp_path, 2, lease=600.0) as home, ClientSession() as http:
        one, two = await home.doors()
        first = home.children()[0]
        assert (one.name, two.name) == ("home.w1", "home.w2")
        with pytest.raises(StoreLocked):
            PathLock(home.data / "state.db")
        player = MovedPlayer("Aria", [one], random.Random(1))  # type: ignore[list-item]
        try:
            await player.says("I open the door of the inn and look for a seat.")
            player.servers = [two]  # type: ignore[list-item]
            await player.says("I sit down and call for ale.")
            assert (await status(http, two))["counters"]["leases.passed_on"] == 1
            async with http.get(f"{home.door.url}/metrics") as answer:
                metrics = _by_name(await answer.text())
            assert [metrics[f'saga_worker_up{{worker="w{number}"}}'] for number in (1, 2)] == [1.0, 1.0]
            assert metrics['saga_commits_total{result="done"}'] == 2.0, metrics
            os.kill(first, signal.SIGKILL)
            await player.says("I ask the host about the road.")
            found = await status(http, two)
            assert found["servers"]["sessions"] == 1 and found["counters"]["leases.inherited"] == 1
        finally:
            await player.aclose()
        await until(lambda: "process 1 ended with -9" in home.log(), home)
        await asyncio.to_thread(home.stop)
        assert player.unrecorded == set()
        assert home.children_left() == []
    async with Saga.open({"storage": {"path": str(home.data)}}) as saga:
        live = await saga.parts.live.get(player.session)
        shown = [(await live.turn(node.id)).reply for node in reversed(list(live.tree.upwards(live.head)))]
        assert [each.strip() for each in shown if each] == [reply for _, reply in player.history]
        await saga.drain(10)
        assert await saga.maintenance.differences(player.session) == []


@pytest.mark.deep
async def test_an_owner_is_forgotten_though_several_processes_have_her_sessions(tmp_path: Path) -> None:
    async with (
        served(tmp_path, 3, lease=600.0, api_keys=["admin-key-1"]) as home,
        ClientSession(headers=home.headers) as http,
    ):
        doors = await home.doors()
        begun = []
        for door in (*doors[::-1], *doors):
            async with http.post(f"{door.url}/api/sessions", json={"label": f"tale {len(begun)}"}) as answer:
                begun.append((await answer.json())["id"])
        async with http.get(f"{home.door.url}/api/me") as answer:
            owner = (await answer.json())["owner"]
        async with http.post(f"{home.door.url}/api/forget", params={"owner": owner}) as answer:
            assert answer.status == 200, await answer.text()
            assert sorted((await answer.json())["sessions"]) == sorted(begun)
        for door in doors:
            assert (await status(http, door))["servers"]["sessions"] == 0
            async with http.get(f"{door.url}/api/sessions") as answer:
                assert (await answer.json())["sessions"] == []


@pytest.mark.deep
async def test_a_process_that_hangs_is_ended_and_started_again(tmp_path: Path) -> None:
    async with served(tmp_path, 2, lease=2.0) as home:
        await home.doors()
        before = home.children()
        os.kill(before[1], signal.SIGSTOP)
        await until(lambda: "process 2 gave no sign of life for 2 s" in home.log(), home)
        await home.doors()
        after = home.children()
        assert len(after) == 2 and before[1] not in after and before[0] in after


@pytest.mark.deep
async def test_when_their_parent_is_killed_they_stop_and_nobody_opens_the_data_before(tmp_path: Path) -> None:
    async with served(tmp_path, 2, lease=600.0) as home:
        await home.doors()
        children = home.children()
        os.kill(children[1], signal.SIGSTOP)
        assert home.process is not None
        home.process.kill()
        await asyncio.to_thread(home.process.wait)
        await ended(children[0])
        with pytest.raises(StoreLocked):  # the other one would write when it wakes
            PathLock(home.data / "state.db")
        os.kill(children[1], signal.SIGCONT)
        await ended(children[1])
        PathLock(home.data / "state.db").release()


@pytest.mark.deep
@pytest.mark.parametrize("workers", [2, 3])
async def test_no_reply_is_lost_and_no_fork_is_there_that_no_player_made(workers: int, tmp_path: Path) -> None:
    played = await WorkersGame(workers=workers, rounds=ROUNDS, seed=SEED, folder=tmp_path).play()
    print(f"\n{played}")
    assert played["turns"] >= ROUNDS, "it was played at all"
