"""Somebody who leaves is not told as still there."""

from __future__ import annotations

from typing import Any

from saga_core import Saga
from tests.core.frontend import answer, memory_config


async def test_who_left_is_no_longer_there_and_who_stays_behind_is() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        history: list[dict[str, Any]] = [{"role": "system", "content": "Tell a story."}]
        told = ""

        async def say(words: str, reply: str, **fields: Any) -> str:
            nonlocal told
            history.append({"role": "user", "content": words})
            turn = await saga.begin(history)
            history.append({"role": "assistant", "content": await answer(turn, reply, **fields)})
            told = turn.context.text
            return turn.session.id

        await say("Hello.", "Both are here.", location="inn", present=("Mina", "Rafe"))
        await say("Out, Rafe.", "He goes.", present=("Mina",), npc_separated=("Rafe",))
        session = await say("I go up.", "Mina stays.", location="attic", present=(), npc_separated=("Mina",))
        await say("I wait.", "Nobody comes.", present=())
        assert "Rafe → inn (was there and left)" in told
        assert "Mina → inn (there since turn 1)" in told
        lines = (await saga.memory.lines(session))["lines"]
        assert sorted(line["text"] for line in lines if line["kind"] == "elsewhere") == ["", "inn"]
