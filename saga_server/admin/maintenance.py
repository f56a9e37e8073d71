"""Handlers for maintenance: verify and repair views, jobs, backups, export, and forgetting."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from aiohttp import web
from attrs import evolve

from saga_backends.provider_error import masked
from saga_core import Saga
from saga_core.errors import BadInput, NotFound, OwnedElsewhere, SagaError
from saga_core.world import UnknownWorld
from saga_server.admin import answers
from saga_server.admin.endpoint import in_query
from saga_server.admin.mounting import to_its_end
from saga_server.admin.parameters import (
    ANY_BYTES,
    JSON_LINES,
    Head,
    Narrowing,
    OneSession,
    Part,
    SessionId,
    SomeSession,
    TurnId,
)
from saga_server.admin.reply import filled
from saga_server.http import BEARER, done_by_owner, longest_wait, mask_of, saga_of

if TYPE_CHECKING:
    from saga_core.maintenance import Gone
    from saga_core.model import Session

# Functions import rarely used modules themselves, so that a status request does not wait for them.

_ASIDE = ("*.damaged-*", "replaced-*")
"""What was moved aside in a data directory after damage or by a restore, which moves a journal with all its views."""
_LOOK_SECONDS = 0.2
"""Seconds between two tries to forget a session that no server could forget yet."""
Elsewhere = Callable[[OwnedElsewhere], Awaitable[bytes | None]]
"""Has the owner of a session, another server, forget its sessions. Returns its reply, or None if there is none."""
_LOGS = ("-wal", "-shm")


async def verify_views(request: web.Request, session: SomeSession = None) -> answers.Verdict:
    """Compare every view in every store with the journal."""
    verdict = await to_its_end(request, saga_of(request).maintenance.verify(session))
    return answers.Verdict(**verdict.plain())


async def repair_views(request: web.Request, session: SomeSession = None) -> answers.Repaired:
    """Verify the views, repair the differences that can be repaired, and verify again."""
    maintenance = saga_of(request).maintenance
    before = await to_its_end(request, maintenance.verify(session))
    after = await to_its_end(request, maintenance.repair(before, session)) if before.findings else before
    return answers.Repaired(found=[finding.plain() for finding in before.findings], **after.plain())


async def rebuild_views(request: web.Request, session: OneSession) -> answers.Verdict:
    """Drop every view of a session, render the views again, and compare them with the journal."""
    saga = saga_of(request)
    await to_its_end(request, saga.maintenance.rebuild(session))
    verdict = await to_its_end(request, saga.maintenance.verify(session))
    return answers.Verdict(**verdict.plain())


async def show_jobs(request: web.Request, session: SomeSession = None) -> answers.Jobs:
    """List pending background work, and the reason why each job is pending."""
    jobs = await saga_of(request).background.jobs(session)
    owner = request[BEARER].scope
    if owner is not None and session is None:
        hers = {each.id for each in await saga_of(request).sessions.records(owner)}
        jobs = [job for job in jobs if job.session in hers]
    rows = masked([job.plain() for job in jobs], mask_of(request))
    return answers.Jobs(rows, sum(job.stuck for job in jobs))


async def retry_jobs(request: web.Request, session: SomeSession = None, turn: TurnId = None) -> answers.Retried:
    """Retry jobs now."""
    if session is None and request[BEARER].scope is not None:
        raise BadInput("session: missing; name one of your sessions")
    retrying = saga_of(request).background.retry(session, turn)
    return answers.Retried(await to_its_end(request, retrying))


# -- backups ---------------------------------------------------------------------------------------------------


async def list_backups(request: web.Request) -> answers.Backups:
    """List the backups of this data directory, oldest first."""
    return answers.Backups(await asyncio.to_thread(_backups, saga_of(request).config.data_dir))


def _backups(data: Path) -> list[answers.Backup]:
    from saga_core.maintenance import read_index

    return [filled(answers.Backup, each, there=Path(each.path).is_file()) for each in read_index(data)]


async def make_backup(request: web.Request) -> answers.Backup:
    """Copy the journal into the folder ``backups`` of the data directory."""
    from saga_server.admin.backups import back_up

    found = await to_its_end(request, back_up(saga_of(request).config))
    made = found.seal.made if found.seal is not None else 0.0
    return answers.Backup(
        path=str(found.path), made=made, bytes=found.bytes, sessions=len(found.sessions), turns=found.turns, there=True
    )


# -- one session -----------------------------------------------------------------------------------------------


async def export_one(
    request: web.Request,
    session: SessionId,
    head: Head = None,
    form: Annotated[Literal["saga", "sillytavern"], in_query(name="format", example="saga")] = "saga",
) -> web.StreamResponse:
    """Export a session as JSON lines: all of it, or one path as a SillyTavern chat."""
    maintenance = saga_of(request).maintenance
    if form == "sillytavern":
        from saga_backends.importers.tavern import chat_of

        raw = chat_of(await to_its_end(request, maintenance.story_path(session, head)))
    elif head is not None:
        raise BadInput("head: a session's own file has all of its paths; give format=sillytavern for one of them")
    else:
        raw = b"".join([line async for line in maintenance.export_session(session)])
    return web.Response(body=raw, content_type=JSON_LINES, charset="utf-8")


async def export_world(
    request: web.Request,
    world: Part,
    form: Annotated[Literal["card", "lorebook"], in_query(name="format", example="card")] = "card",
) -> web.StreamResponse:
    """Export a world as a card or a lorebook."""
    raw = await asyncio.to_thread(_exported, saga_of(request), world, form)
    return web.Response(body=raw, content_type=ANY_BYTES)


def _exported(saga: Saga, world: str, form: str) -> bytes:

    from saga_backends.importers.tavern import card_of, lorebook_of

    try:
        found = saga.worlds.get(world)
    except UnknownWorld as error:
        raise NotFound(str(error)) from None
    plain = card_of(found) if form == "card" else lorebook_of(found)
    return json.dumps(plain, ensure_ascii=False, indent=1).encode() + b"\n"


async def forget(
    request: web.Request, session: SomeSession = None, name: Narrowing = None, owner: Narrowing = None
) -> answers.Forgotten:
    """Forget a session, a name in it, or all sessions of an owner."""
    elsewhere = partial(done_by_owner, request)
    return await to_its_end(request, _forgotten(saga_of(request), session, name, owner, elsewhere))


async def _forgotten(
    saga: Saga, session: str | None, name: str | None, owner: str | None, elsewhere: Elsewhere
) -> answers.Forgotten:
    """Forget the data, and find the backups that still hold it.

    Sessions of an owner that other servers write are forgotten there through ``elsewhere``.
    """
    from saga_core.maintenance import note_forgotten

    if (session is None) == (owner is None):
        raise BadInput("session: give a session, or an owner: one of the two")
    if name is not None and session is None:
        raise BadInput("name: a name is forgotten in a session; give the session too")
    data = saga.config.data_dir
    trash = await saga.maintenance.trash()
    buried = [
        each for each in trash if (each.owner == owner if owner is not None else session in (each.id, each.label))
    ]
    doomed: Sequence[Session] = ()
    try:
        mine = saga.maintenance.sessions_of
        doomed = await mine(owner) if owner is not None else [await saga.sessions.get(session or "")]
    except NotFound:
        if not buried and (left := await saga.maintenance.finish_forgetting()) is not None:
            return answers.Forgotten((), 0, [], left)
        if not buried or (owner is None and len(buried) > 1):
            raise
    if owner is None and doomed:
        buried = [each for each in buried if each.id == doomed[0].id]
    if name is not None and not doomed:
        raise NotFound(f"session: {buried[0].id} is in the trash; restore it, or forget all of it")
    if name is not None:
        gone = await saga.maintenance.forget_name(doomed[0].id, name)
    if data.is_dir():  # whole sessions are noted before they are removed, in case that fails
        noted = [each.id for each in (*doomed, *(buried if name is None else ()))]
        await asyncio.to_thread(note_forgotten, data, noted, time.time(), whole=name is None)
    if name is None and owner is not None and doomed:
        first = await saga.maintenance.forget_sessions((), buried)
        gone = await _everywhere(saga, owner, doomed, elsewhere)
        remains = tuple(dict.fromkeys((*first.remains, *gone.remains)))
        gone = evolve(gone, sessions=(*gone.sessions, *first.sessions), remains=remains)
    elif name is None:
        gone = await saga.maintenance.forget_sessions(doomed, buried)
    held = await asyncio.to_thread(_held, data, gone)
    return answers.Forgotten(gone.sessions, gone.places, held, gone.remains)


async def _everywhere(saga: Saga, owner: str, doomed: Sequence[Session], elsewhere: Elsewhere) -> Gone:
    """Forget an owner's sessions, each on the server that owns it."""
    from saga_core.maintenance import Gone

    remains: dict[str, None] = {}
    gone, deadline = {each.id: None for each in doomed}, asyncio.get_running_loop().time() + longest_wait(saga)
    while doomed:
        try:
            done = await saga.maintenance.forget_sessions(doomed)
            remains |= dict.fromkeys(done.remains)
        except OwnedElsewhere as error:
            answer = await elsewhere(error)
            if answer:
                remains |= dict.fromkeys(json.loads(answer)["remains"])
            elif answer is None:
                if asyncio.get_running_loop().time() > deadline:
                    raise
                await asyncio.sleep(_LOOK_SECONDS)
        try:
            doomed = await saga.maintenance.sessions_of(owner)
        except NotFound:
            doomed = ()
        gone |= {each.id: None for each in doomed}
    return Gone(tuple(gone), remains=tuple(remains))


def _held(data: Path, gone: Gone) -> list[answers.HeldBackup]:
    """Return the backups and moved-aside files that still hold one of the sessions, or that cannot be read."""
    from saga_backends.state_kv.sqlite_copy import read_copy
    from saga_core.maintenance import read_index

    copies = {Path(each.path): each.made for each in read_index(data) if Path(each.path).is_file()}
    for pattern in _ASIDE:
        aside = [path for path in sorted(data.glob(pattern)) if not path.name.endswith(_LOGS)]
        copies |= {path: path.stat().st_mtime for path in aside}
    found = []
    for path, made in copies.items():
        try:
            copy = read_copy(path / "state.db" if path.name.startswith("replaced-") else path)
            read, held = True, not set(gone.sessions).isdisjoint({*copy.sessions, *copy.trash})
        except (SagaError, OSError):
            read, held = False, True
        if held:
            found.append(answers.HeldBackup(str(path), made, read))
    return found
