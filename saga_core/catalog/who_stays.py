"""Of two characters who may be one person: under which name she goes on, if a player says that she is one."""

from __future__ import annotations

from saga_core.model import ONE_PERSON, WorldState
from saga_core.naming import is_nameless
from saga_core.sessions import LiveSession


def who_stays(live: LiveSession, state: WorldState, finding: str) -> str | None:
    """The id of the one who stays, None for a finding about something else, or about somebody who is there no more.

    ``finding`` is its key.

    The player's character stays. Then a name before what only describes somebody, the name that more turns have, and
    the one that was met first.
    """
    rule, *two = finding.split(":")
    if rule != ONE_PERSON:
        return None
    late, early = two
    if late not in state.entities or early not in state.entities:
        return None
    if state.player in (late, early):
        return state.player
    ones = {who: state.entities[who] for who in (early, late)}
    named = [who for who, each in ones.items() if not is_nameless(each)]
    if len(named) == 1:
        return named[0]
    texts = [node.episode for node in live.tree.path(state.turn) if node.episode]
    every = sorted(((name, who) for who, each in ones.items() for name in each.names), key=lambda pair: -len(pair[0]))
    used = dict.fromkeys(ones, 0)
    for text in texts:
        for name, who in every:  # the longer name first: Rosalind Hale has Rosalind in it
            if name in text:
                used[who] += 1
                text = text.replace(name, " ")
    return max(ones, key=lambda who: used[who])  # of two alike the first: the early one
