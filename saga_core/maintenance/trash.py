"""The trash: a deleted session, kept as its export file for a day, so that the deletion can be undone."""

from __future__ import annotations

import asyncio
import zlib

from attrs import frozen

from saga_core import codec
from saga_core.errors import NotFound
from saga_core.journal import delete_rows, keys, put_rows, rows
from saga_core.maintenance.tools import Tools
from saga_core.maintenance.transfer import export_session, import_session, read_file
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
    """Delete a session, and keep its export file. ``NotFound`` and ``StoreError``."""
    session = await tools.directory.find(session_id)
    raw = b"".join([line async for line in export_session(tools, session.id)])
    packed = await asyncio.to_thread(zlib.compress, raw)
    found = TrashedSession(
        id=session.id,
        owner=session.owner,
        label=session.label,
        title=session.title,
        created=session.created,
        turns=len(await tools.live.tree(session.id)) - 1,
        deleted=tools.clock.now(),
    )
    parts = {_part(session.id, n + 1): packed[at : at + _PART] for n, at in enumerate(range(0, len(packed), _PART))}
    await put_rows(tools.stores.state, parts)
    await put_rows(tools.stores.state, {_part(session.id, 0): codec.encode(found)})  # last: it makes the parts count
    await tools.delete(session.id)
    return found


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
