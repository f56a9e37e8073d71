"""The audit log: every request with a key is noted after its reply.

The log holds nothing of a story. Names in a path may come from a story, so the entry has the path template of the
route, not the path itself.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from aiohttp import web
from aiohttp.typedefs import Handler
from attrs import evolve, frozen

from saga_server.http.app_keys import SAGA
from saga_server.http.callers.identity import BEARER, KEY_REQUIRED
from saga_server.http.door import PLACE
from saga_server.tenancy import tenancy_of

if TYPE_CHECKING:
    from saga_server.hosting import AuditEntry

_ID: Final = re.compile(r"[st][0-9a-z]{20}")
_HUNG_UP: Final = 499
"""The status that is noted if the client went away before the reply."""
_LONGEST: Final = 200
_STRANGERS: Final = "refused"


@frozen
class Action:
    """What a request asks for, as the audit log notes it."""

    what: str
    session: str = ""
    turn: str = ""


BY_TOOL: Final = "X-SAGA-Tool"
"""The header of a request that a model made by a tool."""
ACTION: Final = web.RequestKey("action", Action)


@web.middleware
async def audited(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Note the request in memory after its reply; the note is stored in the background. A middleware."""
    status, session, turn = _HUNG_UP, "", ""
    try:
        response = await handler(request)
        status = response.status
        session, turn = response.headers.get("X-SAGA-Session", ""), response.headers.get("X-SAGA-Turn", "")
        return response
    finally:
        access = tenancy_of(request.app[SAGA]).access
        entry = _entry(request, status) if access is not None else None
        if access is not None and entry is not None:
            saga = request.app[SAGA]
            # The audit log keeps nothing of an ephemeral session.
            if (session or turn) and await saga.engine_of(session) is saga:
                entry = evolve(entry, session=saga_id(session), turn=saga_id(turn))
            access.note(entry)


def saga_id(text: str | None) -> str:
    """Return ``text`` if it is an id that SAGA made; empty for anything else, which could be words of a story."""
    return text if text and _ID.fullmatch(text) else ""


def _entry(request: web.Request, status: int) -> AuditEntry | None:
    """Return the audit entry of a request; None if nothing is to be noted, as when the server wants no key."""
    if not request.get(KEY_REQUIRED, False) or request.method == "OPTIONS":
        return None
    now, bearer = request.app[SAGA].parts.clock.now(), request.get(BEARER)
    if bearer is None:
        # Requests without a valid key share one entry, so that they cannot push out the entries of others.
        return _made(now, "", "", _STRANGERS, "", "", Action("a request without a key that is taken"), status)
    action = request.get(ACTION) or _at_a_door(request)
    if action is None:
        return None
    if BY_TOOL in request.headers:
        action = evolve(action, what=f"{action.what} (by a tool)")
    forwarded = ", ".join(request.headers.getall("X-Forwarded-For", ()))[:_LONGEST]
    forwarded = forwarded if forwarded.isprintable() else ""
    return _made(now, bearer.key_id, bearer.owner, bearer.role, request.remote or "", forwarded, action, status)


def _at_a_door(request: web.Request) -> Action | None:
    """Return what a request to a chat API asks for; None for a GET or HEAD, such as a list of models."""
    place = request.get(PLACE)
    if place is None or request.method in ("GET", "HEAD"):
        return None
    return Action(f"{request.method} {place.template}")


def _made(
    now: float, key: str, owner: str, role: str, source: str, forwarded: str, action: Action, status: int
) -> AuditEntry:
    from saga_server.hosting import AuditEntry

    return AuditEntry(
        at=now,
        last=now,
        times=1,
        key=key,
        owner=owner,
        role=role,
        source=source,
        forwarded=forwarded,
        what=action.what,
        session=action.session,
        turn=action.turn,
        status=status,
    )
