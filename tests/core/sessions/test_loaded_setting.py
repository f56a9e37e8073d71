"""``session.loaded``: how many sessions an engine keeps in memory."""

from __future__ import annotations

from saga_core import Saga


async def test_sessions_beyond_the_setting_are_let_go_and_come_back() -> None:
    config = {"storage": {"profile": "memory"}, "models": {"narration": "offline"}, "session": {"loaded": 2}}
    async with Saga.open(config) as saga:
        made = [(await saga.sessions.create(label=f"chat {number}")).id for number in range(4)]
        for session in made:
            await saga.parts.live.get(session)
        assert len(saga.parts.live) == 2
        assert saga.parts.live.peek(made[0]) is None
        assert (await saga.parts.live.get(made[0])).session.label == "chat 0"
