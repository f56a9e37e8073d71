"""Verifying: whatever is spoilt in a store or in the journal is found, named, and made anew where that can be."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from attrs import evolve

from saga_backends.memory import MemoryCache, MemoryGraph, MemoryVector
from saga_core import Saga, codec
from saga_core.capabilities import Capability
from saga_core.errors import NotFound, StoreUnavailable
from saga_core.jobs.background import STUCK
from saga_core.journal import Journal, PendingWork, keys
from saga_core.maintenance import verify
from saga_core.maintenance.verify import Verification
from saga_core.model.tree import Session, Turn
from saga_core.model.world_state import WorldState
from saga_core.recall.episodes import episodes_scope, lore_scope
from saga_core.stores.graph import Mutation, Node
from saga_core.stores.state_kv import Batch
from saga_core.stores.vector import ScopeSpec, VectorItem
from saga_core.views.projector import scope_of
from tests.core.frontend import Frontend, memory_config

pytestmark = pytest.mark.usefixtures("sees_meaning")
"""Earlier turns have vectors, which are changed with the rest."""


@pytest.fixture
async def saga() -> AsyncIterator[Saga]:
    """Two sessions, one Korean with a branch and checkpoints, one English."""
    async with Saga.open(memory_config(checkpoint_every=2)) as opened:
        korean = Frontend(opened, session="나의 모험")
        await korean.say("숲으로 간다.", "길이 열린다. 바람이 분다.", location="어둠의 숲", hp_change=-10)
        await korean.say("더 간다.", "크룩이 나타난다. 웃고 있다.", mood="tense")
        await korean.swipe("아무도 없다. 나뭇잎만 구른다.", hp_change=-5)
        await korean.say("멈춘다.", "조용하다. 물소리가 들린다.")
        english = Frontend(opened, greeting="Rain.", session="mill")
        await english.say("I go in.", "The old mill is dark. It smells of rope.", location="the old mill")
        await opened.drain(10)
        yield opened


def told(verdict: Verification) -> list[str]:
    return [str(finding) for finding in verdict.findings]


async def session_of(saga: Saga) -> Session:
    return await saga.sessions.get("나의 모험")


@pytest.mark.parametrize("page", [1, 2, 1_000])
async def test_what_was_played_is_equal(saga: Saga, page: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many pages are read."""
    monkeypatch.setattr(verify, "_PAGE", page)
    verdict = await saga.maintenance.verify()
    assert told(verdict) == []
    assert (verdict.sessions, verdict.equal, verdict.waiting) == (2, True, ())
    assert (await saga.maintenance.verify("mill")).sessions == 1
    with pytest.raises(NotFound):
        await saga.maintenance.verify("nobody")


Harm = Callable[[Saga, Session], Awaitable[None]]


async def _put(saga: Saga, key: tuple[str, ...], value: bytes) -> None:
    await saga.stores.state.commit(Batch({key: value}))


async def _drop(saga: Saga, *gone: tuple[str, ...]) -> None:
    await saga.stores.state.commit(Batch(deletes=frozenset(gone)))


async def a_node_too_many(saga: Saga, session: Session) -> None:
    scope = await _slot(saga, session)
    await saga.stores.graph.apply(scope, Mutation(put_nodes=(Node("ghost", "Character", {"name": "유령"}),)))


async def a_mark_of_nothing(saga: Saga, session: Session) -> None:
    await saga.stores.graph.apply(await _slot(saga, session), Mutation(watermark="tnothing"))


async def another_value(saga: Saga, session: Session) -> None:
    await _put(saga, keys.view(await _slot(saga, session), "player_hp"), b"999")


async def other_pages(saga: Saga, session: Session) -> None:
    assert saga.stores.cache is not None
    scope = await _slot(saga, session)
    pages = await saga.stores.cache.read(scope)
    assert pages is not None
    await saga.stores.cache.write(scope, evolve(pages, files={**pages.files, "state.md": "# nothing\n"}))


async def a_vector_less(saga: Saga, session: Session) -> None:
    scope = episodes_scope(session.id)
    (item, *_) = await saga.stores.vector.scan(scope)
    await saga.stores.vector.delete(scope, ids=[item.id])


async def another_vector(saga: Saga, session: Session) -> None:
    scope = episodes_scope(session.id)
    (item, *_) = await saga.stores.vector.scan(scope)
    await saga.stores.vector.upsert(scope, [evolve(item, vector=[-each for each in item.vector])])


async def other_lore(saga: Saga, session: Session) -> None:
    scope = lore_scope(session.digest)
    (item, *_) = await saga.stores.vector.scan(scope)
    await saga.stores.vector.delete(scope, ids=[item.id])


async def a_wrong_checkpoint(saga: Saga, session: Session) -> None:
    ((key, raw), *_) = await saga.stores.state.scan(("state", session.id))
    state = codec.decode(raw, WorldState)
    await _put(saga, key, codec.encode(evolve(state, values={**state.values, "rain": "purple"})))


async def a_torn_checkpoint(saga: Saga, session: Session) -> None:
    ((key, raw), *_) = await saga.stores.state.scan(("state", session.id))
    await _put(saga, key, raw[: len(raw) // 2])


async def an_entry_less(saga: Saga, session: Session) -> None:
    rows = [key for key, raw in await saga.stores.state.scan(("reply",)) if json.loads(raw) == session.id]
    await _drop(saga, rows[0])


async def its_name_less(saga: Saga, session: Session) -> None:
    await _drop(saga, keys.label(session.owner, session.label))


async def a_job_of_nothing(saga: Saga, session: Session) -> None:
    await _put(saga, keys.job(session.id, "tgone"), codec.encode(PendingWork(True, failed=True)))


async def views_of_nobody(saga: Saga, session: Session) -> None:
    embedder = saga.stores.embedder
    spec = ScopeSpec(embedder.id, embedder.dimension)
    await saga.stores.vector.create("episodes:sgone", spec)
    await saga.stores.vector.upsert("episodes:sgone", [VectorItem("t1", [0.5] * embedder.dimension, "", {})])
    await saga.stores.graph.apply("sgone.0", Mutation(put_nodes=(Node("a", "Character", {}),), watermark="t1"))
    await _put(saga, keys.view("sgone.0", "player_hp"), b"1")
    await _put(saga, keys.view_mark("sgone.0"), b'"t1"')


async def records_of_nobody(saga: Saga, session: Session) -> None:
    await _put(saga, keys.turn("sgone", "t1"), codec.encode(Turn("t1", "sgone", None, 0, 0.0)))
    await _put(saga, keys.said("", "k", "t1"), codec.dumps("sgone"))


async def _slot(saga: Saga, session: Session) -> str:
    for slot in range(saga.parts.projector.slots):
        scope = scope_of(session.id, slot)
        if await saga.stores.graph.watermark(scope) is not None:
            return scope
    raise AssertionError("no slot shows the session")


@pytest.mark.parametrize(
    ("harm", "expected"),
    [
        (a_node_too_many, "graph: .*nodes are not the"),
        (a_mark_of_nothing, "graph: .*shows tnothing, which is no turn"),
        (another_value, "view: .*999"),
        (other_pages, "pages: .*state.md differ"),
        (a_vector_less, "vectors: .*episodes, the journal gives"),
        (another_vector, "vectors: .*differs from the journal"),
        (other_lore, "vectors: lore:.*are not those of the world"),
        (a_wrong_checkpoint, "journal: 1 stored states are not the fold"),
        (a_torn_checkpoint, "journal: 1 stored states are not the fold"),
        (an_entry_less, "journal: 1 entries by which its replies are found"),
        (its_name_less, "journal: its name '나의 모험' does not lead to it"),
        (a_job_of_nothing, "journal: 1 jobs are of turns that are gone"),
        (views_of_nobody, "sgone.0: belongs to no session"),
        (records_of_nobody, "records of sgone, which is no session"),
    ],
)
async def test_harm_is_found_and_mended(saga: Saga, harm: Harm, expected: str) -> None:
    session = await session_of(saga)
    before = await saga.describe(session.id)
    await harm(saga, session)
    found = await saga.maintenance.verify()
    assert not found.equal
    assert any(re.search(expected, each) for each in told(found)), told(found)
    assert all(finding.mend is not None for finding in found.findings)
    assert told(await saga.maintenance.repair(found)) == []
    assert await saga.describe(session.id) == before


async def a_turn_less(saga: Saga, session: Session) -> None:
    await _drop(saga, keys.turn(session.id, session.head))


async def a_place_less(saga: Saga, session: Session) -> None:
    await _drop(saga, keys.node(session.id, session.head))


async def a_torn_turn(saga: Saga, session: Session) -> None:
    key = keys.turn(session.id, session.head)
    raw = (await saga.stores.state.get([key]))[key]
    await _put(saga, key, raw[:40])


async def another_head(saga: Saga, session: Session) -> None:
    await _put(saga, keys.session(session.id), codec.encode(evolve(session, head="tnothing")))


@pytest.mark.parametrize(
    ("harm", "expected"),
    [
        (a_turn_less, "1 turns are gone"),
        (a_place_less, "is no turn of it"),
        (a_torn_turn, "a stored Turn cannot be read"),
        (another_head, "its head tnothing is no turn of it"),
    ],
)
async def test_what_the_journal_lost_is_told_and_not_made_up(saga: Saga, harm: Harm, expected: str) -> None:
    session = await session_of(saga)
    await harm(saga, session)
    found = await saga.maintenance.verify()
    lost = [finding for finding in found.findings if finding.mend is None]
    assert any(expected in finding.what and "restore a backup" in finding.what for finding in lost), told(found)
    assert {finding.session for finding in lost} == {session.id}, "the other session is whole"
    left = await saga.maintenance.repair(found)
    assert not left.equal


@pytest.mark.parametrize("change", ["reset", "delete", "correct"])
async def test_a_session_that_changes_after_it_was_listed_is_not_called_damaged(
    saga: Saga, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    sessions = Journal.sessions
    given = ("move", {"place": "the river"}) if change == "correct" else ()

    async def listed(self: Journal) -> list[Session]:
        found = await sessions(self)
        if any(each.label == "mill" for each in found) and not changed:
            changed.append(change)
            await getattr(saga.memory if given else saga.sessions, change)("mill", *given)
        return list(found)

    changed: list[str] = []
    monkeypatch.setattr(Journal, "sessions", listed)
    verdict = await saga.maintenance.verify()
    assert changed and told(verdict) == []


async def test_work_that_waits_is_done_first(saga: Saga) -> None:
    session = await session_of(saga)
    await a_vector_less(saga, session)
    turns = list((await saga.parts.journal.tree(session.id)).nodes)
    await saga.parts.journal.add_jobs(session.id, turns)
    assert told(await saga.maintenance.verify()) == []


class TestJobs:
    async def test_none(self, saga: Saga) -> None:
        assert await saga.background.jobs() == []
        assert await saga.background.retry() == 0

    async def test_what_fails_is_stuck_in_the_end_and_done_when_it_can_be(
        self, saga: Saga, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        session = await session_of(saga)

        async def broken(*_: object) -> None:
            raise StoreUnavailable("the graph is away")

        with monkeypatch.context() as patch:
            patch.setattr(saga.stores.graph, "apply", broken)
            turn = await Frontend(saga, session="나의 모험").say("또 간다.", "비가 온다. 길이 미끄럽다.")
            for tries in range(1, STUCK + 1):
                await saga.drain(5)
                (job,) = await saga.background.jobs("나의 모험")
                assert (job.turn, job.kind, job.tries >= tries) == (turn.id, "views", True)
                assert "the graph is away" in job.reason
                await saga.background.retry()
            await saga.drain(5)
            (job,) = await saga.background.jobs()
            assert job.stuck and job.plain()["reason"] == "the graph is away"
        assert await saga.background.retry("mill") == 0
        assert await saga.background.retry(turn=turn.id) == 1
        await saga.drain(5)
        assert await saga.background.jobs() == []
        assert told(await saga.maintenance.verify(session.id)) == []

    async def test_extraction_that_was_given_up(self, saga: Saga) -> None:
        session = await session_of(saga)
        wanted = PendingWork(True, 4, "ExtractionFailed: it answers nonsense", failed=True)
        await saga.parts.journal.change_jobs(session.id, (), {session.head: wanted})
        (job,) = await saga.background.jobs()
        assert (job.kind, job.stuck, job.tries) == ("extract", True, 4)
        assert await saga.background.retry(session.id) == 1
        (job,) = await saga.background.jobs()
        assert (job.stuck, job.tries, job.reason) == (False, 0, "")


class LosingGraph(MemoryGraph):
    loses = False

    async def apply(self, *args: Any, **named: Any) -> None:
        if not self.loses:
            await super().apply(*args, **named)


class LosingCache(MemoryCache):
    loses = False

    async def write(self, *args: Any) -> None:
        if not self.loses:
            await super().write(*args)


def kept_stores() -> dict[str, Any]:
    """Stores in memory that say that they keep their data."""
    stores: dict[str, Any] = {"graph": LosingGraph(), "vector": MemoryVector(), "cache": LosingCache()}
    for store in stores.values():
        store._info = evolve(store.info, capabilities=frozenset({Capability.RESIDENT, Capability.DURABLE}))
    return stores


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("graph", r"^graph: .*\.0: shows (\w+), not \w+ that was rendered$"),
        ("cache", r"^pages: .*\.0: shows (\w+), not \w+ that was rendered$"),
    ],
)
async def test_views_that_are_behind_or_gone_are_found_and_mended(kind: str, expected: str) -> None:
    stores = kept_stores()
    async with Saga.open(memory_config(), stores=stores) as saga:
        mill = Frontend(saga, greeting="Rain.", session="mill")
        await mill.say("I go in.", "The old mill is dark.", location="the old mill")
        await saga.drain(10)
        stores[kind].loses = True
        await mill.say("I go on.", "A stair.", location="the stair")
        await saga.drain(10)
        stores[kind].loses = False
        verdict = await saga.maintenance.verify()
        assert re.match(expected, told(verdict)[0]) and len(told(verdict)) == 1
        assert (await saga.maintenance.repair(verdict)).equal
        for scope in await stores[kind].scopes():
            await stores[kind].drop(scope)
        verdict = await saga.maintenance.verify()
        assert "shows no turn, not " in told(verdict)[0]
        assert (await saga.maintenance.repair(verdict)).equal


async def test_of_two_timelines_the_one_that_is_played_on_must_be_shown() -> None:
    stores = kept_stores()
    async with Saga.open(memory_config(), stores=stores) as saga:
        chat = Frontend(saga, session="mill")
        for way in ("stair", "river"):
            for number in range(5):
                turn = await chat.say(f"I follow the {way} {number}.", f"The {way} is long. The sign says {number}.")
            await saga.drain(10)
            chat.history = chat.history[:2]
        other, head = (scope_of(turn.session.id, slot) for slot in range(2))
        await stores["graph"].drop(other)
        assert told(await saga.maintenance.verify()) == [], "it is rendered when it is played on"
        await stores["graph"].drop(head)
        verdict = await saga.maintenance.verify()
        assert told(verdict)[-1] == f"graph: {head}: shows no turn, not {turn.id} that was rendered"
        assert (await saga.maintenance.repair(verdict)).equal


@pytest.mark.parametrize("keeps", [True, False])
async def test_vectors_that_a_store_in_memory_has_not_yet_made_again_are_no_finding(keeps: bool) -> None:
    stores: dict[str, Any] = kept_stores() if keeps else {"vector": MemoryVector()}
    async with Saga.open(memory_config(), stores=stores) as saga:
        mill = Frontend(saga, greeting="Rain.", session="mill")
        session = (await mill.say("I go in.", "The old mill is dark. It smells of rope.")).session.id
        await saga.drain(10)
        await stores["vector"].drop(episodes_scope(session))
        found = told(await saga.maintenance.verify())
        assert [each for each in found if "0 episodes, the journal gives " in each] == found
        assert len(found) == keeps, "it is as after a start"


async def test_vectors_of_lore_that_are_gone_are_found_and_mended() -> None:
    stores = kept_stores()
    async with Saga.open(memory_config(default_world="harrow"), stores=stores) as saga:
        await Frontend(saga, session="shore").say("I wait.", "The ferry comes.")
        await saga.drain(10)
        scope = lore_scope((await saga.sessions.get("shore")).digest)
        assert await stores["vector"].count(scope)
        await stores["vector"].drop(scope)
        verdict = await saga.maintenance.verify()
        (missing,) = told(verdict)
        assert missing.startswith(f"vectors: {scope}: is missing, with the vectors of the world's ")
        assert (await saga.maintenance.repair(verdict)).equal
        assert await stores["vector"].count(scope)
