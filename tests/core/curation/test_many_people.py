"""A review of a story with many people looks through a long reply once, and not for each of them."""

from __future__ import annotations

import time

from saga_core import Saga
from saga_core.curation import review_by_turn, rules
from saga_core.model import Kind
from saga_core.stores import CurationView
from tests.core.frontend import Frontend


async def test_a_long_reply_about_many_people_holds_a_review_up_for_no_long_time() -> None:
    names = [f"Wanderer {chr(97 + number % 26)}{chr(97 + number // 26)}" for number in range(600)]
    async with Saga.open({"storage": {"profile": "memory"}, "extraction": {"automatic": "never"}}) as saga:
        chat = Frontend(saga, session="one", system="A bare card.")
        for at in range(0, len(names), 100):
            await chat.say("I look around.", "They sit by the fire.", npc_met=tuple(names[at : at + 100]))
        begun = await chat.say("And then?", " ".join(f"{name} sits by the fire and hums." for name in names * 20))
        live = await saga.background.directory.load(begun.session.id)
        turn = await live.turn(live.head)
        view = CurationView(
            "s", await live.state(live.head), (turn,), turn.depth - 1, await live.state(turn.parent), "en"
        )
    assert len(list(view.state.of_kind(Kind.CHARACTER))) > 600
    began = time.process_time()
    list(review_by_turn(view))
    assert time.process_time() - began < 4


def test_a_death_is_found_in_the_sentence_that_names_the_dead() -> None:
    assert rules.dies("It rains. Mara dies. It stops.", ["Mara"]) == "Mara dies."
    assert rules.dies("It rains on Mara. He dies. It stops.", ["Mara"]) == ""
