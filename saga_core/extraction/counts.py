"""Turns what a block says of declared trackers into events."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from attrs import evolve

from saga_core.language import fold_name
from saga_core.model import OWES, Delta, Event, Kind, WorldState, deltas, fold
from saga_core.naming import Names, may_be
from saga_core.state_block import CountReport
from saga_core.trackers import (
    Move,
    ThreadReport,
    Tracker,
    TrackerKind,
    UnreadableValue,
    Whose,
    read_threads,
    read_value,
    says_nothing,
)

_WAY = re.compile(r"\s{0,4}(?:[-–]>|=>|→|⇒|>)\s{0,4}")
_OF = re.compile(r"(?P<who>[^:：]{1,80}?)\s*(?:[:：]{1,2}\s*|\s(?=[=+\-−–]?\d))(?P<value>\S.*)", re.DOTALL)
_LONGEST_NAME = 4
"""The most words of a name that is looked for at the head of a value."""
_BOTH_WAYS = re.compile(r"\s{0,4}(?:<->|<=>|↔|⇔)\s{0,4}")


def count_events(
    reports: Sequence[CountReport],
    state: WorldState,
    names: Names,
    company: Sequence[str],
    place: str | None,
    complain: Callable[[str], None],
) -> Iterator[Event]:
    """The events of ``reports`` on ``state``. What cannot be read goes to ``complain``.

    Threads come last: they are due by the clock, which the same reports may set. ``company`` are the ids of the
    characters present at the end of the reply, and ``place`` is the player's place then. A value without a name is that
    of the only companion, if there is just one.
    """
    declared = ((state.trackers.find(said.tracker), said) for said in reports)
    known = [(tracker, said) for tracker, said in declared if tracker is not None]
    known.sort(key=lambda each: each[0].kind is TrackerKind.THREADS)
    clock: list[Event] = []
    for tracker, report in ((tracker, each) for tracker, said in known for each in _of_each(said, state, names)):
        if tracker.kind is TrackerKind.THREADS:
            if clock:
                state = fold(state, Delta(tuple(clock)), turn=state.turn, depth=state.depth)
                clock.clear()
            yield from _threads(tracker, report, state, names, complain)
            continue
        found = list(_subjects(tracker, report.subject, state, names, company, place))
        if not found and not says_nothing(report.values):
            said = f" of {report.subject!r}" if report.subject else ""
            complain(f"{tracker.name}: {', '.join(report.values)[:40]!r}{said} does not say whose it is")
        for subject, other in found:
            before = state.count(tracker, subject, other)
            try:
                reading = read_value(tracker, report.values, before.value if before is not None else None)
            except UnreadableValue as problem:
                complain(f"{tracker.name}: {problem}")
                continue
            if reading.value is None and not reading.changes:
                continue
            event: Event = (
                deltas.TrackerSet(tracker.name, reading.value, subject, other)
                if reading.value is not None
                else deltas.TrackerChanged(
                    tracker.name, reading.by, subject, other, added=reading.added, removed=reading.removed
                )
            )
            if tracker.kind is TrackerKind.CLOCK:
                clock.append(event)
            yield event


def _of_each(report: CountReport, state: WorldState, names: Names) -> Iterator[CountReport]:
    """A report for each character whose name stands in the text: ``Mina: +5, Joon: -3``."""
    tracker = state.trackers.find(report.tracker)
    said: dict[str, list[str]] = {}
    if tracker is not None and tracker.whose in (Whose.CHARACTER, Whose.PAIR) and not report.subject:
        who = ""
        for part in (part for text in report.values for part in re.split(r"[,，、;；]\s*", text)):
            stated = _OF.fullmatch(part)
            owner, value = (
                (stated["who"], stated["value"]) if stated is not None else _behind_a_name(part, state, names)
            )
            if owner and all(_is_known(each, names) for each in _WAY.split(owner)):
                who, part = owner, value
            said.setdefault(who, []).append(part)
    yield from (
        (CountReport(report.tracker, tuple(parts), who) for who, parts in said.items()) if any(said) else (report,)
    )


def _behind_a_name(part: str, state: WorldState, names: Names) -> tuple[str, str]:
    """Whose value a part gives that begins with a known name and a blank, and the rest: ``Mina red coat``.

    A name as it is known goes before a shorter one, and that before a longer: "Mina red" might be Mina too.
    """
    words = part.split()
    heads = [" ".join(words[:count]) for count in range(1, min(len(words), _LONGEST_NAME + 1))]
    known = [head for head in heads if _is_known(head, names)]
    owner = known[0] if known else ""
    if len(known) > 1:
        full = {each.name.casefold() for each in state.entities.values()}
        owner = next((head for head in reversed(known) if head.casefold() in full), owner)
    return owner, part[len(owner) :].strip()


def _is_known(name: str, names: Names) -> bool:
    return names.is_player(name) or names.find(Kind.CHARACTER, name) is not None


def _threads(
    tracker: Tracker, report: CountReport, state: WorldState, names: Names, complain: Callable[[str], None]
) -> Iterator[Event]:
    """The events of a report of threads. A shorter or longer name is that of the only open one that it fits, or of the
    only one of those that begins with it."""
    values = [f"{report.subject}: {', '.join(report.values)}"] if report.subject else report.values
    for thread in (_with_debtor(each, names) for each in read_threads(values)):
        event = names.find(Kind.EVENT, thread.name)
        known = state.schedule.get(event) if event is not None else None
        if event is None and thread.move is not Move.OPEN:
            like = [each for each in state.of_kind(Kind.EVENT) if may_be(thread.name, each.name)]
            fits = [each for each in like if each.id in state.schedule and state.schedule[each.id].kind == tracker.name]
            if len(fits) > 1:
                begin = [each for each in fits if fold_name(each.name).startswith(fold_name(thread.name))]
                fits = begin if len(begin) == 1 else fits
            known = state.schedule[fits[0].id] if len(fits) == 1 else None
            if thread.move is Move.CLOSE and (len(fits) > 1 or not like):
                complain(f"{tracker.name}: {thread.name[:40]!r} fits {len(fits) or 'none'} of what is open")
        if thread.move is Move.CLOSE:
            if known is not None:
                yield deltas.EventClosed(known.event, thread.text)
        elif known is not None and not (thread.when or thread.one):
            if thread.text and thread.text != known.text:
                yield deltas.EventAdvanced(known.event, thread.text)
        else:
            known_as = ((who, names.find(Kind.CHARACTER, who) or "") for who in (thread.one, thread.other) if who)
            said = (state.entities[id_].name if id_ in state.entities else who for who, id_ in known_as)
            yield deltas.EventScheduled(
                names.ensure(Kind.EVENT, thread.name),
                thread.name if known is None else known.name,
                thread.text or (known.text if known is not None else ""),
                kind=tracker.name,
                at=state.time_of(when := thread.when.strip("-–"), thread.name),
                when=when,
                between=OWES.join(said),
            )


def _with_debtor(thread: ThreadReport, names: Names) -> ThreadReport:
    """A thread of which a remark only says whose it is: ``+Ask Tansy (Wren)``. A known person is no time."""
    whens = thread.when.split(", ")
    one = next((each for each in whens if _is_known(each, names)), "") if not thread.one else ""
    return evolve(thread, when=", ".join(each for each in whens if each != one), one=one) if one else thread


def _subjects(
    tracker: Tracker, said: str, state: WorldState, names: Names, company: Sequence[str], place: str | None
) -> Iterator[tuple[str, str]]:
    """Whose value a report gives, as a subject and for a pair its target."""
    player = state.player
    if tracker.whose is Whose.WORLD:
        yield "", ""
    elif tracker.whose is Whose.PLACE:
        here = names.ensure(Kind.LOCATION, said) if said else place
        if here:
            yield here, ""
    elif tracker.whose is Whose.PLAYER:
        if not said or names.is_player(said) or names.find(Kind.CHARACTER, said) == player:
            yield player, ""
    elif tracker.whose is Whose.CHARACTER:
        if said:
            yield names.ensure(Kind.CHARACTER, said), ""
        elif len(company) == 1:
            yield company[0], ""
    else:
        both = _BOTH_WAYS.split(said)
        parts = both if len(both) == 2 else _WAY.split(said)
        if len(parts) == 2 and all(parts):
            one, other = (names.ensure(Kind.CHARACTER, part) for part in parts)
        elif len(parts) == 1 and said and not names.is_player(said):
            one, other = names.ensure(Kind.CHARACTER, said), player
        elif not said and len(company) == 1:
            one, other = company[0], player
        else:
            return
        yield one, other
        if parts is both:
            yield other, one
