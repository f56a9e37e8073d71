"""Turn the parts of an upstream reply into the reply to the client: a stream of events, or one JSON object."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from attrs import define, field

from saga_backends.provider_error import masked_reasons
from saga_core.billing import Bill
from saga_core.errors import UpstreamError
from saga_core.foreign import foreign
from saga_core.model import Turn
from saga_core.play import PendingTurn
from saga_core.ports import ChatPart, ExtraPart, FinishPart, TextPart, Usage
from saga_server.http.errors import describe
from saga_server.http.reply_format import Choice, ReplyFormat, header_text

_OF_CHOICES = (TextPart, ExtraPart, FinishPart)
_WITHHELD = "degraded; whoever keeps this server finds the reason in /api/status"


class Outlet(Protocol):
    """The destination of an answer, and what the answer needs to know from it."""

    @property
    def usage(self) -> Usage | None:
        """The token counts of the provider, once they arrived."""
        ...

    @property
    def has_followers(self) -> bool:
        """Whether a client still waits for the answer."""
        ...

    @property
    def notices(self) -> Sequence[str]:
        """Notices about what was done differently than requested."""
        ...

    @property
    def is_operator(self) -> bool:
        """Whether the caller runs the server. Reasons are withheld from others, because they may quote other chats."""
        ...

    @property
    def mask(self) -> Callable[[str], str]:
        """Hides secrets in errors and notices, which may quote what a provider said."""
        ...

    def begin(self, headers: Mapping[str, str], content_type: str) -> None:
        """Send the headers."""
        ...

    def send(self, data: bytes) -> None:
        """Send a piece of the body."""
        ...

    async def commit(self, begun: PendingTurn, finish: str = "") -> str | None:
        """Record the turn. Return a notice if something went wrong."""
        ...


@define(eq=False)
class Answer(ABC):
    """The answer to one call. After its parts exactly one of ``finished``, ``failed`` and ``aborted`` is called."""

    outlet: Outlet
    begun: PendingTurn
    format: ReplyFormat
    wants_usage: bool = False

    def _send(self, form: Callable[..., bytes], *told: Any) -> None:
        self.outlet.send(_made(form, *told))

    def take(self, part: ChatPart) -> None:
        """Process a part of the upstream reply."""
        if not isinstance(part, _OF_CHOICES) or part.index >= len(self.begun.replies):
            return
        reply = self.begun.replies[part.index]
        shown: str = ""
        fields: Mapping[str, Any] = {}
        self._begin(part.index)
        if isinstance(part, TextPart):
            shown = reply.feed(part.text)
        elif isinstance(part, ExtraPart):
            shown, fields = reply.extra(masked_reasons(part.fields, self.outlet.mask))
        else:
            reply.end(part.reason)
        self._say(part.index, shown, fields)

    @abstractmethod
    def _begin(self, index: int) -> None:
        """Begin a choice, unless it has begun."""

    @abstractmethod
    def _say(self, index: int, shown: str, fields: Mapping[str, Any]) -> None:
        """Add to a choice what may be shown now: text and other fields, each possibly empty."""

    @property
    @abstractmethod
    def has_begun(self) -> bool:
        """Whether a choice has begun, so that it is too late for a fallback model."""

    @abstractmethod
    def keep_alive(self) -> None:
        """Send a sign of life, because upstream was silent for a while."""

    @abstractmethod
    async def finished(self) -> None:
        """Record the complete reply and end the answer."""

    @abstractmethod
    async def failed(self, error: Exception) -> None:
        """End the answer after upstream failed. Raises ``error`` if nothing was sent yet."""

    @abstractmethod
    async def aborted(self) -> None:
        """End the answer because the client went away or the server is shutting down."""


@define(eq=False)
class StreamedAnswer(Answer):
    """A stream of events. The turn is recorded before the event that ends the reply."""

    _begun_choices: set[int] = field(factory=set, init=False)
    _open: bool = field(default=False, init=False)
    _told: int = field(default=0, init=False)
    """The number of the turn's notices that the headers have."""

    @property
    def has_begun(self) -> bool:
        """Whether a choice has begun."""
        return bool(self._begun_choices)

    def keep_alive(self) -> None:
        """Send a comment. This opens the stream if necessary; later errors are then reported inside the stream."""
        self._open_stream()
        self._send(self.format.keep_alive)

    def _open_stream(self) -> None:
        if not self._open:
            self._open = True
            self._told = len(self.begun.notices)
            self.outlet.begin(answer_headers(self.outlet, self.begun), self.format.content_type)

    def _begin(self, index: int) -> None:
        self._open_stream()
        if index not in self._begun_choices:
            self._begun_choices.add(index)
            self._send(self.format.begin, index)

    def _say(self, index: int, shown: str, fields: Mapping[str, Any]) -> None:
        if shown:
            self._send(self.format.text, index, shown)
        if fields:
            self._send(self.format.extra, index, fields)

    def _send_rest(self) -> None:
        for index in sorted(self._begun_choices):
            self._say(index, self.begun.replies[index].finish(), {})

    async def finished(self) -> None:
        """Send the text that was held back, record the turn, and end the stream."""
        self._begin(0)
        self._send_rest()
        notice = await self.outlet.commit(self.begun)
        for late in filter(None, (notice, *self.begun.notices[self._told :])):
            self._send(self.format.notice, self.outlet.mask(late))
        for index in sorted(self._begun_choices):
            self._send(self.format.finish, index, self.begun.replies[index].ended_by)
        if self.wants_usage and self.outlet.usage is not None:
            self._send(self.format.usage, self.outlet.usage, _dollars(self.begun))
        self._send(self.format.end)

    async def failed(self, error: Exception) -> None:
        """Record what was shown as aborted, and end the stream with an error event."""
        if not self._open:
            await self.begun.abandon()
            raise error
        self._send_rest()
        await self._keep()
        self._end_with(error)

    async def aborted(self) -> None:
        """Record what was shown as aborted."""
        if self.outlet.has_followers:
            self._send_rest()
        await self._keep()
        if self.outlet.has_followers:
            self._begin(0)
            self._end_with(
                UpstreamError(
                    "the server is shutting down; what was told so far is kept", status=503, kind="unavailable_error"
                )
            )

    async def _keep(self) -> None:
        if any(reply.text.strip() for reply in self.begun.replies):
            await self.outlet.commit(self.begun, finish="aborted")
        else:
            await self.begun.abandon()

    def _end_with(self, error: Exception) -> None:
        self._send(self.format.failure, describe(error, self.outlet.mask))


def _made(form: Callable[..., bytes], *told: Any) -> bytes:
    """Return what a method of a door's format makes of the arguments. Raises ``TypeError`` if it is not bytes."""
    with foreign:
        data: object = form(*told)
    if not isinstance(data, bytes):
        what = getattr(form, "__qualname__", form)
        raise TypeError(f"{what} of a door's reply format gave a {type(data).__name__}; give bytes")
    return data


@define(eq=False)
class WholeAnswer(Answer):
    """One JSON object. A reply that breaks off was never shown, so it is not recorded."""

    _choices: dict[int, Choice] = field(factory=dict, init=False)

    def _begin(self, index: int) -> None:
        self._choices.setdefault(index, Choice(index))

    def _say(self, index: int, shown: str, fields: Mapping[str, Any]) -> None:
        self._choices[index].add(shown, fields)

    @property
    def has_begun(self) -> bool:
        """Whether a choice has begun."""
        return bool(self._choices)

    def keep_alive(self) -> None:
        """Do nothing, because a whole answer cannot send a sign of life."""

    async def finished(self) -> None:
        """Record the turn, then send the reply."""
        choices = [self._choices[index] for index in sorted(self._choices)] or [Choice(0)]
        for choice in choices:
            reply = self.begun.replies[choice.index]
            choice.add(reply.finish(), {})
            choice.finish = reply.ended_by
        notice = await self.outlet.commit(self.begun)
        late = filter(None, (notice, self.begun.cut_short))
        headers = answer_headers(self.outlet, self.begun, *late)
        if self.begun.is_lost:
            headers.pop("X-SAGA-Turn", None)
        data = _made(self.format.whole, choices, self.outlet.usage, _dollars(self.begun))
        self.outlet.begin(headers, "application/json")
        self.outlet.send(data)

    async def failed(self, error: Exception) -> None:
        """Abandon the turn, as nothing was shown, and raise ``error``."""
        await self.begun.abandon()
        raise error

    async def aborted(self) -> None:
        """Abandon the turn, as nothing was shown."""
        await self.begun.abandon()


def answer_headers(outlet: Outlet, begun: PendingTurn, *late: str) -> dict[str, str]:
    """Return the headers that say which turn the reply becomes and how reading the request went.

    For a caller who does not run the server, what is degraded for all chats is reduced to its names. It comes last in
    the notice, which may be cut, and ``late``, such as that the turn is not recorded, comes first.
    """
    degraded = [f"{name}: {why if outlet.is_operator else _WITHHELD}" for name, why in begun.degraded.items()]
    notices = (*late, *outlet.notices, *begun.notices, *degraded)
    found = {
        "X-SAGA-Session": begun.session.id,
        "X-SAGA-Turn": begun.id if begun.session.id else "",
        "X-SAGA-Parent": begun.parent.id,
        "X-SAGA-Context-Ms": f"{begun.timings['total']:.1f}",
        "X-SAGA-Late": header_text(", ".join(begun.context.late)),
        "X-SAGA-Silent": str(begun.silent) if begun.silent else "",
        "X-SAGA-Notice": header_text(outlet.mask("; ".join(notices))),
        **_cost_headers(begun.bill),
    }
    return {name: value for name, value in found.items() if value}


def empty_reply_notice(begun: PendingTurn, turns: Sequence[Turn]) -> str | None:
    """Return the notice for a reply without text, which a frontend shows as an empty message; None otherwise.

    A reply that calls a tool gets no notice, nor does a reply that was played without memory.
    """
    if turns or not begun.session.id or any(reply.calls for reply in begun.replies):
        return None
    said = "the model said nothing"
    if any(reply.text.strip() for reply in begun.replies):
        said = "the model wrote no story, but thoughts or tokens of its template"
    elif any(reply.raw.strip() and not reply.told for reply in begun.replies):
        said = "all that the model wrote was a report, or repeated SAGA's own text, and is hidden"
    return f"{said}, and this turn is not recorded; ask for another reply (swipe or regenerate)"


def _dollars(begun: PendingTurn) -> float | None:
    return None if begun.bill is None else begun.bill.dollars


def _cost_headers(bill: Bill | None) -> dict[str, str]:
    """Return the headers with the cost of the turn. It is known before the headers only if the reply is sent whole."""
    if bill is None:
        return {}
    tokens = {"input": bill.input, "read": bill.read, "written": bill.written, "output": bill.output}
    return {
        "X-SAGA-Tokens": ", ".join(f"{name}={count}" for name, count in tokens.items()),
        "X-SAGA-Cost": "" if bill.dollars is None else f"{bill.dollars:.6f}",
        "X-SAGA-Cost-Without": ""
        if bill.uncached is None or bill.without is None
        else f"cache={bill.uncached:.6f}, saga={bill.without:.6f}",
    }
