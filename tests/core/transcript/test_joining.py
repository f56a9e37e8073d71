"""A session that began with the end of a known story is joined to it, once a request shows what stands above."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from saga_core import Saga
from saga_core.maintenance.transfer import read_file
from saga_core.play.pending_turn import PendingTurn

GREETING = "The lamp gutters in the wind, and she asks what your business is tonight."
TOLD = (
    ("I come in.", "She nods slowly and pushes a small brass key across the table.", "brass key"),
    ("I take it.", "The stair behind her creaks while somebody comes down with a rope.", "rope"),
)
EDITED = "Somebody comes down, slowly, and brings nothing good for anybody at all."
LATER = (
    ("Who is it?", "An old man with a lantern, who puts it down before you and goes.", "lantern"),
    ("I lift it.", "The light falls on a map that is nailed to the wall, and you take it.", "map"),
)

Lines = list[tuple[str, str]]


@pytest.fixture
async def saga() -> AsyncIterator[Saga]:
    async with Saga.open({"storage": {"profile": "memory"}}) as opened:
        yield opened


async def asked(saga: Saga, lines: Lines, reply: str = "", thing: str = "") -> PendingTurn:
    messages: list[dict[str, Any]] = [{"role": role, "content": text} for role, text in lines]
    turn = await saga.begin([{"role": "system", "content": "card"}, *messages])
    if reply:
        turn.replies[0].feed(f"{reply}\n\n```state\nlocation: Inn\nitems_gained: [{thing}]\n```")
        await turn.commit()
    return turn


async def carried(saga: Saga, turn: PendingTurn) -> list[str]:
    state = await saga.views.state(turn.session.id, turn.parent.id)
    return sorted(state.name(item) for item in state.belongings.get(state.player, {}))


async def played(saga: Saga) -> tuple[PendingTurn, Lines, Lines]:
    """Two turns; then the last reply alone, edited beyond recognition, and two more. The first turn, and what the chat
    shows: from its beginning, and from the edited reply on."""
    lines: Lines = [("assistant", GREETING)]
    turns = []
    for words, reply, thing in TOLD:
        lines.append(("user", words))
        turns.append(await asked(saga, lines, reply, thing))
        lines.append(("assistant", reply))
    lines[-1] = ("assistant", EDITED)
    rest: Lines = [lines[-1]]
    for words, reply, thing in LATER:
        turn = await asked(saga, [*rest, ("user", words)], reply, thing)
        assert turn.session.id != turns[0].session.id
        rest += [("user", words), ("assistant", reply)]
    return turns[0], lines, rest


async def test_its_turns_are_told_there_with_what_they_changed(saga: Saga) -> None:
    first, lines, rest = await played(saga)
    whole = [*lines, *rest[1:]]
    turn = await asked(saga, [*whole, ("user", "I read it.")], "It shows the mill, and a door below it.", "pin")
    assert (turn.session.id, turn.parent.depth) == (first.session.id, 4)
    assert await carried(saga, turn) == ["brass key", "lantern", "map"]
    whole += [("user", "I read it."), ("assistant", "It shows the mill, and a door below it.")]
    again = await asked(saga, [*whole, ("user", "I go there.")])
    assert (again.session.id, again.parent.id) == (first.session.id, turn.id)
    assert await carried(saga, again) == ["brass key", "lantern", "map", "pin"]


async def test_it_stays_what_it_is_as_long_as_nothing_above_is_shown(saga: Saga) -> None:
    first, _, rest = await played(saga)
    turn = await asked(saga, [*rest, ("user", "I read it.")])
    assert turn.session.id != first.session.id
    assert await carried(saga, turn) == ["lantern", "map"]


async def test_what_stands_above_must_be_known(saga: Saga) -> None:
    first, _, rest = await played(saga)
    foreign = [("assistant", "Fog."), ("user", "Hello?"), ("assistant", "A bell rings far out on the water, twice.")]
    turn = await asked(saga, [*foreign, ("user", "I take it."), *rest, ("user", "I read it.")])
    assert turn.session.id != first.session.id
    assert await carried(saga, turn) == ["lantern", "map"]


async def test_a_chat_whose_greeting_is_said_again_is_its_own(saga: Saga) -> None:
    first, lines, _ = await played(saga)
    other: Lines = [("assistant", EDITED), ("user", "Good evening.")]
    turn = await asked(saga, other, "Nobody answers, and the rain goes on and on outside.", "spoon")
    other += [("assistant", "Nobody answers, and the rain goes on and on outside."), ("user", "Once more.")]
    again = await asked(saga, other, EDITED, "fork")
    other += [("assistant", EDITED), ("user", "Good evening.")]
    last = await asked(saga, other)
    assert (last.session.id, last.parent.id) == (turn.session.id, again.id)
    assert lines and last.session.id != first.session.id


async def told(saga: Saga, lines: Lines, *told: tuple[str, str, str]) -> PendingTurn:
    for words, reply, thing in told:
        turn = await asked(saga, [*lines, ("user", words)], reply, thing)
        lines += [("user", words), ("assistant", reply)]
    return turn


async def test_a_story_that_was_deleted_and_brought_back_is_gone_on_with(saga: Saga) -> None:
    """Meanwhile, the chat went on in a session that knew nothing."""
    lines: Lines = [("assistant", GREETING)]
    first = await told(saga, lines, *TOLD)
    await saga.maintenance.put_in_trash(first.session.id)
    twin = await told(saga, lines, LATER[0])
    assert twin.session.id != first.session.id
    await saga.maintenance.restore(first.session.id)
    turn = await told(saga, lines, LATER[1])
    assert (turn.session.id, turn.parent.depth) == (first.session.id, 3)
    assert await carried(saga, turn) == ["brass key", "lantern", "rope"]
    swiped = await asked(saga, lines[:-1], "The light falls on nothing at all, and then it goes out.", "wick")
    assert (swiped.session.id, swiped.parent.id) == (first.session.id, turn.parent.id)


async def test_of_a_story_and_its_copy_the_one_that_was_played_last_goes_on(saga: Saga) -> None:
    lines: Lines = [("assistant", GREETING)]
    first = await told(saga, lines, *TOLD)
    raw = b"".join([part async for part in saga.maintenance.export_session(first.session.id)])
    copy = await saga.maintenance.import_session(read_file(raw))
    assert copy.id != first.session.id
    assert (await asked(saga, [*lines, ("user", "I wait.")])).session.id == first.session.id
    other = await asked(saga, [*lines, ("user", "Who is it?")], "An old man with a lantern.", "lantern")
    assert other.session.id == first.session.id
    named = [{"role": role, "content": text} for role, text in [*lines, ("user", "I go back.")]]
    beside = await saga.begin([{"role": "system", "content": "card"}, *named], session=copy.id)
    beside.replies[0].feed("You go back into the rain.")
    await beside.commit()
    assert (await asked(saga, [*lines, ("user", "I wait.")])).session.id == copy.id


@pytest.mark.parametrize(
    ("until", "then", "minutes"),
    [
        ("Monday 20:00", "Monday 21:00", 60),
        ("Tuesday 20:00", "Wednesday 09:00", 13 * 60),
        ("Thursday 20:00", "+2h", 120),
        ("Thursday 20:00", "21:00", 60),
    ],
)
async def test_people_and_the_clock_are_those_of_the_story(saga: Saga, until: str, then: str, minutes: int) -> None:
    lines: Lines = [("assistant", GREETING)]

    async def say(chat: Lines, words: str, reply: str, report: str) -> PendingTurn:
        chat.append(("user", words))
        messages: list[dict[str, Any]] = [{"role": role, "content": text} for role, text in chat]
        turn = await saga.begin([{"role": "system", "content": "card"}, *messages], profile="romance")
        turn.replies[0].feed(f"{reply}\n\n```state\n{report}\n```")
        await turn.commit()
        chat.append(("assistant", reply))
        return turn

    await say(lines, "Hello.", "Dot Penhallow pours two cups of tea for us.", "present: [Dot Penhallow]")
    await say(lines, "And?", "A week goes by like this, and nobody says a word.", "time: Saturday 20:00")
    last = await say(lines, "Well?", "The days go by, one after another, until evening.", f"time: {until}")
    before = (await saga.views.state(last.session.id, last.id)).minutes
    lines += [("user", "So."), ("assistant", EDITED)]
    rest: Lines = [lines[-1]]
    twin = await say(rest, "I wait.", "Dot comes in late; it is raining again.", f"time: {then}\npresent: [Dot]")
    assert twin.session.id != last.session.id
    turn = await asked(saga, [*lines, *rest[1:], ("user", "I go.")])
    assert (turn.session.id, turn.parent.depth) == (last.session.id, 5)
    state = await saga.views.state(turn.session.id, turn.parent.id)
    assert [state.name(each) for each in state.present] == ["Dot Penhallow"]
    assert (state.minutes, before) == ((before or 0) + minutes, before)
