"""Turn answers into HTTP responses."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, TypeVar

from aiohttp import web
from attrs import AttrsInstance, fields, has

from saga_core.errors import NotFound
from saga_server.admin.endpoint import may_be_left_out

A = TypeVar("A", bound=AttrsInstance)
R = TypeVar("R")

_ROWS = 100
"""Rows of a list that are encoded before the event loop gets control again."""


async def as_json(answer: Any, status: int = 200) -> web.Response:
    """Return a response with the answer as JSON. A long list is encoded in slices: the encoder lets no thread run."""
    body = b"".join([text.encode("utf-8", "replace") async for text in _slices(answer)])
    return web.Response(body=body, status=status, content_type="application/json", charset="utf-8")


def tag_of(body: bytes) -> str:
    """Return the ``ETag`` of an answer: a hash of its bytes."""
    return f'"{hashlib.sha256(body).hexdigest()[:24]}"'


def tagged(response: web.Response, wanted: str | None) -> web.Response:
    """Add the ``ETag`` to a response. Return a 304 without a body if ``wanted`` (``If-None-Match``) has the tag."""
    tag = tag_of(response.body if isinstance(response.body, bytes) else b"")
    response.headers["ETag"] = tag
    response.headers["Cache-Control"] = "no-cache"
    if wanted is not None and tag in (each.strip().removeprefix("W/") for each in wanted.split(",")):
        return web.Response(status=304, headers={"ETag": tag, "Cache-Control": "no-cache"})
    return response


def to_text(answer: Any) -> str:
    """Return an answer as JSON."""
    return json.dumps(answer, ensure_ascii=False, default=_fields)


async def _slices(answer: Any) -> AsyncIterator[str]:
    """Yield the text of ``to_text`` in slices. Lists are sliced only if they are fields of the answer itself."""
    plain = _fields(answer) if has(type(answer)) else None
    if plain is None or not any(_is_long(each) for each in plain.values()):
        yield to_text(answer)
        return
    lead = "{"
    for name, value in plain.items():
        yield f"{lead}{to_text(name)}: "
        lead = ", "
        if not _is_long(value):
            yield to_text(value)
            continue
        for start in range(0, len(value), _ROWS):
            rows = to_text(value[start : start + _ROWS])
            yield ("[" if start == 0 else ", ") + rows[1:-1]
            await asyncio.sleep(0)
        yield "]"
    yield "}"


def _is_long(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and len(value) > _ROWS


def to_plain(answer: Any) -> Any:
    """Return an answer as a client reads it from JSON: dicts, lists, texts and numbers."""
    return json.loads(to_text(answer))


def _fields(value: Any) -> dict[str, Any]:
    """Return the fields of an answer. Raises ``TypeError`` if ``value`` is not an attrs object."""
    if not has(type(value)):
        raise TypeError(f"{type(value).__name__} has no form in JSON")
    found = {each: getattr(value, each.name) for each in fields(type(value))}
    return {each.name: part for each, part in found.items() if part is not None or not may_be_left_out(each)}


def filled(answer: type[A], source: object, **others: Any) -> A:
    """Return an answer that takes ``others`` as they are, and its other fields from the attributes of ``source``."""
    names = [each.name for each in fields(answer) if each.name not in others]
    return answer(**{name: getattr(source, name) for name in names}, **others)


def page_of(
    rows: Sequence[R], name: Callable[[R], str], cursor: str | None, limit: int | None
) -> tuple[Sequence[R], str | None]:
    """Return ``limit`` rows, starting with the one that ``cursor`` names, and the cursor of the next page.

    The cursor is None on the last page. Raises ``NotFound`` if the list does not have the row, or no longer has it.
    """
    names = [name(each) for each in rows]
    if cursor is not None and cursor not in names:
        raise NotFound(f"cursor: {cursor[:80]!r} names nothing in this list; begin without one")
    begin = names.index(cursor) if cursor is not None else 0
    end = len(rows) if limit is None else begin + limit
    return rows[begin:end], names[end] if end < len(rows) else None


def page_by_place(rows: Sequence[R], cursor: str | None, limit: int | None) -> tuple[Sequence[R], str | None]:
    """Return what ``page_of`` returns, for rows without names: a cursor is a row's place in the list."""
    page, after = page_of([*enumerate(rows)], lambda row: str(row[0]), cursor, limit)
    return [row for _, row in page], after
