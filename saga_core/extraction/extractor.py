"""The extractor: a small model reads a turn without a state block and reports its changes in one."""

from __future__ import annotations

import json
from collections.abc import Sequence

from attrs import define, field

from saga_core.errors import QUOTES
from saga_core.extraction.answer_schema import answer_schema
from saga_core.extraction.question import ask, ask_again
from saga_core.extraction.window import Told, ask_window, read_window, told, window_schema
from saga_core.language import every
from saga_core.messages import PromptPlan
from saga_core.model import WorldState
from saga_core.model_calls import LONGEST, BeforeCall, ModelCall, ModelCallFailed, Paid, Report
from saga_core.ports import ChatModel, TokenCounter, UsagePart
from saga_core.state_block import (
    THINK_END,
    BlockFields,
    BlockStatus,
    Scalar,
    StateReading,
    hide,
    is_nothing,
    parse_block,
    read_hidden,
    squash,
)

TIMEOUT = 60.0
"""The timeout of one call, in seconds."""
ONCE_TIMEOUT = 180.0
"""The timeout of a call that is not repeated, in seconds. A large model on local hardware is slow."""
MAX_TOKENS = 1_200
"""The maximum number of tokens of an answer."""
MAX_WINDOW_TOKENS = 4_000
"""The maximum number of tokens of an answer about a window."""
_SHOWN = 120
_NOTHING = frozenset(word for each in every() for word in each.block.unchanged.split())
"""The answers that models give instead of an empty block, squashed."""


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
    timeout: float = TIMEOUT
    max_tokens: int = MAX_TOKENS
    report: Report = _uncounted
    once: bool = False
    """Whether each turn gets a single call, even if the answer cannot be read."""
    call: ModelCall = field(init=False)
    window_call: ModelCall = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.window_call = ModelCall(
            self.chat,
            self.model,
            "extraction",
            self.report,
            ONCE_TIMEOUT,
            MAX_WINDOW_TOKENS,
            refuses="the turns",
        )
        self.call = ModelCall(
            self.chat,
            self.model,
            "extraction",
            self.report,
            ONCE_TIMEOUT if self.once else self.timeout,
            self.max_tokens,
            refuses="the turn",
        )

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
        plan = ask(turn_user, turn_reply, state, language, self.counter.count, names=names)
        reading = read_answer(await self._ask(plan, before_call, paid))
        if reading.status is BlockStatus.FALLBACK and not self.once:
            self.report("extraction.repairs", 1)
            repair = ask_again(plan, reading.problems[-1], language)
            reading = read_answer(await self._ask(repair, before_call, paid))
        if reading.status is BlockStatus.FALLBACK:
            said = " ".join(reading.visible.split())[:_SHOWN]
            shown = f"{QUOTES}{said!r}" if said else ""
            raise ModelCallFailed(
                f"the answer has no state block that can be read: {reading.problems[-1]}{shown}", answered=True
            )
        return reading

    async def extract_window(
        self,
        turns: Sequence[Told],
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
        answer = await self.window_call.ask(plan, before_call=before_call, paid=paid, schema=("turns", window_schema()))
        return read_window(answer.text[:LONGEST], len(turns))

    def told(self, turn_user: str, turn_reply: str, language: str) -> Told:
        """A turn as it is quoted in a window. Makes no call."""
        return told(turn_user, turn_reply, language, self.counter.count)

    def size(self, turn_user: str, turn_reply: str, state: WorldState, language: str) -> int:
        """The number of tokens of the question about one turn. Makes no call."""
        plan = ask(turn_user, turn_reply, state, language, self.counter.count)
        return self.counter.count(plan.text())

    def window_size(self, turns: Sequence[Told], state: WorldState, language: str) -> int:
        """The number of tokens of the question about a window. Makes no call."""
        return self.counter.count(ask_window(turns, state, language, self.counter.count).text())

    async def _ask(self, plan: PromptPlan, before_call: BeforeCall, paid: Paid) -> str:
        answer = await self.call.ask(plan, before_call=before_call, paid=paid, schema=("changes", answer_schema()))
        return answer.text[:LONGEST]


def read_answer(text: str) -> StateReading:
    """Read the report in an answer. The last state block counts; an empty one means that nothing changed.

    Answers without a state block are accepted in three other forms: the body of a block in a different fence or in
    none, a JSON object with text around it, and a plain statement that nothing changed.
    """
    hidden = hide(text)
    blocks = [block for block in hidden.blocks if not block.thinking and not block.loose]
    if blocks and blocks[-1].closed and _says_nothing(blocks[-1].body):
        return StateReading(hidden.visible, BlockStatus.OK, BlockFields())
    if not blocks:
        ends = list(THINK_END.finditer(text))
        body = _unfenced(text[ends[-1].end() :] if ends else text)
        if body and (_says_nothing(body) or squash(body) in _NOTHING):
            return StateReading("", BlockStatus.OK, BlockFields())
        for each in (body, _object_in(body)):
            parsed = parse_block(each)
            if parsed.status is BlockStatus.OK and not parsed.problems:
                return StateReading("", BlockStatus.OK, parsed.fields)
    return read_hidden(hidden)


def _says_nothing(body: str) -> bool:
    text = body.strip()
    return not text or text == "{}" or is_nothing(Scalar(text))


def _object_in(text: str) -> str:
    """The first JSON object in a text; empty if there is none."""
    at = text.find("{")
    try:
        value, end = json.JSONDecoder().raw_decode(text, at) if at >= 0 else (None, 0)
    except (ValueError, RecursionError):
        return ""
    return text[at:end] if value else ""


def _unfenced(text: str) -> str:
    """The content of the fence, if the whole text is one fenced block; else the text."""
    body = text.strip()
    for mark in ("```", "~~~"):
        if body.startswith(mark) and body.endswith(mark) and body.count(mark) == 2:
            return body[len(mark) : -len(mark)].partition("\n")[2]
    return body
