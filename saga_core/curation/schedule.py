"""The schedule: selects the scheduled events that are due."""

from __future__ import annotations

from saga_core.language import language_of
from saga_core.model import Scheduled, WorldState


def due(state: WorldState) -> tuple[Scheduled, ...]:
    """Return the scheduled events that are due at the next turn and have not expired, the most urgent first."""
    found = [each for each in state.schedule.values() if _is_due(each, state)]
    return tuple(sorted(found, key=lambda each: (each.expires is None, each.expires or 0, each.due or 0, each.event)))


def due_lines(state: WorldState, language: str) -> tuple[str, ...]:
    """Return the due events as lines for the context."""
    words, lines = language_of(language).texts, []
    for each in due(state):
        text = f"{each.name}: {each.text}" if each.text else each.name
        if each.expires is not None:
            text += f" {words.turns_left.format(left=each.expires - state.depth)}"
        lines.append(f"[{words.due}] {text}")
    return tuple(lines)


def _is_due(each: Scheduled, state: WorldState) -> bool:
    turn = state.depth + 1
    if each.due is not None and turn < each.due:
        return False
    if each.expires is not None and turn > each.expires:
        return False
    if each.place and each.place != state.location:
        return False
    return not each.who or each.who in state.present
