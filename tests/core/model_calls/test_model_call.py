"""One bounded question to a small model: its limits, its lessons, and its bill."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from saga_core.errors import GaveWay, UpstreamError
from saga_core.messages import question
from saga_core.model_calls import LONGEST, ModelCall, ModelCallFailed
from saga_core.ports import ExtraPart, FinishPart, TextPart, Usage, UsagePart
from tests.core.model_calls.speaking import Call, Speaking

PLAN = question("Read it.", "비가 온다.")
SCHEMA = ("answer", {"type": "object"})
TOOLS = [{"type": "function", "function": {"name": "note"}}]
BILL = UsagePart(Usage(700, 60))


class Desk:
    """A question, and all that is heard of it."""

    def __init__(self, *calls: Call, timeout: float = 5.0) -> None:
        self.chat = Speaking(list(calls))
        self.counts: Counter[str] = Counter()
        self.bills: list[UsagePart] = []
        self.heard: list[str] = []
        self.call = ModelCall(self.chat, "m", "reading", self.report, timeout, 300, refuses="to read")

    def report(self, name: str, amount: int) -> None:
        self.counts[name] += amount

    async def before(self) -> None:
        self.heard.append(f"before call {len(self.chat.asked)}")

    async def paid(self, part: UsagePart) -> None:
        self.bills.append(part)

    async def ask(self, **options: Any) -> Any:
        return await self.call.ask(PLAN, before_call=self.before, paid=self.paid, **options)

    def params(self) -> list[dict[str, Any]]:
        return [dict(request.params) for request in self.chat.asked]


def refusal(text: str, status: int = 400) -> UpstreamError:
    return UpstreamError(text, status=status)


async def test_an_answer_is_put_together_counted_and_paid_for() -> None:
    desk = Desk([TextPart("비가 "), TextPart("other choice", 1), TextPart("온다"), FinishPart("stop"), BILL])
    answer = await desk.ask()
    assert (answer.text, answer.calls) == ("비가 온다", [])
    assert desk.bills == [BILL] and desk.heard == ["before call 0"]
    assert desk.counts == {"reading.calls": 1, "reading.tokens.input": 700, "reading.tokens.output": 60}
    assert desk.params() == [{"max_tokens": 300}]
    assert (desk.chat.asked[0].model, desk.chat.asked[0].plan, desk.chat.closed) == ("m", PLAN, 1)


async def test_the_likeliest_answer_is_asked_for_until_the_provider_refuses_that() -> None:
    desk = Desk([TextPart("x")], refusal("temperature: only the default (1) is supported"), [TextPart("y")])
    desk.call.greedy = True
    assert [(await desk.ask()).text for _ in range(2)] == ["x", "y"]
    assert [each.get("temperature") for each in desk.params()] == [0, 0, None]


async def test_tool_calls_of_the_first_choice_are_gathered() -> None:
    calls = [ExtraPart({"tool_calls": [1]}), ExtraPart({"tool_calls": [9]}, 1), ExtraPart({"reasoning": "x"})]
    desk = Desk([*calls, ExtraPart({"tool_calls": [2, 3]}), ExtraPart({"tool_calls": "no list"})])
    assert (await desk.ask(tools=TOOLS)).calls == [1, 2, 3]
    assert desk.params()[0]["tools"] == TOOLS


async def test_the_last_bill_counts_and_none_is_told_where_there_is_none() -> None:
    desk = Desk([UsagePart(Usage(1, 1)), TextPart("x"), BILL], [TextPart("y")])
    await desk.ask()
    await desk.ask()
    assert desk.bills == [BILL]


async def test_no_more_of_an_endless_answer_is_read_and_it_is_paid_for() -> None:
    desk = Desk([BILL, *(TextPart("a" * 20_000) for _ in range(9))])
    assert LONGEST < len((await desk.ask()).text) <= LONGEST + 20_000
    assert desk.bills == [BILL] and desk.chat.closed == 1


async def test_a_filtered_answer_is_told_and_paid_for() -> None:
    desk = Desk([TextPart("I"), FinishPart("content_filter"), FinishPart("stop", 1), BILL])
    with pytest.raises(ModelCallFailed, match=r"small refused to read \(content_filter\)") as failed:
        await desk.ask()
    assert failed.value.answered and desk.bills == [BILL]


async def test_a_model_that_never_answers_is_given_up_and_was_not_paid_for_an_answer() -> None:
    desk = Desk(timeout=0.001)
    with pytest.raises(ModelCallFailed, match=r"no answer within 0\.001 s") as failed:
        await desk.ask()
    assert not failed.value.answered and desk.chat.closed == 1 and desk.bills == []


async def test_the_name_of_the_limit_is_learned_and_kept() -> None:
    desk = Desk(refusal("unsupported parameter max_tokens"), [TextPart("a")], [TextPart("b")])
    assert [(await desk.ask()).text for _ in range(2)] == ["a", "b"]
    assert [set(each) for each in desk.params()] == [
        {"max_tokens"},
        {"max_completion_tokens"},
        {"max_completion_tokens"},
    ]
    assert desk.counts["reading.calls"] == 2 and desk.heard == ["before call 0", "before call 2"]


async def test_tools_are_done_without_where_they_are_refused() -> None:
    desk = Desk(refusal("tools are not supported", 404), [TextPart("a")], [TextPart("b")])
    for _ in range(2):
        await desk.ask(tools=TOOLS)
    assert ["tools" in each for each in desk.params()] == [True, False, False]


async def test_a_schema_gives_way_to_json_and_json_to_words() -> None:
    desk = Desk(refusal("no json_schema here", 422), refusal("response_format unknown", 501), [TextPart("a")])
    await desk.ask(schema=SCHEMA)
    forms = [each.get("response_format", {}).get("type") for each in desk.params()]
    assert forms == ["json_schema", "json_object", None]


async def test_several_refusals_of_one_question_are_learned_from() -> None:
    refusals = [refusal("max_tokens"), refusal("tool"), refusal("schema"), refusal("json")]
    desk = Desk(*refusals, [TextPart("a")])
    assert (await desk.ask(schema=SCHEMA, tools=TOOLS)).text == "a"
    assert desk.params()[-1] == {"max_completion_tokens": 300}


@pytest.mark.parametrize(
    "error", [refusal("the schema is down", 500), refusal("slow down, max_tokens", 429), refusal("no such model", 404)]
)
async def test_what_teaches_nothing_is_raised_at_once(error: UpstreamError) -> None:
    desk = Desk(error, [TextPart("never asked for")])
    with pytest.raises(UpstreamError, match=str(error)):
        await desk.ask(schema=SCHEMA)
    assert len(desk.chat.asked) == 1


async def test_a_refusal_of_what_was_not_asked_for_teaches_nothing() -> None:
    for reason in ("tools", "json schema"):
        with pytest.raises(UpstreamError):
            await Desk(refusal(reason), [TextPart("x")]).ask()


async def test_the_same_lesson_is_not_learned_twice() -> None:
    desk = Desk(refusal("max_tokens"), refusal("max_tokens"), [TextPart("x")])
    with pytest.raises(UpstreamError):
        await desk.ask()


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        ([FinishPart("stop")], "answered nothing"),
        ([TextPart("  "), FinishPart("stop")], "answered nothing"),
        ([TextPart("<think>Hm. </think>\n"), FinishPart("stop")], "answered nothing"),
        ([FinishPart("length")], "allowance for thoughts"),
        ([TextPart("<think>Hm, let me"), FinishPart("length")], "allowance for thoughts"),
    ],
)
async def test_a_call_that_brings_no_answer_is_counted_and_says_why(parts: Call, why: str) -> None:
    desk = Desk(parts)
    answer = await desk.ask()
    assert why in answer.silence
    assert desk.counts["reading.silent"] == 1


async def test_an_answer_is_no_silence() -> None:
    for text in ("{}", "none", "<think>Hm.</think>{}"):
        desk = Desk([TextPart(text), FinishPart("stop")])
        assert (await desk.ask()).silence == ""
        assert desk.counts["reading.silent"] == 0


async def test_a_call_that_gave_way_is_made_again_if_it_persists() -> None:
    said: list[Call] = [GaveWay("up narrates"), [TextPart("비가 온다."), FinishPart("stop")]]
    desk = Desk(*said)
    with pytest.raises(GaveWay):
        await desk.ask()
    desk = Desk(*said)
    desk.call.persists = True
    assert (await desk.ask()).text == "비가 온다."
    assert desk.heard == ["before call 0", "before call 1"], "it waits until the narration is over"
