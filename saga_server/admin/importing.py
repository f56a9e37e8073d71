"""Taking in files over HTTP: cards, lorebooks and chats of other tools, and sessions that SAGA exported."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from aiohttp import MultipartReader, StreamReader, web
from aiohttp.base_protocol import BaseProtocol
from attrs import asdict, field, frozen

from saga_core import Saga
from saga_core.errors import BadInput
from saga_server.admin import answers, parameters
from saga_server.admin.endpoint import LEFT_OUT_WHEN_NONE, NoParams
from saga_server.admin.mounting import to_its_end
from saga_server.http import BEARER, SAGA, Bearer

if TYPE_CHECKING:
    from saga_core.imports import Source
    from saga_core.maintenance import TakeIn

_MOST = 10_000
"""Files in one request."""
_UNNAMED = "file"
_PIECE = 1 << 16
_AT_ONCE = 64


@frozen(kw_only=True)
class ImportLoss:
    """A field that is not as it was in its file: ``mapped`` to something else, or ``dropped``."""

    field: str
    verdict: str
    why: str
    count: int
    where: str


@frozen(kw_only=True)
class ImportedThing:
    """A card, a lorebook, a chat or another thing that a file holds, and what became of it, or would become.

    ``state``: ``new``; ``grown``, a session that was there and got turns; ``known``, that was there as it is; ``read``,
    that becomes nothing by itself. ``what`` is ``kind`` in words. ``session`` is null when nothing was written.
    """

    file: str
    kind: str
    what: str
    title: str
    state: str
    counts: Mapping[str, int]
    world: str | None
    session: str | None
    label: str
    losses: Sequence[ImportLoss]


@frozen(kw_only=True)
class RefusedFile:
    """A file, or one in an archive, that was not taken in, and why."""

    file: str
    why: str


@frozen(kw_only=True)
class Imported:
    """What was taken in, or with ``dry_run`` would be. The last four are there for one session that was exported."""

    dry_run: bool
    things: Sequence[ImportedThing]
    refused: Sequence[RefusedFile]
    worlds: Sequence[str]
    sessions: Sequence[str]
    id: str | None = field(default=None, metadata=LEFT_OUT_WHEN_NONE)
    label: str | None = field(default=None, metadata=LEFT_OUT_WHEN_NONE)
    owner: str | None = field(default=None, metadata=LEFT_OUT_WHEN_NONE)
    turns: int | None = field(default=None, metadata=LEFT_OUT_WHEN_NONE)


@frozen(kw_only=True)
class Backfilled:
    """How far a path is read: ``read`` in this step, ``left``; tokens, dollars and seconds are what the rest takes.

    ``calls``: turns are read several in a call. ``dollars`` and ``spent``, what reading the session has cost so far,
    are null where no price is known. ``failed`` turns are read when somebody retries them.
    """

    session: str
    head: str
    model: str
    left: int
    failed: int
    read: int
    calls: int
    input_tokens: int
    output_tokens: int
    dollars: float | None
    seconds: float
    spent: float | None


async def import_files(request: web.Request, asked: parameters.Import) -> Imported:
    """Take in the files of a form, or the body as one file."""
    from saga_core.maintenance import TakeIn

    saga = request.app[SAGA]
    if request.content_type == parameters.MULTIPART:
        files = await _parts(request, asked.file)
    else:
        files = [(asked.name or _UNNAMED, asked.file)]
    own = request[BEARER]
    owner = asked.owner if asked.owner is not None else own.owner if own.key else await usual_owner(saga)
    how = TakeIn(
        owner=owner,
        owner_named=asked.owner is not None,
        world=asked.world,
        lore=asked.lore,
        tell_card=asked.tell_card,
        dry_run=asked.dry_run,
        edited=asked.edited,
    )
    return await to_its_end(request, imported(saga, files, how))


async def stop_imports(request: web.Request, asked: NoParams) -> answers.StoppedImports:
    """Behind what they write just now."""
    return answers.StoppedImports(request.app[SAGA].maintenance.stop_taking_in())


def import_status(answer: Imported) -> int:
    """A dry run makes nothing."""
    return 200 if answer.dry_run else 201


async def usual_owner(saga: Saga) -> str:
    """Whom sessions belong to when nobody says it: the first of ``server.api_keys``, or whoever has all sessions."""
    keys = saga.config.server.api_keys
    if keys:
        return Bearer(keys[0]).owner
    owners = {summary.session.owner for summary in await saga.sessions.list()}
    return owners.pop() if len(owners) == 1 else ""


async def imported(saga: Saga, files: Sequence[tuple[str, Source]], how: TakeIn) -> Imported:
    """Take in files, each with its name. Raises as ``Maintenance.take_in`` does."""
    from saga_core.imports import KINDS

    found = await saga.maintenance.take_in(files, how)
    things = [
        ImportedThing(
            file=each.file,
            kind=each.kind,
            what=KINDS[each.kind],
            title=each.title,
            state=each.state,
            counts=each.counts,
            world=each.world,
            session=each.session,
            label=each.label,
            losses=[
                ImportLoss(field=loss.field, verdict=loss.verdict, why=loss.why, count=loss.count, where=loss.where)
                for loss in each.losses
            ],
        )
        for each in found.things
    ]
    one = found.things[0] if len(found.things) == 1 and found.things[0].kind == "saga_session" else None
    session = await saga.sessions.get(one.session) if one is not None and one.session is not None else None
    return Imported(
        dry_run=how.dry_run,
        things=things,
        refused=[RefusedFile(file=each.file, why=each.why) for each in found.refused],
        worlds=list(dict.fromkeys(each.world for each in found.things if each.world and each.state == "new")),
        sessions=list(dict.fromkeys(each.session for each in found.things if each.session)),
        id=session.id if session is not None else None,
        label=session.label if session is not None else None,
        owner=session.owner if session is not None else None,
        turns=one.counts["turns"] if session is not None and one is not None else None,
    )


async def _parts(request: web.Request, raw: bytes) -> list[tuple[str, bytes]]:
    """The files of a form. Raises ``BadInput``."""
    # All of it is here: with room for less, the stream would ask a connection that it does not have to wait.
    stream = StreamReader(BaseProtocol(asyncio.get_running_loop()), len(raw))
    for at in range(0, len(raw), _PIECE):  # what is read too far is put back by copying a piece
        stream.feed_data(raw[at : at + _PIECE])
    stream.feed_eof()
    found: list[tuple[str, bytes]] = []
    try:
        reader = MultipartReader(request.headers, stream)
        while (part := await reader.next()) is not None:
            if isinstance(part, MultipartReader):
                raise BadInput("body: a form in a form is not taken; send each file as a part of its own")
            data = bytes(await part.read(decode=False))
            if part.filename or data:
                found.append((part.filename or part.name or _UNNAMED, data))
            if len(found) % _AT_ONCE == 0:
                await asyncio.sleep(0)  # others have their turn in between
            if len(found) > _MOST:
                raise BadInput(f"body: more than {_MOST:,} files; send them in several requests, or as one zip")
    except (ValueError, AssertionError, RuntimeError, EOFError) as error:
        raise BadInput(f"body: the form cannot be read ({error}); send each file as a part with a file name") from None
    if not found:
        raise BadInput("body: the form has no file; send each file as a part with a file name")
    return found


async def show_backfill(request: web.Request, asked: parameters.OfPath) -> Backfilled:
    """What reading the rest of a path would take."""
    found = await request.app[SAGA].background.backfill.estimate(asked.session, asked.head)
    return Backfilled(**asdict(found))


async def backfill(request: web.Request, asked: parameters.Backfill) -> Backfilled:
    """Read the next turns of a path."""
    found = request.app[SAGA].background.backfill
    if asked.again:
        await found.again(asked.session, asked.head)
    step = found.step(asked.session, asked.turns, asked.head, review=asked.review)
    return Backfilled(**asdict(await to_its_end(request, step)))
