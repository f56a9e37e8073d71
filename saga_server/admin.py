"""The admin API: sessions, what is known in them, and the work behind them."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Coroutine
from importlib.metadata import version
from typing import Any, Final, TypeVar

from aiohttp import web
from attrs import evolve

from saga_core.codec import to_plain
from saga_core.engine.lanes import DrainReport, Waiting
from saga_core.engine.saga import Saga
from saga_core.engine.summaries import SessionSummary
from saga_core.errors import NotFound, NotSupported, StoreUnavailable
from saga_core.model.turn import Session, Turn
from saga_core.stores.md_cache import Pages
from saga_server.chat import CONFIG, EXCHANGES, NARRATORS
from saga_server.query import body_object, known_only, seconds, text, whole
from saga_server.security import BEARER
from saga_server.sessions import read_name

SAGA: Final = web.AppKey("saga", Saga)
STARTED: Final = web.AppKey("started", float)
_WORK: Final = web.AppKey("work", set[asyncio.Task[Any]])

T = TypeVar("T")

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
        web.get(f"{one}/timelines", list_timelines),
        web.get(f"{one}/context", show_context),
        web.post(f"{one}/reset", reset_session),
        web.get("/api/memory/search", search_memory),
        web.get("/api/graph/query", query_graph),
        web.post("/api/drain", drain),
    ]


def prepare(app: web.Application) -> None:
    """What the handlers keep in the application."""
    app[STARTED] = time.time()
    app[_WORK] = set()


def _json(value: Any, status: int = 200) -> web.Response:
    body = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    return web.Response(body=body, status=status, content_type="application/json", charset="utf-8")


async def _to_its_end(request: web.Request, work: Coroutine[Any, Any, T]) -> T:
    """Run what changes something: it is not left half done when the client goes away."""
    task = asyncio.create_task(work)
    request.app[_WORK].add(task)
    task.add_done_callback(request.app[_WORK].discard)
    return await asyncio.shield(task)


def _saga(request: web.Request) -> Saga:
    return request.app[SAGA]


def _id(request: web.Request) -> str:
    return request.match_info["id"]


# -- the whole -------------------------------------------------------------------------------------------------


async def status(request: web.Request) -> web.Response:
    """``GET /api/status``."""
    known_only(request)
    engine = await engine_status(_saga(request))
    sessions = await _saga(request).sessions()
    about = {
        "version": version("saga-rp"),
        "uptime_seconds": round(time.time() - request.app[STARTED], 1),
        "narrators": request.app[NARRATORS].describe(),
        "active_sessions": len(sessions),
        "open_requests": len(request.app[EXCHANGES]),
    }
    return _json({**about, **engine})


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
    report = await _saga(request).drain(max(0.0, limit - (time.monotonic() - started)))
    return _json(drain_json(evolve(report, waiting=(*slow, *report.waiting))))


def drain_json(report: DrainReport) -> dict[str, Any]:
    """A drain report as data."""
    waiting = [
        {"session": each.session, "turn": each.turn, "kind": each.kind, "reason": each.reason}
        for each in report.waiting
    ]
    return {"settled": not waiting, "done": report.done, "waiting": waiting}


# -- sessions --------------------------------------------------------------------------------------------------


async def list_sessions(request: web.Request) -> web.Response:
    """``GET /api/sessions``."""
    known_only(request)
    return _json({"sessions": [_summary_json(each) for each in await _saga(request).sessions()]})


async def create_session(request: web.Request) -> web.Response:
    """``POST /api/sessions`` with ``{"world": …, "label": …}``, both optional. It belongs to the caller's key."""
    known_only(request)
    given = await body_object(request, {"world", "label"})
    label = read_name(given.get("label"), "label") or ""
    owner = request[BEARER].owner
    made = await _to_its_end(
        request, _saga(request).create_session(world=given.get("world") or None, label=label, owner=owner)
    )
    return _json(_session_json(made), 201)


async def show_session(request: web.Request) -> web.Response:
    """``GET /api/sessions/{id}``."""
    known_only(request)
    session = await _saga(request).session(_id(request))
    for summary in await _saga(request).sessions(owner=session.owner):
        if summary.session.id == session.id:
            return _json(_summary_json(summary))
    raise NotFound(f"there is no session {session.id!r}")


async def delete_session(request: web.Request) -> web.Response:
    """``DELETE /api/sessions/{id}``."""
    known_only(request)
    session = await _saga(request).session(_id(request))
    await _to_its_end(request, _saga(request).delete(session.id))
    return _json({"deleted": session.id})


async def reset_session(request: web.Request) -> web.Response:
    """``POST /api/sessions/{id}/reset``."""
    known_only(request)
    return _json(_session_json(await _to_its_end(request, _saga(request).reset(_id(request)))))


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


def _summary_json(summary: SessionSummary) -> dict[str, Any]:
    return {
        **_session_json(summary.session),
        "turns": summary.turns,
        "depth": summary.depth,
        "updated": summary.updated,
    }


# -- what is known in a session --------------------------------------------------------------------------------


async def show_state(request: web.Request) -> web.Response:
    """``GET /api/sessions/{id}/state?turn=ID``."""
    known_only(request, "turn")
    return _json(await _saga(request).describe(_id(request), text(request, "turn")))


async def show_graph(request: web.Request) -> web.Response:
    """``GET /api/sessions/{id}/graph``."""
    known_only(request)
    return _json(await _saga(request).graph(_id(request)))


async def show_cache(request: web.Request) -> web.Response:
    """``GET /api/sessions/{id}/cache``."""
    known_only(request)
    pages, folder = await _saga(request).pages(_id(request))
    return _json(_pages_json(pages, folder))


async def regenerate_cache(request: web.Request) -> web.Response:
    """``POST /api/sessions/{id}/cache/regen``."""
    known_only(request)
    await _to_its_end(request, _saga(request).regenerate_pages(_id(request)))
    pages, folder = await _saga(request).pages(_id(request))
    return _json(_pages_json(pages, folder))


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
    turns = await _saga(request).turns(
        _id(request),
        from_turn=whole(request, "from_turn"),
        to_turn=whole(request, "to_turn"),
        head=text(request, "head"),
    )
    return _json({"turns": [_turn_json(turn) for turn in turns]})


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
    return _json(await _saga(request).tree(_id(request)))


async def list_timelines(request: web.Request) -> web.Response:
    """``GET /api/sessions/{id}/timelines``."""
    known_only(request)
    return _json({"timelines": await _saga(request).timelines(_id(request))})


async def show_context(request: web.Request) -> web.Response:
    """``GET /api/sessions/{id}/context?turn=ID``: what stood in a recent turn's context, and why."""
    known_only(request, "turn")
    turn = text(request, "turn", needed=True) or ""
    found = await _saga(request).explain(_id(request), turn)
    if found is None:
        raise NotFound(f"the context of turn {turn!r} is not at hand: it is kept for recent turns, in memory only")
    return _json(found)


async def search_memory(request: web.Request) -> web.Response:
    """``GET /api/memory/search?q=&session=&k=10``."""
    known_only(request, "q", "session", "k")
    query = text(request, "q", needed=True) or ""
    session = text(request, "session", needed=True) or ""
    count = whole(request, "k", least=1, most=1_000) or 10
    results = await _saga(request).search(query, session_id=session, k=count)
    return _json({"query": query, "session": session, "results": results})


async def query_graph(request: web.Request) -> web.Response:
    """``GET /api/graph/query?cypher=&limit=100&timeout=5``: the graph engine's own language, when it is allowed."""
    known_only(request, "cypher", "limit", "timeout")
    query = text(request, "cypher", needed=True) or ""
    if not request.app[CONFIG].graph.raw_query:
        raise NotSupported("queries in the graph engine's own language are switched off; set graph.raw_query: true")
    limit = whole(request, "limit", least=1, most=10_000) or 100
    rows = await _saga(request).graph_query(query, timeout=seconds(request, "timeout", 5.0, most=60.0), limit=limit)
    return _json({"rows": rows})
