"""Somebody who leaves is not told as still there."""

from __future__ import annotations

from typing import Any

from saga_core import Saga
from tests.core.frontend import Frontend, answer, memory_config


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


async def test_who_was_not_seen_in_the_turn_before_leaves_too() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga)
        await chat.say("I enter.", "Sophie looks up.", location="studio", present=("Sophie",))
        await chat.say("To the inn.", "Cabbage.", location="inn", present=("Jan",), npc_separated=("Sophie",))
        gone: tuple[str, ...] = ("Sophie", "Jan")
        await chat.say("Back.", "She goes out.", location="studio", present=(), npc_separated=gone)
        told = (await chat.say("I wait.", "Ink.", present=())).context.text
        assert "Nearby" not in told
        assert "Jan → inn (there since turn 2)" in told
        await chat.say("To the inn.", "Jan waves.", location="inn", present=("Jan",))
        await chat.say("Up.", "Dark.", location="attic", present=())
        await chat.say("Down.", "Nobody.", location="inn", present=())
        assert "Nearby: Jan" in (await chat.say("Jan?", "He goes.", present=(), npc_separated=("Jan",))).context.text
        told = (await chat.say("I wait.", "Rain.", present=(), npc_separated=("Sophie",))).context.text
        assert "Nearby" not in told
        told = (await chat.say("I wait.", "Rain.", present=())).context.text
        assert "Nearby" not in told
