"""Many new sessions at once: the backlog of their views is bounded, and so is what stays in memory."""

from __future__ import annotations

import asyncio

import pytest

from saga_core import Saga
from saga_core.jobs import views


async def test_sessions_leave_memory_and_new_ones_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(views, "_BACKLOG", 16)
    monkeypatch.setattr(views, "_KEPT_LOADED", 8)
    async with Saga.open({"storage": {"profile": "memory"}, "session": {"loaded": 4}}) as saga:

        async def played(number: int) -> int:
            turn = await saga.begin([{"role": "user", "content": f"I walk to mill number {number}."}])
            turn.replies[0].feed(f"Wheel {number} turns.")
            await turn.commit()
            return len({each.session for each in saga.parts.supervisor.waiting()})

        await asyncio.gather(*map(played, range(60)))
        waiting = [await played(number) for number in range(60, 120)]
        assert waiting[-1] <= 17, waiting
        assert saga.counters.counts["backlog.waits"]
        await saga.drain(20)
        assert len(saga.parts.live) <= 4
        assert "backlog" not in saga.counters.degraded
