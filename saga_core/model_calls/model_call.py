"""One bounded question to a small model: extraction, curation and memory strategies ask through it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from attrs import define, field

from saga_core.errors import UpstreamError
from saga_core.messages import PromptPlan
from saga_core.model_calls.answer_format import AnswerFormat
from saga_core.model_calls.failure import ModelCallFailed
from saga_core.ports import ChatModel, ChatRequest, ExtraPart, FinishPart, TextPart, UsagePart

LONGEST = 60_000
"""Characters of an answer from which on no more of it is read."""
_LESSONS = 4
"""Refusals of one question that are learned from, at most."""
_PARAMETER = (400, 404, 422, 501)
"""Statuses by which providers refuse a parameter."""

BeforeCall = Callable[[], Awaitable[None]]
"""Is awaited right before a call: it gives way to narration."""
Paid = Callable[[UsagePart], Awaitable[None]]
"""Is told what a call cost, once for each call, also when its answer is of no use."""
Report = Callable[[str, int], None]
"""Counts."""


@define
class Answer:
    """What the model said: at least the first ``LONGEST`` characters of it, and the tool calls."""

    text: str = ""
    calls: list[Any] = field(factory=list)
    refused: bool = False


@define(eq=False)
class ModelCall:
    """How one model is asked for one purpose. What the provider does not take is learned from its refusals.

    ``report`` is told of calls and tokens, as ``<purpose>.calls``, ``<purpose>.tokens.input`` and so on.
    """

    chat: ChatModel
    model: str
    """The model's name as the provider knows it."""
    purpose: str
    report: Report
    timeout: float
    """Seconds that one call may take."""
    max_tokens: int
    """Tokens of an answer, at most."""
    refuses: str
    """What the model refuses when its provider filters the answer, in words."""
    _limit_name: str = field(default="max_tokens", init=False)
    """What the provider calls the limit of an answer."""
    _takes_tools: bool = field(default=True, init=False)
    _format: AnswerFormat = field(factory=AnswerFormat, init=False)

    async def ask(
        self,
        plan: PromptPlan,
        *,
        before_call: BeforeCall,
        paid: Paid,
        schema: tuple[str, Mapping[str, Any]] | None = None,
        tools: list[dict[str, Any]] | None = None,
    ) -> Answer:
        """One call, made again when the provider refuses a parameter.

        ``schema``: a name and the JSON schema that the answer is to have, if the provider can hold the model to it.
        Raises ``ModelCallFailed``, and ``UpstreamError`` as the provider does.
        """
        await before_call()
        self.report(f"{self.purpose}.calls", 1)
        for _ in range(_LESSONS):
            try:
                return await self._call(plan, paid, schema, tools)
            except UpstreamError as error:
                if error.status not in _PARAMETER or not self._learned(str(error), schema is not None, bool(tools)):
                    raise
        return await self._call(plan, paid, schema, tools)

    def _learned(self, reason: str, schema: bool, tools: bool) -> bool:
        """Take from a refusal what to do without; whether there was anything."""
        if self._limit_name == "max_tokens" and "max_tokens" in reason:
            self._limit_name = "max_completion_tokens"  # newer models take no other name
            return True
        if tools and self._takes_tools and ("tool" in reason or "function" in reason):
            self._takes_tools = False
            return True
        return schema and self._format.learned(reason)

    async def _call(
        self,
        plan: PromptPlan,
        paid: Paid,
        schema: tuple[str, Mapping[str, Any]] | None,
        tools: list[dict[str, Any]] | None,
    ) -> Answer:
        params: dict[str, Any] = {self._limit_name: self.max_tokens}
        if schema is not None:
            params |= self._format.params(*schema)
        if tools and self._takes_tools:
            params["tools"] = tools
        answer = Answer()
        try:
            async with asyncio.timeout(self.timeout):
                await self._listen(ChatRequest(plan, self.model, params), answer, paid)
        except TimeoutError:
            late = f"{self.chat.name} gave no answer within {self.timeout:g} s"
            raise ModelCallFailed(late, answered=False) from None
        if answer.refused:
            raise ModelCallFailed(f"{self.chat.name} refused {self.refuses} (content_filter)")
        return answer

    async def _listen(self, request: ChatRequest, answer: Answer, paid: Paid) -> None:
        bill: UsagePart | None = None
        stream = self.chat.stream(request, streaming=False)
        try:
            async for part in stream:
                if isinstance(part, TextPart) and part.index == 0:
                    if len(answer.text) > LONGEST:
                        break
                    answer.text += part.text
                elif isinstance(part, ExtraPart) and part.index == 0:
                    calls = part.fields.get("tool_calls")
                    answer.calls += calls if isinstance(calls, list) else []
                elif isinstance(part, FinishPart) and part.index == 0:
                    answer.refused = part.reason == "content_filter"
                elif isinstance(part, UsagePart):
                    bill = part
        finally:
            close = getattr(stream, "aclose", None)
            if close is not None:
                await close()
            if bill is not None:
                self.report(f"{self.purpose}.tokens.input", bill.usage.input)
                self.report(f"{self.purpose}.tokens.output", bill.usage.output)
                await paid(bill)
