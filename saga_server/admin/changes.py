"""Corrections and curation over HTTP: what was noticed, what was changed, correcting it and undoing it."""

from __future__ import annotations

from aiohttp import web

from saga_server.admin.handlers import as_json, id_of, saga_of, to_its_end
from saga_server.admin.query import body_object, known_only, text
from saga_server.http import RequestError


def change_routes() -> list[web.RouteDef]:
    """Every path of corrections and curation."""
    one = "/api/sessions/{id}"
    return [
        web.get(f"{one}/curation", show_curation),
        web.get(f"{one}/entities", list_entities),
        web.get(f"{one}/memories", list_memories),
        web.get(f"{one}/changes", list_changes),
        web.post(f"{one}/changes", make_change),
        web.delete(f"{one}/changes/{{change}}", undo_change),
    ]


async def show_curation(request: web.Request) -> web.Response:
    """``GET /api/sessions/{id}/curation``."""
    known_only(request)
    return as_json(await saga_of(request).memory.curated(id_of(request)))


async def list_entities(request: web.Request) -> web.Response:
    """``GET /api/sessions/{id}/entities``."""
    known_only(request)
    session = await saga_of(request).sessions.get(id_of(request))
    return as_json({"session": session.id, "entities": await saga_of(request).memory.entities(session.id)})


async def list_memories(request: web.Request) -> web.Response:
    """``GET /api/sessions/{id}/memories?namespace=/&query=…&turn=…``."""
    known_only(request, "namespace", "query", "turn")
    namespace, query = text(request, "namespace") or "/", text(request, "query") or ""
    session = await saga_of(request).sessions.get(id_of(request))
    turn = text(request, "turn")
    return as_json(await saga_of(request).memory.records(session.id, turn=turn, namespace=namespace, query=query))


async def list_changes(request: web.Request) -> web.Response:
    """``GET /api/sessions/{id}/changes``."""
    known_only(request)
    session = await saga_of(request).sessions.get(id_of(request))
    return as_json({"session": session.id, "changes": await saga_of(request).memory.changes(session.id)})


async def make_change(request: web.Request) -> web.Response:
    """``POST /api/sessions/{id}/changes`` with ``{"kind": …, …}``, and ``turn`` for another turn than the last."""
    from saga_core.curation import FIELDS  # starting does without it

    known_only(request)
    given = dict(await body_object(request, {"kind", "turn", *FIELDS}))
    kind, turn = given.pop("kind", None), given.pop("turn", None)
    if not kind:
        raise RequestError("kind: missing; say what kind of correction it is", param="kind")
    fields = {name: value for name, value in given.items() if value is not None}
    session = await saga_of(request).sessions.get(id_of(request))
    correcting = saga_of(request).memory.correct(session.id, kind, fields, turn or None)
    return as_json({"session": session.id, "change": await to_its_end(request, correcting)}, 201)


async def undo_change(request: web.Request) -> web.Response:
    """``DELETE /api/sessions/{id}/changes/{change}``."""
    known_only(request)
    session = await saga_of(request).sessions.get(id_of(request))
    change = request.match_info["change"]
    undoing, turn = await to_its_end(request, saga_of(request).memory.undo(session.id, change))
    return as_json({"session": session.id, "undone": change, "change": undoing, "turn_id": turn})
