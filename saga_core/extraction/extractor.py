"""The extractor: a small model reads a turn whose changes nobody reported, and reports them in a state block."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable

from attrs import define, field

from saga_core.errors import QUOTES, UpstreamError
from saga_core.extraction.answer_schema import answer_schema
from saga_core.extraction.failure import ExtractionFailed
from saga_core.extraction.question import ask, ask_again
from saga_core.model.world_state import WorldState
from saga_core.ports import ChatModel, ChatRequest, FinishPart, TextPart, TokenCounter, UsagePart
from saga_core.prompt.plan import PromptPlan
from saga_core.state_block import BlockFields, BlockStatus, StateReading, hide, parse_block, read_hidden
from saga_core.state_block.fields import squash
from saga_core.state_block.flow import Scalar
from saga_core.state_block.syntax import THINK_END
from saga_core.state_block.values import is_nothing
from saga_core.upstream.answer_format import AnswerFormat

TIMEOUT = 60.0
"""Seconds that one call may take."""
MAX_TOKENS = 1_200
"""Tokens of an answer, at most."""
_LONGEST = 60_000
_LESSONS = 3
"""Refusals of one question that are learned from, at most."""
_SHOWN = 120
_NOTHING = frozenset(
    "nothing nothingchanged nothinghaschanged nochange nochanges emptyblock 변화없음 변경없음 변동없음 바뀐것없음 "
    "변한것없음 변화가없습니다 변한것이없습니다 바뀐것이없습니다 아무것도바뀌지않았습니다 "
    "아무것도변하지않았습니다".split()
)
"""What a model says instead of an empty block, squashed."""


Paid = Callable[[UsagePart], Awaitable[None]]
"""Is told what a call cost, once for each call, also when its answer is of no use."""


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
    report: Callable[[str, int], None] = _uncounted
    _limit_name: str = field(default="max_tokens", init=False)
    """What the provider calls the limit of an answer; learned from its refusal."""
    _format: AnswerFormat = field(factory=AnswerFormat, init=False)

    async def extract(
        self,
        turn_user: str,
        turn_reply: str,
        state: WorldState,
        language: str,
        *,
        names: tuple[str, ...] = (),
        before_call: Callable[[], Awaitable[None]] | None = None,
        paid: Paid | None = None,
    ) -> StateReading:
        """What the turn changed, on the ``state`` before it: ``OK`` or ``PARTIAL``. Nothing is a valid answer.

        One answer that cannot be read is asked for again. ``language``: "ko" or "en". ``names``: further names that
        the story knows. ``before_call`` is awaited right before each call, ``paid`` after each that was billed. Raises
        ``ExtractionFailed``, and ``UpstreamError`` as the provider does.
        """
        plan = ask(turn_user, turn_reply, state, language, self.counter.count, names=names)
        reading = read_answer(await self._answer(plan, before_call, paid))
        if reading.status is BlockStatus.FALLBACK:
            self.report("extraction.repairs", 1)
            repair = ask_again(plan, reading.problems[-1], language)
            reading = read_answer(await self._answer(repair, before_call, paid))
        if reading.status is BlockStatus.FALLBACK:
            said = " ".join(reading.visible.split())[:_SHOWN]
            shown = f"{QUOTES}{said!r}" if said else ""
            raise ExtractionFailed(
                f"the answer has no state block that can be read: {reading.problems[-1]}{shown}", answered=True
            )
        return reading

    async def _answer(
        self, plan: PromptPlan, before_call: Callable[[], Awaitable[None]] | None, paid: Paid | None
    ) -> str:
        if before_call is not None:
            await before_call()
        self.report("extraction.calls", 1)
        for _ in range(_LESSONS):
            try:
                return await self._call(plan, paid)
            except UpstreamError as error:
                if error.status not in (400, 404, 422, 501) or not self._learned(str(error)):
                    raise
        return await self._call(plan, paid)

    def _learned(self, refusal: str) -> bool:
        """Take from a refusal what to ask otherwise; whether there was anything."""
        if self._limit_name == "max_tokens" and "max_tokens" in refusal:
            self._limit_name = "max_completion_tokens"  # newer models take no other name
            return True
        return self._format.learned(refusal)

    async def _call(self, plan: PromptPlan, paid: Paid | None) -> str:
        params = {self._limit_name: self.max_tokens, **self._format.params("changes", answer_schema())}
        request = ChatRequest(plan, self.model, params)
        said = _Answer()
        try:
            async with asyncio.timeout(self.timeout):
                await self._listen(request, said, paid)
        except TimeoutError:
            raise ExtractionFailed(
                f"{self.chat.name} gave no answer within {self.timeout:g} s", answered=False
            ) from None
        if said.refused:
            raise ExtractionFailed(f"{self.chat.name} refused the turn (content_filter)", answered=True)
        return "".join(said.pieces)

    async def _listen(self, request: ChatRequest, said: _Answer, paid: Paid | None) -> None:
        stream = self.chat.stream(request, streaming=False)
        bill: UsagePart | None = None
        try:
            async for part in stream:
                if isinstance(part, TextPart) and part.index == 0:
                    if said.length >= _LONGEST:
                        break
                    said.pieces.append(part.text[: _LONGEST - said.length])
                    said.length += len(part.text)
                elif isinstance(part, FinishPart) and part.index == 0:
                    said.refused = part.reason == "content_filter"
                elif isinstance(part, UsagePart):
                    bill = part
        finally:
            close = getattr(stream, "aclose", None)
            if close is not None:
                await close()
            if bill is not None:
                self.report("extraction.tokens.input", bill.usage.input)
                self.report("extraction.tokens.output", bill.usage.output)
                if paid is not None:
                    await paid(bill)


@define
class _Answer:
    pieces: list[str] = field(factory=list)
    length: int = 0
    refused: bool = False


def read_answer(text: str) -> StateReading:
    """What an answer reports. Its last state block counts; an empty one says that nothing changed.

    An answer that is nothing but a block's body, in another fence or in none, is taken for one, and so is a JSON object
    with what is said around it. So is the plain word that nothing changed.
    """
    hidden = hide(text)
    blocks = [block for block in hidden.blocks if not block.thinking]
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
