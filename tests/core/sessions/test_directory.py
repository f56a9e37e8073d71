"""The directory of sessions: beginning one, and finding one by id or name."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from saga_backends.memory import MemoryState
from saga_core.errors import Conflict, NotFound
from saga_core.journal import Journal
from saga_core.model import Timeline
from saga_core.stores import Key
from saga_core.world import World
from tests.core.sessions.stage import WORLD, Stage


class Slow(MemoryState):
    """Lets others go on before it answers."""

    async def get(self, keys: Sequence[Key]) -> dict[Key, bytes]:
        await asyncio.sleep(0)
        return await super().get(keys)


async def no_world() -> World:
    raise AssertionError("no world is needed")


async def the_world() -> World:
    return WORLD


async def test_a_session_that_begins_is_recorded_counted_and_rendered() -> None:
    stage = Stage()
    live = await stage.begin("모험", "mina")
    session = await stage.journal.session(live.session.id)
    assert (session.label, session.owner, session.world, session.digest) == ("모험", "mina", "ersia", WORLD.digest)
    assert session.root == session.head and session.created == stage.clock.now()
    (root,) = await stage.journal.turns(session.id, [session.root])
    assert root.reply == "어서 오세요."
    assert stage.rendered == [(session.id, (session.root,))] and stage.counters.counts["sessions.created"] == 1
    with pytest.raises(Conflict):
        await stage.begin("모험", "mina")


async def test_a_name_finds_its_session_and_begins_one_where_there_is_none() -> None:
    stage = Stage()
    session, timeline = await stage.directory.named("모험", "mina", the_world)
    assert (session.label, timeline) == ("모험", "")
    assert await stage.directory.named("모험", "mina", no_world) == (session, "")
    assert await stage.directory.named(session.id, "mina", no_world) == (session, "")
    other, _ = await stage.directory.named("모험", "jun", the_world)
    assert other.id != session.id


async def test_the_id_of_anothers_session_is_a_name_like_any_other() -> None:
    for form in ("{}", "s01m8gzn6ma7zr0dyyjjz", "{}@evening", "nobody@evening"):
        stage = Stage()
        live = await stage.begin(owner="mina")
        name = form.format(live.session.id)
        assert not await stage.directory.holds(name, "jun")
        session, timeline = await stage.directory.named(name, "jun", the_world)
        assert (session.label, session.owner, timeline) == (name, "jun", "") and session.id != live.session.id
        assert await stage.directory.named(live.session.id, "mina", no_world) == (live.session, "")


async def test_a_timeline_stands_behind_the_last_at_sign() -> None:
    stage = Stage()
    live = await stage.begin("a@b", "mina")
    live.timelines["탑"] = Timeline("탑", live.head, live.head)
    assert await stage.directory.named("a@b@탑", "mina", no_world) == (live.session, "탑")
    assert await stage.directory.named("a@b @ 탑", "mina", no_world) == (live.session, "탑")
    with pytest.raises(NotFound, match=r"session 'a@b' has no timeline '강'; it has: 탑\. Fork it first"):
        await stage.directory.named("a@b@강", "mina", no_world)
    live.timelines.clear()
    with pytest.raises(NotFound, match="it has: none"):
        await stage.directory.named("a@b@강", "mina", no_world)


@pytest.mark.parametrize("name", ["me@home", "@home", "me@"])
async def test_a_name_with_an_at_sign_is_a_name_where_no_session_stands_before_it(name: str) -> None:
    session, timeline = await Stage().directory.named(name, "", the_world)
    assert (session.label, timeline) == (name, "")


async def test_two_that_begin_one_name_at_once_get_one_session() -> None:
    stage = Stage(Journal(Slow()))
    found = await asyncio.gather(*(stage.directory.named("모험", "mina", the_world) for _ in range(3)))
    assert len({session.id for session, _ in found}) == 1
    assert len(await stage.journal.sessions()) == 1


async def test_a_label_finds_a_session_where_it_is_the_only_one() -> None:
    stage = Stage()
    one = await stage.begin("모험", "mina")
    assert await stage.directory.find(one.session.id) == await stage.directory.find("모험") == one.session
    two = await stage.begin("모험", "jun")
    with pytest.raises(NotFound, match="there is no session 'nobody'"):
        await stage.directory.find("nobody")
    with pytest.raises(NotFound, match="2 sessions are named '모험'; give an id: ") as raised:
        await stage.directory.find("모험")
    assert one.session.id in str(raised.value) and two.session.id in str(raised.value)


@pytest.mark.parametrize("owner", ["mina", None])
async def test_a_name_that_no_session_can_have_is_none(owner: str | None) -> None:
    stage = Stage()
    with pytest.raises(NotFound, match=r"there is no session '모{80}'"):
        await stage.directory.find("모" * 4_000, owner)


async def test_a_session_is_loaded_once_nobody_changes_it_as_a_whole() -> None:
    stage = Stage()
    live = await stage.begin("모험")
    async with stage.locks.holding(live.session.id), stage.locks.closing(live.session.id):
        waiting = asyncio.create_task(stage.directory.load("모험"))
        for _ in range(10):
            await asyncio.sleep(0)
        assert not waiting.done()
    assert await waiting is live
