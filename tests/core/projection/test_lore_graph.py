"""Lore changes with the world: on the path on which it changed, and nowhere else."""

from __future__ import annotations

from saga_core import Saga
from tests.core.frontend import Frontend, memory_config


async def test_a_burned_place_is_told_as_burned_on_its_path_and_whole_on_another() -> None:
    async with Saga.open(memory_config()) as saga:
        chat = Frontend(saga)
        await chat.say("광장에 선다.", "종소리가 난다.", location="마을 광장")
        before = list(chat.history)
        burned = await chat.say("불을 지른다.", "불길이 광장을 삼킨다.")
        session = burned.session.id
        await saga.memory.correct(session, "lore", {"entry": "마을 광장", "text": "불타서 재만 남았다."})

        def line(text: str) -> str:
            return next(line for line in text.split("\n") if line.startswith("- 마을 광장: "))

        there = await chat.begin("마을 광장을 둘러본다.")
        assert line(there.context.text).startswith("- 마을 광장: 불타서 재만 남았다.")
        chat.history = before
        elsewhere = await chat.begin("마을 광장을 둘러본다.")
        assert elsewhere.session.id == session and "재만" not in elsewhere.context.text
        assert line(elsewhere.context.text)
