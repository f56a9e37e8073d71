"""JSON of requests and replies. A request's JSON is checked for its size before anything is made of it."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any

from saga_core import codec
from saga_server.http.errors import RequestError

MAX_NODES = 500_000
"""Values in a request's JSON; each list, object and field counts. A long chat has ten thousand."""
MAX_PARTS = 20_000
"""Content parts of all messages together."""
MAX_DEPTH = 64
"""Nesting levels of lists and objects in a request; the schemas of tools take a dozen."""

_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\Z)', re.DOTALL)
_SLICE = 1 << 20
"""Bytes that are searched in one step. A larger body is read in a thread, but counting holds the GIL."""
_VALUE = 130
"""Bytes that a value takes while its request is answered: ``{"n": ""}`` is two of them."""
_BREATH = 0.001
"""Seconds of sleep between two slices, during which other threads run."""
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_ESCAPED_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def read_json(body: bytes, most: int = MAX_NODES) -> Any:
    """Return the JSON value in a request's body, which holds at most ``most`` values. Raises ``RequestError``."""
    check_density(body, most)
    try:
        text = body.decode("utf-8-sig")  # given bytes, json.loads would also accept UTF-16
        value = json.loads(text, parse_constant=codec.no_constant, parse_float=codec.finite)
    except UnicodeDecodeError:
        raise RequestError("the body is not UTF-8", param="body") from None
    except RecursionError:
        raise RequestError("the body is nested too deeply", param="body") from None
    except ValueError as error:
        raise RequestError(f"the body is not JSON: {error}", param="body") from None
    check_nodes(value, most)
    if b"\\u" in body and _ESCAPED_SURROGATE.search(body):
        value = _without_surrogates(value)
    return value


def _without_surrogates(value: Any) -> Any:
    """Replace lone surrogates, which JSON can escape but UTF-8 cannot encode, by U+FFFD."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_without_surrogates(entry) for entry in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(entry) for key, entry in value.items()}
    return value


def to_json(value: Any) -> str:
    """Return ``value`` as JSON. Non-ASCII characters are escaped only if it holds a lone surrogate."""
    found = json.dumps(value, ensure_ascii=False)
    return found if found.isascii() or not _SURROGATE.search(found) else json.dumps(value)


# -- limits ----------------------------------------------------------------------------------------------------


def check_density(body: bytes, most: int = MAX_NODES) -> None:
    """Raise ``RequestError`` if a body holds more than ``most`` values.

    Counts the separators outside of strings. It runs before the JSON is parsed, because the objects would take fifty
    times the memory.
    """
    if len(body) > most and _separators(body) > most and _separators(_STRING.sub(b"", body)) > most:
        raise RequestError(f"the body holds more than {most:,} values", param="body", status=413)


async def values_weigh(body: bytes) -> int:
    """About how many bytes the values of a JSON body take in memory, beside the text in them; 0 for another body."""
    if body[:64].lstrip()[:1] not in (b"{", b"["):
        return 0
    return _VALUE * (await asyncio.to_thread(_separators, body) if len(body) > _SLICE else _separators(body))


def _separators(body: bytes) -> int:
    found = 0
    for start in range(0, len(body), _SLICE):
        if start:
            time.sleep(_BREATH)
        end = start + _SLICE
        found += body.count(b",", start, end) + body.count(b"[", start, end) + body.count(b"{", start, end)
    return found


def check_nodes(value: Any, most: int = MAX_NODES) -> None:
    """Raise ``RequestError`` if a request's JSON has more than ``most`` values, or too many nesting levels."""
    level, nodes = [value] if type(value) in (dict, list) else [], 1
    for _ in range(MAX_DEPTH + 1):
        held = [each.values() if type(each) is dict else each for each in level]
        found = sum(map(len, held))
        nodes += found
        if nodes > most:
            raise RequestError(f"the body holds more than {most:,} values", param="body", status=413)
        if not found:
            return
        level = [child for each in held for child in each if type(child) is dict or type(child) is list]
    raise RequestError(f"the body is nested too deeply: more than {MAX_DEPTH} levels", param="body")


def check_text(messages: Sequence[Any], max_text_mb: int) -> None:
    """Raise ``RequestError`` if the messages hold too much text or too many parts."""
    limit, found, parts = max_text_mb << 20, 0, 0
    for message in messages:
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, list):
            parts += len(content)
            found += sum(_bytes(part.get("text")) for part in content if isinstance(part, dict))
        else:
            found += _bytes(content)
    if found > limit:
        raise RequestError(
            f"messages: {found:,} bytes of text given; at most {limit:,} are taken (server.max_text_mb)",
            param="messages",
            status=413,
        )
    if parts > MAX_PARTS:
        raise RequestError(
            f"messages: {parts:,} parts given; at most {MAX_PARTS:,} are taken", param="messages", status=413
        )


def _bytes(text: Any) -> int:
    if not isinstance(text, str):
        return 0
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


# -- fields ----------------------------------------------------------------------------------------------------

_NAMES = {str: "a text", bool: "true or false", int: "a whole number", dict: "an object", list: "a list"}


def typed(fields: Mapping[str, Any], name: str, cls: type, of: str = "") -> Any:
    """Return a field of a request, None if it is missing. Raises ``RequestError`` if it is not of type ``cls``.

    ``of`` says for the error message what a list holds, such as ``of tools``.
    """
    value = fields.get(name)
    if value is not None and type(value) is not cls:
        what = f"{_NAMES[cls]} {of}".rstrip()
        raise RequestError(f"{name}: {short(value)} is not allowed; give {what} or null", param=name)
    return value


def wrong_kind(value: Any, where: str, remedy: str) -> RequestError:
    """Return the error for a value of the wrong JSON type. ``where`` is its path in the body."""
    return RequestError(f"{where}: a {kind_of(value)} given; {remedy}", param=where)


def short(value: Any) -> str:
    """Return a value as JSON for an error message, cut to 60 characters."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."


def kind_of(value: Any) -> str:
    """Return the name of a value's JSON type, for error messages."""
    return {dict: "object", list: "list", str: "text", bool: "truth value", type(None): "null"}.get(
        type(value), "number"
    )
