"""From an answer to the bytes that go out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from aiohttp import web
from attrs import fields, has

from saga_core.errors import NotFound
from saga_server.admin.endpoint import may_be_left_out

R = TypeVar("R")


def as_json(answer: Any, status: int = 200) -> web.Response:
    """The response with an answer in it."""
    body = to_text(answer).encode("utf-8", "replace")
    return web.Response(body=body, status=status, content_type="application/json", charset="utf-8")


def tag_of(body: bytes) -> str:
    """The ``ETag`` of an answer: another one for other bytes."""
    return f'"{hashlib.sha256(body).hexdigest()[:24]}"'


def tagged(response: web.Response, wanted: str | None) -> web.Response:
    """The response with its ``ETag``; one without a body when that is among those of ``If-None-Match``."""
    tag = tag_of(response.body if isinstance(response.body, bytes) else b"")
    response.headers["ETag"] = tag
    response.headers["Cache-Control"] = "no-cache"
    if wanted is not None and tag in (each.strip().removeprefix("W/") for each in wanted.split(",")):
        return web.Response(status=304, headers={"ETag": tag, "Cache-Control": "no-cache"})
    return response


def to_text(answer: Any) -> str:
    """An answer as JSON."""
    return json.dumps(answer, ensure_ascii=False, default=_fields)


def to_plain(answer: Any) -> Any:
    """An answer as whoever asked over HTTP reads it: dicts, lists, texts and numbers."""
    return json.loads(to_text(answer))


def _fields(value: Any) -> dict[str, Any]:
    """The fields of an answer. Raises ``TypeError`` for anything else, as JSON has no form for it."""
    if not has(type(value)):
        raise TypeError(f"{type(value).__name__} has no form in JSON")
    found = {each: getattr(value, each.name) for each in fields(type(value))}
    return {each.name: part for each, part in found.items() if part is not None or not may_be_left_out(each)}


def page_of(
    rows: Sequence[R], name: Callable[[R], str], cursor: str | None, limit: int | None
) -> tuple[Sequence[R], str | None]:
    """``limit`` rows from the one on that ``cursor`` names, and the cursor of those behind them; None at the end.

    Raises ``NotFound`` when the list has no such row, or has it no more.
    """
    names = [name(each) for each in rows]
    if cursor is not None and cursor not in names:
        raise NotFound(f"cursor: {cursor[:80]!r} names nothing in this list; begin without one")
    begin = names.index(cursor) if cursor is not None else 0
    end = len(rows) if limit is None else begin + limit
    return rows[begin:end], names[end] if end < len(rows) else None
