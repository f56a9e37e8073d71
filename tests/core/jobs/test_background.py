"""What can be asked of the work behind the replies: what waits and why, and doing it now."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from saga_core import Saga
from saga_core.errors import BadInput, NotFound, NotSupported
from saga_core.jobs.background import PendingJob
from saga_core.journal import PendingWork
from tests.core.extraction.scripted import changes
from tests.core.frontend import Frontend, memory_config
from tests.core.jobs.unreported import FIGHT, SQUARE, hp, playing, settled


@pytest.fixture
async def saga() -> AsyncIterator[Saga]:
    async with Saga.open(memory_config()) as opened:
        yield opened


async def test_what_is_noted_is_listed_the_stuck_first_and_of_one_session_alone(saga: Saga) -> None:
    one = await Frontend(saga).say("광장을 둘러본다.", SQUARE)
    other = await Frontend(saga, greeting="Hello there.").say(
        "I fight.", "The goblin jumps and the blade grazes an arm."
    )
    await saga.drain(10)
    assert await saga.background.jobs() == []
    await saga.parts.journal.add_jobs(one.session.id, [one.id])
    gone = PendingWork(extract=True, tries=3, reason="no answer", failed=True)
    await saga.parts.journal.change_jobs(other.session.id, [], {other.id: gone})
    stuck = PendingJob(other.session.id, other.id, "extract", True, 3, "no answer")
    queued = PendingJob(one.session.id, one.id, "views", False)
    assert await saga.background.jobs() == [stuck, queued]
    assert await saga.background.jobs(one.session.id) == [queued]
    assert stuck.plain() == {
        "session": other.session.id,
        "turn": other.id,
        "kind": "extract",
        "stuck": True,
        "tries": 3,
        "reason": "no answer",
    }
    assert queued.plain()["reason"] is None
    with pytest.raises(NotFound):
        await saga.background.jobs("nobody")


async def test_work_is_tried_again_where_it_was_asked_for(saga: Saga) -> None:
    chat = Frontend(saga)
    first = await chat.say("광장을 둘러본다.", SQUARE)
    second = await chat.say("싸운다.", FIGHT)
    await saga.drain(10)
    await saga.parts.journal.add_jobs(first.session.id, [first.id, second.id])
    assert await saga.background.retry(first.session.id, "no such turn") == 0
    assert await saga.background.retry(first.session.id, first.id) == 1
    assert (await saga.drain(10)).waiting == ()
    assert [job.turn for job in await saga.background.jobs()] == [second.id]
    assert await saga.background.retry() == 1
    await saga.drain(10)
    assert await saga.background.jobs() == []
    with pytest.raises(NotFound):
        await saga.background.retry("nobody")


async def test_reading_anew_needs_a_model_and_a_turn_of_the_story(saga: Saga) -> None:
    turn = await Frontend(saga).say("광장을 둘러본다.", SQUARE)
    with pytest.raises(NotSupported, match=r"set models\.extraction"):
        await saga.background.reextract(turn.session.id)
    async with playing(otherwise=changes(hp_change=-5)) as (chat, _):
        turn = await chat.say("싸운다.", FIGHT, hp_change=-1)
        session = turn.session.id
        with pytest.raises(BadInput, match="is of kind root: nothing happens in it"):
            await chat.saga.background.reextract(session, turn.parent.id)
        for unknown in ((session, "t9"), ("nobody", None)):
            with pytest.raises(NotFound):
                await chat.saga.background.reextract(*unknown)
        assert await chat.saga.background.reextract(session) == 0, "somebody reported all of it"
        assert await chat.saga.background.reextract(session, turn.id) == 1
        await settled(chat)
        assert await hp(chat) == 95


async def test_below_a_turn_those_are_read_that_nobody_or_the_model_reported() -> None:
    async with playing(otherwise=changes(hp_change=-5)) as (chat, _):
        first = await chat.say("싸운다.", FIGHT, hp_change=-1)
        await chat.say("또 싸운다.", "고블린이 다시 덮친다. 칼이 부러진다.", hp_change=-1)
        await chat.say("물러난다.", "가까스로 골목으로 몸을 피한다.")
        await settled(chat)
        session, background = first.session.id, chat.saga.background
        assert await background.reextract(session, first.id, below=False) == 1
        assert await background.reextract(session, first.id) == 2, "and the third, which the model read"
        await settled(chat)
        chat.history, chat.session = [], session
        await chat.say("달아난다.", "숲으로 달아난다. 나뭇가지가 얼굴을 스친다.", hp_change=-1)
        assert await background.reextract(session, first.id) == 1, "nothing behind it is on the active path"


async def test_the_status_is_data(saga: Saga) -> None:
    await Frontend(saga).say("광장을 둘러본다.", SQUARE)
    status = saga.background.status()
    assert set(status) == {"work", "backfill", "curation", "extraction", "silent"}
    assert status["work"]["queued"] == len(status["work"]["waiting"]) > 0
    assert {each["kind"] for each in status["work"]["waiting"]} == {"project"}
    await saga.drain(10)
    assert saga.background.status()["work"] == {"queued": 0, "waiting": [], "failed": []}
    assert saga.background.waiting() == ()
