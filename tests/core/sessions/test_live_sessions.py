"""The sessions in memory: each loaded once, the least recently used let go."""

from __future__ import annotations

import asyncio

import pytest
from attrs import evolve

from saga_core.errors import NotFound
from saga_core.journal import Journal, uproot
from saga_core.model import Timeline
from tests.core.sessions.stage import WORLD, Stage, tell


async def test_a_session_is_loaded_once_however_many_ask_at_once() -> None:
    stage = Stage()
    session = (await stage.begin()).session.id
    stage.restart()
    one, other = await asyncio.gather(stage.live.get(session), stage.live.get(session))
    assert one is other is await stage.live.get(session) is stage.live.peek(session)
    assert stage.counters.counts["sessions.loaded"] == 2, "once when it began, once now"
    assert len(stage.live) == 1


async def test_a_loaded_session_is_as_the_journal_has_it() -> None:
    stage = Stage()
    live = await stage.begin()
    await tell(live, "t1", episode="숲으로 갔다")
    tower = Timeline("탑", "t1", "t1")
    await stage.journal.change_timelines(live.session.id, [tower])
    stage.restart()
    again = await stage.live.get(live.session.id)
    assert again is not live and again.session == live.session
    assert again.tree.nodes == live.tree.nodes and again.timelines == {"탑": tower}
    assert "t1" in again.episodes and again.world == WORLD


async def test_an_unknown_session_is_told_and_may_begin_later() -> None:
    stage = Stage()
    for _ in range(2):
        with pytest.raises(NotFound):
            await stage.live.get("s9")
    assert stage.live.peek("s9") is None and len(stage.live) == 0


async def test_a_session_that_is_deleted_while_it_is_read_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage()
    session = (await stage.begin()).session.id
    stage.restart()
    read, go_on, timelines = asyncio.Event(), asyncio.Event(), Journal.timelines

    async def slow(self: Journal, session_id: str) -> dict[str, Timeline]:
        found = await timelines(self, session_id)
        read.set()
        await go_on.wait()
        return found

    monkeypatch.setattr(Journal, "timelines", slow)
    asked = asyncio.create_task(stage.live.get(session))
    await read.wait()
    await uproot(stage.journal.kv, session)
    stage.live.forget(session)
    go_on.set()
    with pytest.raises(NotFound):
        await asked
    assert stage.live.peek(session) is None


async def test_one_that_gives_up_waiting_does_not_take_the_load_from_the_others() -> None:
    stage = Stage()
    session = (await stage.begin()).session.id
    stage.restart()
    one, other = (asyncio.create_task(stage.live.get(session)) for _ in range(2))
    await asyncio.sleep(0)
    one.cancel()
    assert (await other).session.id == session
    with pytest.raises(asyncio.CancelledError):
        await one


async def test_the_least_recently_used_goes_beyond_the_limit() -> None:
    stage = Stage(limit=2)
    first, second = [(await stage.begin()).session.id for _ in range(2)]
    await stage.live.get(first)
    third = (await stage.begin()).session.id
    assert [stage.live.peek(each) is not None for each in (first, second, third)] == [True, False, True]
    assert stage.live.evicted == {second}
    await stage.live.get(second)
    assert stage.live.evicted == {first}, "who is back is among them no longer"


async def test_a_session_with_work_under_way_stays() -> None:
    stage = Stage(limit=1)
    first = (await stage.begin()).session.id
    stage.busy.add(first)
    second = (await stage.begin()).session.id
    assert stage.live.peek(first) is not None and stage.live.peek(second) is not None
    stage.busy.clear()
    third = (await stage.begin()).session.id
    assert [stage.live.peek(each) is not None for each in (first, second, third)] == [False, False, True]


async def test_a_forgotten_session_is_read_again() -> None:
    stage = Stage()
    live = await stage.begin()
    stage.live.forget(live.session.id)
    stage.live.forget("s9")
    assert stage.live.forgotten == 2 and stage.live.peek(live.session.id) is None
    assert await stage.live.get(live.session.id) is not live
    assert stage.live.evicted == set(), "it was not let go for want of room"


class _TakenAgain:
    """The lease goes to another server and comes back while somebody waits to hear whether what is here is current."""

    def __init__(self, stage: Stage) -> None:
        self.stage, self.asked = stage, 0

    def holds(self, session: str) -> bool:
        return True

    async def is_current(self, session: str) -> bool:
        self.asked += 1
        if self.asked == 1:
            self.stage.live.forget(session)
            await tell_elsewhere(self.stage, session)
        return True

    async def loading(self, session: str) -> int:
        return 1

    def is_loaded(self, session: str, found: int) -> bool:
        return True


async def tell_elsewhere(stage: Stage, session: str) -> None:
    """A turn that another server writes."""
    await tell(await Stage(journal=stage.journal).live.get(session), "t1")


async def test_what_was_let_go_while_it_was_asked_whether_it_is_current_is_read_again() -> None:
    stage = Stage()
    session = (await stage.begin()).session.id
    stage.live.ownership = _TakenAgain(stage)
    assert "t1" in (await stage.live.get(session)).tree.nodes


async def test_sessions_of_one_world_share_what_is_prepared_of_it() -> None:
    stage = Stage()
    one, other = await stage.begin(), await stage.begin()
    elsewhere = await stage.begin(world=evolve(WORLD, title="Vale"))
    assert one.prepared is other.prepared is not elsewhere.prepared


async def test_worlds_that_nobody_plays_in_are_let_go() -> None:
    stage = Stage(limit=1)
    first = await stage.begin()
    for number in range(20):
        await stage.begin(world=evolve(WORLD, title=f"World {number}"))
    assert (await stage.live.get(first.session.id)).prepared is not first.prepared


async def test_closing_stops_loads_and_lets_all_go() -> None:
    stage = Stage()
    session = (await stage.begin()).session.id
    other = (await stage.begin()).session.id
    stage.live.forget(other)
    loading = asyncio.create_task(stage.live.get(other))
    await asyncio.sleep(0)
    await stage.live.aclose()
    with pytest.raises(asyncio.CancelledError):
        await loading
    assert len(stage.live) == 0 and stage.live.peek(session) is None


async def test_the_tree_is_the_sessions_own() -> None:
    stage = Stage()
    live = await stage.begin()
    assert await stage.live.tree(live.session.id) is live.tree
