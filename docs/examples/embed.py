"""SAGA inside your own program: the program keeps the chat and calls the model, and SAGA remembers.

Runs offline: the model is the built-in narrator. Replace ``narrate`` with a call to your own model.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from typing import Any

from saga_core import ChatModel, ChatRequest, OpenOptions, PromptPlan, Saga
from saga_core.ports import TextPart
from saga_core.registry import load

SYSTEM = {"role": "system", "content": "You are the narrator of a story in Harrow Staithe."}


async def narrate(model: ChatModel, plan: PromptPlan) -> AsyncIterator[str]:
    """The model's reply, piece by piece. ``plan.to_openai()`` has the messages for an OpenAI-compatible API."""
    async for part in model.stream(ChatRequest(plan, model="saga-offline")):
        if isinstance(part, TextPart):
            yield part.text


async def play(saga: Saga, model: ChatModel, history: list[dict[str, Any]], words: str) -> None:
    """One turn: read, narrate, record. We keep the chat's history, and SAGA relies on nothing else."""
    said = {"role": "user", "content": words}
    turn = await saga.begin([SYSTEM, *history, said], world="harrow")
    print(f"> {words}")
    shown = []
    async for text in turn.visible(narrate(model, turn.plan)):
        print(text, end="", flush=True)
        shown.append(text)
    await turn.commit()
    history += [said, {"role": "assistant", "content": "".join(shown)}]
    state = await saga.describe(turn.session.id, turn.id)
    print(f"\n  [{state['player']}, {state['location']}, HP {state['hp']}/{state['max_hp']}]\n")


async def main() -> None:
    """Play two turns, take the second back, and show that only what stayed in the chat is true."""
    model: ChatModel = await load("chat", "offline").open(OpenOptions())
    with tempfile.TemporaryDirectory() as folder:
        async with Saga.open({"storage": {"path": folder}}) as saga:
            history: list[dict[str, Any]] = []
            await play(saga, model, history, "I pick up the silver spoon.")
            await play(saga, model, history, "I attack Corin Fenwright.")
            del history[-2:]  # the player deletes the last turn
            await play(saga, model, history, "I look around.")

            (summary,) = await saga.sessions.list()
            state = await saga.describe(summary.session.id)
            print(f"{summary.turns} turns in the tree, {summary.depth} on the path that is played")
            print("carries", ", ".join(item["name"] for item in state["inventory"]))
    await model.aclose()


if __name__ == "__main__":
    asyncio.run(main())
