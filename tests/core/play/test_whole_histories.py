"""Histories stay whole: nothing that fits is left out of a prompt, whatever its first message is."""

from __future__ import annotations

from saga_core import Saga
from saga_core.config import load_config
from saga_core.messages import Origin
from tests.core.frontend import MEMORY, Frontend, memory_config

CLAUDE = {"model": "claude-opus-5-5", "provider": "anthropic"}


async def test_an_edited_greeting_or_a_group_that_joins_leaves_nothing_out() -> None:
    async with Saga.open(memory_config()) as saga:
        chat = Frontend(saga)
        for number in range(24):
            await chat.say(f"{number}번째 걸음", f"{number}번째 언덕이다.")
        for greeting in ("다른 인사말이다.", ""):
            chat.greeting = greeting
            begun = await chat.begin("돌아본다.", **CLAUDE)
            sent = [block for block in begun.plan.blocks if block.origin is Origin.HISTORY]
            assert len(sent) == len(chat.history) + bool(greeting)
            assert not begun.notices


async def test_a_notice_says_what_is_left_out() -> None:
    budget = {
        "total_context_max": 6_000,
        "dynamic_context_max": 400,
        "md_cache_max": 0,
        "world_max": 0,
        "state_block_instruction": 600,
    }
    async with Saga.open(load_config({**MEMORY, "token_budget": budget})) as saga:
        chat = Frontend(saga)
        told = []
        for number in range(30):
            begun = await chat.say(f"{number}번째 걸음", f"{number}번째 언덕이다. " * 40)
            told += [notice for notice in begun.notices if notice.startswith("history: ")]
            left = [block for block in begun.plan.blocks if block.origin is Origin.HISTORY]
            assert (len(left) < 2 * number + 1) or not told
        assert told
        assert all("oldest messages are left out" in each and "total_context_max: 6000" in each for each in told)
