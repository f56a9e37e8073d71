"""What a session cost, over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aiohttp import web
from attrs import asdict

from saga_core.billing import PURPOSES, Account, Bill
from saga_server.admin.handlers import as_json, id_of, saga_of
from saga_server.admin.query import flag, known_only


def cost_routes() -> list[web.RouteDef]:
    """The path of a session's cost."""
    return [web.get("/api/sessions/{id}/cost", show_cost)]


async def show_cost(request: web.Request) -> web.Response:
    """``GET /api/sessions/{id}/cost?turns=1``: what all calls cost together, where the cache failed, and each bill."""
    known_only(request, "turns")
    bills = await saga_of(request).sessions.cost(id_of(request))
    return as_json(cost_json(bills, turns=flag(request, "turns")))


def cost_json(bills: Sequence[Bill], *, turns: bool) -> dict[str, Any]:
    """Bills as the API answers them, as data."""
    account = Account.of(bills)
    total = account.total
    priced = total.calls > total.unpriced
    answer: dict[str, Any] = {
        "total": {**asdict(total), "saved": total.saved},
        **{purpose: asdict(each) for purpose, each in account.by_purpose.items()},
        "comparison": {
            "with_saga": total.dollars if priced else None,
            "without_cache": total.uncached if priced else None,
            "without_saga": total.without if priced else None,
            "saved": total.saved,
            "unpriced": total.unpriced,
        },
        "broken": [{"turn": bill.turn, "at": bill.at, "note": bill.note} for bill in bills if bill.note],
        "pinned": [{"turn": bill.turn, "at": bill.at, "reason": bill.pinned} for bill in bills if bill.pinned],
    }
    if turns:
        answer["turns"] = [asdict(bill) for bill in bills]
    return answer


def cost_summary(account: Account | None) -> dict[str, Any]:
    """What lists show of a session's cost: nulls where prices are not known."""
    if account is None or account.total.calls == account.total.unpriced:
        return {"dollars": None, "saved": None, "spent": dict.fromkeys(PURPOSES)}
    return {
        "dollars": account.total.dollars,
        "saved": account.total.saved,
        "spent": {
            purpose: each.dollars if each.calls > each.unpriced or not each.calls else None
            for purpose, each in account.by_purpose.items()
        },
    }
