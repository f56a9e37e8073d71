"""Another story of the same player is told where it is asked for and allowed, apart from this one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from saga_core import PendingTurn, Saga
from saga_core.config import load_config
from saga_core.context import Section
from saga_core.state_block import ItemAmount
from tests.core.frontend import MEMORY, Frontend, answer

EN = {
    "first": (
        ("We follow the river north.", "At the mill an old ferryman named Osric takes you aboard for nine coppers."),
        ("We dig under the willow.", "Your spade strikes a chest, and in it lies the amber crown of Vell."),
        ("We sail home.", "The harbour lights come up, and Osric rings the bell twice for you."),
    ),
    "now": ("We enter the market.", "The stalls are shut, and a dog looks at you."),
    "asked": "Do you remember our last story? What was in the chest?",
    "bare": "Remember our last adventure?",
    "plain": "What was in the chest?",
    "words": "amber crown of Vell",
    "end": "rings the bell twice",
    "heading": "[Another story, not this one]",
}
KO = {
    "first": (
        ("강을 따라 북쪽으로 간다.", "물레방앗간에서 늙은 뱃사공 오스릭이 동화 아홉 닢에 배를 태워 준다."),
        ("버드나무 밑을 판다.", "삽이 궤짝에 부딪히고, 그 안에는 벨의 호박 왕관이 들어 있다."),
        ("배를 타고 돌아간다.", "항구의 불빛이 떠오르고, 오스릭이 종을 두 번 울려 준다."),
    ),
    "now": ("시장에 들어선다.", "가게는 모두 닫혔고, 개 한 마리가 쳐다본다."),
    "asked": "우리 지난번 이야기 기억나? 궤짝 안에 뭐가 있었지?",
    "bare": "저번 모험 기억해?",
    "plain": "궤짝 안에 뭐가 있었지?",
    "words": "호박 왕관",
    "end": "종을 두 번",
    "heading": "[다른 이야기: 이 이야기의 일이 아님]",
}


@asynccontextmanager
async def opened(allowed: str | None = "world", **session: Any) -> AsyncIterator[Saga]:
    recall = {"recall": {"other_sessions": allowed}} if allowed else {}
    async with Saga.open(load_config({**MEMORY, **recall, "session": {**MEMORY["session"], **session}})) as saga:
        yield saga


async def play(saga: Saga, script: Mapping[str, Any], owner: str = "", **chat: Any) -> tuple[Frontend, Frontend]:
    """A story that was played, and another that has begun."""
    first = Frontend(saga, session="Ferry", owner=owner, **chat)
    for words, reply in script["first"]:
        await first.say(words, reply, items_gained=(ItemAmount("Vellcrown"),) if script["words"] in reply else ())
    now = Frontend(saga, session="Market", owner=owner, **chat)
    await now.say(*script["now"])
    return first, now


def elsewhere(turn: PendingTurn) -> list[str]:
    return [piece.text for piece in turn.context.pieces if piece.section is Section.ELSEWHERE]


def within(turn: PendingTurn, heading: str) -> str:
    """The lines of one part of the block."""
    text = turn.context.text.partition(f"{heading}\n")[2]
    return text.partition("\n[")[0]


@pytest.mark.parametrize("script", [EN, KO], ids=["en", "ko"])
async def test_another_story_is_told_when_it_is_asked_for_and_marked_as_another(script: Mapping[str, Any]) -> None:
    async with opened() as saga:
        _, now = await play(saga, script)
        turn = await now.begin(script["asked"])
        assert script["words"] in within(turn, script["heading"])
        rest = turn.context.text.replace(within(turn, script["heading"]), "")
        assert script["words"] not in rest and "Vellcrown" not in rest, "nothing of it stands anywhere else"
        (line, *_) = [line for line in elsewhere(turn) if script["words"] in line]
        assert line.startswith("Ferry · "), "it says which story, and when that was played"
        assert script["end"] in within(await now.begin(script["bare"]), script["heading"]), "what names nothing"


@pytest.mark.parametrize("script", [EN, KO], ids=["en", "ko"])
async def test_nothing_of_another_story_is_told_unasked_or_where_it_is_not_allowed(script: Mapping[str, Any]) -> None:
    async with opened() as saga:
        _, now = await play(saga, script)
        turn = await now.begin(script["plain"])
        assert not elsewhere(turn) and script["words"] not in turn.context.text
    async with opened(None) as saga:
        _, now = await play(saga, script)
        turn = await now.begin(script["asked"])
        assert not elsewhere(turn) and script["words"] not in turn.context.text, "the default is off"


async def test_another_story_changes_nothing_of_this_one() -> None:
    async with opened() as saga:
        _, now = await play(saga, EN)
        turn = await now.begin(EN["asked"])
        assert "Vellcrown" not in within(turn, "[Now]") and EN["words"] not in within(turn, "[Earlier]")
        before = await saga.describe(turn.session.id)
        await now.say(EN["asked"], "You laugh, and remember.")
        after = await saga.describe(turn.session.id)
        for each in (before, after):
            assert "Vellcrown" not in str(each)


async def test_a_deleted_story_is_told_no_more() -> None:
    async with opened() as saga:
        first, now = await play(saga, EN)
        assert elsewhere(await now.begin(EN["asked"])) and first.last is not None
        await saga.sessions.delete(first.last.session.id)
        turn = await now.begin(EN["asked"])
        assert not elsewhere(turn) and EN["words"] not in turn.context.text


async def test_what_another_key_played_is_never_told() -> None:
    async with opened() as saga:
        await play(saga, EN, owner="mina")
        stranger = Frontend(saga, session="Market", owner="jun")
        await stranger.say(*EN["now"])
        assert not elsewhere(await stranger.begin(EN["asked"]))


async def test_users_of_one_key_are_told_nothing_of_each_other() -> None:
    async with opened(identify="user") as saga:
        _, now = await play(saga, EN)
        assert not elsewhere(await now.begin(EN["asked"]))


async def test_of_a_card_only_chats_with_the_same_greeting_count() -> None:
    async with opened("card") as saga:
        inn, castle = "The inn is loud tonight, and the fire smokes.", "The castle gate is shut, and it rains."
        first = Frontend(saga, greeting=inn)
        for words, reply in EN["first"]:
            await first.say(words, reply)
        again, other, none = (Frontend(saga, greeting=greeting) for greeting in (inn, castle, ""))
        await again.say(*EN["now"])
        await other.say("I knock.", "A guard lifts the shutter and looks down at you.")
        await none.say("I wait by the door.", "Nobody comes for a long while.")
        assert elsewhere(await again.begin(EN["asked"]))
        assert not elsewhere(await other.begin(EN["asked"]))
        assert not elsewhere(await none.begin(EN["asked"])), "without a greeting nobody knows of which card it is"


async def test_the_story_played_last_comes_first_and_all_four_can_be_searched() -> None:
    async with opened() as saga:
        for number, thing in enumerate(("lantern", "flute", "anchor", "kite", "sextant", "plough")):
            chat = Frontend(saga, session=f"Story {number}")
            await chat.say(f"We look into hut {number}.", f"On the table of hut {number} lies a {thing} of glass.")
        now = Frontend(saga, session="Market")
        await now.say(*EN["now"])
        told = elsewhere(await now.begin("In our other stories, what did we find on the table?"))
        assert {name for line in told for name in [line.partition(" · ")[0]]} == {f"Story {at}" for at in (2, 3, 4, 5)}


async def test_an_ephemeral_story_is_told_no_other() -> None:
    async with opened() as saga:
        first = Frontend(saga, session="Ferry")
        for words, reply in EN["first"]:
            turn = await first.begin(words, kind="ephemeral")
            await answer(turn, reply)
            first.history += [{"role": "user", "content": words}, {"role": "assistant", "content": reply}]
        asked = await Frontend(saga, session="Market").begin(EN["asked"], kind="ephemeral")
        assert EN["words"] not in asked.plan.text() and EN["heading"] not in asked.plan.text()
