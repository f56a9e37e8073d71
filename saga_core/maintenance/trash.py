"""The trash: a deleted session, kept as its export file for a day, so that the deletion can be undone."""

from __future__ import annotations

import asyncio
import zlib

from attrs import frozen

from saga_core import codec
from saga_core.errors import BadInput, NotFound
from saga_core.journal import delete_below, delete_rows, keys, put_rows, rows, value
from saga_core.maintenance.tools import Tools
from saga_core.maintenance.transfer import import_session, lines_of, read_file
from saga_core.model import Session
from saga_core.stores import Key, StateKV

KEPT = 86_400.0
"""For how many seconds a deleted session is kept."""
_PART = 256 * 1_024


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
    )
    parts = {_part(place, n + 1): packed[at : at + _PART] for n, at in enumerate(range(0, len(packed), _PART))}
    await put_rows(tools.stores.state, parts)
    return found, {_part(place, 0): codec.encode(found)}


async def _free_place(kv: StateKV, session_id: str) -> str:
    """The session's id, with a number appended if the trash has a session with it. Removes parts that do not count."""
    place, number = session_id, 2
    while await value(kv, _part(place, 0)) is not None:
        place, number = f"{session_id}.{number}", number + 1
    await delete_below(kv, ("trash", place))
    return place


async def list_trash(tools: Tools) -> list[TrashedSession]:
    """Return the sessions that can be restored, the latest deletion first."""
    found = [
        codec.decode(raw, TrashedSession)
        async for key, raw in rows(tools.stores.state, ("trash",))
        if key == _part(key[1], 0)
    ]
    now = tools.clock.now()
    return sorted((each for each in found if now < each.until), key=lambda each: -each.deleted)


async def restore(tools: Tools, session_id: str) -> Session:
    """Restore a deleted session. ``NotFound`` if it is not in the trash."""
    if session_id not in {each.id for each in await list_trash(tools)}:
        raise _absent(session_id)
    held = dict([row async for row in rows(tools.stores.state, ("trash", session_id))])
    packed = b"".join(held[key] for key in sorted(held) if key != _part(session_id, 0))
    file = await asyncio.to_thread(lambda: read_file(zlib.decompress(packed)))
    async with tools.importing:
        restored = await import_session(tools, file)
    await delete_rows(tools.stores.state, held)
    return restored


async def discard(kv: StateKV, session_id: str) -> None:
    """Remove a deleted session for good. ``NotFound`` if it is not in the trash."""
    doomed = [key async for key, _ in rows(kv, ("trash", session_id))]
    if not doomed:
        raise _absent(session_id)
    await delete_rows(kv, doomed)


async def empty_trash(kv: StateKV, now: float, owner: str | None = None) -> int:
    """Remove what was deleted more than a day ago, or all of an owner's. Returns how many sessions are gone."""
    held: dict[str, list[Key]] = {}
    kept: set[str] = set()
    async for key, raw in rows(kv, ("trash",)):
        held.setdefault(key[1], []).append(key)
        if key == _part(key[1], 0):
            found = codec.decode(raw, TrashedSession)
            if found.owner != owner if owner is not None else now < found.until:
                kept.add(found.id)
    for session_id, doomed in held.items():
        if session_id not in kept:
            await delete_rows(kv, doomed)
    return len(held.keys() - kept)


def _absent(session_id: str) -> NotFound:
    return NotFound(f"the trash has no session {session_id[:80]!r}; a deleted session is kept for a day")


def _part(session_id: str, number: int) -> Key:
    return keys.trash(session_id, f"{number:06}")
