"""Whose request it is: the bearer token, what may hang on it, and its fingerprint."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable
from urllib.parse import unquote

from attrs import field, frozen

from saga_core.config import ServerConfig

_NO_KEYS = frozenset({"", "undefined", "null", "none"})


@frozen
class Bearer:
    """A bearer token. ``KEY#SESSION`` names a session behind the key."""

    key: str = field(default="", repr=False)
    session: str = ""

    @property
    def owner(self) -> str:
        """A short fingerprint by which sessions belong to a key; empty without one."""
        if not self.key:
            return ""
        return hashlib.blake2b(self.key.encode("utf-8", "replace"), digest_size=8, person=b"saga.owner").hexdigest()

    def among(self, keys: Iterable[str]) -> bool:
        """Whether the key is one of ``keys``. Takes the same time whichever it is."""
        mine = _digest(self.key)
        found = False
        for key in keys:
            found |= hmac.compare_digest(mine, _digest(key))
        return found and bool(self.key)


def chats_only(bearer: Bearer, server: ServerConfig) -> bool:
    """Whether the bearer may chat and no more."""
    return bearer.among(server.chat_keys) and not bearer.among(server.api_keys)


def _digest(key: str) -> bytes:
    return hashlib.blake2b(key.encode("utf-8", "replace")).digest()


def read_bearer(header: str | None) -> Bearer:
    """The token in an ``Authorization`` header. ``undefined`` and the like, sent for want of one, are none."""
    if not header:
        return Bearer()
    scheme, _, token = header.strip().partition(" ")
    if scheme.lower() != "bearer":
        return Bearer()
    key, _, session = token.strip().partition("#")
    key = key.strip()
    return Bearer("" if key.lower() in _NO_KEYS else key, unquote(session).strip())
