"""Steps: a model edits its memory and makes proposals through tools, in a bounded number of steps."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import define, field, frozen

from saga_core.curation import parse as answers
from saga_core.curation.validation import BLOCK_CHARS, rule
from saga_core.model_calls import Unusable, read_object
from saga_core.stores import CurationView
from saga_core.values import Proposal

MOST_CALLS = 12
"""Maximum calls of one step that are processed."""
_SHOWN = 160


@frozen
class Call:
    """One tool call."""

    tool: str
    arguments: Mapping[str, Any]


_TEXT = {"type": "string"}
_NUMBER = {"type": "integer"}
_TURNS = {"type": "array", "items": _NUMBER, "description": "numbers of turns that prove it"}
_TOOLS: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "memory_replace": ("Give a memory block a new text.", {"block": _TEXT, "text": _TEXT}, ("block", "text")),
    "memory_append": ("Add a line to a memory block.", {"block": _TEXT, "text": _TEXT}, ("block", "text")),
    "report_contradiction": (
        "Report what cannot all be true.",
        {"summary": _TEXT, "turns": _TURNS, "who": {"type": "array", "items": _TEXT}},
        ("summary", "turns"),
    ),
    "decide": (
        "Decide a known finding: error or deliberate.",
        {"finding": _TEXT, "verdict": {"type": "string", "enum": ["error", "deliberate"]}, "note": _TEXT},
        ("finding", "verdict"),
    ),
    "tell_story": (
        "Tell the turns from first to last in fewer words.",
        {"first": _NUMBER, "last": _NUMBER, "level": {"type": "string", "enum": ["scene", "chapter"]}, "text": _TEXT},
        ("first", "last", "text"),
    ),
    "schedule_event": (
        "Something is to come.",
        {"name": _TEXT, "text": _TEXT, "due": _NUMBER, "expires": _NUMBER, "place": _TEXT, "who": _TEXT},
        ("name",),
    ),
    "close_event": ("A scheduled event is over.", {"name": _TEXT}, ("name",)),
    "learn_lore": (
        "The story added something to its world.",
        {"entry": _TEXT, "text": _TEXT, "turns": _TURNS},
        ("entry", "text", "turns"),
    ),
    "finish": ("There is nothing more to do.", {}, ()),
}
_PROPOSING: dict[str, Callable[[Mapping[str, Any], CurationView], Proposal]] = {
    "report_contradiction": answers.contradiction,
    "decide": answers.decision,
    "tell_story": answers.story,
    "schedule_event": answers.event,
    "close_event": answers.close,
    "learn_lore": answers.lore,
}


def tool_definitions() -> list[dict[str, Any]]:
    """Return the tool definitions for a chat API."""
    return [
        {
            "type": "function",
            "function": {
                "name": name,
                "description": about,
                "parameters": {"type": "object", "properties": properties, "required": list(required)},
            },
        }
        for name, (about, properties, required) in _TOOLS.items()
    ]


def read_calls(text: str, native: Sequence[Any]) -> list[Call]:
    """Return the tool calls of a reply: the API's own, or otherwise those in its JSON. Raises ``Unusable``."""
    calls = []
    for each in native:
        function = each.get("function") if isinstance(each, Mapping) else None
        if not isinstance(function, Mapping):
            continue
        raw = function.get("arguments")
        try:
            arguments = json.loads(raw) if isinstance(raw, str) and raw.strip() else raw or {}
        except (ValueError, RecursionError):
            arguments = None
        calls.append(Call(str(function.get("name", "")), arguments if isinstance(arguments, Mapping) else {"": ""}))
    if calls:
        return calls
    answer = read_object(text)
    told = answer.get("calls", [answer] if "tool" in answer else None)
    if not isinstance(told, list):
        raise Unusable("it calls no tool")
    for each in told:
        if isinstance(each, Mapping):
            inner = each.get("arguments")
            arguments = inner if isinstance(inner, Mapping) else {k: v for k, v in each.items() if k != "tool"}
            calls.append(Call(str(each.get("tool", each.get("name", ""))), arguments))
    return calls


@define
class Desk:
    """The results of the calls so far. Every call is answered immediately, so that the model can correct errors."""

    view: CurationView
    names: tuple[str, ...]
    blocks: dict[str, str] = field(init=False)
    proposals: list[Proposal] = field(factory=list)
    finished: bool = False
    _seen: set[str] = field(factory=set)

    def __attrs_post_init__(self) -> None:
        known = self.view.state.blocks
        self.blocks = {name: known[name].text if name in known else "" for name in self.names}

    def take(self, call: Call) -> str:
        """Execute a call and return a line with its result."""
        shown = json.dumps(dict(call.arguments), ensure_ascii=False, default=str)[:_SHOWN]
        said = f"{call.tool} {shown}"
        if said in self._seen and call.tool != "finish":
            return f"{said}: done already"
        self._seen.add(said)
        return f"{said}: {self._do(call)}"

    def _do(self, call: Call) -> str:
        if call.tool == "finish":
            self.finished = True
            return "ok"
        if call.tool not in _TOOLS:
            return f"error: there is no tool {call.tool!r}; there are {', '.join(_TOOLS)}"
        if "" in call.arguments:
            return "error: the arguments are no JSON object"
        if call.tool in ("memory_replace", "memory_append"):
            return self._remember(call)
        proposal = _PROPOSING[call.tool](call.arguments, self.view)
        *_, verdict = rule(self.view, (*self.proposals, proposal), ())
        if not verdict.accepted:
            return f"error: {verdict.reason}"
        self.proposals.append(proposal)
        return "ok"

    def _remember(self, call: Call) -> str:
        name, text = call.arguments.get("block"), call.arguments.get("text")
        if not isinstance(name, str) or name not in self.blocks:
            return f"error: there is no block {name!r}; there are {', '.join(self.names)}"
        if not isinstance(text, str):
            return "error: text is missing"
        if call.tool == "memory_append":
            text = f"{self.blocks[name]}\n{text}".strip()
        if len(text) > BLOCK_CHARS:
            return f"error: the block would have {len(text)} characters (at most {BLOCK_CHARS}); replace it by less"
        self.blocks[name] = text.strip()
        return "ok"

    def result(self) -> tuple[Proposal, ...]:
        """Return the accepted proposals, then the changed memory blocks."""
        known = self.view.state.blocks
        changed = [
            Proposal("memory", f"{name}: {text}"[:_SHOWN] or name, (), (), {"block": name, "text": text})
            for name, text in self.blocks.items()
            if text != (known[name].text if name in known else "")
        ]
        return (*self.proposals, *changed)
