"""The key layout of the journal in the StateKV, the session that a key belongs to, and access to many rows."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from itertools import islice
from typing import Protocol

from saga_core.stores import Batch, Key, StateKV

FORMAT = 1
NEWEST = 2
"""The format while turns are written in parts. An older SAGA would show half of such a write."""
FORMAT_KEY: Key = ("meta", "format")
MOVING_KEY: Key = ("meta", "moving")
"""Present while a journal is being moved into the store and is incomplete."""
MOVED_KEY: Key = ("meta", "moved")
"""Present once the journal was moved away: the place of the copy."""
FORGETTING_KEY: Key = ("meta", "forgetting")
"""The digests of the worlds of forgotten sessions, from the first removal until no file holds a byte of the data."""
PROBE_KEY: Key = ("meta", "probe")
"""Written to test whether the store accepts writes."""
BESIDE = ("job", "amend", "state", "terms", "review", "bill", "prompt", "known", "shared")
"""Kinds of records under (name, session, turn, …). They are removed with their turn, or else with the session."""


_SEGMENTS = {
    **dict.fromkeys(("session", "world", "sharing"), (2, 2)),
    "unfinished": (2, 3),
    **dict.fromkeys(("label", "turn", "node", "timeline", "state", "terms", "job", "known", "share", "shared"), (3, 3)),
    **dict.fromkeys(("amend", "review", "reply", "begin", "said", "open"), (4, 4)),
    "bill": (3, 4),
    "prompt": (3, 5),
}


KINDS = tuple(_SEGMENTS)
"""The first segments of keys that belong to a session, or are shared by sessions."""


def fits(key: Key) -> bool:
    """Whether a key has the expected number of segments for its kind. The journal's content is not trusted."""
    least, most = _SEGMENTS.get(key[0], (1, len(key)))
    return least <= len(key) <= most


# -- the keys --------------------------------------------------------------------------------------------------


def _one(kind: str) -> Callable[[str], Key]:
    return lambda name: (kind, name)


def _two(kind: str) -> Callable[[str, str], Key]:
    return lambda name, part: (kind, name, part)


def _three(kind: str) -> Callable[[str, str, str], Key]:
    return lambda name, part, number: (kind, name, part, number)


def _owned(kind: str) -> Callable[[str, str, str], Key]:
    return lambda owner, key, found: (kind, owner or "-", key, found)


session = _one("session")
"""Session id: its record."""
world = _one("world")
"""Digest: a world as it was when a session began in it."""
turn = _two("turn")
"""Session, turn: the complete turn."""
node = _two("node")
"""Session, turn: the slim form of the turn, which the tree and recall need."""
amendment = _three("amend")
"""Session, turn, number: a later delta of the turn, an edit or a curation. The number orders them."""
review = _three("review")
"""Session, turn, number: a curator's review at the turn. The number orders them."""
unfinished = _one("unfinished")
"""Session: the note about its turns that are being written in parts."""
unfinished_part = _two("unfinished")
"""Session, number: records to be written once those turns are visible. The number orders them."""
known = _two("known")
"""Session, turn: the memories on the path to its head that the owner's other sessions use."""
sharing = _one("sharing")
"""Share: the identity of a shared world, and how many publications it has."""
shared = _two("shared")
"""Session, turn: what was published of the turn."""
checkpoint = _two("state")
"""Session, turn: the checkpoint of the state at the turn."""
segment = _two("terms")
"""Session, first turn: the packed index of a run of episodes."""
job = _two("job")
"""Session, turn: the background work that the turn still needs."""
prompt = _two("prompt")
"""Session, name: the stored data about the session's prompts."""
timeline = _two("timeline")
"""Session, name: a named timeline."""
trash = _two("trash")
"""Session, number: a part of a deleted session that can be restored. The number orders them."""
view = _two("view")
"""Scope, name: an entry of the ``world_state`` key-value projection."""
view_mark = _one("viewmark")
"""Scope: the turn that its key-value projection shows."""

reply = _owned("reply")
"""Owner, identity of a reply, turn -> session id."""
beginning = _owned("begin")
"""Owner, fingerprint of a reply's beginning, turn -> session id."""
said = _owned("said")
"""Owner, fingerprint of the player's message, turn -> session id."""
opening = _owned("open")
"""Owner, greeting and first messages of a chat, session -> the turn that they lead to."""


def label(owner: str, name: str) -> Key:
    """A session label of an owner -> session id."""
    return ("label", owner or "-", name)


def publication(share: str, number: int) -> Key:
    """What a session published in a shared world. Publications are numbered in the order of their commits."""
    return ("share", share, f"{number:012}")


def bill(session_id: str, turn_id: str, call: str = "") -> Key:
    """The cost of a turn's narration, or of a further ``call`` for the turn."""
    return ("bill", session_id, turn_id, call) if call else ("bill", session_id, turn_id)


def pinned_page(session_id: str, turn_id: str, language: str) -> Key:
    """The pages of a turn as they were pinned in a prompt's prefix."""
    return ("prompt", session_id, "page", turn_id, language)


PENDING_FORGET: Key = ("leaving",)
"""The prefix of the keys of ``pending_forget``."""


def pending_forget(curator: str, session_id: str) -> Key:
    """A session that a curator still has to forget."""
    return (*PENDING_FORGET, curator, session_id)


TOLD = frozenset({"session", "turn", "node", "timeline", "amend", "review", "unfinished"})
"""Key prefixes of the records that make up a session in memory. A write to one makes other servers' copies stale."""
OF_A_SESSION = frozenset({"session", "turn", "node", "timeline", "unfinished", *BESIDE})
"""Key prefixes of the records that belong to a session. The second segment is the session id."""
_OF_A_SCOPE = frozenset({"view", "viewmark"})


def session_of(key: Key) -> str | None:
    """Return the session that a key belongs to, or None for indexes, worlds and shared records."""
    if len(key) < 2:
        return None
    if key[0] in OF_A_SESSION:
        return key[1]
    return key[1].rpartition(".")[0] or None if key[0] in _OF_A_SCOPE else None


# -- rows, however many ----------------------------------------------------------------------------------------

PAGE = 1_000
"""Rows of a page or a part. A store accepts at least 2,000 in one commit."""

Row = tuple[Key, bytes]


class Scanned(Protocol):
    """A source of rows: a StateKV, or a server that is asked for them."""

    async def scan(self, prefix: Key, *, after: Key | None = None, limit: int = 1_000) -> list[Row]:
        """See ``StateKV.scan``."""
        ...


async def value(kv: StateKV, key: Key) -> bytes | None:
    """Return the value of one key."""
    return (await kv.get([key])).get(key)


async def pages(kv: Scanned, prefix: Key, size: int = PAGE) -> AsyncIterator[list[Row]]:
    """Yield the rows below ``prefix`` in pages. The rows of a page may be deleted before the next one is read."""
    after: Key | None = None
    while page := await kv.scan(prefix, after=after, limit=size):
        yield page
        if len(page) < size:
            return
        after = page[-1][0]


async def rows(kv: StateKV, prefix: Key, size: int = PAGE) -> AsyncIterator[Row]:
    """Yield the rows below ``prefix`` whose keys have the form of their kind, read in pages of ``size``."""
    async for page in pages(kv, prefix, size):
        for row in page:
            if fits(row[0]):
                yield row


async def put_rows(kv: StateKV, puts: Mapping[Key, bytes]) -> None:
    """Write ``puts`` in parts. An interruption leaves some of them unwritten."""
    left = iter(puts.items())
    while part := dict(islice(left, PAGE)):
        await kv.commit(Batch(part))


async def delete_rows(kv: StateKV, doomed: Iterable[Key]) -> None:
    """Delete keys in parts. An interruption leaves some of them."""
    left = iter(doomed)
    while part := frozenset(islice(left, PAGE)):
        await kv.commit(Batch(deletes=part))


async def delete_below(kv: StateKV, prefix: Key, doomed: Callable[[Key, bytes], bool] = lambda *_: True) -> None:
    """Delete the rows below ``prefix`` for which ``doomed`` is true, page by page."""
    async for page in pages(kv, prefix):
        if gone := frozenset(key for key, raw in page if doomed(key, raw)):
            await kv.commit(Batch(deletes=gone))
