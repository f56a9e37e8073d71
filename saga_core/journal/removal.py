"""Removal of turns, or a whole session, from the journal.

Children are removed before their parents, and all records of a turn in one commit. A crash between two commits leaves a
smaller tree that loads. Repeating the call finishes the removal. A whole session goes out of the journal in one commit,
and what is left of it is removed after that, at the latest by the next start.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from types import MappingProxyType

from attrs import define, evolve

from saga_core import codec
from saga_core.errors import StoreCorrupt
from saga_core.journal import keys
from saga_core.journal.keys import delete_below, delete_rows, pages, value
from saga_core.journal.records import SharedTurn, entries_of, root_records
from saga_core.journal.unfinished import Unfinished
from saga_core.model import BLANK, Session, Timeline, Tree, Turn, TurnNode
from saga_core.prompt import StoredMemory, only
from saga_core.stores import Batch, Key, StateKV

_TURNS = 200
Keep = Callable[[Session], Awaitable[Mapping[Key, bytes]]]
"""Keeps a copy of a session that is about to be removed. The commit that removes the session writes the result."""


@define
class Removal:
    """Removes turns of one session. The caller must hold the session's write lock."""

    kv: StateKV
    session: Session
    tree: Tree

    async def prune(
        self,
        doomed: Collection[str],
        timelines: Collection[Timeline],
        forgotten: Collection[str],
        parts: Collection[str],
    ) -> None:
        """Remove the turns ``doomed``. They must include everything below them, but neither the root nor the head.

        First, one commit writes the changed ``timelines`` and removes the timelines named in ``forgotten`` and the
        index ``parts`` (by first turn) that contain one of the turns.
        """
        inside = set(doomed)
        puts: dict[Key, bytes] = {keys.timeline(self.session.id, each.name): codec.encode(each) for each in timelines}
        memory = await self._memory(inside)
        puts.update(memory.puts)
        gone = {keys.timeline(self.session.id, name) for name in forgotten}
        gone |= {keys.segment(self.session.id, first) for first in parts}
        gone |= memory.deletes
        gone |= {key async for key, _ in self._all(("prompt", self.session.id, "page")) if key[3] in inside}
        if puts or gone:
            await self.kv.commit(Batch(puts, frozenset(gone)))
        await self._turns([self.tree.get(turn) for turn in doomed])

    async def _memory(self, doomed: set[str]) -> Batch:
        """Return the change that removes ``doomed`` from the stored prompt data, or deletes it if it is damaged."""
        key = keys.prompt(self.session.id, "memory")
        found = await value(self.kv, key)
        if found is None:
            return Batch()
        try:
            kept = codec.decode(found, StoredMemory)
        except StoreCorrupt:
            return Batch(deletes=frozenset({key}))
        return Batch({key: codec.encode(only(kept, lambda turn: turn not in doomed))})

    async def begin_anew(self, root: Turn) -> Session:
        """Remove all turns, start over with ``root``, and return the updated session."""
        # Head and timelines first: they must not point to removed turns.
        rested = evolve(self.session, head=self.tree.root)
        await self.kv.commit(Batch({keys.session(rested.id): codec.encode(rested)}, await self._named()))
        await self._clear()
        old = self.tree.get(self.tree.root)
        session = evolve(self.session, root=root.id, head=root.id)
        deletes = {keys.turn(session.id, old.id), keys.node(session.id, old.id)}
        puts = {**root_records(session.id, root), keys.session(session.id): codec.encode(session)}
        await self.kv.commit(Batch(puts, frozenset(deletes)))
        return session

    async def delete(self, puts: Mapping[Key, bytes] = MappingProxyType({})) -> None:
        """Remove the session. One commit takes it out of the journal and writes ``puts``; what is left of it follows.

        If the call is interrupted after that commit, ``settle`` removes the rest.
        """
        session, root = self.session, self.tree.root
        note = {keys.unfinished(session.id): codec.encode(Unfinished(gone=True))}
        doomed = {keys.session(session.id), *await self._named()}
        if session.label:
            doomed.add(keys.label(session.owner, session.label))
        await self.kv.commit(Batch({**note, **puts}, frozenset(doomed)))
        await self._clear()
        last = (keys.turn(session.id, root), keys.node(session.id, root), keys.unfinished(session.id))
        # The session's record is gone; that it is named once more tells servers that nothing of it is left.
        await self.kv.commit(Batch(deletes=frozenset({*last, keys.session(session.id)})))

    async def _named(self) -> frozenset[Key]:
        return frozenset([key async for key, _ in self._all(("timeline", self.session.id))])

    async def _clear(self) -> None:
        """Remove everything except the session's record, its timelines and its bare root."""
        await self._turns([node for node in self.tree.nodes.values() if node.parent is not None])
        rest = [key for name in keys.BESIDE async for key, _ in self._all((name, self.session.id))]
        rest += [key async for key, _ in self._openings()]
        await delete_rows(self.kv, rest)

    async def _turns(self, doomed: list[TurnNode]) -> None:
        doomed.sort(key=lambda node: (-node.depth, node.id))
        beside = await self._beside({node.id for node in doomed})
        for start in range(0, len(doomed), _TURNS):
            part = doomed[start : start + _TURNS]
            records = await self.kv.get([keys.turn(self.session.id, node.id) for node in part])
            turns = {turn.id: turn for turn in (codec.decode(raw, Turn) for raw in records.values())}
            await self._older_beginnings({turn.id for turn in turns.values() if BLANK in turn.reply})
            puts: dict[Key, bytes] = {}
            deletes: set[Key] = set()
            for node in part:
                deletes |= {keys.turn(self.session.id, node.id), keys.node(self.session.id, node.id)}
                deletes |= set(beside.get(node.id, ()))
                if node.id in turns:
                    deletes |= entries_of(self.session, turns[node.id], node).keys()
            if part[-1] is doomed[-1]:
                await self._first_words(doomed, puts, deletes)
            await self.kv.commit(Batch(puts, frozenset(deletes)))

    async def _older_beginnings(self, redacted: set[str]) -> None:
        """Remove index entries of reply beginnings from before a name in the reply was forgotten.

        These entries let a reply be recognised while the frontend still shows the old text. They cannot be derived from
        the redacted reply, so the whole index is scanned.
        """
        if redacted:
            await delete_below(self.kv, ("begin", self.session.owner or "-"), lambda key, _: key[-1] in redacted)

    async def _beside(self, doomed: set[str]) -> dict[str, list[Key]]:
        found: dict[str, list[Key]] = {}
        for name in keys.BESIDE:
            async for key, raw in self._all((name, self.session.id)):
                if key[2] in doomed:
                    found.setdefault(key[2], []).append(key)
                    if name == "shared":
                        mark = codec.decode(raw, SharedTurn)
                        found[key[2]] += [keys.publication(mark.share, number) for number in mark.numbers]
        return found

    async def _first_words(self, doomed: list[TurnNode], puts: dict[Key, bytes], deletes: set[Key]) -> None:
        """Remove opening entries of removed turns, or pass them on to a turn that answers the same message."""
        first = {node.id: node for node in doomed if node.depth == 1}
        if not first:
            return
        left = [node for node in map(self.tree.get, self.tree.children[self.tree.root]) if node.id not in first]
        async for key, raw in self._openings():
            turn = codec.loads(raw) if raw else None
            if turn is not None and not isinstance(turn, str):
                raise StoreCorrupt("an entry of first words cannot be read")
            if turn is not None and turn not in first:
                continue
            heir = next((node.id for node in left if turn is not None and node.user_key == first[turn].user_key), None)
            if heir is not None:
                puts[key] = codec.dumps(heir)
            elif turn is not None or not left:
                deletes.add(key)

    async def _openings(self) -> AsyncIterator[tuple[Key, bytes]]:
        """Yield the index entries by which a chat with this session's first messages finds it."""
        async for key, raw in self._all(("open", self.session.owner or "-")):
            if key[-1] == self.session.id:
                yield key, raw

    async def _all(self, prefix: Key) -> AsyncIterator[tuple[Key, bytes]]:
        async for page in pages(self.kv, prefix):
            for row in page:
                if not keys.fits(row[0]):
                    raise StoreCorrupt(f"the entry {str(row[0])[:80]} is no key")
                yield row
