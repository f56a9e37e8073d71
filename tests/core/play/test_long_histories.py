"""Long histories: adopted, loaded and folded in pieces, so that others have their turn in between."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from saga_core import Saga
from saga_core.errors import StoreError
from saga_core.journal import delete_below
from saga_core.journal.journal import Journal
from saga_core.model.deltas import HpChanged
from saga_core.model.tree import Delta, ReportStatus, Source, Tree, Turn, TurnKind, TurnNode
from saga_core.play import places as adoption
from saga_core.recall import LexicalIndex
from saga_core.sessions import live_sessions as live_session
from saga_core.sessions.live_sessions import amend
from saga_core.views import projector
from tests.core.frontend import Frontend, answer, memory_config
from tests.core.jobs.unreported import AWAY, playing, settled, told


@asynccontextmanager
async def others() -> AsyncIterator[list[int]]:
    """Somebody else on the loop, who counts how often it had its turn."""
    turns = [0]

    async def live_on() -> None:
        while True:
            turns[0] += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(live_on())
    try:
        yield turns
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_history_beyond_what_one_commit_holds_is_adopted() -> None:
    async with Saga.open(memory_config()) as saga:
        chat = Frontend(saga, history=told(1_700))
        async with others() as turns:
            turn = await chat.begin("멈춘다.")
        assert turn.parent.depth == 1_700
        assert turns[0] > 1_700 / adoption._AT_ONCE
        assert (await saga.sessions.get(turn.session.id)).head == turn.parent.id
        assert turn.context.text.count("번째 길은") == 0, "what the history shows is not told again"


async def test_another_long_history_is_compared_with_few_of_the_turns_below(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted: the turns that are read to compare them. Every reply resembles those that the session has."""
    read = 0
    inner = Journal.turns

    async def counted(self: Journal, session: str, ids: Sequence[str]) -> list[Turn]:
        nonlocal read
        read += len(ids)
        return await inner(self, session, ids)

    def history(number: int) -> list[dict[str, Any]]:
        said = (f"Message {n} of chat {number}, long enough to count." for n in range(1_200))
        return [{"role": ("user", "assistant")[n % 2], "content": text} for n, text in enumerate(said)]

    async with Saga.open(memory_config()) as saga:
        await saga.sessions.create(label="big")
        for number in range(3):
            if number == 1:
                monkeypatch.setattr(Journal, "turns", counted)
            turn = await saga.begin([*history(number), {"role": "user", "content": "On."}], session="big")
            assert turn.parent.depth == 600
            assert read <= number * 600 + number * adoption._SEARCHES * adoption._SIBLINGS + 600, number


async def test_episodes_of_a_long_history_are_indexed_with_its_views() -> None:
    async with Saga.open(memory_config()) as saga:
        chat = Frontend(saga, history=told(2 * adoption._AT_ONCE))
        turn = await chat.begin("멈춘다.")
        assert await saga.views.search("길은 강가로", session_id=turn.session.id) == []
        async with others() as turns:
            await settled(chat)
        assert turns[0] > 2 * adoption._AT_ONCE / live_session._INDEXED
        assert len(await saga.views.search("길은 강가로", session_id=turn.session.id, k=200)) == 2 * adoption._AT_ONCE
        assert await saga.maintenance.differences(turn.session.id) == []


async def test_a_correction_of_many_turns_is_indexed_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    add, added = LexicalIndex.add, list[int]()

    def noted(self: LexicalIndex, turn: str, text: str) -> None:
        added.append(turns[0])
        add(self, turn, text)

    async with Saga.open(memory_config()) as saga:
        chat = Frontend(saga, history=told(100))
        session = (await chat.begin("멈춘다.")).session.id
        await settled(chat)
        live = await saga.parts.live.get(session)
        first = live.tree.path(live.head)[1].id
        monkeypatch.setattr(LexicalIndex, "add", noted)
        async with others() as turns:
            change = await saga.memory.correct(session, "move", {"place": "다락방"}, first)
            await settled(chat)
            assert len(await saga.views.search("다락방", session_id=session, k=200)) == 100
            await saga.memory.undo(session, change)
            await settled(chat)
        assert await saga.views.search("다락방", session_id=session, k=200) == []
        assert len(added) >= 200 and max(Counter(added).values()) <= live_session._INDEXED
        assert (await saga.maintenance.verify()).equal


async def test_a_correction_that_is_cancelled_while_it_is_written_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    inner, writes = Journal.amend, asyncio.Event()

    async def noted(self: Journal, *given: Any, **named: Any) -> None:
        writes.set()
        await asyncio.sleep(0)
        await inner(self, *given, **named)

    async with Saga.open(memory_config()) as saga:
        chat = Frontend(saga, history=told(40))
        session = (await chat.begin("멈춘다.")).session.id
        await settled(chat)
        live = await saga.parts.live.get(session)
        monkeypatch.setattr(Journal, "amend", noted)
        moving = saga.memory.correct(session, "move", {"place": "다락방"}, live.tree.path(live.head)[1].id)
        correcting = asyncio.create_task(moving)
        await writes.wait()
        correcting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await correcting
        await settled(chat)
        assert len(await saga.views.search("다락방", session_id=session, k=200)) == 40
        assert await saga.parts.journal.jobs(session) == [] and (await saga.maintenance.verify()).equal


async def test_a_short_history_is_indexed_at_once() -> None:
    async with Saga.open(memory_config()) as saga:
        chat = Frontend(saga, history=told(3))
        turn = await chat.begin("멈춘다.")
        assert len(await saga.views.search("길은 강가로", session_id=turn.session.id)) == 3


async def test_an_adoption_that_breaks_off_goes_on_with_the_next_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adoption, "_AT_ONCE", 4)
    monkeypatch.setattr(adoption, "_COMMITTED", 8)
    append, commits = Journal.append, []

    async def breaking(self: Journal, *given: Any, **more: Any) -> Any:
        commits.append(given)
        if len(commits) == 2:
            raise StoreError("disk full")
        return await append(self, *given, **more)

    monkeypatch.setattr(Journal, "append", breaking)
    async with Saga.open(memory_config()) as saga:
        chat = Frontend(saga, history=told(20))
        turn = await chat.begin("멈춘다.")
        with pytest.raises(StoreError, match="disk full"):
            await answer(turn, "길이 끝난다.", mood="calm")
        (summary,) = await saga.sessions.list()
        assert summary.turns == 8
        again = await chat.begin("멈춘다.")
        assert (again.parent.depth, again.session.id) == (20, summary.session.id)
        assert len((await saga.views.tree(again.session.id))["nodes"]) == 21


async def test_others_fold_the_turns_of_a_session_while_it_adopts_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """As its views do, which begin with the first commit."""
    monkeypatch.setattr(adoption, "_AT_ONCE", 4)
    monkeypatch.setattr(adoption, "_COMMITTED", 8)
    monkeypatch.setattr(live_session, "_STATES", 2)
    monkeypatch.setattr(live_session, "_TURNS", 2)
    monkeypatch.setattr(live_session, "_CHARACTERS", 256)

    async with Saga.open(memory_config()) as saga:
        seen: set[int] = set()

        async def fold_all() -> None:
            while True:
                for summary in await saga.sessions.list():
                    live = await saga.parts.live.get(summary.session.id)
                    seen.add(len(live.tree))
                    for node in [*live.tree.nodes.values()][-9:]:
                        await live.turns([node.id])
                        await live.state(node.id)
                await asyncio.sleep(0)

        folding = asyncio.create_task(fold_all())
        chat = Frontend(saga, history=told(40))
        turn = await chat.say("멈춘다.", "길이 끝난다.", mood="calm")
        assert not folding.done() and len(seen) > 2
        folding.cancel()
        assert (await saga.sessions.get(turn.session.id)).head == turn.id
        await settled(chat)
        assert (await saga.maintenance.verify()).equal


async def test_a_long_session_is_loaded_and_folded_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_session, "_FOLDED", 8)
    monkeypatch.setattr(live_session, "_INDEXED", 8)
    config = {"storage": {"path": str(tmp_path / "data")}}
    async with Saga.open(config) as saga:
        chat = Frontend(saga, history=told(80))
        turn = await chat.say("멈춘다.", AWAY, mood="calm")
        await settled(chat)
        await delete_below(saga.parts.journal.kv, ("state", turn.session.id))
        before = await saga.describe(turn.session.id)
    async with Saga.open(config) as saga:
        async with others() as turns:
            loaded = await saga.parts.live.get(turn.session.id)
        assert turns[0] >= 10
        async with others() as turns:
            await loaded.state(loaded.head)
        assert turns[0] >= 10
        assert await saga.describe(turn.session.id) == before


async def test_what_is_folded_while_a_turn_above_is_amended_is_folded_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async with playing(config=memory_config(checkpoint_every=2)) as (chat, _):
        turns = [await chat.say(f"{n}번째로 친다.", f"{n}번째 일격에 먼지가 인다.", hp_change=-1) for n in range(7)]
        await settled(chat)
        session = await chat.saga.parts.live.get(turns[0].session.id)
        session._states.clear()
        session._turns.clear()
        reading, go_on, read = asyncio.Event(), asyncio.Event(), Journal.turns

        async def slow(self: Journal, session_id: str, ids: Sequence[str]) -> list[Turn]:
            found = await read(self, session_id, ids)
            if ids and not reading.is_set():
                reading.set()
                await go_on.wait()
            return found

        monkeypatch.setattr(Journal, "turns", slow)
        folding = asyncio.create_task(session.state(turns[-1].id))
        await reading.wait()
        player = (await session.state(session.tree.root)).player
        fell = Delta((HpChanged(player, -50),), Source.EXTRACTION, ReportStatus.OK)
        await amend(session, turns[1].id, fell, chat.saga.parts.ids.new("a"))
        go_on.set()
        state = await folding
        assert state.entities[player].get("hp") == 100 - 6 - 50
        assert (await session.state(turns[-1].id)) is state


async def test_only_the_ends_are_shown_however_many_turns_are_due() -> None:
    async with Saga.open(memory_config()) as saga:
        chat = Frontend(saga)
        first = await chat.say("광장을 둘러본다.", "사람들이 북적인다. 약초 냄새가 난다.", mood="calm")
        ends = []
        for way in ("숲", "강", "산"):
            del chat.history[2:]
            for step in range(3):
                turn = await chat.say(
                    f"{way}에서 {step}걸음 간다.", f"{way}의 {step}번째 굽이다. 새가 난다.", mood="calm"
                )
            ends.append(turn.id)
        session = await saga.parts.live.get(first.session.id)
        turns = [node for node in session.tree.nodes if node != session.tree.root]
        assert projector._tips(session, turns) == ends[-2:]
        assert projector._tips(session, turns[:2]) == [turns[1]]
        assert projector._tips(session, []) == []


async def test_the_ends_among_thousands_of_swipes_are_found_by_passing_each_turn_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with playing() as (chat, _):
        first = await chat.say("광장을 둘러본다.", "사람들이 북적인다. 약초 냄새가 난다.")
        session = await chat.saga.parts.live.get(first.session.id)
        tree, at = Tree("s"), "r"
        tree.add(TurnNode("r", None, 0, 0.0, TurnKind.ROOT))
        for depth in range(1, 31):
            for swipe in range(30):
                tree.add(TurnNode(f"t{depth:02}.{swipe:02}", at, depth, 0.0, TurnKind.IMPORTED))
            at = f"t{depth:02}.00"
        passed = 0
        upwards, is_ancestor = Tree.upwards, Tree.is_ancestor

        def counted(self: Tree, turn: str) -> Iterator[TurnNode]:
            nonlocal passed
            for node in upwards(self, turn):
                passed += 1
                yield node

        def asked(self: Tree, above: str, below: str) -> bool:
            nonlocal passed
            passed += 1
            return is_ancestor(self, above, below)

        turns = [turn for turn in tree.nodes if turn != "r"]
        monkeypatch.setattr(session, "tree", tree)
        monkeypatch.setattr(session, "session", evolve(session.session, head=at))
        monkeypatch.setattr(Tree, "upwards", counted)
        monkeypatch.setattr(Tree, "is_ancestor", asked)
        assert projector._tips(session, turns) == ["t30.29", "t30.00"], "the head last"
        assert passed <= 2 * len(turns)
        passed = 0
        assert projector._tips(session, ["t30.00"]) == ["t30.00"]
        assert passed <= 2, "a turn alone asks for nothing above it"
        monkeypatch.undo()
