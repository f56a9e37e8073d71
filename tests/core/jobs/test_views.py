"""The views job: turns of a session are rendered together, crossed off, and told to whoever follows."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

import pytest

from saga_core import Saga
from saga_core.jobs import PersonasJob, ViewsJob
from saga_core.journal import PendingWork
from saga_core.sessions import LiveSession
from tests.core.frontend import Frontend, memory_config


class Watcher:
    """Wants something of each turn, and hears of what is rendered."""

    def __init__(self, saga: Saga) -> None:
        self.saga = saga
        self.heard: list[tuple[list[str], list[Any]]] = []

    async def wants(self, live: LiveSession, turns: Sequence[str]) -> Mapping[str, PendingWork]:
        return {turns[-1]: PendingWork(extract=True, failed=True)}

    def views_rendered(self, live: LiveSession, turns: Sequence[str]) -> None:
        self.heard.append((list(turns), list(self.saga.background.views.queued(live.session.id))))


@pytest.fixture
async def saga() -> AsyncIterator[Saga]:
    async with Saga.open(memory_config()) as opened:
        yield opened


async def played(saga: Saga) -> tuple[str, list[str]]:
    chat = Frontend(saga)
    turns = [
        (await chat.say(f"{number}번째로 간다.", f"{number}번째 언덕에 안개가 짙게 깔려 있다.")).id
        for number in range(3)
    ]
    assert chat.last is not None
    await saga.drain(10)
    return chat.last.session.id, turns


async def test_turns_that_wait_together_are_rendered_together_in_order_and_crossed_off(saga: Saga) -> None:
    session, turns = await played(saga)
    job: ViewsJob = saga.background.views
    watcher = Watcher(saga)
    job.followers = (*job.followers, watcher)
    await saga.parts.journal.add_jobs(session, turns)
    for turn in (turns[1], turns[0], turns[1]):
        job.submit(session, [turn])
    job.submit(session, [])
    assert list(job.queued(session)) == [turns[1], turns[0]] and job.depth() == 2
    assert [(each.session, each.turn, each.reason) for each in job.waiting({})] == [
        (session, turn, "queued") for turn in (turns[1], turns[0])
    ]
    assert next(iter(job.waiting({session: "disk full"}))).reason == "disk full"
    assert (await saga.background.drain_views(10)).waiting == ()
    assert [batch for batch, _ in watcher.heard] == [[turns[1], turns[0]]]
    noted = {turn: wanted for _, turn, wanted in await saga.parts.journal.jobs()}
    assert noted == {turns[0]: PendingWork(extract=True, failed=True), turns[2]: None}, "the third was not asked for"
    assert job.depth() == 0 and list(job.queued(session)) == []


async def test_what_the_journal_notes_is_taken_up(saga: Saga) -> None:
    session, turns = await played(saga)
    await saga.parts.journal.add_jobs(session, turns[:1])
    await saga.parts.journal.change_jobs(session, [], {turns[1]: PendingWork(extract=True, failed=True)})
    job = saga.background.views
    await job.resume()
    assert list(job.queued(session)) == turns[:1], "what a model is to read is another's work"


async def test_what_a_session_was_to_get_is_forgotten_with_it(saga: Saga) -> None:
    session, turns = await played(saga)
    job = saga.background.views
    job.submit(session, turns)
    job.forget(session)
    assert job.depth() == 0 and list(job.waiting({})) == []
    assert await job.step(session) == await job.step("nobody")


async def test_a_batch_that_fails_stays(saga: Saga, monkeypatch: pytest.MonkeyPatch) -> None:
    session, turns = await played(saga)
    job = saga.background.views
    job.submit(session, turns[:1])
    await saga.background.drain_views(10)

    async def broken(*_: Any, **__: Any) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(type(saga.parts.projector), "render", broken)
    job.submit(session, turns[:1])
    with pytest.raises(OSError, match="disk full"):
        await job.step(session)
    assert list(job.queued(session)) == turns[:1]


async def test_turns_of_a_session_that_was_deleted_before_they_were_queued_are_let_go(saga: Saga) -> None:
    session, turns = await played(saga)
    await saga.sessions.delete(session)
    job = saga.background.views
    await saga.parts.journal.add_jobs(session, turns[:1])
    job.submit(session, turns)
    report = await saga.drain(10)
    assert report.waiting == () and job.depth() == 0
    assert await saga.parts.journal.jobs() == []
    assert saga.counters.counts["lane.failures"] == 0 and "background" not in saga.counters.degraded


async def test_a_player_is_not_looked_for_in_a_session_that_was_deleted(saga: Saga) -> None:
    session, turns = await played(saga)
    live = await saga.parts.live.get(session)
    await saga.sessions.delete(session)
    (job,) = (each for each in saga.parts.supervisor.jobs if isinstance(each, PersonasJob))
    job.views_rendered(live, turns)
    assert (await saga.drain(10)).waiting == ()
    assert saga.counters.counts["personas.failures"] == 0 and "personas" not in saga.counters.degraded
