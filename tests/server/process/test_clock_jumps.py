"""A wall clock that jumps under a server: one story, in its order, that can be exported and taken in again."""

from __future__ import annotations

import time

import pytest

from tests.server.client import Client, words

_HOUR, _YEAR = 3_600.0, 365 * 86_400.0
JUMPS = (0.0, -5 * _HOUR, 72 * _HOUR, -60 * _YEAR, 200 * _YEAR, -_HOUR, 0.0)


@pytest.fixture
def jump(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How far the clock is off, in its one place."""
    off, real = [0.0], time.time
    monkeypatch.setattr(time, "time", lambda: real() + off[0])
    return off


async def test_the_story_is_one_and_in_order(offline: Client, jump: list[float]) -> None:
    said: list[str] = []
    turns: list[str] = []
    sessions = set()
    for number, jump[0] in enumerate(JUMPS):
        said.append(f"I walk to the mill, for the {number}th time.")
        first = await offline.chat(words(*said))
        swiped = await offline.chat(words(*said))
        assert first.status == swiped.status == 200 and "X-SAGA-Notice" not in swiped.headers
        if turns:
            assert first.headers["X-SAGA-Parent"] == swiped.headers["X-SAGA-Parent"] == turns[-1]
        turns.append(swiped.turn)
        sessions.add(swiped.session)
        said.append(swiped.text)
    assert len(sessions) == 1 and turns == sorted(turns), "ids sort by age all the same"
    status = (await offline.get("/api/status")).json
    assert 0 <= status["uptime_seconds"] < _HOUR and status["degraded"] == {}
    (session,) = sessions
    tree = (await offline.get(f"/api/sessions/{session}/tree")).json
    assert all(node["at"] >= 0 for node in tree["nodes"])
    told = (await offline.get(f"/api/sessions/{session}/export")).raw
    taken = await offline.post("/api/import", data=told)
    assert taken.status == 201, taken.raw
    assert taken.json["turns"] == 2 * len(JUMPS)
    assert (await offline.get("/api/verify")).json["findings"] == []
