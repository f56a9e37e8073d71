"""Servers on one journal that keep their graphs in memory, each its own: what others changed shows in them too."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path

from saga_core import Saga
from tests.core.frontend import Frontend
from tests.postgres.test_work_left import config


async def given_back(server: Saga) -> None:
    """Wait until a server has let all its sessions go."""
    leases = server.parts.rights
    assert leases is not None
    async with asyncio.timeout(60):
        while leases._held:  # noqa: ASYNC110 - some are given back while others are waited for
            await asyncio.sleep(0.05)


async def test_a_graph_that_another_server_corrected_is_drawn_anew(url: str, schema: str, tmp_path: Path) -> None:
    def settings(name: str) -> dict[str, object]:
        found = config(url, schema, tmp_path, name)
        return {**found, "storage": {**found["storage"], "graph": {"backend": "networkx"}}}

    async with Saga.open(settings("a")) as a, Saga.open(settings("b")) as b:
        ours = Frontend(a)
        await ours.say("I open the door.", "The inn is warm and full of noise tonight.", hp_change=-3)
        await a.drain(10)
        ((session, *_),) = [(each.session.id,) for each in await a.sessions.list()]
        assert await a.parts.projector.shown(session) != {None}
        ours.last = None
        gc.collect()  # a turn that somebody holds keeps its session
        await given_back(a)
        await b.memory.correct(session, "hp", {"hp": "40"})
        await b.drain(10)
        await given_back(b)
        await ours.say("I sit down.", "A chair creaks beneath you, and the host looks up.")
        await a.drain(10)
        assert await a.maintenance.differences(session) == []
