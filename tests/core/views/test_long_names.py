"""A long name in a counted value has views like any other, and a longer name of an attribute is refused."""

from __future__ import annotations

import pytest

from saga_core import Saga
from saga_core.errors import BadInput


async def test_a_long_name_with_a_value_is_rendered() -> None:
    config = {
        "storage": {"profile": "memory"},
        "extraction": {"automatic": "never"},
        "trackers": {"guilt": {"kind": "meter", "range": "0..100", "for": "character"}},
    }
    name = "가" * 190
    async with Saga.open(config) as saga:
        turn = await saga.begin([{"role": "user", "content": "I go in."}])
        turn.replies[0].feed(f"{name} nods.\n\n```state\npresent: [{name}]\nguilt: {{{name}: 5}}\n```")
        await turn.commit()
        session = turn.session.id
        await saga.memory.correct(session, "rename", {"who": name, "name": "나" * 500})
        report = await saga.drain(10)
        state = await saga.describe(session)
        assert any(key.startswith("guilt (나나나") for key in state["world_state"])
        assert not report.waiting, report.waiting
        assert saga.counters.degraded.get("background") is None
        with pytest.raises(BadInput, match="too long"):
            await saga.memory.correct(session, "attribute", {"who": "나" * 500, "attribute": "x" * 257, "value": "y"})
