"""Replies that the limit of their length cuts off in front of their state block, or within it."""

from __future__ import annotations

import pytest

from saga_core.engine.saga import Saga
from tests.core.engine.play import memory_config

WHOLE = "비가 온다.\n\n```state\nhp_change: -15\nlocation: 어둠의 숲\n```"


@pytest.mark.parametrize(
    ("finish", "length", "told"),
    [
        ("length", 6, True),
        ("length", WHOLE.index("어둠"), True),
        ("length", len(WHOLE), False),
        ("stop", 6, False),
        ("aborted", 6, False),
    ],
)
async def test_what_was_too_short_is_said(finish: str, length: int, told: bool) -> None:
    async with Saga.open(memory_config()) as saga:
        turn = await saga.begin([{"role": "user", "content": "기다린다."}])
        turn.replies[0].feed(WHOLE[:length])
        turn.replies[0].finish()
        (made,) = await turn.commit(finish=finish)
    assert any("allow longer replies" in problem for problem in made.delta.problems) == told
