"""The keys under which hosting stores its records beside the journal."""

from __future__ import annotations

from saga_core.stores import Key

LEASES: Key = ("lease", "session")
"""The prefix of the keys of ``lease``."""
SERVERS: Key = ("lease", "server")
"""The prefix of the keys of ``beat``."""


def lease(session_id: str) -> Key:
    """The server that writes a session."""
    return (*LEASES, session_id)


def order(session_id: str) -> Key:
    """How often records that make up the session in memory were written."""
    return ("lease", "order", session_id)


def beat(server: str) -> Key:
    """A server's heartbeat."""
    return (*SERVERS, server)


ACCESS_VERSION: Key = ("access", "version")
"""Changes whenever an API key of the server changes."""
ACCESS_KEYS: Key = ("access", "key")
"""The prefix of the keys of ``access_key``."""
ACCESS_USE: Key = ("access", "use")
"""The prefix of the keys of ``access_use``."""
ACCESS_MINUTES: Key = ("access", "minute")
"""The prefix of the keys of ``access_minute``."""
ACCESS_SESSIONS: Key = ("access", "sessions")
"""The prefix of the keys of ``access_sessions``."""
AUDIT: Key = ("access", "audit")
"""The prefix of the keys of ``audit``."""


def access_key(key_id: str) -> Key:
    """An API key of the server, as a hash."""
    return (*ACCESS_KEYS, key_id)


def access_use(key_id: str, server: str) -> Key:
    """Today's usage of an API key, as counted by one server."""
    return (*ACCESS_USE, key_id, server)


def access_minute(key_id: str) -> Key:
    """The turns of an API key in its latest minute, counted by all servers together."""
    return (*ACCESS_MINUTES, key_id)


def access_sessions(owner: str) -> Key:
    """The upper bound of an owner's number of sessions, counted by all servers together."""
    return (*ACCESS_SESSIONS, owner)


def audit(number: str, server: str) -> Key:
    """An entry of the audit log. ``number`` orders entries, latest first."""
    return (*AUDIT, number, server)
