"""Replies that the limit of their length cuts off in front of their state block, or within it."""

from __future__ import annotations

from typing import Any

import pytest

from saga_core import Saga
from saga_core.config import load_config
from saga_core.model.tree import TurnKind
from tests.core.frontend import MEMORY, Frontend, memory_config

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


@pytest.mark.parametrize(
    ("params", "sent"),
    [
        ({"max_tokens": 300, "temperature": 0.9}, {"max_tokens": 500, "temperature": 0.9}),
        ({"max_completion_tokens": 1_999}, {"max_completion_tokens": 2_199}),
        ({"max_tokens": 2_000}, {"max_tokens": 2_000}),
        ({"max_tokens": None}, {"max_tokens": None}),
        ({"max_tokens": 0}, {"max_tokens": 0}),
        ({"max_tokens": True}, {"max_tokens": True}),
        ({"max_tokens": "300"}, {"max_tokens": "300"}),
        ({}, {}),
    ],
)
async def test_a_short_limit_gets_room_for_the_block(params: dict[str, Any], sent: dict[str, Any]) -> None:
    async with Saga.open(memory_config()) as saga:
        turn = await saga.begin([{"role": "user", "content": "기다린다."}])
        assert turn.allowing(params) == sent
        await turn.abandon()


async def test_where_no_block_is_asked_for_the_limit_is_as_sent() -> None:
    async with Saga.open(memory_config()) as saga:
        chat = Frontend(saga, note="Summarize the story so far.")
        await chat.say("기다린다.", "비가 내리고, 길에는 아무도 없다. 등불 하나가 흔들린다.")
        aside = await chat.begin(None)
        assert aside.kind is TurnKind.SIDE
        assert aside.allowing({"max_tokens": 300}) == {"max_tokens": 300}
        await aside.abandon()
    config = load_config({**MEMORY, "token_budget": {"state_block_room": 0}})
    async with Saga.open(config) as saga:
        turn = await saga.begin([{"role": "user", "content": "기다린다."}])
        assert turn.allowing({"max_tokens": 300}) == {"max_tokens": 300}
        await turn.abandon()
