"""From a configuration to a server that listens, and back down in order."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import Awaitable, Callable, Mapping
from types import TracebackType
from typing import Self, TypeVar

from aiohttp import web
from attrs import define, field

from saga_core import Saga
from saga_core.assembly import warm_up_steps
from saga_core.background import DrainReport
from saga_core.config import Config
from saga_core.errors import BadInput
from saga_server.admin import unfinished
from saga_server.app import make_app
from saga_server.http import EXCHANGES, StartupResponder, listen
from saga_server.process import (
    BACKLOG,
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
from saga_server.providers import AutomaticExtraction, Background, Narrators
from saga_server.workers import Worker

__all__ = ["CLOSING_SECONDS", "CannotListen", "Server"]

T = TypeVar("T")

_log = logging.getLogger("saga.server")

CLOSING_SECONDS = 5.0
"""What closing one of these may take when everything else is over: connections of clients, the stores, connections to
providers. What takes longer hangs, and is left behind."""
LONGEST_CLOSING = 3 * CLOSING_SECONDS
"""What all of that takes at most."""
_LOOKS, _LOOK_SECONDS = 200, 0.05
"""How often and how far apart it is looked whether chats are open, before a start goes on beside them."""


@define(eq=False)
class Server:
    """SAGA over HTTP. ``async with Server(config)``, or ``start`` and ``stop``."""

    config: Config
    """The settings that hold."""
    environ: Mapping[str, str] = field(factory=lambda: os.environ, repr=False)
    read_again: Callable[[], Config] | None = field(default=None, repr=False)
    """Gives the settings as they are written now, for ``reload``."""
    on_reload: Callable[[Config], None] = field(default=lambda _: None, repr=False)
    """Is told of other settings, for what is not the server's own: logging."""
    worker: Worker | None = field(default=None, repr=False)
    """Set where this is one of several processes that answer on one port."""
    port: int = field(default=0, init=False)
    """The port it listens on."""
    _own: list[socket.socket] = field(factory=list, init=False)
    """What one of several processes listens on besides, for the others."""
    abandoned: tuple[str, ...] = field(default=(), init=False)
    """What did not end within its time when the server stopped, in words. The process had better end without it."""
    _saga: Saga | None = field(default=None, init=False)
    _current: Current | None = field(default=None, init=False)
    _reloading: Reloading | None = field(default=None, init=False)
    _behind: dict[str, Background | None] = field(factory=dict, init=False)
    """Setting to the model that it names, which works in the background."""
    _automatic: AutomaticExtraction | None = field(default=None, init=False)
    """Reads replies without a block where ``models.extraction`` names nobody."""
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
        """Its address, as a client on this machine pastes it; the API is under ``/v1``."""
        host = self.config.server.host
        shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
        return f"http://{shown}:{self.port}"

    def _reached_at(self) -> str:
        """Where other machines, or other processes of this one, reach it, as far as it knows."""
        port = int(self._own[0].getsockname()[1]) if self._own else self.port
        if self.config.server.host in ("0.0.0.0", "::"):
            return f"http://{socket.gethostname()}:{port}"
        return f"{self.url.rpartition(':')[0]}:{port}"

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

    # -- starting ----------------------------------------------------------------------------------------------

    async def start(self) -> None:
        """Open everything and listen. Raises ``SagaError``; what was opened until then is closed.

        Whoever asks meanwhile is told that the server is starting. ``ConfigError`` and ``BadInput`` are the
        configuration's fault, ``CannotListen`` and ``StoreError`` that of the surroundings.
        """
        check_listening(self.config.server)
        server, worker = self.config.server, self.worker
        listening = open_sockets(server.host, server.port) if worker is None else list(worker.listening)
        try:
            self.port = int(listening[0].getsockname()[1])
            if worker is None:
                async with StartupResponder(listening):
                    self._runner = await self._open()
                for sock in listening:
                    self._sites.append(await listen(self._runner, sock, BACKLOG))
            else:
                self._own = open_sockets(server.host, 0)
                self._runner = await self._open()
                for sock in self._own:
                    self._sites.append(await listen(self._runner, sock, BACKLOG))
                for sock in listening:
                    # One at a time is taken, so that nobody takes all that wait while the others have nothing to do.
                    self._sites.append(await listen(self._runner, sock, 1))
                    sock.listen(BACKLOG)
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
        """Do now what the first requests would wait for: providers are opened, worlds read, modules imported."""
        if not self.narrators.offline:
            await self.narrators.warm()
        try:
            await asyncio.to_thread(self.saga.worlds.read_all)
        except BadInput as error:
            _log.warning("%s", error)
        for step in warm_up_steps():
            await self._give_way()
            await asyncio.to_thread(step)
        await self.narrators.import_clients(self._give_way)

    async def _give_way(self) -> None:
        """Let the chats that came meanwhile be answered: beside a thread that computes each step of theirs waits."""
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
            address=self._reached_at(),
            siblings=self.worker.siblings(self.config) if self.worker is not None else None,
        )
        metrics = Metrics()
        watch = running_watch()
        if watch is not None:
            metrics.registry.register(LoopMetrics(watch))
            self._guard = LoopGuard(watch)
            self._guard.start()
        self._reloading = Reloading(self.read_again, lambda: self.config, self._hold, metrics.reloads)
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
        """Read the settings again, and go by what of them can hold at once.

        Raises ``ConfigError``, and then nothing changed; ``NotSupported`` when there is nothing to read.
        """
        assert self._reloading is not None, "the server is not started"
        return await self._reloading.reload()

    def _hold(self, config: Config) -> tuple[str, ...]:
        """Go by ``config`` from now on; the names of settings that need a restart for it."""
        assert self._current is not None and self._runner is not None, "the server is not started"
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
        exchanges = self._runner.app[EXCHANGES]
        exchanges.narrators = narrators
        exchanges.keep_alive, exchanges.patience = config.server.keep_alive, config.server.request_timeout
        self._current.config, self._current.narrators = config, narrators
        self.config = config
        self.saga.reconfigure(config)
        self.on_reload(config)
        return tuple(needs_restart)

    # -- stopping ----------------------------------------------------------------------------------------------

    async def stop(self, drain: float | None = None) -> DrainReport:
        """Stop listening, let replies and background work end within ``drain`` seconds, close everything.

        ``drain`` is ``server.drain_timeout`` when None. Replies that are not over by then are cut short, and what was
        shown of them is recorded, which may take ``COMMIT_SECONDS`` more; background work that is not done waits in
        the journal. What does not close within ``CLOSING_SECONDS`` behind that is ``abandoned``; all of it together
        takes no longer than ``LONGEST_CLOSING``.
        """
        seconds = self.config.server.drain_timeout if drain is None else drain
        loop = asyncio.get_running_loop()
        ends = loop.time() + seconds
        sites, self._sites = self._sites, []
        for site in sites:
            site.close()
        if self._current is not None:
            self._current.stopping = True
        if self._saga is not None and self._saga.parts.leases is not None:
            self._saga.parts.leases.leave()  # others play on what nobody needs here
        if self._warming is not None:
            self._warming.cancel()
            await asyncio.gather(self._warming, return_exceptions=True)
        if self._runner is not None:
            if await self._runner.app[EXCHANGES].aclose(seconds):
                self._abandon("recording what was shown")
            if await unfinished(self._runner.app, max(0.0, ends - loop.time())):
                self._abandon("a request to the admin API")
            await self._in_time(self._runner.cleanup(), "connections")
            self._runner = None
        guard, self._guard = self._guard, None
        if guard is not None:
            guard.stop()
        saga, self._saga = self._saga, None
        rest = max(0.0, ends - loop.time())
        report = DrainReport(0)
        if saga is not None:
            waiting = saga.background.waiting
            closed = await self._in_time(saga.aclose(drain=rest), "the stores", rest)
            report = DrainReport(0, waiting()) if closed is None else closed
        former, self._former = self._former, []
        current, self._current = self._current, None
        # Now: the engine asks models until it is closed. All at once: each time that settings were read left one more.
        providers = [each.aclose() for each in (*former, *([current.narrators] if current is not None else []))]
        await self._in_time(asyncio.gather(*providers), "connections to providers")
        return report

    async def _in_time(self, closing: Awaitable[T], what: str, seconds: float = 0.0) -> T | None:
        """What ``closing`` gives; None when it takes longer than ``seconds`` and ``CLOSING_SECONDS``."""
        task = asyncio.ensure_future(closing)
        await asyncio.wait({task}, timeout=seconds + CLOSING_SECONDS)
        if task.done():
            return task.result()
        task.cancel()
        self._abandon(what)
        return None

    def _abandon(self, what: str) -> None:
        _log.error("stopping: %s did not end in time, and is left behind; what was recorded is safe", what)
        self.abandoned = (*self.abandoned, what)
