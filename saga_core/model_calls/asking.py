"""How curators and memory strategies ask a model: for the review of a view, which the call is billed to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from attrs import define, field

from saga_core.messages import PromptPlan
from saga_core.model_calls.model_call import Answer, BeforeCall, ModelCall, Report
from saga_core.ports import ChatModel, UsagePart
from saga_core.stores import CurationView

TIMEOUT = 120.0
"""Seconds that one call may take."""
MAX_TOKENS = 2_000
"""Tokens of an answer, at most."""

PaidFor = Callable[[UsagePart, str, str], Awaitable[None]]
"""Is told what a call cost, and the session and the turn that it served; also when its answer is of no use."""


async def unpaid(part: UsagePart, session: str, turn: str) -> None:
    """Keeps no bill."""


@define(eq=False)
class Asking:
    """How a curator model is asked. ``report`` is told of calls and tokens, as ``curation.calls`` and so on."""

    chat: ChatModel
    model: str
    report: Report
    before_call: BeforeCall
    timeout: float = TIMEOUT
    max_tokens: int = MAX_TOKENS
    paid: PaidFor = unpaid
    _call: ModelCall = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._call = ModelCall(
            self.chat, self.model, "curation", self.report, self.timeout, self.max_tokens, refuses="to review"
        )

    async def ask(
        self,
        plan: PromptPlan,
        view: CurationView,
        tools: list[dict[str, Any]] | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> Answer:
        """One call for the review of ``view``. See ``ModelCall.ask``. Raises ``ModelCallFailed``, ``UpstreamError``."""

        async def paid(part: UsagePart) -> None:
            await self.paid(part, view.session, view.state.turn)

        wanted = ("answer", schema) if schema is not None else None
        return await self._call.ask(plan, before_call=self.before_call, paid=paid, schema=wanted, tools=tools)
