"""Bills of turns: made of what the provider billed, and entered where nothing is recorded."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from saga_core import Saga
from saga_core.errors import StoreUnavailable
from saga_core.ports import Usage
from tests.core.frontend import Frontend, memory_config

MODEL = {"model": "claude-sonnet-4-5", "provider": "anthropic"}
RULES = "\n".join(f"Rule {number}: tell it as it is, and tell it briefly." for number in range(90))


@pytest.fixture
async def saga() -> AsyncIterator[Saga]:
    async with Saga.open(memory_config()) as opened:
        yield opened


async def test_what_was_not_billed_has_no_bill(saga: Saga) -> None:
    turn = await Frontend(saga).begin("가자", **MODEL)
    bills = saga.play.recorder.bills
    assert bills.bill(turn) is None
    await bills.unrecorded(turn.session.id, turn)
    assert turn.bill is None and await saga.sessions.costs() == {}


async def test_a_bill_teaches_how_the_provider_counts(saga: Saga) -> None:
    turn = await Frontend(saga, system=RULES).begin("가자", **MODEL)
    assert turn.planned is not None
    bills, counted = saga.play.recorder.bills, turn.planned.request.total
    facts = bills.models.facts(MODEL["model"], MODEL["provider"])
    turn.billed(Usage(counted * 2, 10), **MODEL)
    bill = bills.bill(turn)
    assert bill is not None and (bill.turn, bill.input, bill.provider) == (turn.id, counted * 2, "anthropic")
    assert bills.models.scale(facts, MODEL["model"]) == pytest.approx(2.0)


async def test_what_is_entered_for_nothing_stands_under_the_turn_above_once(saga: Saga) -> None:
    turn = await Frontend(saga).begin("가자", **MODEL)
    turn.billed(Usage(1_000, 10), **MODEL)
    bills = saga.play.recorder.bills
    await bills.unrecorded(turn.session.id, turn)
    entered = turn.bill
    await bills.unrecorded(turn.session.id, turn)
    assert turn.bill is entered and entered is not None
    assert (entered.turn, entered.call) == (turn.parent.id, turn.id)
    assert await saga.sessions.cost(turn.session.id) == [entered]


async def test_each_model_that_failed_has_a_bill_of_its_own(saga: Saga) -> None:
    turn = await Frontend(saga).begin("가자", **MODEL)
    for model, tokens in (("a", 100), ("b", 200)):
        turn.billed(Usage(tokens, 1), model=model, provider="p")
        turn.failing()
    await saga.play.recorder.bills.failed(turn.session.id, turn)
    found = await saga.sessions.cost(turn.session.id)
    assert [(bill.model, bill.input, bill.call) for bill in found] == [
        ("a", 100, f"{turn.id}-1"),
        ("b", 200, f"{turn.id}-2"),
    ]
    assert {(bill.turn, bill.block, bill.pin) for bill in found} == {(turn.parent.id, 0, "")}


async def test_a_ledger_that_cannot_be_written_is_no_reason_to_fail(
    saga: Saga, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn = await Frontend(saga).begin("가자", **MODEL)
    turn.billed(Usage(1_000, 10), **MODEL)
    turn.failing()
    bills = saga.play.recorder.bills

    async def away(*_: Any, **__: Any) -> None:
        raise StoreUnavailable("away")

    with monkeypatch.context() as broken:
        broken.setattr(saga.stores.state, "commit", away)
        await bills.failed(turn.session.id, turn)
    assert saga.counters.degraded["bill.write"] == "away"
    await bills.failed(turn.session.id, turn)
    assert "bill.write" not in saga.counters.degraded
