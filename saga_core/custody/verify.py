"""Verify: every session's journal, and every view in every store against what the journal gives."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

from attrs import define, field, frozen

from saga_core.custody.audit import Audit
from saga_core.custody.finding import Finding, Mend, mend
from saga_core.engine.catalog import Catalog
from saga_core.engine.lanes import Waiting
from saga_core.engine.live import LiveSession
from saga_core.engine.projector import scope_of
from saga_core.engine.vector_views import alike, passages
from saga_core.errors import NotFound, StoreError
from saga_core.journal import keys
from saga_core.model.turn import Session
from saga_core.projection.vector_scopes import episodes_scope, lore_scope, spec_of
from saga_core.stores.state_kv import Batch, Key

log = logging.getLogger("saga.custody")

_PAGE = 1_000


@frozen
class Verdict:
    """What verifying came to."""

    sessions: int
    """Sessions that were looked at."""
    findings: tuple[Finding, ...]
    waiting: tuple[Waiting, ...] = ()
    """Work that is not done yet: views may lack it, which is no finding."""

    @property
    def equal(self) -> bool:
        """Whether everything is as the journal says."""
        return not self.findings

    def plain(self) -> dict[str, Any]:
        """The verdict as data."""
        return {
            "equal": self.equal,
            "sessions": self.sessions,
            "findings": [finding.plain() for finding in self.findings],
            "waiting": len(self.waiting),
        }


async def verify(saga: Catalog, session: str | None = None, *, patience: float = 60.0) -> Verdict:
    """Compare one session, or all of them and what belongs to none, with the journal.

    Work that waits is done first, for at most ``patience`` seconds. Players may play meanwhile. Raises ``NotFound``,
    and ``StoreError`` when the list of sessions cannot be read.
    """
    await settle(saga, patience)
    if session is not None:
        chosen = [await saga.session(session)]
    else:
        chosen = await saga.journal.sessions()
    findings: list[Finding] = []
    for each in chosen:
        try:
            async with saga.lanes.exclusive(each.id):
                findings += await _Views(saga, each).look()
        except NotFound:
            continue  # it was deleted since it was listed
    if session is None:
        findings += [found async for found in _strays(saga)]
    return Verdict(len(chosen), tuple(findings), saga.lanes.waiting())


async def repair(saga: Catalog, verdict: Verdict, session: str | None = None) -> Verdict:
    """Mend what a verdict found and can be mended, and verify again."""
    count = await mend(verdict.findings)
    saga.counters.add("repaired", count)
    log.info("repaired %d findings", count)
    return await verify(saga, session)


async def settle(saga: Catalog, seconds: float) -> None:
    """Do the work on views that waits, also when the engine was opened without taking it up."""
    waiting: dict[str, list[str]] = {}
    for session, turn, wants in await saga.journal.jobs():
        if wants is None and turn not in saga.lanes.queued(session):
            waiting.setdefault(session, []).append(turn)
    for session, turns in waiting.items():
        saga.lanes.submit(session, turns)
    await saga.lanes.drain(seconds)
    await saga.filling.drain(seconds)


@define(eq=False)
class _Views:
    """The views of one session."""

    saga: Catalog
    session: Session
    findings: list[Finding] = field(factory=list)

    async def look(self) -> list[Finding]:
        saga = self.saga
        audit = Audit(saga.journal, self.session, saga.config.session.checkpoint_every)
        self.findings = await audit.run()
        try:
            live = await saga.live.get(self.session.id)
        except StoreError:
            return self.findings  # the audit says so
        for slot in range(saga.projector.slots):
            for store, check in (
                ("graph", saga.projector.verify_graph),
                ("view", saga.projector.verify_view),
                ("pages", saga.projector.verify_pages),
            ):
                await self._compare(store, check(live, slot), self._render)
        waiting = {
            key[2] for key, raw in await saga.stores.state.scan(("job", self.session.id), limit=_PAGE) if not raw
        }
        await self._compare("vectors", saga.projector.verify_episodes(live, waiting), self._render)
        await self._compare("vectors", _lore(saga, live), self._lore)
        return self.findings

    async def _compare(self, store: str, check: Coroutine[Any, Any, list[str]], mend: Mend) -> None:
        try:
            told = await check
        except StoreError as error:
            told = [f"cannot be read: {error}"]
        # Nothing is made anew from a journal that lost something itself.
        whole = all(finding.mend is not None for finding in self.findings if finding.store == "journal")
        self.findings += [
            Finding(self.session.id, store, what.removeprefix(f"{store} "), mend if whole else None) for what in told
        ]

    _render: Mend = field(init=False)
    _lore: Mend = field(init=False)

    def __attrs_post_init__(self) -> None:
        # One object each, so that what several findings need is done once.
        async def render() -> None:
            async with self.saga.lanes.exclusive(self.session.id):
                self.saga.live.forget(self.session.id)
                await self.saga.projector.rebuild(await self.saga.live.get(self.session.id))

        async def lore() -> None:
            await self.saga.projector.renew_lore(await self.saga.live.get(self.session.id))

        self._render, self._lore = render, lore


async def _lore(saga: Catalog, live: LiveSession) -> list[str]:
    """The world's lore in its vector scope, where there is one: it is made when a session is played."""
    embedder, scope = saga.stores.embedder, lore_scope(live.world.digest)
    spec = await saga.stores.vector.describe(scope)
    if spec is None or spec != spec_of(scope, embedder):
        return []
    stored = {item.id: item.vector for item in await saga.stores.vector.scan(scope, limit=10_000)}
    texts = [f"{entry.name}\n{entry.text}" for entry in live.world.lore]
    vectors = await passages(embedder, texts) if texts else []
    wanted = {entry.name: vector for entry, vector in zip(live.world.lore, vectors, strict=True)}
    if stored.keys() == wanted.keys() and all(alike(stored[name], wanted[name]) for name in wanted):
        return []
    return [f"{scope}: the vectors of {len(stored)} entries are not those of the world's {len(wanted)}"]


async def _strays(saga: Catalog) -> AsyncIterator[Finding]:
    """Views of sessions that are not there."""
    sessions = {session.id: session for session in await saga.journal.sessions()}
    known = {scope_of(session, slot) for session in sessions for slot in range(saga.projector.slots)}
    vectors = {episodes_scope(session) for session in sessions}
    vectors |= {lore_scope(session.digest) for session in sessions.values()}
    stores: list[tuple[str, Any, set[str]]] = [
        ("graph", saga.stores.graph, known),
        ("vectors", saga.stores.vector, vectors),
        ("pages", saga.stores.cache, known),
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
    marks = [key for key, _ in await _all(saga, ("viewmark",))]
    for mark in marks:
        if mark[1] not in known:
            yield Finding("", "view", f"{mark[1]}: belongs to no session", _clearing(saga, mark[1]))
    async for found in _stray_records(saga, set(sessions)):
        yield found


async def _stray_records(saga: Catalog, sessions: set[str]) -> AsyncIterator[Finding]:
    """Records of sessions that have no record of their own: what an import or a removal left that was cut off."""
    for name in ("turn", "node", "timeline", *keys.BESIDE):
        stray: dict[str, list[Key]] = {}
        for key, _ in await _all(saga, (name,)):
            if key[1] not in sessions:
                stray.setdefault(key[1], []).append(key)
        for session, found in stray.items():
            yield Finding(
                "", "journal", f"{len(found)} {name} records of {session}, which is no session", _gone(saga, found)
            )
    for name in ("reply", "begin", "said"):
        found = [key for key, raw in await _all(saga, (name,)) if json.loads(raw) not in sessions]
        if found:
            yield Finding("", "journal", f"{len(found)} {name} entries lead to no session", _gone(saga, found))


async def _all(saga: Catalog, prefix: Key) -> list[tuple[Key, bytes]]:
    """Keys and short values; the values of long ones are let go at once."""
    found: list[tuple[Key, bytes]] = []
    after: Key | None = None
    while rows := await saga.stores.state.scan(prefix, after=after, limit=_PAGE):
        found += [(key, raw if len(raw) < 64 else b"") for key, raw in rows]
        after = rows[-1][0]
    return found


def _dropping(store: Any, scope: str) -> Mend:
    async def mend() -> None:
        await store.drop(scope)

    return mend


def _clearing(saga: Catalog, scope: str) -> Callable[[], Coroutine[Any, Any, None]]:
    async def mend() -> None:
        after: Key | None = None
        while rows := await saga.stores.state.scan(("view", scope), after=after, limit=_PAGE):
            after = rows[-1][0]
            await saga.stores.state.commit(Batch(deletes=frozenset(key for key, _ in rows)))
        await saga.stores.state.commit(Batch(deletes=frozenset({keys.view_mark(scope)})))

    return mend


def _gone(saga: Catalog, doomed: list[Key]) -> Mend:
    async def mend() -> None:
        for start in range(0, len(doomed), _PAGE):
            await saga.stores.state.commit(Batch(deletes=frozenset(doomed[start : start + _PAGE])))

    return mend
