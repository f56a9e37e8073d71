"""A model that nobody chose reads replies without a block: each once, at once where it costs nothing, nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from saga_core import Saga
from saga_core.config import Config, load_config
from saga_core.errors import UpstreamError
from tests.core.extraction.scripted import Answer, Scripted, changes
from tests.core.frontend import MEMORY, Frontend
from tests.core.jobs import unreported
from tests.core.jobs.unreported import SQUARE, hp, read, settled, told

HURT = changes(hp_change=-7)
# Of a model of the player's own, only numbers that were said count.
FIGHT = f"{unreported.FIGHT} 체력이 7 줄어든다."


def config(automatic: str) -> Config:
    return load_config({**MEMORY, "extraction": {"automatic": automatic}}, environ={})


@asynccontextmanager
async def playing(automatic: str = "local", otherwise: Answer = HURT) -> AsyncIterator[tuple[Frontend, Scripted]]:
    model = Scripted(otherwise=otherwise)
    async with Saga.open(config(automatic), automatic=model) as saga:
        yield Frontend(saga), model


async def test_a_reply_without_a_block_is_read_at_once() -> None:
    async with playing() as (chat, model):
        await chat.say("고블린과 싸운다.", FIGHT)
        await read(chat, 1)
        assert await hp(chat) == 93
        turn = await chat.begin("물러난다.")
        assert "93" in turn.context.text, "the next prompt knows it"
        assert len(model.asked) == 1
        assert model.asked[0].params["response_format"]["type"] == "json_schema"


async def test_what_is_paid_for_waits_until_a_later_request_proves_the_reply() -> None:
    async with playing("always") as (chat, model):
        await chat.say("고블린과 싸운다.", FIGHT)
        await chat.saga.background.drain_views(5)
        assert model.asked == []
        await chat.swipe(SQUARE, hp_change=-1)
        await chat.say("둘러본다.", "조용하다. 아무도 보이지 않는다.", hp_change=-1)
        await settled(chat)
        assert model.asked == [], "a reply that was swiped away is never paid for"


async def test_a_reply_with_a_block_is_not_read() -> None:
    async with playing() as (chat, model):
        await chat.say("둘러본다.", SQUARE, hp_change=-1)
        await settled(chat)
        assert model.asked == []


async def test_a_history_that_was_taken_over_is_not_read() -> None:
    async with playing() as (chat, model):
        chat.history = told(4)
        await chat.say("둘러본다.", SQUARE, hp_change=-1)
        await settled(chat)
        assert model.asked == []
        assert chat.saga.counters.counts["extraction.skipped"] == 4


@pytest.mark.parametrize("answer", ["I would rather tell a story.", ""])
async def test_a_turn_is_asked_about_once(answer: str) -> None:
    async with playing(otherwise=answer) as (chat, model):
        await chat.say("고블린과 싸운다.", FIGHT)
        await settled(chat)
        await settled(chat)
        assert len(model.asked) == 1, "an answer that cannot be read is not asked for again"
        assert len(chat.saga.background.extraction.failed()) == 1


async def test_one_that_is_late_is_not_asked_again() -> None:
    async with playing() as (chat, model):
        extractor = chat.saga.background.extraction.extractor
        assert extractor is not None and extractor.call.timeout == 1_800.0
        extractor.call.timeout = 0.01
        model.gate = asyncio.Event()
        await chat.say("고블린과 싸운다.", FIGHT)
        await settled(chat)
        assert len(model.asked) == 1
        assert "within" in str(chat.saga.background.extraction.failed()[0]["reason"])


async def test_a_server_that_is_not_there_is_asked_later() -> None:
    async with playing() as (chat, model):
        model.script.append(UpstreamError("connection refused"))
        await chat.say("고블린과 싸운다.", FIGHT)
        await settled(chat)
        assert await hp(chat) == 93, "nothing was answered, so that nothing is asked twice"


async def test_it_is_billed_and_shown() -> None:
    async with playing() as (chat, _):
        turn = await chat.say("고블린과 싸운다.", FIGHT)
        await settled(chat)
        assert (await chat.saga.status())["extraction"] == {
            "reader": "small",
            "automatic": True,
            "calls": 1,
            "done": 1,
            "failed": 0,
            "input_tokens": 700,
            "output_tokens": 60,
        }
        (bill,) = await chat.saga.sessions.cost(turn.session.id)
        assert (bill.purpose, bill.turn, bill.input, bill.output) == ("extraction", turn.id, 700, 60)


async def test_a_model_that_was_chosen_goes_before() -> None:
    chosen, automatic = Scripted(otherwise=changes(hp_change=-7), name="chosen"), Scripted()
    async with Saga.open(config("local"), extractor=chosen, automatic=automatic) as saga:
        chat = Frontend(saga)
        await chat.say("고블린과 싸운다.", FIGHT)
        await saga.background.drain_views(5)
        assert chosen.asked == [], "it reads what a later request proves, as ever"
        await settled(chat)
        assert (len(chosen.asked), len(automatic.asked)) == (1, 0)
        assert (await saga.status())["extraction"]["automatic"] is False


async def test_reading_again_can_be_asked_for_by_hand() -> None:
    async with playing() as (chat, model):
        turn = await chat.say("체력을 7 잃고 둘러본다.", SQUARE, hp_change=-1)
        assert await chat.saga.background.reextract(turn.session.id, turn.id) == 1
        await settled(chat)
        assert len(model.asked) == 1 and await hp(chat) == 93
