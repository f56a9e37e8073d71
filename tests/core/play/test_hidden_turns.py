"""Edited replies behind hidden messages: the turns between happened, shown or not."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from saga_core import Saga
from tests.core.frontend import Frontend, memory_config

TALE = {
    "ko": (
        ("문을 연다.", "무거운 문이 삐걱거리며 열리고, 안에서 찬 바람이 불어온다."),
        ("횃불을 든다.", "횃불이 벽을 비추자 오래된 글자들이 하나둘 드러난다."),
        ("글자를 읽는다.", "글자를 읽어 내려가자 바닥이 낮게 울리기 시작한다."),
        ("뒤로 물러선다.", "뒤로 물러서는 순간 천장에서 돌이 떨어져 어깨를 스친다."),
    ),
    "en": (
        ("I open the door.", "The heavy door creaks open and a cold wind blows out of the dark."),
        ("I raise the torch.", "The torch lights the wall, and old letters come forth one by one."),
        ("I read the letters.", "As you read on, the floor begins to hum beneath your feet, low and long."),
        ("I step back.", "The moment you step back, a stone falls from above and grazes your shoulder."),
    ),
}


@pytest.fixture(params=TALE)
async def chat(request: pytest.FixtureRequest) -> AsyncIterator[Frontend]:
    """Four turns, each of which cost 10 HP."""
    async with Saga.open(memory_config()) as saga:
        chat = Frontend(saga)
        for words, reply in TALE[request.param]:
            await chat.say(words, reply, hp_change=-10)
        yield chat


async def hp(chat: Frontend) -> int:
    turn = await chat.begin("…")
    await turn.abandon()
    found = await chat.saga.describe(turn.session.id, turn.parent.id)
    assert isinstance(found["hp"], int)
    return found["hp"]


def edit(chat: Frontend, at: int, text: str | None = None) -> None:
    old = chat.history[at]["content"]
    chat.history[at]["content"] = text if text is not None else f"{old[:-2]}~~!"


@pytest.mark.parametrize("hidden", [slice(4, 6), slice(2, 6), slice(4, 5)], ids=["one turn", "two turns", "words"])
async def test_a_small_edit_behind_them_keeps_what_happened(chat: Frontend, hidden: slice) -> None:
    edit(chat, -1)
    del chat.history[hidden]
    assert await hp(chat) == 60


async def test_an_edit_of_words_and_reply_too(chat: Frontend) -> None:
    edit(chat, -1)
    edit(chat, -2, "이렇게 말한 적은 없다.")
    del chat.history[2:6]
    assert await hp(chat) == 60


async def test_what_follows_the_edit_is_told_by_it(chat: Frontend) -> None:
    edit(chat, -1)
    del chat.history[4:6]
    await chat.say("…", "어둠 속에서 누군가 당신의 이름을 나직이 부르는 소리가 들린다.", hp_change=-5)
    assert await hp(chat) == 55


async def test_a_rewritten_reply_behind_them_follows_what_is_shown(chat: Frontend) -> None:
    edit(chat, -1, "Nothing of the sort: the day ends, and everybody goes home in peace. 아무 일도 없었다.")
    del chat.history[4:6]
    assert await hp(chat) == 80


async def test_an_edited_reply_behind_an_edited_one(chat: Frontend) -> None:
    edit(chat, 3)
    edit(chat, -1)
    del chat.history[4:6]
    assert await hp(chat) == 70, "the hidden turn goes with the reply that was edited above it"


async def test_a_small_edit_behind_a_rewritten_reply_keeps_what_it_changed(chat: Frontend) -> None:
    edit(chat, 3, "Nothing of the sort: the day ends, and everybody goes home in peace. 아무 일도 없었다.")
    edit(chat, -1)
    del chat.history[4:6]
    assert await hp(chat) == 80, "what the rewritten reply changed did not happen, nor the hidden turn behind it"


async def test_other_words_behind_a_rewritten_reply_are_another_turn(chat: Frontend) -> None:
    edit(chat, 3, "Nothing of the sort: the day ends, and everybody goes home in peace. 아무 일도 없었다.")
    edit(chat, -1)
    edit(chat, -2, "이렇게 말한 적은 없다.")
    del chat.history[4:6]
    assert await hp(chat) == 90


async def test_a_rewrite_that_resembles_a_later_reply_is_none_of_it(chat: Frontend) -> None:
    """Under the words of the turn that it replaces it is that turn, whatever it is like."""
    edit(chat, 3, f"{chat.history[-1]['content'][:-2]}~~!")
    del chat.history[4:]
    assert await hp(chat) == 90
