"""The database is killed in the midst of writes: each store holds what was acknowledged, and the last write as a whole
or not at all.
"""

from __future__ import annotations

import asyncio
import random
import signal
import threading
import time
from typing import Any

import psycopg
import pytest

from conformance.assertions import Refused, typed
from conformance.calls import StoreCall, answer, snapshot
from conformance.oracles import MODELS, expected
from conformance.strategies import STRATEGIES
from saga_core.errors import StoreError, StoreUnavailable
from saga_core.registry import OpenOptions, load
from tests.postgres.real_server import RealServer

STORES = (("state", "postgres"), ("graph", "postgres"), ("vector", "pgvector"), ("cache", "postgres"))
KILLS = 5
_SECONDS = 60.0


class Killer:
    """Kills a server again and again until ``stop``: as a whole, or one process that serves a connection, upon which
    PostgreSQL throws the others out and recovers by itself.
    """

    def __init__(self, server: RealServer, seed: int) -> None:
        self.kills = 0
        self._server, self._draw = server, random.Random(seed)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._go_on)
        self._thread.start()

    def _go_on(self) -> None:
        while not self._over.wait(self._draw.uniform(0.0, 0.15)):
            if self._draw.random() < 0.5:
                self._server.stop(signal.SIGQUIT)
                self._server.start()
            elif not self._kill_one():
                continue
            self.kills += 1
            self._server.wait()

    def _kill_one(self) -> bool:
        try:
            with psycopg.connect(self._server.url) as line:
                row = line.execute(
                    "SELECT pid FROM pg_stat_activity WHERE application_name = 'saga' LIMIT 1"
                ).fetchone()
        except psycopg.OperationalError:
            return False  # it is still at the kill before
        if row is not None:
            self._server.kill_child(row[0])
        return row is not None

    def stop(self) -> None:
        self._over.set()
        self._thread.join(_SECONDS)
        assert not self._thread.is_alive()


async def read(store: Any) -> object:
    """What the store holds, as soon as the server answers."""
    ends = time.monotonic() + _SECONDS
    while True:
        try:
            return typed(await snapshot(store))
        except StoreError:
            assert time.monotonic() < ends
            await asyncio.sleep(0.05)


async def made(store: Any, call: StoreCall) -> bool:
    """Whether a call was answered at all."""
    found = await answer(store, call)
    return not (isinstance(found, Refused) and found.error in (StoreUnavailable.__name__, StoreError.__name__))


@pytest.mark.deep
@pytest.mark.parametrize(("kind", "name"), STORES)
@pytest.mark.parametrize("seed", range(3))
async def test_what_was_acknowledged_is_there_when_the_server_is_killed_under_it(
    kind: str, name: str, seed: int, server: RealServer
) -> None:
    store = await load(kind, name).open(OpenOptions(url=server.url, options={"timeout": 1.0, "pool": 2}))
    model: Any = MODELS[kind]()
    killer = Killer(server, seed)
    unknown, draw, ends = 0, random.Random(seed), time.monotonic() + _SECONDS
    try:
        while killer.kills < KILLS or not unknown:
            assert time.monotonic() < ends, f"{killer.kills} kills, {unknown} writes that were cut off"
            call = STRATEGIES[kind].write(draw, model)
            before = typed(model.snapshot())
            expected(model, call)
            after = typed(model.snapshot())
            while not await made(store, call):
                unknown += 1
                found = await read(store)
                assert found in (before, after), (
                    f"{call} was cut off by a kill, and what is there is neither before nor behind it"
                )
                if found == after:
                    break
        killer.stop()
        assert await read(store) == typed(model.snapshot())
    finally:
        killer.stop()
        await store.aclose()
