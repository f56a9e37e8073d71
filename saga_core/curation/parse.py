"""Parses a model's answer into proposals. Tolerant of format only: the contents are validated later."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from saga_core.language import every
from saga_core.model import Kind
from saga_core.model_calls import Unusable, read_object
from saga_core.naming import Names
from saga_core.stores import CurationView
from saga_core.values import Proposal

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
