"""What extraction and curation cost stands in the ledger, under the turn that they served, whatever came of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from saga_core import Saga
from saga_core.billing import Account, Bill
from saga_core.config import Config, load_config
from saga_core.journal.ledger import Ledger
from saga_core.ports import ChatPart, ChatRequest, Usage, UsagePart
from tests.core.extraction.scripted import NOTHING, Scripted, changes
from tests.core.frontend import MEMORY, Frontend
from tests.core.jobs.unreported import AWAY, FIGHT, playing, read, settled, until

EACH = 700 * 0.1e-6 + 60 * 0.5e-6
"""Dollars of a call of 700 and 60 tokens by Claude Haiku 5.5."""


def config(**sections: object) -> Config:
    return load_config(
        {**MEMORY, "models": {"extraction": "claude-haiku-5-5", "curator": "claude-haiku-5-5"}, **sections}
    )


async def billed(chat: Frontend, purpose: str) -> list[Bill]:
    assert chat.last is not None
    return [bill for bill in await chat.saga.sessions.cost(chat.last.session.id) if bill.purpose == purpose]


async def test_an_extraction_is_billed_under_the_turn_that_was_read() -> None:
    async with playing(changes(hp_change=-30), config=config()) as (chat, _):
        first = await chat.say("고블린과 싸운다.", FIGHT)
        await chat.say("물러난다.", AWAY, hp_change=-5)
        await read(chat, 1)
        (bill,) = await billed(chat, "extraction")
        assert (bill.turn, bill.model, bill.provider) == (first.id, "claude-haiku-5-5", "anthropic")
        assert (bill.input, bill.output, bill.context, bill.block) == (700, 60, 0, 0)
        assert bill.dollars == pytest.approx(EACH)
        assert bill.without == 0.0, "without SAGA nobody would have asked"


async def test_an_answer_that_is_of_no_use_was_paid_for_all_the_same() -> None:
    async with playing("그럴 수는 없습니다.", "안 됩니다.", config=config()) as (chat, _):
        await chat.say("Fight.", FIGHT)
        await chat.say("물러난다.", AWAY, hp_change=-5)
        await settled(chat)
        assert len(chat.saga.background.extraction.failed()) == 1
        bills = await billed(chat, "extraction")
        assert len({bill.call for bill in bills}) == 2
        assert sum(bill.dollars or 0.0 for bill in bills) == pytest.approx(2 * EACH)


async def test_what_is_asked_again_is_paid_again_and_a_bill_entered_twice_is_one() -> None:
    async with playing(changes(hp_change=-30), config=config()) as (chat, _):
        first = await chat.say("고블린과 싸운다.", FIGHT)
        await chat.say("물러난다.", AWAY, hp_change=-5)
        await settled(chat)
        await chat.saga.background.reextract(first.session.id, first.id, below=False)
        await settled(chat)
        bills = await billed(chat, "extraction")
        assert [bill.turn for bill in bills] == [first.id, first.id]
        await Ledger(chat.saga.stores.state).enter(first.session.id, bills[0])
        assert await billed(chat, "extraction") == bills


class Begun(Scripted):
    """Bills the question at once, as Anthropic does, and answers never."""

    async def stream(self, request: ChatRequest, *, streaming: bool = True) -> AsyncIterator[ChatPart]:
        yield UsagePart(Usage(700, 1), "claude-haiku-4-5", "anthropic")
        self.reached.set()
        await asyncio.Event().wait()


async def test_a_call_that_is_given_up_was_paid_for_as_far_as_it_went() -> None:
    model = Begun()
    async with Saga.open(config(), extractor=model) as saga:
        chat = Frontend(saga)
        first = await chat.say("고블린과 싸운다.", FIGHT)
        await chat.say("물러난다.", AWAY, hp_change=-5)
        await model.reached.wait()
        await saga.parts.supervisor.give_up(saga.background.extraction, first.session.id)
        (bill,) = await billed(chat, "extraction")
        assert (bill.turn, bill.input, bill.output) == (first.id, 700, 1)
        assert bill.model == "claude-haiku-4-5", "who really answered"
        assert saga.background.extraction.done == 0


async def test_a_bill_for_a_turn_that_went_stands_under_the_root() -> None:
    gate = asyncio.Event()
    async with playing(NOTHING, config=config(), gate=gate) as (chat, model):
        await chat.say("광장에 선다.", AWAY, mood="calm")
        fight = await chat.say("고블린과 싸운다.", FIGHT)
        await chat.say("더 싸운다.", FIGHT + " 다시.", hp_change=-1)
        await model.reached.wait()
        del chat.history[-4:]
        kept = await chat.say("돌아선다.", "돌아서서 걷는다. 뒤에서 소리가 난다.", mood="calm")
        await chat.saga.timelines.prune(fight.session.id, fight.id)
        gate.set()
        await until(lambda: model.running == 0)
        await settled(chat)
        (bill,) = await billed(chat, "extraction")
        tree = await chat.saga.views.tree(kept.session.id)
        assert bill.turn == tree["root"]


async def test_of_a_session_that_is_gone_no_bill_is_kept() -> None:
    gate = asyncio.Event()
    async with playing(NOTHING, config=config(), gate=gate) as (chat, model):
        first = await chat.say("고블린과 싸운다.", FIGHT)
        await chat.say("물러난다.", AWAY, hp_change=-5)
        await model.reached.wait()
        await chat.saga.sessions.delete(first.session.id)
        gate.set()
        await until(lambda: model.running == 0)
        await chat.saga.drain(5)
        assert await chat.saga.sessions.costs() == {}


async def test_a_review_is_billed_under_its_turn_and_apart() -> None:
    curator = Scripted(otherwise='{"proposals": []}', name="judge")
    settings = config(curator={"interval": 3, "backend": "direct"})
    async with Saga.open(settings, curator=curator) as saga:
        chat = Frontend(saga)
        turns = [await chat.say(f"{n}번째 길로 간다.", f"{n}번째 골목은 길고 어둡다.", mood="calm") for n in range(4)]
        await saga.drain(5)
        bills = await billed(chat, "curation")
        assert len(bills) == len(curator.asked) > 0
        assert {bill.turn for bill in bills} == {turns[3].id}
        account = (await saga.sessions.costs())[turns[0].session.id]
        assert account.by_purpose["curation"].dollars == pytest.approx(EACH * len(bills))
        assert account.by_purpose["extraction"].calls == 0


async def test_a_narration_of_which_nothing_came_is_billed_under_the_turn_above() -> None:
    async with Saga.open(config()) as saga:
        chat = Frontend(saga)
        first = await chat.say("광장에 선다.", AWAY, mood="calm")
        begun = await chat.begin("싸운다.", model="claude-haiku-5-5", provider="anthropic")
        begun.billed(Usage(4_000, 1), model="claude-haiku-5-5", provider="anthropic")
        await begun.abandon()
        await begun.abandon()
        (bill,) = await saga.sessions.cost(first.session.id)
        assert (bill.turn, bill.call, bill.input, bill.purpose) == (first.id, begun.id, 4_000, "narration")
        account = Account.of([bill])
        assert account.total == account.by_purpose["narration"]
