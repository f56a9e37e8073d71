"""The texts of a question and its answer: story texts as quoted material, and the JSON object in an answer."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from saga_core.state_block import THINK_END, prose_of, without_echoes

_LONGEST = 60_000
_TRAILING = re.compile(r",(\s*[}\]])")


class Unusable(ValueError):
    """Nothing in the answer can be read. The message says why."""


def read_object(text: str) -> dict[str, Any]:
    """Return the first JSON object in a text and ignore the text around it. Raises ``Unusable``."""
    if len(text) > _LONGEST:
        raise Unusable(f"it has {len(text)} characters (at most {_LONGEST})")
    ends = list(THINK_END.finditer(text))
    body = text[ends[-1].end() :] if ends else text
    found: dict[str, Any] | None = None
    decoder = json.JSONDecoder()
    cleaned = _TRAILING.sub(r"\1", body)
    for source in (body, cleaned):
        at = source.find("{")
        while at >= 0 and found is None:
            try:
                value, _ = decoder.raw_decode(source, at)
                value = _storable(value) if "\\u" in source else value
            except (ValueError, RecursionError):
                at = source.find("{", at + 1)
                continue
            if isinstance(value, dict) and value:
                found = value
            at = source.find("{", at + 1)
        if found is not None:
            return found
    if re.sub(r"\s|```(?:json)?", "", body) == "{}":
        return {}
    raise Unusable("there is no JSON object in it" if "{" not in body else "its JSON cannot be read")


def _storable(value: Any) -> Any:
    """Return a JSON value with U+FFFD for lone surrogates, which only escapes produce: models cut emojis in halves."""
    text = json.dumps(value, ensure_ascii=False)
    return json.loads(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


Count = Callable[[str], int]
"""Returns the number of tokens of a text."""

_CUT = " […] "


def without_injected(text: str) -> str:
    """Return a text without blocks of SAGA's own context that a client or a reply repeated, and without markup."""
    text = prose_of(text)
    told = without_echoes(text)
    return text if told == text else told.strip()


def cut_middle(text: str, limit: int, count: Count) -> str:
    """Return ``text`` in at most ``limit`` tokens, if necessary only its beginning and its end with a mark between."""
    cost = count(text)
    if cost <= limit:
        return text
    keep = len(text) * max(0, limit) // cost
    while keep > 1:
        shown = f"{text[: keep // 2].rstrip()}{_CUT}{text[len(text) - keep // 2 :].lstrip()}"
        cost = count(shown)
        if cost <= limit:
            return shown
        keep = min(keep - 1, keep * limit // cost)
    return ""


def object_schema(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON schema of an object with exactly these fields."""
    return {"type": "object", "properties": dict(fields), "required": list(fields), "additionalProperties": False}
