"""A chat without a world is told, and kept, in its own language."""

from __future__ import annotations

import pytest

from saga_core import Saga
from tests.core.frontend import Frontend, memory_config

CHATS = {
    "en": (
        "You wake in the inn of Millbrook.",
        "You narrate an adventure.",
        "I greet Old Tom.",
        "Old Tom nods.",
        "Player",
    ),
    "ko": ("여관에서 눈을 뜬다.", "모험을 이야기한다.", "톰에게 인사한다.", "톰이 고개를 끄덕인다.", "플레이어"),
    "ko by its system prompt": ("", "한국어로 모험을 이야기한다.", "…", "고개를 끄덕인다.", "플레이어"),
    "en by its system prompt": ("", "You narrate an adventure.", "…", "Old Tom nods.", "Player"),
}


@pytest.mark.parametrize("name", CHATS)
async def test_a_chat_without_a_world(name: str) -> None:
    greeting, system, words, reply, player = CHATS[name]
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, greeting=greeting, system=system, note="")
        turn = await chat.say(words, reply, mood="calm")
        await saga.drain(10)
        assert (await saga.describe(turn.session.id))["player"] == player
        pages, _ = await saga.views.pages(turn.session.id)
        assert pages is not None
        told = "".join(pages.files.values())
        assert ("플레이어" in told) == (player == "플레이어")
        second = await chat.begin(words)
        await second.abandon()
        assert second.session.id == turn.session.id
