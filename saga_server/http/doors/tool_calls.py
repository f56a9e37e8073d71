"""Collect the tool calls of a reply from deltas, for APIs that send each call as a whole."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from attrs import define, field


@define
class GatheredCall:
    """One tool call, as far as it has arrived."""

    id: str
    index: int | None
    name: str = ""
    arguments: str = ""
    extra: Mapping[str, Any] = field(factory=dict)
    """Data that a provider adds (``extra_content``)."""

    @property
    def given(self) -> Any:
        """The arguments as parsed JSON; invalid JSON becomes an object with the text under ``arguments``."""
        try:
            return json.loads(self.arguments or "{}")
        except (ValueError, RecursionError):
            return {"arguments": self.arguments}


@define
class GatheredCalls:
    """The tool calls of one reply, in the order in which they began."""

    calls: list[GatheredCall] = field(factory=list)
    _by_id: dict[str, int] = field(factory=dict)
    _by_index: dict[int, int] = field(factory=dict)
    """The position in ``calls`` of the last call with an index; ``_by_id`` has that of the last call with an id."""

    def gather(self, fields: Mapping[str, Any]) -> None:
        """Add the tool calls in a delta's ``fields``: new calls, and further pieces of earlier ones."""
        given = fields.get("tool_calls")
        for call in given if isinstance(given, list) else ():
            if isinstance(call, Mapping):
                self._add(call)

    def _add(self, call: Mapping[str, Any]) -> None:
        number, index = str(call.get("id") or ""), call.get("index")
        index = index if type(index) is int else None
        at = self._begun(number, index)
        if at < 0:
            at = len(self.calls)
            self.calls.append(GatheredCall(number, index))
        found = self.calls[at]
        found.id = found.id or number
        if found.id:
            self._by_id[found.id] = at
        if found.index is not None:
            self._by_index[found.index] = at
        function = call.get("function") or {}
        found.name += function.get("name") or ""
        found.arguments += function.get("arguments") or ""
        if isinstance(call.get("extra_content"), Mapping):
            found.extra = call["extra_content"]

    def _begun(self, number: str, index: int | None) -> int:
        """Return the position of the call that this piece continues; -1 for a new call."""
        by_index = -1 if index is None else self._by_index.get(index, -1)
        at = max(self._by_id.get(number, -1), by_index)
        if at >= 0 and number and self.calls[at].id not in ("", number):
            return -1  # some providers give every call the index 0
        if at < 0 and not number and index is None:
            return len(self.calls) - 1
        return at


def thought_in(fields: Mapping[str, Any]) -> str:
    """Return the model's reasoning text in a delta's ``fields``; empty if there is none."""
    thought = fields.get("reasoning_content") or fields.get("reasoning")
    return thought if isinstance(thought, str) else ""
