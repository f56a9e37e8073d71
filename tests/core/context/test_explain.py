"""What any turn was told, and why."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from saga_core import Saga
from saga_core.errors import NotFound
from saga_core.state_block import ItemAmount
from tests.core.frontend import Frontend, memory_config

ITEM = {"ko": "은빛 열쇠", "en": "silver key"}
SCENES = {
    "ko": ("{n}번째 방으로 간다.", "{n}번째 방에는 아무도 없고, 먼지만 두껍게 쌓여 있다."),
    "en": ("I go to room {n}.", "Room {n} is empty, and the dust lies thick on everything in it."),
}


@pytest.fixture(params=SCENES)
async def chat(request: pytest.FixtureRequest) -> AsyncIterator[tuple[Frontend, str]]:
    async with Saga.open(memory_config()) as saga:
        chat, language = Frontend(saga), request.param
        words, reply = SCENES[language]
        for number in range(1, 5):
            fields: dict[str, Any] = {"hp_change": -1}
            if number == 2:
                fields["items_gained"] = (ItemAmount(ITEM[language]),)
            await chat.say(words.format(n=number), reply.format(n=number), **fields)
        await saga.drain(10)
        yield chat, language


async def test_the_last_turn_is_at_hand(chat: tuple[Frontend, str]) -> None:
    played, _ = chat
    assert played.last is not None
    told = await played.saga.views.explain(played.last.session.id)
    assert (told["turn"], told["anew"]) == (played.last.id, False)
    assert told["text"] == played.last.context.text


async def test_an_old_turn_is_read_anew_from_where_it_stood(chat: tuple[Frontend, str]) -> None:
    played, language = chat
    assert played.last is not None
    session = played.last.session.id
    played.saga.views.contexts.clear()
    turns = await played.saga.views.turns(session)
    for turn in turns[1:]:
        told = await played.saga.views.explain(session, turn.id)
        assert (told["turn"], told["anew"], told["late"]) == (turn.id, True, [])
        assert all(piece["text"] and piece["why"] is not None for piece in told["pieces"])
        if turn.depth <= 2:
            assert ITEM[language] not in told["text"], "it was found only then"


async def test_an_opening_was_told_nothing(chat: tuple[Frontend, str]) -> None:
    played, _ = chat
    assert played.last is not None
    session = played.last.session
    told = await played.saga.views.explain(session.id, session.root)
    assert (told["text"], told["pieces"]) == ("", [])
    with pytest.raises(NotFound, match="no turn and no timeline 'none'"):
        await played.saga.views.explain(session.id, "none")


async def test_what_the_chat_shows_is_not_told_to_words_that_are_tried(chat: tuple[Frontend, str]) -> None:
    played, language = chat
    assert played.last is not None
    views, session = played.saga.views, played.last.session.id
    words = SCENES[language][0].format(n=1)

    async def tried() -> tuple[int, set[str]]:
        found = await views.explain(session, text=words)
        return found["shown_from"], {piece["key"] for piece in (*found["pieces"], *found["skipped"])}

    own = await views.explain(session)
    assert own["shown_from"] == 0, "this chat shows all of it"
    told = (await tried())[1]
    assert (await tried())[0] == 0 and not [key for key in told if key.startswith("turn:")]
    views.contexts.clear()
    first, told = await tried()
    assert first == 0 and not [key for key in told if key.startswith("turn:")], "that is kept with the turn"
