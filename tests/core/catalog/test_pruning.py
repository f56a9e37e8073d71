"""Pruning, resetting and deleting: nothing is left, and whenever it is interrupted, what is left is whole."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from functools import partial
from typing import Any

import pytest

from saga_core import Saga
from saga_core.errors import BadInput, NotFound, StoreUnavailable
from saga_core.journal import keys
from saga_core.model.deltas import HpChanged
from saga_core.model.tree import Delta, Source, TurnKind
from saga_core.play.pending_turn import PendingTurn
from saga_core.sessions import live_sessions as sealing
from saga_core.stores.state_kv import Batch, Key
from saga_core.transcript.identities import identity, identity_key, prefix_keys
from tests.core.catalog.test_timelines import heads, scene, walk
from tests.core.frontend import Frontend, memory_config

pytestmark = pytest.mark.usefixtures("sees_meaning")
"""Earlier turns have vectors, which are changed with the rest."""


@pytest.fixture
async def saga() -> AsyncIterator[Saga]:
    async with Saga.open(memory_config(checkpoint_every=2)) as opened:
        yield opened


def residue(rows: Mapping[Key, bytes], gone: set[str]) -> list[Key]:
    """The entries of a store that name one of some turns, in their key or their value."""
    return [key for key, raw in rows.items() if gone & set(key) or any(turn.encode() in raw for turn in gone)]


async def everything(saga: Saga) -> dict[Key, bytes]:
    return dict(await saga.stores.state.scan((), limit=100_000))


async def no_trace(saga: Saga, session: str, gone: set[str], replies: list[str]) -> None:
    """Nothing of the turns is left anywhere."""
    assert residue(await everything(saga), gone) == []
    for reply in replies:
        assert await saga.parts.journal.replies("", identity_key(reply)) == []
        for prefix in prefix_keys(identity(reply)):
            assert gone.isdisjoint(turn for _, turn in await saga.parts.journal.beginnings("", prefix))
    assert gone.isdisjoint(item.id for item in await saga.stores.vector.scan(f"episodes:{session}"))
    for slot in range(saga.parts.projector.slots):
        assert await saga.stores.graph.watermark(f"{session}.{slot}") not in gone
    live = await saga.parts.live.get(session)
    assert gone.isdisjoint(live.tree.nodes)
    assert not any(turn in live.episodes for turn in gone)
    assert (await saga.drain(10)).waiting == ()
    assert await saga.maintenance.differences(session) == []


class Branches:
    """A session with an active path and another one, far enough apart, so that each has views of its own."""

    def __init__(self, saga: Saga) -> None:
        self.saga = saga
        self.chat = Frontend(saga, session="나의 모험")
        self.bad: list[PendingTurn] = []
        self.good: list[PendingTurn] = []

    async def play(self, length: int = 9) -> None:
        (self.trunk,) = await walk(self.chat, 1, "길", hp_change=-1)
        self.bad = await walk(self.chat, length, "늪", hp_change=-2)
        await self.saga.drain(10)
        del self.chat.history[2:]
        self.good = await walk(self.chat, min(length, 6), "산", mood="calm")
        assert (await self.saga.drain(10)).waiting == ()
        self.session = self.trunk.session.id

    @property
    def bad_ids(self) -> set[str]:
        return {turn.id for turn in self.bad}

    @property
    def bad_replies(self) -> list[str]:
        return [turn.replies[0].text for turn in self.bad]


@pytest.fixture
async def branches(saga: Saga, monkeypatch: pytest.MonkeyPatch) -> Branches:
    monkeypatch.setattr(sealing, "SIZE", 4)
    found = Branches(saga)
    await found.play()
    return found


class TestPruning:
    async def test_nothing_is_left(self, saga: Saga, branches: Branches) -> None:
        assert residue(await everything(saga), branches.bad_ids), "or the test below could not fail"
        shown = {await saga.stores.graph.watermark(f"{branches.session}.{slot}") for slot in range(4)}
        assert {branches.bad[-1].id, branches.good[-1].id} <= shown
        pruned = await saga.timelines.prune("나의 모험", branches.bad[0].id)
        assert (pruned.turns, pruned.forgotten, pruned.shortened) == (9, (), ())
        await no_trace(saga, branches.session, branches.bad_ids, branches.bad_replies)
        assert [turn.id for turn in await saga.views.turns("나의 모험")][1:] == [
            branches.trunk.id,
            *(turn.id for turn in branches.good),
        ]
        for turn in branches.bad:
            with pytest.raises(NotFound):
                await saga.views.state("나의 모험", turn.id)
        with pytest.raises(NotFound):
            await saga.views.explain("나의 모험", branches.bad[0].id)
        assert saga.counters.counts["turns.pruned"] == 9
        after = await branches.chat.say("내려간다.", "산을 내려간다. 강이 반짝인다.")
        assert after.parent.id == branches.good[-1].id

    async def test_the_stored_index_does_not_keep_its_words(self, saga: Saga, branches: Branches) -> None:
        parts = [raw for _, raw in await saga.parts.journal.segments(branches.session)]
        assert len(parts) == 4
        assert sum("늪".encode() in raw for raw in parts) == 3, "two of its own, and one that it shares"
        await saga.timelines.prune("나의 모험", branches.bad[0].id)
        left = [raw for _, raw in await saga.parts.journal.segments(branches.session)]
        assert not any("늪".encode() in raw for raw in left)
        assert left == parts[-len(left) :] != []
        found = {hit["turn"] for hit in await saga.views.search("산의 길", session_id="나의 모험", k=20)}
        assert found == {branches.trunk.id, *(turn.id for turn in branches.good)}

    async def test_a_damaged_part_of_the_index_goes_too(self, saga: Saga, branches: Branches) -> None:
        rows = await saga.stores.state.scan(("terms", branches.session))
        await saga.stores.state.commit(Batch({rows[-1][0]: b"damaged"}))
        await saga.timelines.prune("나의 모험", branches.bad[-1].id)
        left = await saga.stores.state.scan(("terms", branches.session))
        assert rows[-1][0] not in dict(left)
        assert dict(left).keys() < dict(rows).keys()

    async def test_a_part_of_a_path(self, saga: Saga, branches: Branches) -> None:
        assert (await saga.timelines.prune("나의 모험", branches.bad[4].id)).turns == 5
        gone = {turn.id for turn in branches.bad[4:]}
        await no_trace(saga, branches.session, gone, branches.bad_replies[4:])
        assert len(await saga.views.turns("나의 모험", head=branches.bad[3].id)) == 6

    async def test_a_history_that_still_shows_it_is_adopted(self, saga: Saga, branches: Branches) -> None:
        told = Frontend(saga, session="나의 모험", history=branches.chat.history[:2])
        for number in range(9):
            words, reply = scene(number, "늪")
            told.history += [{"role": "user", "content": words}, {"role": "assistant", "content": reply}]
        await saga.timelines.prune("나의 모험", branches.bad[0].id)
        turn = await told.begin("빠져나온다.")
        assert (turn.parent.kind, turn.parent.depth) == (TurnKind.ADOPTED, 10)
        assert turn.parent.id not in branches.bad_ids

    async def test_what_must_not_go(self, saga: Saga, branches: Branches) -> None:
        with pytest.raises(BadInput, match=r"^turn: .* is the session's root; reset the session"):
            await saga.timelines.prune("나의 모험", branches.trunk.parent.id)
        for turn in (branches.trunk, branches.good[0], branches.good[-1]):
            with pytest.raises(BadInput, match=r"^turn: .* active head .*; play a turn on another path first"):
                await saga.timelines.prune("나의 모험", turn.id)
        with pytest.raises(NotFound, match="has no turn 'nothing'"):
            await saga.timelines.prune("나의 모험", "nothing")
        assert len((await saga.views.tree("나의 모험"))["nodes"]) == 17
        told = Frontend(saga, session="나의 모험", history=branches.chat.history[:2])
        await told.say(*scene(1, "강"))
        assert (await saga.timelines.prune("나의 모험", branches.good[0].id)).turns == 6

    async def test_named_timelines(self, saga: Saga, branches: Branches) -> None:
        await saga.timelines.fork("나의 모험", branches.bad[1].id, "안")
        await saga.timelines.fork("나의 모험", branches.trunk.id, "밖")
        live = await saga.parts.live.get(branches.session)
        entered = Frontend(saga, session="나의 모험@밖", history=branches.chat.history[:2])
        for number in range(9):
            words, reply = scene(number, "늪")
            entered.history += [{"role": "user", "content": words}, {"role": "assistant", "content": reply}]
        deeper = await entered.say("가라앉는다.", "늪이 발목을 삼킨다. 손을 뻗는다.")
        assert live.timelines["밖"].head == deeper.id
        await branches.chat.say("오른다.", "봉우리가 보인다. 바람이 차다.")
        pruned = await saga.timelines.prune("나의 모험", branches.bad[0].id)
        assert (pruned.turns, pruned.forgotten, pruned.shortened) == (10, ("안",), ("밖",))
        assert await heads(saga) == {"밖": branches.trunk.id}
        await no_trace(saga, branches.session, {*branches.bad_ids, deeper.id}, branches.bad_replies)

    async def test_first_words_are_known_as_long_as_a_turn_answers_them(self, saga: Saga) -> None:
        chat = Frontend(saga)
        one = await chat.say("간다.", "길이 열린다. 해가 뜬다. 새가 운다.")
        two = await chat.swipe("길이 닫힌다. 해가 진다. 새가 떠난다.")
        del chat.history[-2:]
        three = await chat.say("멈춘다.", "발이 멈춘다. 해가 머문다. 새가 본다.")
        assert one.session.id == two.session.id
        assert three.session.id != one.session.id, "another beginning, another session"
        session = one.session.id
        history = [{"role": "user", "content": "간다."}, {"role": "assistant", "content": two.replies[0].text}]
        last = Frontend(saga, history=history)
        await last.say("또 간다.", "또 길이다. 끝이 없다. 해가 높다.")
        openings = await saga.stores.state.scan(("open",))
        await saga.timelines.prune(session, one.id)
        assert [key for key, _ in await saga.stores.state.scan(("open",))] == [key for key, _ in openings]
        assert residue(await everything(saga), {one.id}) == []
        assert (await Frontend(saga).begin("간다.")).session.id == session
        chat.session = session
        chat.history = []
        other = await chat.say("눕는다.", "하늘이 높다. 구름이 흐른다. 잠이 온다.")
        assert other.session.id == session
        await saga.timelines.prune(session, two.id)
        assert residue(await everything(saga), {one.id, two.id}) == []
        assert (await Frontend(saga).begin("간다.")).session.id != session

    async def test_first_words_of_unknown_origin_go_with_the_last_first_turn(self, saga: Saga) -> None:
        chat = Frontend(saga, session="room")
        one = await chat.say("간다.", "길이 열린다. 해가 뜬다. 새가 운다.")
        ((key, _),) = await saga.stores.state.scan(("open",))
        await saga.stores.state.commit(Batch({key: b""}))
        chat.history = []
        two = await chat.say("멈춘다.", "발이 멈춘다. 해가 머문다. 새가 본다.")
        await saga.timelines.prune("room", one.id)
        assert len(await saga.stores.state.scan(("open",))) == 2
        assert two.session.id == one.session.id

    async def test_amendments_and_checkpoints_go_too(self, saga: Saga, branches: Branches) -> None:
        live = await saga.parts.live.get(branches.session)
        player = (await live.state(live.head)).player
        for number, turn in enumerate((branches.bad[2], branches.good[2])):
            node = live.tree.get(turn.id)
            await saga.parts.journal.amend(branches.session, str(number), Delta((HpChanged(player, -5),)), node)
        assert await saga.stores.state.scan(("state", branches.session)) != []
        await saga.timelines.prune("나의 모험", branches.bad[0].id)
        assert residue(await everything(saga), branches.bad_ids) == []
        kept = await saga.stores.state.scan(("amend", branches.session))
        assert [key[2] for key, _ in kept] == [branches.good[2].id]


class TestLeftovers:
    """What stands beside the root, and what a crash left of turns that are gone."""

    @pytest.mark.parametrize("way", ["reset", "delete"])
    async def test_they_go_with_the_session(self, saga: Saga, way: str) -> None:
        (turn,) = await walk(Frontend(saga), 1)
        await saga.drain(10)
        session, root = turn.session.id, turn.parent.id
        live = await saga.parts.live.get(session)
        edit = Delta((HpChanged((await live.state(root)).player, -5),), Source.EDIT)
        await saga.parts.journal.amend(session, "1", edit, live.tree.get(root))
        await saga.parts.journal.add_jobs(session, ["t-gone"])
        await saga.stores.state.commit(Batch({("open", "-", "old words", session): b""}))
        await getattr(saga.sessions, way)(session)
        assert residue(await everything(saga), {root, turn.id, "t-gone", "old words"}) == []
        if way == "reset":
            assert (await saga.describe(session))["hp"] == 100

    async def test_a_turn_whose_record_is_lost_can_be_pruned(self, saga: Saga, branches: Branches) -> None:
        lost = branches.bad[2].id
        await saga.stores.state.commit(Batch(deletes=frozenset({keys.turn(branches.session, lost)})))
        assert (await saga.timelines.prune("나의 모험", branches.bad[0].id)).turns == 9
        assert lost not in (await saga.parts.live.get(branches.session)).tree
        assert await saga.stores.state.get([keys.node(branches.session, lost)]) == {}


class Failing:
    """A store whose n-th commit, counted from now, fails."""

    def __init__(self, saga: Saga, at: int) -> None:
        self.store = saga.stores.state
        self.commit = self.store.commit
        self.left = at

    async def __call__(self, *args: Any, **given: Any) -> None:
        if not self.left:
            raise StoreUnavailable("the disk is gone")
        self.left -= 1
        await self.commit(*args, **given)


async def reopened(saga: Saga) -> Saga:
    """What a process finds that starts on the same data: nothing in memory, the waiting work queued."""
    for session in await saga.parts.journal.sessions():
        await saga.parts.supervisor.give_up(saga.background.views, session.id)
        saga.parts.live.forget(session.id)
    for session_id, turn, _ in await saga.parts.journal.jobs():
        saga.background.views.submit(session_id, [turn])
    assert (await saga.drain(10)).waiting == ()
    return saga


async def interrupted(
    saga: Saga, change: Callable[[], Awaitable[Any]], monkeypatch: pytest.MonkeyPatch, at: int
) -> bool:
    """Run ``change`` with a journal whose commit number ``at`` fails; whether it did."""
    failing = Failing(saga, at)
    with monkeypatch.context() as patch:
        patch.setattr(saga.stores.state, "commit", failing)
        try:
            await change()
        except StoreUnavailable:
            return True
        return False


class TestInterrupted:
    """The journal fails at each commit in turn: what is left loads, is whole, and the same call again finishes."""

    async def test_pruning(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("saga_core.journal.removal._TURNS", 2)
        monkeypatch.setattr(sealing, "SIZE", 4)
        at, failed = 0, True
        while failed:
            async with Saga.open(memory_config(checkpoint_every=2)) as saga:
                branches = Branches(saga)
                await branches.play(3)
                await saga.timelines.fork("나의 모험", branches.bad[2].id, "안")
                prune = partial(saga.timelines.prune, "나의 모험", branches.bad[0].id)
                failed = await interrupted(saga, prune, monkeypatch, at)
                assert (await saga.drain(10)).waiting == ()
                assert await saga.maintenance.differences(branches.session) == [], "also without a restart"
                await reopened(saga)
                assert await saga.maintenance.differences(branches.session) == []
                tree = (await saga.parts.live.get(branches.session)).tree
                for node in tree.nodes.values():
                    assert node.parent is None or node.parent in tree
                assert set(await saga.parts.journal.timelines(branches.session)) <= {"안"}
                for timeline in (await saga.parts.journal.timelines(branches.session)).values():
                    assert timeline.head in tree
                assert (await saga.describe("나의 모험"))["mood"] == "calm"
                if failed:
                    assert branches.bad[0].id in tree, "the last to go"
                    await prune()
                await no_trace(saga, branches.session, branches.bad_ids, branches.bad_replies)
                assert await heads(saga) == {}
            at += 1
        assert at > 4

    @pytest.mark.parametrize("way", ["reset", "delete"])
    async def test_resetting_and_deleting(self, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("saga_core.journal.removal._TURNS", 5)
        monkeypatch.setattr(sealing, "SIZE", 4)
        at, failed = 0, True
        while failed:
            async with Saga.open(memory_config(checkpoint_every=2)) as saga:
                branches = Branches(saga)
                await branches.play(3)
                await saga.timelines.fork("나의 모험", branches.bad[2].id, "안")
                old = {node["id"] for node in (await saga.views.tree("나의 모험"))["nodes"]}
                change = partial(getattr(saga.sessions, way), branches.session)
                failed = await interrupted(saga, change, monkeypatch, at)
                await reopened(saga)
                left = await saga.sessions.list()
                if failed and not left:
                    assert way == "delete", "it goes in one commit, and whatever failed behind it is done again"
                    await change()
                elif failed:
                    (summary,) = left
                    assert summary.session.label == "나의 모험"
                    assert (await saga.describe("나의 모험"))["turn"] >= 0
                    after = await branches.chat.begin("나아간다.")
                    assert after.session.id == branches.session
                    after.replies[0].feed("길은 아직 남아 있다. 발밑이 단단하다.")
                    await after.commit()
                    old |= {node["id"] for node in (await saga.views.tree("나의 모험"))["nodes"]}
                    await change()
                if way == "delete":
                    assert await saga.sessions.list() == []
                    assert {key[0] for key in await everything(saga)} <= {"meta", "world"}
                    assert await saga.stores.vector.count(f"episodes:{branches.session}") == 0
                else:
                    assert residue(await everything(saga), old) == []
                    assert len((await saga.views.tree("나의 모험"))["nodes"]) == 1
                    assert (await saga.describe("나의 모험"))["hp"] == 100
                    (summary,) = await saga.sessions.list()
                    assert (summary.turns, summary.session.head) == (0, summary.session.root)
                    assert await heads(saga) == {}
                    assert keys.label("", "나의 모험") in await everything(saga)
            at += 1
        assert at > 4
