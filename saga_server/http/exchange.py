"""Narration calls and the clients that wait for them.

An exchange runs in its own task and outlives its client until the turn is recorded. Identical requests that arrive
while it runs follow it, so that a double click is one upstream call and one turn. When the last follower leaves,
the upstream call is cancelled at once and what was shown is recorded. Upstream is read no faster than the fastest
follower takes the reply.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Final, Protocol, cast

from aiohttp import web
from attrs import define, evolve, field, frozen
from cachetools import LRUCache

from saga_core import Saga
from saga_core.errors import (
    RESTART,
    BadInput,
    Conflict,
    LeaseLost,
    NotFound,
    SagaError,
    StoreError,
    UpstreamError,
    were_files_replaced,
)
from saga_core.foreign import foreign
from saga_core.ids import digest
from saga_core.model import TurnKind
from saga_core.play import PendingTurn
from saga_core.ports import AdjustedPart, ChatPart, ChatRequest, TextPart, Usage, UsagePart
from saga_core.tool_calls import GatheredCall
from saga_server.http.answers import Answer, StreamedAnswer, WholeAnswer, empty_reply_notice
from saga_server.http.callers.identity import Bearer
from saga_server.http.callers.redaction import redact
from saga_server.http.callers.spending import admit, charge, estimated, unseen_characters
from saga_server.http.client_request import LIMITS, ClientRequest
from saga_server.http.cpu_shares import LimitedWork, charged
from saga_server.http.errors import describe
from saga_server.http.reply_format import ReplyFormat
from saga_server.http.request_names import RequestNames
from saga_server.process import ADJUSTABLE, PRIVATE, Current, Metrics
from saga_server.providers import Narrators, Route, context_refusal, is_own
from saga_server.tenancy import tenancy_of

_log = logging.getLogger("saga.server")
_story_log = logging.getLogger("saga.said")

COMMIT_SECONDS = 10.0
"""Seconds that the end of a reply waits for its turn to be recorded. Recording continues after that."""

WINDOW = 256 * 1_024
"""Bytes that may be waiting for the fastest follower before reading from upstream pauses."""
UNSPLIT = "the messages of the prompt could not be told apart; it is played as one text"
_SMALLER, _MARGIN = 0.7, 0.95
"""The share of a prompt that is sent again if a server does not say its limit, and of the limit if it does."""
_REPLY = 512
"""The tokens of a reply for which the client sets no limit."""
_OF_TOOLS = re.compile(r"\btools?\b|\btool[_-]|\bfunction", re.IGNORECASE)
_NOT_OF_TOOLS = (401, 402, 403, 408, 429, 503, 529)
"""Statuses of errors that another request would get as well."""
_AT_FAULT_ITSELF = (400, 413, 422)
"""Statuses that mean the request itself is at fault, so that a fallback model would fail as well."""


_CHATS = 4_096


@frozen
class PlayedChat:
    """The session and the turn of a chat's latest request, and what SAGA had to say about it."""

    session: str
    turn: str
    notices: tuple[str, ...] = ()


@define(eq=False)
class PlayedChats:
    """The chats that named themselves since the server started, by owner and id."""

    _known: LRUCache[tuple[str, str], PlayedChat] = field(factory=lambda: LRUCache(_CHATS), init=False)

    def note(self, owner: str, chat: str, played: PlayedChat) -> None:
        """Remember where a chat was played."""
        self._known[owner, chat] = played

    def get(self, owner: str, chat: str) -> PlayedChat | None:
        """Return where a chat of ``owner`` was played last; None if that is not known."""
        return self._known.get((owner, chat))

    def of_anybody(self, chat: str) -> PlayedChat | None:
        """Return where a chat was played last, whoever played it: the panel need not have the key of the chat."""
        return next((played for (_, name), played in self._known.items() if name == chat), None)

    def forget(self, session: str) -> None:
        """Forget the chats of a session that is gone."""
        for key in [key for key, played in self._known.items() if played.session == session]:
            del self._known[key]


@frozen(kw_only=True)
class Call:
    """A request that is ready to be played."""

    request: ClientRequest
    names: RequestNames
    bearer: Bearer
    routes: tuple[Route, ...]
    """The models to ask, in order. Each is a fallback for the one before."""

    @property
    def model(self) -> str:
        """The model's name in the reply."""
        return self.request.model or self.routes[0].model

    @property
    def is_operator(self) -> bool:
        """Whether the caller runs the server. Nobody else is told about other chats."""
        return self.bearer.role == "admin"


class NarratorTools(Protocol):
    """The tools that a narrator may be offered, and the answers to its calls."""

    def beside(self, params: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
        """Return the tools to be offered beside the client's own, which ``params`` hold."""
        ...

    def answers(self, begun: PendingTurn, calls: Sequence[GatheredCall]) -> tuple[list[str], list[str]]:
        """Return the answers, and what the player is told of each call."""
        ...


@define(eq=False)
class Exchange:
    """Plays one call. Each follower reads the bytes of the reply from the beginning, whenever it joins."""

    call: Call
    saga: Saga
    current: Current
    metrics: Metrics
    chats: PlayedChats
    tools: Callable[[], NarratorTools]
    recordings: dict[asyncio.Task[Any], tuple[str, str]]
    """Recordings in progress, with session and turn, also those that take longer than ``COMMIT_SECONDS``."""
    usage: Usage | None = None
    unseen: int = 0
    """Characters of reasoning and tool calls that the model has written."""
    notices: list[str] = field(factory=list)
    """Notices about what was done differently than requested."""
    ended: bool = False
    stopped: bool = False
    _followers: int = 0
    _route: Route = field(init=False)
    _narrators: Narrators = field(init=False)
    """Those that the routes of the call belong to, even if the settings are reloaded meanwhile."""
    _format: ReplyFormat = field(init=False)
    _asker: str = field(init=False)
    """The key and the settings of the request, for which alone a refusal teaches something."""
    _pieces: list[bytes] = field(factory=list, init=False)
    _sent: int = field(default=0, init=False)
    _taken: int = field(default=0, init=False)
    """Bytes of the reply so far (``_sent``), and bytes that the fastest follower has taken."""
    _room: asyncio.Event = field(factory=asyncio.Event, init=False)
    _spoke: float = field(default=0.0, init=False)
    """When something was last sent, on the event loop's clock."""
    _timer: asyncio.TimerHandle | None = field(default=None, init=False)
    _was_read: bool = field(default=False, init=False)
    _reading_request: LimitedWork | None = field(default=None, init=False)
    _head: tuple[Mapping[str, str], str] | None = field(default=None, init=False)
    """The headers of the reply, and its content type."""
    _failure: Exception | None = field(default=None, init=False)
    _waiters: list[asyncio.Future[None]] = field(factory=list, init=False)
    _reading: asyncio.Task[None] | None = field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        self._route = self.call.routes[0]
        self._narrators = self.current.narrators
        self._format = self.call.request.reply(self.call.model)
        self._asker = digest(self.call.bearer.owner, json.dumps(self.call.request.params, sort_keys=True))

    @property
    def is_operator(self) -> bool:
        """Whether the caller runs the server."""
        return self.call.is_operator

    @property
    def mask(self) -> Callable[[str], str]:
        """Hides secrets in what a provider says, and from players its address."""
        return self.current.mask if self.is_operator else self.current.mask.for_players

    # -- following ---------------------------------------------------------------------------------------------

    @property
    def has_followers(self) -> bool:
        """Whether the exchange has followers."""
        return self._followers > 0

    def join(self) -> None:
        """Add a follower; it must ``leave``."""
        self._followers += 1

    def leave(self) -> None:
        """Remove a follower, because it has everything or its client went away. The last one stops the exchange."""
        self._followers -= 1
        if not self._followers and not self.ended:
            self.stop()

    def stop(self) -> None:
        """Cancel the upstream call and record what was shown, because no client listens or the server shuts down."""
        self.stopped = True
        self._room.set()
        if self._reading is not None:
            self._reading.cancel()

    def _is_stopped(self) -> bool:
        return self.stopped  # a method, because mypy assumes that an attribute stays the same across an await

    @property
    def spent(self) -> float:
        """The CPU time in seconds that reading the request has taken on the event loop."""
        return self._reading_request.spent if self._reading_request is not None else 0.0

    async def was_read(self) -> None:
        """Wait until the request was read and its prompt built, or until the exchange ended before that."""
        while not self._was_read and not self.ended:
            await self._changed()

    async def head(self) -> tuple[Mapping[str, str], str]:
        """Wait for the headers of the reply and its content type. Raises the error if the exchange failed before."""
        while self._head is None and not self.ended:
            await self._changed()
        if self._head is None:
            raise self._failure or UpstreamError("the server is shutting down", status=503, kind="unavailable_error")
        return self._head

    async def body(self) -> AsyncIterator[bytes]:
        """Yield the bytes of the reply, all waiting bytes at once. They count as taken when the next are asked for."""
        at = taken = 0
        while True:
            if at < len(self._pieces):
                piled = b"".join(self._pieces[at:])
                at = len(self._pieces)
                yield piled
                taken += len(piled)
                if taken > self._taken:
                    self._taken = taken
                    self._room.set()
            elif self.ended:
                return
            else:
                await self._changed()

    async def _changed(self) -> None:
        waiter = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        await waiter

    def _wake(self) -> None:
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)

    # -- the outlet of the answer ------------------------------------------------------------------------------

    def begin(self, headers: Mapping[str, str], content_type: str) -> None:
        """Begin the reply with these headers."""
        self._head = headers, content_type
        self._wake()

    def send(self, data: bytes) -> None:
        """Append ``data`` to the reply."""
        self._pieces.append(data)
        self._sent += len(data)
        self._spoke = asyncio.get_running_loop().time()
        self._wake()

    async def _taken_up(self) -> None:
        """Wait until a follower has taken enough. One that takes nothing loses its connection, and so leaves."""
        while self._sent - self._taken > WINDOW and not self._is_stopped():
            self._room.clear()
            await self._room.wait()

    def _stay_alive(self, answer: Answer, seconds: float) -> None:
        """Send a keep-alive whenever nothing was sent for so many seconds."""
        loop = asyncio.get_running_loop()
        silent = loop.time() - self._spoke
        if silent >= seconds:
            answer.keep_alive()
            silent = 0.0
        self._timer = loop.call_later(seconds - silent, self._stay_alive, answer, seconds)

    async def commit(self, begun: PendingTurn, finish: str = "") -> str | None:
        """Record the turn. A failure does not stop the story; its reason is returned as a notice."""
        recording = asyncio.create_task(charged(begun.commit(finish=finish, model=self._route.model)))
        self.recordings[recording] = (begun.session.id, begun.id)
        recording.add_done_callback(self.recordings.pop)
        shown = ""
        try:
            async with asyncio.timeout(COMMIT_SECONDS):
                await asyncio.shield(recording)
        except TimeoutError:
            recording.add_done_callback(_report_late)
            reason = f"recording takes longer than {COMMIT_SECONDS:g} s"
        except SagaError as error:
            reason = str(error)
            if not self.is_operator and isinstance(error, StoreError) and not isinstance(error, Conflict | LeaseLost):
                shown = "the store failed"  # the store's message names paths
        except Exception:  # noqa: BLE001 - logged; a failed recording must not lose the reply
            _log.exception("turn %s of session %s: recording failed", begun.id, begun.session.id)
            told = RESTART if were_files_replaced() else "the server's log tells more"
            reason = f"recording failed unexpectedly, {told}"
        else:
            if begun.session.id:
                self.metrics.commits.labels("done").inc()
            elif begun.degraded:  # played without memory, because the journal could not be read
                self.metrics.commits.labels("failed").inc()
            self.metrics.spent(begun.bill)
            return empty_reply_notice(begun, recording.result())
        self.metrics.commits.labels("failed").inc()
        _log.error("turn %s of session %s is not recorded: %s", begun.id, begun.session.id, reason)
        return f"this turn is not recorded: {shown or reason}"

    # -- playing -----------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Play the call to its end. Errors go to the followers, not to the caller."""
        end = "failed"
        try:
            with foreign:
                end = await self._play()
        except Exception as error:  # noqa: BLE001 - ``head`` raises it, or the stream reports it; logged if unexpected
            self._failure = error
            if self._head is not None:
                self.send(self._format.failure(describe(self._redacted(error), self.mask)))
        finally:
            self.ended = True
            if self._timer is not None:
                self._timer.cancel()
            self.metrics.requests.labels(end).inc()
            self._wake()

    async def _play(self) -> str:
        call = self.call
        async with self.saga.background.narrating(call.routes[0].provider.name):
            most = self.saga.config.server.max_cpu_seconds
            begun = await admit(
                tenancy_of(self.saga), call.bearer.key_id, call.request.choices, lambda: self._within(most)
            )
            self._was_read = True
            self._wake()
            self.metrics.read(begun)
            kind = StreamedAnswer if call.request.stream else WholeAnswer
            answer: Answer = kind(self, begun, self._format, call.request.wants_usage)
            if self._is_stopped():
                await answer.aborted()
                return "aborted"
            keep_alive = self.current.config.server.keep_alive
            if call.request.stream and keep_alive:
                self._spoke = asyncio.get_running_loop().time()
                self._stay_alive(answer, keep_alive)
            self._reading = asyncio.create_task(self._read(begun, answer), name=f"saga-read-{begun.id}")
            try:
                await asyncio.wait({self._reading})
            finally:
                self._reading.cancel()
        await self._bill(begun)
        _log_replies(begun, self._route.model)
        failure = None if self._reading.cancelled() else self._reading.exception()
        if self._reading.cancelled() or (self._is_stopped() and (failure is not None or not call.request.stream)):
            await answer.aborted()
            return "aborted"
        if failure is not None:
            if isinstance(failure, UpstreamError):
                _log.warning("a reply of %s failed: %s", self._route.model, failure)
            await answer.failed(cast("Exception", failure))
            return "failed"
        await answer.finished()
        self._note_chat(begun)
        return "finished"

    def _note_chat(self, begun: PendingTurn) -> None:
        """Remember where the frontend's chat was played. A side request tells nothing new of a known chat."""
        chat, owner = self.call.names.chat, self.call.bearer.owner
        if chat is None or not begun.session.id:
            return
        known = self.chats.get(owner, chat)
        turn = begun.id
        if begun.kind is TurnKind.SIDE:
            turn = known.turn if known is not None and known.session == begun.session.id else begun.parent.id
        notices = tuple(self.mask(each) for each in (*begun.notices, *self.notices))
        self.chats.note(owner, chat, PlayedChat(begun.session.id, turn, notices))

    def _within(self, seconds: float) -> LimitedWork:
        self._reading_request = LimitedWork(self._begin(), seconds)
        return self._reading_request

    async def _begin(self) -> PendingTurn:
        """Begin the turn. A marker with an unknown name is ignored, as it may come from a card; the story goes on."""
        call = self.call
        request, names = call.request, call.names
        self.notices += names.notices
        if request.text is not None and not request.text.prompt.told:
            self.saga.counters.add("text_prompts.untold")
            self.notices.append(UNSPLIT)
            _log.info("%s", UNSPLIT)
        session, world, marked = names.session, names.world, set(names.marked)
        continued = names.continued
        wanted = self._own_tools()
        own_tools = () if self._narrators.calls_no_tools(call.routes[0], self._asker) else wanted
        while True:
            try:
                begun = await self.saga.begin(
                    names.messages,
                    session=session,
                    owner=call.bearer.owner,
                    world=world,
                    choices=request.choices,
                    model=call.routes[0].model,
                    provider=call.routes[0].provider.dialect,
                    player=names.player or (request.text.prompt.player if request.text is not None else ""),
                    aside=request.aside,
                    speaker=request.text.speaker if request.text is not None else "",
                    member=names.member,
                    continued=continued,
                    window=self._narrators.window(
                        call.routes[0], self._asker, request.window, _reply_limit(request.params)
                    ),
                    tools=request.tools,
                    local=is_own(call.routes[0]),
                    completion=request.text is not None,
                    trackers=names.trackers,
                    profile=names.profile,
                    kind=names.kind,
                    own_tools=own_tools,
                )
                if not request.tools:
                    begun.hide_calls(tool["function"]["name"] for tool in wanted)
                return begun
            except BadInput as error:
                if "world" not in marked:
                    raise
                marked.discard("world")
                world = None
                self._not_heeded(error)
            except NotFound as error:
                if continued and "continue" in marked:
                    continued = ""
                    self._not_heeded(error)
                    continue
                if "session" not in marked or session is None:
                    raise
                named, at, _ = session.rpartition("@")
                session = named if at else None
                if not at:
                    marked.discard("session")
                self._not_heeded(error)

    def _own_tools(self) -> Sequence[Mapping[str, Any]]:
        """The tools of SAGA's that are wanted beside the client's."""
        wanted = self.call.names.tools or self.current.config.tools
        return () if wanted == "off" else self.tools().beside(self.call.request.params)

    def _not_heeded(self, error: SagaError) -> None:
        self.saga.counters.add("markers.unheeded")
        self.notices.append(f"a marker is not heeded: {self._redacted(error)}")

    def _redacted(self, error: Exception) -> Exception:
        return error if self.is_operator else redact(error)

    async def _read(self, begun: PendingTurn, answer: Answer) -> None:
        for number, route in enumerate(self.call.routes, 1):
            self._route = route
            try:
                await self._read_whole(route, begun, answer)
            except UpstreamError as error:
                if answer.has_begun or number == len(self.call.routes) or error.status in _AT_FAULT_ITSELF:
                    raise _with_remedy(error) from error.__cause__
                await self._keep_bill(begun)
                following = self.call.routes[number]
                _log.warning("%s narrates instead of %s: %s", following.model, route.model, error)
                self.metrics.fallbacks.inc()
                self.notices.append(f"{following.model} narrates instead of {route.model}: {error}")
            else:
                self._narrators.narrated = route
                return

    async def _read_whole(self, route: Route, begun: PendingTurn, answer: Answer) -> None:
        """Read a reply. It is asked for once more if the prompt was too long, if the model calls no tools, and if it
        told no story. It goes on if the narrator called tools of SAGA's."""
        try:
            await self._read_from(route, begun, answer)
        except UpstreamError as error:
            without = self._without_tools(error, route, begun, answer)
            if not without and not await self._narrowed(error, route, begun, answer):
                raise
            await self._read_from(route, begun, answer)
            if without and error.status < 500:
                self._narrators.learn_no_tools(route, self._asker)
        while calls := begun.own_calls():
            answers, told = self.tools().answers(begun, calls)
            begun.answer(answers)
            begun.notices = (*begun.notices, *told)
            for call in calls:
                self.saga.counters.add(f"tools.{call.name}")
            await self._keep_bill(begun)
            await self._read_from(route, begun, answer)
        if begun.ask_again():
            self.metrics.asked_again.inc()
            await self._keep_bill(begun)
            await self._read_from(route, begun, answer)

    def _without_tools(self, error: UpstreamError, route: Route, begun: PendingTurn, answer: Answer) -> bool:
        """Whether the model may have refused SAGA's tools, which are withheld from it now.

        Only a reply to the same request without them shows that it did. If the client has tools of its own, the error
        is about these as well, and the client gets it.
        """
        refused = error.status not in _NOT_OF_TOOLS and _OF_TOOLS.search(str(error)) is not None
        if not refused or self.call.request.tools or answer.has_begun or not begun.withhold_tools():
            return False
        told = f"{route.model} calls no tools, and narrates without them: {error}"
        self.notices.append(told)
        _log.warning("%s", told)
        return True

    async def _narrowed(self, error: UpstreamError, route: Route, begun: PendingTurn, answer: Answer) -> bool:
        """Whether the prompt was too long for the model, and is shorter now. The size of the context is learned."""
        refusal = context_refusal(str(error), error.status)
        if refusal is None or answer.has_begun:
            return False
        own = begun.count(begun.plan.text())
        limit = refusal.limit or int((refusal.used or own) * _SMALLER)
        share = own / refusal.used if refusal.used else 1.0
        window = int(max(0, limit - _reply_limit(self.call.request.params)) * share * _MARGIN)
        if not await begun.narrow(min(window, own), sure=bool(refusal.limit)):
            return False
        self._narrators.learn_window(route, self._asker, window)
        await self._keep_bill(begun)
        told = (
            f"the prompt was too long for {route.model} ({limit} tokens); it was sent again without the oldest messages"
        )
        self.notices.append(told)
        _log.warning("%s", told)
        return True

    async def _read_from(self, route: Route, begun: PendingTurn, answer: Answer) -> None:
        call, started = self.call, time.perf_counter()
        narrator = await self._narrators.narrator(route.provider)
        key = call.bearer.key or None if route.provider.passthrough_key else None
        params, text = begun.allowing(call.request.params), None
        if call.request.text is not None:
            params, text = call.request.text.onward(begun.plan, params, route.provider.completes_text)
        request = ChatRequest(begun.plan, route.model, params, key, begun.session.id, text)
        _log_prompt(begun, route.model)
        async with route.provider.slots.narration():
            stream = cast("AsyncGenerator[ChatPart, None]", narrator.stream(request, streaming=call.request.stream))
            async with aclosing(stream), aclosing(_in_portions(stream)) as parts:
                async for part in parts:
                    if started:
                        self.metrics.first_part.observe(time.perf_counter() - started)
                        started = 0.0
                    if isinstance(part, UsagePart):
                        self.usage = part.usage
                    elif isinstance(part, AdjustedPart):
                        self._adjusted(part)
                    else:
                        self.unseen += unseen_characters(part)
                        answer.take(part)
                    if self._sent - self._taken > WINDOW:
                        await self._taken_up()

    def _adjusted(self, part: AdjustedPart) -> None:
        self.metrics.adjusted.labels(part.name if part.name in ADJUSTABLE else "other").inc()
        if part.why not in self.notices:
            self.notices.append(part.why)

    async def _keep_bill(self, begun: PendingTurn) -> None:
        """Bill a call whose reply is not the turn's."""
        await self._bill(begun)
        begun.failing()
        self.usage, self.unseen = None, 0

    async def _bill(self, begun: PendingTurn) -> None:
        if self.usage is not None:
            begun.billed(self.usage, model=self._route.model, provider=self._route.provider.dialect)
            self.metrics.used(self.usage)
        used = self.usage or estimated(begun, self.unseen, hung_up=self._is_stopped())
        await charge(self.saga, self.call.bearer.key_id, used, self._route)


def _reply_limit(params: Mapping[str, Any]) -> int:
    """The tokens that the client allows for the reply."""
    limits = [params[name] for name in LIMITS if type(params.get(name)) is int and params[name] > 0]
    return max(limits, default=_REPLY)


def _with_remedy(error: UpstreamError) -> UpstreamError:
    """The error, with what helps if the prompt was too long."""
    refusal = context_refusal(str(error), error.status)
    if refusal is None:
        return error
    size = f"to {refusal.limit} or less" if refusal.limit else "to the size of the model's context"
    text = f"{error}; set token_budget.total_context_max {size}, or give the server a larger context"
    return UpstreamError(text, status=error.status, kind=error.kind, retry_after=error.retry_after)


def _report_late(recording: asyncio.Task[Any]) -> None:
    error = None if recording.cancelled() else recording.exception()
    if isinstance(error, SagaError):
        _log.warning("a recording that took long failed: %s", error)
    elif not recording.cancelled():
        _log.warning("a recording that took long is over", exc_info=error)


_PORTION = 4_096
"""Characters of a reply that are processed before other tasks may run, however they are split into parts. Searching
them for the state block takes up to 3 µs for each."""
_PART = 64
"""How many characters a part counts for besides its text, because each part takes some work."""


async def _in_portions(parts: AsyncIterator[ChatPart]) -> AsyncGenerator[ChatPart]:
    """Yield the parts of a reply, long texts in pieces, and let other tasks run after each portion."""
    processed = 0
    async for part in parts:
        for piece in _pieces(part):
            yield piece
            processed += _PART + (len(piece.text) if isinstance(piece, TextPart) else 0)
            if processed > _PORTION:
                processed = 0
                await asyncio.sleep(0)


def _pieces(part: ChatPart) -> list[ChatPart]:
    if not isinstance(part, TextPart) or len(part.text) <= _PORTION:
        return [part]
    return [evolve(part, text=part.text[at : at + _PORTION]) for at in range(0, len(part.text), _PORTION)]


def _log_prompt(begun: PendingTurn, model: str) -> None:
    """Log the prompt for ``model``."""
    if _story_log.isEnabledFor(logging.DEBUG):
        text = json.dumps(begun.plan.to_openai(), ensure_ascii=False)
        _story_log.debug("to %s: %s", model, text, extra=PRIVATE)


def _log_replies(begun: PendingTurn, model: str) -> None:
    """Log the replies of ``model``, state blocks included."""
    if _story_log.isEnabledFor(logging.DEBUG):
        for reply in begun.replies:
            _story_log.debug("from %s: %s", model, reply.raw, extra=PRIVATE)


# -- all exchanges ----------------------------------------------------------------------------------------------

_Key = tuple[str, tuple[str, ...], str, bytes]
"""Identifies equal requests: owner, names, API, and the body (for a large body its SHA-256)."""


@define(eq=False)
class Exchanges:
    """The running exchanges."""

    saga: Saga
    current: Current
    metrics: Metrics
    tools: Callable[[], NarratorTools]
    chats: PlayedChats = field(factory=PlayedChats, init=False)
    _by_key: dict[_Key, Exchange] = field(factory=dict, init=False)
    _recordings: dict[asyncio.Task[Any], tuple[str, str]] = field(factory=dict, init=False)
    _tasks: dict[asyncio.Task[None], Exchange] = field(factory=dict, init=False)
    closing: bool = field(default=False, init=False)
    """Whether new exchanges are refused."""

    def join(self, key: _Key, call: Call) -> Exchange:
        """Follow the running exchange of an equal call, or begin a new one. The caller must ``leave`` it.

        Raises ``UpstreamError`` when the server is shutting down.
        """
        if self.closing:
            raise UpstreamError("the server is shutting down", status=503, kind="unavailable_error", retry_after=5)
        exchange = self._by_key.get(key)
        if exchange is None or exchange.ended or exchange.stopped:
            exchange = Exchange(call, self.saga, self.current, self.metrics, self.chats, self.tools, self._recordings)
            self._by_key[key] = exchange
            task = asyncio.create_task(charged(exchange.run()), name="saga-exchange")
            self._tasks[task] = exchange
            task.add_done_callback(lambda done: self._over(key, done))
        exchange.join()
        return exchange

    def _over(self, key: _Key, task: asyncio.Task[None]) -> None:
        exchange = self._tasks.pop(task)
        if self._by_key.get(key) is exchange:
            del self._by_key[key]

    def __len__(self) -> int:
        return len(self._tasks)

    def stop_texts(self, owner: str) -> tuple[int, int]:
        """Stop the text completions of ``owner``. Return their number and that of other running replies."""
        running = list(self._tasks.values())
        own = [each for each in running if each.call.request.text is not None and each.call.bearer.owner == owner]
        for exchange in own:
            exchange.stop()
        return len(own), sum(not exchange.stopped for exchange in running)

    async def settle(self) -> None:
        """Wait for exchanges without followers, which only record their turn, and for late recordings."""
        while alone := [task for task, exchange in self._tasks.items() if not exchange.has_followers]:
            await asyncio.wait(alone)
        if self._recordings:
            await asyncio.wait(list(self._recordings))

    def recording(self) -> list[tuple[str, str]]:
        """The session and turn of each recording in progress."""
        return list(self._recordings.values())

    async def aclose(self, seconds: float) -> int:
        """Refuse new exchanges, let the running ones finish for ``seconds``, then stop them and record what was shown.

        Returns how many exchanges and recordings did not end within another ``COMMIT_SECONDS`` and were cancelled.
        """
        self.closing = True
        if self._tasks:
            await asyncio.wait(list(self._tasks), timeout=seconds)
        for exchange in self._tasks.values():
            exchange.stop()
        ends = asyncio.get_running_loop().time() + COMMIT_SECONDS
        while working := [*self._tasks, *self._recordings]:
            left = ends - asyncio.get_running_loop().time()
            if left <= 0:
                break
            await asyncio.wait(working, timeout=left)
        for task in working:
            task.cancel()
        return len(working)


EXCHANGES: Final = web.AppKey("exchanges", Exchanges)
