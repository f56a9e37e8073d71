"""The admin API: sessions, what is known in them, and the work behind them."""

from __future__ import annotations

import asyncio
import time
from importlib.metadata import version
from typing import Any

from aiohttp import web
from attrs import evolve

from saga_core import Saga
from saga_core.background import DrainReport, Waiting
from saga_core.billing import Account
from saga_core.catalog import SessionSummary
from saga_core.codec import to_plain
from saga_core.errors import NotSupported, StoreError, StoreUnavailable
from saga_core.model import Session, Turn
from saga_core.stores import Pages
from saga_server.admin.changes import change_routes
from saga_server.admin.costs import cost_routes, cost_summary
from saga_server.admin.handlers import STARTED, as_json, id_of, saga_of, to_its_end
from saga_server.admin.query import body_object, choice, flag, known_only, seconds, text, whole
from saga_server.admin.timelines import timeline_routes
from saga_server.http import BEARER, CURRENT, EXCHANGES, read_name

_LONGEST_DRAIN = 3_600.0
_STATUS_SECONDS = 5.0


def admin_routes() -> list[web.RouteDef]:
    """Every path of the admin API."""
    one = "/api/sessions/{id}"
    return [
        web.get("/api/status", status),
        web.get("/api/sessions", list_sessions),
        web.post("/api/sessions", create_session),
        web.get(one, show_session),
        web.delete(one, delete_session),
        web.get(f"{one}/state", show_state),
        web.get(f"{one}/graph", show_graph),
        web.get(f"{one}/cache", show_cache),
        web.post(f"{one}/cache/regen", regenerate_cache),
        web.get(f"{one}/turns", list_turns),
        web.get(f"{one}/tree", show_tree),
        web.get(f"{one}/context", show_context),
        web.post(f"{one}/reextract", reextract),
        web.post(f"{one}/reset", reset_session),
        web.get("/api/memory/search", search_memory),
        web.get("/api/graph/query", query_graph),
        web.post("/api/drain", drain),
        *change_routes(),
        *timeline_routes(),
        *cost_routes(),
    ]


# -- the whole -------------------------------------------------------------------------------------------------


async def status(request: web.Request) -> web.Response:
    """``GET /api/status``."""
    known_only(request)
    engine = await engine_status(saga_of(request))
    try:
        active: int | None = len(await saga_of(request).sessions.list())
    except StoreError:
        active = None  # ``degraded`` says why
    about = {
        "version": version("saga-rp"),
        "uptime_seconds": round(time.time() - request.app[STARTED], 1),
        "narrators": request.app[CURRENT].narrators.describe(),
        "active_sessions": active,
        "open_requests": len(request.app[EXCHANGES]),
    }
    return as_json({**about, **engine})


async def engine_status(saga: Saga) -> dict[str, Any]:
    """The engine's own status. Raises ``StoreUnavailable`` when a store does not answer."""
    try:
        async with asyncio.timeout(_STATUS_SECONDS):
            return await saga.status()
    except TimeoutError:
        raise StoreUnavailable(f"a store did not answer within {_STATUS_SECONDS:g} s; see /readyz") from None


async def drain(request: web.Request) -> web.Response:
    """``POST /api/drain?timeout=30``: run what is due; answer when all has settled, or with what waits and why."""
    known_only(request, "timeout")
    limit = seconds(request, "timeout", 30.0, most=_LONGEST_DRAIN)
    started = time.monotonic()
    slow: tuple[Waiting, ...] = ()
    exchanges = request.app[EXCHANGES]
    try:
        async with asyncio.timeout(limit):
            await exchanges.settle()
    except TimeoutError:
        slow = tuple(Waiting(*names, "record", "the journal is slow to take it") for names in exchanges.recording())
    report = await saga_of(request).drain(max(0.0, limit - (time.monotonic() - started)))
    return as_json(drain_json(evolve(report, waiting=(*slow, *report.waiting))))


def drain_json(report: DrainReport) -> dict[str, Any]:
    """A drain report as data."""
    waiting = [
        {"session": each.session, "turn": each.turn, "kind": each.kind, "reason": each.reason}
        for each in report.waiting
    ]
    return {"settled": not waiting, "done": report.done, "waiting": waiting}


# -- sessions --------------------------------------------------------------------------------------------------


async def list_sessions(request: web.Request) -> web.Response:
    """``GET /api/sessions?fleeting=1``: the sessions that somebody came back to, those that nobody did, or all."""
    known_only(request, "fleeting")
    wanted = choice(request, "fleeting", "0", ("0", "1", "all"))
    saga = saga_of(request)
    found, costs = await saga.sessions.list(), await saga.sessions.costs()
    listed = [
        summary_json(each, costs.get(each.session.id)) for each in found if wanted in ("all", str(int(each.fleeting)))
    ]
    return as_json({"sessions": listed, "fleeting": sum(each.fleeting for each in found)})


async def create_session(request: web.Request) -> web.Response:
    """``POST /api/sessions`` with ``{"world": …, "label": …}``, both optional. It belongs to the caller's key."""
    known_only(request)
    given = await body_object(request, {"world", "label"})
    label = read_name(given.get("label"), "label") or ""
    owner = request[BEARER].owner
    made = await to_its_end(
        request, saga_of(request).sessions.create(world=given.get("world") or None, label=label, owner=owner)
    )
    return as_json(_session_json(made), 201)


async def show_session(request: web.Request) -> web.Response:
    """``GET /api/sessions/{id}``."""
    known_only(request)
    saga, session_id = saga_of(request), id_of(request)
    return as_json(
        summary_json(await saga.sessions.summary(session_id), Account.of(await saga.sessions.cost(session_id)))
    )


async def delete_session(request: web.Request) -> web.Response:
    """``DELETE /api/sessions/{id}``."""
    known_only(request)
    session = await saga_of(request).sessions.get(id_of(request))
    await to_its_end(request, saga_of(request).sessions.delete(session.id))
    return as_json({"deleted": session.id})


async def reextract(request: web.Request) -> web.Response:
    """``POST /api/sessions/{id}/reextract?only=0`` with ``{"turn": ID}``: ask the extraction model anew.

    Also in the turns below, unless ``only`` is 1; without a turn, in all of the active path that nobody reported.
    """
    known_only(request, "only")
    given = await body_object(request, {"turn"})
    session = await saga_of(request).sessions.get(id_of(request))
    asking = saga_of(request).background.reextract(
        session.id, given.get("turn") or None, below=not flag(request, "only")
    )
    return as_json({"asked": await to_its_end(request, asking)})


async def reset_session(request: web.Request) -> web.Response:
    """``POST /api/sessions/{id}/reset``."""
    known_only(request)
    return as_json(_session_json(await to_its_end(request, saga_of(request).sessions.reset(id_of(request)))))


def _session_json(session: Session) -> dict[str, Any]:
    return {
        "id": session.id,
        "label": session.label,
        "world": session.world,
        "owner": session.owner,
        "created": session.created,
        "root": session.root,
        "head": session.head,
    }


def summary_json(summary: SessionSummary, cost: Account | None = None) -> dict[str, Any]:
    """A session as lists show it, as data, with what it ``cost`` so far: nulls where that is not known."""
    return {
        **_session_json(summary.session),
        "turns": summary.turns,
        "depth": summary.depth,
        "updated": summary.updated,
        "fleeting": summary.fleeting,
        **cost_summary(cost),
    }


# -- what is known in a session --------------------------------------------------------------------------------


async def show_state(request: web.Request) -> web.Response:
    """``GET /api/sessions/{id}/state?turn=ID``."""
    known_only(request, "turn")
    return as_json(await saga_of(request).describe(id_of(request), text(request, "turn")))


async def show_graph(request: web.Request) -> web.Response:
    """``GET /api/sessions/{id}/graph``."""
    known_only(request)
    return as_json(await saga_of(request).views.graph(id_of(request)))


async def show_cache(request: web.Request) -> web.Response:
    """``GET /api/sessions/{id}/cache``."""
    known_only(request)
    pages, folder = await saga_of(request).views.pages(id_of(request))
    return as_json(_pages_json(pages, folder))


async def regenerate_cache(request: web.Request) -> web.Response:
    """``POST /api/sessions/{id}/cache/regen``."""
    known_only(request)
    await to_its_end(request, saga_of(request).views.regenerate_pages(id_of(request)))
    pages, folder = await saga_of(request).views.pages(id_of(request))
    return as_json(_pages_json(pages, folder))


def _pages_json(pages: Pages | None, folder: str | None) -> dict[str, Any]:
    return {
        "written": pages is not None,
        "turn_id": pages.watermark if pages is not None else None,
        "folder": folder,
        "files": dict(pages.files) if pages is not None else {},
    }


async def list_turns(request: web.Request) -> web.Response:
    """``GET /api/sessions/{id}/turns?from_turn=&to_turn=&head=``: the path to the active head, or to ``head``."""
    known_only(request, "from_turn", "to_turn", "head")
    turns = await saga_of(request).views.turns(
        id_of(request),
        from_turn=whole(request, "from_turn"),
        to_turn=whole(request, "to_turn"),
        head=text(request, "head"),
    )
    return as_json({"turns": [_turn_json(turn) for turn in turns]})


def _turn_json(turn: Turn) -> dict[str, Any]:
    return {
        "turn": turn.depth,
        "turn_id": turn.id,
        "parent": turn.parent,
        "kind": turn.kind.value,
        "at": turn.at,
        "user": turn.user,
        "reply": turn.reply,
        "model": turn.model,
        "finish": turn.finish,
        "delta": to_plain(turn.delta),
    }


async def show_tree(request: web.Request) -> web.Response:
    """``GET /api/sessions/{id}/tree``."""
    known_only(request)
    return as_json(await saga_of(request).views.tree(id_of(request)))


async def show_context(request: web.Request) -> web.Response:
    """``GET /api/sessions/{id}/context?turn=ID``: what stood in a turn's context, and why."""
    known_only(request, "turn")
    return as_json(await saga_of(request).views.explain(id_of(request), text(request, "turn")))


async def search_memory(request: web.Request) -> web.Response:
    """``GET /api/memory/search?q=&session=&k=10``."""
    known_only(request, "q", "session", "k")
    query = text(request, "q", needed=True) or ""
    session = text(request, "session", needed=True) or ""
    count = whole(request, "k", least=1, most=1_000) or 10
    results = await saga_of(request).views.search(query, session_id=session, k=count)
    return as_json({"query": query, "session": session, "results": results})


async def query_graph(request: web.Request) -> web.Response:
    """``GET /api/graph/query?cypher=&limit=100&timeout=5``: the graph engine's own language, when it is allowed."""
    known_only(request, "cypher", "limit", "timeout")
    query = text(request, "cypher", needed=True) or ""
    if not request.app[CURRENT].config.graph.raw_query:
        raise NotSupported("queries in the graph engine's own language are switched off; set graph.raw_query: true")
    limit = whole(request, "limit", least=1, most=10_000) or 100
    rows = await saga_of(request).views.graph_query(
        query, timeout=seconds(request, "timeout", 5.0, most=60.0), limit=limit
    )
    return as_json({"rows": rows})
