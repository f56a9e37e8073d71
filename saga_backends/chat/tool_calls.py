"""Normalises the tool calls in a reply to the format of OpenAI's API."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def well_formed(calls: Any) -> list[Any]:
    """Return the calls that are objects. Arguments become JSON text, which many small servers send as an object."""
    return [_call(call) for call in calls if isinstance(call, Mapping)] if isinstance(calls, list) else []


def _call(call: Mapping[str, Any]) -> Mapping[str, Any]:
    function = call.get("function")
    if isinstance(function, Mapping) and all(isinstance(function.get(name) or "", str) for name in _TEXTS):
        return call
    given = function if isinstance(function, Mapping) else {}
    return {**call, "function": {**given, **{name: _text(given[name]) for name in _TEXTS if name in given}}}


_TEXTS = ("name", "arguments")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
