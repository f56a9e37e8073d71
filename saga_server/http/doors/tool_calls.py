"""The calls of tools in a reply, gathered whole for APIs that tell them in one piece."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from attrs import define, field


@define
class GatheredCall:
    """One call, as far as it came."""

    id: str
    index: int | None
    name: str = ""
    arguments: str = ""
    extra: Mapping[str, Any] = field(factory=dict)
    """What a provider adds (``extra_content``)."""

    @property
    def given(self) -> Any:
        """The arguments as an object."""
        try:
            return json.loads(self.arguments or "{}")
        except ValueError:
            return {"arguments": self.arguments}


def gather(calls: list[GatheredCall], fields: Mapping[str, Any]) -> None:
    """Add the calls in a delta's ``fields`` to ``calls``, whole ones and pieces of those that have begun."""
    given = fields.get("tool_calls")
    for call in given if isinstance(given, list) else ():
        if not isinstance(call, Mapping):
            continue
        number, index = str(call.get("id") or ""), call.get("index")
        begun = [
            each for each in calls if (number and each.id == number) or (index is not None and each.index == index)
        ]
        if number and begun and begun[-1].id not in ("", number):
            begun = []  # providers that number every call 0
        found = begun[-1] if begun else calls[-1] if calls and not number and index is None else None
        if found is None:
            found = GatheredCall(number, index)
            calls.append(found)
        function = call.get("function") or {}
        found.id = found.id or number
        found.name += function.get("name") or ""
        found.arguments += function.get("arguments") or ""
        if isinstance(call.get("extra_content"), Mapping):
            found.extra = call["extra_content"]


def thought_in(fields: Mapping[str, Any]) -> str:
    """What the model thought, in a delta's ``fields``."""
    thought = fields.get("reasoning_content") or fields.get("reasoning")
    return thought if isinstance(thought, str) else ""
