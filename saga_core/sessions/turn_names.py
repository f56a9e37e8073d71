"""Names by which a person refers to a turn or a timeline of a session."""

from __future__ import annotations

from saga_core.errors import NotFound
from saga_core.language import clean_name
from saga_core.model import Timeline
from saga_core.sessions.live_session import LiveSession

_DIGITS = 10


def turn_named(live: LiveSession, given: str) -> str:
    """Return the turn with this id, the head of the timeline with this name, or the active path's turn of this number.

    Raises ``NotFound``, and the message lists the valid turns.
    """
    if given in live.tree:
        return given
    named = live.timelines.get(clean_name(given))
    if named is not None:
        return named.head
    depth = live.tree.get(live.head).depth
    if given.isascii() and given.isdecimal() and len(given) < _DIGITS and int(given) <= depth:
        return live.tree.path(live.head)[int(given)].id
    raise NotFound(
        f"session {live.session.id} has no turn and no timeline {given!r}; the turns of its active path are"
        f" 0 to {depth}"
    )


def timeline_named(live: LiveSession, name: str) -> Timeline:
    """Return the timeline with this name. Raises ``NotFound``."""
    found = live.timelines.get(clean_name(name))
    if found is None:
        raise NotFound(f"session {live.session.id} has no timeline {name!r}")
    return found
