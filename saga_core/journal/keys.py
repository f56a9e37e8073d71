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


def _or_dash(text: str) -> str:
    return text or "-"


def session(session_id: str) -> Key:
    """A session's record."""
    return ("session", session_id)


def label(owner: str, name: str) -> Key:
    """A session label of an owner -> session id."""
    return ("label", _or_dash(owner), name)


def world(digest: str) -> Key:
    """A world as it was when a session began in it."""
    return ("world", digest)


def turn(session_id: str, turn_id: str) -> Key:
    """A complete turn."""
    return ("turn", session_id, turn_id)


def node(session_id: str, turn_id: str) -> Key:
    """The slim form of a turn, which the tree and recall need."""
    return ("node", session_id, turn_id)


def amendment(session_id: str, turn_id: str, number: str) -> Key:
    """A later delta of a turn: an edit or a curation. ``number`` orders them."""
    return ("amend", session_id, turn_id, number)


def review(session_id: str, turn_id: str, number: str) -> Key:
    """A curator's review at a turn. ``number`` orders them."""
    return ("review", session_id, turn_id, number)


def unfinished(session_id: str) -> Key:
    """The note about turns of a session that are being written in parts."""
    return ("unfinished", session_id)


def unfinished_part(session_id: str, number: str) -> Key:
    """Records to be written once those turns are visible. ``number`` orders them."""
    return ("unfinished", session_id, number)


def reply(owner: str, key: str, turn_id: str) -> Key:
    """Identity of a reply -> session id."""
    return ("reply", _or_dash(owner), key, turn_id)


def beginning(owner: str, prefix_key: str, turn_id: str) -> Key:
    """Fingerprint of a reply's beginning -> session id."""
    return ("begin", _or_dash(owner), prefix_key, turn_id)


def said(owner: str, key: str, turn_id: str) -> Key:
    """Fingerprint of the player's message -> session id."""
    return ("said", _or_dash(owner), key, turn_id)


def opening(owner: str, key: str, session_id: str) -> Key:
    """Greeting and first messages of a chat -> session id."""
    return ("open", _or_dash(owner), key, session_id)


def known(session_id: str, turn_id: str) -> Key:
    """The memories on the path to a session's head that the owner's other sessions use."""
    return ("known", session_id, turn_id)


def sharing(share: str) -> Key:
    """The identity of a shared world, and how many publications it has."""
    return ("sharing", share)


def publication(share: str, number: int) -> Key:
    """What a session published in a shared world. Publications are numbered in the order of their commits."""
    return ("share", share, f"{number:012}")


def shared(session_id: str, turn_id: str) -> Key:
    """What was published of a turn."""
    return ("shared", session_id, turn_id)


def checkpoint(session_id: str, turn_id: str) -> Key:
    """The checkpoint of the state at a turn."""
    return ("state", session_id, turn_id)


def segment(session_id: str, first: str) -> Key:
    """The packed index of a run of episodes, by its first turn."""
    return ("terms", session_id, first)


def job(session_id: str, turn_id: str) -> Key:
    """The background work that a turn still needs."""
    return ("job", session_id, turn_id)


def bill(session_id: str, turn_id: str, call: str = "") -> Key:
    """The cost of a turn's narration, or of a further ``call`` for the turn."""
    return ("bill", session_id, turn_id, call) if call else ("bill", session_id, turn_id)


def prompt(session_id: str, name: str) -> Key:
    """The stored data about the session's prompts."""
    return ("prompt", session_id, name)


def pinned_page(session_id: str, turn_id: str, language: str) -> Key:
    """The pages of a turn as they were pinned in a prompt's prefix."""
    return ("prompt", session_id, "page", turn_id, language)


def timeline(session_id: str, name: str) -> Key:
    """A named timeline."""
    return ("timeline", session_id, name)


def trash(session_id: str, number: str) -> Key:
    """A part of a deleted session that can be restored. ``number`` orders them."""
    return ("trash", session_id, number)


def view(scope: str, name: str) -> Key:
    """An entry of the ``world_state`` key-value projection."""
    return ("view", scope, name)


def view_mark(scope: str) -> Key:
    """The turn that the key-value projection of a scope shows."""
    return ("viewmark", scope)


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
