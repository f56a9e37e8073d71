"""Work behind the reply that a server leaves is done by another one, without anybody who plays, and once."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from saga_core import Saga
from saga_core.views import Projector
from tests.core.frontend import Frontend


def config(url: str, schema: str, folder: Path, name: str) -> dict[str, Any]:
    place = {"options": {"schema": schema, "pool": 3}}
    stores = dict.fromkeys(("state", "graph", "vector", "cache"), place)
    return {
        "server": {"name": name, "lease_seconds": 0.6},
        "storage": {"profile": "scale", "url": url, "path": str(folder / name), **stores},
        "session": {"default_world": "ersia"},
    }


async def test_what_a_server_leaves_another_one_does(
    url: str, schema: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain, asleep, woken = Projector.render, asyncio.Event(), asyncio.Event()
    async with Saga.open(config(url, schema, tmp_path, "a")) as a:
        await a.drain(10)
        projector = a.parts.projector

        async def render(self: Projector, *given: Any, **more: Any) -> None:
            if self is projector:
                asleep.set()
                await woken.wait()
            await plain(self, *given, **more)

        monkeypatch.setattr(Projector, "render", render)
        await Frontend(a).say("I open the door.", "The inn is warm and full of noise tonight.", hp_change=-3)
        await asleep.wait()
        leases = a.parts.rights
        assert leases is not None and leases._beating is not None
        leases._beating.cancel()  # it gives no sign of life from here on
        ((session, turn, _), *_rest) = await a.parts.journal.jobs()
        async with asyncio.timeout(30), Saga.open(config(url, schema, tmp_path, "b")) as b:
            done = asyncio.Event()
            b.counters.listeners.append(
                lambda event, about: done.set() if event == "projected" and about["session"] == session else None
            )
            await done.wait()
            await b.drain(10)
            assert await b.parts.journal.jobs() == []
            assert b.counters.counts["leases.inherited"] == 1
            assert await b.maintenance.differences(session) == []
            woken.set()
            await a.drain(10)
            assert a.counters.counts["lane.left_to_others"] == 1
            assert "background" not in a.counters.degraded
            assert (await b.describe(session))["turn_id"] == turn
            assert await b.maintenance.differences(session) == []
