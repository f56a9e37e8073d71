"""From an answer to the bytes that go out."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from aiohttp import web
from attrs import fields, has

from saga_server.admin.endpoint import may_be_left_out


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
