"""Where a server may listen, and sockets to listen on."""

from __future__ import annotations

import errno
import ipaddress
import os
import socket

from saga_core.config import ServerConfig
from saga_core.errors import ConfigError, SagaError

BACKLOG = 256


class CannotListen(SagaError):
    """The address cannot be listened on: the message says why and what to do."""


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine's own."""
    name = host.strip("[]").lower().rstrip(".")
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def check_listening(server: ServerConfig) -> None:
    """Refuse to listen beyond this machine without keys. Raises ``ConfigError``."""
    if server.chat_keys and not server.api_keys:
        raise ConfigError(
            "config",
            ("server.chat_keys: nobody could administer; set server.api_keys as well, whose keys may do everything",),
        )
    if not is_loopback(server.host) and not server.api_keys:
        raise ConfigError(
            "config",
            (
                f"server.host: {server.host} can be reached from other machines, and server.api_keys is empty; "
                "set server.api_keys, or server.host: 127.0.0.1",
            ),
        )


def open_sockets(host: str, port: int) -> list[socket.socket]:
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
            sock.listen(BACKLOG)
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
