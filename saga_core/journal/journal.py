"""The journal over a StateKV: sessions, turns, amendments, checkpoints, and the indexes by which replies are found."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from attrs import define, evolve, field

from saga_core import codec
from saga_core.counters import Counters
from saga_core.errors import Conflict, NotFound, StoreCorrupt, StoreError
from saga_core.journal import keys
from saga_core.journal.format import check_format
from saga_core.journal.long_texts import recordable
from saga_core.journal.records import Entry, Wanted, records_of, review_record, root_node, timeline_records
from saga_core.journal.unfinished import note_of, settle
from saga_core.model import (
    Delta,
    Node,
    Review,
    Session,
    Timeline,
    Tree,
    Turn,
    WorldState,
    read_nodes,
)
from saga_core.stores import Batch, Key, StateKV
from saga_core.world import World

_PAGE = 2_000
_READ = 256
_SEGMENTS = 16
_LARGE = 64 * 1_024
"""Bytes of a world from which on it is read beside the loop: a world of 5,000 entries takes a fifth of a second."""
_AT_ONCE = 256
"""Rows that are read between two chances for others to run."""


@define
class Journal:
    """The record that everything else is rendered from. Appending is one durable commit."""

    kv: StateKV
    counters: Counters = field(factory=Counters)
    """Is told of records that cannot be read and are left out: other sessions must not wait for them."""

    async def open(self) -> None:
        """Check the format, or write it into an empty store. Raises ``NewerSchema`` for a later format."""
        await check_format(self.kv)

    async def create_session(
        self,
        session: Session,
        root: Turn,
        world: World,
        beside: Mapping[Key, bytes] = MappingProxyType({}),
        expected: Mapping[Key, bytes | None] = MappingProxyType({}),
    ) -> None:
        """Record a new session with its root and its world, and what is ``beside`` it in the same commit.

        ``Conflict`` when its label is taken, and where something is not as ``expected``.
        """
        world_key = keys.world(session.digest)
        puts: dict[Key, bytes] = {
            keys.session(session.id): codec.encode(session),
            keys.turn(session.id, root.id): codec.encode(recordable(root)),
            keys.node(session.id, root.id): codec.encode(root_node(root)),
            **beside,
        }
        if world_key not in await self.kv.get([world_key]):  # writing a large one takes 25 ms, at every new chat
            puts[world_key] = codec.encode(world)
        await self._commit_named(session, puts, {keys.session(session.id): None, **expected})

    async def _commit_named(
        self,
        session: Session,
        puts: dict[Key, bytes],
        expected: dict[Key, bytes | None],
        gone: frozenset[Key] = frozenset(),
    ) -> None:
        """Commit a session's record, and its label. ``Conflict`` when another session of the owner has that label."""
        label = keys.label(session.owner, session.label)
        if session.label:
            puts, expected = {**puts, label: codec.dumps(session.id)}, {**expected, label: None}
        try:
            await self.kv.commit(Batch(puts, gone), expected=expected)
        except Conflict as error:
            if error.key != label:
                raise
            taken = f"there is a session {session.label!r} already; choose another label, or play on in that one"
            raise Conflict(error.key, taken) from error

    async def append(
        self,
        session: Session,
        entries: Sequence[Entry],
        *,
        head: str = "",
        opening: str = "",
        timelines: Iterable[Timeline] = (),
        beside: Batch = Batch(),  # noqa: B008 - it is frozen
    ) -> Session:
        """Record turns; safe when this returns. Gives the session with its new head: ``head``, or the old one.

        ``opening`` is the key of the chat's first words, by which a first turn that comes again is found;
        ``timelines`` are those that the turns moved; ``beside`` is written in the same commit.
        """
        puts: dict[Key, bytes] = {}
        for entry in entries:
            puts.update(records_of(session, entry))
        updated = evolve(session, head=head or session.head)
        puts[keys.session(session.id)] = codec.encode(updated)
        if opening:
            puts[keys.opening(session.owner, opening, session.id)] = codec.dumps(entries[0].turn.id)
        puts.update(timeline_records(session.id, timelines))
        await self.kv.commit(Batch({**puts, **beside.puts}, beside.deletes))
        return updated

    async def expect(self, session: Session, opening: str) -> None:
        """Find a session by its chat's first words from now on, though nothing of it is recorded yet."""
        await self.kv.commit(Batch({keys.opening(session.owner, opening, session.id): b""}))

    async def amend(
        self,
        session_id: str,
        number: str,
        delta: Delta,
        node: Node,
        stale: Iterable[str] = (),
        *,
        more: Iterable[tuple[str, Delta]] = (),
        review: Review | None = None,
    ) -> None:
        """Record a later delta of the turn ``node``, and ``more``, all of a ``review``; it is as it is with them.

        The checkpoints of the turns ``stale`` go in the same commit, and the turn's views are noted as work.
        """
        puts: dict[Key, bytes] = {
            **review_record(session_id, number, review),
            keys.amendment(session_id, node.id, number): codec.encode(delta),
            **{keys.amendment(session_id, node.id, other): codec.encode(each) for other, each in more},
            keys.node(session_id, node.id): codec.encode(node),
            keys.job(session_id, node.id): b"",
        }
        await self.kv.commit(Batch(puts, frozenset(keys.checkpoint(session_id, turn) for turn in stale)))

    async def put_review(self, session_id: str, number: str, review: Review) -> None:
        """Record a review that changed nothing."""
        await self.kv.commit(Batch(review_record(session_id, number, review)))

    async def reviews(
        self, session_id: str, unreadable: Callable[[StoreCorrupt], None] | None = None
    ) -> dict[str, tuple[Review, ...]]:
        """Turn id to the reviews made at it, in their order.

        ``unreadable`` is told of one that cannot be read, which is left out: no state depends on it. Without it that
        raises ``StoreCorrupt``.
        """
        found: dict[str, tuple[Review, ...]] = {}
        async for key, raw in self._all(("review", session_id)):
            try:
                found[key[2]] = (*found.get(key[2], ()), codec.decode(raw, Review))
            except StoreCorrupt as error:
                if unreadable is None:
                    raise
                unreadable(error)
        return found

    async def rename_session(self, session: Session, label: str) -> Session:
        """Give a session another label, and free the one before. ``Conflict`` when the new one is taken."""
        renamed = evolve(session, label=label)
        old = frozenset({keys.label(session.owner, session.label)} if session.label else ())
        await self._commit_named(renamed, {keys.session(session.id): codec.encode(renamed)}, {}, old)
        return renamed

    async def put_session(self, session: Session) -> None:
        """Replace a session's record."""
        await self.kv.commit(Batch({keys.session(session.id): codec.encode(session)}))

    async def session(self, session_id: str) -> Session:
        """A session by its id; ``NotFound``."""
        raw = (await self.kv.get([keys.session(session_id)])).get(keys.session(session_id))
        if raw is None:
            raise NotFound(f"there is no session {session_id!r}")
        found = codec.decode(raw, Session)
        if found.id != session_id:
            raise StoreCorrupt(f"session {session_id}: its record is of session {found.id[:80]!r}")
        return found

    async def labelled(self, owner: str, label: str) -> str | None:
        """The id of the session that an owner calls ``label``."""
        key = keys.label(owner, label)
        raw = (await self.kv.get([key])).get(key)
        return None if raw is None else _text(raw)

    async def sessions(self) -> list[Session]:
        """All sessions, by id, which is by age. One whose record cannot be read is left out, and told."""
        found = []
        async for key, raw in self._all(("session",)):
            try:
                session = codec.decode(raw, Session)
            except StoreCorrupt as error:
                self.leave_out(key[1], error)
                continue
            if session.id == key[1]:
                found.append(session)
            else:
                self.leave_out(key[1], StoreCorrupt(f"its record is of session {session.id[:80]!r}"))
        return found

    async def session_ids(self) -> set[str]:
        """The ids of all sessions, those whose records cannot be read among them."""
        return {key[1] async for key, _ in self._all(("session",))}

    async def unfinished(self) -> list[str]:
        """The sessions in which a write of many turns is under way, or was cut off."""
        return list(dict.fromkeys([key[1] async for key, _ in self._all(("unfinished",))]))

    async def settle(self, session_id: str) -> bool:
        """Take back or finish a write of many turns that was cut off; whether there was one.

        Nobody else may write the session.
        """
        return await settle(self.kv, session_id)

    def leave_out(self, session_id: str, error: StoreError) -> None:
        """Tell that a session is left out where all are looked at."""
        told = f"session {session_id}: it is left out: {error}; delete it, or restore a backup"
        self.counters.degrade("journal.sessions", told)

    async def world(self, digest: str) -> World:
        """The world that sessions of this digest began in."""
        raw = (await self.kv.get([keys.world(digest)])).get(keys.world(digest)) if digest else None
        if raw is None:
            raise StoreCorrupt(f"the journal has no world {digest!r}, though a session began in it")
        if len(raw) < _LARGE:
            return codec.decode(raw, World)
        return await asyncio.to_thread(codec.decode, raw, World)

    async def tree(self, session_id: str) -> Tree:
        """All turns of a session, slim. ``NotFound`` for a session without any."""
        records = [(key[2], raw) async for key, raw in self._all(("node", session_id))]
        note = await note_of(self.kv, session_id)
        if note is not None:
            records = [row for row in records if not note.hides(row[0])]
        if not records:
            raise NotFound(f"there is no session {session_id!r}")
        nodes: list[Node] = []
        for start in range(0, len(records), _READ):
            part = records[start : start + _READ]
            for (turn, _), node in zip(part, read_nodes([raw for _, raw in part]), strict=True):
                if node.id != turn:
                    raise StoreCorrupt(f"session {session_id}: the record of turn {turn} is of {node.id[:80]!r}")
                nodes.append(node)
            await asyncio.sleep(0)  # others have their turn in between
        # Ids sort by age unless the clock was set back between two starts; depth always puts parents first.
        nodes.sort(key=lambda node: node.depth)
        tree = Tree(session_id)
        for node in nodes:
            if node.parent is None and tree.root:
                raise StoreCorrupt(f"session {session_id}: {tree.root} and {node.id[:80]} both have no parent")
            if node.parent is not None and node.parent not in tree:
                raise StoreCorrupt(f"session {session_id}: turn {node.id[:80]} has no parent: {node.parent[:80]!r}")
            tree.add(node)
        return tree

    async def node(self, session_id: str, turn_id: str) -> Node:
        """One turn of a session, slim. ``NotFound``."""
        key = keys.node(session_id, turn_id)
        raw = (await self.kv.get([key])).get(key)
        if raw is None:
            raise NotFound(f"session {session_id} has no turn {turn_id!r}")
        return codec.decode(raw, Node)

    async def turns(self, session_id: str, ids: Sequence[str]) -> list[Turn]:
        """The turns of those ids, in that order. ``StoreCorrupt`` when one is missing."""
        return await self.turns_at([(session_id, turn_id) for turn_id in ids])

    async def turns_at(self, places: Sequence[tuple[str, str]]) -> list[Turn]:
        """The turns at those places (session id, turn id), in that order. ``StoreCorrupt`` when one is missing."""
        wanted = [keys.turn(*place) for place in places]
        found: dict[Key, bytes] = {}
        for start in range(0, len(wanted), _PAGE):
            found.update(await self.kv.get(wanted[start : start + _PAGE]))
        missing = [place for key, place in zip(wanted, places, strict=True) if key not in found]
        if missing:
            session_id = missing[0][0]
            lost = [turn_id for session, turn_id in missing if session == session_id]
            raise StoreCorrupt(
                f"session {session_id}: the journal lost the turns {', '.join(lost[:3])}; restore a backup with "
                "`saga restore FILE --force`"
            )
        turns = [codec.decode(found[key], Turn) for key in wanted]
        for turn, (session_id, turn_id) in zip(turns, places, strict=True):
            if turn.id != turn_id:
                raise StoreCorrupt(f"session {session_id}: the record of turn {turn_id} is of {turn.id[:80]!r}")
        return turns

    async def amendments(self, session_id: str) -> dict[str, tuple[Delta, ...]]:
        """Turn id to its later deltas, in their order."""
        found: dict[str, tuple[Delta, ...]] = {}
        async for key, raw in self._all(("amend", session_id)):
            found[key[2]] = (*found.get(key[2], ()), codec.decode(raw, Delta))
        return found

    async def replies(self, owner: str, key: str, limit: int = 64) -> list[tuple[str, str]]:
        """(session id, turn id) of the replies with that identity, oldest first."""
        return await self._index(("reply", owner or "-", key), limit)

    async def beginnings(self, owner: str, prefix_key: str, limit: int = 64) -> list[tuple[str, str]]:
        """(session id, turn id) of the replies that begin so, oldest first."""
        return await self._index(("begin", owner or "-", prefix_key), limit)

    async def said(self, owner: str, key: str, limit: int = 256) -> list[tuple[str, str]]:
        """(session id, turn id) of the turns in which the player said that, oldest first.

        Turns that an older SAGA recorded are not among them.
        """
        return await self._index(("said", owner or "-", key), limit)

    async def openings(self, owner: str, key: str, limit: int = 16) -> list[str]:
        """The sessions whose first words these were, oldest first."""
        rows = await self.kv.scan(("open", owner or "-", key), limit=limit)
        return [found[-1] for found, _ in rows]

    async def _index(self, prefix: Key, limit: int) -> list[tuple[str, str]]:
        return [(_text(raw), found[-1]) for found, raw in await self.kv.scan(prefix, limit=limit)]

    async def checkpoint(self, session_id: str, turns: Sequence[str]) -> WorldState | None:
        """The stored state of the first of ``turns`` that has one."""
        wanted = [keys.checkpoint(session_id, turn_id) for turn_id in turns]
        found = await self.kv.get(wanted)
        for key in wanted:
            if key in found:
                return codec.decode(found[key], WorldState)
        return None

    async def put_checkpoint(self, session_id: str, state: WorldState) -> None:
        """Store the state at its turn."""
        await self.kv.commit(Batch({keys.checkpoint(session_id, state.turn): codec.encode(state)}))

    async def segments(self, session_id: str) -> list[tuple[str, bytes]]:
        """The packed indexes of runs of episodes, each by its first turn, oldest first."""
        found: list[tuple[str, bytes]] = []
        after: Key | None = None
        while rows := await self.kv.scan(("terms", session_id), after=after, limit=_SEGMENTS):
            found += [(key[2], raw) for key, raw in rows if keys.fits(key)]
            after = rows[-1][0]
        return found

    async def put_segment(self, session_id: str, first: str, raw: bytes, stale: Iterable[str] = ()) -> None:
        """Store the packed index of a run of episodes; those of the first turns ``stale`` go."""
        gone = frozenset(keys.segment(session_id, turn) for turn in stale if turn != first)
        await self.kv.commit(Batch({keys.segment(session_id, first): raw}, gone))

    async def drop_checkpoints(self, session_id: str) -> None:
        """Delete the stored states of a session; they are computed again when needed."""
        await self._delete([key async for key, _ in self._all(("state", session_id))])

    async def jobs(self, session_id: str | None = None) -> list[tuple[str, str, Wanted | None]]:
        """(session id, turn id, what of it) of all work that is still to be done, oldest first within a session.

        None: the turn's views, and whatever it needs after that. With ``session_id`` that of one session alone.
        """
        prefix = ("job",) if session_id is None else ("job", session_id)
        found: list[tuple[str, str, Wanted | None]] = []
        async for key, raw in self._all(prefix):
            try:
                found.append((key[1], key[2], codec.decode(raw, Wanted) if raw else None))
            except StoreCorrupt as error:
                self.counters.degrade("journal.jobs", f"session {key[1]}: work on turn {key[2]} is left out: {error}")
        return found

    async def change_jobs(self, session_id: str, done: Iterable[str], wanted: Mapping[str, Wanted]) -> None:
        """Cross the views of the turns ``done`` off, and note what turns want from now on."""
        puts = [(keys.job(session_id, turn), codec.encode(each)) for turn, each in wanted.items()]
        for start in range(0, len(puts), _PAGE):
            await self.kv.commit(Batch(dict(puts[start : start + _PAGE])))
        await self._delete([keys.job(session_id, turn) for turn in done if turn not in wanted])

    async def finish_jobs(self, session_id: str, turns: Iterable[str]) -> None:
        """Cross work off."""
        await self._delete([keys.job(session_id, turn) for turn in turns])

    async def add_jobs(self, session_id: str, turns: Sequence[str]) -> None:
        """Note that turns need their background work, again."""
        for start in range(0, len(turns), _PAGE):
            puts = {keys.job(session_id, turn): b"" for turn in turns[start : start + _PAGE]}
            await self.kv.commit(Batch(puts))

    async def timelines(self, session_id: str) -> dict[str, Timeline]:
        """The named timelines of a session, by name."""
        return {key[2]: codec.decode(raw, Timeline) async for key, raw in self._all(("timeline", session_id))}

    async def change_timelines(
        self, session_id: str, put: Iterable[Timeline] = (), *, gone: Iterable[str] = (), fresh: str | None = None
    ) -> None:
        """Write named timelines and forget those of the names ``gone``, in one commit.

        ``Conflict`` when the name ``fresh`` is taken.
        """
        deletes = frozenset(keys.timeline(session_id, name) for name in gone)
        expected = {} if fresh is None else {keys.timeline(session_id, fresh): None}
        await self.kv.commit(Batch(timeline_records(session_id, put), deletes), expected=expected)

    async def _delete(self, doomed: Sequence[Key]) -> None:
        for start in range(0, len(doomed), _PAGE):
            await self.kv.commit(Batch(deletes=frozenset(doomed[start : start + _PAGE])))

    async def _all(self, prefix: Key) -> AsyncIterator[tuple[Key, bytes]]:
        after: Key | None = None
        while True:
            rows = await self.kv.scan(prefix, after=after, limit=_PAGE)
            for number, row in enumerate(rows, 1):
                if keys.fits(row[0]):
                    yield row
                else:
                    self.counters.degrade("journal.keys", f"the entry {str(row[0])[:80]} is left out: it is no key")
                if number % _AT_ONCE == 0:
                    await asyncio.sleep(0)  # reading a row takes the reader time
            if len(rows) < _PAGE:
                return
            after = rows[-1][0]


def _text(raw: bytes) -> str:
    plain = codec.loads(raw)
    if not isinstance(plain, str):
        raise StoreCorrupt("an index entry of the journal cannot be read")
    return plain
