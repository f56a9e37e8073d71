"""Lines as plain data: lines with names instead of ids, and the difference of two states."""

from __future__ import annotations

from typing import Any

from saga_core.catalog.origins import Origin
from saga_core.model import WorldState
from saga_core.projection import Line, state_lines


def shown_line(state: WorldState, line: Line, origin: Origin | None = None) -> dict[str, Any]:
    """Return a line with names, and with the turn that it comes from if ``origin`` is given."""
    note = line.kind in ("note", "event")
    found = {
        "kind": line.kind,
        "subject": None if note else state.name(line.subject),
        "subject_id": line.subject,
        "other": state.name(line.other) if line.other else None,
        "other_id": line.other or None,
        "text": line.text,
        "number": line.number,
        "top": line.top,
        "scheduled": _scheduled(state, line.subject) if line.kind == "event" else None,
    }
    if origin is None:
        return found
    return {**found, "turn": origin.depth, "turn_id": origin.turn, "by": origin.by, "change": origin.change}


def _scheduled(state: WorldState, event: str) -> dict[str, Any]:
    """Return a scheduled event, with the field names that a correction of the kind ``event`` takes."""
    found = state.schedule[event]
    return {
        "name": found.name,
        "text": found.text,
        "due": found.due,
        "expires": found.expires,
        "place": state.name(found.place) if found.place else None,
        "who": state.name(found.who) if found.who else None,
    }


def effect(before: WorldState, after: WorldState) -> list[dict[str, Any]]:
    """Return the lines in which two states differ."""
    was = {line.key: shown_line(before, line) for line in state_lines(before)}
    will = {line.key: shown_line(after, line) for line in state_lines(after)}
    keys = dict.fromkeys((*was, *will))
    return [{"was": was.get(key), "is": will.get(key)} for key in keys if was.get(key) != will.get(key)]
