"""What a session cost, over HTTP."""

from __future__ import annotations

from typing import Any

from aiohttp import web
from attrs import asdict

from saga_core.billing.bill import Bill, add_up
from saga_server.handlers import as_json, id_of, saga_of
from saga_server.query import flag, known_only


def cost_routes() -> list[web.RouteDef]:
    """The path of a session's cost."""
    return [web.get("/api/sessions/{id}/cost", show_cost)]


async def show_cost(request: web.Request) -> web.Response:
    """``GET /api/sessions/{id}/cost?turns=1``: what all turns cost together, where the cache failed, and each bill."""
    known_only(request, "turns")
    bills = await saga_of(request).cost(id_of(request))
    return as_json(cost_json(bills, turns=flag(request, "turns")))


def cost_json(bills: list[Bill], *, turns: bool) -> dict[str, Any]:
    """Bills as the API answers them, as data."""
    total = add_up(bills)
    answer: dict[str, Any] = {
        "total": {**asdict(total), "saved": total.saved},
        "broken": [{"turn": bill.turn, "at": bill.at, "note": bill.note} for bill in bills if bill.note],
        "pinned": [{"turn": bill.turn, "at": bill.at, "reason": bill.pinned} for bill in bills if bill.pinned],
    }
    if turns:
        answer["turns"] = [asdict(bill) for bill in bills]
    return answer
