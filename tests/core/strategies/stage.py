"""A stage for strategies at work: a played chat, a model whose answers are scripted, a clock that is set."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from attrs import define

from saga_core import Saga
from saga_core.config import Config, load_config
from tests.core.extraction.scripted import Scripted
from tests.core.frontend import MEMORY, Frontend

EVERY = 3


@define
class SetClock:
    """Time stands still until a test moves it."""

    time: float = 1_800_000_000.0

    def now(self) -> float:
        return self.time

    def monotonic(self) -> float:
        return self.time


def config(path: Any = None, *, every: int = EVERY, **strategies: Mapping[str, Any] | None) -> Config:
    """Strategies that run every three turns; ``path``: a data directory instead of memory."""
    storage = {"path": str(path)} if path is not None else MEMORY["storage"]
    found = {name: {"every": every, **(settings or {})} for name, settings in strategies.items()}
    return load_config({**MEMORY, "storage": storage, "curator": {"interval": 100}, "memory_strategies": found})


def answer(*records: Mapping[str, Any]) -> str:
    """An answer with these records."""
    return json.dumps({"records": records}, ensure_ascii=False)


def fact(text: str, *turns: int, **more: Any) -> dict[str, Any]:
    """A fact, as a model tells it."""
    return {"do": "add", "record": None, "kind": "fact", "text": text, "turns": turns or (1,), **more}


def wish(text: str, *turns: int, category: str = "style", **more: Any) -> dict[str, Any]:
    """A preference, as a model tells it."""
    return fact(text, *turns, kind="preference", category=category, because="the player said so", **more)


def model(*answers: Any) -> Scripted:
    """A model that says these, and then that there is nothing to learn."""
    found = Scripted(otherwise=answer())
    found.script.extend(answers)
    return found


async def play(chat: Frontend, turns: int = EVERY, start: int = 0, words: str = "길") -> str:
    """Play that many turns, and have everything done that is due then; the session."""
    for number in range(start, start + turns):
        begun = await chat.say(f"{number}번째 {words}로 간다.", f"{number}번째 골목은 길고 어둡다.", notes=f"{number}")
    await chat.saga.drain(10)
    return begun.session.id


async def texts(saga: Saga, session: str, **query: Any) -> list[str]:
    """What is remembered, oldest first."""
    return [each["text"] for each in (await saga.memory.records(session, **query))["memories"]]
