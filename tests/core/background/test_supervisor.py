"""The supervisor: one step of a session at a time, retries until it is done, order, draining, closing."""

from __future__ import annotations

import asyncio

import pytest

from saga_core.background import Job, Retry, Step
from saga_core.counters import Counters
from tests.core.background.stage import OneByOne, Work, supervised, turns_of_the_loop


async def test_turns_of_a_session_are_handled_in_order_and_never_at_once() -> None:
    work = Work()
    supervisor = supervised(work)
    work.gate.clear()
    work.submit("a", ["t1"])
    work.submit("b", ["u1"])
    await asyncio.sleep(0)
    work.submit("a", ["t2", "t3"])
    assert supervisor.busy("a")
    assert work.depth() == 4
    work.gate.set()
    report = await supervisor.drain(5)
    assert [turns for session, turns in work.calls if session == "a"] == [("t1",), ("t2", "t3")]
    assert work.overlaps == []
    assert work.most == 2
    assert report.done == 4
    assert report.waiting == ()
    assert not supervisor.busy("a")


async def test_a_failure_is_visible_tried_again_by_drain_and_forgotten_when_it_is_over() -> None:
    counters = Counters()
    work = Work(failures=2)
    supervisor = supervised(work, counters=counters)
    work.submit("a", ["t1"])
    report = await supervisor.drain(5)
    assert [(each.session, each.turn) for each in report.waiting] == [("a", "t1")]
    assert "disk is full" in report.waiting[0].reason
    assert "disk is full" in counters.degraded["background"]
    report = await supervisor.drain(5)
    assert report.waiting == ()
    assert report.done == 1
    assert work.calls == [("a", ("t1",))]
    assert counters.degraded == {}
    assert counters.counts["work.failures"] == 2


async def test_draining_stops_at_its_deadline_and_says_what_waits() -> None:
    work = Work()
    work.gate.clear()
    supervisor = supervised(work)
    work.submit("a", ["t1", "t2"])
    report = await supervisor.drain(0.01)
    assert [each.turn for each in report.waiting] == ["t1", "t2"]
    assert report.waiting[0].reason == "queued"
    await supervisor.aclose(0.0)
    assert work.calls == []
    work.submit("a", ["t3"])
    await turns_of_the_loop()
    assert work.calls == [], "nothing begins any more"


async def test_cancelling_one_session_leaves_the_others() -> None:
    work = Work()
    work.gate.clear()
    supervisor = supervised(work)
    work.submit("a", ["t1"])
    work.submit("b", ["u1"])
    await asyncio.sleep(0)
    await supervisor.give_up(work, "a")
    work.gate.set()
    await supervisor.drain(5)
    assert work.calls == [("b", ("u1",))]
    await supervisor.give_up(work, "unknown")


async def test_one_that_is_woken_and_stopped_at_once_stops() -> None:
    work = Work(failures=9)
    supervisor = supervised(work)
    work.submit("a", ["t1"])
    await supervisor.drain(5)
    tried = work.failures
    work.gate.clear()  # what is tried again hangs
    supervisor.retry_now(work, "a")
    async with asyncio.timeout(5):
        await supervisor.aclose(0.0)
    assert (work.calls, work.failures) == ([], tried)


async def test_a_job_that_is_limited_takes_sessions_in_turn() -> None:
    class Fair(OneByOne):
        in_order = False

    work = Fair()
    supervisor = supervised(work)
    work.submit("a", ["t1", "t2"])
    work.submit("b", ["u1", "u2"])
    await supervisor.drain(5)
    assert work.calls == [("a", ("t1",)), ("b", ("u1",)), ("a", ("t2",)), ("b", ("u2",))]
    assert work.most == 1


async def test_a_job_in_order_finishes_a_session_and_what_is_urgent_goes_first() -> None:
    class Ordered(OneByOne):
        in_order = True

    work = Ordered()
    supervisor = supervised(work)
    work.submit("a", ["t1", "t2"])
    work.submit("b", ["u1"])
    work.submit("c", ["v1"], first=True)
    await supervisor.drain(5)
    assert [session for session, _ in work.calls] == ["a", "c", "a", "b"], "the step under way ends, then the urgent"


async def test_a_job_that_rests_as_one_rests_for_all_sessions() -> None:
    class Remote(OneByOne):
        rests_as_one = True

    counters, work = Counters(), Remote(failures=1)
    supervisor = supervised(work, counters=counters)
    work.submit("a", ["t1"])
    work.submit("b", ["u1"])
    await turns_of_the_loop()
    assert (work.calls, counters.counts["vectors.failures"]) == ([], 1), "b is not tried: it would fail as well"
    assert "embedder" in counters.degraded
    supervisor.retry_now(work)
    await turns_of_the_loop()
    assert work.calls == [("b", ("u1",)), ("a", ("t1",))], "what failed does not hold up the others"
    assert counters.degraded == {}
    await supervisor.aclose(0.0)


async def test_a_failed_step_is_told_with_its_session_until_it_succeeds() -> None:
    work = Work(failures=1)
    supervisor = supervised(work)
    work.submit("a", ["t1"])
    await turns_of_the_loop()
    assert supervisor.failures(work) == {"a": (1, "OSError: disk is full")}
    supervisor.retry_now(work, "a")
    await turns_of_the_loop()
    assert supervisor.failures(work) == {}


async def test_a_step_that_takes_too_long_is_given_up_and_tried_again() -> None:
    work = Work()
    work.patience = 0.01
    supervisor = supervised(work)
    work.gate.clear()
    work.submit("a", ["t1"])
    async with asyncio.timeout(5):
        while not supervisor.failures(work):  # noqa: ASYNC110 - nobody tells when it is
            await asyncio.sleep(0)
    assert supervisor.failures(work)["a"] == (1, "no answer within 0.01 s")
    work.gate.set()
    assert (await supervisor.drain(5)).waiting == ()


async def test_jobs_are_drained_in_their_order_and_again_when_one_gives_another_work() -> None:
    class Second(Work):
        kind = "extract"

        async def before_drain(self) -> None:
            if first.calls and not self.calls:
                self.submit("a", ["read"])

        async def step(self, session: str) -> Step:
            found = await super().step(session)
            if self.calls:
                first.submit("a", ["again"])
            return found

    first, second = Work(), Second()
    supervisor = supervised(first, second)
    first.submit("a", ["t1"])
    report = await supervisor.drain(5)
    assert first.calls == [("a", ("t1",)), ("a", ("again",))]
    assert (report.done, report.waiting) == (3, ())


async def test_a_periodic_job_is_due_again_later_and_keeps_nobody_waiting() -> None:
    class Daily(Job):
        kind, counter, mode = "collect", "collect", "collect"
        steps = 0

        async def step(self, session: str) -> Step:
            self.steps += 1
            return Step(again_in=3_600.0)

    job = Daily()
    supervisor = supervised(job)
    job.wake("")
    await supervisor.drain(5)
    assert job.steps == 1
    job.wake("")
    await supervisor.drain(5)
    assert job.steps == 2, "asked for, it does not wait for its time"
    await supervisor.aclose(5)


async def test_work_may_be_asked_for_later() -> None:
    work = Work()
    supervisor = supervised(work)
    work.turns["a"] = ["t1"]
    work.wake("a", after=3_600.0)
    await turns_of_the_loop()
    assert work.calls == []
    work.wake("a")
    await supervisor.drain(5)
    assert work.calls == [("a", ("t1",))]
    await supervisor.aclose(0.0)


async def test_closing_finishes_what_must_be_finished_and_gives_up_the_rest() -> None:
    work, slow = Work(), OneByOne()
    supervisor = supervised(work, slow)
    slow.gate.clear()
    slow.submit("a", ["t1"])
    work.submit("a", ["t1"])
    report = await supervisor.aclose(5)
    assert (work.calls, slow.calls, report.done) == ([("a", ("t1",))], [], 1)


@pytest.mark.parametrize(("failures", "asked", "pause"), [(1, 0, 2), (2, 0, 4), (9, 0, 300), (1, 7, 7), (1, 900, 300)])
def test_pauses_double_heed_the_provider_and_have_an_end(failures: int, asked: float, pause: float) -> None:
    assert Retry(2.0, 300.0).pause(failures, asked) == pause


def test_pauses_of_a_long_failure_do_not_overflow() -> None:
    assert Retry(0.5, 60.0).pause(10**9) == 60.0
