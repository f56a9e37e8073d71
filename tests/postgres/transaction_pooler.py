"""A pooler in transaction mode in this process: each transaction meets another connection than the one before.

It does what PgBouncer does with ``pool_mode = transaction`` and ``server_reset_query_always``. A client has a
connection from the first message of a transaction to its end, and ``DISCARD ALL`` is asked between two clients. Before
that it looks what the transaction left in the session: prepared statements, settings, locks. Nothing may be.
"""

from __future__ import annotations

import asyncio
import struct
import threading
from collections import deque
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from attrs import define, field

T = TypeVar("T")

_STARTUP, _CANCEL, _SSL, _GSS = 196_608, 80_877_102, 80_877_103, 80_877_104
_ENDS_WITH_READY = b"QSF"
"""Messages of a client that the server answers with ``ReadyForQuery``."""
_LEFT = (
    "SELECT (SELECT count(*) FROM pg_prepared_statements) || ' prepared, ' || "
    "(SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()) || ' locks, ' || "
    "(SELECT count(*) FROM pg_settings WHERE source = 'session') || ' settings'"
)
_LATE_CANCEL = b"\0C57014\0"
_NOTHING = b"0 prepared, 0 locks, 0 settings"


class _Gone(Exception):
    """The other side has closed the line."""


class _Refused(Exception):
    """The server refuses to make a connection like a new one."""


@define(eq=False)
class _Line:
    """One connection, to a client or to the server."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    key: bytes = b""
    """What cancels what it does."""

    cancelling: set[asyncio.Task[None]] = field(factory=set)
    """Under way to cancel what it does: it serves nobody else until they have arrived."""
    _coming: asyncio.Task[tuple[bytes, bytes]] | None = None

    def coming(self) -> asyncio.Task[tuple[bytes, bytes]]:
        """The next message, the same until it is had: who gives up waiting loses no half of it."""
        if self._coming is None:
            self._coming = asyncio.ensure_future(self._message())
        return self._coming

    async def message(self) -> tuple[bytes, bytes]:
        """The type of the next message, and its body."""
        await asyncio.wait({self.coming()})
        return self.had()

    def had(self) -> tuple[bytes, bytes]:
        """The message that has come."""
        found, self._coming = self.coming().result(), None
        return found

    async def _message(self) -> tuple[bytes, bytes]:
        try:
            head = await self.reader.readexactly(5)
            return head[:1], await self.reader.readexactly(int.from_bytes(head[1:], "big") - 4)
        except (asyncio.IncompleteReadError, ConnectionError):
            raise _Gone from None

    def send(self, kind: bytes, body: bytes) -> None:
        self.writer.write(kind + struct.pack(">I", len(body) + 4) + body)

    async def close(self) -> None:
        self.writer.close()
        if self._coming is not None:
            self._coming.cancel()
            await asyncio.wait({self._coming})
        with suppress(OSError):
            await self.writer.wait_closed()


@define(eq=False)
class TransactionPooler:
    """``size`` connections for each user and database, however many clients there are. ``remove`` it at the end."""

    server_port: int
    size: int = 2
    left_behind: list[str] = field(factory=list, init=False)
    """What transactions left in sessions."""
    transactions: int = field(default=0, init=False)
    changes: int = field(default=0, init=False)
    """How often a client got another connection than the time before; it never gets the same."""
    port: int = field(default=0, init=False)
    _free: dict[bytes, deque[_Line]] = field(factory=dict, init=False)
    _made: dict[bytes, int] = field(factory=dict, init=False)
    _turn: dict[bytes, asyncio.Condition] = field(factory=dict, init=False)
    _linked: dict[bytes, _Line] = field(factory=dict, init=False)
    """The connections of clients that have one, by the clients' keys."""
    _clients: int = field(default=0, init=False)
    _tasks: set[asyncio.Task[None]] = field(factory=set, init=False)
    _loop: asyncio.AbstractEventLoop = field(factory=asyncio.new_event_loop, init=False)
    _thread: threading.Thread = field(init=False)
    _listening: asyncio.Server = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._thread = threading.Thread(target=self._loop.run_forever, name="pooler", daemon=True)
        self._thread.start()
        self._listening = self._do(asyncio.start_server(self._come, "127.0.0.1", 0))
        self.port = self._listening.sockets[0].getsockname()[1]

    def _do(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    @property
    def url(self) -> str:
        """Its address."""
        return f"postgresql://saga@127.0.0.1:{self.port}/postgres"

    def remove(self) -> None:
        """Close all lines, and stop."""
        self._do(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(30)
        self._loop.close()

    async def _close(self) -> None:
        self._listening.close()
        while self._tasks:
            for task in self._tasks:
                task.cancel()
            await asyncio.wait(self._tasks)
        for lines in self._free.values():
            for line in lines:
                await line.close()

    # -- a client ----------------------------------------------------------------------------------------------

    def _come(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(_Line(reader, writer)))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, client: _Line) -> None:
        try:
            startup = await self._startup(client)
            if startup is not None:
                await self._play(client, startup)
        except (_Gone, ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            return
        finally:
            await client.close()

    async def _startup(self, client: _Line) -> bytes | None:
        while True:
            size, code = struct.unpack(">II", await client.reader.readexactly(8))
            rest = await client.reader.readexactly(size - 8)
            if code in (_SSL, _GSS):
                client.writer.write(b"N")
            elif code == _CANCEL:
                await self._cancel(rest)
                return None
            else:
                assert code == _STARTUP, f"a protocol of the number {code}"
                return rest

    async def _cancel(self, key: bytes) -> None:
        line = self._linked.get(key)
        if line is not None:
            task = asyncio.create_task(self._cancel_at(line))
            line.cancelling.add(task)
            task.add_done_callback(line.cancelling.discard)
            await task

    async def _cancel_at(self, line: _Line) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.server_port)
        writer.write(struct.pack(">II", 16, _CANCEL) + line.key)
        await reader.read()  # the server closes the line when it has passed it on
        writer.close()
        await writer.wait_closed()

    async def _play(self, client: _Line, startup: bytes) -> None:
        self._clients += 1
        client.key = struct.pack(">II", self._clients, 1)
        found = startup.rstrip(b"\0").split(b"\0")
        asked = dict(zip(found[::2], found[1::2], strict=True))
        who = b"user\0%b\0database\0%b\0\0" % (asked[b"user"], asked.get(b"database", asked[b"user"]))
        line = await self._take(who)
        await self._give(who, line)
        client.send(b"R", struct.pack(">I", 0))
        for name, value in (("client_encoding", "UTF8"), ("server_version", "18.0"), ("integer_datetimes", "on")):
            client.send(b"S", f"{name}\0{value}\0".encode())
        client.send(b"S", b"standard_conforming_strings\0on\0")
        client.send(b"K", client.key)
        client.send(b"Z", b"I")
        before: _Line | None = None
        while True:
            kind, body = await client.message()
            if kind == b"X":
                return
            line = await self._take(who, before)
            self.transactions += 1
            self.changes += before is not None and before is not line
            before = line
            self._linked[client.key] = line
            clean = False
            try:
                await self._transaction(client, line, kind, body)
                clean = True
            finally:
                del self._linked[client.key]
                if not clean:  # nobody knows what is under way in it
                    await self._drop(who, line)
            await self._give(who, line)

    async def _transaction(self, client: _Line, line: _Line, kind: bytes, body: bytes) -> None:
        """Pass messages on both ways until a transaction has ended."""
        waiting, unsynced = 0, False
        while True:
            line.send(kind, body)
            waiting += kind in _ENDS_WITH_READY
            unsynced = kind not in _ENDS_WITH_READY
            while True:
                await asyncio.wait({client.coming(), line.coming()}, return_when=asyncio.FIRST_COMPLETED)
                if line.coming().done():
                    answer, what = line.had()
                    client.send(answer, what)
                    if answer == b"Z":
                        waiting -= 1
                        if what == b"I" and not waiting and not unsynced:
                            return
                elif client.coming().done():
                    break
            kind, body = client.had()
            if kind == b"X":
                raise _Gone

    # -- connections -------------------------------------------------------------------------------------------

    async def _take(self, who: bytes, before: _Line | None = None) -> _Line:
        """A connection that is free, and another one than ``before``: it is waited for."""
        turn = self._turn.setdefault(who, asyncio.Condition())
        free = self._free.setdefault(who, deque())
        async with turn:
            while self._made.get(who, 0) >= self.size:
                found = next((line for line in free if line is not before), None)
                if found is not None:
                    free.remove(found)
                    return found
                await turn.wait()
            self._made[who] = self._made.get(who, 0) + 1
        try:
            return await self._connect(who)
        except BaseException:
            await self._freed(who)
            raise

    async def _connect(self, who: bytes) -> _Line:
        line = _Line(*await asyncio.open_connection("127.0.0.1", self.server_port))
        line.writer.write(struct.pack(">II", len(who) + 8, _STARTUP) + who)
        while True:
            kind, body = await line.message()
            if kind == b"K":
                line.key = body
            elif kind == b"Z":
                return line
            elif kind == b"E":
                raise _Gone

    async def _freed(self, who: bytes) -> None:
        async with self._turn[who]:
            self._made[who] -= 1
            self._turn[who].notify_all()

    async def _drop(self, who: bytes, line: _Line) -> None:
        await line.close()
        await self._freed(who)

    async def _give(self, who: bytes, line: _Line) -> None:
        """Make a connection like a new one, and free it."""
        while line.cancelling:
            await asyncio.wait(line.cancelling)
        try:
            left = await _answer(line, _LEFT)
            if left != _NOTHING:
                self.left_behind.append(left.decode())
            await _answer(line, "DISCARD ALL")
        except BaseException as error:
            await self._drop(who, line)
            if isinstance(error, _Refused):
                self.left_behind.append(str(error))
            elif not isinstance(error, _Gone):
                raise
            return
        async with self._turn[who]:
            self._free[who].append(line)
            self._turn[who].notify_all()


async def _answer(line: _Line, question: str) -> bytes:
    """The only value of the only row, if there is one."""
    while True:
        line.send(b"Q", question.encode() + b"\0")
        found, wrong = b"", b""
        while True:
            kind, body = await line.message()
            if kind == b"D":
                found = body[6:]
            elif kind == b"E":
                wrong = body
            elif kind == b"Z":
                break
        if not wrong:
            return found
        if _LATE_CANCEL not in wrong:
            raise _Refused(wrong.decode(errors="replace"))
