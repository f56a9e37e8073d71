"""A story with thousands of people costs a turn in proportion to them, and not to the square of their number."""

from __future__ import annotations

import time

import pytest

from saga_core import Saga
from tests.core.frontend import Frontend, memory_config

AT_ONCE = 100


@pytest.mark.deep
async def test_a_turn_among_two_thousand_people() -> None:
    async with Saga.open(memory_config()) as saga:
        chat = Frontend(saga, greeting="Hello.", system="You narrate.", note="")
        costs: dict[int, float] = {}
        for number in range(2_000 // AT_ONCE):
            people = [f"Person{number} Num{each}x" for each in range(AT_ONCE)]
            ties = ", ".join(f"{{from: {each}, to: Player, type: friendly, delta: 1}}" for each in people)
            await _turn(saga, chat, f"npc_met: [{', '.join(people)}]\nrelationship_changes: [{ties}]")
            if (count := (number + 1) * AT_ONCE) in (500, 2_000):
                costs[count] = min([await _turn(saga, chat, "mood: calm") for _ in range(4)])
        assert costs[2_000] < 7 * costs[500]  # four times in proportion, sixteen times by the square


async def _turn(saga: Saga, chat: Frontend, block: str) -> float:
    """Play a turn; return the seconds of the processor that it took, with the work behind the reply."""
    began = time.process_time()
    await chat.say("I look around.", f"They nod.\n\n```state\n{block}\n```")
    await saga.drain(60)
    return time.process_time() - began
