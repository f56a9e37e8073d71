"""Two people who are one: what either of them knew the one person knows, from whichever turn on they are one."""

from __future__ import annotations

import pytest

from saga_core import Saga
from saga_core.play.pending_turn import PendingTurn
from tests.core.frontend import Frontend, memory_config

SECRET = "Secret, Sister Odile is really Isaura Vane"


async def knowing(saga: Saga, session: str, about: int) -> dict[str, bool]:
    """Whether each character knows what happened at a turn."""
    report = await saga.memory.knowledge(session, about=about)
    return {each["name"]: each["knows"] for each in report["people"] if not each["player"]}


async def merge(saga: Saga, turn: PendingTurn, one: str, into: str) -> None:
    await saga.memory.correct(turn.session.id, "merge", {"one": one, "into": into}, turn.id)


async def barge(chat: Frontend) -> list[PendingTurn]:
    """Bram Oake, whom the story calls Otter from the second turn on, leaves the cabin before a secret is told there."""
    return [
        await chat.say("I ask for Bram.", "The man nods.", location="landing", present=("Bram Oake",)),
        await chat.say("I go aboard.", "Otter casts off.", location="barge", present=("Otter", "Sister Odile")),
        await chat.say("I sit.", "When Otter has gone she talks.", present=("Sister Odile",), notes=SECRET),
        await chat.say("I go on deck.", "Otter leans on the sweep.", present=("Otter",)),
    ]


@pytest.mark.parametrize("since", [2, 3, 4])
async def test_who_left_before_a_secret_does_not_know_it_from_whichever_turn_on_two_are_one(since: int) -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        turns = await barge(Frontend(saga, "Rain.", "Tell a story.", ""))
        await merge(saga, turns[since - 1], "Otter", "Bram Oake")
        session = turns[0].session.id
        state = await saga.views.state(session)
        assert not state.problems
        assert [state.name(who) for who in state.present] == ["Bram Oake"]
        assert await knowing(saga, session, 3) == {"Bram Oake": False, "Sister Odile": True}
        # A correction of the turn itself renews who was there.
        await saga.memory.correct(session, "mood", {"who": "Sister Odile", "mood": "calm"}, turns[2].id)
        assert await knowing(saga, session, 3) == {"Bram Oake": False, "Sister Odile": True}


@pytest.mark.parametrize("since", [2, 3])
async def test_of_two_who_are_one_who_was_there_passes_the_knowledge_on(since: int) -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        chat = Frontend(saga, "Rain.", "Tell a story.", "")
        hooded = ("Pim", "the hooded man")
        await chat.say("I go out.", "Pim comes, and a hooded man behind him.", location="lane", present=hooded)
        second = await chat.say("Who?", "Tam Sorrel puts the hood back.", present=("Pim", "Tam Sorrel"))
        secret = {"notes": "Secret: Pim is a spy", "present": ("Pim", "Tam Sorrel")}
        await chat.say("And?", "The hooded man and Tam.", present=(*hooded, "Tam Sorrel"))
        third = await chat.say("So?", "Tam tells it.", **secret)
        assert await knowing(saga, third.session.id, 4) == {"Pim": True, "Tam Sorrel": True, "the hooded man": False}
        await merge(saga, (second, third)[since - 2], "the hooded man", "Tam Sorrel")
        assert await knowing(saga, third.session.id, 4) == {"Pim": True, "Tam Sorrel": True}


async def test_two_who_are_made_one_again_from_an_earlier_turn_on_are_no_problem() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        turns = await barge(Frontend(saga, "Rain.", "Tell a story.", ""))
        await merge(saga, turns[3], "Otter", "Bram Oake")
        await merge(saga, turns[1], "Otter", "Bram Oake")
        state = await saga.views.state(turns[0].session.id)
        assert not state.problems
        (gone,) = state.merged
        assert state.name(gone) == "Bram Oake", "no id is shown"
