"""Notes that the user added. The narrator does not know them, so they are in the context until the pages show them."""

from __future__ import annotations

from saga_core.model import Source, WorldState, deltas, undoings
from saga_core.sessions.live_session import LiveSession


def remarks_by_hand(live: LiveSession, state: WorldState, pages: str) -> tuple[str, ...]:
    """Return the added notes that are valid at ``state`` and that ``pages`` do not show, oldest first."""
    if not state.notes or not live.amendments:
        return ()
    oldest, held = state.notes[0][0], {text for _, text in state.notes}
    found: list[str] = []
    for node in live.tree.upwards(state.turn):
        if node.depth < oldest:
            break
        later = live.amendments.get(node.id)
        if not later:
            continue  # as for almost all turns of a path
        gone = undoings(later)
        said = [
            event.text
            for delta in later
            if delta.source is Source.EDIT and delta.id not in gone
            for event in delta.events
            if isinstance(event, deltas.Noted) and event.text in held and event.text not in pages
        ]
        found += reversed(said)
    return tuple(dict.fromkeys(reversed(found)))
