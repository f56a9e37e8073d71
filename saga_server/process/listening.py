"""Checks where a server may listen, and opens its sockets."""

from __future__ import annotations

import errno
import ipaddress
import os
import socket

from saga_core.config import ServerConfig
from saga_core.errors import ConfigError, SagaError

BACKLOG = 256


class CannotListen(SagaError):
    """The server cannot listen on the address. The message says why, and what to do."""


def is_loopback(host: str) -> bool:
    """Whether a host name or address belongs to this machine only."""
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
    """Raise ``ConfigError`` for a server that other machines can reach, or that has chat keys, without ``api_keys``."""
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
    """Open sockets that listen on every address of ``host``, all on the same port. Raises ``CannotListen``.

    Call it before opening stores: then a second server on the same port fails before it touches any data.
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
