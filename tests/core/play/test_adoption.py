"""Backfill: chats that began without SAGA, restarts in the middle, and turns that are read anew."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from saga_core import Saga
from saga_core.errors import BadInput, NotFound, StoreError
from saga_core.jobs.extraction import AT_ONCE
from saga_core.ports import ChatRequest
from saga_core.views.projector import Projector
from tests.core.extraction.scripted import Scripted, changes
from tests.core.frontend import Frontend
from tests.core.jobs.unreported import AWAY, FIGHT, SQUARE, hp, playing, read, settled, told

# Chats that began without SAGA


async def test_an_adopted_history_is_read_newest_first() -> None:
    async with playing(otherwise=changes(hp_change=-1)) as (chat, model):
        chat.history = told(6)
        turn = await chat.say("멈춘다.", AWAY, mood="calm")
        await settled(chat)
        order = [int(request.plan.text().split("번째 길로 간다")[0].split("| ")[-1]) for request in model.asked]
        assert order == [5, 4, 3, 2, 1, 0]
        assert await hp(chat) == 94
        assert await chat.saga.maintenance.differences(turn.session.id) == []
        status = await chat.saga.status()
        assert status["backfill"] == {turn.session.id: {"done": 6, "waiting": 0}}
        nodes = (await chat.saga.views.tree(turn.session.id))["nodes"]
        assert [node["status"] for node in nodes] == ["none"] + ["ok"] * 7


@pytest.mark.parametrize(("reader", "says"), [(None, "set models.extraction, and "), ("chosen", "")])
async def test_reading_a_long_history_is_offered_where_nobody_does_by_itself(reader: str | None, says: str) -> None:
    extractor = Scripted(otherwise=changes()) if reader else None
    async with Saga.open({"storage": {"profile": "memory"}}, extractor=extractor) as saga:
        chat = Frontend(saga, history=told(12))
        turn = await chat.begin("멈춘다.")
        offers = [each for each in turn.notices if each.startswith("adopted: ")]
        command = f"`saga backfill {turn.session.id}` reads them"
        assert offers == ([] if reader else [f"adopted: what changed in 12 turns is not known; {says}{command}"])
        short = Frontend(saga, history=told(3), greeting="다른 이야기가 여기서 시작된다, 아주 먼 곳에서.")
        assert not [each for each in (await short.begin("간다.")).notices if each.startswith("adopted: ")]


async def test_what_is_read_later_keeps_the_identity_of_whom_it_names() -> None:
    def names(request: ChatRequest) -> str:
        return changes(npc_met=("칼란",) if "1번째 길은" in request.plan.text() else ("늙은 사냥꾼 칼란",))

    async with playing(otherwise=names) as (chat, model):
        chat.history = told(2)
        await chat.say("멈춘다.", AWAY, mood="calm")
        await settled(chat)
        assert len(model.asked) == 2
        assert chat.last is not None
        state = await chat.saga.describe(chat.last.session.id)
        assert state["npcs_met"] == ["늙은 사냥꾼 칼란"]
        assert state["problems"] == []


async def test_an_edit_that_tells_another_story_is_read() -> None:
    async with playing(changes(hp_change=-7)) as (chat, model):
        await chat.say("고블린과 싸운다.", FIGHT, hp_change=-50)
        chat.history[-1]["content"] = "고블린은 싸우지 않고 달아났다. 광장은 다시 조용해졌다."
        await chat.say("쉰다.", "잠시 벤치에 앉아 숨을 고른다. 해가 기운다.", mood="calm")
        await settled(chat)
        assert await hp(chat) == 93
        assert len(model.asked) == 1


async def test_a_crash_in_the_middle_is_resumed(tmp_path: Path) -> None:
    config = {"storage": {"path": str(tmp_path / "data")}, "session": {"default_world": "ersia"}}
    model = Scripted(otherwise=changes(hp_change=-1))
    saga = await Saga.open(config, extractor=model)
    chat = Frontend(saga, history=told(8))
    turn = await chat.say("멈춘다.", AWAY, mood="calm")
    await read(chat, 3)
    hung = model.gate = asyncio.Event()
    await saga.aclose(drain=0)
    assert not hung.is_set()
    before = len(model.asked)
    assert 3 <= before <= 5
    model.gate = None
    async with Saga.open(config, extractor=model) as saga:
        chat.saga = saga
        assert (await saga.status())["backfill"][turn.session.id]["waiting"] >= 3
        await settled(chat)
        assert await hp(chat) == 92
        assert await saga.maintenance.differences(turn.session.id) == []
        assert len(model.asked) <= before + 5
        assert [key[0] for key, _ in await saga.stores.state.scan(("job",))] == []


async def test_what_failed_stays_listed_after_a_restart_and_is_not_tried(tmp_path: Path) -> None:
    config = {"storage": {"path": str(tmp_path / "data")}}
    model = Scripted(otherwise="I cannot.")
    async with Saga.open(config, extractor=model) as saga:
        chat = Frontend(saga)
        first = await chat.say("I fight.", "The goblin bites. You bleed a little.")
        await chat.say("I run.", "You are away. It is dark here.", mood="tense")
        await settled(chat)
        assert len(model.asked) == 2
    async with Saga.open(config, extractor=model) as saga:
        await saga.drain(10)
        (failed,) = (await saga.status())["work"]["failed"]
        assert failed["turn"] == first.id
        assert len(model.asked) == 2
        model.otherwise = changes(hp_change=-3)
        assert await saga.background.reextract(first.session.id) == 1
        await saga.drain(10)
        assert (await saga.describe(first.session.id))["hp"] == 97


async def test_a_crash_between_journal_and_views_is_made_good(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = {"storage": {"path": str(tmp_path / "data")}, "session": {"default_world": "ersia"}}
    saga = await Saga.open(config, extractor=Scripted(otherwise=changes(hp_change=-30)))
    chat = Frontend(saga)
    turn = await chat.say("고블린과 싸운다.", FIGHT)
    last = await chat.say("물러난다.", AWAY, mood="tense")
    await saga.background.drain_views(10)

    async def down(*_: Any, **__: Any) -> None:
        raise StoreError("the graph is down")

    monkeypatch.setattr(Projector, "_correct", down)
    await read(chat, 1)
    await saga.aclose(drain=0)
    monkeypatch.undo()
    async with Saga.open(config, extractor=Scripted()) as saga:
        await saga.drain(10)
        assert await saga.maintenance.differences(turn.session.id) == []
        pages, _ = await saga.views.pages(turn.session.id)
        assert pages is not None
        assert pages.watermark == last.id
        assert "70/100" in pages.files["state.md"]


async def test_a_model_that_is_configured_later_reads_what_was_skipped_when_asked(tmp_path: Path) -> None:
    config = {"storage": {"path": str(tmp_path / "data")}}
    async with Saga.open(config) as saga:
        chat = Frontend(saga)
        first = await chat.say("I fight.", "The goblin bites. You bleed a little.")
        await chat.say("I run.", "You are away. It is dark here.", mood="tense")
        await settled(chat)
    model = Scripted(otherwise=changes(hp_change=-3))
    async with Saga.open(config, extractor=model) as saga:
        assert (await saga.drain(10)).done == 0
        assert await saga.background.reextract(first.session.id) == 1
        assert (await saga.drain(10)).done == 2
        assert (await saga.describe(first.session.id))["hp"] == 97


# Asking anew


async def test_a_turn_is_read_anew_and_the_latest_answer_counts() -> None:
    async with playing(changes(hp_change=-30), changes(hp_change=-4), changes(hp_change=-8)) as (chat, model):
        first = await chat.say("고블린과 싸운다.", FIGHT)
        second = await chat.say("물러난다.", AWAY, hp_change=-5)
        await settled(chat)
        assert await hp(chat) == 65
        assert await chat.saga.background.reextract(first.session.id, first.id) == 1
        await settled(chat)
        assert await hp(chat) == 91
        assert await chat.saga.background.reextract(first.session.id, second.id, below=False) == 1
        await settled(chat)
        assert await hp(chat) == 88, "asked for by name, the model's word replaces the block's"
        assert await chat.saga.maintenance.differences(first.session.id) == []
        assert len(model.asked) == 3


async def test_asking_anew_takes_those_below_that_nobody_reported() -> None:
    async with playing(otherwise=changes(hp_change=-1)) as (chat, _):
        turns = [await chat.say("광장을 둘러본다.", SQUARE), await chat.say("고블린과 싸운다.", FIGHT, hp_change=-50)]
        turns.append(await chat.say("물러난다.", AWAY))
        await settled(chat)
        assert await chat.saga.background.reextract(turns[0].session.id, turns[0].id) == 2
        assert await chat.saga.background.reextract(turns[0].session.id, turns[0].id, below=False) == 1
        assert await chat.saga.background.reextract(turns[0].session.id) == 0
        await settled(chat)
        assert await hp(chat) == 48
        root = turns[0].session.root
        with pytest.raises(BadInput, match="kind root"):
            await chat.saga.background.reextract(turns[0].session.id, root)
        with pytest.raises(NotFound):
            await chat.saga.background.reextract(turns[0].session.id, "nothing")


async def test_of_two_sessions_both_are_read() -> None:
    async with playing(otherwise=changes(hp_change=-1)) as (chat, model):
        other = Frontend(chat.saga, owner="another", history=told(3))
        chat.history = told(3)
        await chat.say("멈춘다.", AWAY, mood="calm")
        await other.say("멈춘다.", AWAY, mood="calm")
        await settled(chat)
        assert (await hp(chat), await hp(other)) == (97, 97)
        assert 1 <= model.most <= AT_ONCE
        assert len((await chat.saga.status())["backfill"]) == 2
