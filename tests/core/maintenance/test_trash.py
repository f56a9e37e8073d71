"""The trash: a deleted session comes back whole, whatever happens while it is deleted or restored."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from saga_core import Saga, codec
from saga_core.config import Config, load_config
from saga_core.errors import BadInput, NotFound, StoreUnavailable
from saga_core.journal import keys
from saga_core.maintenance.transfer import read_file
from saga_core.stores import Batch
from tests.core.frontend import Frontend, answer, memory_config
from tests.core.maintenance.test_imports_at_once import waiting

TURNS = 5


@pytest.fixture
def config(tmp_path: Path) -> Config:
    plain = {"storage": {"path": str(tmp_path), "state": "sqlite"}, "session": {"default_world": "ersia"}}
    return load_config(plain)


async def story(saga: Saga, turns: int = TURNS, **given: Any) -> tuple[Frontend, str]:
    chat = Frontend(saga, session="tale", owner="k1", **given)
    for number in range(turns):
        turn = await chat.say(f"I open door {number}.", f"Door {number} opens, and rain comes in.", hp_change=-1)
    return chat, turn.session.id


async def turns_of(saga: Saga, session: str) -> list[str]:
    return [turn.reply for turn in (await saga.views.turns(session))[1:]]


async def in_trash(saga: Saga) -> list[tuple[str, int]]:
    return [(each.id, each.turns) for each in await saga.maintenance.trash()]


async def is_whole(saga: Saga) -> None:
    await saga.drain(20)
    assert (await saga.maintenance.verify()).findings == ()


async def test_a_turn_that_ends_during_a_deletion_is_in_the_copy_or_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Saga.open(memory_config()) as saga:
        waiting(saga, monkeypatch)
        outcomes: set[bool] = set()
        for pause in range(0, 60, 6):
            chat, session = await story(saga)
            await chat.begin("Is anybody here?")
            turn = chat.last
            assert turn is not None

            async def ends(turn: Any = turn, pause: int = pause) -> bool:
                for _ in range(pause):
                    await asyncio.sleep(0)
                try:
                    await answer(turn, "Nobody answers.")
                except NotFound:
                    return False
                return True

            _, recorded = await asyncio.gather(saga.maintenance.put_in_trash(session), ends())
            assert await in_trash(saga) == [(session, TURNS + recorded)]
            back = await saga.maintenance.restore(session)
            assert len(await turns_of(saga, back.id)) == TURNS + recorded
            outcomes.add(recorded)
            if pause:
                await saga.sessions.delete(back.id)
            else:
                await saga.sessions.rename(back.id, "first")
        assert outcomes == {True, False}
        await is_whole(saga)


async def test_a_turn_that_is_recorded_during_an_export_leaves_the_file_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Saga.open(memory_config()) as saga:
        for pause in range(0, 40, 4):
            chat, session = await story(saga, 1)
            await saga.timelines.fork(session, None, "evening")
            await chat.swipe("It stays shut.")
            waiting(saga, monkeypatch)

            async def plays(chat: Frontend = chat, pause: int = pause) -> None:
                for _ in range(pause):
                    await asyncio.sleep(0)
                await chat.swipe("It creaks.")

            async def exports(session: str = session) -> bytes:
                return b"".join([line async for line in saga.maintenance.export_session(session)])

            raw, _ = await asyncio.gather(exports(), plays())
            monkeypatch.undo()
            assert len(read_file(raw).turns) in (3, 4)
            await saga.sessions.delete(session)


@pytest.mark.parametrize("commits", range(7))
async def test_a_crash_during_a_deletion_leaves_the_session_or_its_copy(config: Config, commits: int) -> None:
    """Whatever commit the power goes off after, the story is in one place, whole, and can be deleted again."""
    async with Saga.open(config) as saga:
        _, session = await story(saga)
        await saga.drain(20)
        told = await turns_of(saga, session)
        kv, left = saga.stores.state, commits
        commit = type(kv).commit

        async def dies(self: Any, batch: Batch, **options: Any) -> None:
            nonlocal left
            if not left:
                raise StoreUnavailable("the power went off")
            left -= 1
            await commit(self, batch, **options)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(type(kv), "commit", dies)
            try:
                await saga.maintenance.put_in_trash(session)
            except StoreUnavailable:
                pass
            else:
                assert left >= 0
    async with Saga.open(config) as saga:
        live = [each.session.id for each in await saga.sessions.list()]
        assert (live, await in_trash(saga)) in (([session], []), ([], [(session, TURNS)]))
        assert not [key for key, _ in await saga.stores.state.scan(("unfinished",))]
        if live:
            assert await turns_of(saga, session) == told
            await saga.maintenance.put_in_trash(session)
        back = await saga.maintenance.restore(session)
        assert await turns_of(saga, back.id) == told
        await saga.maintenance.repair(await saga.maintenance.verify())
        await is_whole(saga)


async def test_a_copy_in_the_trash_is_never_overwritten() -> None:
    """An earlier version could leave a session live beside its copy."""
    async with Saga.open(memory_config()) as saga:
        _, session = await story(saga)
        await saga.maintenance.put_in_trash(session)
        held = await saga.stores.state.scan(("trash",))
        await saga.maintenance.restore(session)
        await saga.stores.state.commit(Batch(dict(held)))
        await saga.sessions.reset(session)
        kept = await saga.maintenance.put_in_trash(session)
        assert kept.id != session
        assert dict(await in_trash(saga)) == {session: TURNS, kept.id: 0}
        assert len(await turns_of(saga, (await saga.maintenance.restore(session)).id)) == TURNS


async def test_a_session_whose_copy_could_not_be_restored_is_not_deleted() -> None:
    async with Saga.open(memory_config()) as saga:
        _, session = await story(saga)
        record = await saga.sessions.get(session)
        await saga.stores.state.commit(Batch({keys.session(session): codec.encode(evolve(record, title="a\nb"))}))
        saga.parts.live.forget(session)
        with pytest.raises(BadInput, match="cannot be kept in the trash"):
            await saga.maintenance.put_in_trash(session)
        assert len(await turns_of(saga, session)) == TURNS and await in_trash(saga) == []
        await saga.drain(20)
        await saga.sessions.delete(session)


async def test_a_removal_that_the_store_cut_off_is_finished_by_the_same_call() -> None:
    async with Saga.open(memory_config()) as saga:
        _, session = await story(saga)
        await saga.drain(20)
        kv, commit, over = saga.stores.state, type(saga.stores.state).commit, False

        async def dies(self: Any, batch: Batch, **options: Any) -> None:
            nonlocal over
            if over:
                raise StoreUnavailable("the disk went away")
            over = keys.session(session) in batch.deletes
            await commit(self, batch, **options)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(type(kv), "commit", dies)
            with pytest.raises(StoreUnavailable):
                await saga.sessions.delete(session)
        assert await saga.sessions.list() == []
        await saga.sessions.delete(session)
        assert not [key for key, raw in await kv.scan(()) if session in key or session.encode() in raw]
        with pytest.raises(NotFound):
            await saga.sessions.delete(session)


async def test_of_restorations_at_once_one_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Saga.open(memory_config()) as saga:
        _, session = await story(saga)
        await saga.maintenance.put_in_trash(session)
        waiting(saga, monkeypatch)
        found = await asyncio.gather(*(saga.maintenance.restore(session) for _ in range(3)), return_exceptions=True)
        assert sorted(type(each).__name__ for each in found) == ["NotFound", "NotFound", "Session"]
        assert len(await turns_of(saga, session)) == TURNS and len(await saga.sessions.list()) == 1
        assert await in_trash(saga) == [] and await saga.stores.state.scan(("trash",)) == []
        await is_whole(saga)


@pytest.mark.parametrize("pause", range(0, 40, 2))
async def test_a_session_is_restored_or_discarded_and_never_both(pause: int, monkeypatch: pytest.MonkeyPatch) -> None:
    async with Saga.open(memory_config()) as saga:
        _, session = await story(saga, 1)
        await saga.maintenance.put_in_trash(session)
        waiting(saga, monkeypatch)

        async def discards() -> None:
            for _ in range(pause):
                await asyncio.sleep(0)
            await saga.maintenance.discard(session)

        restored, discarded = await asyncio.gather(
            saga.maintenance.restore(session), discards(), return_exceptions=True
        )
        assert [type(each) for each in (restored, discarded)].count(NotFound) == 1, (restored, discarded)
        live = [each.session.id for each in await saga.sessions.list()]
        assert live == ([] if isinstance(restored, NotFound) else [session])
        assert await saga.stores.state.scan(("trash",)) == []


async def test_emptying_the_trash_leaves_a_copy_that_is_being_written(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Saga.open(memory_config()) as saga:
        _, session = await story(saga)
        waiting(saga, monkeypatch)

        async def empties() -> None:
            for _ in range(100):
                await saga.maintenance.empty_trash()

        await asyncio.gather(saga.maintenance.put_in_trash(session), empties())
        assert await in_trash(saga) == [(session, TURNS)]
        assert len(await turns_of(saga, (await saga.maintenance.restore(session)).id)) == TURNS
