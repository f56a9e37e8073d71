"""From a configuration to a server that listens, and back down in order."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import socket
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from aiohttp import web
from attrs import define, field

from saga_core.config import Config
from saga_core.engine.lanes import DrainReport
from saga_core.engine.saga import Saga
from saga_core.errors import BadInput, SagaError
from saga_server.app import make_app
from saga_server.chat import EXCHANGES
from saga_server.connections import ConnectionLog, listen
from saga_server.event_loop import running_watch
from saga_server.loop_metrics import LoopMetrics
from saga_server.metrics import Metrics
from saga_server.narrators import Narrators
from saga_server.security import check_listening

_log = logging.getLogger("saga.server")

_BACKLOG = 256


class CannotListen(SagaError):
    """The address cannot be listened on: the message says why and what to do."""


@define(eq=False)
class Server:
    """SAGA over HTTP. ``async with Server(config)``, or ``start`` and ``stop``."""

    config: Config
    environ: Mapping[str, str] = field(factory=lambda: os.environ, repr=False)
    port: int = field(default=0, init=False)
    """The port it listens on."""
    _saga: Saga | None = field(default=None, init=False)
    _narrators: Narrators | None = field(default=None, init=False)
    _runner: web.AppRunner | None = field(default=None, init=False)
    _sites: list[asyncio.Server] = field(factory=list, init=False)
    _warming: asyncio.Task[None] | None = field(default=None, init=False)

    @property
    def saga(self) -> Saga:
        """The engine."""
        assert self._saga is not None, "the server is not started"
        return self._saga

    @property
    def narrators(self) -> Narrators:
        """The providers."""
        assert self._narrators is not None, "the server is not started"
        return self._narrators

    @property
    def url(self) -> str:
        """Its address, as a client on this machine pastes it; the API is under ``/v1``."""
        host = self.config.server.host
        shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
        return f"http://{shown}:{self.port}"

    @property
    def open_requests(self) -> int:
        """Chat requests that are being answered or recorded."""
        return 0 if self._runner is None else len(self._runner.app[EXCHANGES])

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.stop()

    async def start(self) -> None:
        """Open everything and listen. Raises ``SagaError``; what was opened until then is closed.

        ``ConfigError`` and ``BadInput`` are the configuration's fault, ``CannotListen`` and ``StoreError`` that of the
        surroundings.
        """
        check_listening(self.config.server)
        listening = _listen(self.config.server.host, self.config.server.port)
        try:
            self.port = int(listening[0].getsockname()[1])
            self._narrators = Narrators.from_config(self.config, self.environ)
            extractor = self._narrators.extraction(self.config.models.extraction)
            curator = self._narrators.extraction(self.config.models.curator)
            self._saga = await Saga.open(self.config, extractor=extractor, curator=curator, tolerant=True)
            metrics = Metrics()
            watch = running_watch()
            if watch is not None:
                metrics.registry.register(LoopMetrics(watch))
            self._runner = web.AppRunner(
                make_app(self._saga, self._narrators, self.config, metrics),
                handler_cancellation=True,
                access_log=None,
                logger=ConnectionLog(metrics.malformed),
                shutdown_timeout=1.0,
            )
            await self._runner.setup()
            for sock in listening:
                self._sites.append(await listen(self._runner, sock, _BACKLOG))
        except BaseException:
            await self.stop(drain=0.0)
            for sock in listening:
                sock.close()
            raise
        self._warn_of_worlds()
        if not self._narrators.offline:
            self._warming = asyncio.create_task(self._narrators.warm(), name="saga-warm")

    def _warn_of_worlds(self) -> None:
        default = self.config.session.default_world
        if default is None:
            return
        try:
            self.saga.worlds.get(default)
        except BadInput as error:
            _log.warning("session.default_world: %s", error)

    async def stop(self, drain: float | None = None) -> DrainReport:
        """Stop listening, let replies and background work end within ``drain`` seconds, close everything.

        ``drain`` is ``server.drain_timeout`` when None. Replies that are not over by then are cut short, and what was
        shown of them is recorded; background work that is not done waits in the journal.
        """
        seconds = self.config.server.drain_timeout if drain is None else drain
        started = time.monotonic()
        sites, self._sites = self._sites, []
        for site in sites:
            site.close()
        if self._warming is not None:
            self._warming.cancel()
            await asyncio.gather(self._warming, return_exceptions=True)
        if self._runner is not None:
            await self._runner.app[EXCHANGES].aclose(seconds)
            await self._runner.cleanup()
            self._runner = None
        saga, self._saga = self._saga, None
        rest = max(0.0, seconds - (time.monotonic() - started))
        report = DrainReport(0) if saga is None else await saga.aclose(drain=rest)
        if self._narrators is not None:  # the engine asks the extraction model until it is closed
            await self._narrators.aclose()
        return report


def _listen(host: str, port: int) -> list[socket.socket]:
    """Sockets that listen on every address of ``host``, all on one port. Raises ``CannotListen``.

    It comes before anything is opened: of two servers on one port the second says so, and touches no data.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (socket.gaierror, UnicodeError) as error:
        raise CannotListen(f"server.host: {host!r} is no address of this machine ({error}); try 127.0.0.1") from None
    made: list[socket.socket] = []
    try:
        for family, kind, proto, _, address in dict.fromkeys(found):
            sock = socket.socket(family, kind, proto)
            made.append(sock)
            if os.name == "posix":
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            sock.bind((address[0], port or (int(made[0].getsockname()[1]) if len(made) > 1 else 0), *address[2:]))
            sock.listen(_BACKLOG)
            sock.setblocking(False)
    except OSError as error:
        for sock in made:
            sock.close()
        raise CannotListen(_why(host, port, error)) from error
    return made


def _why(host: str, port: int, error: OSError) -> str:
    where = f"{host}:{port}"
    if error.errno == errno.EADDRINUSE:
        return f"{where} is in use by another program; end that one, or choose another port with --port or server.port"
    if error.errno in (errno.EACCES, errno.EPERM):
        return f"{where} needs rights that this user lacks; choose a port from 1024 up with --port or server.port"
    if error.errno == errno.EADDRNOTAVAIL:
        return f"{where}: {host} is no address of this machine; give --host 127.0.0.1 or another that it has"
    return f"{where} cannot be listened on: {error.strerror or error}"
