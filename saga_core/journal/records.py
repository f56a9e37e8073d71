"""The journal's records: turns with facts that only the writer knows, their jobs, and their key-value form."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterable

from attrs import evolve, frozen

from saga_core import codec
from saga_core.journal import keys
from saga_core.model import Session, Timeline, Turn, TurnKind, TurnNode, node_of
from saga_core.stores import Key
from saga_core.transcript import identity, identity_key, prefix_keys

LONGEST_TEXT = 4 << 20
"""The largest size of one text in a record, in bytes. A store accepts 16 MB for a whole turn."""
_LONGEST_EPISODE = 1 << 20
_CHUNK = 1 << 16

_log = logging.getLogger("saga.journal")


def recordable(turn: Turn) -> Turn:
    """Return the turn with its texts shortened to fit into its record; the same object if they fit."""
    user, reply = cut(turn.user), cut(turn.reply)
    if user is turn.user and reply is turn.reply:
        return turn
    _log.warning("turn %s of session %s is recorded with its texts cut: they are too long", turn.id, turn.session)
    return evolve(turn, user=user, reply=reply)


def cut(text: str, most: int = LONGEST_TEXT) -> str:
    """Shorten ``text`` to at most ``most`` bytes of JSON. A note has the omitted length and the whole's SHA-256."""
    if len(text) * 6 <= most or _size(text) <= most:
        return text
    kept, used = 0, 300  # room for the note
    while kept < len(text):
        used += _size(text[kept : kept + _CHUNK])
        if used > most:
            break
        kept += _CHUNK
    whole = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
    return f"{text[:kept]}\n[… {len(text) - kept} of {len(text)} characters are not recorded; sha256 {whole}]"


def _size(text: str) -> int:
    return len(json.dumps(text, ensure_ascii=False).encode("utf-8", "replace"))


@frozen
class TurnEntry:
    """A turn to be journaled, with the facts that only its writer knows."""

    turn: Turn
    user_key: str
    episode: str = ""
    present: tuple[str, ...] | None = None
    settled: bool = False
    """Whether it needs no background work."""
    told: tuple[str, ...] = ()
    """The lore entries with their own schedule that the turn's context included."""
    reply_key: str | None = None
    """The identity of the reply as clients send it, if that is not the turn's whole reply."""


@frozen
class PendingWork:
    """The work that a turn still needs after its views are rendered. It is stored as the value of the turn's job."""

    extract: bool
    """Whether an extraction model has to be asked, because the changes were not reported."""
    tries: int = 0
    reason: str = ""
    """Why the last try failed."""
    failed: bool = False
    """Whether it is tried again only on request."""
    asked: bool = False
    """Whether the user requested it. It is then done even if no history proves the turn."""
    waits: bool | None = None
    """Whether the result waits for the user's decision. None: as configured."""


@frozen
class SharedTurn:
    """What was published of a turn: the value of its ``shared`` record."""

    share: str
    numbers: tuple[int, ...] = ()
    """The numbers of its publications: more than one if it was changed later, none if there was nothing to publish."""
    amendments: int = 0
    """The later deltas that the turn had by then."""


def records_of(session: Session, entry: TurnEntry) -> dict[Key, bytes]:
    """Return all records of a turn: the turn itself, its node, its index entries and its job."""
    turn = entry.turn
    node = node_of(
        turn,
        user_key=entry.user_key,
        reply_key=entry.reply_key or (identity_key(turn.reply) if turn.reply else ""),
        episode=cut(entry.episode, _LONGEST_EPISODE),
        present=entry.present,
        told=entry.told,
    )
    puts: dict[Key, bytes] = {
        keys.turn(session.id, turn.id): codec.encode(recordable(turn)),
        keys.node(session.id, turn.id): codec.encode(node),
        **entries_of(session, turn, node),
    }
    if not entry.settled:
        puts[keys.job(session.id, turn.id)] = b""
    return puts


def entries_of(session: Session, turn: Turn, node: TurnNode) -> dict[Key, bytes]:
    """Return the index entries of a turn's reply and the player's message."""
    found, owner = codec.dumps(session.id), session.owner
    puts: dict[Key, bytes] = {}
    if turn.kind is TurnKind.ROOT:
        return puts
    if turn.reply:
        puts[keys.reply(owner, node.reply_key or identity_key(turn.reply), turn.id)] = found
        for prefix in prefix_keys(identity(turn.reply)):
            puts[keys.beginning(owner, prefix, turn.id)] = found
    if turn.user and turn.kind is not TurnKind.SIDE and node.user_key:
        puts[keys.said(owner, node.user_key, turn.id)] = found
    return puts


def timeline_records(session_id: str, timelines: Iterable[Timeline]) -> dict[Key, bytes]:
    """Return the records of timelines."""
    return {keys.timeline(session_id, each.name): codec.encode(each) for each in timelines}


def root_records(session_id: str, root: Turn) -> dict[Key, bytes]:
    """Return the records of a session's root: the turn and its slim form."""
    node = node_of(root, user_key="", reply_key=identity_key(root.reply) if root.reply else "", episode="")
    return {
        keys.turn(session_id, root.id): codec.encode(recordable(root)),
        keys.node(session_id, root.id): codec.encode(node),
    }


def make_root(session_id: str, turn_id: str, at: float, greeting: str) -> Turn:
    """Return the root of a session's tree: the greeting, before any turn."""
    return Turn(turn_id, session_id, None, 0, at, reply=greeting, kind=TurnKind.ROOT)
