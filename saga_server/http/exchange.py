"""One narration call and the clients that wait for it.

An exchange runs in its own task and outlives its client until the turn is recorded. Identical requests that arrive
while it runs follow it, so that a double click is one upstream call and one turn. When the last follower leaves,
the upstream call is cancelled at once and what was shown is recorded. Upstream is read no faster than the fastest
follower takes the reply.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any, cast

from attrs import define, field, frozen

from saga_core import Saga
from saga_core.errors import BadInput, Conflict, LeaseLost, NotFound, SagaError, StoreError, UpstreamError
from saga_core.play import PendingTurn
from saga_core.ports import AdjustedPart, ChatPart, ChatRequest, Usage, UsagePart
from saga_server.http.answers import Answer, StreamedAnswer, WholeAnswer, nothing_said
from saga_server.http.call import Call
from saga_server.http.callers.discretion import discreet
from saga_server.http.callers.spending import count, estimated, let_in, letters_beside
from saga_server.http.entry.fair_share import charged
from saga_server.http.errors import describe
from saga_server.http.portions import in_portions
from saga_server.http.prompt_log import log_prompt, log_replies
from saga_server.http.shapes import Shape
from saga_server.http.text_ask import onward
from saga_server.http.work_budget import Within
from saga_server.process import ADJUSTABLE, Current, Mask, Metrics
from saga_server.providers import Narrators, Route, is_own
from saga_server.tenancy import tenancy_of

_log = logging.getLogger("saga.server")

COMMIT_SECONDS = 10.0
"""Seconds that the end of a reply waits for its turn to be recorded. Recording continues after that."""

WINDOW = 256 * 1_024
"""Bytes that may be waiting for the fastest follower before reading from upstream pauses."""
_OURS_TO_MEND = (400, 413, 422)
"""Statuses that mean the request itself is at fault, so that a fallback model would fail as well."""


@frozen
class Head:
    """The headers of a reply."""

    headers: Mapping[str, str]
    content_type: str


@define(eq=False)
class Exchange:
    """Plays one call. Each follower reads the bytes of the reply from the beginning, whenever it joins."""

    call: Call
    saga: Saga
    current: Current
    metrics: Metrics
    recordings: dict[asyncio.Task[Any], tuple[str, str]]
    """Recordings in progress, with session and turn, also those that take longer than ``COMMIT_SECONDS``."""
    usage: Usage | None = None
    beside: int = 0
    """Characters of reasoning and tool calls that the model has written."""
    notices: list[str] = field(factory=list)
    """Notices about what was done differently than requested."""
    ended: bool = False
    stopped: bool = False
    _followers: int = 0
    _route: Route = field(init=False)
    _narrators: Narrators = field(init=False)
    """Those that the routes of the call belong to, even if the settings are reloaded meanwhile."""
    _shape: Shape = field(init=False)
    _pieces: list[bytes] = field(factory=list, init=False)
    _sent: int = field(default=0, init=False)
    _taken: int = field(default=0, init=False)
    """Bytes of the reply so far (``_sent``), and bytes that the fastest follower has taken."""
    _room: asyncio.Event = field(factory=asyncio.Event, init=False)
    _spoke: float = field(default=0.0, init=False)
    """When something was last sent, on the event loop's clock."""
    _timer: asyncio.TimerHandle | None = field(default=None, init=False)
    _was_read: bool = field(default=False, init=False)
    _budget: Within | None = field(default=None, init=False)
    _head: Head | None = field(default=None, init=False)
    _failure: Exception | None = field(default=None, init=False)
    _waiters: list[asyncio.Future[None]] = field(factory=list, init=False)
    _reading: asyncio.Task[None] | None = field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        self._route = self.call.route
        self._narrators = self.current.narrators
        self._shape = self.call.shape(self.call.model)

    @property
    def discreet(self) -> bool:
        """Whether the caller is not an operator of the server."""
        return self.call.discreet

    @property
    def mask(self) -> Mask:
        """Hides secrets in what a provider says."""
        return self.current.mask

    # -- following ---------------------------------------------------------------------------------------------

    @property
    def heard(self) -> bool:
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
        return self._budget.spent if self._budget is not None else 0.0

    async def was_read(self) -> None:
        """Wait until the request was read and its prompt built, or until the exchange ended before that."""
        while not self._was_read and not self.ended:
            await self._changed()

    async def head(self) -> Head:
        """Wait for the headers of the reply. Raises the error if the exchange failed before them."""
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
        self._head = Head(headers, content_type)
        self._wake()

    def send(self, data: bytes) -> None:
        """Append ``data`` to the reply."""
        self._pieces.append(data)
        self._sent += len(data)
        self._spoke = asyncio.get_running_loop().time()
        self._wake()

    async def _taken_up(self) -> None:
        """Wait until a follower has taken enough. If nothing is taken for ``server.request_timeout``, stop."""
        patience = self.current.config.server.request_timeout
        while self._sent - self._taken > WINDOW and not self._is_stopped():
            self._room.clear()
            try:
                async with asyncio.timeout(patience):
                    await self._room.wait()
            except TimeoutError:
                _log.warning("a client took nothing of its reply for %g s; the reply ends there", patience)
                self.stop()

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
        told = ""
        try:
            async with asyncio.timeout(COMMIT_SECONDS):
                await asyncio.shield(recording)
        except TimeoutError:
            recording.add_done_callback(_report_late)
            reason = f"recording takes longer than {COMMIT_SECONDS:g} s"
        except SagaError as error:
            reason = str(error)
            if self.discreet and isinstance(error, StoreError) and not isinstance(error, Conflict | LeaseLost):
                told = "the store failed"  # the store's message names paths
        except Exception:  # noqa: BLE001 - logged; a failed recording must not lose the reply
            _log.exception("turn %s of session %s: recording failed", begun.id, begun.session.id)
            reason = "recording failed unexpectedly, the server's log tells more"
        else:
            if begun.session.id:
                self.metrics.commits.labels("done").inc()
            elif begun.degraded:  # played without memory, because the journal could not be read
                self.metrics.commits.labels("failed").inc()
            self.metrics.spent(begun.bill)
            return nothing_said(begun, recording.result())
        self.metrics.commits.labels("failed").inc()
        _log.error("turn %s of session %s is not recorded: %s", begun.id, begun.session.id, reason)
        return f"this turn is not recorded: {told or reason}"

    # -- playing -----------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Play the call to its end. Errors go to the followers, not to the caller."""
        end = "failed"
        try:
            end = await self._play()
        except Exception as error:  # noqa: BLE001 - ``head`` raises it, or the stream reports it; logged if unexpected
            self._failure = error
            if self._head is not None:
                self.send(self._shape.failure(describe(discreet(error) if self.discreet else error, self.mask).body()))
        finally:
            self.ended = True
            if self._timer is not None:
                self._timer.cancel()
            self.metrics.requests.labels(end).inc()
            self._wake()

    async def _play(self) -> str:
        call = self.call
        async with self.saga.background.narrating(call.route.provider.name):
            most = self.saga.config.server.max_cpu_seconds
            begun = await let_in(tenancy_of(self.saga), call, lambda: self._within(most))
            self._was_read = True
            self._wake()
            self.metrics.read(begun)
            kind = StreamedAnswer if call.stream else WholeAnswer
            answer: Answer = kind(self, begun, self._shape, call.wants_usage)
            if self._is_stopped():
                await answer.aborted()
                return "aborted"
            keep_alive = self.current.config.server.keep_alive
            if call.stream and keep_alive:
                self._spoke = asyncio.get_running_loop().time()
                self._stay_alive(answer, keep_alive)
            self._reading = asyncio.create_task(self._read(begun, answer), name=f"saga-read-{begun.id}")
            try:
                await asyncio.wait({self._reading})
            finally:
                self._reading.cancel()
        await self._bill(begun)
        log_replies(begun, self._route.model)
        failure = None if self._reading.cancelled() else self._reading.exception()
        if self._reading.cancelled() or (self._is_stopped() and (failure is not None or not call.stream)):
            await answer.aborted()
            return "aborted"
        if failure is not None:
            if isinstance(failure, UpstreamError):
                _log.warning("a reply of %s failed: %s", self._route.model, failure)
            await answer.failed(cast("Exception", failure))
            return "failed"
        await answer.finished()
        return "finished"

    def _within(self, seconds: float) -> Within:
        self._budget = Within(self._begin(), seconds)
        return self._budget

    async def _begin(self) -> PendingTurn:
        """Begin the turn. A marker with an unknown name is ignored, as it may come from a card; the story goes on."""
        call = self.call
        self.notices += call.notices
        session, world, marked = call.session, call.world, set(call.marked)
        while True:
            try:
                return await self.saga.begin(
                    call.messages,
                    session=session,
                    owner=call.owner,
                    world=world,
                    choices=call.choices,
                    model=call.route.model,
                    provider=call.route.provider.dialect,
                    player=call.player,
                    aside=call.aside,
                    speaker=call.speaker,
                    window=call.window,
                    tools=call.tools,
                    local=is_own(call.route),
                )
            except BadInput as error:
                if "world" not in marked:
                    raise
                marked.discard("world")
                world = None
                self._not_heeded(error)
            except NotFound as error:
                if "session" not in marked or session is None:
                    raise
                named, at, _ = session.rpartition("@")
                session = named if at else None
                if not at:
                    marked.discard("session")
                self._not_heeded(error)

    def _not_heeded(self, error: SagaError) -> None:
        self.saga.counters.add("markers.unheeded")
        self.notices.append(f"a marker is not heeded: {discreet(error) if self.discreet else error}")

    async def _read(self, begun: PendingTurn, answer: Answer) -> None:
        for number, route in enumerate(self.call.routes, 1):
            self._route = route
            try:
                await self._read_from(route, begun, answer)
            except UpstreamError as error:
                if answer.begun_saying or number == len(self.call.routes) or error.status in _OURS_TO_MEND:
                    raise
                await self._bill(begun)
                begun.failing()
                self.usage, self.beside = None, 0
                following = self.call.routes[number]
                _log.warning("%s narrates instead of %s: %s", following.model, route.model, error)
                self.metrics.fallbacks.inc()
                self.notices.append(f"{following.model} narrates instead of {route.model}: {error}")
            else:
                self._narrators.narrated = route
                return

    async def _read_from(self, route: Route, begun: PendingTurn, answer: Answer) -> None:
        call, started = self.call, time.perf_counter()
        narrator = await self._narrators.narrator(route.provider)
        key = call.api_key if route.provider.passthrough_key else None
        params, text = onward(call.text, begun.plan, begun.allowing(call.params), route.provider.completes_text)
        request = ChatRequest(begun.plan, route.model, params, key, begun.session.id, text)
        log_prompt(begun, route.model)
        async with route.provider.slots.narration():
            stream = cast("AsyncGenerator[ChatPart, None]", narrator.stream(request, streaming=call.stream))
            async with aclosing(stream), aclosing(in_portions(stream)) as parts:
                async for part in parts:
                    if started:
                        self.metrics.first_part.observe(time.perf_counter() - started)
                        started = 0.0
                    if isinstance(part, UsagePart):
                        self.usage = part.usage
                    elif isinstance(part, AdjustedPart):
                        self._adjusted(part)
                    else:
                        self.beside += letters_beside(part)
                        answer.take(part)
                    if self._sent - self._taken > WINDOW:
                        await self._taken_up()

    def _adjusted(self, part: AdjustedPart) -> None:
        self.metrics.adjusted.labels(part.name if part.name in ADJUSTABLE else "other").inc()
        if part.why not in self.notices:
            self.notices.append(part.why)

    async def _bill(self, begun: PendingTurn) -> None:
        if self.usage is not None:
            begun.billed(self.usage, model=self._route.model, provider=self._route.provider.dialect)
            self.metrics.used(self.usage)
        used = self.usage or estimated(begun, self.beside, hung_up=self._is_stopped())
        await count(self.saga, self.call.key_id, used, self._route)


def _report_late(recording: asyncio.Task[Any]) -> None:
    error = None if recording.cancelled() else recording.exception()
    if isinstance(error, SagaError):
        _log.warning("a recording that took long failed: %s", error)
    elif not recording.cancelled():
        _log.warning("a recording that took long is over", exc_info=error)
