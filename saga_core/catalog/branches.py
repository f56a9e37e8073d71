"""A session's tree as unbranched runs, and the details of a single turn."""

from __future__ import annotations

from typing import Any

from attrs import asdict

from saga_core.catalog.shown_lines import effect
from saga_core.journal import Journal, Ledger
from saga_core.model import WorldState
from saga_core.sessions import LiveSession

_EXCERPT = 100


async def runs_of(live: LiveSession, journal: Journal) -> dict[str, Any]:
    """Return the tree as runs, from the root, parents before children. JSON-able.

    A run is a sequence of turns without a branch. Swiped replies do not end a run: a turn without successors, next to a
    sibling that is continued, is counted in ``swipes``. Each run has the ids of its ``first`` and ``last`` turn and
    their depths, the run that it branches off from (``parent``), whether it is on the ``active`` path, the named
    timelines that end in it, whether it contains the latest turn (``head``), and the beginnings of the texts at its two
    ends.
    """
    tree = live.tree
    named: dict[str, list[str]] = {}
    for timeline in live.timelines.values():
        named.setdefault(timeline.head, []).append(timeline.name)
    active = {node.id for node in tree.path(live.head)}
    kept = {live.head, *named, *(timeline.fork for timeline in live.timelines.values())}
    found: list[dict[str, Any]] = []
    open_runs: list[tuple[str, str | None]] = [(tree.root, None)]
    while open_runs:
        first, parent = open_runs.pop()
        last, turns, swipes, names, head = first, 1, 0, list(named.get(first, ())), first == live.head
        while True:
            kids = tree.children.get(last, [])
            lasting = [kid for kid in kids if tree.children.get(kid) or kid in kept] or kids[-1:]
            swipes += len(kids) - len(lasting)
            if len(lasting) != 1:
                break
            (last,) = lasting
            turns += 1
            names += named.get(last, ())
            head = head or last == live.head
        found.append(
            {
                "id": first,
                "parent": parent,
                "first": tree.get(first).depth,
                "last_id": last,
                "last": tree.get(last).depth,
                "turns": turns,
                "swipes": swipes,
                "active": first in active,
                "head": head,
                "names": sorted(names),
                "updated": tree.get(last).at,
            }
        )
        open_runs += [(kid, first) for kid in sorted(lasting, key=lambda kid: kid in active)]  # the active one is next
    ends = list(dict.fromkeys(turn for run in found for turn in (run["id"], run["last_id"])))
    texts = {turn.id: turn for turn in await journal.turns(live.session.id, ends)}
    for run in found:
        run["begins"] = (texts[run["id"]].user or texts[run["id"]].reply)[:_EXCERPT]
        run["ends"] = texts[run["last_id"]].reply[:_EXCERPT]
    return {"session": live.session.id, "root": tree.root, "head": live.head, "turns": len(tree), "runs": found}


async def turn_of(live: LiveSession, journal: Journal, ledger: Ledger, turn_id: str) -> dict[str, Any]:
    """Return one turn: its texts, its changes, its cost, its sibling replies, and what removing it would remove."""
    tree = live.tree
    node = tree.get(turn_id)
    turn = await live.turn(turn_id)
    whole = live.effective(turn)
    before = await live.state(node.parent) if node.parent else WorldState()
    after = await live.state(node.id)
    beside = [kid for kid in tree.children.get(node.parent or "", ()) if kid != node.id]
    others = await journal.turns(live.session.id, beside)
    active = tree.is_ancestor(node.id, live.head)
    below = [node.id]
    for each in below:
        below += tree.children.get(each, ())
    inside = frozenset(below)
    named = live.timelines.values()
    return {
        "session": live.session.id,
        "turn": node.depth,
        "turn_id": node.id,
        "parent": node.parent,
        "kind": node.kind.value,
        "at": turn.at,
        "user": turn.user,
        "reply": turn.reply,
        "model": turn.model,
        "finish": turn.finish,
        "by": whole.source.value,
        "status": whole.status.value,
        "problems": list(whole.problems),
        "effect": effect(before, after) if node.parent else [],
        "bills": [asdict(bill) for bill in await ledger.of_turn(live.session.id, node.id)],
        "active": active,
        "head": node.id == live.head,
        "names": sorted(each.name for each in named if each.head == node.id),
        "beside": [
            {
                "turn_id": each.id,
                "reply": each.reply[:_EXCERPT],
                "at": each.at,
                "continued": bool(tree.children.get(each.id)),
            }
            for each in others
        ],
        "next": list(tree.children.get(node.id, ())),
        "below": {
            "turns": len(below),
            "forgotten": sorted(each.name for each in named if each.fork in inside),
            "shortened": sorted(each.name for each in named if each.head in inside and each.fork not in inside),
        },
    }
