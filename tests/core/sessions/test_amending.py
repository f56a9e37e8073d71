"""Amending: a later delta is recorded, and what was known from its turn on is known anew."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import Any

import pytest
from attrs import evolve

from saga_core.errors import NotFound, StoreError
from saga_core.journal import keys, put_rows, rows
from saga_core.model import Delta, ReportStatus, Review, Source
from saga_core.model.deltas import HpChanged, Introduced, Met
from saga_core.model.entities import Kind
from saga_core.sessions import LiveSession, amend
from tests.core.sessions.stage import Stage, tell


@pytest.fixture
def stage() -> Stage:
    return Stage(checkpoint_every=2)


@pytest.fixture
async def live(stage: Stage) -> LiveSession:
    found = await stage.begin()
    player = (await found.state(found.head)).player
    for number in range(1, 6):
        await tell(found, f"t{number}", HpChanged(player, -1), episode=f"{number}번째 일")
    return found


def edit(live: LiveSession, amount: int) -> Delta:
    return Delta((HpChanged(_player(live), amount),), Source.EDIT, ReportStatus.OK)


def _player(live: LiveSession) -> str:
    return live.prepared.opening.player


async def test_it_is_in_the_journal_and_holds_at_once(stage: Stage, live: LiveSession) -> None:
    await amend(live, "t2", edit(live, -10), "0")
    await amend(live, "t2", edit(live, -20), "1", ("2", edit(live, -30)))
    assert [delta.events[0].amount for delta in live.amendments["t2"]] == [-10, -20, -30]  # type: ignore[union-attr]
    assert await stage.journal.amendments(live.session.id) == live.amendments
    state = await live.state("t5")
    stage.restart()
    assert await (await stage.live.get(live.session.id)).state("t5") == state
    assert state.entities[state.player].attributes["hp"] == 35


async def test_states_that_were_stored_below_go_and_those_elsewhere_stay(stage: Stage, live: LiveSession) -> None:
    await tell(live, "u3", parent="t2")
    await tell(live, "u4")
    for turn in ("t2", "t4", "u4"):
        await stage.journal.put_checkpoint(live.session.id, await live.state(turn))
    await amend(live, "t3", edit(live, -10), "0")
    kept = {key[2] for key, _ in await stage.journal.kv.scan(("state", live.session.id))}
    assert kept == {"t2", "u4"}


async def test_the_turns_episode_and_witnesses_are_told_as_they_are_now(live: LiveSession) -> None:
    ergen = next(each.id for each in live.prepared.opening.entities.values() if each.name == "Ergen")
    await amend(live, "t2", Delta((Met(ergen),), Source.EDIT, ReportStatus.OK), "0")
    node = live.tree.get("t2")
    assert node.episode != "2번째 일" and node.present is not None and ergen in node.present
    assert node == await live.journal.node(live.session.id, "t2")
    assert live.tree.get("t3").episode == "3번째 일"


async def test_a_turn_without_an_episode_gets_none(live: LiveSession) -> None:
    await tell(live, "t6")
    await amend(live, "t6", edit(live, -1), "0")
    assert live.tree.get("t6").episode == "" and live.tree.get("t6").status is ReportStatus.OK


async def test_a_review_stands_beside_what_it_changed(stage: Stage, live: LiveSession) -> None:
    review = Review("rules", "t2", 7.0, 0, 2)
    await amend(live, "t2", edit(live, -1), "0", review=review)
    assert live.reviews == {"t2": (review,)} == await stage.journal.reviews(live.session.id)


async def test_when_it_fails_nothing_changed(stage: Stage, live: LiveSession, monkeypatch: pytest.MonkeyPatch) -> None:
    before, node = await live.state("t5"), live.tree.get("t2")

    async def full(*_: object, **__: object) -> None:
        raise StoreError("disk full")

    with monkeypatch.context() as broken:
        broken.setattr(stage.journal.kv, "commit", full)
        with pytest.raises(StoreError):
            await amend(live, "t2", edit(live, -1), "0", review=Review("rules", "t2", 7.0, 0, 2))
    assert await live.state("t5") is before and live.tree.get("t2") is node
    assert live.amendments == {} and live.reviews == {}
    with pytest.raises(NotFound):
        await amend(live, "t9", edit(live, -1), "0")


async def test_more_nodes_than_a_commit_holds_are_written(stage: Stage, live: LiveSession) -> None:
    below = [evolve(live.tree.get("t3"), id=f"u{number:04}", episode="다락방") for number in range(5_000)]
    stale = [f"u{number:04}" for number in range(4_000)]
    await put_rows(stage.journal.kv, {keys.checkpoint(live.session.id, turn): b"{}" for turn in stale})
    await stage.journal.amend(live.session.id, "0", edit(live, -1), live.tree.get("t2"), stale, below)
    assert not await stage.journal.kv.scan(("state", live.session.id))
    assert await stage.journal.amendments(live.session.id) == {"t2": (edit(live, -1),)}
    told = [raw for _, raw in [row async for row in rows(stage.journal.kv, ("node", live.session.id))]]
    assert sum("다락방" in raw.decode() for raw in told) == 5_000
    assert {each.id for each in below} <= {turn for _, turn, _ in await stage.journal.jobs(live.session.id)}
    assert await stage.journal.unfinished() == []


async def test_when_it_is_cancelled_memory_has_what_the_journal_has(
    stage: Stage, live: LiveSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit, writes, go_on = stage.journal.kv.commit, asyncio.Event(), asyncio.Event()

    async def slow(*given: Any, **named: Any) -> None:
        writes.set()
        await go_on.wait()
        await commit(*given, **named)

    monkeypatch.setattr(stage.journal.kv, "commit", slow)
    amending = asyncio.create_task(amend(live, "t2", edit(live, -10), "0"))
    await writes.wait()
    amending.cancel()
    await asyncio.sleep(0)
    assert not amending.done(), "the caller holds the session until it is written"
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await amending
    assert live.amendments == await stage.journal.amendments(live.session.id) != {}


async def test_the_root_may_be_amended(live: LiveSession) -> None:
    mira = Introduced("cmira", Kind.CHARACTER, "미라")
    await amend(live, live.tree.root, Delta((mira,), Source.EDIT, ReportStatus.OK), "0")
    assert (await live.state("t5")).name("cmira") == "미라"


async def test_others_go_on_while_the_states_below_a_change_are_made_anew(
    live: LiveSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("saga_core.sessions.live_sessions._STEP", 0.0)
    await amend(live, "t1", edit(live, -10), "0")
    meanwhile = asyncio.create_task(_steps())
    await live.state("t5")
    meanwhile.cancel()
    assert await meanwhile >= 4, "one for each turn below"


async def _steps() -> int:
    """How often the event loop got control until this is cancelled."""
    for number in count():
        try:
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            return number
    raise AssertionError
