"""Forget: removes a session, all sessions of an API key, or a name in a session, from the journal and every store.

The bytes are removed too: files are rewritten without them. Copies elsewhere (backups, exports, the frontend's own
history) are out of reach.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from attrs import evolve, frozen

from saga_core import codec
from saga_core.billing import Bill
from saga_core.capabilities import Capability
from saga_core.config import Config
from saga_core.errors import BadInput, LeaseLost, NotFound, OwnedElsewhere
from saga_core.journal import PendingWork, SharedTurn, delete_below, entries_of, keys, pages
from saga_core.language import clean_name, spoken_name
from saga_core.maintenance.redaction import holds, without
from saga_core.maintenance.tools import Tools
from saga_core.maintenance.trash import TrashedSession, discard
from saga_core.model import BLANK, Delta, Forgotten, Review, Session, Source, Turn, TurnNode
from saga_core.recall import lore_scope
from saga_core.sessions import Publication, SharedRecords, amend
from saga_core.storage import FALLBACK, PROFILES, SelfHealingStore, path_of
from saga_core.stores import Batch, Compacting, Key, Store

_PAGE = 256
_SHORTEST = 2
_DONE = Batch(deletes=frozenset({keys.FORGETTING_KEY}))
log = logging.getLogger("saga.maintenance")


@frozen
class Gone:
    """The result of forgetting."""

    sessions: tuple[str, ...]
    """The ids of the sessions that were deleted, or from which a name was removed."""
    places: int = 0
    """The number of records that contained the name."""
    remains: tuple[str, ...] = ()
    """What may still hold the deleted bytes, files and curators, each with the reason and the remedy."""


async def forget_sessions(tools: Tools, sessions: Sequence[Session], trashed: Sequence[TrashedSession] = ()) -> Gone:
    """See ``Maintenance.forget_sessions``. Raises ``OwnedElsewhere`` after all other sessions are deleted."""
    gone, elsewhere = list[Session | TrashedSession](), list[OwnedElsewhere]()
    await _begin(tools, {*(each.digest for each in sessions), *(copy.digest for copy in trashed)})
    try:
        for copy in trashed:
            with suppress(NotFound):  # removed meanwhile
                await discard(tools.stores.state, copy.id)
            gone.append(copy)
        for session in sessions:
            try:
                if tools.own is not None:
                    await tools.own(session.id)  # before anything is deleted
                await tools.delete(session.id)
            except OwnedElsewhere as error:
                elsewhere.append(error)
                continue
            except NotFound:
                pass  # another server has deleted it
            gone.append(session)
    finally:  # what was deleted so far leaves no trace, even after an error
        remains = await _without_trace(tools, {each.digest for each in gone}) if gone else ()
    if elsewhere:
        raise elsewhere[0]
    return Gone(tuple(session.id for session in gone), remains=remains)


async def _without_trace(tools: Tools, worlds: set[str]) -> tuple[str, ...]:
    used = {each.digest for each in await tools.journal.sessions()}
    for digest in worlds - used - {""}:
        await tools.stores.state.commit(Batch(deletes=frozenset({keys.world(digest)})))
        await tools.stores.vector.drop(lore_scope(digest))
    return await leave_no_trace(tools)


async def sessions_of(tools: Tools, owner: str) -> list[Session]:
    """See ``Maintenance.sessions_of``."""
    found = [session for session in await tools.journal.sessions() if session.owner == owner]
    if not found:
        raise NotFound(f"no session belongs to the key with the fingerprint {owner!r}; saga sessions --json lists them")
    return found


async def forget_name(tools: Tools, session_id: str, name: str) -> Gone:
    """See ``Maintenance.forget_name``.

    The texts stay, with ``[…]`` in place of the name. They are still recognised when the frontend sends them, because
    their fingerprints are kept.
    """
    name = spoken_name(clean_name(name))
    if len(name) < _SHORTEST:
        raise BadInput(
            f"name: {name!r} is too short: it would be taken out of other words; give {_SHORTEST} letters or more"
        )
    session = await tools.directory.find(session_id)
    if holds(await tools.journal.world(session.digest), name):
        raise BadInput(
            f"name: {name!r} is in the world {session.world!r}, which belongs to its author; forget the session"
        )
    again = await _begin(tools, set()) or bool(await tools.left_elsewhere())
    async with tools.supervisor.exclusive(session.id, journal=True):
        live = await tools.live.get(session.id)
        bearers = [
            entity.id
            for entity in (await live.state(live.head)).entities.values()
            if holds([entity.name, *entity.aliases], name)
        ]
        if bearers:
            delta = Delta(tuple(Forgotten(each) for each in bearers), Source.EDIT)
            await amend(live, live.head, delta, tools.ids.new("a"))
        async with tools.letting_go(session.id):  # blocks that a curator stores elsewhere are rewritten
            count = await _redact(tools, session, name)
        if not count and not again:
            await tools.stores.state.commit(_DONE)
            raise BadInput(f"name: {name!r} does not occur in session {session.id}")
        tools.live.forget(session.id)
        await tools.projector.drop(await tools.live.get(session.id))
        await tools.projector.rebuild(await tools.live.get(session.id))
    return Gone((session.id,), count, await leave_no_trace(tools))


_RECORDS: Mapping[str, type] = {
    "turn": Turn,
    "node": TurnNode,
    "job": PendingWork,
    "amend": Delta,
    "review": Review,
    "bill": Bill,
    "known": SharedRecords,
    "shared": SharedTurn,
}
"""What the records of a session are that are rewritten, by the first segment of their keys."""


async def _redact(tools: Tools, session: Session, name: str) -> int:
    """Rewrite the session's records without the name, and return how many contained it."""
    kv = tools.stores.state
    count = 0
    for kind in ("turn", "node", *keys.BESIDE):
        if kind in ("state", "terms", "prompt"):
            await delete_below(kv, (kind, session.id))
            continue
        async for page in pages(kv, (kind, session.id), _PAGE):
            puts: dict[Key, bytes] = {}
            for key, raw in page:
                record: Any = codec.decode(raw, _RECORDS[kind]) if raw else None
                if (redacted := without(record, name)) is not record:
                    puts[key] = codec.encode(redacted)
                    count += 1
            await kv.commit(Batch(puts))
    count += await _withdraw(tools, session, name)
    return count + await _redact_record(tools, session, name)


async def _withdraw(tools: Tools, session: Session, name: str) -> int:
    """Remove what the session published in shared worlds with the name in it, and return how many records that were."""
    kv, count = tools.stores.state, 0
    async for page in pages(kv, ("shared", session.id), _PAGE):
        marks = [codec.decode(raw, SharedTurn) for _, raw in page]
        found = await kv.get([keys.publication(mark.share, number) for mark in marks for number in mark.numbers])
        doomed = frozenset(key for key, raw in found.items() if holds(codec.decode(raw, Publication), name))
        if doomed:
            await kv.commit(Batch(deletes=doomed))
        count += len(doomed)
    return count


async def _redact_record(tools: Tools, session: Session, name: str) -> int:
    """Redact the session's label, title and timelines, and index the redacted texts. Returns how many held the name."""
    kv, count = tools.stores.state, 0
    timelines = await tools.journal.timelines(session.id)
    held = [each for each in timelines.values() if holds(each.name, name)]
    for old in held:
        fresh_name, number = without(old.name, name), 2
        while fresh_name in timelines:
            fresh_name, number = f"{without(old.name, name)} {number}", number + 1
        timelines[fresh_name] = evolve(old, name=fresh_name)
        await tools.journal.change_timelines(session.id, [timelines[fresh_name]], gone=[old.name], fresh=fresh_name)
    if holds([session.label, session.title], name):
        label = "" if holds(session.label, name) else session.label
        lost = frozenset({keys.label(session.owner, session.label)} if label != session.label else ())
        session, count = evolve(session, label=label, title=without(session.title, name)), 1
        await kv.commit(Batch({keys.session(session.id): codec.encode(session)}, lost))
    nodes = {node.id: node for node in (await tools.journal.tree(session.id)).nodes.values()}
    await _find_again(tools, session, nodes)
    return count + len(held)


async def _find_again(tools: Tools, session: Session, nodes: dict[str, TurnNode]) -> None:
    ids = list(nodes)
    for start in range(0, len(ids), _PAGE):
        turns: list[Turn] = await tools.journal.turns(session.id, ids[start : start + _PAGE])
        puts: dict[Key, bytes] = {}
        for turn in turns:
            if BLANK in turn.reply:
                puts.update(entries_of(session, turn, nodes[turn.id]))
        await tools.stores.state.commit(Batch(puts))


async def leave_no_trace(tools: Tools) -> tuple[str, ...]:
    """Rewrite every store's files without the deleted data, and drop that data from memory.

    Stores of views that cannot compact themselves are emptied, and rendered again from the journal. Returns what may
    still hold the data: curators that could not forget it, files of stores that could not be rewritten, and those of
    engines that are no longer used.
    """
    tools.forget_at_hand()
    remains, done = list(await tools.left_elsewhere()), True
    for kind, store in tools.stores.all().items():
        place = f"{store.info.location or kind}: {store.info.name}"
        try:
            remains += await _rewrite(kind, store, place)
        except Exception as error:  # of an engine; the files of the other stores are rewritten all the same
            log.exception("%s could not rewrite its files", place)
            again = "forget the same again once it can"
            remains.append(f"{place} could not rewrite its files ({type(error).__name__}: {error}); {again}")
            done = False
    if done:
        await tools.stores.state.commit(_DONE)
    old = await asyncio.to_thread(superseded, tools.settings.config)
    return (
        *remains,
        *(f"{path}: no store of the configuration uses it; delete it if you need it no more" for path in old),
    )


async def _rewrite(kind: str, store: Store, place: str) -> list[str]:
    if Capability.COMPACTS in store.info.capabilities:
        await cast(Compacting, store).compact()
    elif isinstance(store, SelfHealingStore) and kind != "cache":
        await store.renew()
    elif await asyncio.to_thread(_stays, store):
        remedy = _REMEDY if kind == "state" else "end SAGA, delete what it stores, and `saga rebuild`"
        return [f"{place} cannot rewrite its file; {remedy}"]
    return []


_REMEDY = "move the journal to an engine that can (saga move --to state=sqlite), and delete the file"


def _stays(store: Store) -> bool:
    """Whether what is deleted from ``store`` may stay on this machine. Who runs a service cleans it up."""
    if not store.info.location:
        return Capability.DURABLE in store.info.capabilities
    return Path(store.info.location).exists()


async def _begin(tools: Tools, worlds: set[str]) -> bool:
    """Note that data are removed, and the digests of their worlds. Returns whether an earlier try did not end."""
    raw = await keys.value(tools.stores.state, keys.FORGETTING_KEY)
    worlds = worlds | set(codec.loads(raw) if raw else ())
    await tools.stores.state.commit(Batch({keys.FORGETTING_KEY: codec.dumps(sorted(worlds))}))
    return raw is not None


async def finish_forgetting(tools: Tools) -> tuple[str, ...] | None:
    """See ``Maintenance.finish_forgetting``."""
    raw = await keys.value(tools.stores.state, keys.FORGETTING_KEY)
    if raw is None and not await tools.left_elsewhere():
        return None
    await tools.forget_elsewhere()
    for session in await tools.journal.unfinished():
        async with tools.supervisor.locks.writing(session):
            with suppress(LeaseLost):  # the server that has it finishes it
                await tools.journal.settle(session)
    return await _without_trace(tools, set(codec.loads(raw)) if raw else set())


_OF_STORES = re.compile(r"(?:state|graph|vectors|pages)(?:\.|\Z)")
_BESIDE = re.compile(r"(?:\.damaged-\d{1,6})?(?:-(?:wal|shm|journal)|\.(?:wal|lock|shadow|tmp))?\Z")
"""What stands beside a file in use. Damaged files that were put aside are looked through with the backups."""


def superseded(config: Config) -> list[Path]:
    """The files and folders of stores in the data folder that the configuration does not use."""
    used = {path.name for kind in PROFILES["lite"] if (path := path_of(config, kind)) is not None}
    used |= {choice.place for choice in FALLBACK.values() if choice.place}
    try:
        found = sorted(config.data_dir.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
    theirs = [each for each in found if _OF_STORES.match(each.name) and _BESIDE.sub("", each.name) not in used]
    return [each for each in theirs if each.suffix != ".lock"]  # which holds a process id
