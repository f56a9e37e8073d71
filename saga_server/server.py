"""Starts a server from a configuration, reloads its settings, and shuts it down in order."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

from aiohttp import web
from attrs import define, field

from saga_core import Saga
from saga_core.assembly import warm_up_steps
from saga_core.background import DrainReport
from saga_core.config import Config
from saga_core.errors import BadInput
from saga_server.admin import unfinished
from saga_server.app import make_app
from saga_server.http import EXCHANGES, answering_while_starting, listen
from saga_server.process import (
    CannotListen,
    Current,
    LoopGuard,
    LoopMetrics,
    Metrics,
    Reloaded,
    Reloading,
    check_listening,
    open_sockets,
    running_watch,
)
from saga_server.providers import AutomaticExtraction, BackgroundModels, Narrators
from saga_server.tenancy import Tenancy, tenancy_of

if TYPE_CHECKING:
    from saga_server.hosting import Worker

__all__ = ["CLOSING_SECONDS", "CannotListen", "Server"]

T = TypeVar("T")

_log = logging.getLogger("saga.server")

CLOSING_SECONDS = 5.0
"""Time limit for closing each of the client connections, the stores, and the provider connections, after the work is
done. What takes longer is considered hanging, and is abandoned."""
LONGEST_CLOSING = 3 * CLOSING_SECONDS
"""Time limit for closing all three."""
_LOOKS, _LOOK_SECONDS = 200, 0.05
"""How often, and how many seconds apart, warming up checks for open chats before it continues beside them."""


@define(eq=False)
class Server:
    """SAGA over HTTP. Use ``async with Server(config)``, or ``start`` and ``stop``."""

    config: Config
    """The settings in force."""
    environ: Mapping[str, str] = field(factory=lambda: os.environ, repr=False)
    read_again: Callable[[], Config] | None = field(default=None, repr=False)
    """Reads the settings as they are now, for ``reload``."""
    settings_file: Path | None = None
    """The file from which ``read_again`` reads them, which need not be there yet."""
    on_reload: Callable[[Config], None] = field(default=lambda _: None, repr=False)
    """Called with the new settings after a reload, for what the server does not control itself, such as logging."""
    worker: Worker | None = field(default=None, repr=False)
    """Set if this is one of several processes that share a port."""
    asks_context_sizes: bool = False
    """Whether providers on this machine and on private networks are asked for the size of their contexts at start."""
    port: int = field(default=0, init=False)
    """The port on which the server listens."""
    _own: list[socket.socket] = field(factory=list, init=False)
    """Sockets of this process alone, on which the other processes reach it. Only with a ``worker``."""
    abandoned: tuple[str, ...] = field(default=(), init=False)
    """What did not end in time when the server stopped, in words. The process should exit without waiting for it."""
    _saga: Saga | None = field(default=None, init=False)
    _current: Current | None = field(default=None, init=False)
    _reloading: Reloading | None = field(default=None, init=False)
    _behind: dict[str, BackgroundModels | None] = field(factory=dict, init=False)
    """The background models, by the setting that names them."""
    _automatic: AutomaticExtraction | None = field(default=None, init=False)
    """Reads replies without a state block if ``models.extraction`` is not set."""
    _former: list[Narrators] = field(factory=list, init=False)
    _runner: web.AppRunner | None = field(default=None, init=False)
    _sites: list[asyncio.Server] = field(factory=list, init=False)
    _warming: asyncio.Task[None] | None = field(default=None, init=False)
    _guard: LoopGuard | None = field(default=None, init=False)

    @property
    def saga(self) -> Saga:
        """The engine."""
        assert self._saga is not None, "the server is not started"
        return self._saga

    @property
    def narrators(self) -> Narrators:
        """The providers."""
        assert self._current is not None, "the server is not started"
        return self._current.narrators

    @property
    def url(self) -> str:
        """The address for clients on this machine. The API is below ``/v1``."""
        host = self.config.server.host
        shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
        return f"http://{shown}:{self.port}"

    def _reached_at(self) -> str:
        """Return the best known address for other machines and for other processes on this machine."""
        port = int(self._own[0].getsockname()[1]) if self._own else self.port
        if self.config.server.host in ("0.0.0.0", "::"):
            return f"http://{socket.gethostname()}:{port}"
        return f"{self.url.rpartition(':')[0]}:{port}"

    @property
    def open_requests(self) -> int:
        """The number of chat requests that are being answered or recorded."""
        return 0 if self._runner is None else len(self._runner.app[EXCHANGES])

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.stop()

    # -- starting ----------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Open everything and listen. Requests that arrive meanwhile are answered that the server is starting.

        Raises ``SagaError`` after closing what was opened: ``ConfigError`` and ``BadInput`` for errors in the
        configuration, and ``CannotListen`` and ``StoreError`` for errors of the system.
        """
        check_listening(self.config.server)
        server, worker = self.config.server, self.worker
        listening = open_sockets(server.host, server.port) if worker is None else list(worker.listening)
        try:
            self.port = int(listening[0].getsockname()[1])
            if worker is None:
                async with answering_while_starting(listening):
                    self._runner = await self._open()
                for sock in listening:
                    self._sites.append(await listen(self._runner, sock))
            else:
                self._own = open_sockets(server.host, 0)
                self._runner = await self._open()
                for sock in self._own:
                    self._sites.append(await listen(self._runner, sock))
                for sock in listening:
                    # Accept one connection at a time, so that no process takes all waiting ones while others are idle.
                    self._sites.append(await listen(self._runner, sock, at_once=1))
        except BaseException:
            await self.stop(drain=0.0)
            for sock in (*listening, *self._own):
                sock.close()
            raise
        self._warn_of_worlds()
        if unheard := self.narrators.unheard(self.config):
            _log.warning("%s", unheard)
        self._warming = asyncio.create_task(self._warm(), name="saga-warm")

    async def _warm(self) -> None:
        """Open the providers, read the worlds, and import modules, so that the first requests need not wait for it."""
        if not self.narrators.offline:
            await self.narrators.warm()
            if self.asks_context_sizes:
                await self.narrators.ask_context_sizes()
        try:
            await asyncio.to_thread(self.saga.worlds.read_all)
        except BadInput as error:
            _log.warning("%s", error)
        for step in warm_up_steps():
            await self._give_way()
            await asyncio.to_thread(step)

    async def _give_way(self) -> None:
        """Wait up to 10 seconds until no chat is open, because a computing thread slows down each step of a chat."""
        for _ in range(_LOOKS):
            if not self.open_requests:
                return
            await asyncio.sleep(_LOOK_SECONDS)

    async def _open(self) -> web.AppRunner:
        narrators = Narrators.from_config(self.config, self.environ)
        self._current = Current(self.config, narrators)
        self._behind = {
            "models.extraction": narrators.extraction(self.config.models.extraction),
            "models.curator": narrators.extraction(self.config.models.curator),
        }
        extractor, curator = self._behind.values()
        self._automatic = AutomaticExtraction.of(narrators, self.config)
        if self._automatic is not None:
            _log.info("%s is asked about replies without a state block (extraction.automatic)", self._automatic.name)
        self._saga = await Saga.open(
            self.config,
            extractor=extractor,
            curator=curator,
            automatic=self._automatic,
            tolerant=True,
            hosting=Tenancy(
                address=self._reached_at(),
                siblings=self.worker.siblings(self.config) if self.worker is not None else None,
            ),
        )
        metrics = Metrics()
        watch = running_watch()
        if watch is not None:
            metrics.registry.register(LoopMetrics(watch))
            self._guard = LoopGuard(watch)
            self._guard.start()
        self._reloading = Reloading(
            self.read_again, lambda: self.config, self._hold, metrics.reloads, self.settings_file
        )
        app = make_app(self._saga, self._current, metrics, self._reloading, self.worker)
        runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=1.0)
        await runner.setup()
        return runner

    def _warn_of_worlds(self) -> None:
        default = self.config.session.default_world
        if default is None:
            return
        try:
            self.saga.worlds.get(default)
        except BadInput as error:
            _log.warning("session.default_world: %s", error)

    # -- other settings ----------------------------------------------------------------------------------------

    async def reload(self) -> Reloaded:
        """Read the settings again, and apply those that can change at once.

        Raises ``ConfigError`` for invalid settings, and then nothing changes. Raises ``NotSupported`` when there is
        nothing to read.
        """
        assert self._reloading is not None, "the server is not started"
        return await self._reloading.reload()

    def _hold(self, config: Config) -> tuple[str, ...]:
        """Apply ``config``, and return the names of the settings that need a restart."""
        assert self._current is not None, "the server is not started"
        narrators = Narrators.from_config(config, self.environ).after(self.narrators)
        self._former.append(self.narrators)
        needs_restart = []
        for name, model in self._behind.items():
            fresh = narrators.extraction(getattr(config.models, name.partition(".")[2]))
            if model is not None and fresh is not None:
                model.narrator, model.route = fresh.narrator, fresh.route
            elif model is not fresh:
                needs_restart.append(name)
        if self._automatic is not None:
            self._automatic.narrators, self._automatic.config = narrators, config
        elif AutomaticExtraction.of(narrators, config) is not None:
            needs_restart.append("extraction.automatic")
        self._current.config, self._current.narrators = config, narrators
        self.config = config
        self.saga.reconfigure(config)
        self.on_reload(config)
        return tuple(needs_restart)

    # -- stopping ----------------------------------------------------------------------------------------------

    async def stop(self, drain: float | None = None) -> DrainReport:
        """Stop listening, let replies and background work finish within ``drain`` seconds, and close everything.

        ``drain`` defaults to ``server.drain_timeout``. Replies that are not finished by then are cut, and what the
        client received of them is recorded, which may take ``COMMIT_SECONDS`` more. Unfinished background work waits in
        the journal. What does not close within another ``CLOSING_SECONDS`` is ``abandoned``; closing everything takes
        no longer than ``LONGEST_CLOSING``. Raises ``StoreError`` in the end if a plugin cannot be closed.
        """
        seconds = self.config.server.drain_timeout if drain is None else drain
        loop = asyncio.get_running_loop()
        ends = loop.time() + seconds
        sites, self._sites = self._sites, []
        for site in sites:
            site.close()
        if self._current is not None:
            self._current.stopping = True
        if self._saga is not None and (leases := tenancy_of(self._saga).leases) is not None:
            leases.leave()  # other servers may take over idle sessions
        if self._warming is not None:
            self._warming.cancel()
            await asyncio.gather(self._warming, return_exceptions=True)
        if self._runner is not None:
            if await self._runner.app[EXCHANGES].aclose(seconds):
                self._abandon("recording what was shown")
            if await unfinished(self._runner.app, max(0.0, ends - loop.time())):
                self._abandon("a request to the admin API")
            await self._in_time(self._runner.cleanup(), lambda: "connections")
            self._runner = None
        guard, self._guard = self._guard, None
        if guard is not None:
            guard.stop()
        saga, self._saga = self._saga, None
        rest = max(0.0, ends - loop.time())
        report = DrainReport(0)
        try:
            if saga is not None:
                waiting = saga.background.waiting
                closed = await self._in_time(saga.aclose(drain=rest), lambda: saga.stores.closing or "the stores", rest)
                report = DrainReport(0, waiting()) if closed is None else closed
        finally:
            former, self._former = self._former, []
            current, self._current = self._current, None
            # Only now, as the engine uses models until it is closed. Concurrently, as each reload left narrators.
            providers = [each.aclose() for each in (*former, *([current.narrators] if current is not None else []))]
            await self._in_time(asyncio.gather(*providers), lambda: "connections to providers")
        return report

    async def _in_time(self, closing: Awaitable[T], what: Callable[[], str], seconds: float = 0.0) -> T | None:
        """Return the result of ``closing``, or None if it takes longer than ``seconds`` plus ``CLOSING_SECONDS``."""
        task = asyncio.ensure_future(closing)
        await asyncio.wait({task}, timeout=seconds + CLOSING_SECONDS)
        if task.done():
            return task.result()
        left = what()
        task.cancel()
        self._abandon(left)
        return None

    def _abandon(self, what: str) -> None:
        _log.error("stopping: left behind, as it did not end in time: %s; what was recorded is safe", what)
        self.abandoned = (*self.abandoned, what)
