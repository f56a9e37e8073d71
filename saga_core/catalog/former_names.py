"""The last names of merged or forgotten entities, because records of the story still contain their ids."""

from __future__ import annotations

from saga_core.model import Delta, Forgotten, Introduced, Merged
from saga_core.sessions import LiveSession


async def former_names(live: LiveSession, turn: str) -> dict[str, str]:
    """Return the ids that no longer exist in the state at ``turn``, with the last name of each."""
    known = (await live.state(turn)).entities
    found: dict[str, str] = {}
    for node in live.tree.path(turn):
        later = live.amendments.get(node.id, ())
        gone = set(_gone(later)) - known.keys()
        if not gone or node.parent is None:
            continue
        above = await live.state(node.parent)
        found |= {id_: above.name(id_) for id_ in gone if id_ in above.entities}
        if gone - found.keys():
            own = live.effective(await live.turn(node.id)).events
            named = {each.id: each.name for each in own if isinstance(each, Introduced)}
            found |= {id_: named[id_] for id_ in gone - found.keys() if id_ in named}
    opening = live.prepared.opening.entities
    missing = set((await live.state(turn)).merged) - known.keys() - found.keys()
    found |= {id_: opening[id_].name for id_ in missing if id_ in opening}
    missing -= found.keys()
    if missing:  # a report introduced them, and made them one with somebody
        async for each in live.each_turn([node.id for node in live.tree.upwards(turn)]):
            named = {event.id: event.name for event in live.effective(each).events if isinstance(event, Introduced)}
            found |= {id_: named[id_] for id_ in missing if id_ in named}
            missing -= named.keys()
            if not missing:
                break
    return found


def _gone(later: tuple[Delta, ...]) -> list[str]:
    events = [event for delta in later for event in delta.events]
    return [
        event.gone if isinstance(event, Merged) else event.id
        for event in events
        if isinstance(event, Merged | Forgotten)
    ]
