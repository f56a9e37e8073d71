"""Curators and strategies ask for the review of a view, and that is what the call is billed to."""

from __future__ import annotations

from collections import Counter

from saga_core.messages import question
from saga_core.model import WorldState
from saga_core.model_calls import MAX_TOKENS, CuratorModel, without_bill
from saga_core.ports import TextPart, Usage, UsagePart
from saga_core.stores import CurationView
from tests.core.model_calls.speaking import Speaking

PLAN = question("Review it.", "비가 온다.")
VIEW = CurationView("s1", WorldState(turn="t9"), ())
BILL = UsagePart(Usage(700, 60))


async def test_a_call_is_counted_as_curation_and_billed_to_its_session_and_turn() -> None:
    counts: Counter[str] = Counter()
    bills: list[tuple[UsagePart, str, str]] = []
    waited: list[int] = []

    def report(name: str, amount: int) -> None:
        counts[name] += amount

    async def before() -> None:
        waited.append(1)

    async def paid(part: UsagePart, session: str, turn: str) -> None:
        bills.append((part, session, turn))

    chat = Speaking([[TextPart("all is well"), BILL]])
    asking = CuratorModel(chat, "m", report, before, paid=paid)
    answer = await asking.ask(PLAN, VIEW, schema={"type": "object"})
    assert answer.text == "all is well" and waited == [1]
    assert bills == [(BILL, "s1", "t9")]
    assert counts == {"curation.calls": 1, "curation.tokens.input": 700, "curation.tokens.output": 60}
    params = chat.asked[0].params
    assert params["max_tokens"] == MAX_TOKENS
    assert params["response_format"]["json_schema"]["name"] == "answer"


async def test_without_a_schema_and_tools_none_are_asked_for_and_no_bill_is_kept() -> None:
    async def before() -> None:
        return None

    chat = Speaking([[TextPart("x"), BILL]])
    asking = CuratorModel(chat, "m", lambda *_: None, before, max_tokens=7)
    assert (await asking.ask(PLAN, VIEW, tools=[])).text == "x"
    assert chat.asked[0].params == {"max_tokens": 7}
    await without_bill(BILL, "s1", "t9")
