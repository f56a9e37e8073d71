"""Collect the tool calls of a reply from deltas, for APIs that send each call as a whole."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
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

    def gather(self, fields: Mapping[str, Any]) -> list[tuple[int, str]]:
        """Add the tool calls in a delta's ``fields``: new calls, and further pieces of earlier ones.

        Returns the position in ``calls`` of each piece, and the arguments that it adds.
        """
        given = fields.get("tool_calls")
        return [self._add(call) for call in (given if isinstance(given, list) else ()) if isinstance(call, Mapping)]

    def _add(self, call: Mapping[str, Any]) -> tuple[int, str]:
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
        piece = function.get("arguments") or ""
        found.arguments += piece
        if isinstance(call.get("extra_content"), Mapping):
            found.extra = call["extra_content"]
        return at, piece

    def _begun(self, number: str, index: int | None) -> int:
        """Return the position of the call that this piece continues; -1 for a new call."""
        by_index = -1 if index is None else self._by_index.get(index, -1)
        at = max(self._by_id.get(number, -1), by_index)
        if at >= 0 and number and self.calls[at].id not in ("", number):
            return -1  # some providers give every call the index 0
        if at < 0 and not number and index is None:
            return len(self.calls) - 1
        return at


@define
class StreamedCalls:
    """The order in which a stream of whole blocks sends tool calls whose pieces may arrive interleaved.

    One block is open at a time. The first call is sent as it arrives. The calls that begin beside it wait until it
    ends, because only the end of the calls shows that no piece of it will follow.
    """

    _gathered: GatheredCalls = field(factory=GatheredCalls, init=False)
    _sent: int = field(default=0, init=False)
    """The number of calls that are over."""
    _live: bool = field(default=False, init=False)

    def pieces(self, fields: Mapping[str, Any]) -> Iterator[tuple[GatheredCall | None, str]]:
        """Yield what can be sent now: a call that begins, or ``None`` for the open one, and a piece of arguments."""
        for at, piece in self._gathered.gather(fields):
            if at != self._sent:
                continue
            begun, self._live = None if self._live else self._gathered.calls[at], True
            yield begun, piece

    def rest(self) -> Iterator[GatheredCall]:
        """Yield the calls that waited, each whole. The open call is over, and so are these."""
        waiting = self._gathered.calls[self._sent + self._live :]
        self._sent, self._live = len(self._gathered.calls), False
        yield from waiting


def thought_in(fields: Mapping[str, Any]) -> str:
    """Return the model's reasoning text in a delta's ``fields``; empty if there is none."""
    thought = fields.get("reasoning_content") or fields.get("reasoning")
    return thought if isinstance(thought, str) else ""
