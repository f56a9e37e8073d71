"""Where a correction holds: at one turn, or from before the latest reply, so that other replies are corrected too."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping

from attrs import frozen

from saga_core.catalog.lines import effect
from saga_core.errors import BadInput
from saga_core.model import Delta, Event, Source, WorldState, deltas, fold
from saga_core.projection import state_lines
from saga_core.sessions import LiveSession

_REPEATED = frozenset({"move", "hp", "mood", "met", "parted", "status", "attribute"})
"""Corrections that give a value. They are also recorded at the turn itself, because a model that reads the turn later
may report the former value again."""
_NAMING = frozenset({"merge", "split", "rename", "forget", "profile", "declare", "undeclare"})
"""Corrections of who is who and of what is counted, which no reply contradicts."""

_STANDING = (
    _REPEATED
    | _NAMING
    | {"give", "take", "relation", "unrelate", "tracker", "unnote", "unremember", "close", "settle"}
    | {"told", "audience", "chapter"}
)
"""Corrections of what was so before. Others mostly tell what just happened, and stay with the head unless ``kept``."""


@frozen
class CorrectionPoint:
    """A turn that a correction amends."""

    turn: str
    events: tuple[Event, ...] = ()
    after: WorldState | None = None
    """The state at the turn with the correction."""


async def correction_points(
    live: LiveSession, turn: str | None, kind: str, fields: Mapping[str, str], now: float, *, kept: bool = False
) -> tuple[CorrectionPoint, ...]:
    """Return the turns that a correction amends, by depth. With ``turn`` it is only that turn.

    By default the active head is corrected. A value or a name that was so before the head already is corrected at the
    head's parent, and at the head only where the head says it again. With ``kept``, what is added is added before the
    head as well, unless it then comes to something else. It is always read as of the head. Raises ``BadInput``.
    """
    from saga_core.curation import correct  # imported late to keep the start fast

    node = live.tree.get(turn or live.head)
    before = await live.state(node.id)
    events = correct(before, kind, fields, now)
    after = _with(before, events)
    await asyncio.sleep(0)  # each step looks through everybody and everything in the story
    here = CorrectionPoint(node.id, events, after)
    edited = {each.event for each in events if isinstance(each, deltas.EventScheduled)} & before.schedule.keys()
    if turn is not None or node.parent is None or not (kept or kind in _STANDING or edited):
        return (here,)
    earlier = await live.state(node.parent)
    if not (kind in _STANDING or edited):
        said = live.effective(await live.turn(node.id))
        try:
            ways = [correct(earlier, kind, fields, now), events]
        except BadInput:  # Only what the head says makes it possible, such as the hour.
            ways = [events]
        for made in ways:
            above = CorrectionPoint(node.parent, made, added := _with(earlier, made))
            follows = fold(added, said, turn=node.id, depth=node.depth)
            if await _same(follows, after):
                return above, CorrectionPoint(node.id, (), follows)
        return (here,)
    if not edited <= earlier.schedule.keys():
        return (here,)
    if kind not in _NAMING and not await _untouched(earlier, before, after):
        return (here,)
    try:
        above = CorrectionPoint(node.parent, made := correct(earlier, kind, fields, now), _with(earlier, made))
    except BadInput:  # What is corrected began with the head.
        return (here,)
    said = live.effective(await live.turn(node.id))
    follows = fold(_with(earlier, made), said, turn=node.id, depth=node.depth)
    await asyncio.sleep(0)
    # What another sort of story counts of the head's report is told with it.
    is_counted = kind == "profile" and follows.trackers.profile == after.trackers.profile
    alone = (above, CorrectionPoint(node.id, (), follows)) if is_counted or await _same(follows, after) else (here,)
    if kind not in _REPEATED and len(alone) > 1:
        return alone
    try:
        again = correct(follows, kind, fields, now)
    except BadInput:
        return alone
    both = _with(follows, again)
    await asyncio.sleep(0)
    # Of somebody who is alive again, what the head's report says counts as well.
    is_fitting = await _same(both, after) or bool(_dead(earlier) - _dead(_with(earlier, made)))
    return (above, CorrectionPoint(node.id, again, both)) if is_fitting else alone


def _dead(state: WorldState) -> set[str]:
    return {each.id for each in state.entities.values() if each.dead}


def _with(state: WorldState, events: tuple[Event, ...]) -> WorldState:
    return fold(state, Delta(events, Source.EDIT), turn=state.turn, depth=state.depth)


async def _untouched(earlier: WorldState, before: WorldState, after: WorldState) -> bool:
    """Whether the lines that a correction changes were the same before the turn."""
    corrected = [each["was"] or each["is"] for each in effect(before, after)]
    await asyncio.sleep(0)
    said = [each["was"] or each["is"] for each in effect(earlier, before)]
    await asyncio.sleep(0)
    return not any(_key(one) == _key(other) for one in corrected for other in said)


def _key(line: dict[str, object]) -> tuple[object, ...]:
    text = line["text"] if line["kind"] in ("note", "item") else None
    return line["kind"], line["subject_id"], line["other_id"], text


async def _same(one: WorldState, other: WorldState) -> bool:
    """Whether two states say the same of everybody and everything, whenever it was said."""
    said = _statements(one)
    await asyncio.sleep(0)
    return said == _statements(other)


def _statements(state: WorldState) -> tuple[object, ...]:
    lines = Counter(
        ("note", each.text)
        if each.kind == "note"
        else (each.kind, each.subject, each.other, each.text, each.number, each.top)
        for each in state_lines(state)
        if each.kind != "elsewhere"  # who did not come along is elsewhere than who stayed behind
    )
    names = {id_: each.names for id_, each in state.entities.items()}
    memories = {id_: each.text for id_, each in state.memories.items()}
    planned = {id_: (each.at, each.expires, each.place, each.who) for id_, each in state.schedule.items()}
    return lines, names, planned, state.learned, memories, [each.verdict for each in state.findings], state.story
