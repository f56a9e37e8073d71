"""Query parameters and JSON bodies of the admin API, read strictly."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

from aiohttp import web

from saga_server.http import RequestError, read_json


def known_only(request: web.Request, *names: str) -> None:
    """Refuse parameters that are not among ``names``: a misspelt one must not be ignored."""
    for name in request.query:
        if name not in names:
            allowed = ", ".join(names) or "none"
            raise RequestError(f"{name}: unknown parameter; this path takes {allowed}", param=name)


def text(request: web.Request, name: str, *, needed: bool = False) -> str | None:
    """A text; None when it is absent or empty and not ``needed``."""
    value = request.query.get(name, "").strip()
    if not value and needed:
        raise RequestError(f"{name}: missing; give a text", param=name)
    return value or None


def whole(request: web.Request, name: str, *, least: int = 0, most: int = 2**31) -> int | None:
    """A whole number within bounds, or None when it is absent."""
    value = request.query.get(name)
    if value is None:
        return None
    number = int(value) if value.isascii() and value.isdigit() and len(value) <= 12 else -1
    if not least <= number <= most:
        raise RequestError(f"{name}: {value!r} is not allowed; give a whole number from {least} to {most}", param=name)
    return number


def flag(request: web.Request, name: str) -> bool:
    """``1`` or ``0``; absent is ``0``."""
    value = request.query.get(name, "0")
    if value not in ("0", "1"):
        raise RequestError(f"{name}: {value!r} is not allowed; give 1 or 0", param=name)
    return value == "1"


def choice(request: web.Request, name: str, default: str, allowed: tuple[str, ...]) -> str:
    """One of the ``allowed`` words."""
    value = request.query.get(name, default)
    if value not in allowed:
        raise RequestError(f"{name}: {value!r} is not allowed; give one of {', '.join(allowed)}", param=name)
    return value


def seconds(request: web.Request, name: str, default: float, *, most: float) -> float:
    """A number of seconds from 0 on."""
    value = request.query.get(name)
    if value is None:
        return default
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not 0 <= number <= most:
        raise RequestError(f"{name}: {value!r} is not allowed; give seconds from 0 to {most:g}", param=name)
    return number


async def body_object(request: web.Request, names: Collection[str]) -> Mapping[str, Any]:
    """The JSON object in the body, an empty body being an empty one; its fields are texts among ``names`` or null."""
    raw = await request.read()
    found = read_json(raw) if raw.strip() else {}
    if not isinstance(found, dict):
        raise RequestError("the body is no JSON object", param="body")
    for name, value in found.items():
        if name not in names:
            raise RequestError(f"{name}: unknown field; this path takes {', '.join(sorted(names))}", param=name)
        if value is not None and not isinstance(value, str):
            raise RequestError(f"{name}: give a text or null", param=name)
    return found
