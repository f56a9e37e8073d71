"""A whole turn takes time in proportion to the texts in it, whatever they are padded with.

Limits inside a turn hide how a part of it grows. So the cost of a character is looked at, not how it grows: a part that
takes the square of a few thousand characters costs many times what all others cost together.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from saga_core import Saga
from tests.core.frontend import memory_config
from tests.patterns.padding import DEEP, USUAL
from tests.patterns.ruler import ONE, slowness

LENGTH = 20_000
DEAR = 400
"""Costs of a character that are too many; one is what it costs the ruler. Letters that SAGA reads singly take 120."""
_WITHOUT_SPACES = ("a", "aB", "7", "가", "漢", "あ", "ß", ".", "(")
_PLACES = ("words", "reply", "narration", "system")


def _texts() -> Iterator[tuple[str, str]]:
    for place in _PLACES if DEEP else _PLACES[:1]:
        for unit in dict.fromkeys((*_WITHOUT_SPACES, *USUAL)) if DEEP else _WITHOUT_SPACES:
            yield place, unit


async def _played(saga: Saga, place: str, padding: str) -> float:
    """The seconds of the processor that a turn takes, with the work behind the reply."""
    text = {each: padding if each == place else "" for each in _PLACES}
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": f"You are Mara. {text['system']}"},
        {"role": "user", "content": "I walk on."},
        {"role": "assistant", "content": f"The road is long. {text['reply']}"},
        {"role": "user", "content": f"I look at Mara. {text['words']}"},
    ]
    began = time.thread_time()
    pending = await saga.begin(messages)
    pending.replies[0].feed(f"Mara goes on. {text['narration']}")
    await pending.commit()
    await saga.drain(60)
    return time.thread_time() - began


@pytest.mark.parametrize(("place", "unit"), list(_texts()))
async def test_no_character_is_dear(place: str, unit: str) -> None:
    async with Saga.open(memory_config()) as saga:
        await _played(saga, place, "")
        costs = []
        for number in range(5):  # another text each time, because what was read is kept
            padding = unit * (LENGTH // len(unit)) + f" {number}"
            costs.append(await _played(saga, place, padding) / slowness() / LENGTH / ONE)
            if costs[-1] <= DEAR:
                return
    pytest.fail(f"each character costs {min(costs):.0f} times as much as a plain one")
