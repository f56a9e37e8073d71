"""The format of replies: events of a stream, or one JSON object. And what the formats of several APIs share.

What a model says arrives in the format of OpenAI's chat API: texts, and *fields* of a delta, such as tool calls and
reasoning.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import define, field

from saga_core.ports import Usage
from saga_core.tool_calls import GatheredCall, GatheredCalls
from saga_server.http.errors import Failure, error_json, openai_error
from saga_server.http.json_body import to_json

DONE = b"data: [DONE]\n\n"
COMMENT = b": waiting\n\n"
"""A comment in a stream of events. Clients ignore it; it keeps proxies from closing the connection as idle."""


@define(eq=False)
class ReplyFormat(ABC):
    """The format of one reply. ``model`` is the model's name in the reply.

    A stream calls ``begin``, ``text`` and ``extra`` for each choice as it arrives, then ``notice``, ``finish`` for each
    choice, ``usage`` and ``end``. ``failure`` ends a stream instead. Each returns the bytes to send, possibly none.
    A reply that is not streamed calls ``whole`` alone.
    """

    model: str
    reason: str = field(default="stop", init=False)
    """The reason why the choice that ended last did so."""
    counts: Usage | None = field(default=None, init=False)
    """The token counts, once they have come."""

    @property
    def content_type(self) -> str:
        """The content type of a stream."""
        return "text/event-stream"

    def begin(self, index: int) -> bytes:
        """The beginning of a choice."""
        return b""

    @abstractmethod
    def text(self, index: int, text: str) -> bytes:
        """A piece of a choice's text."""

    def extra(self, index: int, fields: Mapping[str, Any]) -> bytes:
        """Other fields of a delta, if the format has a place for them."""
        return b""

    def finish(self, index: int, reason: str) -> bytes:
        """The end of a choice. ``reason`` is that of OpenAI's chat API: ``stop``, ``length``, …"""
        self.reason = reason
        return b""

    def usage(self, usage: Usage, dollars: float | None) -> bytes:
        """The token counts, if the client asked for them."""
        self.counts = usage
        return b""

    def end(self) -> bytes:
        """The end of the stream."""
        return b""

    def keep_alive(self) -> bytes:
        """A sign of life that keeps the connection open."""
        return COMMENT

    def notice(self, text: str) -> bytes:
        """A notice that comes too late for the headers, as a comment, which clients ignore."""
        return f": X-SAGA-Notice: {header_text(text)}\n\n".encode()

    def failure(self, failure: Failure) -> bytes:
        """An error that ends the stream."""
        return error_event(openai_error(failure)) + self.end()

    @abstractmethod
    def whole(self, choices: Sequence[Choice], usage: Usage | None, dollars: float | None) -> bytes:
        """The whole reply as JSON."""


@define
class Choice:
    """One choice of a reply that is sent as a whole."""

    index: int
    finish: str = "stop"
    _texts: list[str] = field(factory=list, init=False)
    _extra: dict[str, list[Any]] = field(factory=dict, init=False)

    def add(self, text: str, fields: Mapping[str, Any]) -> None:
        """Add a piece of text and the fields of a delta. Texts and lists are appended to, other values replaced."""
        self._texts.append(text)
        for name, value in fields.items():
            before = self._extra.get(name)
            if before and isinstance(value, str | list) and type(before[0]) is type(value):
                before.append(value)
            else:
                self._extra[name] = [value]

    @property
    def text(self) -> str:
        """The text."""
        return "".join(self._texts)

    @property
    def extra(self) -> dict[str, Any]:
        """The other fields of the message."""
        return {name: _joined(values) for name, values in self._extra.items()}


def _joined(values: list[Any]) -> Any:
    """The value that came in pieces of one type."""
    if len(values) == 1:
        return values[0]
    return "".join(values) if isinstance(values[0], str) else [each for value in values for each in value]


def event(value: Mapping[str, Any], name: str = "") -> bytes:
    """Return a server-sent event with a JSON object."""
    named = f"event: {name}\n" if name else ""
    return f"{named}data: {to_json(value)}\n\n".encode()


def error_event(error: Mapping[str, Any]) -> bytes:
    """Return the event that reports an error in mid-stream."""
    return b"data: " + error_json(error) + b"\n\n"


def openai_usage(usage: Usage, dollars: float | None = None) -> dict[str, Any]:
    """Return token counts in OpenAI's format. ``cost``, in US dollars, is present only if ``dollars`` is given."""
    written = {"cache_write_tokens": usage.cache_write} if usage.cache_write else {}
    return {
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read, **written},
        **({} if dollars is None else {"cost": round(dollars, 6)}),
    }


def reasoning_in(fields: Mapping[str, Any]) -> str:
    """Return the model's reasoning text in a delta's fields; empty if there is none."""
    text = fields.get("reasoning_content") or fields.get("reasoning")
    return text if isinstance(text, str) else ""


# -- tool calls ------------------------------------------------------------------------------------------------


def calls_in(fields: Mapping[str, Any]) -> list[GatheredCall]:
    """Return the tool calls of a whole reply."""
    gathered = GatheredCalls()
    gathered.gather(fields)
    return gathered.calls


@define
class StreamedCalls:
    """The order in which a stream of whole blocks sends tool calls whose pieces may arrive interleaved.

    One block is open at a time. The first call is sent as it arrives. The calls that begin beside it wait until it
    ends, because only the end of the calls shows that no piece of it will follow.
    """

    _gathered: GatheredCalls = field(factory=GatheredCalls, init=False)
    _sent: int = field(default=0, init=False)
    """The number of calls that are over."""
    _live: bool = field(default=False, init=False)

    def pieces(self, fields: Mapping[str, Any]) -> Iterator[tuple[GatheredCall | None, str]]:
        """Yield what can be sent now: a call that begins, or ``None`` for the open one, and a piece of arguments."""
        for at, piece in self._gathered.gather(fields):
            if at != self._sent:
                continue
            begun, self._live = None if self._live else self._gathered.calls[at], True
            yield begun, piece

    def rest(self) -> Iterator[GatheredCall]:
        """Yield the calls that waited, each whole. The open call is over, and so are these."""
        waiting = self._gathered.calls[self._sent + self._live :]
        self._sent, self._live = len(self._gathered.calls), False
        yield from waiting


# -- headers ---------------------------------------------------------------------------------------------------

_LONGEST = 400


def header_text(text: str, longest: int = _LONGEST) -> str:
    """Return ``text`` as one line of printable ASCII with at most ``longest`` characters.

    Other characters are escaped; a text that is too long is cut and ends in ``...``.
    """
    line = "".join(
        each if " " <= each <= "~" else each.encode("unicode_escape", "surrogatepass").decode("ascii")
        for each in " ".join(text[: longest * 2].split())
    )
    return line if len(line) <= longest else line[: longest - 3] + "..."
