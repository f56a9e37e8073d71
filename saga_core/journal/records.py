"""What the journal records: turns with what only their writer knows, what they still need, and how it is laid down."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from saga_core import codec
from saga_core.journal import keys
from saga_core.journal.long_texts import recordable, recordable_episode
from saga_core.model import Node, Review, Session, Timeline, Turn, TurnKind, node_of
from saga_core.stores import Key
from saga_core.transcript import identity, identity_key, prefix_keys


@frozen
class Entry:
    """A turn to be journaled, with the facts that only its writer knows."""

    turn: Turn
    user_key: str
    episode: str = ""
    present: tuple[str, ...] | None = None
    settled: bool = False
    """Whether it needs no background work of its own."""
    told: tuple[str, ...] = ()
    """Entries of lore with times of their own that it was told."""


@frozen
class Wanted:
    """What a turn still needs after its views are rendered: the value of its job from then on."""

    extract: bool
    """Nobody reported what changed in it: an extraction model is to be asked."""
    tries: int = 0
    reason: str = ""
    """Why the last try came to nothing."""
    failed: bool = False
    """It is not tried again unless somebody asks."""
    asked: bool = False
    """Somebody asked, whether or not a history proves the turn."""
    waits: bool | None = None
    """Whether what is read counts only once a person accepts it. None: as the settings say."""


def records_of(session: Session, entry: Entry) -> dict[Key, bytes]:
    """What the journal writes of a turn: it itself, its node, the indexes by which it is found, and its job."""
    turn = entry.turn
    node = node_of(
        turn,
        user_key=entry.user_key,
        reply_key=identity_key(turn.reply) if turn.reply else "",
        episode=recordable_episode(entry.episode),
        present=entry.present,
        told=entry.told,
    )
    found = codec.dumps(session.id)
    puts: dict[Key, bytes] = {
        keys.turn(session.id, turn.id): codec.encode(recordable(turn)),
        keys.node(session.id, turn.id): codec.encode(node),
    }
    if turn.reply:
        puts[keys.reply(session.owner, node.reply_key, turn.id)] = found
        for prefix in prefix_keys(identity(turn.reply)):
            puts[keys.beginning(session.owner, prefix, turn.id)] = found
    if turn.user and turn.kind is not TurnKind.SIDE:
        puts[keys.said(session.owner, entry.user_key, turn.id)] = found
    if not entry.settled:
        puts[keys.job(session.id, turn.id)] = b""
    return puts


def entries_of(session: Session, turn: Turn, node: Node) -> dict[Key, bytes]:
    """The entries by which a turn's reply and the player's words are found."""
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


def review_record(session_id: str, number: str, review: Review | None) -> dict[Key, bytes]:
    """A review under its key; nothing for none."""
    return {} if review is None else {keys.review(session_id, review.turn, number): codec.encode(review)}


def timeline_records(session_id: str, timelines: Iterable[Timeline]) -> dict[Key, bytes]:
    """Timelines under their keys."""
    return {keys.timeline(session_id, each.name): codec.encode(each) for each in timelines}


def root_node(root: Turn) -> Node:
    """The slim form of a session's root."""
    return node_of(root, user_key="", reply_key=identity_key(root.reply) if root.reply else "", episode="")


def make_root(session_id: str, turn_id: str, at: float, greeting: str) -> Turn:
    """The root of a session's tree: the greeting, before anything was played."""
    return Turn(turn_id, session_id, None, 0, at, reply=greeting, kind=TurnKind.ROOT)
