"""Live events: what happens is told while it happens, and a listener who is slow costs nobody anything."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

from saga_core.counters import Counters
from saga_server.admin import events
from saga_server.admin.events import EVENTS, KEPT, Events, Listening
from tests.server.client import Client, words


async def read_until(response: Any, event: str) -> list[tuple[str, Mapping[str, Any]]]:
    """Events up to the first of that name."""
    found: list[tuple[str, Mapping[str, Any]]] = []
    async with asyncio.timeout(20):
        while not found or found[-1][0] != event:
            block = (await response.content.readuntil(b"\n\n")).decode()
            if block.startswith("event: "):
                name, _, data = block.partition("\n")
                found.append((name.removeprefix("event: "), json.loads(data.removeprefix("data: "))))
    return found


async def test_a_turn_is_recorded_and_then_shown(offline: Client) -> None:
    async with offline.request("GET", "/api/events") as response:
        assert response.headers["Content-Type"].startswith("text/event-stream")
        reply = await offline.chat(words("hello"))
        await offline.post("/api/drain")
        found = await read_until(response, "recorded")
        (recorded,) = [about for name, about in found if name == "recorded"]
        assert (recorded["session"], recorded["turn"], recorded["depth"]) == (reply.session, reply.turn, 1)
        while found[-1][1].get("turn") != reply.turn or found[-1][0] != "projected":
            found += await read_until(response, "projected")
        assert [name for name, about in found if about.get("turn") == reply.turn] == ["recorded", "projected"]


async def test_one_session_alone(offline: Client) -> None:
    one, other = [await offline.post("/api/sessions", json={"label": name}) for name in ("one", "other")]
    async with offline.request("GET", "/api/events", params={"session": one.json["id"]}) as response:
        for label in ("other", "one"):
            await offline.chat(words(f"hello {label}"), headers={"X-SAGA-Session": label})
        found = await read_until(response, "recorded")
    assert {about["session"] for _, about in found if "session" in about} == {one.json["id"]}
    assert other.json["id"] != one.json["id"]


async def test_what_is_degraded_is_told(offline: Client) -> None:
    async with offline.request("GET", "/api/events") as response:
        counters = offline.server.saga.counters
        counters.degrade("journal.write", "디스크가 찼다")
        counters.degrade("journal.write", "디스크가 찼다")
        counters.recover("journal.write")
        found = await read_until(response, "recovered")
    assert [name for name, _ in found] == ["degraded", "recovered"]
    assert found[0][1]["reason"] == "디스크가 찼다"


async def test_a_queue_is_bounded_and_says_what_it_dropped() -> None:
    listening = Listening()
    for number in range(KEPT + 7):
        listening.take("recorded", {"turn": str(number)})
    blocks = (await listening.next()).decode().split("\n\n")[:-1]
    assert len(blocks) == KEPT + 1
    assert blocks[0].startswith("event: dropped") and '"events": 7' in blocks[0]
    assert '"turn": "7"' in blocks[1]


async def test_silence_has_a_pulse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "PULSE_SECONDS", 0.01)
    assert await Listening().next() == b": still here\n\n"


async def test_so_many_may_listen(offline: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "LISTENERS", 1)
    async with offline.request("GET", "/api/events") as response:
        await response.content.readuntil(b"\n\n")
        assert (await offline.get("/api/events")).status == 503
    assert (await offline.get("/api/events", params={"sesion": "x"})).status == 400


async def test_a_stream_does_not_keep_the_server_from_stopping(offline: Client) -> None:
    async with offline.request("GET", "/api/events") as response:
        await response.content.readuntil(b"\n\n")
        async with asyncio.timeout(10):
            await offline.server.stop(drain=0.0)
        rest = await response.read()
    assert b"event: " not in rest


def test_nobody_listening_costs_nothing() -> None:
    counters = Counters()
    listeners = Events(counters)
    counters.emit("recorded", session="s", turn="t")
    assert len(listeners) == 0
    assert EVENTS is not None


def test_a_key_cannot_take_every_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    listeners = Events(Counters())
    crowd = [Listening(player="crowd") for _ in range(3)]
    listeners._all += [*crowd, Listening(player="one")]
    assert listeners._made_room("new")
    assert [each.over for each in crowd] == [True, False, False], "the oldest of the key that has most ends"
    assert listeners._made_room("new")
    assert not listeners._made_room("crowd"), "nobody has two more than this key"
    assert not Events(Counters())._made_room("new")
