"""Requests that come while a session is reset, deleted, pruned or rebuilt: nothing is corrupted, the story goes on."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest
from attrs import define, field

from saga_core import Saga
from saga_core.errors import BadInput, NotFound
from saga_core.model.tree import TurnKind
from saga_core.stores.state_kv import Batch
from tests.core.catalog.test_timelines import scene, walk
from tests.core.frontend import Frontend, answer, memory_config

pytestmark = pytest.mark.usefixtures("sees_meaning")
"""Earlier turns have vectors, which are changed with the rest."""


@pytest.fixture
async def saga() -> AsyncIterator[Saga]:
    async with Saga.open(memory_config(checkpoint_every=2)) as opened:
        yield opened


@pytest.fixture
async def chat(saga: Saga) -> Frontend:
    """A session with a path of three turns, and one that was left behind the first."""
    found = Frontend(saga, session="나의 모험")
    await walk(found, 3, "늪")
    del found.history[2:]
    await walk(found, 2, "산")
    assert (await saga.drain(10)).waiting == ()
    return found


async def turn_of(saga: Saga, words: str) -> str:
    nodes = (await saga.views.tree("나의 모험"))["nodes"]
    return str(next(node["id"] for node in nodes if node["user"] == words))


async def keys_of(saga: Saga, session: str) -> list[Any]:
    """What the journal has of a session."""
    rows = await saga.stores.state.scan((), limit=100_000)
    return [key for key, raw in rows if session in key or session.encode() in raw]


@define
class Door:
    """Stops the journal at its next removal of a turn until it is opened."""

    saga: Saga
    reached: asyncio.Event = field(factory=asyncio.Event)
    opened: asyncio.Event = field(factory=asyncio.Event)

    def __attrs_post_init__(self) -> None:
        store: Any = self.saga.stores.state
        commit = store.commit

        async def halting(batch: Batch, **given: Any) -> None:
            if any(key[0] == "turn" for key in batch.deletes):
                self.reached.set()
                await self.opened.wait()
            await commit(batch, **given)

        store.commit = halting


async def meanwhile(change: Awaitable[Any], door: Door, request: Callable[[], Awaitable[Any]]) -> tuple[Any, Any]:
    """Start ``request`` when ``change`` has removed half, then let both end."""
    changing = asyncio.ensure_future(change)
    await door.reached.wait()
    asking = asyncio.ensure_future(request())
    for _ in range(50):
        await asyncio.sleep(0)
    door.opened.set()
    return await asyncio.gather(changing, asking, return_exceptions=True)


class TestRequestsMeanwhile:
    async def test_a_named_session_that_is_deleted_is_begun_anew(self, saga: Saga, chat: Frontend) -> None:
        session = (await saga.sessions.get("나의 모험")).id
        _, begun = await meanwhile(saga.sessions.delete(session), Door(saga), lambda: chat.begin("간다."))
        assert begun.session.id != session
        assert begun.session.label == "나의 모험"
        await answer(begun, "새 길이 열린다. 모든 것이 처음이다.")
        assert begun.parent.kind is TurnKind.ADOPTED, "what the history shows is adopted"
        assert await keys_of(saga, session) == []

    async def test_a_chat_whose_session_is_deleted_is_adopted(self, saga: Saga, chat: Frontend) -> None:
        session, chat.session = (await saga.sessions.get("나의 모험")).id, None
        _, begun = await meanwhile(saga.sessions.delete(session), Door(saga), lambda: chat.begin("간다."))
        assert begun.session.id != session
        assert begun.parent.depth == 3
        assert await keys_of(saga, session) == []

    async def test_a_session_that_is_reset_begins_anew(self, saga: Saga, chat: Frontend) -> None:
        chat.history = []
        reset, begun = await meanwhile(saga.sessions.reset("나의 모험"), Door(saga), lambda: chat.begin("간다."))
        assert (begun.session.id, begun.parent.id) == (reset.id, reset.root)
        await answer(begun, "새 길이 열린다. 모든 것이 처음이다.")
        assert len((await saga.views.tree("나의 모험"))["nodes"]) == 2

    async def test_a_pruned_path_is_adopted_again(self, saga: Saga, chat: Frontend) -> None:
        gone = await turn_of(saga, scene(0, "늪")[0])
        chat.history = []
        await chat.say(*scene(7, "들"))
        for number in range(3):
            words, reply = scene(number, "늪")
            chat.history[2 * number :] = [
                {"role": "user", "content": words},
                {"role": "assistant", "content": reply},
            ]
        _, begun = await meanwhile(saga.timelines.prune("나의 모험", gone), Door(saga), lambda: chat.begin("간다."))
        assert (begun.parent.kind, begun.parent.depth) == (TurnKind.ADOPTED, 3)
        assert gone not in {turn.id for turn in await saga.views.turns("나의 모험", head=begun.parent.id)}
        await answer(begun, "늪이 마른다. 바닥에 길이 있다.")
        await saga.drain(10)
        assert await saga.maintenance.differences("나의 모험") == []

    async def test_a_turn_on_another_path_is_recorded_when_pruning_is_over(self, saga: Saga, chat: Frontend) -> None:
        gone = await turn_of(saga, scene(1, "늪")[0])
        begun = await chat.begin("오른다.")
        recorded: list[int] = []

        async def record() -> None:
            await answer(begun, "봉우리에 선다. 구름이 발아래 있다.")
            recorded.append(len((await saga.views.tree("나의 모험"))["nodes"]))

        await meanwhile(saga.timelines.prune("나의 모험", gone), Door(saga), record)
        assert recorded == [1 + 5 - 2 + 1]
        assert (await saga.sessions.get("나의 모험")).head == begun.id
        assert (await saga.drain(10)).waiting == ()
        assert await saga.maintenance.differences("나의 모험") == []

    async def test_reading_waits_until_what_it_reads_is_whole(self, saga: Saga, chat: Frontend) -> None:
        gone = await turn_of(saga, scene(1, "늪")[0])
        _, tree = await meanwhile(
            saga.timelines.prune("나의 모험", gone), Door(saga), lambda: saga.views.tree("나의 모험")
        )
        assert len(tree["nodes"]) == 4

    async def test_two_changes_at_once_are_made_one_after_the_other(self, saga: Saga, chat: Frontend) -> None:
        gone = await turn_of(saga, scene(1, "늪")[0])
        pruned, again = await meanwhile(
            saga.timelines.prune("나의 모험", gone), Door(saga), lambda: saga.timelines.prune("나의 모험", gone)
        )
        assert pruned.turns == 2
        assert isinstance(again, NotFound)


class TestTurnsBegunBefore:
    """The reply was being written when its session changed: it is refused, and nothing of it is stored."""

    async def test_deleted(self, saga: Saga, chat: Frontend) -> None:
        begun = await chat.begin("간다.")
        begun.replies[0].feed("길이 사라진다.")
        await saga.sessions.delete("나의 모험")
        with pytest.raises(NotFound, match="no session"):
            await begun.commit()
        assert await keys_of(saga, begun.session.id) == []

    async def test_reset(self, saga: Saga, chat: Frontend) -> None:
        begun = await chat.begin("간다.")
        begun.replies[0].feed("길이 사라진다.")
        await saga.sessions.reset("나의 모험")
        with pytest.raises(NotFound, match="has no turn"):
            await begun.commit()
        assert len((await saga.views.tree("나의 모험"))["nodes"]) == 1

    async def test_pruned(self, saga: Saga, chat: Frontend) -> None:
        begun = await chat.begin("간다.")
        begun.replies[0].feed("길이 사라진다.")
        gone = begun.parent.id
        del chat.history[2:]
        await chat.say(*scene(5, "들"))
        await saga.timelines.prune("나의 모험", gone)
        with pytest.raises(NotFound, match="has no turn"):
            await begun.commit()
        assert await keys_of(saga, gone) == await keys_of(saga, begun.id) == []


class TestRebuilding:
    async def test_turns_are_recorded_meanwhile_and_shown_afterwards(
        self, saga: Saga, chat: Frontend, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        reached, go_on = asyncio.Event(), asyncio.Event()
        rebuild = saga.parts.projector.rebuild

        async def slow(live: Any) -> None:
            reached.set()
            await go_on.wait()
            await rebuild(live)

        monkeypatch.setattr(type(saga.parts.projector), "rebuild", lambda _, live: slow(live))
        rebuilding = asyncio.ensure_future(saga.maintenance.rebuild("나의 모험"))
        await reached.wait()
        turn = await chat.say(*scene(8, "산"))
        again = await chat.begin("돌아본다.")
        assert again.parent.id == turn.id, "the player waits for no rebuild"
        go_on.set()
        await rebuilding
        assert (await saga.drain(10)).waiting == ()
        assert await saga.maintenance.differences("나의 모험") == []

    async def test_pages_are_rendered_between_two_batches(self, saga: Saga, chat: Frontend) -> None:
        turn = await chat.say(*scene(8, "산"))
        pages, *_ = await asyncio.gather(
            saga.views.regenerate_pages("나의 모험"), saga.maintenance.rebuild("나의 모험"), saga.drain(10)
        )
        assert pages.watermark == turn.id
        await saga.drain(10)
        assert await saga.maintenance.differences("나의 모험") == []


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.deep) for seed in range(2, 40))])
async def test_everything_at_once(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Players, swipes, prunes, rebuilds, resets, forks and deletions of one session, in many interleavings."""
    rng = random.Random(seed)
    async with Saga.open(memory_config(checkpoint_every=2)) as saga:
        store: Any = saga.stores.state
        for name in ("get", "scan", "commit"):
            monkeypatch.setattr(store, name, _dawdling(getattr(store, name), rng))
        refused = 0

        async def player(number: int) -> None:
            nonlocal refused
            chat = Frontend(saga, session="room")
            for step in range(8):
                if rng.random() < 0.3 and len(chat.history) >= 2:
                    del chat.history[-2:]
                words, reply = scene(step, f"{number}의 길")
                begun = await chat.begin(f"{words} {rng.randrange(2)}")
                begun.replies[0].feed(f"{reply} {rng.random()}")
                try:
                    await begun.commit()
                except NotFound:
                    refused += 1
                    continue
                chat.history += [
                    {"role": "user", "content": words},
                    {"role": "assistant", "content": begun.replies[0].text},
                ]

        async def keeper() -> None:
            for _ in range(12):
                for _ in range(rng.randrange(40)):
                    await asyncio.sleep(0)
                with suppress(NotFound, BadInput):  # somebody else was first
                    await _change(saga, rng)

        await asyncio.gather(*(player(number) for number in range(3)), keeper(), keeper())
        for summary in await saga.sessions.list():
            await saga.background.drain_views(10)
            saga.parts.live.forget(summary.session.id)
            live = await saga.parts.live.get(summary.session.id)
            assert live.head in live.tree
            assert len(await saga.views.turns(summary.session.id)) == summary.depth + 1
            assert await saga.maintenance.differences(summary.session.id) == []
            for timeline in live.timelines.values():
                assert live.tree.is_ancestor(timeline.fork, timeline.head)
        known = {summary.session.id for summary in await saga.sessions.list()}
        scopes = {name.removeprefix("episodes:") for name in await saga.stores.vector.scopes() if "episodes:" in name}
        assert scopes <= known, "nothing was made for a session that is gone"
        for key, _ in await saga.stores.state.scan((), limit=100_000):
            if key[0] in ("turn", "node", "job", "amend", "state", "timeline"):
                assert key[1] in known, key


def _dawdling(call: Any, rng: random.Random) -> Any:
    async def slow(*args: Any, **given: Any) -> Any:
        for _ in range(rng.randrange(4)):
            await asyncio.sleep(0)
        return await call(*args, **given)

    return slow


async def _change(saga: Saga, rng: random.Random) -> None:
    live = await saga.parts.live.get((await saga.sessions.get("room")).id)
    nodes = [node for node in live.tree.nodes.values() if not live.tree.is_ancestor(node.id, live.head)]
    way = rng.choice(("prune", "prune", "prune", "rebuild", "fork", "pages", "reset", "delete"))
    if way == "prune" and nodes:
        await saga.timelines.prune("room", rng.choice(nodes).id)
    elif way == "rebuild":
        await saga.maintenance.rebuild("room")
    elif way == "fork":
        await saga.timelines.fork("room", None, f"t{rng.random()}")
    elif way == "pages":
        await saga.views.regenerate_pages("room")
    elif way == "reset" and rng.random() < 0.3:
        await saga.sessions.reset("room")
    elif way == "delete" and rng.random() < 0.3:
        await saga.sessions.delete("room")
