"""The admin API of custody: verifying and repairing, jobs, backups, export and import, forgetting."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

from aiohttp import web

from saga_backends.state_kv.sqlite_copy import read_copy
from saga_core import Saga
from saga_core.errors import BadInput, SagaError
from saga_core.maintenance import Gone, note_forgotten, read_file, read_index
from saga_server.admin.backups import back_up
from saga_server.admin.handlers import as_json, id_of, saga_of, to_its_end
from saga_server.admin.query import flag, known_only, text

_ASIDE = ("*.damaged-*", "replaced-*/state.db")
"""What a damage and a restore put aside in a data directory."""
_LOGS = ("-wal", "-shm")


async def verify_views(request: web.Request) -> web.Response:
    """``GET /api/verify?session={id}``: every view in every store against the journal."""
    known_only(request, "session")
    verdict = await to_its_end(request, saga_of(request).maintenance.verify(text(request, "session")))
    return as_json(verdict.plain())


async def repair_views(request: web.Request) -> web.Response:
    """``POST /api/repair?session={id}``: verify, mend what can be mended, and verify again."""
    known_only(request, "session")
    session, saga = text(request, "session"), saga_of(request)
    before = await to_its_end(request, saga.maintenance.verify(session))
    after = await to_its_end(request, saga.maintenance.repair(before, session)) if before.findings else before
    return as_json({"found": [finding.plain() for finding in before.findings], **after.plain()})


async def show_jobs(request: web.Request) -> web.Response:
    """``GET /api/jobs?session={id}``: the background work that is not done, and what keeps it."""
    known_only(request, "session")
    jobs = await saga_of(request).background.jobs(text(request, "session"))
    return as_json({"jobs": [job.plain() for job in jobs], "stuck": sum(job.stuck for job in jobs)})


async def retry_jobs(request: web.Request) -> web.Response:
    """``POST /api/jobs/retry?session={id}&turn=ID``: try jobs again, now."""
    known_only(request, "session", "turn")
    count = await to_its_end(
        request, saga_of(request).background.retry(text(request, "session"), text(request, "turn"))
    )
    return as_json({"retried": count})


# -- backups ---------------------------------------------------------------------------------------------------


async def list_backups(request: web.Request) -> web.Response:
    """``GET /api/backups``: the backups that were made of this data directory, oldest first."""
    known_only(request)
    found = await asyncio.to_thread(read_index, saga_of(request).config.data_dir)
    return as_json({"backups": [_kept(each.path, each.made, each.bytes, each.sessions, each.turns) for each in found]})


async def make_backup(request: web.Request) -> web.Response:
    """``POST /api/backups``: copy the journal into the folder ``backups`` of the data directory."""
    known_only(request)
    found = await to_its_end(request, back_up(saga_of(request).config))
    made = found.seal.made if found.seal is not None else 0.0
    return as_json(_kept(str(found.path), made, found.bytes, len(found.sessions), found.turns), 201)


def _kept(path: str, made: float, size: int, sessions: int, turns: int) -> dict[str, Any]:
    return {
        "path": path,
        "made": made,
        "bytes": size,
        "sessions": sessions,
        "turns": turns,
        "there": Path(path).is_file(),
    }


# -- one session -----------------------------------------------------------------------------------------------


async def export_one(request: web.Request) -> web.Response:
    """``GET /api/sessions/{id}/export``: the session as JSON lines."""
    known_only(request)
    raw = await to_its_end(request, exported(saga_of(request), id_of(request)))
    return web.Response(body=raw, content_type="application/jsonl", charset="utf-8")


async def exported(saga: Saga, session: str) -> bytes:
    """A session's file."""
    return b"".join([line async for line in saga.maintenance.export_session(session)])


async def import_one(request: web.Request) -> web.Response:
    """``POST /api/import?edited=1`` with such a file."""
    known_only(request, "edited")
    found = await to_its_end(request, imported(saga_of(request), await request.read(), flag(request, "edited")))
    return as_json(found, 201)


async def imported(saga: Saga, raw: bytes, edited: bool) -> dict[str, Any]:
    """Take in a session's file; what it is here."""
    found = await asyncio.to_thread(read_file, raw, edited=edited)
    session = await saga.maintenance.import_session(found)
    return {"id": session.id, "label": session.label, "owner": session.owner, "turns": len(found.turns) - 1}


async def forget(request: web.Request) -> web.Response:
    """``POST /api/forget?session={id}&name=TEXT`` or ``?owner=FINGERPRINT``."""
    known_only(request, "session", "name", "owner")
    asked = {name: text(request, name) for name in ("session", "name", "owner")}
    return as_json(await to_its_end(request, forgotten(saga_of(request), **asked)))


async def forgotten(
    saga: Saga, session: str | None = None, name: str | None = None, owner: str | None = None
) -> dict[str, Any]:
    """Forget, and look which backups still hold it. Raises ``BadInput`` unless one of session and owner is given."""
    if (session is None) == (owner is None):
        raise BadInput("session: give a session, or an owner: one of the two")
    if name is not None and session is None:
        raise BadInput("name: a name is forgotten in a session; give the session too")
    data = saga.config.data_dir
    doomed = (
        await saga.maintenance.sessions_of(owner) if owner is not None else [await saga.sessions.get(session or "")]
    )
    if name is not None:
        gone = await saga.maintenance.forget_name(doomed[0].id, name)
    if data.is_dir():  # of whole sessions it is noted before, for they are wanted gone whatever comes
        await asyncio.to_thread(note_forgotten, data, [each.id for each in doomed], time.time(), whole=name is None)
    if name is None:
        gone = await saga.maintenance.forget_sessions(doomed)
    held = await asyncio.to_thread(_held, data, gone)
    return {"sessions": list(gone.sessions), "places": gone.places, "backups": held}


def _held(data: Path, gone: Gone) -> list[dict[str, Any]]:
    """The backups, and what was put aside, that still hold a session of those, or of which it cannot be told."""
    copies = {Path(each.path): each.made for each in read_index(data) if Path(each.path).is_file()}
    for pattern in _ASIDE:
        aside = [path for path in sorted(data.glob(pattern)) if not path.name.endswith(_LOGS)]
        copies |= {path: path.stat().st_mtime for path in aside}
    found = []
    for path, made in copies.items():
        try:
            read, held = True, not set(gone.sessions).isdisjoint(read_copy(path).sessions)
        except (SagaError, OSError):
            read, held = False, True
        if held:
            found.append({"path": str(path), "made": made, "read": read})
    return found
