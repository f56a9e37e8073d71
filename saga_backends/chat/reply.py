"""Reads replies: the one place where what a provider sends becomes parts, in every dialect and without any I/O."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from attrs import define, field

from saga_backends.chat.dialect import Pieces
from saga_backends.chat.event_lines import ErrorEvent
from saga_backends.chat.finish_reason import BROKEN, finish_reason
from saga_backends.json_text import MOST_IN_EVENT, MOST_VALUES, TooManyValues, read_text
from saga_backends.provider_error import Blame, error_in, masked_reasons, shorten
from saga_core.errors import UpstreamError
from saga_core.language import Unrepeated
from saga_core.ports import ChatPart, ExtraPart, FinishPart, TextPart

MOST_TEXT = 4_000_000
"""The maximum number of characters of text, about as many as in a million tokens. Later steps read it several times."""
MOST_BESIDE = 32_000_000
"""The maximum number of characters beside the text, in thoughts, tool calls, pictures and speech."""


@define
class ModelReply:
    """Turns the events of one reply, or the whole reply, into parts, and checks that the reply is complete.

    An event without JSON is a sign of life. An error is raised as ``UpstreamError`` wherever it stands.
    """

    blame: Blame
    pieces: Pieces
    choices: int = field(default=1, kw_only=True)
    """The number of choices that are expected."""
    beginning: str = field(default="", kw_only=True)
    """The text that no choice may repeat."""
    _done: bool = field(default=False, init=False)
    _opened: set[int] = field(factory=set, init=False)
    _closed: set[int] = field(factory=set, init=False)
    _repeats: dict[int, Unrepeated] = field(factory=dict, init=False)
    _refused: set[int] = field(factory=set, init=False)
    _spoke: set[int] = field(factory=set, init=False)
    _said: int = field(default=0, init=False)
    _beside: int = field(default=0, init=False)
    _noise: str = field(default="", init=False)
    """The last event that was no JSON."""

    @property
    def done(self) -> bool:
        """Whether nothing relevant follows."""
        return self._done or self.pieces.done

    @property
    def complete(self) -> bool:
        """Whether all choices have a finish reason, after which only the usage may follow."""
        return len(self._closed) >= self.choices

    @property
    def begun(self) -> bool:
        """Whether anything of the reply was read."""
        return self.done or bool(self._opened or self._closed)

    def event(self, data: str) -> Iterable[ChatPart]:
        """Return the parts of one event. Raises ``UpstreamError`` for an error or a damaged event."""
        if data[:1] != "{":
            data = data.strip()
            if data.startswith("[DONE]"):
                self._done = True
                return ()
            if isinstance(data, ErrorEvent) or data[:1] not in ("{", "["):
                return self._noted(data)
        value = self._parsed(data, MOST_IN_EVENT, "an event")
        if isinstance(value, list):
            return [part for each in value if isinstance(each, Mapping) for part in self._parts(each)]
        if isinstance(data, ErrorEvent):
            raise self.blame.reported(error_in(value, ()) or value)
        return self._parts(value)

    def whole(self, body: bytes) -> Iterator[ChatPart]:
        """Yield the parts of a whole reply. Raises ``UpstreamError`` if the body is not a reply."""
        value = self._parsed(body, MOST_VALUES, "a reply")
        for each in value if isinstance(value, list) and value else [value]:
            if not isinstance(each, Mapping):
                raise UpstreamError(f"{self.blame.host} sent a {type(each).__name__} where a reply was due")
            if all(each.get(name) is None for name in self.pieces.shape):
                if (error := error_in(each, ())) is not None:
                    raise self.blame.reported(error)
                raise UpstreamError(
                    f"{self.blame.host} answered without {self.pieces.shape[0]}; is its base_url the one of this API?"
                )
            yield from self._parts(each, whole=True)
        self._done = True

    def end(self) -> Iterator[ChatPart]:
        """Yield what was held back, and the usage. Raises ``UpstreamError`` if the reply is incomplete."""
        for index in list(self._repeats):
            yield from self._rest(index)
        yield from self._checked(self.pieces.end())
        if not self.done and (self._opened - self._closed or not self._closed):
            raise self.blame.unended(self._noise)

    def unexpected(self, text: str) -> UpstreamError:
        """The error for a response of which ``text`` is all that came, and which is no reply."""
        return self.blame.page(text) if text.lstrip()[:1] == "<" else self.blame.unended(text)

    def _noted(self, data: str) -> tuple[()]:
        """Note a sign of life, or raise the error that an event named ``error`` tells in plain words."""
        if isinstance(data, ErrorEvent) and data:
            raise self.blame.reported(data)
        self._noise = shorten(data) or self._noise
        return ()

    def _parsed(self, data: str | bytes, most: int, what: str) -> Any:
        try:
            return read_text(data, most)
        except TooManyValues as error:
            raise UpstreamError(f"{self.blame.host} sent {what} of {error}") from None
        except ValueError:
            why = "" if isinstance(data, str) else "; is its base_url the one of a chat API?"
            raise UpstreamError(f"{self.blame.host} sent {what} that is not JSON{why}") from None

    def _parts(self, value: Mapping[str, Any], *, whole: bool = False) -> Iterable[ChatPart]:
        error = error_in(value, self.pieces.shape)
        if error is not None:
            raise self.blame.reported(error)
        return self._checked(self.pieces.read(value, whole=whole))

    def _checked(self, parts: Iterable[ChatPart]) -> Iterator[ChatPart]:
        for part in parts:
            if isinstance(part, FinishPart):
                yield from self._finished(part)
                continue
            if isinstance(part, TextPart) and self.beginning:
                repeats = self._repeats.setdefault(part.index, Unrepeated(self.beginning))
                part = TextPart(repeats.feed(part.text), part.index)
            if isinstance(part, ExtraPart):
                part = ExtraPart(masked_reasons(part.fields, self.blame.hide), part.index)
                if part.fields.get("refusal"):
                    self._refused.add(part.index)
            if not isinstance(part, TextPart) or part.text:
                self._count(part)
                yield part

    def _finished(self, part: FinishPart) -> Iterator[ChatPart]:
        if part.index in self._closed:
            return
        reason = finish_reason(part.reason, self.blame.host)
        if reason == BROKEN:
            raise self.blame.gave_up(part.reason)
        if reason == "stop" and part.index in self._refused - self._spoke:
            reason = "content_filter"
        yield from self._rest(part.index)
        self._closed.add(part.index)
        yield FinishPart(reason, part.index)

    def _rest(self, index: int) -> Iterator[ChatPart]:
        held = self._repeats.get(index)
        if held is not None and (rest := held.finish()):
            yield TextPart(rest, index)

    def _count(self, part: ChatPart) -> None:
        """Note that ``part`` came. Raises ``UpstreamError`` if the reply becomes too long."""
        if type(part) is TextPart:
            self._opened.add(part.index)
            self._spoke.add(part.index)
            self._said += len(part.text)
        elif isinstance(part, ExtraPart):
            self._opened.add(part.index)
            self._beside += _length(part.fields)
            if refusal := part.fields.get("refusal"):  # it is read like a text, and secrets are sought in it
                self._said += _length(refusal)
        if self._said > MOST_TEXT:
            raise UpstreamError(f"{self.blame.host} sent a reply of more than {MOST_TEXT:,} characters")
        if self._beside > MOST_BESIDE:
            raise UpstreamError(f"{self.blame.host} sent more than {MOST_BESIDE:,} characters beside its reply")


def _length(value: Any) -> int:
    """The number of characters of all texts in a value, plus one for each nested value."""
    length, waiting = 0, [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            length += len(value)
        elif isinstance(value, Mapping):
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
        length += 1
    return length
