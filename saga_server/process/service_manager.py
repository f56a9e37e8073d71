"""Notifies systemd, or a service manager with the same protocol, of the server's state."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Mapping

_log = logging.getLogger("saga.server")

READY = "READY=1"
STOPPING = "STOPPING=1"


def tell_manager(state: str, environ: Mapping[str, str] | None = None) -> None:
    """Send ``state`` to the socket named by ``NOTIFY_SOCKET``, if that is set. Errors are logged."""
    name = (os.environ if environ is None else environ).get("NOTIFY_SOCKET", "")
    if not name:
        return
    address = "\0" + name[1:] if name.startswith("@") else name  # an abstract socket, which is not a file
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
            sock.sendto(state.encode(), address)
    except OSError as error:
        _log.warning("NOTIFY_SOCKET: %s cannot be told %s (%s)", name, state, error.strerror or error)
