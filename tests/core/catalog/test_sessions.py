"""Fleeting sessions: which they are, and that only they are collected."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest
from attrs import define

from saga_core import Saga
from saga_core.catalog.sessions import DAY
from saga_core.errors import NotFound, StoreUnavailable
from saga_core.jobs.collection import CollectionJob
from saga_core.model.deltas import HpChanged
from saga_core.model.tree import Delta, Source
from tests.core.frontend import Frontend, answer, memory_config

WEEK = 7 * DAY


@define
class Calendar:
    """A clock that stands until it is moved."""

    at: float = 1_800_000_000.0

    def now(self) -> float:
        return self.at

    def monotonic(self) -> float:
        return self.at


@pytest.fixture
def clock() -> Calendar:
    return Calendar()


@pytest.fixture
async def saga(clock: Calendar) -> AsyncIterator[Saga]:
    async with Saga.open(memory_config(), clock=clock, resume=False) as opened:
        yield opened


def chat_of(saga: Saga, number: int = 1, **given: Any) -> Frontend:
    return Frontend(saga, greeting=f"{number}번째 밤이 시작된다.", **given)


async def fleeting(saga: Saga) -> dict[str, bool]:
    return {summary.session.id: summary.fleeting for summary in await saga.sessions.list()}


async def test_one_turn_and_a_week_of_silence(saga: Saga, clock: Calendar) -> None:
    turn = await chat_of(saga).say("간다.", "길이 열린다. 바람이 분다.")
    clock.at += WEEK - 1
    assert await fleeting(saga) == {turn.session.id: False}
    assert await saga.sessions.collect() == 0
    clock.at += 1
    assert await fleeting(saga) == {turn.session.id: True}
    assert (await saga.sessions.summary(turn.session.id)).fleeting
    await saga.drain(10)
    assert await saga.sessions.collect() == 1
    assert await saga.sessions.list() == []
    assert {key[0] for key, _ in await saga.stores.state.scan(())} <= {"meta", "world"}
    assert await saga.stores.vector.scopes() in ([], [f"lore:{turn.session.digest}"])
    assert await saga.stores.graph.watermark(f"{turn.session.id}.0") is None
    assert saga.counters.counts["sessions.collected"] == 1
    assert await saga.sessions.collect() == 0


async def test_swipes_of_the_first_turn_are_one_turn(saga: Saga, clock: Calendar) -> None:
    chat = chat_of(saga)
    await chat.say("간다.", "길이 열린다. 바람이 분다.")
    turn = await chat.swipe("길이 닫힌다. 바람이 멎는다.")
    await saga.sessions.create()
    clock.at += WEEK
    assert list((await fleeting(saga)).values()) == [True, True]
    summary = await saga.sessions.summary(turn.session.id)
    assert (summary.turns, summary.depth) == (2, 1)


@pytest.mark.parametrize("why", ["second", "label", "timeline", "amended", "touched", "busy"])
async def test_somebody_came_back(saga: Saga, clock: Calendar, why: str) -> None:
    chat = chat_of(saga, session="내 방" if why == "label" else None)
    turn = await chat.say("간다.", "길이 열린다. 바람이 분다.")
    session = turn.session.id
    await saga.drain(10)
    if why == "second":
        await chat.say("더 간다.", "길이 끝난다. 바다가 보인다.")
        await chat_of(saga).say("간다.", "다른 길이다. 안개가 짙다.")
        assert (await saga.sessions.summary(session)).depth == 1, "the active head is a first turn again"
    if why == "timeline":
        await saga.timelines.fork(session, None, "끝")
    if why == "amended":
        live = await saga.parts.live.get(session)
        delta = Delta((HpChanged((await live.state(turn.id)).player, 1),), Source.EDIT)
        await saga.parts.journal.amend(session, "1", delta, live.tree.get(turn.id))
    await saga.drain(10)
    clock.at += WEEK
    if why == "touched":
        await chat.begin("더 간다.")
    if why == "busy":
        saga.background.views.submit(session, [turn.id])
    else:
        assert await fleeting(saga) == {session: False}
    assert await saga.sessions.collect() == 0
    assert (await saga.views.state(session)).depth == 1 or why == "second"


async def test_what_a_model_read_in_it_is_nobody_who_came_back(saga: Saga, clock: Calendar) -> None:
    turn = await chat_of(saga).say("간다.", "길이 열린다. 바람이 분다.")
    live = await saga.parts.live.get(turn.session.id)
    await saga.parts.journal.amend(turn.session.id, "1", Delta((), Source.EXTRACTION), live.tree.get(turn.id))
    await saga.drain(10)
    clock.at += WEEK
    assert await fleeting(saga) == {turn.session.id: True}
    assert await saga.sessions.collect() == 1


async def test_where_nobody_played_the_clock_is_not_doubted(saga: Saga, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO"):
        assert await saga.sessions.collect() == 0
    assert "clock" not in caplog.text


async def test_a_clock_that_jumped_deletes_nothing(saga: Saga, clock: Calendar) -> None:
    """By it the opening of yesterday is ten years old; who plays on tells that it is right."""
    await chat_of(saga).say("간다.", "길이 열린다. 바람이 분다.")
    clock.at += 3_650 * DAY
    assert await saga.sessions.collect() == 0
    clock.at -= 3_650 * DAY
    assert list((await fleeting(saga)).values()) == [False]
    clock.at += 60 * DAY
    assert await saga.sessions.collect() == 0
    await chat_of(saga, 2).say("다른 길로 간다.", "다른 길이다. 안개가 짙다.")
    await saga.drain(10)
    assert await saga.sessions.collect() == 1


async def test_never_when_it_is_switched_off(clock: Calendar) -> None:
    async with Saga.open(memory_config(collect_after_days=0), clock=clock) as saga:
        turn = await chat_of(saga).say("간다.", "길이 열린다. 바람이 분다.")
        clock.at += 1_000 * DAY
        assert await fleeting(saga) == {turn.session.id: False}
        assert await saga.sessions.collect() == 0
        assert await fleeting(saga) == {turn.session.id: False}, "the job empties the trash alone"


def collecting(saga: Saga) -> CollectionJob:
    """The job that collects."""
    (job,) = [each for each in saga.parts.supervisor.jobs if isinstance(each, CollectionJob)]
    return job


async def test_it_happens_at_the_start_and_then_daily(clock: Calendar, caplog: pytest.LogCaptureFixture) -> None:
    async with Saga.open(memory_config(), clock=clock, resume=False) as saga:
        job, seen = collecting(saga), []

        async def looked() -> None:
            step = await job.step("")
            assert step.again_in == 3_600.0, "a machine that slept collects soon after it woke"
            seen.append(len(await saga.sessions.list()))

        await chat_of(saga).say("간다.", "길이 열린다. 바람이 분다.")
        await saga.drain(10)
        clock.at += WEEK
        with caplog.at_level(logging.INFO, "saga.sessions"):
            await looked()
            assert seen == [0], "the first is collected at the start"
            await chat_of(saga, 2).say("본다.", "창밖에 눈이 온다. 조용하다.")
            await saga.drain(10)
            clock.at += WEEK - DAY
            for _ in range(29):
                await looked()
                clock.at += 3_600.0
            clock.at -= 100 * DAY  # somebody set the clock back: no day has passed, and none is waited for
            await looked()
    assert seen[1:] == [1] * 24 + [0] * 6, "looked at at once after six days, and again when one more has passed"
    assert caplog.text.count("collected 1 sessions") == 2


async def test_opening_collects_in_the_background_and_closing_stops_it(tmp_path: Any, clock: Calendar) -> None:
    config = {"storage": {"path": str(tmp_path / "data")}}
    async with Saga.open(config, clock=clock) as saga:
        turn = await chat_of(saga).say("간다.", "길이 열린다. 바람이 분다.")
        await chat_of(saga, session="방").say("간다.", "길이 열린다. 바람이 분다.")
        await saga.drain(10)
    clock.at += WEEK
    async with Saga.open(config, clock=clock, resume=False) as looking:
        await asyncio.sleep(0)
        assert len(await looking.sessions.list()) == 2
    async with Saga.open(config, clock=clock) as saga:
        async with asyncio.timeout(10):
            while saga.counters.counts["sessions.collected"] == 0:  # noqa: ASYNC110 - nobody tells when it is
                await asyncio.sleep(0)
        with pytest.raises(NotFound):
            await saga.sessions.get(turn.session.id)
        assert [summary.session.label for summary in await saga.sessions.list()] == ["방"]
        assert not saga.parts.supervisor.waiting()


async def test_one_that_cannot_be_deleted_is_told_and_does_not_stop_the_others(
    saga: Saga, clock: Calendar, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    one = await chat_of(saga, 1).say("간다.", "길이 열린다. 바람이 분다.")
    two = await chat_of(saga, 2).say("간다.", "문이 열린다. 바람이 찬다.")
    await saga.drain(10)
    clock.at += WEEK
    drop = saga.stores.graph.drop

    async def stuck(scope: str) -> None:
        if scope.startswith(one.session.id):
            raise StoreUnavailable("the graph is gone")
        await drop(scope)

    with monkeypatch.context() as patch:
        patch.setattr(saga.stores.graph, "drop", stuck)
        assert await saga.sessions.collect() == 1
    assert f"session {one.session.id}: cannot be collected, tried again in a day: the graph is gone" in caplog.text
    assert saga.counters.counts["sessions.collect_failed"] == 1
    assert list(await fleeting(saga)) == [one.session.id]
    assert two.session.id not in await fleeting(saga)
    assert await saga.sessions.collect() == 1


async def test_a_journal_that_cannot_be_listed_is_tried_again(
    saga: Saga, clock: Calendar, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def gone(*_: Any, **__: Any) -> Any:
        raise StoreUnavailable("the disk is gone")

    monkeypatch.setattr(saga.stores.state, "scan", gone)
    job = collecting(saga)
    clock.at += 2 * DAY
    assert (await job.step("")).again_in == 3_600.0
    assert "cannot be looked for, tried again in a day: the disk is gone" in caplog.text


async def test_who_comes_back_while_it_is_looked_at_keeps_the_session(
    saga: Saga, clock: Calendar, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = chat_of(saga)
    first = await chat.say("간다.", "길이 열린다. 바람이 분다.")
    await saga.drain(10)
    clock.at += WEEK
    amendments = saga.parts.journal.amendments

    async def slow(session_id: str) -> Any:
        monkeypatch.undo()
        turn = await chat.begin("더 간다.")
        await answer(turn, "길이 끝난다. 바다가 보인다.")
        return await amendments(session_id)

    monkeypatch.setattr(type(saga.parts.journal), "amendments", lambda _, session_id: slow(session_id))
    assert await saga.sessions.collect() == 0
    assert len(await saga.views.turns(first.session.id)) == 3


async def test_a_session_that_goes_while_it_is_listed_is_left_out(saga: Saga, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = await chat_of(saga, 1).say("간다.", "길이 열린다. 바람이 분다.")
    kept = await chat_of(saga, 2).say("간다.", "문이 열린다. 바람이 찬다.")
    sessions = saga.parts.journal.sessions

    async def late() -> Any:
        monkeypatch.undo()
        found = await sessions()
        await saga.sessions.delete(gone.session.id)
        return found

    monkeypatch.setattr(type(saga.parts.journal), "sessions", lambda _: late())
    found = await saga.sessions.list()
    assert [summary.session.id for summary in found] == [kept.session.id]
