"""Vectors are made behind everything else: how far it is shows, nothing waits for them, and nothing is left out."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path

import pytest
from attrs import define, field

from saga_backends.embedder.ngram import NgramEmbedder
from saga_core import Saga
from saga_core.config import Config, load_config
from saga_core.errors import StoreUnavailable, UpstreamError
from saga_core.jobs import vectors
from saga_core.jobs.vectors import FAILED, MODE, UNSTORED
from saga_core.ports import Mode
from saga_core.recall.episodes import episodes_scope
from saga_core.views.vector_views import alike
from tests.core.frontend import Frontend, memory_config

pytestmark = pytest.mark.usefixtures("sees_meaning")


@define
class Gate:
    """What stands between the engine and the embedder: passages wait until it is open, or fail while it is broken."""

    open: asyncio.Event = field(factory=asyncio.Event)
    asked: asyncio.Event = field(factory=asyncio.Event)
    stopped: asyncio.Event = field(factory=asyncio.Event)
    broken: bool = False
    turns: int = 0
    """Turns that were embedded."""
    most: int = 0
    """Turns that are embedded although it is not open."""


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    found, whole = Gate(), NgramEmbedder.embed
    found.open.set()

    async def embed(self: NgramEmbedder, texts: Sequence[str], mode: Mode) -> list[array[float]]:
        if mode == "passage":
            found.asked.set()
            turns = sum("번 문" in text for text in texts)
            if found.turns + turns > found.most:
                found.stopped.set()
                await found.open.wait()
            if found.broken:
                raise UpstreamError("127.0.0.1 does not answer", passing=True)
            found.turns += turns
        return await whole(self, texts, mode)

    monkeypatch.setattr(NgramEmbedder, "embed", embed)
    monkeypatch.setattr(vectors, "_AT_ONCE", 2)
    monkeypatch.setattr(vectors, "_MANY", 4)
    yield found


@pytest.fixture
async def saga(gate: Gate) -> AsyncIterator[Saga]:
    async with Saga.open(memory_config()) as opened:
        yield opened


def config(data: Path, dimension: int = 64) -> Config:
    return load_config({"storage": {"path": str(data)}, "recall": {"options": {"dimension": dimension}}}, environ={})


async def played(saga: Saga, turns: int, session: str = "모험") -> Frontend:
    frontend = Frontend(saga, session=session)
    for number in range(turns):
        await frontend.say(f"{number}번 문을 연다.", f"{number}번 문 뒤에는 늙은 대장장이가 있었다.")
    return frontend


async def session_of(saga: Saga) -> str:
    (session,) = await saga.parts.journal.sessions()
    return session.id


async def test_how_far_a_changed_embedder_is_shows_and_play_goes_on(tmp_path: Path, gate: Gate) -> None:
    async with Saga.open(config(tmp_path)) as saga:
        frontend = await played(saga, 7)
        await saga.drain(10)
    gate.open.clear()
    gate.asked.clear()
    async with Saga.open(config(tmp_path, 128)) as saga:
        await gate.asked.wait()  # at once, without a turn
        status = await saga.status()
        assert "rebuilding for ngram-1/128: 0 of 7 turns have vectors" in status["degraded"][MODE]
        assert status["vectors"] == {"dimension": 128, "semantic": True, "made": 0, "left": 7, "sessions": 1}
        assert [each["kind"] for each in status["work"]["waiting"]] == ["embed"]
        again = Frontend(saga, session="모험", history=frontend.history[-2:])
        turn = await again.say("내가 3번 문 뒤에서 누구를 봤지?", "대장장이였다.")
        assert "3번 문 뒤에는" in turn.context.text, "words find it meanwhile"
        gate.open.set()
        assert (await saga.drain(10)).waiting == ()
        status = await saga.status()
        assert MODE not in status["degraded"] and status["vectors"]["left"] == 0
        assert await saga.stores.vector.count(episodes_scope(await session_of(saga))) == 8
        assert await saga.maintenance.differences(await session_of(saga)) == []


async def test_nothing_but_vectors_waits_for_an_embedder_that_is_down(saga: Saga, gate: Gate) -> None:
    gate.broken = True
    await played(saga, 2)
    report = await saga.drain(10)
    assert {each.kind for each in report.waiting} == {"embed"} and "does not answer" in report.waiting[0].reason
    assert not saga.background.views.depth() and "found by their words" in saga.counters.degraded[FAILED]
    assert not [key async for key in _jobs(saga)], "the journal has no job left"
    gate.broken = False
    assert (await saga.drain(10)).waiting == ()
    assert FAILED not in saga.counters.degraded
    assert await saga.maintenance.differences(await session_of(saga)) == []


async def test_a_vector_store_that_fails_is_not_taken_for_the_embedder(
    saga: Saga, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def gone(*_: object) -> None:
        raise StoreUnavailable("the disk is gone")

    with monkeypatch.context() as patch:
        patch.setattr(saga.stores.vector, "upsert", gone)
        await played(saga, 2)
        await saga.drain(10)
        assert "the disk is gone; earlier turns are found by their words" in saga.counters.degraded[UNSTORED]
        assert FAILED not in saga.counters.degraded
    gate.broken = True
    await saga.drain(10)
    assert FAILED in saga.counters.degraded and UNSTORED not in saga.counters.degraded
    gate.broken = False
    assert (await saga.drain(10)).waiting == ()
    assert not {FAILED, UNSTORED} & saga.counters.degraded.keys()


async def _jobs(saga: Saga) -> AsyncIterator[str]:
    for session, _, wanted in await saga.parts.journal.jobs():
        if wanted is None:
            yield session


async def test_a_session_that_fails_does_not_hold_up_the_others(
    saga: Saga, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    await played(saga, 1, "하나")
    await saga.drain(10)
    first = await session_of(saga)
    put = saga.parts.projector.put_episodes

    async def failing(session: str, *rest: object) -> bool:
        if session == first:
            raise OSError("the disk is full")
        return await put(session, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(type(saga.parts.projector), "put_episodes", lambda _self, *given: failing(*given))
    saga.background.vectors.submit(first, [(await saga.sessions.get(first)).head])
    await played(saga, 1, "둘")
    await saga.drain(10)
    (second,) = [each.id for each in await saga.parts.journal.sessions() if each.id != first]
    await saga.drain(10)
    assert await saga.stores.vector.count(episodes_scope(second)) == 1
    assert [each.session for each in saga.background.vectors.waiting({})] == [first]


async def test_a_restart_goes_on_where_it_was(tmp_path: Path, gate: Gate) -> None:
    async with Saga.open(config(tmp_path)) as saga:
        await played(saga, 6)
        await saga.drain(10)
        scope = episodes_scope(await session_of(saga))
    gate.most = gate.turns + 4
    gate.open.clear()
    gate.stopped.clear()
    async with Saga.open(config(tmp_path, 128)) as saga:
        await gate.stopped.wait()
        await saga.aclose(drain=0.0)
    gate.open.set()
    there = gate.turns
    async with Saga.open(config(tmp_path, 128)) as saga:
        await saga.drain(10)
        assert await saga.stores.vector.count(scope) == 6
        assert gate.turns - there == 2, "not all again"
        assert await saga.maintenance.differences(await session_of(saga)) == []


async def test_what_is_deleted_meanwhile_gets_no_vector(saga: Saga, gate: Gate) -> None:
    frontend = await played(saga, 2)
    await saga.drain(10)
    gate.open.clear()
    gate.asked.clear()
    await frontend.say("셋째 문을 연다.", "벽이 있었다.")
    await gate.asked.wait()
    session = await session_of(saga)
    await saga.sessions.delete(session)
    gate.open.set()
    assert (await saga.drain(10)).waiting == ()
    assert await saga.stores.vector.describe(episodes_scope(session)) is None


async def test_what_is_pruned_meanwhile_gets_no_vector(saga: Saga, gate: Gate) -> None:
    frontend = await played(saga, 2)
    kept = (await saga.sessions.get(await session_of(saga))).head
    await saga.drain(10)
    gate.open.clear()
    gate.asked.clear()
    turn = await frontend.say("셋째 문을 연다.", "벽이 있었다.")
    await gate.asked.wait()
    live = await saga.parts.live.get(await session_of(saga))
    swipe = Frontend(saga, session="모험", history=frontend.history[:-2])
    await swipe.say("넷째 문을 연다.", "복도가 있었다.")  # the head leaves the branch that is pruned
    await saga.timelines.prune(live.session.id, turn.id)
    gate.open.set()
    assert (await saga.drain(10)).waiting == ()
    ids = {item.id for item in await saga.stores.vector.scan(episodes_scope(live.session.id))}
    assert turn.id not in ids and kept in ids and len(ids) == 3


async def test_spelling_is_never_filled(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NgramEmbedder, "semantic", property(lambda _: False))
    async with Saga.open(memory_config()) as saga:
        await played(saga, 2)
        await saga.background.vectors.resume()
        await saga.drain(10)
        assert (await saga.status())["vectors"]["made"] == 0
        assert await saga.stores.vector.describe(episodes_scope(await session_of(saga))) is None


def test_what_a_model_gives_twice_is_alike() -> None:
    one = array("f", [0.6, 0.8, 0.0])
    assert alike(one, array("f", [0.6, 0.8, 0.0])) and alike(one, array("f", [0.6005, 0.7995, 0.0]))
    assert not alike(one, array("f", [0.8, 0.6, 0.0])) and not alike(one, array("f", [0.6, 0.8]))
    zero = array("f", [0.0, 0.0, 0.0])
    assert alike(zero, zero) and not alike(zero, one)
