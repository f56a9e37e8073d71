"""Verify: checks that every session's journal is consistent, and compares every view in every store with it."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from typing import Any

from attrs import define, field, frozen

from saga_core import codec
from saga_core.background import Waiting
from saga_core.errors import NotFound, StoreCorrupt, StoreError
from saga_core.journal import keys
from saga_core.maintenance.audit import Audit
from saga_core.maintenance.finding import Finding, Mend, mend
from saga_core.maintenance.tools import Tools
from saga_core.model import Session
from saga_core.recall import episodes_scope, lore_scope, spec_of
from saga_core.sessions import LiveSession
from saga_core.stores import Batch, Key, Vector
from saga_core.views import alike, passages, scope_of

log = logging.getLogger("saga.custody")

_PAGE = 1_000
_SHORT = 256
"""Bytes of a value that is kept whole: a session's id, which may have 64 characters, as JSON."""
_LOOKS = 3
"""How often a session whose views lag is checked before its findings count."""


@frozen
class Verdict:
    """The result of verifying."""

    sessions: int
    """The number of sessions that were checked."""
    findings: tuple[Finding, ...]
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


async def verify(tools: Tools, session: str | None = None, *, patience: float = 60.0) -> Verdict:
    """Compare one session with the journal, or all sessions and the data that belongs to no session.

    Pending work is done first, for at most ``patience`` seconds. Sessions can be played meanwhile. Raises ``NotFound``,
    and ``StoreError`` if the list of sessions cannot be read.
    """
    await settle(tools, patience)
    if session is not None:
        chosen = [await tools.directory.find(session)]
    else:
        chosen = await tools.journal.sessions()
    findings: list[Finding] = []
    for each in chosen:
        try:
            findings += await _looked(tools, each.id, patience)
        except NotFound:
            continue  # deleted since it was listed
    if session is None:
        findings += [found async for found in _strays(tools)]
    return Verdict(len(chosen), tuple(findings), tools.supervisor.waiting())


async def _looked(tools: Tools, session: str, patience: float) -> list[Finding]:
    """Check one session. If it is being played or corrected and its views lag, check it again once they are done."""
    found: list[Finding] = []
    for _ in range(_LOOKS):
        async with tools.supervisor.exclusive(session):
            behind = _is_behind(tools, session)
            # It may have been reset or pruned since it was listed.
            found = await _Views(tools, await tools.journal.session(session)).look()
            behind = behind or _is_behind(tools, session)
        if not (found and behind):
            break
        await tools.finish_views(patience)
    return found


def _is_behind(tools: Tools, session: str) -> bool:
    return any(waiting.session == session for waiting in tools.supervisor.waiting())


async def repair(tools: Tools, verdict: Verdict, session: str | None = None) -> Verdict:
    """Repair the findings of a verdict that can be repaired, and verify again."""
    count = await mend(verdict.findings)
    tools.counters.add("repaired", count)
    log.info("repaired %d findings", count)
    return await verify(tools, session)


async def settle(tools: Tools, seconds: float) -> None:
    """Do the pending work on views, even if the engine was opened without resuming it."""
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
    findings: list[Finding] = field(factory=list)

    async def look(self) -> list[Finding]:
        tools = self.tools
        audit = Audit(tools.journal, self.session, tools.settings.config.session.checkpoint_every)
        self.findings = await audit.run()
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
        waiting = {key[2] async for key, raw in _rows(tools, ("job", self.session.id)) if not raw and keys.fits(key)}
        await self._compare("vectors", tools.projector.verify_episodes(live, waiting), self._render)
        await self._compare("vectors", _lore(tools, live), self._lore)
        return self.findings

    async def _compare(self, store: str, check: Coroutine[Any, Any, list[str]], mend: Mend) -> None:
        try:
            told = await check
        except StoreError as error:
            told = [f"cannot be read: {error}"]
        # Views are not rebuilt from a journal that has lost data itself.
        whole = all(finding.mend is not None for finding in self.findings if finding.store == "journal")
        self.findings += [
            Finding(self.session.id, store, what.removeprefix(f"{store} "), mend if whole else None) for what in told
        ]

    _render: Mend = field(init=False)
    _lore: Mend = field(init=False)

    def __attrs_post_init__(self) -> None:
        # One function object each, so that a repair that several findings share runs once.
        async def render() -> None:
            async with self.tools.supervisor.exclusive(self.session.id):
                self.tools.live.forget(self.session.id)
                await self.tools.projector.rebuild(await self.tools.live.get(self.session.id))

        async def lore() -> None:
            await self.tools.projector.renew_lore(await self.tools.live.get(self.session.id))

        self._render, self._lore = render, lore


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


async def _strays(tools: Tools) -> AsyncIterator[Finding]:
    """Yield findings for views and records that belong to no session."""
    sessions = {session.id: session for session in await tools.journal.sessions()}
    if odd := [key async for key in _odd(tools)]:
        yield Finding("", "journal", f"{len(odd)} entries are under no key that SAGA gives", _gone(tools, odd))
    unread = await tools.journal.session_ids() - sessions.keys()
    for session in unread:
        yield Finding(session, "journal", "its record cannot be read: delete it, or restore a backup")
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
            yield Finding("", name, f"cannot be listed: {error}")
            continue
        for scope in scopes:
            if scope not in belongs:
                yield Finding("", name, f"{scope}: belongs to no session", _dropping(store, scope))
    marks = [key for key, _ in await _all(tools, ("viewmark",))]
    for mark in marks:
        if mark[1] not in known:
            yield Finding("", "view", f"{mark[1]}: belongs to no session", _clearing(tools, mark[1]))
    unfinished = set(await tools.journal.unfinished())
    for session in unfinished:
        if found := await _cut_off(tools, session):
            yield found
    async for found in _stray_records(tools, unfinished):
        yield found


async def _cut_off(tools: Tools, session: str) -> Finding | None:
    """A finding for an unfinished write of many turns; None if the write has been finished meanwhile."""
    async with tools.supervisor.locks.writing(session):
        if session not in await tools.journal.unfinished():
            return None

    async def mend() -> None:
        async with tools.supervisor.locks.writing(session):
            await tools.journal.settle(session)
            tools.live.forget(session)

    return Finding(session, "journal", "an import was cut off: what it left is taken back, or finished", mend)


async def _stray_records(tools: Tools, unfinished: set[str]) -> AsyncIterator[Finding]:
    """Yield findings for records of sessions without a session record, left by an interrupted import or removal."""
    for name in ("turn", "node", "timeline", *keys.BESIDE):
        stray: dict[str, list[Key]] = {}
        for key, _ in await _all(tools, (name,)):
            stray.setdefault(key[1], []).append(key)
        for session in await _nobodys(tools, sorted(stray.keys() - unfinished)):
            found = stray[session]
            yield Finding(
                "",
                "journal",
                f"{len(found)} {name} records of {session}, which is no session",
                _gone_with(tools, session, found),
            )
    for name in ("reply", "begin", "said"):
        leads: dict[str, list[Key]] = {}
        for key, raw in await _all(tools, (name,)):
            leads.setdefault(_leads_to(raw), []).append(key)
        nobodys = await _nobodys(tools, sorted(leads.keys() - unfinished))
        nowhere = [key for session in nobodys for key in leads[session]]
        if nowhere:
            yield Finding("", "journal", f"{len(nowhere)} {name} entries lead to no session", _gone(tools, nowhere))


async def _nobodys(tools: Tools, sessions: Iterable[str]) -> list[str]:
    """The ids that are no sessions. A session that is being imported is left out: its own record is written last."""
    # Check the locks first: an import that ends in between has its record by the time the records are read.
    left = [session for session in sessions if session not in tools.supervisor.locks]
    known = await tools.journal.session_ids()
    return [session for session in left if session not in known]


def _gone_with(tools: Tools, session: str, doomed: list[Key]) -> Mend:
    async def mend() -> None:
        async with tools.supervisor.locks.writing(session):
            if session not in await tools.journal.session_ids():  # otherwise it was imported since the check
                await _gone(tools, doomed)()

    return mend


async def _odd(tools: Tools) -> AsyncIterator[Key]:
    for name in keys.KINDS:
        after: Key | None = None
        while rows := await tools.stores.state.scan((name,), after=after, limit=_PAGE):
            for key, _ in rows:
                if not keys.fits(key):
                    yield key
            after = rows[-1][0]


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
    return [(key, raw if len(raw) <= _SHORT else b"") async for key, raw in _rows(tools, prefix) if keys.fits(key)]


async def _rows(tools: Tools, prefix: Key) -> AsyncIterator[tuple[Key, bytes]]:
    after: Key | None = None
    while rows := await tools.stores.state.scan(prefix, after=after, limit=_PAGE):
        for row in rows:
            yield row
        after = rows[-1][0]


def _dropping(store: Any, scope: str) -> Mend:
    async def mend() -> None:
        await store.drop(scope)

    return mend


def _clearing(tools: Tools, scope: str) -> Callable[[], Coroutine[Any, Any, None]]:
    async def mend() -> None:
        after: Key | None = None
        while rows := await tools.stores.state.scan(("view", scope), after=after, limit=_PAGE):
            after = rows[-1][0]
            await tools.stores.state.commit(Batch(deletes=frozenset(key for key, _ in rows)))
        await tools.stores.state.commit(Batch(deletes=frozenset({keys.view_mark(scope)})))

    return mend


def _gone(tools: Tools, doomed: list[Key]) -> Mend:
    async def mend() -> None:
        for start in range(0, len(doomed), _PAGE):
            await tools.stores.state.commit(Batch(deletes=frozenset(doomed[start : start + _PAGE])))

    return mend
