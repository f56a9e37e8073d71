"""The offline narrator, a chat model that is a small scripted game master.

Like a real model, it knows only what is in the prompt. The place, the inventory and the characters present come from
SAGA's block, so the narration is only correct if the block is. Without the block, the narrator has only the history of
the chat. It understands simple actions in Korean and English, and its state block reports exactly what its prose tells.
It is meant for tests and for trying SAGA out, without a key, a network or costs.

The same request gives the same reply, except that a repeated request is a swipe. A counter for each dialogue, kept in
this process, then chooses the next variant, with other words and another wound. So a memory that kept replies which
were swiped away would be visibly wrong.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from hashlib import blake2b
from typing import Any

from attrs import define, field
from cachetools import LRUCache

from saga_backends.chat.offline.intent import Act, Intent
from saga_backends.chat.offline.request import Heard, hear_request
from saga_backends.chat.offline.story import recap, tell
from saga_backends.chat.offline.voice import voice_for
from saga_core.errors import BadInput, UpstreamError
from saga_core.ports import ChatPart, ChatRequest, FinishPart, TextPart, Usage, UsagePart
from saga_core.registry import Backend, OpenOptions
from saga_core.state_block import BlockFields, render_block

MODEL = "saga-offline"
_REMEMBERED = 4096
_MAX_CHOICES = 16


@define
class OfflineNarrator:
    """A ``ChatModel``.

    ``seed`` selects which variant comes first. ``malformed`` is the share of replies (0 to 1) whose state block is
    missing, cut off or unreadable. The same seed always affects the same replies. ``chunk`` is the number of characters
    in a streamed piece. It is small, so that code fences arrive in pieces.
    """

    seed: int = 0
    malformed: float = 0.0
    chunk: int = 7
    _asked: LRUCache[bytes, int] = field(factory=lambda: LRUCache(_REMEMBERED), init=False)

    def __attrs_post_init__(self) -> None:
        if not 0.0 <= self.malformed <= 1.0:
            raise BadInput(f"options.malformed: {self.malformed!r} is no share; give a number from 0 to 1")
        if self.chunk < 1:
            raise BadInput(f"options.chunk: {self.chunk!r} characters make no piece; give 1 or more")

    @property
    def name(self) -> str:
        """``offline``."""
        return "offline"

    async def models(self) -> list[str]:
        """Return the only model."""
        return [MODEL]

    async def aclose(self) -> None:
        """Do nothing, because there are no resources to release."""

    async def stream(self, request: ChatRequest, *, streaming: bool = True) -> AsyncIterator[ChatPart]:
        """Yield the reply in parts, alternating between choices.

        Raises ``UpstreamError`` (400) for parameters that are not supported.
        """
        choices = _whole(request.params, "n", 1, _MAX_CHOICES) or 1
        limit = _whole(request.params, "max_completion_tokens", 1) or _whole(request.params, "max_tokens", 1)
        heard = hear_request(request.plan)
        first = self._turns(heard.digest, choices)
        replies = [
            _ended(self._reply(heard, first + index), request.params.get("stop"), limit) for index in range(choices)
        ]
        size = self.chunk if streaming else max((len(text) for text, _ in replies), default=1) or 1
        for start in range(0, max(len(text) for text, _ in replies), size):
            for index, (text, _) in enumerate(replies):
                if piece := text[start : start + size]:
                    yield TextPart(piece, index)
            await asyncio.sleep(0)
        for index, (_, reason) in enumerate(replies):
            yield FinishPart(reason, index)
        spent = sum(estimate(text) for text, _ in replies)
        yield UsagePart(Usage(input=estimate(request.plan.text()), output=spent))

    def _turns(self, digest: bytes, choices: int) -> int:
        """Return the next variant for this dialogue. Only the most recent dialogues are remembered."""
        turn = self._asked.get(digest, self.seed)
        self._asked[digest] = turn + choices
        return turn

    def _reply(self, heard: Heard, variant: int) -> str:
        last = heard.scene.said[-1] if heard.scene.said else ""
        voice = voice_for(heard.words or last)
        if not heard.words and not heard.wants_block:
            return recap(heard.scene, voice)
        intents = voice.hear(heard.words, heard.scene) if heard.words else (Intent(Act.CONTINUE),)
        prose, fields = tell(intents, heard.scene, voice, variant)
        return f"{prose}\n\n{self._block(heard.digest, variant, fields)}".rstrip() if heard.wants_block else prose

    def _block(self, digest: bytes, variant: int, fields: BlockFields) -> str:
        block = render_block(fields)
        draw = blake2b(digest + f"{self.seed}/{variant}".encode(), digest_size=8).digest()
        if int.from_bytes(draw[:6]) >= self.malformed * 2**48:
            return block
        return ("", block[: len(block) // 2], "```state\n{{ ??? }}\n```")[draw[7] % 3]


def estimate(text: str) -> int:
    """Return a rough token count, with one token for four ASCII characters or for one other character."""
    plain = len(text.encode("ascii", "ignore"))
    return -(-plain // 4) + len(text) - plain


def _ended(text: str, stop: object, limit: int | None) -> tuple[str, str]:
    """Cut the text at a stop sequence or at the token limit. Returns the text and the finish reason."""
    marks = [stop] if isinstance(stop, str) else stop if isinstance(stop, list) else []
    ends = [at for mark in marks if isinstance(mark, str) and mark and (at := text.find(mark)) >= 0]
    if ends:
        text = text[: min(ends)]
    if limit is None or estimate(text) <= limit:
        return text, "stop"
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if estimate(text[:middle]) <= limit else (low, middle - 1)
    return text[:low], "length"


def _whole(params: Mapping[str, Any], name: str, least: int, most: int | None = None) -> int | None:
    value = params.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < least or (most is not None and value > most):
        allowed = f"{least} to {most}" if most is not None else f"{least} or more"
        raise UpstreamError(
            f"{name}: {value!r} is not allowed; give a whole number, {allowed}",
            status=400,
            kind="invalid_request_error",
        )
    return value


async def _open(options: OpenOptions) -> OfflineNarrator:
    return OfflineNarrator(**options.take(seed=0, malformed=0.0, chunk=7))


BACKEND = Backend(
    kind="chat",
    name="offline",
    open=_open,
    summary="A scripted game master in Korean and English: needs no key, no network and no model",
)
