"""Chats in memory whose extraction model answers as a test says."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from saga_core import Saga
from saga_core.config import Config, load_config
from tests.core.extraction.scripted import Answer, Scripted
from tests.core.frontend import MEMORY, Frontend

SQUARE = "사람들이 북적인다. 약초 냄새가 난다."
FIGHT = "고블린이 달려든다. 칼날이 팔을 스친다. 뜨거운 피가 흐른다."
WORSE = "고블린 둘이 한꺼번에 덮친다. 땅에 넘어지고 만다."
AWAY = "가까스로 골목으로 몸을 피한다. 숨이 가쁘다."


@asynccontextmanager
async def playing(
    *script: Answer, config: Config | None = None, **given: Any
) -> AsyncIterator[tuple[Frontend, Scripted]]:
    """``async with playing(*answers) as (chat, model)``."""
    model = Scripted(deque(script), **given)
    async with Saga.open(config or load_config({**MEMORY, "extraction": {"cards": False}}), extractor=model) as saga:
        yield Frontend(saga), model


async def settled(chat: Frontend) -> None:
    """All background work is done, none of it given up."""
    assert (await chat.saga.drain(60)).waiting == ()


async def until(event: Callable[[], bool]) -> None:
    """Let others run until it is so."""
    async with asyncio.timeout(60):
        while not event():  # noqa: ASYNC110 - nobody tells when it is
            await asyncio.sleep(0)


async def read(chat: Frontend, count: int) -> None:
    """Let others run until so many turns were read."""
    await until(lambda: chat.saga.background.extraction.done == count)


async def hp(chat: Frontend, turn: Any = None) -> int:
    """The player's hit points at a turn, the active head's without one."""
    assert chat.last is not None
    found: int = (await chat.saga.describe(chat.last.session.id, turn.id if turn else None))["hp"]
    return found


def told(turns: int) -> list[dict[str, str]]:
    """A history of so many turns."""
    history = []
    for number in range(turns):
        history += [
            {"role": "user", "content": f"{number}번째 길로 간다."},
            {"role": "assistant", "content": f"{number}번째 길은 강가로 이어진다. 물소리가 들린다."},
        ]
    return history
