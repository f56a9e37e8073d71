"""The admin API of a session's tree: forking, naming, comparing, pruning."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from saga_core.catalog import Comparison, Side
from saga_core.model import Session, Timeline
from saga_server.admin.handlers import as_json, id_of, saga_of, to_its_end
from saga_server.admin.query import body_object, known_only, text
from saga_server.http import RequestError


def timeline_routes() -> list[web.RouteDef]:
    """Every path about timelines."""
    one = "/api/sessions/{id}"
    return [
        web.get(f"{one}/timelines", list_timelines),
        web.post(f"{one}/fork", fork),
        web.post(f"{one}/timelines/{{name}}", rename),
        web.delete(f"{one}/timelines/{{name}}", forget),
        web.get(f"{one}/compare", compare),
        web.post(f"{one}/prune", prune),
    ]


async def list_timelines(request: web.Request) -> web.Response:
    """``GET /api/sessions/{id}/timelines``."""
    known_only(request)
    return as_json({"timelines": await saga_of(request).timelines.list(id_of(request))})


async def fork(request: web.Request) -> web.Response:
    """``POST /api/sessions/{id}/fork`` with ``{"name": …, "turn": …}``; without a turn, at the turn recorded last."""
    known_only(request)
    given = await body_object(request, {"name", "turn"})
    saga = saga_of(request)
    session = await saga.sessions.get(id_of(request))
    name = _needed(given.get("name"), "name")
    made = await to_its_end(request, saga.timelines.fork(session.id, given.get("turn") or None, name))
    return as_json(_timeline_json(session, made), 201)


async def rename(request: web.Request) -> web.Response:
    """``POST /api/sessions/{id}/timelines/{name}`` with ``{"name": …}``, the new one."""
    known_only(request)
    given = await body_object(request, {"name"})
    saga = saga_of(request)
    session = await saga.sessions.get(id_of(request))
    new = _needed(given.get("name"), "name")
    renamed = await to_its_end(request, saga.timelines.rename(session.id, request.match_info["name"], new))
    return as_json(_timeline_json(session, renamed))


async def forget(request: web.Request) -> web.Response:
    """``DELETE /api/sessions/{id}/timelines/{name}``: its turns stay."""
    known_only(request)
    name = request.match_info["name"]
    await to_its_end(request, saga_of(request).timelines.forget(id_of(request), name))
    return as_json({"forgotten": name})


async def compare(request: web.Request) -> web.Response:
    """``GET /api/sessions/{id}/compare?one=&other=&language=``: turns by id, or timelines by name."""
    known_only(request, "one", "other", "language")
    one, other = text(request, "one", needed=True) or "", text(request, "other", needed=True) or ""
    found = await saga_of(request).timelines.compare(id_of(request), one, other, language=text(request, "language"))
    return as_json(comparison_json(found))


async def prune(request: web.Request) -> web.Response:
    """``POST /api/sessions/{id}/prune`` with ``{"turn": ID}``: the turn goes, and everything below it."""
    known_only(request)
    given = await body_object(request, {"turn"})
    turn = _needed(given.get("turn"), "turn")
    pruned = await to_its_end(request, saga_of(request).timelines.prune(id_of(request), turn))
    return as_json({"pruned": pruned.turns, "forgotten": list(pruned.forgotten), "shortened": list(pruned.shortened)})


def _needed(value: str | None, name: str) -> str:
    if not (value or "").strip():
        raise RequestError(f"{name}: missing; give a text in the body", param=name)
    return value or ""


def _timeline_json(session: Session, timeline: Timeline) -> dict[str, Any]:
    return {
        "name": timeline.name,
        "fork": timeline.fork,
        "head": timeline.head,
        "created": timeline.created,
        "enter": f"{session.label or session.id}@{timeline.name}",
    }


def comparison_json(found: Comparison) -> dict[str, Any]:
    """A comparison as data."""
    return {
        "session": found.session,
        "ancestor": {"turn": found.depth, "turn_id": found.ancestor},
        "one": _side_json(found.one),
        "other": _side_json(found.other),
        "differences": [
            {"kind": each.kind, "subject": each.subject, "one": each.one, "other": each.other}
            for each in found.differences
        ],
        "language": found.language,
        "words": list(found.words),
    }


def _side_json(side: Side) -> dict[str, Any]:
    return {"name": side.name, "turn": side.depth, "turn_id": side.turn, "since": list(side.since)}
