"""What is left out of the context because it tells nothing that matters now."""

from __future__ import annotations

import pytest

from saga_core import Saga
from tests.core.frontend import Frontend

ROUND = (
    " The stove ticks, rain runs down the panes, and the clock over the shelf is slow as always in the wet months. "
    "Mara dries one glass after the other and holds each up against the lamp. A cart goes by outside, and the driver "
    "says good evening to nobody. Under the bench the dog turns round twice and sleeps on with a sigh. The bread is "
    "from yesterday, and the soup is what there is."
)


async def test_long_turns_with_no_word_that_tells_them_apart_are_not_remembered() -> None:
    """Of each turn the first sentence was told, because it had no word of the question or one that all have."""
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        chat = Frontend(saga, system="You tell.", greeting="", note="")
        for number in range(14):
            reply = f'"Sit down," says Mara for evening {number}.{ROUND}'
            if number == 4:
                reply += " Her father left her the silver compass, she says, and it points to the mill."
            await chat.say(f"I come in, evening {number}.", reply, location="inn", npc_met=("Mara",))
        chat.history = chat.history[-2:]
        turn = await chat.begin('"What did your father leave you, Mara?" I say.')
        told = [each.text for each in turn.context.pieces if each.source == "recollection"]
        assert len(told) == 1 and "silver compass" in told[0]


async def test_a_turn_with_no_word_that_tells_something_is_not_remembered() -> None:
    """Its first sentence was told, because it had the "on" of the player's words."""
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        chat = Frontend(saga, system="You tell.", greeting="", note="")
        for number in range(3):
            await chat.say(f'"You\'re on, Kit {number}."', f"Kit spits in his palm.{ROUND}", location="inn")
        chat.history = chat.history[-2:]
        turn = await chat.begin("At half past six on Tuesday I climb the tower.")
        assert not [each for each in turn.context.pieces if each.source == "recollection"]


@pytest.mark.parametrize(
    ("aside", "said"),
    [
        ("[OOC: let me know if you'd rather she stayed.]", "stayed"),
        ("(let me know if you want another scene)", "another"),
        ("(괜찮으시다면 다음 장면은 병원으로 넘어가겠습니다.)", "병원"),
        ("（よろしければ次の場面に進みます。）", "次"),
        ("（如果您愿意，下一幕去医院。）", "医院"),
    ],
)
async def test_what_a_narrator_says_to_the_player_is_no_story(aside: str, said: str) -> None:
    async with Saga.open({"storage": {"profile": "memory"}}) as saga:
        chat = Frontend(saga, system="You tell.", greeting="", note="")
        await chat.say("I come in.", f"Mara has a silver compass (her father's). {aside}", location="inn")
        await chat.say("I go.", "It rains.", location="mill")
        chat.history = chat.history[-2:]
        turn = await chat.begin(f"Whose was the silver compass, and {said}?")
        (told,) = [each.text for each in turn.context.pieces if each.source == "recollection"]
        assert told.endswith("(her father's).")
