"""A new chat that goes on with a known story: it begins where that story is, and the old chat stays as it is."""

from __future__ import annotations

import pytest

from saga_core import NotFound, Saga
from tests.core.frontend import Frontend, answer, memory_config

GREETING = "장이 서는 날, 마을 광장이 소란하고 어디선가 북소리가 들린다. 당신은 문 앞에 서 있다."


async def old_story(saga: Saga, turns: int = 6) -> Frontend:
    chat = Frontend(saga, GREETING)
    await chat.say(
        "비석을 읽는다.", "비석에는 '달의 문'이라는 글이 있다.", npc_met=("에르겐",), notes="달의 문은 남쪽에 있다"
    )
    for number in range(turns):
        await chat.say(f"{number}번째 언덕을 넘는다.", f"{number}번째 안개가 짙다.")
    await saga.drain(10)
    return chat


async def test_the_new_chat_has_the_story_and_the_old_one_stays() -> None:
    async with Saga.open(memory_config()) as saga:
        old = await old_story(saga)
        assert old.last is not None
        session, head = old.last.session.id, old.last.id
        fresh = Frontend(saga, "다른 인사말이다. 비가 내리고 있고, 골목에는 아무도 보이지 않는다.")
        begun = await fresh.begin("에르겐, 비석에 뭐라고 쓰여 있었지?", continued=f"{session}@{head}")
        assert (begun.session.id, begun.parent.id) == (session, head)
        assert any("달의 문" in piece.text for piece in begun.context.pieces)
        shown = await answer(begun, "에르겐이 고개를 끄덕인다.")
        fresh.history += [
            {"role": "user", "content": "에르겐, 비석에 뭐라고 쓰여 있었지?"},
            {"role": "assistant", "content": shown},
        ]
        for continued in (f"{session}@{head}", ""):
            after = await fresh.begin("고맙다.", continued=continued)
            assert (after.session.id, after.parent.id) == (session, begun.id)
        swiped = await Frontend(saga, fresh.greeting).begin(
            "에르겐, 비석에 뭐라고 쓰여 있었지?", continued=f"{session}@{head}"
        )
        assert swiped.parent.id == head
        again = await old.begin("계속 간다.")
        assert again.parent.id == head


async def test_the_same_greeting_shows_none_of_the_turns_behind_it() -> None:
    async with Saga.open(memory_config()) as saga:
        old = await old_story(saga)
        assert old.last is not None and (await old.begin("계속 간다.")).context.missing == -1
        head = (await old.say("내려간다.", "길이 끝난다.")).parent.depth + 1
        fresh = Frontend(saga, GREETING)
        begun = await fresh.begin("비석에 뭐라고 쓰여 있었지?", continued=old.last.session.id)
        assert begun.context.missing == head
        shown = await answer(begun, "에르겐이 고개를 끄덕인다.")
        fresh.history += [{"role": "user", "content": "비석에 뭐라고 쓰여 있었지?"}]
        fresh.history += [{"role": "assistant", "content": shown}]
        assert (await fresh.begin("고맙다.")).context.missing == head


async def test_without_a_turn_it_goes_on_from_the_head_and_a_swipe_stays_there() -> None:
    async with Saga.open(memory_config()) as saga:
        old = await old_story(saga)
        assert old.last is not None
        session, head = old.last.session.id, old.last.id
        for _ in range(2):
            begun = await Frontend(saga, "새 인사말").begin("다시 왔다.", continued=session)
            assert begun.parent.id == head
            await answer(begun, "어서 오게.")


async def test_a_fresh_story_of_the_same_card_knows_nothing_and_is_offered_to_go_on() -> None:
    async with Saga.open(memory_config()) as saga:
        old = await old_story(saga)
        assert old.last is not None
        begun = await Frontend(saga, GREETING).begin("비석에 뭐라고 쓰여 있었지?")
        assert begun.session.id != old.last.session.id
        assert "달의 문" not in "\n".join(f"{block.lead}\n{block.content}" for block in begun.plan.blocks)
        (offer,) = begun.notices
        assert f"[[saga:continue={old.last.session.id}]]" in offer
        shown = await answer(begun, "기억나지 않는다.")
        chat = Frontend(saga, GREETING, history=[{"role": "user", "content": "비석에 뭐라고 쓰여 있었지?"}])
        chat.history.append({"role": "assistant", "content": shown})
        taken = await chat.begin("에르겐에게 묻는다.", continued=old.last.session.id)
        assert (taken.session.id, taken.parent.depth) == (old.last.session.id, 8)


async def test_an_unknown_story_is_an_error() -> None:
    async with Saga.open(memory_config()) as saga:
        with pytest.raises(NotFound):
            await Frontend(saga).begin("안녕.", continued="nothing@3")


async def test_a_quiz_about_200_turns_is_answered_as_often_in_the_new_chat() -> None:
    async with Saga.open(memory_config(default_world=None)) as saga:
        old = Frontend(saga, greeting="", system="Tell a story.", note="")
        people = [
            f"{first}{last}" for first in ("Ar", "Bel", "Cor", "Dun", "Esk") for last in ("win", "mund", "ric", "da")
        ]
        for number in range(200):
            name = people[number // 10]
            trade = f"{name} sells lamp number {number}" if number % 10 == 0 else "the road is long"
            await old.say(f"I walk on past stone {number}.", f"At stone {number}, {trade}.", present=())
        assert old.last is not None
        questions = [
            (f"What did {people[at]} sell?", f"{people[at]} sells lamp number {at * 10}") for at in range(0, 20, 2)
        ]
        shown = old.history[-12:]
        found = []
        for history, continued in ((shown, ""), ([], f"{old.last.session.id}@{old.last.id}")):
            answers = 0
            for question, told in questions:
                chat = Frontend(saga, greeting="", system="Tell a story.", note="", history=list(history))
                begun = await chat.begin(question, continued=continued)
                assert begun.parent.id == old.last.id
                answers += told in begun.plan.text()
            found.append(answers)
        assert found[0] == found[1] == len(questions)
