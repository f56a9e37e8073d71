"""Audit: checks that a session's journal is consistent, and which parts can be derived again from the rest.

A turn's own record is the truth. The nodes, the indexes of replies, the checkpoints and the noted jobs are derived from
turns, and are compared with them.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable

from attrs import define, field

from saga_core import codec
from saga_core.errors import NotFound, StoreError
from saga_core.journal import Journal, entries_of, keys
from saga_core.maintenance.finding import Finding, Mend
from saga_core.model import Delta, Node, Session, Tree, Turn, WorldState, fold
from saga_core.stores import Batch, Key
from saga_core.world import opening_state

_PAGE = 512
_SHOWN = 3


@define(eq=False)
class Audit:
    """The audit of one session. It must not be pruned or amended meanwhile. Turns recorded meanwhile are left out."""

    journal: Journal
    session: Session
    checkpoint_every: int
    findings: list[Finding] = field(factory=list)
    tree: Tree = field(init=False)
    _deltas: dict[str, Delta] = field(factory=dict)
    _later: dict[str, tuple[Delta, ...]] = field(factory=dict)

    async def run(self) -> list[Finding]:
        """Run all checks, and return the findings."""
        try:
            await self._record()
            self.tree = await self.journal.tree(self.session.id)
            self._later = await self.journal.amendments(self.session.id)
            self._places()
            await self._turns()
            await self._checkpoints()
            await self._work()
        except (StoreError, NotFound) as error:
            self._lost(f"it cannot be read: {error}")
        return self.findings

    def _lost(self, what: str) -> None:
        self.findings.append(Finding(self.session.id, "journal", f"{what}; restore a backup (saga restore)"))

    def _found(self, what: str, mend: Mend) -> None:
        self.findings.append(Finding(self.session.id, "journal", what, mend))

    async def _record(self) -> None:
        session = self.session
        if not session.label:
            return
        known = await self.journal.labelled(session.owner, session.label)
        if known == session.id:
            return
        if known is not None:
            self._lost(f"its name {session.label!r} leads to session {known}")
            return
        self._found(f"its name {session.label!r} does not lead to it", self._write(
            {keys.label(session.owner, session.label): codec.dumps(session.id)}
        ))  # fmt: skip

    def _places(self) -> None:
        """Check the head, the root and the depths."""
        session, nodes = self.session, self.tree.nodes
        if session.root not in nodes:
            self._lost(f"its root {session.root} is gone")
        if session.head and session.head not in nodes:
            self._lost(f"its head {session.head} is no turn of it")
        roots = [node.id for node in nodes.values() if node.parent is None]
        if len(roots) != 1:
            self._lost(f"it has {len(roots)} roots: {', '.join(roots[:_SHOWN])}")
        wrong = self.tree.misplaced
        if wrong:
            self._lost(f"the depth of {len(wrong)} turns is not that of their place: {', '.join(wrong[:_SHOWN])}")

    async def _turns(self) -> None:
        """Compare each turn with its node, and with the index entries that lead to it."""
        missing: dict[Key, bytes] = {}
        astray: list[str] = []
        unplaced: list[str] = []
        async for turns in self._pages():
            expected: dict[Key, bytes] = {}
            for turn in turns:
                node = self.tree.nodes.get(turn.id)
                if node is None:
                    unplaced.append(turn.id)
                    continue
                self._deltas[turn.id] = turn.delta
                if not _agree(turn, node):
                    astray.append(turn.id)
                expected.update(entries_of(self.session, turn, node))
            stored = await self.journal.kv.get(list(expected))
            missing.update({key: value for key, value in expected.items() if stored.get(key) != value})
        gone = [turn for turn in self.tree.nodes if turn not in self._deltas]
        if gone:
            self._lost(f"{len(gone)} turns are gone, only their places are left: {', '.join(gone[:_SHOWN])}")
        if unplaced := await self._without_node(unplaced):
            self._lost(f"the places of {len(unplaced)} turns are gone: {', '.join(unplaced[:_SHOWN])}")
        if astray:
            self._lost(f"{len(astray)} turns do not agree with their places: {', '.join(astray[:_SHOWN])}")
        if missing:
            self._found(f"{len(missing)} entries by which its replies are found are gone", self._write(missing))

    async def _without_node(self, turns: list[str]) -> list[str]:
        """Those of the turns that are recorded without a node. The others were recorded or pruned since the tree was
        read."""
        session, found = self.session.id, list[str]()
        for start in range(0, len(turns), _PAGE):
            ids = turns[start : start + _PAGE]
            wanted = [key for turn in ids for key in (keys.turn(session, turn), keys.node(session, turn))]
            stored = await self.journal.kv.get(wanted)
            found += [
                turn for turn in ids if keys.turn(session, turn) in stored and keys.node(session, turn) not in stored
            ]
        return found

    async def _pages(self) -> AsyncIterator[list[Turn]]:
        after: Key | None = None
        while rows := await self.journal.kv.scan(("turn", self.session.id), after=after, limit=_PAGE):
            yield [codec.decode(raw, Turn) for _, raw in rows]
            after = rows[-1][0]

    async def _checkpoints(self) -> None:
        """Compare each stored state with the fold from the opening."""
        known: dict[str, WorldState] = {}
        wrong: list[str] = []
        rows = [row async for row in self._rows("state")]
        for turn in sorted((key[2] for key, _ in rows if key[2] in self.tree), key=lambda at: self.tree.get(at).depth):
            known[turn] = await self._folded(turn, known)
        for key, raw in rows:
            if key[2] not in known or _read(raw) != known[key[2]]:
                wrong.append(key[2])
        if wrong:
            gone = frozenset(keys.checkpoint(self.session.id, turn) for turn in wrong)
            self._found(f"{len(wrong)} stored states are not the fold of their turns", self._delete(gone))

    async def _folded(self, turn: str, known: dict[str, WorldState]) -> WorldState:
        chain: list[Node] = []
        base: WorldState | None = None
        for node in self.tree.upwards(turn):
            base = known.get(node.id)
            if base is not None:
                break
            chain.append(node)
        if base is None:
            root = chain.pop()
            base = opening_state(await self.journal.world(self.session.digest), root.id)
            if self._later.get(root.id):
                base = fold(base, Delta().amended(self._later[root.id]), turn=root.id, depth=0)
        for node in reversed(chain):
            delta, later = self._deltas.get(node.id, Delta()), self._later.get(node.id)
            base = fold(base, delta.amended(later) if later else delta, turn=node.id, depth=node.depth)
        return base

    async def _work(self) -> None:
        idle = [key async for key, _ in self._rows("job") if key[2] not in self.tree]
        # A turn that was recorded since the tree was read has its node in the journal by now.
        fresh = await self.journal.kv.get([keys.node(self.session.id, key[2]) for key in idle])
        idle = [key for key in idle if keys.node(self.session.id, key[2]) not in fresh]
        if idle:
            self._found(f"{len(idle)} jobs are of turns that are gone", self._delete(frozenset(idle)))

    async def _rows(self, name: str) -> AsyncIterator[tuple[Key, bytes]]:
        after: Key | None = None
        while rows := await self.journal.kv.scan((name, self.session.id), after=after, limit=_PAGE):
            for row in rows:
                if keys.fits(row[0]):
                    yield row
            after = rows[-1][0]

    def _write(self, puts: dict[Key, bytes]) -> Mend:
        async def mend() -> None:
            items = list(puts.items())
            for start in range(0, len(items), _PAGE):
                await self.journal.kv.commit(Batch(dict(items[start : start + _PAGE])))

        return mend

    def _delete(self, gone: Iterable[Key]) -> Mend:
        async def mend() -> None:
            await self.journal.kv.commit(Batch(deletes=frozenset(gone)))

        return mend


def _agree(turn: Turn, node: Node) -> bool:
    return (turn.parent, turn.depth, turn.kind) == (node.parent, node.depth, node.kind)


def _read(raw: bytes) -> WorldState | None:
    """A stored state; None if it cannot be read, so that it is replaced like a wrong one."""
    try:
        return codec.decode(raw, WorldState)
    except StoreError:
        return None
