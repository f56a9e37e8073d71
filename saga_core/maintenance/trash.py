"""The trash: a deleted session, kept as its export file for a day, so that the deletion can be undone."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator

from attrs import evolve, frozen

from saga_core import codec
from saga_core.errors import BadInput, Conflict, NotFound, StoreCorrupt
from saga_core.journal import delete_below, keys, put_rows, rows, value
from saga_core.maintenance.tools import Tools
from saga_core.maintenance.transfer import import_session, lines_of, read_file
from saga_core.model import Session
from saga_core.stores import Batch, Key, StateKV

KEPT = 86_400.0
"""For how many seconds a deleted session is kept."""
_PART = 256 * 1_024
_MOST_PARTS = 999_999


@frozen(kw_only=True)
class TrashedSession:
    """A deleted session that can be restored."""

    id: str
    owner: str = ""
    label: str = ""
    title: str = ""
    created: float = 0.0
    turns: int = 0
    deleted: float = 0.0
    """When it was deleted, in seconds since the epoch."""
    bytes: int = 0
    """The size of its export file, which is about what it takes in the journal when it is restored."""
    digest: str = ""
    """The digest of its world."""
    whole: bool = True
    """Whether the copy is complete, and the session deleted."""

    @property
    def until(self) -> float:
        """When it is removed for good, in seconds since the epoch."""
        return self.deleted + KEPT


async def put_in_trash(tools: Tools, session_id: str) -> TrashedSession:
    """Delete a session, and keep its export file. One commit removes the session and makes the file count.

    Raises ``NotFound``, ``StoreError``, and ``BadInput`` if the file could not be restored.
    """
    session = await tools.directory.find(session_id)
    if tools.own is not None:
        await tools.own(session.id)  # before anything is written
    kept: list[TrashedSession] = []

    async def keep(session: Session) -> dict[Key, bytes]:
        found, head = await _copy(tools, session)
        kept.append(found)
        return head

    await tools.replace(session.id, keep)
    return kept[0]


async def _copy(tools: Tools, session: Session) -> tuple[TrashedSession, dict[Key, bytes]]:
    """Write a session's export file, in parts that do not count yet. Returns the record that makes them count."""
    raw = b"".join([line async for line in lines_of(tools, session)])
    try:
        file = await asyncio.to_thread(read_file, raw)
    except BadInput as error:
        raise BadInput(f"undo: session {session.id} cannot be kept in the trash ({error}); delete it without") from None
    packed = await asyncio.to_thread(zlib.compress, raw)
    place = await _free_place(tools.stores.state, session.id)
    found = TrashedSession(
        id=place,
        owner=session.owner,
        label=session.label,
        title=session.title,
        created=session.created,
        turns=len(file.turns) - 1,
        deleted=tools.clock.now(),
        bytes=len(raw),
        digest=session.digest,
    )
    # Parts without a record are removed at any time.
    await put_rows(tools.stores.state, {_part(place, 0): codec.encode(evolve(found, whole=False))})
    parts = {_part(place, n + 1): packed[at : at + _PART] for n, at in enumerate(range(0, len(packed), _PART))}
    await put_rows(tools.stores.state, parts)
    return found, {_part(place, 0): codec.encode(found)}


async def _free_place(kv: StateKV, session_id: str) -> str:
    """The session's id, with a number appended if the trash has a session with it. Removes parts that do not count."""
    place, number = session_id, 2
    while (raw := await value(kv, _part(place, 0))) is not None and codec.decode(raw, TrashedSession).whole:
        place, number = f"{session_id}.{number}", number + 1
    await delete_below(kv, ("trash", place))
    return place


async def list_trash(kv: StateKV, now: float) -> list[TrashedSession]:
    """Return the sessions that can be restored, the latest deletion first."""
    found = [each async for _, each in _places(kv) if each is not None and each.whole and now < each.until]
    return sorted(found, key=lambda each: -each.deleted)


async def restore(tools: Tools, session_id: str) -> Session:
    """See ``Maintenance.restore``. One commit brings the session back and takes it out of the trash."""
    kv, head = tools.stores.state, _part(session_id, 0)
    held = dict([row async for row in rows(kv, ("trash", session_id))])
    raw = held.pop(head, None)
    found = codec.decode(raw, TrashedSession) if raw is not None else None
    if raw is None or found is None or not found.whole or tools.clock.now() >= found.until:
        raise _absent(session_id)
    packed = b"".join(held[key] for key in sorted(held))
    try:
        file = await asyncio.to_thread(lambda: read_file(zlib.decompress(packed)))
    except (BadInput, zlib.error) as error:
        if await value(kv, head) != raw:  # removed while it was read
            raise _absent(session_id) from None
        raise StoreCorrupt(f"the copy of session {session_id} in the trash cannot be read: {error}") from None
    async with tools.importing:
        return await import_session(tools, file, copy=(head, raw))


async def discard(kv: StateKV, session_id: str) -> None:
    """See ``Maintenance.discard``."""
    head = _part(session_id, 0)
    raw = await value(kv, head)
    if raw is None:
        raise _absent(session_id)
    try:
        await kv.commit(Batch(deletes=frozenset({head})), expected={head: raw})
    except Conflict:
        raise _absent(session_id) from None
    await delete_below(kv, ("trash", session_id))


async def empty_trash(kv: StateKV, now: float, owner: str | None = None) -> int:
    """Remove what was deleted more than a day ago, or all of an owner's. Returns how many sessions are gone."""
    count = 0
    async for place, found in _places(kv):
        if found is None or (found.owner == owner if owner is not None else now >= found.until):
            await delete_below(kv, ("trash", place))
            count += found is not None
    return count


async def _places(kv: StateKV) -> AsyncIterator[tuple[str, TrashedSession | None]]:
    """Yield the sessions in the trash, by their ids there; None for parts that a restoration left."""
    after: Key | None = None
    while page := await kv.scan(("trash",), after=after, limit=1):
        ((key, raw),) = page
        yield key[1], codec.decode(raw, TrashedSession) if key == _part(key[1], 0) else None
        after = _part(key[1], _MOST_PARTS)


def _absent(session_id: str) -> NotFound:
    return NotFound(f"the trash has no session {session_id[:80]!r}; a deleted session is kept for a day")


def _part(session_id: str, number: int) -> Key:
    return keys.trash(session_id, f"{number:06}")
