"""One call to a curator model: the reply's text and the tool calls in it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from attrs import define, field

from saga_core.errors import SagaError, UpstreamError
from saga_core.ports import ChatModel, ChatRequest, ExtraPart, FinishPart, TextPart, UsagePart
from saga_core.prompt.plan import PromptPlan
from saga_core.stores.curator import CurationView
from saga_core.upstream.answer_format import AnswerFormat

TIMEOUT = 120.0
"""Seconds that one call may take."""
MAX_TOKENS = 2_000
"""Tokens of an answer, at most."""
_LONGEST = 60_000
_LESSONS = 4
"""Refusals of one question that are learned from, at most."""


class CurationFailed(SagaError):
    """The model gave no answer that can be used; the message says why."""


Paid = Callable[[UsagePart, str, str], Awaitable[None]]
"""Is told what a call cost, and the session and the turn that it served; also when its answer is of no use."""


async def unpaid(part: UsagePart, session: str, turn: str) -> None:
    """Keeps no bill."""


@define
class Said:
    """What the model said."""

    text: str = ""
    calls: list[Any] = field(factory=list)


@define(eq=False)
class Asking:
    """How a curator model is asked. ``report`` is told of calls and tokens, as ``curation.calls`` and so on."""

    chat: ChatModel
    model: str
    report: Callable[[str, int], None]
    before_call: Callable[[], Awaitable[None]]
    timeout: float = TIMEOUT
    max_tokens: int = MAX_TOKENS
    paid: Paid = unpaid
    _limit_name: str = field(default="max_tokens", init=False)
    _tools: bool = field(default=True, init=False)
    """Whether the provider takes tools; learned from its refusal."""
    _format: AnswerFormat = field(factory=AnswerFormat, init=False)

    async def ask(
        self,
        plan: PromptPlan,
        view: CurationView,
        tools: list[dict[str, Any]] | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> Said:
        """One call for the review of ``view``, made again when the provider refuses a parameter.

        ``schema``: the JSON schema that the answer is to have, if the provider can hold the model to it. Raises
        ``CurationFailed``, ``UpstreamError``.
        """
        await self.before_call()
        self.report("curation.calls", 1)
        for _ in range(_LESSONS):
            try:
                return await self._call(plan, view, tools, schema)
            except UpstreamError as error:
                if error.status not in (400, 404, 422, 501) or not self._learned(str(error), tools, schema):
                    raise
        return await self._call(plan, view, tools, schema)

    def _learned(
        self, reason: str, tools: list[dict[str, Any]] | None, schema: Mapping[str, Any] | None = None
    ) -> bool:
        """Take from a refusal what to do without; whether there was anything."""
        if self._limit_name in reason and self._limit_name == "max_tokens":
            self._limit_name = "max_completion_tokens"
            return True
        if tools and self._tools and ("tool" in reason or "function" in reason):
            self._tools = False
            return True
        return schema is not None and self._format.learned(reason)

    async def _call(
        self,
        plan: PromptPlan,
        view: CurationView,
        tools: list[dict[str, Any]] | None,
        schema: Mapping[str, Any] | None,
    ) -> Said:
        params: dict[str, Any] = {self._limit_name: self.max_tokens}
        if schema is not None:
            params |= self._format.params("answer", schema)
        if tools and self._tools:
            params["tools"] = tools
        said = Said()
        try:
            async with asyncio.timeout(self.timeout):
                refused = await self._listen(ChatRequest(plan, self.model, params), view, said)
        except TimeoutError:
            raise CurationFailed(f"{self.chat.name} gave no answer within {self.timeout:g} s") from None
        if refused:
            raise CurationFailed(f"{self.chat.name} refused to review (content_filter)")
        return said

    async def _listen(self, request: ChatRequest, view: CurationView, said: Said) -> bool:
        refused = False
        bill: UsagePart | None = None
        stream = self.chat.stream(request, streaming=False)
        try:
            async for part in stream:
                if isinstance(part, TextPart) and part.index == 0:
                    if len(said.text) > _LONGEST:
                        break
                    said.text += part.text
                elif isinstance(part, ExtraPart) and part.index == 0:
                    calls = part.fields.get("tool_calls")
                    said.calls += calls if isinstance(calls, list) else []
                elif isinstance(part, FinishPart) and part.index == 0:
                    refused = part.reason == "content_filter"
                elif isinstance(part, UsagePart):
                    bill = part
        finally:
            close = getattr(stream, "aclose", None)
            if close is not None:
                await close()
            if bill is not None:
                self.report("curation.tokens.input", bill.usage.input)
                self.report("curation.tokens.output", bill.usage.output)
                await self.paid(bill, view.session, view.state.turn)
        return refused
