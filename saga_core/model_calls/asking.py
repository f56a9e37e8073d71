"""How curators and memory strategies ask a model. Each call is billed to the review of a view."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from attrs import define, field

from saga_core.messages import PromptPlan
from saga_core.model_calls.model_call import Answer, BeforeCall, ModelCall, Report
from saga_core.ports import ChatModel, UsagePart
from saga_core.stores import CurationView

TIMEOUT = 120.0
"""The timeout of one call in seconds."""
MAX_TOKENS = 2_000
"""The largest number of tokens of an answer."""

PaidFor = Callable[[UsagePart, str, str], Awaitable[None]]
"""Receives the cost of a call, the session and the turn, even if the answer is unusable."""


async def unpaid(part: UsagePart, session: str, turn: str) -> None:
    """Keep no bill."""


@define(eq=False)
class Asking:
    """Asks a curator model. ``report`` counts calls and tokens, as ``curation.calls`` and so on."""

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
        """Make one call for the review of ``view``, like ``ModelCall.ask``. ``ModelCallFailed``, ``UpstreamError``."""

        async def paid(part: UsagePart) -> None:
            await self.paid(part, view.session, view.state.turn)

        wanted = ("answer", schema) if schema is not None else None
        return await self._call.ask(plan, before_call=self.before_call, paid=paid, schema=wanted, tools=tools)
