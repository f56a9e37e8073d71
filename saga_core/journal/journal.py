"""The journal over a StateKV: sessions, turns, amendments, checkpoints, and the indexes for finding replies."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from types import MappingProxyType

from attrs import define, evolve, field

from saga_core import codec
from saga_core.counters import Counters
from saga_core.errors import BadInput, Conflict, NotFound, StoreCorrupt, StoreError
from saga_core.journal import keys
from saga_core.journal.format import check_format
from saga_core.journal.keys import PAGE, delete_rows, pages, put_rows, rows, value
from saga_core.journal.records import PendingWork, TurnEntry, records_of, root_records, timeline_records
from saga_core.journal.unfinished import note_of, settle, write_turns
from saga_core.model import Delta, Review, Session, Timeline, Tree, Turn, TurnNode, WorldState, read_nodes
from saga_core.storage import restoring
from saga_core.stores import Batch, Key, StateKV
from saga_core.transcript import identity_key
from saga_core.world import World

_PAGE = 2_000
_READ = 256
_LONGEST = 256
"""No id and no label of a session has more characters."""
_SEGMENTS = 16
_LARGE = 64 * 1_024
"""Worlds from this size in bytes on are decoded in a thread. A world of 5,000 entries takes a fifth of a second."""
_AT_ONCE = 256
"""Rows that are read or written before the event loop gets control again."""
_GONE = 500
"""Checkpoints that are removed in the commit of an amendment, which has up to ``PAGE`` other records."""


def greeting_key(greeting: str) -> str:
    """Return the key among the openings by which the stories that began with a greeting are found."""
    return f"greeting-{identity_key(greeting)}"


@define
class Journal:
    """The record that everything else is rendered from. An append is one durable commit."""

    kv: StateKV
    counters: Counters = field(factory=Counters)
    """Reports records that cannot be read. They are left out, so that other sessions stay usable."""

    async def open(self) -> None:
        """Check the format, or write it into an empty store. Raises ``NewerSchema`` for a later format."""
        await check_format(self.kv, self.counters)

    async def create_session(
        self,
        session: Session,
        root: Turn,
        world: World,
        beside: Mapping[Key, bytes] = MappingProxyType({}),
        expected: Mapping[Key, bytes | None] = MappingProxyType({}),
    ) -> None:
        """Record a new session with its root and world, and the records ``beside`` it, in one commit.

        ``Conflict`` if its label is taken, or if a value is not as ``expected``.
        """
        world_key = keys.world(session.digest)
        puts: dict[Key, bytes] = {
            keys.session(session.id): codec.encode(session),
            **root_records(session.id, root),
            **beside,
        }
        if root.reply:
            puts[keys.opening(session.owner, greeting_key(root.reply), session.id)] = b""
        if world_key not in await self.kv.get([world_key]):  # writing a large world takes 25 ms
            puts[world_key] = codec.encode(world)
        await self._commit_named(session, puts, {keys.session(session.id): None, **expected})

    async def _commit_named(
        self,
        session: Session,
        puts: dict[Key, bytes],
        expected: dict[Key, bytes | None],
        gone: frozenset[Key] = frozenset(),
    ) -> None:
        """Commit a session's record and label. ``Conflict`` if another session of the owner has that label."""
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
        entries: Sequence[TurnEntry],
        *,
        head: str = "",
        opening: str = "",
        timelines: Iterable[Timeline] = (),
        beside: Batch = Batch(),  # noqa: B008 - it is frozen
    ) -> Session:
        """Record turns durably and return the session with its new head: ``head``, or the old head without it.

        ``opening`` is the key of the chat's first messages, by which a repeated first turn is found. ``timelines`` are
        those that the turns moved. ``beside`` is written in the same commit.
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
        """Index a session by its chat's first messages from now on, before any turn is recorded."""
        await self.kv.commit(Batch({keys.opening(session.owner, opening, session.id): b""}))

    async def amend(
        self,
        session_id: str,
        number: str,
        delta: Delta,
        node: TurnNode,
        stale: Iterable[str] = (),
        below: Iterable[TurnNode] = (),
        *,
        more: Iterable[tuple[str, Delta]] = (),
        review: Review | None = None,
    ) -> None:
        """Record a later delta of ``node``'s turn and ``more`` of its ``review``. ``node`` is the amended node.

        The same commit has the nodes ``below`` that the delta changes too and the jobs for the views of all of them,
        and removes the checkpoints of the ``stale`` turns. If that is more than a store accepts in one commit, further
        checkpoints are removed before it, and further nodes and jobs are written after it, at the latest by ``settle``.
        The caller must hold the session's write lock if there are nodes ``below``.
        """
        puts: dict[Key, bytes] = {
            keys.amendment(session_id, node.id, number): codec.encode(delta),
            **{keys.amendment(session_id, node.id, other): codec.encode(each) for other, each in more},
        }
        if review is not None:
            puts[keys.review(session_id, review.turn, number)] = codec.encode(review)
        for count, each in enumerate((node, *below), 1):
            puts[keys.node(session_id, each.id)] = codec.encode(each)
            puts[keys.job(session_id, each.id)] = b""
            if count % _AT_ONCE == 0:
                await asyncio.sleep(0)
        checkpoints = [keys.checkpoint(session_id, turn) for turn in stale]
        gone = frozenset(checkpoints[:_GONE])
        await delete_rows(self.kv, checkpoints[_GONE:])
        if len(puts) <= PAGE:
            await self.kv.commit(Batch(puts, gone))
        else:
            await write_turns(self.kv, await self.session(session_id), (), beside={}, more=puts, gone=gone)

    async def put_review(self, session_id: str, number: str, review: Review) -> None:
        """Record a review that changed nothing."""
        await self.kv.commit(Batch({keys.review(session_id, review.turn, number): codec.encode(review)}))

    async def reviews(self, session_id: str) -> dict[str, tuple[Review, ...]]:
        """Return the reviews by turn id, in order. Unreadable ones, on which no state depends, are reported."""
        found: dict[str, tuple[Review, ...]] = {}
        async for key, raw in self._all(("review", session_id)):
            try:
                found[key[2]] = (*found.get(key[2], ()), codec.decode(raw, Review))
            except StoreCorrupt as error:
                self.counters.degrade("journal.reviews", f"session {session_id}: a review is left out: {error}")
        return found

    async def rename_session(self, session: Session, label: str) -> Session:
        """Change a session's label and free the previous one. ``Conflict`` if the new one is taken."""
        renamed = evolve(session, label=label)
        old = frozenset({keys.label(session.owner, session.label)} if session.label else ())
        await self._commit_named(renamed, {keys.session(session.id): codec.encode(renamed)}, {}, old)
        return renamed

    async def put_session(self, session: Session) -> None:
        """Replace a session's record."""
        await self.kv.commit(Batch({keys.session(session.id): codec.encode(session)}))

    async def session(self, session_id: str) -> Session:
        """Return a session by id. ``NotFound``, and ``BadInput`` if it is empty."""
        if not session_id:
            raise BadInput("session: is empty; give an id or a name. A turn that was played without memory has none")
        raw = await value(self.kv, keys.session(session_id)) if len(session_id) <= _LONGEST else None
        if raw is None:
            raise NotFound(f"there is no session {session_id[:80]!r}")
        found = codec.decode(raw, Session)
        if found.id != session_id:
            raise StoreCorrupt(f"session {session_id}: its record is of session {found.id[:80]!r}")
        return found

    async def labelled(self, owner: str, label: str) -> str | None:
        """Return the id of the owner's session with this label."""
        raw = await value(self.kv, keys.label(owner, label)) if len(label) <= _LONGEST else None
        return None if raw is None else _text(raw)

    async def sessions(self) -> list[Session]:
        """Return all sessions, ordered by id and so by age. Unreadable ones are left out and reported."""
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
        """Return the ids of all sessions, including those whose records cannot be read."""
        return {key[1] async for key, _ in self._all(("session",))}

    async def unfinished(self) -> list[str]:
        """Return the sessions with a write of many turns, or a removal, that is running or was interrupted."""
        return list(dict.fromkeys([key[1] async for key, _ in self._all(("unfinished",))]))

    async def settle(self, session_id: str) -> bool:
        """Roll back or finish an interrupted write of many turns or removal, and return whether there was one.

        The caller must hold the session's write lock.
        """
        return await settle(self.kv, session_id)

    def leave_out(self, session_id: str, error: StoreError) -> None:
        """Report that a session is left out of operations on all sessions."""
        told = f"session {session_id}: it is left out: {error}; delete it, or restore a backup"
        self.counters.degrade("journal.sessions", told)

    async def world(self, digest: str) -> World:
        """Return the world with this digest, in which sessions began."""
        raw = await value(self.kv, keys.world(digest)) if digest else None
        if raw is None:
            raise StoreCorrupt(f"the journal has no world {digest!r}, though a session began in it")
        if len(raw) < _LARGE:
            return codec.decode(raw, World)
        return await asyncio.to_thread(codec.decode, raw, World)

    async def tree(self, session_id: str) -> Tree:
        """Return the slim tree of a session's turns. ``NotFound`` for a session without turns."""
        records = [(key[2], raw) async for key, raw in self._all(("node", session_id))]
        note = await note_of(self.kv, session_id)
        if note is not None:
            records = [row for row in records if not note.hides(row[0])]
        if not records:
            raise NotFound(f"there is no session {session_id!r}")
        nodes: list[TurnNode] = []
        for start in range(0, len(records), _READ):
            part = records[start : start + _READ]
            for (turn, _), node in zip(part, read_nodes([raw for _, raw in part]), strict=True):
                if node.id != turn:
                    raise StoreCorrupt(f"session {session_id}: the record of turn {turn} is of {node.id[:80]!r}")
                nodes.append(node)
            await asyncio.sleep(0)  # give other tasks a turn
        # Ids sort by age unless the clock was set back between two starts; sorting by depth always puts parents first.
        nodes.sort(key=lambda node: node.depth)
        tree = Tree(session_id)
        for node in nodes:
            if node.parent is None and tree.root:
                raise StoreCorrupt(f"session {session_id}: {tree.root} and {node.id[:80]} both have no parent")
            if node.parent is not None and node.parent not in tree:
                raise StoreCorrupt(f"session {session_id}: turn {node.id[:80]} has no parent: {node.parent[:80]!r}")
            tree.add(node)
        return tree

    async def node(self, session_id: str, turn_id: str) -> TurnNode:
        """Return the slim form of one turn. ``NotFound``."""
        raw = await value(self.kv, keys.node(session_id, turn_id))
        if raw is None:
            raise NotFound(f"session {session_id} has no turn {turn_id!r}")
        return codec.decode(raw, TurnNode)

    async def turns(self, session_id: str, ids: Sequence[str]) -> list[Turn]:
        """Return the turns with these ids, in this order. ``StoreCorrupt`` if one is missing."""
        return await self.turns_at([(session_id, turn_id) for turn_id in ids])

    async def turns_at(self, places: Sequence[tuple[str, str]]) -> list[Turn]:
        """Return the turns at these places (session id, turn id), in this order. ``StoreCorrupt`` if one is missing."""
        wanted = [keys.turn(*place) for place in places]
        found: dict[Key, bytes] = {}
        for start in range(0, len(wanted), _PAGE):
            found.update(await self.kv.get(wanted[start : start + _PAGE]))
        missing = [place for key, place in zip(wanted, places, strict=True) if key not in found]
        if missing:
            session_id = missing[0][0]
            lost = [turn_id for session, turn_id in missing if session == session_id]
            raise StoreCorrupt(
                f"session {session_id}: the journal lost the turns {', '.join(lost[:3])}; "
                f"{restoring(self.kv.info.name)}"
            )
        turns: list[Turn] = []
        for number, (key, (session_id, turn_id)) in enumerate(zip(wanted, places, strict=True), 1):
            turn = codec.decode(found[key], Turn)
            if turn.id != turn_id:
                raise StoreCorrupt(f"session {session_id}: the record of turn {turn_id} is of {turn.id[:80]!r}")
            turns.append(turn)
            if number % _AT_ONCE == 0:
                await asyncio.sleep(0)  # ten thousand turns take a second
        return turns

    async def amendments(self, session_id: str) -> dict[str, tuple[Delta, ...]]:
        """Return the later deltas by turn id, in order."""
        found: dict[str, tuple[Delta, ...]] = {}
        async for key, raw in self._all(("amend", session_id)):
            found[key[2]] = (*found.get(key[2], ()), codec.decode(raw, Delta))
        return found

    async def replies(self, owner: str, key: str, limit: int = 64) -> list[tuple[str, str]]:
        """Return (session id, turn id) of the newest replies with this identity, oldest first."""
        return await self._index(("reply", owner or "-", key), limit)

    async def beginnings(self, owner: str, prefix_key: str, limit: int = 64) -> list[tuple[str, str]]:
        """Return (session id, turn id) of the newest replies with this beginning, oldest first."""
        return await self._index(("begin", owner or "-", prefix_key), limit)

    async def said(self, owner: str, key: str, limit: int = 256) -> list[tuple[str, str]]:
        """Return (session id, turn id) of the newest turns with this player message, oldest first.

        Turns that an older SAGA recorded are not included.
        """
        return await self._index(("said", owner or "-", key), limit)

    async def openings(self, owner: str, key: str, limit: int = 16) -> list[str]:
        """Return the newest sessions that begin with these first messages, oldest first."""
        return [found[-1] for found, _ in await newest(self.kv, ("open", owner or "-", key), limit)]

    async def _index(self, prefix: Key, limit: int) -> list[tuple[str, str]]:
        return [(_text(raw), found[-1]) for found, raw in await newest(self.kv, prefix, limit)]

    async def checkpoint(self, session_id: str, turns: Sequence[str]) -> WorldState | None:
        """Return the stored state of the first of ``turns`` that has one."""
        wanted = [keys.checkpoint(session_id, turn_id) for turn_id in turns]
        found = await self.kv.get(wanted)
        for key in wanted:
            if key in found:
                return codec.decode(found[key], WorldState)
        return None

    async def put_checkpoint(self, session_id: str, state: WorldState) -> None:
        """Store the state as the checkpoint of its turn."""
        await self.kv.commit(Batch({keys.checkpoint(session_id, state.turn): codec.encode(state)}))

    async def segments(self, session_id: str) -> list[tuple[str, bytes]]:
        """Return the packed indexes of runs of episodes, each with its first turn, oldest first."""
        return [(key[2], raw) async for key, raw in rows(self.kv, ("terms", session_id), _SEGMENTS)]

    async def put_segment(self, session_id: str, first: str, raw: bytes, stale: Iterable[str] = ()) -> None:
        """Store the packed index of a run of episodes, and remove the indexes of the first turns ``stale``."""
        gone = frozenset(keys.segment(session_id, turn) for turn in stale if turn != first)
        await self.kv.commit(Batch({keys.segment(session_id, first): raw}, gone))

    async def jobs(self, session_id: str | None = None) -> list[tuple[str, str, PendingWork | None]]:
        """Return (session id, turn id, wanted work) of all pending jobs, oldest first within a session.

        None as work: the turn's views and whatever it needs after them. ``session_id`` limits the result to one
        session.
        """
        prefix = ("job",) if session_id is None else ("job", session_id)
        found: list[tuple[str, str, PendingWork | None]] = []
        async for key, raw in self._all(prefix):
            try:
                found.append((key[1], key[2], codec.decode(raw, PendingWork) if raw else None))
            except StoreCorrupt as error:
                self.counters.degrade("journal.jobs", f"session {key[1]}: work on turn {key[2]} is left out: {error}")
        return found

    async def change_jobs(self, session_id: str, done: Iterable[str], wanted: Mapping[str, PendingWork]) -> None:
        """Remove the view jobs of the turns ``done``, and store the jobs in ``wanted``."""
        await put_rows(self.kv, {keys.job(session_id, turn): codec.encode(each) for turn, each in wanted.items()})
        await self.finish_jobs(session_id, (turn for turn in done if turn not in wanted))

    async def finish_jobs(self, session_id: str, turns: Iterable[str]) -> None:
        """Remove the jobs of ``turns``."""
        await delete_rows(self.kv, (keys.job(session_id, turn) for turn in turns))

    async def add_jobs(self, session_id: str, turns: Sequence[str]) -> None:
        """Add the background jobs of turns again."""
        await put_rows(self.kv, {keys.job(session_id, turn): b"" for turn in turns})

    async def timelines(self, session_id: str) -> dict[str, Timeline]:
        """Return the named timelines of a session, by name."""
        return {key[2]: codec.decode(raw, Timeline) async for key, raw in self._all(("timeline", session_id))}

    async def change_timelines(
        self, session_id: str, put: Iterable[Timeline] = (), *, gone: Iterable[str] = (), fresh: str | None = None
    ) -> None:
        """Write named timelines and remove those with the names ``gone``, in one commit.

        ``Conflict`` if the name ``fresh`` is taken.
        """
        deletes = frozenset(keys.timeline(session_id, name) for name in gone)
        expected = {} if fresh is None else {keys.timeline(session_id, fresh): None}
        await self.kv.commit(Batch(timeline_records(session_id, put), deletes), expected=expected)

    async def _all(self, prefix: Key) -> AsyncIterator[tuple[Key, bytes]]:
        async for page in pages(self.kv, prefix, _PAGE):
            for number, row in enumerate(page, 1):
                if keys.fits(row[0]):
                    yield row
                else:
                    self.counters.degrade("journal.keys", f"the entry {str(row[0])[:80]} is left out: it is no key")
                if number % _AT_ONCE == 0:
                    await asyncio.sleep(0)  # processing the rows takes the caller time


def _text(raw: bytes) -> str:
    plain = codec.loads(raw)
    if not isinstance(plain, str):
        raise StoreCorrupt("an index entry of the journal cannot be read")
    return plain


async def newest(kv: StateKV, prefix: Key, limit: int) -> list[tuple[Key, bytes]]:
    """Return the last ``limit`` rows below ``prefix``, oldest first. The ids at the end of their keys ascend with time.

    A store is read forwards only, so this takes time in proportion to the number of rows if there are ``limit`` or
    more.
    """
    rows = page = await kv.scan(prefix, limit=limit)
    size = limit
    while len(page) == size:
        size = _PAGE
        page = await kv.scan(prefix, after=page[-1][0], limit=size)
        rows = [*rows, *page][-limit:]
    return rows
