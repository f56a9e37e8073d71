"""A scripted protocol server on 127.0.0.1: the part that all dialects share."""

from __future__ import annotations

import asyncio
import json
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from types import TracebackType
from typing import Any, Self

from aiohttp import web
from attrs import define, field, frozen

Account = Callable[["Received"], Mapping[str, Any]]
"""The usage of a request in the dialect's own format, as a provider would bill it, caching rules included."""


@frozen
class Received:
    """One request as it arrived."""

    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def streaming(self) -> bool:
        """Whether it asked for a stream."""
        return self.body.get("stream") is True

    @property
    def text(self) -> str:
        """The system prompt and the messages, as JSON."""
        return json.dumps([self.body.get("system"), self.body.get("messages")], ensure_ascii=False)


@define(eq=False)
class Wire(ABC):
    """One reply being written in a dialect. ``text`` and ``end`` also work for a reply that is not streamed."""

    request: web.Request
    received: Received
    usage: Mapping[str, Any] | None
    response: web.StreamResponse | None = field(default=None, init=False)
    said: list[str] = field(factory=list, init=False)

    async def write(self, data: bytes) -> None:
        """Send exactly these bytes, after the headers of a stream."""
        if self.response is None:
            self.response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
            await self.response.prepare(self.request)
        await self.response.write(data)

    async def start(self) -> None:
        """Send what a stream begins with."""
        await self.write(b"")

    async def text(self, piece: str) -> None:
        """Send a piece of text."""
        self.said.append(piece)
        if self.received.streaming:
            await self._text(piece)

    async def end(self, finish: str = "stop") -> web.StreamResponse:
        """End the reply. ``finish`` is one of ``stop``, ``length``, ``filtered``, ``tool``."""
        if not self.received.streaming:
            return web.json_response(self._whole(finish))
        await self._end(finish)
        assert self.response is not None
        return self.response

    def reset(self) -> web.StreamResponse:
        """Cut the connection."""
        assert self.request.transport is not None
        self.request.transport.abort()
        return self.response or web.StreamResponse()

    @abstractmethod
    async def _text(self, piece: str) -> None: ...

    @abstractmethod
    async def _end(self, finish: str) -> None: ...

    @abstractmethod
    def _whole(self, finish: str) -> Mapping[str, Any]: ...

    @abstractmethod
    async def think(self, piece: str) -> None:
        """Send a piece of thinking, before any text."""

    @abstractmethod
    async def call(self, name: str, arguments: str) -> None:
        """Send a tool call, in two pieces if the dialect allows it."""

    @abstractmethod
    async def ping(self) -> None:
        """Send a keep-alive without content."""

    @abstractmethod
    async def error_event(self, message: str) -> None:
        """Send an error inside the stream."""

    @abstractmethod
    def error(
        self, status: int, message: str, kind: str = "", headers: Mapping[str, str] | None = None
    ) -> web.Response:
        """Answer with an error instead of a reply."""


Step = Callable[[Wire], Awaitable[web.StreamResponse]]
"""Answers one request."""


@define(eq=False)
class ProtocolServer(ABC):
    """Runs in ``async with``. A good request gets the next step of ``script``, or ``otherwise``. A bad one gets 400."""

    otherwise: Step
    account: Account | None = None
    """The usage of a request; None for a fixed usage."""
    key: str | None = None
    """The key that it requires; None accepts any."""
    models: tuple[str, ...] = ("narrator-1", "narrator-2")
    script: deque[Step] = field(factory=deque, init=False)
    requests: list[Received] = field(factory=list, init=False)
    refusals: list[str] = field(factory=list, init=False)
    """Why requests were refused with 400."""
    gone: asyncio.Event = field(factory=asyncio.Event, init=False)
    """Set when a client disconnects during a reply."""
    port: int = field(default=0, init=False)
    _runner: web.AppRunner | None = field(default=None, init=False)

    @property
    def root(self) -> str:
        """The host's root, without a path."""
        return f"http://127.0.0.1:{self.port}"

    @property
    @abstractmethod
    def url(self) -> str:
        """The base URL for the official SDK."""

    def then(self, *steps: Step) -> None:
        """Add steps to the script, one for each request."""
        self.script.extend(steps)

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=64 << 20)
        app.add_routes(self._routes())
        self._runner = web.AppRunner(app, handler_cancellation=True, access_log=None, shutdown_timeout=0.0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.port = site.port
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    @abstractmethod
    def _routes(self) -> list[web.RouteDef]: ...

    @abstractmethod
    def _wire(self, request: web.Request, received: Received) -> Wire: ...

    @abstractmethod
    def _problem(self, received: Received) -> str | None:
        """Why the request is bad, in the provider's words, or None if it is good."""

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        received = await self._received(request)
        self.requests.append(received)
        wire = self._wire(request, received)
        if self.key is not None and not self._knows(request):
            return wire.error(401, f"invalid key: {request.headers.get('Authorization')}")
        problem = self._problem(received)
        if problem is not None:
            self.refusals.append(problem)
            return wire.error(400, problem)
        step = self.script.popleft() if self.script else self.otherwise
        try:
            return await step(wire)
        except (asyncio.CancelledError, ConnectionError):
            self.gone.set()
            raise

    async def _received(self, request: web.Request) -> Received:
        return Received(request.path, dict(request.headers), await request.json())

    def _knows(self, request: web.Request) -> bool:
        return self.key in (request.headers.get("Authorization", "")[7:], request.headers.get("X-Api-Key"))

    async def _list(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(Received(request.path, dict(request.headers), {}))
        data = [{"id": name, "type": "model", "object": "model", "display_name": name} for name in self.models]
        return web.json_response({"object": "list", "data": data, "has_more": False})
