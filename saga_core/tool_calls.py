"""The tool calls of a reply, gathered from their pieces, and the calls of SAGA's own tools among them. Sans-IO.

Calls have the format of OpenAI's chat API, in whatever API the model speaks.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from attrs import define, field

from saga_core import codec

_MOST = 65_536
"""Characters of an own call's arguments that are kept."""
_MOST_CALLS = 8
"""Own calls that are answered in one round. Further ones are dropped."""
_LONGEST_NAME = 256
"""Characters of a tool's name that are kept. APIs allow 64 or 128."""
_THOUGHTS = ("reasoning", "reasoning_content", "reasoning_details", "extra_content")
"""Fields of a message that a provider may have signed, and wants back with the answers to its calls."""
_TEXTS = ("text", "summary", "data")
"""The fields of a thought that come in pieces."""


@define
class GatheredCall:
    """One tool call, as far as it has arrived."""

    id: str
    index: int | None
    name: str = ""
    pieces: list[str] = field(factory=list)
    """The arguments. A text that grows would be copied for each piece, megabytes of it thousands of times."""
    size: int = 0
    """The number of characters that came of the arguments."""
    extra: Mapping[str, Any] = field(factory=dict)
    """Data that a provider adds (``extra_content``)."""

    @property
    def arguments(self) -> str:
        """The arguments so far."""
        if len(self.pieces) > 1:
            self.pieces = ["".join(self.pieces)]
        return "".join(self.pieces)

    @property
    def parsed(self) -> Any:
        """The arguments as parsed JSON; invalid JSON becomes an object with the text under ``arguments``."""
        try:
            return _read(self.arguments or "{}")
        except (ValueError, RecursionError):
            return {"arguments": self.arguments}

    @property
    def sent_back(self) -> str:
        """The arguments as a JSON object: many providers refuse a prompt whose calls have anything else."""
        if _is_object(self.arguments):
            return self.arguments
        return json.dumps(self.parsed if isinstance(self.parsed, dict) else {})


def _read(arguments: str) -> Any:
    return json.loads(arguments, parse_constant=codec.no_constant, parse_float=codec.finite)


def _is_object(arguments: str) -> bool:
    """Whether arguments are a whole JSON object."""
    try:
        return isinstance(_read(arguments), dict)
    except (ValueError, RecursionError):
        return False


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
        pieces = fields.get("tool_calls")
        return [self.add(call) for call in (pieces if isinstance(pieces, list) else ()) if isinstance(call, Mapping)]

    def add(self, call: Mapping[str, Any]) -> tuple[int, str]:
        """Add one piece. Returns the position of its call in ``calls``, and the arguments that it adds."""
        number, index = str(call.get("id") or ""), call.get("index")
        index = index if type(index) is int else None
        at = self._begun(number, index)
        function = call.get("function") or {}
        name, piece = function.get("name") or "", function.get("arguments") or ""
        if at >= 0 and self._is_another(self.calls[at], index, name, piece):
            at = -1
        if at < 0:
            at = len(self.calls)
            self.calls.append(GatheredCall(number, index))
        found = self.calls[at]
        found.id = found.id or number
        if found.id:
            self._by_id[found.id] = at
        if found.index is not None:
            self._by_index[found.index] = at
        if name != found.name:  # some servers repeat it in each piece
            found.name = (found.name + name)[:_LONGEST_NAME]
        if piece:
            found.pieces.append(piece)
            found.size += len(piece)
        if isinstance(call.get("extra_content"), Mapping):
            found.extra = call["extra_content"]
        return at, piece

    @staticmethod
    def _is_another(call: GatheredCall, index: int | None, name: str, piece: str) -> bool:
        """Whether a piece begins another call than the one of its id, which some servers give to several calls."""
        if index is not None and call.index is not None and index != call.index:
            return True
        if not name or call.size > _MOST:  # very long ones are not looked at, for each piece again
            return False
        return _is_object(piece) and _is_object(call.arguments)

    def _begun(self, number: str, index: int | None) -> int:
        """Return the position of the call that this piece continues; -1 for a new call."""
        by_index = -1 if index is None else self._by_index.get(index, -1)
        at = max(self._by_id.get(number, -1), by_index)
        if at >= 0 and number and self.calls[at].id not in ("", number):
            return -1  # some providers give every call the index 0
        if at < 0 and not number and index is None:
            return len(self.calls) - 1
        return at


@define(eq=False)
class OwnCalls:
    """Takes the calls of SAGA's own tools out of a reply, so that the client sees none of them.

    If SAGA answers calls, the reply goes on in another round.
    """

    names: frozenset[str]
    _earlier: list[GatheredCall] = field(factory=list)
    _round: GatheredCalls = field(factory=GatheredCalls)
    _thoughts: dict[str, list[Any]] = field(factory=dict)

    def take(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of a delta without the pieces of SAGA's own calls; empty if nothing else is in it.

        The indexes of the other calls are those that they have without SAGA's own.
        """
        rest = {name: value for name, value in fields.items() if name != "tool_calls"}
        for name in _THOUGHTS:
            if name in rest:
                self._thoughts.setdefault(name, []).append(rest[name])
        pieces, others = fields.get("tool_calls"), []
        if not isinstance(pieces, list):
            return dict(fields)
        calls = self._round.calls
        for piece in pieces:
            if not isinstance(piece, Mapping):
                others.append(piece)
                continue
            at, _ = self._round.add(piece)
            if calls[at].name in self.names:
                calls[at].pieces = [calls[at].arguments[:_MOST]]
            else:
                own = sum(call.name in self.names for call in calls[:at])
                others.append({**piece, "index": piece["index"] - own} if own and piece.get("index") == at else piece)
        return {**rest, "tool_calls": others} if others else rest

    @property
    def calls(self) -> list[GatheredCall]:
        """SAGA's own calls in this round that are to be answered."""
        return self._own()[:_MOST_CALLS]

    def _own(self) -> list[GatheredCall]:
        return [call for call in self._round.calls if call.name in self.names]

    def last(self, name: str) -> GatheredCall | None:
        """The last call of a tool in the whole reply."""
        return next((call for call in reversed([*self._earlier, *self._own()]) if call.name == name), None)

    def __bool__(self) -> bool:
        return bool(self._earlier or self._own())

    def go_on(self) -> dict[str, Any]:
        """Begin another round. Returns the fields, besides the text, of the message that made the calls of this one."""
        calls = self.calls
        taken = {""}
        for number, call in enumerate(calls, len(self._earlier)):
            call.id = f"saga_{number}" if call.id in taken else call.id
            taken.add(call.id)
        made = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.sent_back},
                **({"extra_content": call.extra} if call.extra else {}),
            }
            for call in calls
        ]
        thoughts, self._thoughts = self._thoughts, {}
        fields = {**{name: _joined(pieces) for name, pieces in thoughts.items()}, "tool_calls": made}
        self._earlier += self._own()
        self._round = GatheredCalls()
        return fields


def _joined(pieces: list[Any]) -> Any:
    """The value of a field that arrived in pieces."""
    if all(isinstance(piece, str) for piece in pieces):
        return "".join(pieces)
    if not all(isinstance(piece, list) for piece in pieces):
        return pieces[-1]
    found: list[Any] = []
    at: dict[Any, dict[str, Any]] = {}
    growing: dict[tuple[Any, str], list[str]] = {}
    for each in (each for piece in pieces for each in piece):
        key = (each.get("type"), each["index"]) if isinstance(each, Mapping) and "index" in each else None
        if key is None or key not in at:
            found.append(dict(each) if isinstance(each, Mapping) else each)
            at |= {} if key is None else {key: found[-1]}
            continue
        # A thought whose text comes in pieces. Its signature, which may come last, is valid for the whole text alone.
        for name, value in each.items():
            whole = at[key].get(name)
            if name in _TEXTS and isinstance(whole, str) and isinstance(value, str):
                growing.setdefault((key, name), [whole]).append(value)
            elif value is not None:
                at[key][name] = value
    for (key, name), texts in growing.items():
        at[key][name] = "".join(texts)
    return found
