"""A line between a server and its database that can be cut, made to swallow what comes back, held, or refused."""

from __future__ import annotations

import asyncio
from contextlib import suppress

_PIECE = 65_536


class Relay:
    """Listens on loopback and passes everything on to ``target``, a port there."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._server: asyncio.Server | None = None
        self._lines: set[tuple[asyncio.StreamWriter, asyncio.StreamWriter]] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._open = asyncio.Event()
        self._open.set()
        self._swallows = False
        self.refuses = False
        """Whether new connections are closed at once."""
        self.port = 0

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    def cut(self) -> None:
        """End all connections without a goodbye, in the middle of whatever they say."""
        for pair in self._lines:
            for writer in pair:
                writer.transport.abort()

    def swallow(self) -> None:
        """From now on nothing comes back from the database; what is asked of it still arrives."""
        self._swallows = True

    def hold(self) -> None:
        """Nothing passes in either direction, and nobody is told."""
        self._open.clear()

    def mend(self) -> None:
        """Let everything pass again. What answers were swallowed on is cut: it would never go on."""
        if self._swallows:
            self.cut()
        self._swallows = False
        self._open.set()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        if self.refuses:
            writer.transport.abort()
            return
        try:
            there, back = await asyncio.open_connection("127.0.0.1", self._target)
        except OSError:
            writer.transport.abort()
            return
        pair = (writer, back)
        self._lines.add(pair)
        try:
            forth = asyncio.create_task(self._pass(reader, back, answers=False))
            await asyncio.gather(forth, self._pass(there, writer, answers=True))
        finally:
            self._lines.discard(pair)
            for end in pair:
                end.transport.abort()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, answers: bool) -> None:
        with suppress(ConnectionError):  # one end is gone: the other one is told so below
            while piece := await reader.read(_PIECE):
                await self._open.wait()
                if answers and self._swallows:
                    continue
                writer.write(piece)
                await writer.drain()
        with suppress(OSError, RuntimeError):  # what is closed by now needs no end
            writer.write_eof()

    async def aclose(self) -> None:
        assert self._server is not None
        self._server.close()
        self.mend()
        self.cut()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
