"""``/healthz`` and ``/readyz`` in every state: ready is only who would take a turn."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession

from saga_core.config import load_config
from saga_core.errors import StoreCorrupt, StoreError, StoreUnavailable
from saga_core.saga import Opening
from saga_core.storage import opening
from saga_server.http import connections
from saga_server.process import readiness
from saga_server.server import Server
from tests.faults.breakable import breakable
from tests.server.client import Client, words
from tests.server.conftest import Serve
from tests.server.upstream import Upstream, says


@pytest.fixture(autouse=True)
def always_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "_PROVEN_SECONDS", 0.0)
    monkeypatch.setattr(readiness, "SECONDS", 0.2)
    monkeypatch.setattr(opening, "CHECK_SECONDS", 0.2)


async def anon(look: Callable[[], Any]) -> Any:
    """What ``look`` gives, once it gives something."""
    async with asyncio.timeout(5):
        while not (found := look()):  # noqa: ASYNC110 - nobody sets an event for it
            await asyncio.sleep(0)
    return found


async def ready(client: Client) -> tuple[int, Any]:
    assert (await client.get("/healthz")).status == 200, "the process runs"
    answer = await client.get("/readyz")
    return answer.status, answer.json


async def test_starting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is told yes, and nobody hangs, while stores are being opened."""
    monkeypatch.setattr(connections, "PATIENCE", 0.0)
    go, opened = asyncio.Event(), Opening._open

    async def slow(self: Opening) -> Any:
        await go.wait()
        return await opened(self)

    monkeypatch.setattr(Opening, "_open", slow)
    server = Server(load_config({"storage": {"profile": "memory"}, "server": {"port": 0}}, environ={}), {})
    starting = asyncio.create_task(server.start())
    async with ClientSession(await anon(lambda: server.port and server.url)) as http:
        async with http.get("/healthz") as answer:
            assert answer.status == 200
        async with http.get("/readyz") as answer:
            told = {"status": "starting", "reason": "not ready: the stores are being opened"}
            assert (answer.status, await answer.json()) == (503, told)
        async with http.post("/v1/chat/completions", json={"messages": []}) as answer:
            assert (answer.status, answer.headers["Retry-After"]) == (503, "1")
            assert "is starting" in (await answer.json())["error"]["message"]
        go.set()
        await starting
        async with http.get("/readyz") as answer:
            assert (answer.status, (await answer.json())["status"]) == (200, "ready")
    await server.stop()


async def test_a_request_waits_for_a_quick_start(monkeypatch: pytest.MonkeyPatch) -> None:
    go, opened = asyncio.Event(), Opening._open

    async def slow(self: Opening) -> Any:
        await go.wait()
        return await opened(self)

    monkeypatch.setattr(Opening, "_open", slow)
    server = Server(load_config({"storage": {"profile": "memory"}, "server": {"port": 0}}, environ={}), {})
    starting = asyncio.create_task(server.start())
    async with ClientSession(await anon(lambda: server.port and server.url)) as http:
        asked = asyncio.create_task(http.get("/readyz"))
        await asyncio.sleep(0.05)
        go.set()
        await starting
        async with await asked as answer:
            assert answer.status == 200
    await server.stop()


async def test_ready(offline: Client) -> None:
    status, found = await ready(offline)
    assert status == 200
    assert found == {
        "status": "ready",
        "stores": {"state": "ok", "graph": "ok", "vector": "ok", "cache": "ok"},
        "degraded": [],
    }


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (StoreError("/data/state.db: database or disk is full; make room"), "disk is full"),
        (StoreError("/data/state.db: attempt to write a readonly database"), "readonly"),
        (StoreCorrupt("/data/state.db: page 7 is torn"), "page 7 is torn"),
        (StoreUnavailable("the database does not answer"), "does not answer"),
    ],
)
async def test_a_journal_that_takes_nothing(
    offline: Client, monkeypatch: pytest.MonkeyPatch, error: StoreError, why: str
) -> None:
    """Reading works, so that only writing tells: the store itself calls itself well."""

    async def fails(*_: Any, **__: Any) -> None:
        raise error

    state: Any = offline.server.saga.stores.state
    with monkeypatch.context() as patch:
        patch.setattr(type(state._inner), "commit", fails)
        status, found = await ready(offline)
        assert (status, found["status"]) == (503, "not ready")
        assert why in found["reason"] and why in found["stores"]["state"]
        reply = await offline.chat(words("hello"))
        assert reply.status == 200 and why in reply.headers["X-SAGA-Notice"], "the player has a reply, and is told"
    if not isinstance(error, StoreCorrupt):
        assert (await ready(offline))[0] == 200
        assert (await offline.get("/api/status")).json["degraded"] == {}, "what was degraded is not any more"


async def test_a_full_disk(tmp_path: Path, serve: Serve) -> None:
    """As SQLite sees it: the file cannot grow."""
    async with serve(storage={"profile": "lite", "path": str(tmp_path)}) as client:
        assert (await ready(client))[0] == 200
        sqlite: Any = client.server.saga.stores.state
        run, connection = sqlite._inner._threads.writer.run, sqlite._inner._file._connection
        await run(lambda: connection.execute("PRAGMA max_page_count = 1").fetchone())
        while (reply := await client.chat(words("hello", system=None))).headers.get("X-SAGA-Notice") is None:
            assert reply.status == 200
        status, found = await ready(client)
        assert status == 503 and "full" in found["reason"]
        await run(lambda: connection.execute("PRAGMA max_page_count = 100000").fetchone())
        assert (await ready(client))[0] == 200
        assert (await client.chat(words("hello", system=None))).headers.get("X-SAGA-Notice") is None


async def test_a_journal_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    with breakable(monkeypatch) as parts:
        async with Client.of({}, {}) as client:
            parts["state"].breaks("hang")
            answers = await asyncio.gather(*(ready(client) for _ in range(5)))
            assert {status for status, _ in answers} == {503}
            assert all("did not answer within 0.2 s" in found["reason"] for _, found in answers)
            assert parts["state"].struck == 1, "however many ask, one call hangs"
            parts["state"].recovers()
            async with asyncio.timeout(5):
                while (await ready(client))[0] != 200:
                    continue


async def test_a_probe_that_is_never_answered_is_followed_by_another(monkeypatch: pytest.MonkeyPatch) -> None:
    with breakable(monkeypatch) as parts:
        async with Client.of({}, {}) as client:
            parts["state"].breaks("hang", "commit")
            assert (await ready(client))[0] == 503
            told = (await client.get("/api/status")).json["degraded"]
            assert told == {"journal.write": "the journal did not answer within 0.2 s"}
            parts["state"].mode = "well"  # but the call that hung is never answered
            assert (await ready(client))[0] in (200, 503)
            async with asyncio.timeout(5):
                while (await ready(client))[0] != 200:
                    continue
            assert (await client.get("/api/status")).json["degraded"] == {}


@pytest.mark.parametrize("kind", ["graph", "vector", "cache"])
async def test_what_is_merely_degraded_stays_ready_and_is_shown(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    with breakable(monkeypatch) as parts:
        async with Client.of({}, {}) as client:
            parts[kind].breaks("before")
            reply = await client.chat(words("hello"))
            assert reply.status == 200
            await client.post("/api/drain")
            status, found = await ready(client)
            assert (status, found["status"]) == (200, "ready")
            assert found["degraded"] == ["background"]
            parts[kind].recovers()
            await client.post("/api/drain")
            assert (await ready(client))[1]["degraded"] == []


async def test_shutting_down(client: Client, upstream: Upstream) -> None:
    gate = asyncio.Event()
    upstream.then(says("one ", "two", gate=gate))
    playing = asyncio.create_task(client.chat(words("hello"), stream=True))
    while not upstream.requests:
        await client.get("/healthz")
    stopping = asyncio.create_task(client.server.stop())
    await anon(lambda: client.server._current is not None and client.server._current.stopping)
    async with client.http.get("/readyz") as answer:  # over a connection that is there
        assert (answer.status, json.loads(await answer.read())["status"]) == (503, "stopping")
    refused = await client.chat(words("one more"))
    assert (refused.status, refused.error["type"]) == (503, "unavailable_error")
    gate.set()
    assert (await playing).streamed() == "one two"
    await stopping
