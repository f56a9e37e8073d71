"""Two servers on one database: players of one world are served by both, and see what the others did there."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis.stateful import precondition, rule, run_state_machine_as_test

from saga_core import Saga
from saga_core.config import Config
from saga_server.tenancy import Tenancy
from tests.core.sessions.shared import Player, player, shared_config, state_at, status_of
from tests.model.searches import deep, repeatable
from tests.model.sharing import NAMES, SharingMachine
from tests.postgres.shared_server import address, schema_of


def configured(folder: Path, url: str, schema: str, name: str) -> Config:
    place: dict[str, Any] = {"options": {"schema": schema, "pool": 4}}
    return shared_config(
        folder / name,
        storage={
            "profile": "scale",
            "url": url,
            "path": str(folder / name / "data"),
            **dict.fromkeys(("state", "graph", "vector", "cache"), place),
        },
        server={"name": name, "lease_seconds": 2.0},
    )


async def test_what_happens_on_one_server_is_seen_on_the_other(url: str, schema: str, tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        one, two = [
            await stack.enter_async_context(Saga.open(configured(tmp_path, url, schema, name), hosting=Tenancy()))
            for name in ("a", "b")
        ]
        rin, ivo = player(one, "Rin"), player(two, "Ivo")
        await rin.status("Kesh", "wounded")
        await rin.say()
        assert status_of(await state_at(two, await ivo.status("Tobin", "asleep")), "Kesh") == "wounded"
        await ivo.say()
        assert status_of(await state_at(one, await rin.say()), "Tobin") == "asleep"


async def test_of_those_who_publish_at_once_nothing_is_lost(url: str, schema: str, tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        servers = [
            await stack.enter_async_context(Saga.open(configured(tmp_path, url, schema, name), hosting=Tenancy()))
            for name in ("a", "b")
        ]
        players = [player(saga, name) for saga, name in zip(servers * 2, ("Rin", "Ivo", "Sol", "Ada"), strict=True)]

        async def plays(one: Player) -> None:
            for number in range(4):
                await one.status(f"{one.name}s {('sister', 'brother', 'mother', 'father')[number]}", "tired")
            await one.status("Kesh", f"marked by {one.name}")
            await one.say()

        await asyncio.gather(*map(plays, players))
        rows = await servers[0].stores.state.scan(("share", "low-weir"))
        numbers = [int(key[2]) for key, _ in rows]
        assert numbers == list(range(1, len(numbers) + 1))
        assert b"".join(raw for _, raw in rows).count(b'"value":"tired"') == 4 * len(players)
        ends = [status_of(await state_at(one.chat.saga, await one.say()), "Kesh") for one in players]
        assert len(set(ends)) == 1 and ends[0].startswith("marked by"), ends


class TwoServers(SharingMachine):
    """Every other player is served by the other server. Both end and begin together."""

    def open(self) -> Saga:
        folder = Path(self.folder.name)
        configs = [configured(folder, address(), schema_of(folder), name) for name in ("a", "b")]

        async def opened() -> list[Saga]:
            return [await Saga.open(config, hosting=Tenancy()) for config in configs]

        self.servers = self.runner.run(opened())
        return self.servers[0]

    def serving(self, name: str) -> Saga:
        return self.servers[(*NAMES, "Ada").index(name) % 2]

    def close(self, drain: float = 5) -> None:
        for server in self.servers:
            self.runner.run(server.aclose(drain=drain))

    @precondition(lambda self: False)
    @rule()
    def die(self) -> None:
        """A server that dies keeps its sessions until its lease is over; ``test_work_left`` waits for that."""


def test_players_on_two_servers_see_what_others_did_and_no_past_changes() -> None:
    run_state_machine_as_test(TwoServers, settings=repeatable(1, 16))


@pytest.mark.deep
def test_players_on_two_servers_see_what_others_did_in_long_chats() -> None:
    run_state_machine_as_test(TwoServers, settings=deep(40, 30))
