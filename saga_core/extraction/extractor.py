"""The extractor: a small model reads a turn whose changes nobody reported, and reports them in a state block."""

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
"""Seconds that one call may take."""
ONCE_TIMEOUT = 180.0
"""Seconds for a call that is not repeated: a large model on a machine of one's own takes long."""
MAX_TOKENS = 1_200
"""Tokens of an answer, at most."""
MAX_WINDOW_TOKENS = 4_000
"""Tokens of an answer about a window, at most."""
_SHOWN = 120
_NOTHING = frozenset(word for each in every() for word in each.block.unchanged.split())
"""What a model says instead of an empty block, squashed."""


async def _at_once() -> None:
    """There is nothing to wait for."""


async def _unpaid(part: UsagePart) -> None:
    """Keeps no bill."""


def _uncounted(name: str, amount: int = 1) -> None:
    """Counts nothing."""


@define(eq=False)
class Extractor:
    """Asks ``chat`` for the changes of a turn. ``model`` is the model's name as the provider knows it.

    ``report`` is told what was asked: ``extraction.calls``, ``extraction.repairs`` and the tokens that were billed.
    """

    chat: ChatModel
    model: str
    counter: TokenCounter
    timeout: float = TIMEOUT
    max_tokens: int = MAX_TOKENS
    report: Report = _uncounted
    once: bool = False
    """Whether a turn is asked about once and no more, whatever the answer is like."""
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
        """What the turn changed, on the ``state`` before it: ``OK`` or ``PARTIAL``. Nothing is a valid answer.

        One answer that cannot be read is asked for again, but for ``once``. ``language``: its tag, such as "ko".
        ``names``: further names that the story knows. ``before_call`` is awaited right before each call, ``paid``
        after each that was billed.
        Raises ``ModelCallFailed``, and ``UpstreamError`` as the provider does.
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
        """What turns that follow one another changed, by their numbers from 1; ``state`` was before the first.

        One call. Turns that its answer does not report readably are not there: they are to be asked about alone.
        Raises as ``extract`` does.
        """
        plan = ask_window(turns, state, language, self.counter.count, names=names)
        answer = await self.window_call.ask(plan, before_call=before_call, paid=paid, schema=("turns", window_schema()))
        return read_window(answer.text[:LONGEST], len(turns))

    def told(self, turn_user: str, turn_reply: str, language: str) -> Told:
        """A turn as a window quotes it. Asks nobody."""
        return told(turn_user, turn_reply, language, self.counter.count)

    def size(self, turn_user: str, turn_reply: str, state: WorldState, language: str) -> int:
        """Tokens of the question about one turn. Asks nobody."""
        plan = ask(turn_user, turn_reply, state, language, self.counter.count)
        return self.counter.count(plan.text())

    def window_size(self, turns: Sequence[Told], state: WorldState, language: str) -> int:
        """Tokens of the question about a window. Asks nobody."""
        return self.counter.count(ask_window(turns, state, language, self.counter.count).text())

    async def _ask(self, plan: PromptPlan, before_call: BeforeCall, paid: Paid) -> str:
        answer = await self.call.ask(plan, before_call=before_call, paid=paid, schema=("changes", answer_schema()))
        return answer.text[:LONGEST]


def read_answer(text: str) -> StateReading:
    """What an answer reports. Its last state block counts; an empty one says that nothing changed.

    An answer that is nothing but a block's body, in another fence or in none, is taken for one, and so is a JSON object
    with what is said around it. So is the plain word that nothing changed.
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
    """The first JSON object in a text; empty when there is none."""
    at = text.find("{")
    try:
        value, end = json.JSONDecoder().raw_decode(text, at) if at >= 0 else (None, 0)
    except (ValueError, RecursionError):
        return ""
    return text[at:end] if value else ""


def _unfenced(text: str) -> str:
    """What stands in the one fence that is the whole text, or the text."""
    body = text.strip()
    for mark in ("```", "~~~"):
        if body.startswith(mark) and body.endswith(mark) and body.count(mark) == 2:
            return body[len(mark) : -len(mark)].partition("\n")[2]
    return body
