"""How many connections may be open, and which are closed when there are too many, when a request does not arrive, or
when its answer is not taken.

Each connection takes an open file, and a process has a limited number of them. A client without a key must not be able
to use them up. A connection is therefore a stranger's until a request with a valid key arrives on it.
"""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import logging
import socket
import sys
from typing import Any, Final, Protocol

from aiohttp import web
from attrs import define, field

from saga_core.counters import Counters
from saga_server.http.held_bytes import HeldBytes
from saga_server.http.reading_pace import ReadingPace

HEAD_SECONDS = 30.0
"""Seconds within which the request line and headers must arrive, on a new connection and from their first byte on."""
SEND_SECONDS = 30.0
"""Seconds within which a client must take some of the bytes that wait for it."""

_STRANGERS = 64
"""Connections without a key that an address may keep."""
_STRANGERS_SECONDS = 1.0
"""Age from which on the others are closed. A client that opens many at once gets time to show its key."""
_MOST = 10_000
_SPARE = 128
"""Files for the stores and other things. Half of the rest is for connections, because a turn may need one to the
provider as well."""
_FEWEST = 16
_AT_ONCE = 16
"""Connections that are closed when the process has no file left."""
_QUIET_SECONDS = 60.0
"""The shortest time between two log lines about the same thing."""

_log = logging.getLogger("saga.http")


def most_connections() -> int:
    """Return how many connections may be open, by the number of files that this process may open."""
    if sys.platform == "win32":
        return _MOST
    import resource

    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return _MOST if files == resource.RLIM_INFINITY else max(_FEWEST, min(_MOST, (files - _SPARE) // 2))


def network_of(address: str | None) -> str:
    """Return the address to count by. An IPv6 client controls a /64 network, so the network is counted."""
    try:
        found = ipaddress.ip_address((address or "").partition("%")[0])
    except ValueError:  # a local socket, or a name that a proxy gives
        return address or ""
    return str(found) if found.version == 4 else str(ipaddress.ip_network((found, 64), strict=False))


class Paced(Protocol):
    """A connection that may be read slowly."""

    def pause(self, seconds: float) -> None:
        """Read nothing for ``seconds``; with 0, go on reading."""

    def read_at_once(self, size: int) -> None:
        """Read at most ``size`` bytes at once."""


@define(eq=False)
class _Open:
    transport: asyncio.Transport
    network: str
    since: float
    waiting: asyncio.TimerHandle | None
    """Closes the connection unless a request arrives."""
    owner: str
    """Whose bytes those count to that wait for the client."""
    unsent: int = 0
    sending: asyncio.TimerHandle | None = None
    """Closes the connection unless the client takes some of them."""
    known: bool = False
    busy: bool = False
    """Whether a request on it is being answered."""


@define(eq=False)
class Connections:
    """The open connections of a process."""

    counters: Counters
    held: HeldBytes = field(factory=HeldBytes)
    most: int = field(factory=most_connections)
    _open: dict[object, _Open] = field(factory=dict, init=False)
    _strangers: dict[str, dict[object, _Open]] = field(factory=dict, init=False)
    """By network: the connections without a key, the oldest first."""
    _idle: dict[object, None] = field(factory=dict, init=False)
    """The connections with a key on which no request is being answered, the one that has waited longest first."""
    _pace: ReadingPace = field(factory=ReadingPace, init=False)
    _logged: dict[str, float] = field(factory=dict, init=False)
    _out_of_files: float = field(default=0.0, init=False)

    # -- what a connection tells -------------------------------------------------------------------------------

    def opened(self, connection: Paced, transport: asyncio.Transport) -> None:
        """Take a new connection in. If there are too many, others are closed for it, or else it is."""
        loop, peer = asyncio.get_running_loop(), transport.get_extra_info("peername")
        network = network_of(peer[0] if peer else None)
        found = _Open(transport, network, loop.time(), None, owner=network)
        self._thin_out(found)
        if len(self._open) >= self.most and not self._make_room():
            self.counters.add("connections.refused")
            self._tell("refused", "%d connections are open, and all are in use; SAGA refuses more", self.most)
            transport.abort()
            return
        found.waiting = loop.call_later(HEAD_SECONDS, self._give_up, connection)
        if self._pace.left(network, found.since):
            connection.read_at_once(ReadingPace.HEAD)
        self._open[connection] = found
        self._strangers.setdefault(found.network, {})[connection] = found

    def received(self, connection: Paced, seconds: float, size: int) -> None:
        """Note that ``size`` bytes arrived, and the CPU time of parsing them.

        If they begin a request, the rest of its headers must arrive in time.
        """
        found = self._open.get(connection)
        if found is None:
            return
        loop = asyncio.get_running_loop()
        if found.waiting is None and not found.busy:
            found.waiting = loop.call_later(HEAD_SECONDS, self._give_up, connection)
        if pause := self._pace.spent(found.owner, seconds, size, loop.time()):
            self.counters.add("connections.paused")
            self._tell("paused", "%s sends requests in tiny parts; SAGA reads them slowly", found.network)
            connection.pause(pause)

    async def turn(self, connection: object) -> None:
        """Wait while nothing is read from the connection, for more may have been read of it already."""
        found = self._open.get(connection)
        if found is not None and (pause := self._pace.left(found.owner, asyncio.get_running_loop().time())):
            await asyncio.sleep(pause)

    def begins(self, connection: object) -> None:
        """Note that the headers of a request have arrived."""
        found = self._open.get(connection)
        if found is not None:
            found.busy = True
            self._idle.pop(connection, None)
            if found.waiting is not None:
                found.waiting.cancel()
                found.waiting = None

    def knows(self, connection: Paced, owner: str) -> None:
        """Note that a request of ``owner`` on the connection was let in."""
        found = self._open.get(connection)
        if found is not None:
            if not found.known:
                found.known = True
                connection.pause(0.0)
                connection.read_at_once(ReadingPace.ALL)
                self._forget_stranger(connection, found)
            if found.owner != owner:
                self._counts(found, 0)
                found.owner = owner

    def ends(self, connection: object) -> None:
        """Note that a request was answered."""
        found = self._open.get(connection)
        if found is not None:
            found.busy = False
            if found.known:
                self._idle[connection] = None

    def lags(self, connection: object) -> None:
        """Note that bytes wait for the client.

        If it takes none for ``SEND_SECONDS``, or if its key holds too many, the connection is closed.
        """
        found = self._open.get(connection)
        if found is None:
            return
        loop, size = asyncio.get_running_loop(), found.transport.get_write_buffer_size()
        if self._counts(found, size):
            self.counters.add("connections.unread")
            self._tell("much unread", "clients of one key leave many answers unread; SAGA closes their connections")
            loop.call_soon(self._give_up, connection)
        found.sending = loop.call_later(SEND_SECONDS, self._look, connection, found, size, _received(found.transport))

    def keeps_up(self, connection: object) -> None:
        """Note that no bytes wait for the client any more."""
        found = self._open.get(connection)
        if found is not None:
            self._counts(found, 0)

    def closed(self, connection: object) -> None:
        """Forget a connection."""
        found = self._open.pop(connection, None)
        if found is not None:
            self._idle.pop(connection, None)
            self._forget_stranger(connection, found)
            self._counts(found, 0)
            if found.waiting is not None:
                found.waiting.cancel()

    # -- answers that are not taken ----------------------------------------------------------------------------

    def _counts(self, found: _Open, size: int) -> bool:
        """Count the bytes that wait. Return whether the key holds more than it may."""
        if found.sending is not None:
            found.sending.cancel()
            found.sending = None
        size, found.unsent = size - found.unsent, size
        return self.held.add(found.owner, size)

    def _look(self, connection: object, found: _Open, waited: int, received: bytes) -> None:
        if found.transport.get_write_buffer_size() < waited or _received(found.transport) != received:
            self.lags(connection)
            return
        self.counters.add("connections.unread")
        self._tell("unread", "%s took nothing of an answer for %g s; SAGA gives it up", found.network, SEND_SECONDS)
        self._give_up(connection)

    # -- too many ----------------------------------------------------------------------------------------------

    def _thin_out(self, newest: _Open) -> None:
        """Close the oldest connections of strangers from the same network, beyond what it may keep."""
        strangers = self._strangers.get(newest.network, {})
        while len(strangers) >= _STRANGERS:
            oldest, found = next(iter(strangers.items()))
            if newest.since - found.since < _STRANGERS_SECONDS:
                return
            self._close(oldest)
            self._tell("strangers", "%s has many connections without a key; SAGA closes the oldest", found.network)

    def guard(self, loop: asyncio.AbstractEventLoop) -> None:
        """Handle the loop's errors about files that are used up; pass all others on."""
        former = loop.get_exception_handler() or _default

        def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
            error = context.get("exception")
            if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
                self._no_file(loop.time(), error)
            else:
                former(loop, context)

        loop.set_exception_handler(handle)

    def _no_file(self, now: float, error: OSError) -> None:
        if now - self._out_of_files < 1.0:  # the loop tells it for each client that waits
            return
        self._out_of_files = now
        self.counters.add("connections.out_of_files")
        self._tell(
            "files",
            "clients have to wait: %s; raise the limit of open files (LimitNOFILE, ulimit -n)",
            error.strerror,
        )
        for _ in range(_AT_ONCE):
            self._make_room()

    def _make_room(self) -> bool:
        """Close the connection that is needed least; false if all are in use.

        That is the oldest one without a key, of the network with the most of them. Without any, it is the one with a
        key on which no request came for the longest time.
        """
        if self._strangers:
            most = max(self._strangers, key=lambda network: len(self._strangers[network]))
            self._close(next(iter(self._strangers[most])))
        elif self._idle:
            self._close(next(iter(self._idle)))
        else:
            return False
        self._tell("scarce", "%d connections are open; SAGA closes idle ones for others", len(self._open))
        return True

    def _close(self, connection: object) -> None:
        self.counters.add("connections.closed_for_others")
        self._open[connection].transport.abort()  # not ``close``, which waits for a client that does not read
        self.closed(connection)

    def _give_up(self, connection: object) -> None:
        found = self._open.get(connection)
        if found is not None:
            found.transport.abort()
            self.closed(connection)

    def _forget_stranger(self, connection: object, found: _Open) -> None:
        of_network = self._strangers.get(found.network)
        if of_network is not None and of_network.pop(connection, None) is not None and not of_network:
            del self._strangers[found.network]

    def _tell(self, name: str, text: str, *args: object) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._logged.get(name, -_QUIET_SECONDS) >= _QUIET_SECONDS:
            self._logged[name] = now
            _log.warning(text, *args)


def _received(transport: asyncio.Transport) -> bytes:
    """How much has reached the client, if the system tells it.

    While a slow client reads on, the system's own buffer may take nothing for minutes.
    """
    sock = transport.get_extra_info("socket")
    if sys.platform != "linux" or sock is None or sock.family not in (socket.AF_INET, socket.AF_INET6):
        return b""
    return bytes(sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 128)[120:])  # tcpi_bytes_acked


def _default(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    loop.default_exception_handler(context)


CONNECTIONS: Final = web.AppKey("connections", Connections)
