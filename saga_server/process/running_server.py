"""Says where the server of a data directory listens: to other commands, and to systemd.

The commands send it requests, since its stores cannot be opened twice.
"""

from __future__ import annotations

import json
import logging
import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from saga_backends.path_lock import PathLock, holder_of
from saga_core.config import Config
from saga_core.errors import BadInput, NotFound, SagaError, StoreUnavailable
from saga_core.replacing import replace_file
from saga_core.storage import backend_of, path_of

if TYPE_CHECKING:
    from aiohttp import ClientResponse

_FILE = "server.json"
_SECONDS = 30.0
_MOST = 64 << 20
"""Limit of an answer, in bytes. Another program may be listening at the address by now."""
READY_AT = "SAGA ready at "
"""Start of the line that tells scripts that the server is ready, and where."""


class NotAnswered(SagaError):
    """The server that has the stores open could not be asked."""


class AnswerLost(NotAnswered):
    """The server may have done what it was asked for, but its answer could not be read."""


async def whole_answer(answer: ClientResponse, most: int) -> bytes:
    """Read the body of an answer. Raises ``AnswerLost`` as soon as it is larger than ``most`` bytes."""
    found = bytearray()
    async for chunk in answer.content.iter_any():
        found += chunk
        if len(found) > most:
            raise AnswerLost(f"{answer.url}: the answer has more than {most >> 20:,} MB")
    return bytes(found)


_held: dict[Path, PathLock] = {}
"""The locks on this process's notes. A note counts only while its lock is held."""


def note_of(config: Config) -> Path:
    """Return the file in the data directory in which a server notes its address."""
    return config.data_dir / _FILE


def publish_address(config: Config, url: str) -> None:
    """Write the server's address ``url``, and which journal it has, to a file in the data directory.

    Raises ``OSError``, and ``StoreError`` if another server has noted its own address there.
    """
    note = note_of(config)
    if note not in _held:
        _held[note] = PathLock(note)
    fresh = note.with_name(f"{_FILE}.new")
    fresh.write_text(json.dumps({"url": url, "journal": _journal(config)}), encoding="utf-8")
    replace_file(fresh, note)


def withdraw_address(config: Config) -> None:
    """Remove the file with the server's address, unless another server has it."""
    note = note_of(config)
    held = _held.pop(note, None)
    if held is not None:
        held.release()
    if holder_of(note) is None:
        note.unlink(missing_ok=True)


def address_of(config: Config) -> str | None:
    """Return the address of the running server that has the journal of ``config``, if it is noted.

    The note of a server that was killed stays, and another program may have its port by now, which must get no key. A
    note therefore counts only while it is locked by its writer.
    """
    try:
        noted = json.loads(note_of(config).read_text(encoding="utf-8"))
        url, journal = noted["url"], noted["journal"]
        alive = holder_of(note_of(config)) is not None
    except (OSError, ValueError, KeyError, TypeError, StoreUnavailable):
        return None
    return url if alive and isinstance(url, str) and journal == _journal(config) else None


def _journal(config: Config) -> str:
    """What tells the journals of one data directory apart."""
    return f"{backend_of(config, 'state')} {path_of(config, 'state') or ''}"


async def ask(
    config: Config,
    path: str,
    method: str = "GET",
    *,
    address: str | None = None,
    headers: Mapping[str, str] | None = None,
    most: int | None = None,
    seconds: float = _SECONDS,
    **sent: Any,
) -> Any:
    """Send a request to the admin API of the running server, or of the one at ``address``: see ``call_api``.

    It uses the first of ``server.api_keys``. Raises ``NotAnswered`` when no server can be asked.
    """
    url = address or address_of(config)
    if url is None:
        raise NotAnswered(
            f"no server has said in {config.data_dir} where it listens; run saga serve, or try again in a moment if "
            "one is starting, or if another command is at work; for a server elsewhere, give its address (--url)"
        )
    keys = config.server.api_keys
    headers = {**({"Authorization": f"Bearer {keys[0]}"} if keys else {}), **(headers or {})}
    return await call_api(url, path, method, headers, most or _MOST, seconds, **sent)


async def call_api(
    url: str,
    path: str,
    method: str,
    headers: Mapping[str, str],
    most: int,
    seconds: float,
    *,
    unix: str = "",
    **sent: Any,
) -> Any:
    """Send a request to the admin API of a server, and return the JSON of its answer, or else the bytes.

    ``url`` is its address. ``most`` is the limit of an answer in bytes, ``seconds`` that of the time, ``unix`` the path
    of a Unix socket that is used instead of the host in ``url``, and ``sent`` goes to aiohttp's ``request``. Raises
    ``NotAnswered`` when the server cannot be asked, ``AnswerLost`` when only its answer is missing, and ``NotFound`` or
    ``BadInput`` with the server's own message.
    """
    import aiohttp

    connector = aiohttp.UnixConnector(path=unix) if unix else None
    try:
        async with (
            aiohttp.ClientSession(
                connector=connector,
                timeout=aiohttp.ClientTimeout(total=seconds),
                headers={**headers, "Accept-Encoding": "identity"},  # a packed answer can be a thousand times as long
                auto_decompress=False,
            ) as client,
            client.request(method, f"{url}{path}", allow_redirects=False, **sent) as answer,
        ):
            raw, status, kind = await whole_answer(answer, most), answer.status, answer.content_type
        found: Any = json.loads(raw) if kind == "application/json" else raw
    except (aiohttp.ClientError, TimeoutError, ValueError, RecursionError) as error:
        failed = NotAnswered if isinstance(error, aiohttp.ClientConnectorError) else AnswerLost
        raise failed(f"{url}: the server does not answer ({type(error).__name__}: {error})") from error
    if status < 300:
        return found
    refused = {400: BadInput, 404: NotFound}.get(status, NotAnswered)
    try:
        raise refused(str(found["error"]["message"]))
    except (KeyError, TypeError):
        raise refused(f"{url}{path}: the server answered {status}") from None


# -- Notifies systemd, or a service manager with the same protocol, of the server's state ----------------------

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
