"""Who read and changed what: each request of somebody with a key is noted, once it is answered.

Nothing of a story is noted. Names in a path can be of a story, so a request is noted as its row in the table has it.
"""

from __future__ import annotations

import re
from typing import Final

from aiohttp import web
from attrs import evolve, frozen

from saga_core.access import AuditEntry
from saga_server.http.app_keys import SAGA
from saga_server.http.doors.table import PLACE
from saga_server.http.entry.security import BEARER, WANTED
from saga_server.http.errors import Handler

_ID: Final = re.compile(r"[st][0-9a-z]{20}")
_HUNG_UP: Final = 499
"""Stands for the status of an answer that nobody waited for."""
_LONGEST: Final = 200
_STRANGERS: Final = "refused"


@frozen
class Deed:
    """What a request asks for."""

    what: str
    session: str = ""
    turn: str = ""


DEED: Final = web.RequestKey("deed", Deed)


@web.middleware
async def audited(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Notes a request when its answer is over, in memory: it is written down beside the replies."""
    status, session, turn = _HUNG_UP, "", ""
    try:
        response = await handler(request)
        status = response.status
        session, turn = response.headers.get("X-SAGA-Session", ""), response.headers.get("X-SAGA-Turn", "")
        return response
    finally:
        entry = _entry(request, status)
        if entry is not None:
            if session or turn:
                entry = evolve(entry, session=known_id(session), turn=known_id(turn))
            request.app[SAGA].access.note(entry)


def known_id(text: str | None) -> str:
    """An id that SAGA gives; empty for anything else, which could be words of a story."""
    return text if text and _ID.fullmatch(text) else ""


def _entry(request: web.Request, status: int) -> AuditEntry | None:
    """What is noted of a request; None for what is nobody's, and where no key is wanted."""
    if not request.get(WANTED, False) or request.method == "OPTIONS":
        return None
    now, bearer = request.app[SAGA].parts.clock.now(), request.get(BEARER)
    if bearer is None:
        # Strangers are counted together, whatever they ask for: they must not push the others' entries out.
        return _made(now, "", "", _STRANGERS, "", "", Deed("a request without a key that is taken"), status)
    deed = request.get(DEED) or _at_a_door(request)
    if deed is None:
        return None
    forwarded = ", ".join(request.headers.getall("X-Forwarded-For", ()))[:_LONGEST]
    forwarded = forwarded if forwarded.isprintable() else ""
    return _made(now, bearer.key_id, bearer.owner, bearer.role, request.remote or "", forwarded, deed, status)


def _at_a_door(request: web.Request) -> Deed | None:
    """What is asked for at a door of chats. What a server of models says of itself is nobody's."""
    place = request.get(PLACE)
    if place is None or request.method in ("GET", "HEAD"):
        return None
    verb = place.named.get("verb")
    path = f"/v1beta/models/{{model}}:{verb}" if verb in _VERBS else "/v1/models/{model}" if place.named else place.path
    return Deed(f"{request.method} {path}")


_VERBS: Final = ("generateContent", "streamGenerateContent", "countTokens")


def _made(
    now: float, key: str, owner: str, role: str, source: str, forwarded: str, deed: Deed, status: int
) -> AuditEntry:
    return AuditEntry(
        at=now,
        last=now,
        times=1,
        key=key,
        owner=owner,
        role=role,
        source=source,
        forwarded=forwarded,
        what=deed.what,
        session=deed.session,
        turn=deed.turn,
        status=status,
    )
