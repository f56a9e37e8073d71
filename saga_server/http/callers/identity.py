"""Identify the caller: the bearer token, the session named behind it, and the fingerprint of the key."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from aiohttp import web
from attrs import field, frozen

from saga_server.tenancy import owner_of

if TYPE_CHECKING:
    from saga_server.hosting import KeyRecord

_NO_KEYS = frozenset({"", "undefined", "null", "none"})


@frozen
class Bearer:
    """A bearer token. ``KEY#SESSION`` names a session behind the key."""

    key: str = field(default="", repr=False)
    session: str = ""
    record: KeyRecord | None = None
    """The record of a key that was made while the server ran."""
    role: str = "admin"
    """What the key may do. If the server wants no key, every caller is an admin."""

    @property
    def owner(self) -> str:
        """A short fingerprint that ties sessions to a key; empty without a key.

        The fingerprint of a key with a record survives a rotation of the key.
        """
        if self.record is not None:
            return self.record.owner
        if not self.key:
            return ""
        return owner_of(self.key)

    @property
    def key_id(self) -> str:
        """The id of a key that was made while the server ran; empty for other keys."""
        return self.record.id if self.record is not None else ""

    @property
    def scope(self) -> str | None:
        """The owner whose sessions the bearer may see; None for all sessions."""
        return None if self.role == "admin" else self.owner

    def among(self, keys: Iterable[str]) -> bool:
        """Whether the key is one of ``keys``. Compares in constant time."""
        mine = _digest(self.key)
        found = False
        for key in keys:
            found |= hmac.compare_digest(mine, _digest(key))
        return found and bool(self.key)


BEARER: Final = web.RequestKey("bearer", Bearer)
KEY_REQUIRED: Final = web.RequestKey("key_required", bool)
"""Whether the server requires a key."""


def _digest(key: str) -> bytes:
    return hashlib.blake2b(key.encode("utf-8", "replace")).digest()


def read_bearer(header: str | None) -> Bearer:
    """Read the token in an ``Authorization`` header.

    ``undefined``, ``null`` and ``none``, which clients without a key send, count as no token.
    """
    if not header:
        return Bearer()
    scheme, _, token = header.strip().partition(" ")
    if scheme.lower() != "bearer":
        return Bearer()
    key, _, session = token.strip().partition("#")
    key = key.strip()
    return Bearer("" if key.lower() in _NO_KEYS else key, unquote(session).strip())
