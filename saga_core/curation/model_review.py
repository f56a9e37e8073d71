"""A review by a model: its prompt, its answer as proposals, and the tools with which it works in steps."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from attrs import define, field, frozen

from saga_core.curation.facts import facts_of, replay
from saga_core.curation.validation import BLOCK_CHARS, rule
from saga_core.language import CurationWords, every, language_of
from saga_core.messages import PromptPlan, asked_again, question
from saga_core.model import Kind, Turn, WorldState
from saga_core.model_calls import Unusable, cut_middle, read_object, without_injected
from saga_core.naming import Names
from saga_core.projection import EVENT
from saga_core.stores import CurationView
from saga_core.values import Proposal

LIMIT = 6_000
"""Maximum tokens of one prompt."""
QUOTE = "| "
_USER = 60
_LEAST = 40
FRAME = 60
_NAMES = 60
_REASON = 80

Count = Callable[[str], int]


def _words(view: CurationView) -> CurationWords:
    return language_of(view.language).questions.curation


def review_plan(view: CurationView, count: Count) -> PromptPlan:
    """Return the prompt for one JSON object as the answer."""
    words = _words(view)
    return question(f"{words.task}\n\n{words.answer}", _material(view, words, count, ()))


def retry_plan(plan: PromptPlan, view: CurationView, reason: str) -> PromptPlan:
    """Return the same prompt with the reason why the last answer could not be used."""
    return asked_again(plan, agent_retry(view, reason))


def step_plan(view: CurationView, blocks: dict[str, str], done: Sequence[str], count: Count) -> PromptPlan:
    """Return the prompt for one step: the material, the current memory blocks, and the results of earlier steps."""
    words = _words(view)
    extra = [words.memory]
    for name, text in blocks.items():
        extra += [f"[{name}]", _quoted(text or words.nothing)]
    if done:
        extra += [words.done, *done]
    return question(f"{words.task}\n\n{words.calls}", _material(view, words, count, extra))


def agent_prompt(view: CurationView, count: Count) -> tuple[str, str]:
    """Return the standing instruction and this review's message, for an agent that keeps its own memory."""
    words = _words(view)
    return f"{words.task}\n\n{words.calls}", _material(view, words, count, ())


def agent_retry(view: CurationView, reason: str) -> str:
    """Return the message for an agent whose last answer could not be used."""
    return _words(view).again.format(reason=" ".join(reason.split())[:_REASON])


def _quoted(text: str) -> str:
    return "\n".join(QUOTE + line for line in text.splitlines() if line.strip())


def _material(view: CurationView, words: CurationWords, count: Count, extra: Sequence[str]) -> str:
    state = view.state
    lines = [words.state.format(depth=state.depth), _quoted("\n".join(_brief(state)))]
    findings = [f"{each.key}: {each.text}" for each in state.findings if not each.verdict][-12:]
    story = [f"{part.first}-{part.last} {part.text}" for part in state.story[-6:]]
    schedule = [f"{each.name} (due {each.due}, expires {each.expires}) {each.text}" for each in state.schedule.values()]
    facts = [f"{each.depth}: {each.text}" for each in facts_of(replay(view), view.language) if each.weight >= EVENT]
    for label, found in (
        (words.known, findings),
        (words.story, story),
        (words.schedule, schedule),
        (words.facts, facts[-30:]),
    ):
        if found:
            lines += [label, _quoted("\n".join(found))]
    lines += [*extra, words.turns]
    room = LIMIT - FRAME - count(words.task) - count(words.answer) - count("\n".join(lines))
    return "\n".join((*lines, quoted_turns(view.turns, room, count)))


def quoted_turns(turns: Sequence[Turn], room: int, count: Count) -> str:
    """Return turns with their texts as quoted lines, in ``room`` tokens. Long texts are cut in the middle."""
    each = max(_LEAST, room // max(1, len(turns)) - _USER - 12)
    told = []
    for turn in turns:
        user = cut_middle(_bounded(turn.user, _USER), _USER, count)
        reply = cut_middle(without_injected(_bounded(turn.reply, each)), each, count)
        told += [f"[{turn.depth}]", _quoted(f"> {user}" if user else ""), _quoted(reply)]
    return cut_middle("\n".join(line for line in told if line), max(0, room), count)


_TOKEN = 8
"""More characters than a token has, nearly always."""


def _bounded(text: str, tokens: int) -> str:
    """Return the beginning and the end of a text of far more than ``tokens``, because counting all of it takes long."""
    most = _TOKEN * tokens
    return text if len(text) <= 2 * most else f"{text[:most]} … {text[-most:]}"


def _brief(state: WorldState) -> list[str]:
    player = state.entities.get(state.player)
    lines = []
    if player is not None:
        place = f", {state.name(state.location)}" if state.location else ""
        health = f", HP {player.get('hp')}/{player.get('max_hp')}" if player.get("hp") is not None else ""
        lines.append(f"{player.name}{place}{health}")
        lines.append(", ".join(state.name(item) for item in state.belongings.get(state.player, {})))
    lines.append(", ".join(state.name(who) for who in state.present))
    people = [each.name + (" (dead)" if each.dead else "") for each in state.of_kind(Kind.CHARACTER)][-_NAMES:]
    lines.append(", ".join(people))
    lines += [
        f"{state.name(source)} -> {state.name(target)}: {part.type} {part.strength:+d}"
        for (source, target), relation in list(state.relations.items())[-12:]
        for part in relation.parts
    ]
    return [line for line in lines if line.strip()]


_LONGEST = 60_000
_TRAILING = re.compile(r",(\s*[}\]])")
_TOLD = 300
_NOTHING = frozenset(("null", *(each.labels.nothing for each in every())))


_PARTS = ("contradictions", "decisions", "story", "events", "close", "lore")


def read_answer(text: str, view: CurationView) -> tuple[Proposal, ...]:
    """Return the proposals of a whole answer. Raises ``Unusable`` if it cannot be parsed."""
    answer = read_object(text)
    if answer and not any(name in answer for name in _PARTS):
        raise Unusable(f"it has none of the fields {', '.join(_PARTS)}")
    makers = {
        "contradictions": contradiction,
        "decisions": decision,
        "story": story,
        "events": event,
        "lore": lore,
    }
    proposals: list[Proposal] = []
    for name, make in makers.items():
        proposals += [make(each, view) for each in _records(answer.get(name))]
    closing = answer.get("close")
    for each in closing if isinstance(closing, list) else []:
        if isinstance(each, str):
            proposals.append(close({"name": each}, view))
    return tuple(proposals)


def contradiction(given: Mapping[str, Any], view: CurationView) -> Proposal:
    """Return the proposal of a contradiction with its turns."""
    names = Names(view.state)
    who = [names.find(Kind.CHARACTER, each) for each in _texts(given.get("who"))]
    entities = tuple(dict.fromkeys(id_ for id_ in who if id_))
    return Proposal("contradiction", _text(given.get("summary")), _turns(given, view), entities, {})


def decision(given: Mapping[str, Any], view: CurationView) -> Proposal:
    """Return the proposal to decide whether a known finding is an error or deliberate."""
    key, verdict, note = (_text(given.get(name)) for name in ("finding", "verdict", "note"))
    return Proposal("contradiction", f"{key}: {verdict} {note}", (), (), {"key": key, "verdict": verdict, "note": note})


def story(given: Mapping[str, Any], view: CurationView) -> Proposal:
    """Return the proposal of a summary of some turns."""
    first, last = _text(given.get("first")), _text(given.get("last"))
    text, level = _text(given.get("text")), _text(given.get("level")) or "scene"
    data = {"level": level, "first": first, "last": last, "text": text}
    return Proposal("compress", f"{level} {first}-{last}: {text}"[:_TOLD], (), (), data)


def event(given: Mapping[str, Any], view: CurationView) -> Proposal:
    """Return the proposal to schedule an event."""
    names = ("name", "text", "due", "expires", "place", "who")
    data = {name: text for name in names if (text := _text(given.get(name)))}
    return Proposal("event", f"{data.get('name', '')}: {data.get('text', '')}"[:_TOLD], (), (), data)


def close(given: Mapping[str, Any], view: CurationView) -> Proposal:
    """Return the proposal to close a scheduled event."""
    name = _text(given.get("name"))
    return Proposal("event", f"close: {name}", (), (), {"close": name})


def lore(given: Mapping[str, Any], view: CurationView) -> Proposal:
    """Return the proposal of lore that play added to the world."""
    entry, text = _text(given.get("entry")), _text(given.get("text"))
    return Proposal("lore", f"{entry}: {text}"[:_TOLD], _turns(given, view), (), {"entry": entry, "text": text})


def _records(value: Any) -> Iterable[Mapping[str, Any]]:
    found = [value] if isinstance(value, Mapping) else value
    return [each for each in found if isinstance(each, Mapping)] if isinstance(found, list) else []


def _turns(given: Mapping[str, Any], view: CurationView) -> tuple[str, ...]:
    """Return the ids of turns given by number. An unknown number is kept, so that validation rejects it."""
    by_depth = {turn.depth: turn.id for turn in view.turns}
    ids = set(by_depth.values())
    found = []
    for each in _texts(given.get("turns")):
        digits = re.search(r"\d{1,9}", each)
        if each in ids:
            found.append(each)
        elif digits and int(digits.group()) in by_depth:
            found.append(by_depth[int(digits.group())])
        else:
            found.append(each)
    return tuple(dict.fromkeys(found))


def _texts(value: Any) -> list[str]:
    return [text for each in (value if isinstance(value, list) else [value]) if (text := _text(each))]


def _text(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, str | int | float):
        text = " ".join(str(value).split())
        return "" if text.casefold() in _NOTHING else text
    return ""


MOST_CALLS = 12
"""Maximum calls of one step that are processed."""
_SHOWN = 160


@frozen
class ToolCall:
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
    "report_contradiction": contradiction,
    "decide": decision,
    "tell_story": story,
    "schedule_event": event,
    "close_event": close,
    "learn_lore": lore,
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


def read_calls(text: str, native: Sequence[Any]) -> list[ToolCall]:
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
        calls.append(ToolCall(str(function.get("name", "")), arguments if isinstance(arguments, Mapping) else {"": ""}))
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
            calls.append(ToolCall(str(each.get("tool", each.get("name", ""))), arguments))
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

    def take(self, call: ToolCall) -> str:
        """Execute a call and return a line with its result."""
        shown = json.dumps(dict(call.arguments), ensure_ascii=False, default=str)[:_SHOWN]
        said = f"{call.tool} {shown}"
        if said in self._seen and call.tool != "finish":
            return f"{said}: done already"
        self._seen.add(said)
        return f"{said}: {self._do(call)}"

    def _do(self, call: ToolCall) -> str:
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

    def _remember(self, call: ToolCall) -> str:
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
