"""A session that is loaded from stored parts of its index remembers as the one that was never unloaded."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from saga_core import Saga
from saga_core.config import Config, load_config
from saga_core.model.deltas import EventTriggered
from saga_core.model.tree import Delta, ReportStatus, Source
from saga_core.sessions import live_sessions as sealing
from saga_core.sessions.live_sessions import LiveSession, amend
from saga_core.stores.state_kv import Batch
from tests.core.frontend import Frontend

SCENES = "숲 광장 우물 대장간 여관 탑 다리 항구".split()
Damage = Callable[[Saga, LiveSession], Awaitable[None]]


@pytest.fixture(autouse=True)
def short_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sealing, "SIZE", 4)


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return load_config({"storage": {"path": str(tmp_path / "data")}, "session": {"default_world": "ersia"}})


async def play(saga: Saga, turns: int) -> Frontend:
    chat = Frontend(saga)
    for number in range(turns):
        scene = SCENES[number % len(SCENES)]
        await chat.say(f"{scene}에서 {number}번째 열쇠를 찾는다.", f"{scene}에 {number}번째 열쇠가 있다. 조용하다.")
    report = await saga.drain(20)
    assert report.waiting == ()
    return chat


async def found(saga: Saga, session: str) -> list[list[dict[str, object]]]:
    return [
        await saga.views.search(query, session_id=session, k=20) for query in (*SCENES, "열쇠", "3번째 우물의 열쇠")
    ]


async def stored(saga: Saga, session: str) -> list[str]:
    return [key[2] for key, _ in await saga.stores.state.scan(("terms", session))]


async def test_what_was_sealed_is_found_again(config: Config) -> None:
    async with Saga.open(config) as saga:
        chat = await play(saga, 11)
        assert chat.last is not None
        session = chat.last.session.id
        before = await found(saga, session)
        assert len(await stored(saga, session)) == 2
    async with Saga.open(config) as saga:
        assert await found(saga, session) == before
        live = await saga.parts.live.get(session)
        assert len(live.unsealed) == 3 and not live.stale, "eight of eleven came packed"
        chat.saga = saga
        await chat.say("탑에 오른다.", "탑에서 종이 울린다. 새가 난다.")
        await saga.drain(20)
        assert len(await stored(saga, session)) == 3
        rung = await saga.views.search("종", session_id=session)
        assert any(each["text"].endswith("새가 난다.") for each in rung)


async def _amended(saga: Saga, live: LiveSession) -> None:
    rung = Delta((EventTriggered("e0", "종이 울린 일"),), Source.EDIT, ReportStatus.OK)
    await amend(live, live.tree.path(live.head)[2].id, rung, "0")
    assert await saga.views.search("울린", session_id=live.session.id)


async def _cut(saga: Saga, live: LiveSession) -> None:
    (key, raw), *_ = await saga.stores.state.scan(("terms", live.session.id))
    await saga.stores.state.commit(Batch({key: raw[:-1]}))


async def _of_another_time(saga: Saga, live: LiveSession) -> None:
    (key, _), (_, other) = await saga.stores.state.scan(("terms", live.session.id))
    await saga.stores.state.commit(Batch({key: other}))


@pytest.mark.parametrize("damage", [_amended, _cut, _of_another_time])
async def test_a_part_that_is_no_longer_right_is_made_anew(config: Config, damage: Damage) -> None:
    async with Saga.open(config) as saga:
        chat = await play(saga, 9)
        assert chat.last is not None
        session = chat.last.session.id
        await damage(saga, await saga.parts.live.get(session))
        before = await found(saga, session)
    async with Saga.open(config) as saga:
        assert await found(saga, session) == before
        live = await saga.parts.live.get(session)
        assert len(live.stale) == 1 and len(live.unsealed) == 5
        chat.saga = saga
        await chat.say("탑에 오른다.", "탑에서 종이 울린다. 새가 난다.")
        await saga.drain(20)
        assert not live.stale and len(live.unsealed) == 2
        before = await found(saga, session)
    async with Saga.open(config) as saga:
        assert await found(saga, session) == before
        assert not (await saga.parts.live.get(session)).stale


async def test_nothing_is_left_of_a_deleted_session(config: Config) -> None:
    async with Saga.open(config) as saga:
        chat = await play(saga, 5)
        assert chat.last is not None
        session = chat.last.session.id
        assert await stored(saga, session)
        await saga.sessions.delete(session)
        assert not await stored(saga, session)
