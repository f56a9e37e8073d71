"""One bounded question to a small model, used by extraction, curation and memory strategies.

A model is made to answer in JSON by a schema, else by JSON mode, else only by the text of the question. A provider's
refusals show what it does not support. Answers are parsed with the same tolerance in each case, because a server may
ignore the requested format.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from attrs import define, field

from saga_core.errors import GaveWay, SagaError, UpstreamError
from saga_core.messages import PromptPlan
from saga_core.ports import ChatModel, ChatRequest, ExtraPart, FinishPart, TextPart, UsagePart
from saga_core.state_block import thinks_only, without_thoughts
from saga_core.stores import CurationView


class ModelCallFailed(SagaError):
    """The model gave no usable answer. The message says why.

    ``answered``: the model did answer, so repeating the same call would cost the same again.
    """

    def __init__(self, message: str, *, answered: bool = True) -> None:
        self.answered = answered
        super().__init__(message)


SCHEMA, JSON_MODE, WORDS = range(3)
_REFUSAL = re.compile(r"response_?format|output_(?:config|format)|schema|grammar|json|structured|guided", re.IGNORECASE)


@define
class AnswerFormat:
    """The format that one model supports, as far as known. It starts with a schema."""

    level: int = SCHEMA

    def params(self, name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Return the request field that asks for an object of ``schema``; empty if only the question can ask for it."""
        if self.level == SCHEMA:
            form = {"name": name, "strict": True, "schema": dict(schema)}
            return {"response_format": {"type": "json_schema", "json_schema": form}}
        return {"response_format": {"type": "json_object"}} if self.level == JSON_MODE else {}

    def learned(self, refusal: str) -> bool:
        """Lower the level after a refusal. Return whether the refusal was about the answer format."""
        if self.level == WORDS or _REFUSAL.search(refusal) is None:
            return False
        self.level += 1
        return True


LONGEST = 60_000
"""The number of characters after which the rest of an answer is not read."""
_LESSONS = 4
"""The largest number of retries of one question after refused parameters."""
_PARAMETER = (400, 404, 422, 501)
"""The HTTP statuses with which providers refuse a parameter."""

BeforeCall = Callable[[], Awaitable[None]]
"""Awaited right before a call, to let narrations go first."""
Paid = Callable[[UsagePart], Awaitable[None]]
"""Receives the cost of a call, once per call, even if the answer is unusable."""
Report = Callable[[str, int], None]
"""Adds a number to the counter of that name."""


@define
class ModelAnswer:
    """The model's answer: its text, at least the first ``LONGEST`` characters, and its tool calls."""

    text: str = ""
    calls: list[Any] = field(factory=list)
    finish: str = ""
    """The finish reason, by OpenAI's names."""

    @property
    def silence(self) -> str:
        """Why there is no answer, although the call ended well; empty if there is one."""
        if self.calls or (without_thoughts(self.text).strip() and not thinks_only(self.text)):
            return ""
        if self.finish == "length":
            return "it used up its allowance for thoughts and did not answer; choose a model that thinks less"
        return "it answered nothing"


@define(eq=False)
class ModelCall:
    """Asks one model for one purpose, and learns from refusals which parameters its provider does not support.

    ``report`` counts calls and tokens, as ``<purpose>.calls``, ``<purpose>.tokens.input`` and so on, and calls that the
    provider filtered (``refused``) or that brought nothing but thoughts (``silent``).
    """

    chat: ChatModel
    model: str
    """The model's name for the provider."""
    purpose: str
    report: Report
    timeout: float
    """The timeout of one call in seconds."""
    max_tokens: int
    """The largest number of tokens of an answer."""
    refuses: str
    """What the model refused if its provider filtered the answer, for the error message."""
    greedy: bool = False
    """Whether the likeliest answer is asked for, which a small model needs: temperature 0."""
    persists: bool = False
    """Whether a call that gave way to a narration is repeated after it. Otherwise ``ask`` raises ``GaveWay``."""
    _limit_name: str = field(default="max_tokens", init=False)
    """The provider's name for the limit of an answer."""
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
    ) -> ModelAnswer:
        """Make one call, and repeat it without a parameter that the provider refuses.

        ``schema`` is a name and the JSON schema of the answer, which is used if the provider supports it. Raises
        ``ModelCallFailed``, and the provider's ``UpstreamError``.
        """
        while True:
            await before_call()
            try:
                return await self._taught(plan, paid, schema, tools)
            except GaveWay:
                if not self.persists:
                    raise

    async def _taught(
        self,
        plan: PromptPlan,
        paid: Paid,
        schema: tuple[str, Mapping[str, Any]] | None,
        tools: list[dict[str, Any]] | None,
    ) -> ModelAnswer:
        """``_call`` without the parameters that the provider refuses."""
        self.report(f"{self.purpose}.calls", 1)
        for _ in range(_LESSONS):
            try:
                return await self._call(plan, paid, schema, tools)
            except UpstreamError as error:
                if error.status not in _PARAMETER or not self._learned(str(error), schema is not None, bool(tools)):
                    raise
        return await self._call(plan, paid, schema, tools)

    def _learned(self, reason: str, schema: bool, tools: bool) -> bool:
        """Learn from a refusal which parameter to omit. Return whether there was one."""
        if self._limit_name == "max_tokens" and "max_tokens" in reason:
            self._limit_name = "max_completion_tokens"  # newer models accept only this name
            return True
        if self.greedy and "temperature" in reason:
            self.greedy = False
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
    ) -> ModelAnswer:
        params: dict[str, Any] = {self._limit_name: self.max_tokens} | ({"temperature": 0} if self.greedy else {})
        if schema is not None:
            params |= self._format.params(*schema)
        if tools and self._takes_tools:
            params["tools"] = tools
        answer = ModelAnswer()
        try:
            async with asyncio.timeout(self.timeout):
                await self._listen(ChatRequest(plan, self.model, params), answer, paid)
        except TimeoutError:
            late = f"{self.chat.name} gave no answer within {self.timeout:g} s"
            raise ModelCallFailed(late, answered=False) from None
        if answer.finish == "content_filter":
            self.report(f"{self.purpose}.refused", 1)
            raise ModelCallFailed(f"{self.chat.name} refused {self.refuses} (content_filter)")
        if answer.silence:
            self.report(f"{self.purpose}.silent", 1)
        return answer

    async def _listen(self, request: ChatRequest, answer: ModelAnswer, paid: Paid) -> None:
        bill: UsagePart | None = None
        stream = self.chat.stream(request, streaming=False)
        try:
            async for part in stream:
                if isinstance(part, TextPart) and part.index == 0:
                    if len(answer.text) > LONGEST:
                        break
                    answer.text += part.text[: LONGEST + 1 - len(answer.text)]
                elif isinstance(part, ExtraPart) and part.index == 0:
                    calls = part.fields.get("tool_calls")
                    answer.calls += calls if isinstance(calls, list) else []
                elif isinstance(part, FinishPart) and part.index == 0:
                    answer.finish = part.reason
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


TIMEOUT = 120.0
"""The timeout of one call in seconds."""
MAX_TOKENS = 2_000
"""The largest number of tokens of an answer."""

PaidFor = Callable[[UsagePart, str, str], Awaitable[None]]
"""Receives the cost of a call, the session and the turn, even if the answer is unusable."""


async def without_bill(part: UsagePart, session: str, turn: str) -> None:
    """Keep no bill."""


@define(eq=False)
class CuratorModel:
    """Asks a curator model. ``report`` counts calls and tokens, as ``curation.calls`` and so on."""

    chat: ChatModel
    model: str
    report: Report
    before_call: BeforeCall
    timeout: float = TIMEOUT
    max_tokens: int = MAX_TOKENS
    paid: PaidFor = without_bill
    _call: ModelCall = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._call = ModelCall(
            self.chat,
            self.model,
            "curation",
            self.report,
            self.timeout,
            self.max_tokens,
            refuses="to review",
            persists=True,
        )

    async def ask(
        self,
        plan: PromptPlan,
        view: CurationView,
        tools: list[dict[str, Any]] | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> ModelAnswer:
        """Make one call for the review of ``view``, like ``ModelCall.ask``. ``ModelCallFailed``, ``UpstreamError``."""

        async def paid(part: UsagePart) -> None:
            await self.paid(part, view.session, view.state.turn)

        wanted = ("answer", schema) if schema is not None else None
        return await self._call.ask(plan, before_call=self.before_call, paid=paid, schema=wanted, tools=tools)
