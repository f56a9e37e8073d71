"""Verify: checks that every session's journal is consistent, and compares every view in every store with it.

A turn's own record is the truth. The nodes, the indexes of replies, the checkpoints and the noted jobs are derived from
turns, and are compared with them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any

from attrs import define, field, frozen

from saga_core import codec
from saga_core.background import Waiting
from saga_core.capabilities import Capability
from saga_core.errors import NotFound, StoreCorrupt, StoreError, StoreTimeout
from saga_core.journal import Journal, delete_below, delete_rows, entries_of, keys, pages, put_rows, rows
from saga_core.maintenance.tools import Tools
from saga_core.model import Delta, Session, Tree, Turn, TurnNode, WorldState, fold
from saga_core.recall import episodes_scope, lore_scope, spec_of
from saga_core.sessions import LiveSession
from saga_core.storage import restoring, what_hangs
from saga_core.stores import Key, Vector, VectorStore
from saga_core.views import alike, passages, scope_of
from saga_core.world import opening_state

Mend = Callable[[], Awaitable[None]]


@frozen
class Discrepancy:
    """One difference. Findings that the same call repairs share their ``mend``."""

    session: str
    """The id of the affected session; empty if there is none."""
    store: str
    """``journal``, ``graph``, ``view``, ``pages`` or ``vectors``."""
    what: str
    """The difference, in words."""
    mend: Mend | None = field(default=None, eq=False, repr=False)
    """Repairs the difference from the journal; None if the journal itself has lost data."""

    def __str__(self) -> str:
        return f"{self.store}: {self.what}"

    def plain(self) -> dict[str, Any]:
        """The finding as data."""
        return {
            "session": self.session or None,
            "store": self.store,
            "what": self.what,
            "mendable": self.mend is not None,
        }


async def mend(findings: Iterable[Discrepancy]) -> int:
    """Repair the findings that can be repaired, calling each ``mend`` once. Returns the number of findings repaired."""
    mends = [finding.mend for finding in findings if finding.mend is not None]
    for each in dict.fromkeys(mends):
        await each()
    return len(mends)


_ROWS = 512
_SHOWN = 3


@define(eq=False)
class JournalAudit:
    """The audit of one session. It must not be pruned or amended meanwhile. Turns recorded meanwhile are left out."""

    journal: Journal
    session: Session
    findings: list[Discrepancy] = field(factory=list)
    tree: Tree = field(init=False)
    _deltas: dict[str, Delta] = field(factory=dict)
    _later: dict[str, tuple[Delta, ...]] = field(factory=dict)

    async def run(self) -> list[Discrepancy]:
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
        told = f"{what}; {restoring(self.journal.kv.info.name)}"
        self.findings.append(Discrepancy(self.session.id, "journal", told))

    def _found(self, what: str, mend: Mend) -> None:
        self.findings.append(Discrepancy(self.session.id, "journal", what, mend))

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
        entry = {keys.label(session.owner, session.label): codec.dumps(session.id)}
        self._found(f"its name {session.label!r} does not lead to it", partial(put_rows, self.journal.kv, entry))

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
        async for page in pages(self.journal.kv, ("turn", self.session.id), _ROWS):
            expected: dict[Key, bytes] = {}
            for turn in (codec.decode(raw, Turn) for _, raw in page):
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
            self._found(
                f"{len(missing)} entries by which its replies are found are gone",
                partial(put_rows, self.journal.kv, missing),
            )

    async def _without_node(self, turns: list[str]) -> list[str]:
        """Those of the turns that are recorded without a node. The others were recorded or pruned since the tree was
        read."""
        session, found = self.session.id, list[str]()
        for start in range(0, len(turns), _ROWS):
            ids = turns[start : start + _ROWS]
            wanted = [key for turn in ids for key in (keys.turn(session, turn), keys.node(session, turn))]
            stored = await self.journal.kv.get(wanted)
            found += [
                turn for turn in ids if keys.turn(session, turn) in stored and keys.node(session, turn) not in stored
            ]
        return found

    async def _checkpoints(self) -> None:
        """Compare each stored state with the fold from the opening."""
        known: dict[str, WorldState] = {}
        stored = [row async for row in rows(self.journal.kv, ("state", self.session.id), _ROWS)]
        kept = [key[2] for key, _ in stored if key[2] in self.tree]
        for turn in sorted(kept, key=lambda at: self.tree.get(at).depth):
            known[turn] = await self._folded(turn, known)
        if wrong := [key[2] for key, raw in stored if key[2] not in known or _read(raw) != known[key[2]]]:
            gone = [keys.checkpoint(self.session.id, turn) for turn in wrong]
            self._found(
                f"{len(wrong)} stored states are not the fold of their turns",
                partial(delete_rows, self.journal.kv, gone),
            )

    async def _folded(self, turn: str, known: dict[str, WorldState]) -> WorldState:
        chain: list[TurnNode] = []
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
        idle = [key async for key, _ in rows(self.journal.kv, ("job", self.session.id)) if key[2] not in self.tree]
        # A turn that was recorded since the tree was read has its node in the journal by now.
        fresh = await self.journal.kv.get([keys.node(self.session.id, key[2]) for key in idle])
        idle = [key for key in idle if keys.node(self.session.id, key[2]) not in fresh]
        if idle:
            self._found(f"{len(idle)} jobs are of turns that are gone", partial(delete_rows, self.journal.kv, idle))


def _agree(turn: Turn, node: TurnNode) -> bool:
    return (turn.parent, turn.depth, turn.kind) == (node.parent, node.depth, node.kind)


def _read(raw: bytes) -> WorldState | None:
    """A stored state; None if it cannot be read, so that it is replaced like a wrong one."""
    try:
        return codec.decode(raw, WorldState)
    except StoreError:
        return None


log = logging.getLogger("saga.custody")

_PAGE = 1_000
_SHORT = 256
"""Bytes of a value that is kept whole: a session's id, which may have 64 characters, as JSON."""
_RENDERS = ("project", "embed")
"""The kinds of work that render views."""
_COMPARING = 600.0
"""Seconds for comparing one session with one store, as for background work."""
_LOOKS = 3
"""How often a session whose views lag is checked before its findings count."""


@frozen
class Verification:
    """The result of verifying."""

    sessions: int
    """The number of sessions that were checked."""
    findings: tuple[Discrepancy, ...]
    waiting: tuple[Waiting, ...] = ()
    """Pending work. Views may lack its results, which is not a finding."""

    @property
    def equal(self) -> bool:
        """Whether there are no findings."""
        return not self.findings

    def plain(self) -> dict[str, Any]:
        """The verdict as data."""
        return {
            "equal": self.equal,
            "sessions": self.sessions,
            "findings": [finding.plain() for finding in self.findings],
            "waiting": len(self.waiting),
        }


async def verify(tools: Tools, session: str | None = None, *, patience: float = 60.0) -> Verification:
    """See ``Maintenance.verify``."""
    await settle(tools, patience)
    if session is not None:
        chosen = [await tools.directory.find(session)]
    else:
        chosen = await tools.journal.sessions()
    findings: list[Discrepancy] = []
    for each in chosen:
        try:
            findings += await _looked(tools, each.id, patience)
        except NotFound:
            continue  # deleted since it was listed
    if session is None:
        findings += [found async for found in _strays(tools)]
    return Verification(len(chosen), tuple(findings), tools.supervisor.waiting())


async def _looked(tools: Tools, session: str, patience: float) -> list[Discrepancy]:
    """Check one session. If it is being played or corrected and its views lag, check it again once they are done."""
    found: list[Discrepancy] = []
    for _ in range(_LOOKS):
        async with _alone(tools, session, patience):
            behind = _is_behind(tools, session)
            # It may have been reset or pruned since it was listed.
            found = await _Views(tools, await tools.journal.session(session)).look()
            behind = behind or _is_behind(tools, session)
        if not (found and behind):
            break
        await tools.finish_views(patience)
    return found


@asynccontextmanager
async def _alone(tools: Tools, session: str, patience: float) -> AsyncIterator[None]:
    """Hold a session. Raises ``StoreTimeout`` if the work on it that runs does not end in time."""
    async with AsyncExitStack() as held:
        async with _in_time(tools, session, patience):
            await held.enter_async_context(tools.supervisor.exclusive(session))
        yield


@asynccontextmanager
async def _in_time(tools: Tools, session: str, seconds: float) -> AsyncIterator[None]:
    """Raise ``StoreTimeout``, which names what hangs, if the body takes longer."""
    try:
        async with asyncio.timeout(seconds) as limit:
            yield
    except TimeoutError as error:
        if not limit.expired():
            raise
        hangs = what_hangs(error, tools.counters)
        raise StoreTimeout(f"session {session}: cannot be compared within {seconds:g} s; {hangs}") from error


def _is_behind(tools: Tools, session: str) -> bool:
    return any(waiting.session == session for waiting in tools.supervisor.waiting())


async def repair(tools: Tools, verdict: Verification, session: str | None = None) -> Verification:
    """See ``Maintenance.repair``."""
    count = await mend(verdict.findings)
    tools.counters.add("repaired", count)
    log.info("repaired %d findings", count)
    return await verify(tools, session)


async def settle(tools: Tools, seconds: float) -> None:
    """See ``Maintenance.settle``."""
    waiting: dict[str, list[str]] = {}
    for session, turn, wants in await tools.journal.jobs():
        if wants is None and turn not in tools.queued(session):
            waiting.setdefault(session, []).append(turn)
    for session, turns in waiting.items():
        tools.directory.render(session, turns)
    await tools.finish_views(seconds)


@define(eq=False)
class _Views:
    """Checks the views of one session."""

    tools: Tools
    session: Session
    findings: list[Discrepancy] = field(factory=list)

    async def look(self) -> list[Discrepancy]:
        tools = self.tools
        self.findings = await JournalAudit(tools.journal, self.session).run()
        try:
            live = await tools.live.get(self.session.id)
        except StoreError:
            return self.findings  # the audit has reported it
        for slot in range(tools.projector.slots):
            for store, check in (
                ("graph", tools.projector.verify_graph),
                ("view", tools.projector.verify_view),
                ("pages", tools.projector.verify_pages),
            ):
                await self._compare(store, check(live, slot), self._render)
        await self._compare("vectors", _episodes(tools, live), self._render)
        await self._compare("vectors", _lore(tools, live), self._lore)
        if not self.findings:
            await self._shown(live)
        return self.findings

    async def _shown(self, live: LiveSession) -> None:
        """Find views that were rendered and are missing or behind, unless work waits that renders them."""
        tools, session = self.tools, self.session.id
        for store in ("graph", "pages"):
            await self._compare(store, tools.projector.unshown(live, store), self._render)
        await self._compare("vectors", _no_lore(tools, live), self._lore)
        waits = any(each.session == session and each.kind in _RENDERS for each in tools.supervisor.waiting())
        if waits or [key async for key, raw in rows(tools.stores.state, ("job", session)) if not raw]:
            self.findings.clear()

    async def _compare(self, store: str, check: Coroutine[Any, Any, list[str]], mend: Mend) -> None:
        try:
            async with _in_time(self.tools, self.session.id, _COMPARING):
                told = await check
        except StoreTimeout:
            raise
        except StoreError as error:
            told = [f"cannot be read: {error}"]
        # Views are not rebuilt from a journal that has lost data itself.
        whole = all(finding.mend is not None for finding in self.findings if finding.store == "journal")
        self.findings += [
            Discrepancy(self.session.id, store, what.removeprefix(f"{store} "), mend if whole else None)
            for what in told
        ]

    async def _render(self) -> None:
        async with self.tools.supervisor.exclusive(self.session.id):
            self.tools.live.forget(self.session.id)
            await self.tools.projector.rebuild(await self.tools.live.get(self.session.id))

    async def _lore(self) -> None:
        await self.tools.projector.renew_lore(await self.tools.live.get(self.session.id))


async def _episodes(tools: Tools, live: LiveSession) -> list[str]:
    """Compare the vectors of a session. A store in memory has none until the session is played after a start."""
    store, session = tools.stores.vector, live.session.id
    if not _is_durable(store) and await store.describe(episodes_scope(session)) is None:
        return []
    waiting = {key[2] async for key, raw in rows(tools.stores.state, ("job", session)) if not raw}
    return await tools.projector.verify_episodes(live, waiting)


async def _lore(tools: Tools, live: LiveSession) -> list[str]:
    """Compare the vectors of the world's lore, if their scope exists. It is created when a session is played."""
    embedder, scope = tools.stores.embedder, lore_scope(live.world.digest)
    spec = await tools.stores.vector.describe(scope)
    if spec is None or spec != spec_of(scope, embedder):
        return []
    stored: dict[str, Vector] = {}
    after: str | None = None
    while page := await tools.stores.vector.scan(scope, after=after, limit=_PAGE):
        stored.update((item.id, item.vector) for item in page)
        after = page[-1].id
    texts = [f"{entry.name}\n{entry.text}" for entry in live.world.lore]
    vectors = await passages(embedder, texts) if texts else []
    wanted = {entry.name: vector for entry, vector in zip(live.world.lore, vectors, strict=True)}
    if stored.keys() == wanted.keys() and all(alike(stored[name], wanted[name]) for name in wanted):
        return []
    return [f"{scope}: the vectors of {len(stored)} entries are not those of the world's {len(wanted)}"]


def _is_durable(store: VectorStore) -> bool:
    return Capability.DURABLE in store.info.capabilities


async def _no_lore(tools: Tools, live: LiveSession) -> list[str]:
    """Tell if the vectors of the world's lore are gone from a store that keeps them, though the session was played."""
    scope, store = lore_scope(live.world.digest), tools.stores.vector
    if not _is_durable(store) or not live.world.lore or await store.describe(scope) is not None:
        return []
    if not await tools.stores.state.get(
        [keys.view_mark(scope_of(live.session.id, n)) for n in range(tools.projector.slots)]
    ):
        return []  # it was never rendered
    return [f"{scope}: is missing, with the vectors of the world's {len(live.world.lore)} entries"]


async def _strays(tools: Tools) -> AsyncIterator[Discrepancy]:
    """Yield findings for views and records that belong to no session."""
    sessions = {session.id: session for session in await tools.journal.sessions()}
    if odd := [key async for key in _odd(tools)]:
        yield Discrepancy(
            "",
            "journal",
            f"{len(odd)} entries are under no key that SAGA gives",
            partial(delete_rows, tools.stores.state, odd),
        )
    unread = await tools.journal.session_ids() - sessions.keys()
    for session in unread:
        yield Discrepancy(session, "journal", "its record cannot be read: delete it, or restore a backup")
    known = {scope_of(session, slot) for session in (*sessions, *unread) for slot in range(tools.projector.slots)}
    vectors = {episodes_scope(session) for session in (*sessions, *unread)}
    vectors |= {lore_scope(session.digest) for session in sessions.values()}
    stores: list[tuple[str, Any, set[str]]] = [
        ("graph", tools.stores.graph, known),
        ("vectors", tools.stores.vector, vectors),
        ("pages", tools.stores.cache, known),
    ]
    for name, store, belongs in stores:
        if store is None:
            continue
        try:
            scopes = await store.scopes()
        except StoreError as error:
            yield Discrepancy("", name, f"cannot be listed: {error}")
            continue
        for scope in scopes:
            if scope not in belongs:
                yield Discrepancy("", name, f"{scope}: belongs to no session", partial(store.drop, scope))
    for mark, _ in await _all(tools, ("viewmark",)):
        if mark[1] not in known:
            yield Discrepancy("", "view", f"{mark[1]}: belongs to no session", _clearing(tools, mark[1]))
    unfinished = set(await tools.journal.unfinished())
    for session in unfinished:
        if found := await _cut_off(tools, session):
            yield found
    async for found in _stray_records(tools, unfinished):
        yield found


async def _cut_off(tools: Tools, session: str) -> Discrepancy | None:
    """A finding for an unfinished write of many turns; None if the write has been finished meanwhile."""
    async with tools.supervisor.locks.writing(session):
        if session not in await tools.journal.unfinished():
            return None

    async def mend() -> None:
        async with tools.supervisor.locks.writing(session):
            await tools.journal.settle(session)
            tools.live.forget(session)

    return Discrepancy(session, "journal", "an import or a removal was cut off: it is taken back, or finished", mend)


async def _stray_records(tools: Tools, unfinished: set[str]) -> AsyncIterator[Discrepancy]:
    """Yield findings for records of sessions without a session record, left by an interrupted import or removal."""
    for name in ("turn", "node", "timeline", *keys.BESIDE):
        for session, found in (await _nobodys(tools, name, unfinished, lambda key, _: key[1])).items():
            what = f"{len(found)} {name} records of {session}, which is no session"
            yield Discrepancy("", "journal", what, _gone_with(tools, session, found))
    for name in ("reply", "begin", "said"):
        lost = await _nobodys(tools, name, unfinished, lambda _, raw: _leads_to(raw))
        if nowhere := [key for found in lost.values() for key in found]:
            what = f"{len(nowhere)} {name} entries lead to no session"
            yield Discrepancy("", "journal", what, partial(delete_rows, tools.stores.state, nowhere))


async def _nobodys(
    tools: Tools, name: str, unfinished: set[str], of: Callable[[Key, bytes], str]
) -> dict[str, list[Key]]:
    """The keys of a kind by what should be their session and is none. A session that is being imported is left out: its
    own record is written last."""
    found: dict[str, list[Key]] = {}
    for key, raw in await _all(tools, (name,)):
        found.setdefault(of(key, raw), []).append(key)
    # Check the locks first: an import that ends in between has its record by the time the records are read.
    left = [session for session in sorted(found.keys() - unfinished) if session not in tools.supervisor.locks]
    known = await tools.journal.session_ids()
    return {session: found[session] for session in left if session not in known}


def _gone_with(tools: Tools, session: str, doomed: list[Key]) -> Mend:
    async def mend() -> None:
        async with tools.supervisor.locks.writing(session):
            if session not in await tools.journal.session_ids():  # otherwise it was imported since the check
                await delete_rows(tools.stores.state, doomed)

    return mend


async def _odd(tools: Tools) -> AsyncIterator[Key]:
    for name in keys.KINDS:
        async for page in pages(tools.stores.state, (name,)):
            for key, _ in page:
                if not keys.fits(key):
                    yield key


def _leads_to(raw: bytes) -> str:
    """The session that an entry leads to; "" if the entry cannot be read."""
    try:
        found = codec.loads(raw)
    except StoreCorrupt:
        return ""
    return found if isinstance(found, str) else ""


async def _all(tools: Tools, prefix: Key) -> list[tuple[Key, bytes]]:
    """All keys with this prefix and their values. Values of more than ``_SHORT`` bytes are replaced by ``b""`` to save
    memory."""
    found = rows(tools.stores.state, prefix)
    return [(key, raw if len(raw) <= _SHORT else b"") async for key, raw in found]


def _clearing(tools: Tools, scope: str) -> Mend:
    async def mend() -> None:
        await delete_below(tools.stores.state, ("view", scope))
        await delete_rows(tools.stores.state, [keys.view_mark(scope)])

    return mend
