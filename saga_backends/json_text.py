"""Reads JSON from providers leniently, so that it can be passed on as valid JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

MOST_VALUES = 1_000_000
"""The maximum number of values in a body, about as many as in a long reply with its log probabilities."""
MOST_IN_EVENT = 100_000
"""The maximum number of values in an event of a stream. An ordinary event has a few dozen."""
_FEW = 64 * 1_024
"""The length in characters up to which a text is parsed without counting its values."""
_STREAMED = frozenset("content text reasoning reasoning_content thinking arguments partial_json response token".split())
"""Names of texts that come in pieces. A piece may end in half of a character whose other half begins the next."""
_DECODER = json.JSONDecoder(
    parse_constant=lambda _: None, parse_int=lambda digits: int(digits) if len(digits) <= 300 else None
)
"""Replaces NaN, infinities and integers that no float can hold by null. Others could not read them either."""
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


class TooManyValues(ValueError):
    """A text holds more values than a reply needs. Parsing it would block the event loop and fill the memory."""


def read_text(data: str | bytes, most: int = MOST_VALUES) -> Any:
    """Parse ``data``, which may hold about ``most`` values. Lone surrogates become U+FFFD, so that UTF-8 can encode it.

    The texts that a stream sends in pieces keep them if ``data`` is an event, that is, a ``str``.

    Raises ``TooManyValues`` before parsing, and another ``ValueError`` if it is not JSON or is nested too deeply.
    """
    text = data.decode("utf-8-sig", "replace") if isinstance(data, bytes) else data
    if len(text) > _FEW and not _is_within(text, most):
        raise TooManyValues(f"more than {most:,} values")
    try:
        value = _DECODER.decode(text)
        # Only an escape can produce a lone surrogate.
        if "\\u" in text and _ESCAPED_SURROGATE.search(text):
            return without_surrogates(value, _STREAMED if isinstance(data, str) else frozenset())
        return value
    except RecursionError:
        raise ValueError("nested too deeply") from None


def without_surrogates(value: Any, kept: frozenset[str] = frozenset()) -> Any:
    """Return ``value`` with U+FFFD for each lone surrogate in texts and names, except in texts named in ``kept``."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [without_surrogates(entry, kept) for entry in value]
    if isinstance(value, dict):
        return {
            without_surrogates(name): entry
            if name in kept and isinstance(entry, str)
            else without_surrogates(entry, kept)
            for name, entry in value.items()
        }
    return value


def _is_within(text: str, most: int) -> bool:
    """Whether ``text`` holds at most about ``most`` values: objects, lists, and what follows a comma.

    The characters that begin values are counted first in the whole text, which is quick, and only if there are too many
    outside its strings.
    """
    if _beginnings(text) <= most:
        return True
    if "\\" in text:
        text = text.replace("\\\\", "").replace('\\"', "")
    if text.count('"') > 4 * most:  # more strings than values and names
        return False
    return sum(map(_beginnings, text.split('"')[::2])) <= most


def _beginnings(text: str) -> int:
    return text.count(",") + text.count("{") + text.count("[")


def inside(value: Any, *path: str) -> Any:
    """Return what ``value`` holds under the names of ``path``, or None if it holds no such thing."""
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def rows(value: Any) -> Sequence[Any]:
    """Return ``value`` if it is a list, and nothing otherwise."""
    return value if isinstance(value, list) else ()
