"""The tool by which a narrator reports what its reply changed, and the calls of it in a reply. Sans-IO.

The call is SAGA's own: the client never sees it, and it makes no turn an intermediate step.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from attrs import define, field

from saga_core.extraction.answer import answer_schema, read_answer
from saga_core.extraction.question import key_words, words_of
from saga_core.state_block import BlockFields, BlockStatus, StateReading
from saga_core.trackers import NO_TRACKERS, Trackers

NAME = "saga_report"
_MOST = 65_536
"""Characters of arguments that are kept."""


def report_tool(language: str, counted: Trackers = NO_TRACKERS) -> dict[str, Any]:
    """The tool as OpenAI's chat API declares it, described in a language. ``counted`` are the story's trackers."""
    words = words_of(language)
    described = key_words(words, counted)
    schema = answer_schema(counted=counted)
    return {"type": "function", "function": {"name": NAME, "description": described, "parameters": schema}}


@define(eq=False)
class ReportCalls:
    """Takes the calls of the tool out of a reply."""

    _own: dict[int, str] = field(factory=dict)
    """Arguments so far, by the index of the call in the reply."""

    def take(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of a delta without the pieces of SAGA's own calls; empty if nothing else is in it."""
        calls = fields.get("tool_calls")
        if not isinstance(calls, list):
            return dict(fields)
        others = []
        for position, call in enumerate(calls):
            if not isinstance(call, Mapping) or not self._takes(call, position):
                others.append(call)
        rest = {key: value for key, value in fields.items() if key != "tool_calls"}
        return {**rest, "tool_calls": others} if others else rest

    def _takes(self, call: Mapping[str, Any], position: int) -> bool:
        index = call.get("index", position)
        function = call.get("function")
        if not isinstance(function, Mapping):
            return index in self._own
        if function.get("name") == NAME:
            self._own.setdefault(index, "")
        elif index not in self._own or function.get("name"):
            return False
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            self._own[index] = (self._own[index] + arguments)[:_MOST]
        return True

    def __bool__(self) -> bool:
        return bool(self._own)

    def reading(self, visible: str, counted: Trackers = NO_TRACKERS) -> StateReading:
        """What the last call reports. A call whose arguments cannot be read is a missing report."""
        arguments = list(self._own.values())[-1]
        try:
            json.loads(arguments or "{}")
        except (ValueError, RecursionError) as error:
            return StateReading(visible, BlockStatus.FALLBACK, BlockFields(), (f"{NAME}: {error}",))
        found = read_answer(arguments or "{}", counted)
        return StateReading(visible, found.status, found.fields, found.problems, found.invalid)
