"""The extractor: a small model reads a turn that has no report, and reports its changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from attrs import define, evolve, field

from saga_core.errors import QUOTES
from saga_core.extraction.answer import answer_schema, read_answer, without_inventions
from saga_core.extraction.parting import of_small_model
from saga_core.extraction.question import ask, ask_again
from saga_core.extraction.window import WindowTurn, ask_window, read_window, window_schema, window_turn
from saga_core.messages import PromptPlan
from saga_core.model import WorldState
from saga_core.model_calls import (
    LONGEST,
    BeforeCall,
    ModelAnswer,
    ModelCall,
    ModelCallFailed,
    Paid,
    Report,
    Unusable,
    read_object,
)
from saga_core.ports import ChatModel, TokenCounter, UsagePart
from saga_core.state_block import BlockStatus, StateReading

TIMEOUT = 60.0
"""The timeout of one call, in seconds."""
ONCE_TIMEOUT = 1_800.0
"""The timeout of a call that is not repeated, in seconds. A model on local hardware is slow, and may have others to
answer first. A provider that stays silent ends a call sooner (``providers.<name>.timeout``)."""
MAX_TOKENS = 500
"""The maximum number of tokens of an answer."""
MAX_WINDOW_TOKENS = 4_000
"""The maximum number of tokens of an answer about a window."""
_SHOWN = 120


async def _at_once() -> None:
    """Do not wait. The default for ``before_call``."""


async def _unpaid(part: UsagePart) -> None:
    """Ignore the usage. The default for ``paid``."""


def _uncounted(name: str, amount: int = 1) -> None:
    """Ignore the counter. The default for ``report``."""


@define(eq=False)
class Extractor:
    """Asks ``chat`` for the changes of a turn. ``model`` is the provider's name for the model.

    ``report`` receives the counters: ``extraction.calls``, ``extraction.repairs`` and the billed tokens.
    """

    chat: ChatModel
    model: str
    counter: TokenCounter
    report: Report = _uncounted
    once: bool = False
    """Whether each turn gets a single call, even if the answer cannot be read."""
    brief: bool = False
    """Whether the model is asked only for the few fields that small models get right."""
    call: ModelCall = field(init=False)
    window_call: ModelCall = field(init=False)
    _calls: dict[str, ModelCall] = field(factory=dict, init=False)
    """Those for other purposes. They are kept for what they learn of the provider."""

    def __attrs_post_init__(self) -> None:
        ask = self._calls_for("extraction")
        self.window_call = ask(ONCE_TIMEOUT, MAX_WINDOW_TOKENS, refuses="the turns")
        self.call = ask(ONCE_TIMEOUT if self.once else TIMEOUT, MAX_TOKENS, refuses="the turn")

    def call_for(self, purpose: str, max_tokens: int = MAX_TOKENS) -> ModelCall:
        """A question to the same model for another purpose, which is counted by itself."""
        return self._calls_for(purpose)(ONCE_TIMEOUT, max_tokens, refuses="the text", persists=True)

    def _calls_for(self, purpose: str) -> Callable[..., ModelCall]:
        return partial(ModelCall, self.chat, self.model, purpose, self.report, greedy=self.brief)

    async def object_about(
        self,
        purpose: str,
        plan: PromptPlan,
        schema: tuple[str, Mapping[str, Any]],
        max_tokens: int,
        *,
        before_call: BeforeCall,
        paid: Paid,
    ) -> dict[str, Any]:
        """The JSON object with which the model answers a question for another purpose.

        Raises ``ModelCallFailed``, and ``UpstreamError`` if the provider does.
        """
        call = self._calls.setdefault(purpose, self.call_for(purpose, max_tokens))
        answer = await call.ask(plan, before_call=before_call, paid=paid, schema=schema)
        try:
            return read_object(answer.text)
        except Unusable as problem:
            raise ModelCallFailed(f"the answer about {purpose} cannot be read: {problem}") from None

    async def extract(
        self,
        turn_user: str,
        turn_reply: str,
        state: WorldState,
        language: str,
        *,
        names: tuple[str, ...] = (),
        before_call: BeforeCall = _at_once,
        paid: Paid = _unpaid,
    ) -> StateReading:
        """Return what the turn changed in ``state``, the state before it. The status is ``OK`` or ``PARTIAL``.

        No change is a valid answer. If an answer cannot be read, the question is repeated one time, unless ``once`` is
        set. ``language`` is a language tag such as "ko", ``names`` are further names known in the story.
        ``before_call`` is awaited right before each call, ``paid`` after each billed call.
        Raises ``ModelCallFailed``, and ``UpstreamError`` if the provider does.
        """
        plan = ask(turn_user, turn_reply, state, language, self.counter.count, names=names, brief=self.brief)
        answer = await self._ask(plan, state, before_call, paid)
        reading = read_answer(answer.text[:LONGEST], state.trackers, whole=answer.finish == "stop")
        if reading.status is BlockStatus.FALLBACK and not self.once:
            self.report("extraction.repairs", 1)
            repair = ask_again(plan, reading.problems[-1], language)
            answer = await self._ask(repair, state, before_call, paid)
            reading = read_answer(answer.text[:LONGEST], state.trackers, whole=answer.finish == "stop")
        if reading.status is BlockStatus.FALLBACK:
            if answer.silence:
                raise ModelCallFailed(f"{self.model} did not read the turn: {answer.silence}", answered=True)
            said = " ".join(reading.visible.split())[:_SHOWN]
            shown = f"{QUOTES}{said!r}" if said else ""
            raise ModelCallFailed(
                f"the answer has no report that can be read: {reading.problems[-1]}{shown}", answered=True
            )
        reading = without_inventions(reading, turn_user, turn_reply, state, strict=self.brief)
        if self.brief:
            reading = evolve(reading, fields=of_small_model(reading.fields, turn_user, turn_reply, state))
        return reading

    async def extract_window(
        self,
        turns: Sequence[WindowTurn],
        state: WorldState,
        language: str,
        *,
        names: tuple[str, ...] = (),
        before_call: BeforeCall = _at_once,
        paid: Paid = _unpaid,
    ) -> dict[int, StateReading]:
        """Return what consecutive turns changed, by turn number from 1. ``state`` is the state before the first turn.

        Makes one call. Turns that cannot be read from the answer are missing from the result; ask about them one by
        one. Raises the same errors as ``extract``.
        """
        plan = ask_window(turns, state, language, self.counter.count, names=names)
        answer = await self.window_call.ask(
            plan, before_call=before_call, paid=paid, schema=("turns", window_schema(state.trackers))
        )
        return read_window(answer.text[:LONGEST], len(turns), state.trackers)

    def window_turn(self, turn_user: str, turn_reply: str, language: str) -> WindowTurn:
        """A turn as it is quoted in a window. Makes no call."""
        return window_turn(turn_user, turn_reply, language, self.counter.count)

    def size(self, turn_user: str, turn_reply: str, state: WorldState, language: str) -> int:
        """The number of tokens of the question about one turn. Makes no call."""
        plan = ask(turn_user, turn_reply, state, language, self.counter.count, brief=self.brief)
        return self.counter.count(plan.text())

    def window_size(self, turns: Sequence[WindowTurn], state: WorldState, language: str) -> int:
        """The number of tokens of the question about a window. Makes no call."""
        return self.counter.count(ask_window(turns, state, language, self.counter.count).text())

    async def _ask(self, plan: PromptPlan, state: WorldState, before_call: BeforeCall, paid: Paid) -> ModelAnswer:
        schema = answer_schema(brief=self.brief, counted=state.trackers)
        return await self.call.ask(plan, before_call=before_call, paid=paid, schema=("changes", schema))
