"""The ledger keeps the bills of turns beside them."""

from __future__ import annotations

from attrs import evolve

from saga_backends.memory import MemoryState
from saga_core.billing import Bill
from saga_core.journal import Ledger, keys
from saga_core.stores import Batch
from saga_core.upstream import facts_of

BILL = Bill("t1", 10.0, "m", "p", 1_000, 800, 100, 50, 70, 40, 20, 5, dollars=0.25)


async def test_a_bill_is_kept_as_it_is_and_the_same_call_once() -> None:
    ledger = Ledger(MemoryState())
    await ledger.enter("s1", BILL)
    await ledger.enter("s1", evolve(BILL, output=71))
    assert await ledger.bills("s1") == [evolve(BILL, output=71)]


async def test_a_session_has_its_bills_oldest_first_with_further_calls_behind() -> None:
    ledger = Ledger(MemoryState())
    later = evolve(BILL, turn="t0", at=20.0)
    review = evolve(BILL, call="curation.1", purpose="curation")
    for bill in (later, review, BILL):
        await ledger.enter("s1", bill)
    await ledger.enter("s10", evolve(BILL, turn="t9"))
    assert await ledger.bills("s1") == [BILL, review, later]
    assert {session: len(bills) for session, bills in (await ledger.everything()).items()} == {"s1": 3, "s10": 1}
    assert await ledger.bills("s2") == []


async def test_turns_are_asked_for_their_narrations_alone() -> None:
    ledger = Ledger(MemoryState())
    await ledger.enter("s1", BILL)
    await ledger.enter("s1", evolve(BILL, turn="t2", call="extraction.1", purpose="extraction"))
    assert await ledger.of_turns("s1", ["t1", "t2", "t3"]) == {"t1": BILL}


async def test_many_bills_are_read_to_the_end() -> None:
    state = MemoryState()
    ledger = Ledger(state)
    await ledger.enter("s1", BILL)
    ((_, raw),) = await state.scan(("bill",))
    await state.commit(Batch({keys.bill("s1", f"u{number:04}"): raw for number in range(1_500)}))
    assert len(await ledger.bills("s1")) == 1_501


async def test_a_price_that_is_known_later_counts_for_the_calls_before() -> None:
    prices: dict[str, dict[str, float]] = {}
    ledger = Ledger(MemoryState(), facts=lambda model, provider: facts_of(model, provider, prices))
    narrated = evolve(BILL, model="quill-7b", dollars=None)
    await ledger.enter("s1", narrated)
    await ledger.enter("s1", evolve(narrated, call="extraction.1", purpose="extraction", block=0, added=1_000))
    assert [bill.dollars for bill in await ledger.bills("s1")] == [None, None]
    prices["quill-7b"] = {"input": 2.0, "output": 10.0}
    one, other = await ledger.bills("s1")
    assert (one.uncached, one.without, other.without) == (0.0027, 0.00257, 0.0)
    assert one.dollars is not None and one.dollars == other.dollars
