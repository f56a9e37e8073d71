"""The layout of the journal in the StateKV: which key holds what."""

from __future__ import annotations

from saga_core.stores import Key

FORMAT = 1
NEWEST = 2
"""The format while turns are written in parts: a SAGA that does not know of that would show half of them."""
FORMAT_KEY: Key = ("meta", "format")
MOVING_KEY: Key = ("meta", "moving")
"""Is there while a journal is moved into a store, and part of it is missing."""
PROBE_KEY: Key = ("meta", "probe")
"""Is written to see whether anything can be written."""
BESIDE = ("job", "amend", "state", "terms", "review", "bill", "prompt", "known")
"""What may stand beside a turn, under (name, session, turn, …), and goes with it. What stands under no turn goes with
the session.
"""


_SEGMENTS = {
    **dict.fromkeys(("session", "world"), (2, 2)),
    "unfinished": (2, 3),
    **dict.fromkeys(("label", "turn", "node", "timeline", "state", "terms", "job", "known"), (3, 3)),
    **dict.fromkeys(("amend", "review", "reply", "begin", "said", "open"), (4, 4)),
    "bill": (3, 4),
    "prompt": (3, 5),
}


KINDS = tuple(_SEGMENTS)
"""What a key may begin with that belongs to a session, or to what sessions share."""


def fits(key: Key) -> bool:
    """Whether a key has as many segments as SAGA gives one of its kind. Anybody may have written a journal."""
    least, most = _SEGMENTS.get(key[0], (1, len(key)))
    return least <= len(key) <= most


LEASES: Key = ("lease", "session")
"""What begins the keys of ``lease``."""
SERVERS: Key = ("lease", "server")
"""What begins the keys of ``beat``."""


def lease(session_id: str) -> Key:
    """Which server writes a session."""
    return (*LEASES, session_id)


def order(session_id: str) -> Key:
    """How often what a session in memory is made of was written."""
    return ("lease", "order", session_id)


def beat(server: str) -> Key:
    """The sign of life of a server."""
    return (*SERVERS, server)


def _or_dash(text: str) -> str:
    return text or "-"


def session(session_id: str) -> Key:
    """A session's record."""
    return ("session", session_id)


def label(owner: str, name: str) -> Key:
    """Explicit session name of an owner -> session id."""
    return ("label", _or_dash(owner), name)


def world(digest: str) -> Key:
    """A world as it was when a session began in it."""
    return ("world", digest)


def turn(session_id: str, turn_id: str) -> Key:
    """A turn, whole."""
    return ("turn", session_id, turn_id)


def node(session_id: str, turn_id: str) -> Key:
    """A turn, slim: what the tree and recall need."""
    return ("node", session_id, turn_id)


def amendment(session_id: str, turn_id: str, number: str) -> Key:
    """A later delta of a turn: an edit or a curation. ``number`` orders them."""
    return ("amend", session_id, turn_id, number)


def review(session_id: str, turn_id: str, number: str) -> Key:
    """What a curator found at a turn. ``number`` orders them."""
    return ("review", session_id, turn_id, number)


def unfinished(session_id: str) -> Key:
    """The turns of a session that are being written in parts."""
    return ("unfinished", session_id)


def unfinished_part(session_id: str, number: str) -> Key:
    """Records that are to be laid down once those turns show. ``number`` orders them."""
    return ("unfinished", session_id, number)


def reply(owner: str, key: str, turn_id: str) -> Key:
    """Identity of a reply -> session id."""
    return ("reply", _or_dash(owner), key, turn_id)


def beginning(owner: str, prefix_key: str, turn_id: str) -> Key:
    """Fingerprint of a reply's beginning -> session id."""
    return ("begin", _or_dash(owner), prefix_key, turn_id)


def said(owner: str, key: str, turn_id: str) -> Key:
    """Fingerprint of the player's words -> session id."""
    return ("said", _or_dash(owner), key, turn_id)


def opening(owner: str, key: str, session_id: str) -> Key:
    """Greeting and first words of a chat -> session id."""
    return ("open", _or_dash(owner), key, session_id)


def known(session_id: str, turn_id: str) -> Key:
    """What the path to a session's head tells the other sessions of its owner."""
    return ("known", session_id, turn_id)


def checkpoint(session_id: str, turn_id: str) -> Key:
    """The whole state at a turn."""
    return ("state", session_id, turn_id)


def segment(session_id: str, first: str) -> Key:
    """The index of a run of episodes, by its first turn."""
    return ("terms", session_id, first)


def job(session_id: str, turn_id: str) -> Key:
    """Background work that a turn still needs."""
    return ("job", session_id, turn_id)


def bill(session_id: str, turn_id: str, call: str = "") -> Key:
    """What the narration of a turn cost; what a further ``call`` for it did."""
    return ("bill", session_id, turn_id, call) if call else ("bill", session_id, turn_id)


def prompt(session_id: str, name: str) -> Key:
    """What is remembered of the session's prompts."""
    return ("prompt", session_id, name)


def pinned_page(session_id: str, turn_id: str, language: str) -> Key:
    """The pages of a turn as they were pinned in a prompt's prefix."""
    return ("prompt", session_id, "page", turn_id, language)


def timeline(session_id: str, name: str) -> Key:
    """A named timeline."""
    return ("timeline", session_id, name)


def view(scope: str, name: str) -> Key:
    """An entry of the world_state key-value projection."""
    return ("view", scope, name)


def view_mark(scope: str) -> Key:
    """The turn that the key-value projection of a scope shows."""
    return ("viewmark", scope)


PENDING_FORGET: Key = ("leaving",)
"""What begins the keys of ``pending_forget``."""


def pending_forget(curator: str, session_id: str) -> Key:
    """A session that a curator is still to forget."""
    return (*PENDING_FORGET, curator, session_id)


ACCESS_VERSION: Key = ("access", "version")
"""Changes whenever a key of the server does."""
ACCESS_KEYS: Key = ("access", "key")
"""What begins the keys of ``access_key``."""
ACCESS_USE: Key = ("access", "use")
"""What begins the keys of ``access_use``."""
ACCESS_MINUTES: Key = ("access", "minute")
"""What begins the keys of ``access_minute``."""
ACCESS_SESSIONS: Key = ("access", "sessions")
"""What begins the keys of ``access_sessions``."""
AUDIT: Key = ("access", "audit")
"""What begins the keys of ``audit``."""


def access_key(key_id: str) -> Key:
    """A key by which somebody may use the server, as a hash."""
    return (*ACCESS_KEYS, key_id)


def access_use(key_id: str, server: str) -> Key:
    """What was used with a key today, as one server counted it."""
    return (*ACCESS_USE, key_id, server)


def access_minute(key_id: str) -> Key:
    """The turns of a key's latest minute, as all servers together counted them."""
    return (*ACCESS_MINUTES, key_id)


def access_sessions(owner: str) -> Key:
    """How many sessions an owner has at most, as all servers together counted them."""
    return (*ACCESS_SESSIONS, owner)


def audit(number: str, server: str) -> Key:
    """Who read or changed what. ``number`` orders entries, the latest first."""
    return (*AUDIT, number, server)
