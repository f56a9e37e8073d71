"""Remains: reduces a journal that lost entries to a smaller, complete one.

A turn whose record or node is lost is removed with all turns below it, because their state is unknown. A session that
lost its record, its opening or its world is removed as a whole. The frontend's own history still has the texts, and is
adopted like any chat that began without SAGA.
"""

from __future__ import annotations

from collections.abc import Iterable

from attrs import define, evolve, field, frozen

from saga_core import codec
from saga_core.errors import StoreCorrupt
from saga_core.journal import delete_below, keys, pages
from saga_core.model import Session, Turn, TurnNode
from saga_core.stores import Batch, Key, StateKV
from saga_core.world import World

_PAGE = 500
_BY_TURN = ("reply", "begin", "said")
"""Entries that lead from a text to a turn, whose id is the last part of the key."""
_OF_THE_TREE = ("terms", "prompt", "known")
"""Entries that are derived from a session's tree, and made again."""
_VIEWS = ("view", "viewmark")


@frozen
class Remains:
    """How much could be kept, and what is lost."""

    sessions: int
    """The number of sessions that are left."""
    gone: tuple[str, ...]
    """The ids of the sessions that were removed."""
    turns: int
    """The number of turns that were removed from the sessions that are left."""


async def make_whole(kv: StateKV, worlds: Iterable[World] = ()) -> Remains:
    """Remove all entries that depend on lost ones from the journal in ``kv``. No other process may have it open.

    A lost world is restored if ``worlds`` contains it unchanged.
    """
    found = _Found(at_hand={world.digest: world for world in worlds})
    async for page in pages(kv, (), _PAGE):
        for key, raw in page:
            found.take(key, raw)
    found.sort_out()
    await delete_below(kv, (), found.leads_nowhere)
    puts = {keys.session(each.id): codec.encode(each) for each in found.rested}
    puts.update({keys.world(each): codec.encode(found.at_hand[each]) for each in found.back})
    await kv.commit(Batch(puts))
    return Remains(len(found.whole), tuple(sorted(found.seen - set(found.whole))), found.lost)


@define(kw_only=True)
class _Found:
    """The entries that exist, and which of them are connected."""

    at_hand: dict[str, World]
    """Digest to a world that can be restored."""
    back: set[str] = field(factory=set)
    """The digests of the worlds that are restored."""
    sessions: dict[str, Session] = field(factory=dict)
    worlds: set[str] = field(factory=set)
    nodes: dict[str, dict[str, TurnNode]] = field(factory=dict)
    turns: dict[str, set[str]] = field(factory=dict)
    seen: set[str] = field(factory=set)
    """The ids of all sessions of which a record, a node or a turn exists."""
    whole: dict[str, set[str]] = field(factory=dict)
    """Session to those of its turns that are connected to its opening."""
    rested: list[Session] = field(factory=list)
    """Sessions whose head is lost, with a new head."""
    lost: int = 0
    _kept: set[str] = field(factory=set)
    """The turns of all sessions in ``whole``."""
    _torn: set[str] = field(factory=set)
    """Sessions that lost a turn."""

    def take(self, key: Key, raw: bytes) -> None:
        """Note an entry. An entry that cannot be read counts as lost."""
        if not keys.fits(key):
            return
        try:
            if key[0] == "session":
                self.seen.add(key[1])
                session = codec.decode(raw, Session)
                if session.id == key[1]:
                    self.sessions[key[1]] = session
            elif key[0] == "world":
                self.worlds.add(key[1])
            elif key[0] == "node":
                self.seen.add(key[1])
                node = codec.decode(raw, TurnNode)
                if node.id == key[2]:
                    self.nodes.setdefault(key[1], {})[key[2]] = node
            elif key[0] == "turn":
                self.seen.add(key[1])
                turn = codec.decode(raw, Turn)
                if turn.id == key[2]:
                    self.turns.setdefault(key[1], set()).add(turn.id)
        except StoreCorrupt:
            return

    def sort_out(self) -> None:
        """Decide which sessions and turns stay."""
        for name, session in self.sessions.items():
            nodes, turns = self.nodes.get(name, {}), self.turns.get(name, set())
            held = _hanging_together(session.root, {each: nodes[each] for each in nodes if each in turns})
            if not held or session.digest not in self.worlds | self.at_hand.keys():
                continue
            if session.digest not in self.worlds:
                self.back.add(session.digest)
            self.whole[name] = held
            self._kept |= held
            lost = len((nodes.keys() | turns) - held)
            self.lost += lost
            if lost or session.head not in held:
                self._torn.add(name)
            if session.head not in held:
                self.rested.append(evolve(session, head=max(held, key=lambda each: (nodes[each].at, each))))

    def leads_nowhere(self, key: Key, raw: bytes) -> bool:
        """Whether an entry belongs to lost data, is derived from it, or cannot be read."""
        try:
            return self._leads_nowhere(key, raw)
        except (StoreCorrupt, *codec.UNREADABLE):
            return True

    def _leads_nowhere(self, key: Key, raw: bytes) -> bool:
        kind = key[0]
        if kind in _VIEWS:
            return True
        if kind in _BY_TURN:
            return key[-1] not in self._kept
        if kind in ("turn", "node", "session", "timeline", *keys.BESIDE):
            return key[1] not in self.whole or self._beside_a_hole(key, raw)
        if kind == "unfinished":
            return key[1] not in self.whole
        if kind == "open":
            return key[-1] not in self.whole or (bool(raw) and codec.loads(raw) not in self._kept)
        return kind == "label" and codec.loads(raw) not in self.whole

    def _beside_a_hole(self, key: Key, raw: bytes) -> bool:
        kind, held = key[0], self.whole[key[1]]
        if kind == "session":
            return False
        if kind == "timeline":
            plain = codec.loads(raw)
            return not {plain["fork"], plain["head"]} <= held
        if kind in _OF_THE_TREE:
            return key[1] in self._torn
        return key[2] not in held


def _hanging_together(root: str, nodes: dict[str, TurnNode]) -> set[str]:
    """The nodes from which the root can be reached."""
    if root not in nodes:
        return set()
    held = {root}
    for node in sorted(nodes.values(), key=lambda each: each.depth):
        if node.parent in held:
            held.add(node.id)
    return held
