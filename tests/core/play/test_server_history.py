"""Thin clients: the server tells the history that they do not send."""

from __future__ import annotations

from typing import Any

from saga_core import Saga
from saga_core.messages import Stability
from saga_core.play.pending_turn import PendingTurn
from tests.bench.cache.play import PlayClock
from tests.core.frontend import answer, memory_config


async def say(saga: Saga, words: str) -> PendingTurn:
    messages = [{"role": "system", "content": "너는 이야기꾼이다."}, {"role": "user", "content": words}]
    begun = await saga.begin(messages, session="얇은 손님", model="claude-opus-5-5", provider="anthropic")
    await answer(begun, f"{words}: 그렇게 되었다.")
    return begun


def history(begun: PendingTurn) -> list[tuple[str, Any]]:
    return [(b.role, b.content) for b in begun.plan.blocks if b.stability is Stability.HISTORY]


async def test_what_was_said_before_is_told() -> None:
    async with Saga.open(memory_config(server_history=True)) as saga:
        assert history(await say(saga, "문을 연다")) == []
        await say(saga, "들어간다")
        begun = await say(saga, "앉는다")
        assert history(begun) == [
            ("user", "문을 연다"),
            ("assistant", "문을 연다: 그렇게 되었다."),
            ("user", "들어간다"),
            ("assistant", "들어간다: 그렇게 되었다."),
        ]
        assert str(begun.plan.blocks[-1].content) == "앉는다"


async def test_it_is_off_unless_it_is_asked_for() -> None:
    async with Saga.open(memory_config()) as saga:
        await say(saga, "문을 연다")
        assert history(await say(saga, "들어간다")) == []


async def test_the_window_moves_in_steps() -> None:
    async with Saga.open(memory_config(server_history=True, history_turns=4)) as saga:
        begins = []
        for number in range(14):
            told = history(await say(saga, f"{number}번째 걸음"))
            begins.append(told[0][1] if told else "")
            assert min(number, 4) <= len(told) // 2 <= 6
        assert len(set(begins[1:])) <= 6


async def test_old_turns_are_told_no_longer() -> None:
    clock = PlayClock()
    async with Saga.open(memory_config(server_history=True, history_turns=2, history_hours=1), clock=clock) as saga:
        for number in range(5):
            clock.at += 60
            await say(saga, f"{number}번째 걸음")
        clock.at += 7_200
        assert history(await say(saga, "다음 날")) == []
