"""Import files over HTTP (cards, lorebooks and chats of other tools, sessions that SAGA exported), and backfill."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from aiohttp import MultipartReader, StreamReader, web
from aiohttp.base_protocol import BaseProtocol
from aiohttp.http_exceptions import HttpProcessingError
from attrs import field, frozen

from saga_core import Saga
from saga_core.errors import BadInput
from saga_core.jobs import BackfillState
from saga_server.admin import answers
from saga_server.admin.endpoint import LEFT_OUT_WHEN_NONE, in_query
from saga_server.admin.mounting import to_its_end
from saga_server.admin.parameters import MULTIPART, Head, SessionId, Text, Upload, YesOrNo
from saga_server.admin.reply import filled
from saga_server.http import BEARER, Bearer, saga_of

if TYPE_CHECKING:
    from saga_core.imports import Source
    from saga_core.maintenance import ImportOptions

_MOST = 10_000
"""Parts of a form at most, empty ones included."""
_UNNAMED = "file"
_PIECE = 1 << 16
_AT_ONCE = 64
_SHOWN = 200


@frozen(kw_only=True)
class ImportLoss:
    """A field that was not imported unchanged: it was ``mapped`` to something else, or ``dropped``."""

    field: str
    verdict: str
    why: str
    count: int
    where: str


@frozen(kw_only=True)
class ImportedThing:
    """A card, a lorebook, a chat or something else in a file, and the result of importing it, or of the dry run.

    ``state`` is ``new``; ``grown`` if an existing session got new turns; ``known`` if it existed already; or ``read``
    if it creates nothing by itself. ``what`` is ``kind`` in words. ``session`` is null if nothing was written.
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
    """A file, or a file in an archive, that was not imported, and why."""

    file: str
    why: str


@frozen(kw_only=True)
class Imported:
    """What was imported, or with ``dry_run`` would be.

    ``id``, ``label``, ``owner`` and ``turns`` are present only if the import is a single session that SAGA exported.
    """

    dry_run: bool
    things: Sequence[ImportedThing]
    refused: Sequence[RefusedFile]
    worlds: Sequence[str]
    sessions: Sequence[str]
    id: str | None = field(default=None, metadata=LEFT_OUT_WHEN_NONE)
    label: str | None = field(default=None, metadata=LEFT_OUT_WHEN_NONE)
    owner: str | None = field(default=None, metadata=LEFT_OUT_WHEN_NONE)
    turns: int | None = field(default=None, metadata=LEFT_OUT_WHEN_NONE)


async def import_files(
    request: web.Request,
    file: Upload,
    dry_run: Annotated[bool, in_query(example="0")] = False,
    name: Text = None,
    world: Text = None,
    lore: Annotated[Literal["auto", "keep", "saga"], in_query(example="auto")] = "auto",
    tell_card: Annotated[bool, in_query(example="0")] = False,
    owner: Text = None,
    edited: Annotated[bool, in_query(example="0")] = False,
) -> Imported:
    """Import the files of a form, or the body as one file."""
    from saga_core.maintenance import ImportOptions

    saga = saga_of(request)
    if request.content_type == MULTIPART:
        files = await _parts(request, file)
    else:
        files = [(name or _UNNAMED, file)]
    own = request[BEARER]
    usual = own.owner if own.key else await usual_owner(saga)
    how = ImportOptions(
        owner=usual if owner is None else owner,
        owner_named=owner is not None,
        world=world,
        lore=lore,
        tell_card=tell_card,
        dry_run=dry_run,
        edited=edited,
    )
    return await to_its_end(request, imported(saga, files, how))


async def stop_imports(request: web.Request) -> answers.StoppedImports:
    """Stop running imports. Each of them finishes the world or session that it is writing."""
    return answers.StoppedImports(saga_of(request).maintenance.stop_imports())


def import_status(answer: Imported) -> int:
    """Return 201, or 200 for a dry run, which creates nothing."""
    return 200 if answer.dry_run else 201


async def usual_owner(saga: Saga) -> str:
    """Return the default owner of imported sessions: that of the first key in ``server.api_keys``.

    Without such keys it is the owner of all existing sessions, if there is only one; otherwise it is empty.
    """
    keys = saga.config.server.api_keys
    if keys:
        return Bearer(keys[0]).owner
    owners = {summary.session.owner for summary in await saga.sessions.list()}
    return owners.pop() if len(owners) == 1 else ""


async def imported(saga: Saga, files: Sequence[tuple[str, Source]], how: ImportOptions) -> Imported:
    """Import files, each with its name. Raises the errors of ``Maintenance.import_files``."""
    from saga_core.imports import importers

    found = await saga.maintenance.import_files(files, how)
    kinds = importers().kinds
    things = [
        filled(ImportedThing, each, what=kinds[each.kind], losses=[filled(ImportLoss, loss) for loss in each.losses])
        for each in found.things
    ]
    one = found.things[0] if len(found.things) == 1 and found.things[0].kind == "saga_session" else None
    session = await saga.sessions.get(one.session) if one is not None and one.session is not None else None
    return Imported(
        dry_run=how.dry_run,
        things=things,
        refused=[filled(RefusedFile, each) for each in found.refused],
        worlds=list(dict.fromkeys(each.world for each in found.things if each.world and each.state == "new")),
        sessions=list(dict.fromkeys(each.session for each in found.things if each.session)),
        id=session.id if session is not None else None,
        label=session.label if session is not None else None,
        owner=session.owner if session is not None else None,
        turns=one.counts["turns"] if session is not None and one is not None else None,
    )


async def _parts(request: web.Request, raw: bytes) -> list[tuple[str, bytes]]:
    """Return the files of a form. Raises ``BadInput``."""
    # The limit is the whole body; above a smaller one, the stream would pause a connection that does not exist.
    stream = StreamReader(BaseProtocol(asyncio.get_running_loop()), len(raw))
    for at in range(0, len(raw), _PIECE):  # in pieces, because the reader puts data back by copying a piece
        stream.feed_data(raw[at : at + _PIECE])
    stream.feed_eof()
    found: list[tuple[str, bytes]] = []
    count = 0
    try:
        reader = MultipartReader(request.headers, stream)
        while (part := await reader.next()) is not None:
            if isinstance(part, MultipartReader):
                raise BadInput("body: a form in a form is not taken; send each file as a part of its own")
            count += 1
            if count > _MOST:
                raise BadInput(f"body: more than {_MOST:,} parts; send them in several requests, or as one zip")
            data = bytes(await part.read(decode=False))
            if part.filename or data:
                found.append((part.filename or part.name or _UNNAMED, data))
            if count % _AT_ONCE == 0:
                await asyncio.sleep(0)  # let other tasks run
    except (ValueError, AssertionError, RuntimeError, EOFError) as error:
        raise BadInput(f"body: the form cannot be read ({error}); send each file as a part with a file name") from None
    except HttpProcessingError as error:  # a header line that is too long or malformed, or too many of them
        why = error.message[:_SHOWN]
        raise BadInput(
            f"body: the headers of part {count + 1} cannot be read ({why}); send fewer and shorter"
        ) from None
    if not found:
        raise BadInput("body: the form has no file; send each file as a part with a file name")
    return found


async def show_backfill(request: web.Request, session: SessionId, head: Head = None) -> BackfillState:
    """Estimate what reading the rest of a path would cost."""
    return await saga_of(request).background.backfill.estimate(session, head)


async def backfill(
    request: web.Request,
    session: SessionId,
    head: Head = None,
    turns: Annotated[int, in_query(example="24", least=1, most=64)] = 24,
    again: YesOrNo = False,
    review: Annotated[Literal["auto", "ask"] | None, in_query()] = None,
) -> BackfillState:
    """Read the next turns of a path."""
    found = saga_of(request).background.backfill
    if again:
        await found.again(session, head)
    step = found.step(session, turns, head, review=review)
    return await to_its_end(request, step)
