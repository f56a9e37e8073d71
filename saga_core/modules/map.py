"""The module ``map``: places that were visited, the ways between them, how long they take, and a drawing of them."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable
from xml.sax.saxutils import escape

from attrs import frozen

from saga_core.language import language_of
from saga_core.model import Event, Kind, WorldState, deltas
from saga_core.modules.module import ModuleTurn
from saga_core.trackers import Tracker

_TAKES = "map.minutes."
_FAR = 8
"""Places that are named to the narrator."""
_STEP, _EDGE = 110, 90


@frozen
class Map:
    """The rules of ``map``."""

    name: str = "map"
    version: int = 1

    def trackers(self, language: str) -> Iterable[Tracker]:
        """None: what is needed is known of the moves and the clock."""
        return ()

    def rules(self, turn: ModuleTurn) -> Iterable[Event]:
        """Where the player went is next to where she came from, and takes as long as the clock says."""
        here, there = turn.before.location, turn.after.location
        if here is None or there is None or here == there:
            return
        if not {(here, "ADJACENT", there), (there, "ADJACENT", here)} & turn.after.links:
            yield deltas.Linked(here, "ADJACENT", there)
        minutes = (turn.after.minutes or 0) - (turn.before.minutes or 0)
        if minutes > 0:
            yield deltas.ValueSet(_way(here, there), str(minutes))

    def context(self, state: WorldState, language: str) -> Iterable[str]:
        """How far it is to the places nearby."""
        if state.location is not None:
            distances = [
                (minutes, id_) for id_, minutes in _distances(state).items() if minutes and id_ != state.location
            ]
            if distances:
                near = ", ".join(f"{state.name(id_)} {minutes} min" for minutes, id_ in sorted(distances)[:_FAR])
                yield f"[map] {near}"

    def section(self, state: WorldState, language: str) -> Iterable[str]:
        """The places next to this one."""
        if state.location is not None:
            ways = sorted(state.name(each) for each in _neighbours(state).get(state.location, ()))
            yield f"{state.name(state.location)}: {', '.join(ways) or language_of(language).labels.nothing}"

    def picture(self, state: WorldState, language: str) -> str:
        """The places around the player's: each ring is one way further off."""
        places = _layout(state)
        ways = [
            (source, target)
            for source, type_, target in sorted(state.links)
            if type_ == "ADJACENT" and source in places and target in places
        ]
        (left, right), (top, bottom) = (
            (min(line, default=0) - _EDGE, max(line, default=0) + _EDGE)
            for line in ([place[axis] for place in places.values()] for axis in (0, 1))
        )
        people: dict[str, list[str]] = {}
        for who, where in state.whereabouts.items():
            if not where.left and who in state.entities:
                people.setdefault(where.place, []).append(state.name(who))
        rows = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{left} {top} {right - left} {bottom - top}" '
            'font-family="sans-serif" font-size="12" text-anchor="middle">'
        ]
        for source, target in ways:
            (x1, y1), (x2, y2) = places[source], places[target]
            rows.append(f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="#888"/>')
            takes = state.values.get(_way(source, target))
            if takes:
                rows.append(f'<text x="{(x1 + x2) // 2}" y="{(y1 + y2) // 2}" fill="#666">{escape(takes)}′</text>')
        for id_, (x, y) in places.items():
            fill = "#d97706" if id_ == state.location else "#94a3b8"
            rows.append(f'<circle cx="{x}" cy="{y}" r="8" fill="{fill}"/>')
            rows.append(f'<text x="{x}" y="{y + 24}">{escape(state.name(id_))}</text>')
            if id_ in people:
                names = escape(", ".join(sorted(people[id_])))
                rows.append(f'<text x="{x}" y="{y + 38}" fill="#666" font-size="10">{names}</text>')
        return "\n".join([*rows, "</svg>"])


def _way(one: str, other: str) -> str:
    return _TAKES + "-".join(sorted((one, other)))


def _neighbours(state: WorldState) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for source, type_, target in state.links:
        if type_ == "ADJACENT" and source in state.entities and target in state.entities:
            found.setdefault(source, set()).add(target)
            found.setdefault(target, set()).add(source)
    return found


def _distances(state: WorldState) -> dict[str, int]:
    """Minutes from the player's place to those that ways of known length lead to."""
    neighbours, start = _neighbours(state), state.location or ""
    found, waiting = {start: 0}, deque((start,))
    while waiting:
        here = waiting.popleft()
        for there in sorted(neighbours.get(here, ())):
            takes = state.values.get(_way(here, there), "")
            if takes.isdecimal() and found[here] + int(takes) < found.get(there, 1_000_000):
                found[there] = found[here] + int(takes)
                waiting.append(there)
    return found


def _layout(state: WorldState) -> dict[str, tuple[int, int]]:
    """Places in rings around the player's, each near the one from which it is reached."""
    neighbours = _neighbours(state)
    everywhere = [each.id for each in state.of_kind(Kind.LOCATION)]
    starts = [each for each in (state.location, *everywhere) if each is not None]
    found: dict[str, tuple[int, int]] = {}
    ring: dict[str, int] = {}
    for start in starts:
        if start in ring:
            continue
        base = max(ring.values(), default=-1) + 1
        ring[start], waiting = base, deque((start,))
        while waiting:
            here = waiting.popleft()
            for there in sorted(neighbours.get(here, ())):
                if there not in ring:
                    ring[there] = ring[here] + 1
                    waiting.append(there)
    for depth in sorted(set(ring.values())):
        places = [each for each, far in ring.items() if far == depth]
        for at, each in enumerate(places):
            angle = 2 * math.pi * at / len(places) + depth / 2
            radius = depth * _STEP
            found[each] = round(radius * math.cos(angle)), round(radius * math.sin(angle))
    return found


MODULE = Map()
