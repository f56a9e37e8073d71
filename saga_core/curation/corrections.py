"""Corrections: turns a user's corrections of a state into events. Invalid ones are rejected with a remedy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from attrs import evolve, frozen

from saga_core.curation.validation import FARTHEST, VERDICTS
from saga_core.errors import BadInput
from saga_core.extraction import conditions, count_events, joined
from saga_core.ids import entity_id
from saga_core.language import clean_name, detect, fold_name, nfc
from saga_core.model import (
    ALSO,
    CANCELLED,
    CHAPTER,
    EVERYBODY,
    HABITS,
    HAPPENED,
    MAX_STORY,
    MAX_STORY_CHARS,
    ONE_PERSON,
    ONLY,
    PRESENT,
    TWO,
    Delta,
    Entity,
    Event,
    Kind,
    WorldState,
    deltas,
    fold,
)
from saga_core.naming import Names, made_one
from saga_core.state_block import CountReport
from saga_core.strategies import Skipped, consolidate
from saga_core.trackers import (
    HEALTH,
    NO_TRACKERS,
    Tracker,
    TrackerKind,
    UnreadableValue,
    Whose,
    checked_profile,
    read_value,
    start_value,
    tracker_in_line,
    trackers_of,
)
from saga_core.world import DEFAULT_HP

_QUANTITY_DIGITS = 12


@frozen
class _Form:
    """A kind of correction with its required and optional fields."""

    needs: tuple[str, ...]
    takes: tuple[str, ...]
    make: Callable[[_Desk], tuple[Event, ...]]


@frozen
class _Desk:
    state: WorldState
    fields: Mapping[str, str]
    now: float

    def text(self, name: str) -> str:
        return clean_name(self.fields.get(name, ""))

    def number(self, name: str, default: int | None = None, *, digits: int = 9) -> int | None:
        raw = self.text(name)
        if not raw:
            return default
        plain = raw.removeprefix("-").removeprefix("+")
        if not plain.isascii() or not plain.isdigit() or len(plain) > digits:
            raise BadInput(f"{name}: {raw!r} is no whole number")
        return int(raw)

    def entity(self, name: str, *kinds: Kind) -> Entity:
        """Return the entity in a field, given by id or name. Raises ``BadInput`` if there is none or several."""
        wanted = self.text(name)
        fitting = [each for each in Names(self.state).called(wanted) if not kinds or each.kind in kinds]
        if not fitting:
            what = " or ".join(kind.value for kind in kinds) or "entity"
            raise BadInput(f"{name}: the story knows no {what} {wanted!r}; GET …/entities lists them")
        if len(fitting) > 1:
            ids = ", ".join(f"{each.id} ({each.kind.value} {each.name})" for each in fitting)
            raise BadInput(f"{name}: {wanted!r} may be {ids}; give the id")
        return fitting[0]

    def who(self, name: str = "who") -> Entity:
        """Return the character in a field, by default the player."""
        if not self.text(name):
            return self.state.entities[self.state.player]
        return self.entity(name, Kind.CHARACTER)

    def ensured(self, name: str, kind: Kind) -> tuple[str, tuple[Event, ...]]:
        """Return the id of the entity in a field, and the events that introduce it if it is unknown."""
        wanted = self.text(name)
        if wanted in self.state.entities:
            return self.entity(name, kind).id, ()
        names = Names(self.state)
        found = names.ensure(kind, wanted)
        return found, tuple(names.introduced)


def correct(state: WorldState, kind: str, fields: Mapping[str, str], now: float = 0.0) -> tuple[Event, ...]:
    """Return the events of a correction made at the time ``now``. Raises ``BadInput`` that names the invalid field."""
    form = _FORMS.get(kind)
    if form is None:
        raise BadInput(f"kind: {kind!r} is no correction; give one of {', '.join(_FORMS)}")
    for name in form.needs:
        if not clean_name(fields.get(name, "")):
            raise BadInput(f"{name}: missing; a correction of the kind {kind!r} needs {', '.join(form.needs)}")
    for name, value in fields.items():
        if name not in (*form.needs, *form.takes):
            allowed = ", ".join((*form.needs, *form.takes))
            raise BadInput(f"{name}: unknown field; a correction of the kind {kind!r} takes {allowed}")
        if len(value) > 2_000:
            raise BadInput(f"{name}: {len(value)} characters are too many (at most 2000)")
    events = form.make(_Desk(state, fields, now))
    before = len(state.problems)
    after = fold(state, Delta(events), turn=state.turn, depth=state.depth).problems
    if after[-1:] != state.problems[-1:] or len(after) != before:
        raise BadInput(f"{kind}: {after[-1].text}")
    return events


def _status(desk: _Desk) -> tuple[Event, ...]:
    """``alive``, ``dead`` or other words; ``+`` adds a condition to those there are, and ``-`` ends one of them."""
    who, said = desk.who(), desk.text("status")
    sign, part = said[0], said[1:].strip()
    if sign not in "+-" or not part:
        return (deltas.StatusChanged(who.id, said),)
    have = conditions(str(who.get("status") or ""))
    if sign == "+":
        return (deltas.StatusChanged(who.id, joined((*have, part))),)
    if part not in have:
        raise BadInput(f"status: {who.name!r} has no condition {part!r}, but {', '.join(have) or 'none'}")
    return (deltas.StatusChanged(who.id, joined(each for each in have if each != part)),)


def _merge(desk: _Desk) -> tuple[Event, ...]:
    into = desk.entity("into")
    one = desk.entity("one", into.kind)
    if one.id == into.id:
        raise BadInput(f"one: {one.name!r} and {into.name!r} are one already")
    return (*made_one(desk.state, one.id, into.id), *_held_once(desk.state, one.id, into.id))


def _held_once(state: WorldState, one: str, into: str) -> Iterator[Event]:
    """Take one of two things that are one from whom has it under the older name. Several of a kind stay."""
    hands = [(owner, item) for owner, own in state.belongings.items() for item in (one, into) if item in own]
    single = all(state.belongings[owner][item].quantity == 1 for owner, item in hands)
    if single and sorted(item for _, item in hands) == sorted((one, into)):
        older = next(each for each in state.entities if each in (one, into))
        yield from (deltas.ItemLost(owner, into, 1) for owner, item in hands if item == older)


def _split(desk: _Desk) -> tuple[Event, ...]:
    whole = desk.entity("of")
    wanted = fold_name(desk.text("name"))
    name = next((alias for alias in whole.aliases if fold_name(alias) == wanted), None)
    if name is None:
        known = ", ".join(whole.aliases) or "none"
        raise BadInput(f"name: {whole.name!r} has no other name {desk.text('name')!r}; it has: {known}")
    bearers = [each.id for each in desk.state.of_kind(whole.kind) if each.id != whole.id and name in each.names]
    if len(bearers) == 1:
        return (deltas.Split(whole.id, name, bearers[0]),)
    ordinal = 0
    while (fresh := entity_id(whole.kind.value, name, ordinal)) in desk.state.entities:
        ordinal += 1
    return (deltas.Split(whole.id, name, fresh),)


def _move(desk: _Desk) -> tuple[Event, ...]:
    place, introduced = desk.ensured("place", Kind.LOCATION)
    return (*introduced, deltas.Moved(desk.who().id, place))


def _hp(desk: _Desk) -> tuple[Event, ...]:
    who, hp = desk.who(), desk.number("hp")
    top = desk.number("max_hp")
    events: list[Event] = []
    if top is not None:
        if top < 1:
            raise BadInput(f"max_hp: {top} is below 1")
        events.append(deltas.AttributeSet(who.id, "max_hp", top))
    limit = top if top is not None else who.get("max_hp")
    if hp is None or hp < 0 or (isinstance(limit, int) and hp > limit):
        raise BadInput(f"hp: {desk.text('hp')!r} is not between 0 and {limit}")
    return (*events, deltas.AttributeSet(who.id, "hp", hp))


def _give(desk: _Desk) -> tuple[Event, ...]:
    item, introduced = desk.ensured("item", Kind.ITEM)
    who, quantity = desk.who().id, desk.number("quantity", 1, digits=_QUANTITY_DIGITS) or 0
    if desk.text("from"):
        return (*introduced, deltas.ItemTransferred(desk.who("from").id, who, item, quantity))
    return (*introduced, deltas.ItemGained(who, item, quantity))


def _met(desk: _Desk) -> tuple[Event, ...]:
    who, introduced = desk.ensured("who", Kind.CHARACTER)
    return (*introduced, deltas.Met(who))


def _take(desk: _Desk) -> tuple[Event, ...]:
    item = desk.entity("item", Kind.ITEM)
    return (deltas.ItemLost(desk.who().id, item.id, desk.number("quantity", 1, digits=_QUANTITY_DIGITS) or 0),)


def _relation(desk: _Desk) -> tuple[Event, ...]:
    one, other = desk.who("from"), desk.who("to")
    old, kind = desk.state.relations.get((one.id, other.id)), desk.text("type")
    was, strength = old.part(kind) if old else None, desk.number("strength")
    amount = 0 if strength is None else strength - (was.strength if was else 0)
    return (deltas.RelationChanged(one.id, other.id, kind, amount),)


def _unrelate(desk: _Desk) -> tuple[Event, ...]:
    one, other, kind = desk.who("from"), desk.who("to"), desk.text("type")
    parts = () if (old := desk.state.relations.get((one.id, other.id))) is None else old.parts
    ended = [each.type for each in parts if not kind or each.type == kind]
    if not ended:
        known = ", ".join(each.type for each in parts) or "none"
        sought = f"type: {kind!r}" if kind else f"to: {other.name!r}"
        raise BadInput(f"{sought}: is no relation of {one.name!r} to {other.name!r}; known: {known}")
    return tuple(deltas.RelationEnded(one.id, other.id, each) for each in ended)


_OWN = {"hp": "a correction of the kind hp", "max_hp": "a correction of the kind hp"}
_OWN |= dict.fromkeys(
    ("is_player", "claims", *HABITS, "status_since"),
    "another attribute: SAGA counts with this one itself",
)
"""Attributes that are not text, and the correction to use instead."""
_SHOWN = dict.fromkeys(("name", "aliases", "persona"), "a correction of the kind rename")
_SHOWN |= dict.fromkeys(("location", "place"), "a correction of the kind move")
_SHOWN |= dict.fromkeys(("id", "kind", "type", "label", "labels", "player", "present"), "an attribute of another name")
"""Names under which SAGA shows something else, and the correction to use instead. An attribute of such a name can only
be removed."""


_LONGEST_NAME = 100
"""The maximum number of characters of an attribute's name. Graph stores take at most 256."""


def _attribute(desk: _Desk) -> tuple[Event, ...]:
    name = desk.text("attribute")
    if name in _OWN:
        raise BadInput(f"attribute: {name!r} is no text; give {_OWN[name]}")
    if desk.text("value") and (instead := _SHOWN.get(fold_name(name))):
        raise BadInput(f"attribute: {name!r} is a property of SAGA's; give {instead}")
    if len(name) > _LONGEST_NAME:
        raise BadInput(f"attribute: a name of {len(name)} characters is too long; give at most {_LONGEST_NAME}")
    return (deltas.AttributeSet(desk.entity("who").id, name, desk.text("value") or None),)


def _unnote(desk: _Desk) -> tuple[Event, ...]:
    wanted, text = desk.text("remark"), desk.text("text")
    found = [(depth, said) for depth, said in desk.state.remarks if clean_name(said) == wanted]
    if not found:
        raise BadInput(f"remark: the latest {len(desk.state.remarks)} have no {wanted!r}; GET …/lines lists them")
    return (deltas.Unnoted(*found[-1]), *((deltas.Noted(nfc(text)),) if text else ()))


def _event(desk: _Desk) -> tuple[Event, ...]:
    due, expires, depth = desk.number("due"), desk.number("expires"), desk.state.depth
    for name, number in (("due", due), ("expires", expires)):
        if number is not None and not depth < number <= depth + FARTHEST:
            raise BadInput(f"{name}: {number} is no turn to come; give one from {depth + 1} to {depth + FARTHEST}")
    if due is not None and expires is not None and expires < due:
        raise BadInput(f"expires: {expires} comes before due, {due}; give {due} or a later turn")
    place = desk.entity("place", Kind.LOCATION).id if desk.text("place") else ""
    who = desk.entity("who", Kind.CHARACTER).id if desk.text("who") else ""
    event, introduced = desk.ensured("name", Kind.EVENT)
    scheduled = deltas.EventScheduled(event, desk.text("name"), desk.text("text"), due, expires, place, who)
    old = desk.state.schedule.get(event)
    if old is not None:
        scheduled = evolve(scheduled, kind=old.kind, at=old.at, when=old.when, between=old.between)
    when = desk.text("when")
    return (*introduced, _at(desk, scheduled, when) if when else scheduled)


def _at(desk: _Desk, event: deltas.EventScheduled, when: str) -> deltas.EventScheduled:
    """The event at a time of the story's clock. A thread may have any words for it, and another event only a time."""
    if when in ("-", "–"):
        return evolve(event, at=None, when="")
    at, now = desk.state.time_of(when, event.name), desk.state.minutes
    if not event.kind and at is None:
        clock = "the story has no clock" if desk.state.clock is None else "it is no time of the story's clock"
        raise BadInput(f"when: {when!r} cannot be waited for, because {clock}; give a turn in due")
    if not event.kind and now is not None and at is not None and at <= now:
        raise BadInput(f"when: {when!r} is past by the story's clock; give a time to come")
    return evolve(event, at=at, when=when)


def _close(desk: _Desk) -> tuple[Event, ...]:
    outcome = desk.text("outcome")
    if outcome not in ("", HAPPENED, CANCELLED):
        raise BadInput(f"outcome: {outcome!r} is not allowed; give {HAPPENED} or {CANCELLED}")
    return (deltas.EventClosed(desk.entity("event", Kind.EVENT).id, outcome=outcome),)


def _settle(desk: _Desk) -> tuple[Event, ...]:
    verdict = desk.text("verdict")
    allowed = (TWO,) if desk.text("finding").startswith(ONE_PERSON) else VERDICTS
    if verdict not in allowed:
        raise BadInput(f"verdict: {verdict!r} is not allowed; give one of {', '.join(allowed)}")
    settled = deltas.Settled(desk.text("finding"), verdict, desk.text("note"))
    return (settled, *(_given_back(desk.state, settled.key) if allowed == (TWO,) else ()))


def _given_back(state: WorldState, finding: str) -> Iterator[Event]:
    """What two who are two people lose: as another name, each the name of the other."""
    two = [each for who in finding.split(":")[1:] if (each := state.entities.get(who)) is not None]
    for whole, bearer in (two, two[::-1]) if len(two) > 1 else ():
        if bearer.name in whole.aliases:
            yield deltas.Split(whole.id, bearer.name, bearer.id)


def _remember(desk: _Desk) -> tuple[Event, ...]:
    text, wanted = desk.text("text"), desk.text("record")
    old = desk.state.memories.get(wanted)
    if wanted and old is None:
        raise BadInput(f"record: there is no memory {wanted!r}; GET …/memories lists them")
    if old is not None:
        data = {"do": "update", "record": old.id, "kind": old.kind, "namespace": old.namespace}
        data |= {f"detail.{name}": value for name, value in old.details.items()}
        data |= {"strategy": old.strategy, "sources": " ".join(old.sources)}
        data |= {"expires": repr(old.expires)} if old.expires is not None else {}
    else:
        data = {"do": "add", "kind": "note", "namespace": desk.fields.get("namespace", "")}
    try:
        told = {"at": repr(desk.now), "text": text}
        return (consolidate(desk.state.memories, data | told, (desk.state.turn,), -1),)
    except Skipped as why:
        raise BadInput(f"text: {why}") from None


def _tracker(desk: _Desk) -> tuple[Event, ...]:
    tracker = desk.state.trackers.find(desk.text("tracker"))
    if tracker is None:
        known = ", ".join(each.name for each in desk.state.trackers) or "nothing"
        raise BadInput(
            f"tracker: {desk.text('tracker')!r} is not counted in this story; it counts {known}. "
            "Its profile, or a correction of the kind declare, says what it counts"
        )
    state, subject, other = desk.state, "", ""
    if tracker.kind is TrackerKind.THREADS:
        return _thread(desk, tracker)
    if tracker.whose is Whose.PLACE:
        subject = desk.entity("place", Kind.LOCATION).id if desk.text("place") else state.location or ""
    elif tracker.whose is not Whose.WORLD:
        subject = desk.who().id
    if tracker.whose is Whose.PAIR:
        other = desk.entity("to", Kind.CHARACTER).id if desk.text("to") else state.player
    before = state.count(tracker, subject, other)
    try:
        reading = read_value(tracker, desk.fields.get("value", ""), before.value if before is not None else None)
    except UnreadableValue as problem:
        raise BadInput(f"value: {problem}") from None
    if reading.value is not None:
        return (deltas.TrackerSet(tracker.name, reading.value, subject, other),)
    if not reading.changes:
        raise BadInput(f"value: {desk.text('value')!r} changes nothing; write a value or a change such as +3")
    return (
        deltas.TrackerChanged(tracker.name, reading.by, subject, other, added=reading.added, removed=reading.removed),
    )


def _thread(desk: _Desk, tracker: Tracker) -> tuple[Event, ...]:
    reports, names = (CountReport(tracker.name, (desk.text("value"),)),), Names(desk.state)
    found = tuple(count_events(reports, desk.state, names, (), None, lambda why: None))
    if not found:
        known = ", ".join(each.name for each in desk.state.schedule.values() if each.kind == tracker.name) or "nothing"
        raise BadInput(
            f"value: {desk.text('value')!r} changes nothing of {tracker.name}, where {known} is open; "
            "write +NAME (when), NAME: news, or -NAME"
        )
    return (*names.introduced, *found)


def _declare(desk: _Desk) -> tuple[Event, ...]:
    try:
        tracker = tracker_in_line(desk.fields["declaration"])
    except BadInput as problem:
        raise BadInput(f"declaration: {problem}") from None
    return (deltas.TrackersDeclared((tracker,)), *_observed(desk.state, tracker))


def _observed(state: WorldState, tracker: Tracker) -> Iterator[Event]:
    """What reports said last of something that is counted from now on, unless its declaration says how it starts."""
    subject = {Whose.PLAYER: state.player, Whose.WORLD: ""}.get(tracker.whose)
    if subject is None or start_value(tracker) is not None:
        return
    only = NO_TRACKERS.with_more((tracker,))
    for said in [each.value for key, each in state.observed.items() if only.find(key) is not None]:
        try:
            value = read_value(tracker, said).value
        except UnreadableValue:  # It is to be counted otherwise than it was reported.
            continue
        if value is not None:
            yield deltas.TrackerSet(tracker.name, value, subject)


def _profile(desk: _Desk) -> tuple[Event, ...]:
    profile = checked_profile(desk.text("profile"))
    spoken = " ".join(text for _, text in desk.state.notes) or desk.state.name(desk.state.player)
    language = desk.text("language") or detect(spoken)
    chosen = deltas.ProfileChosen(profile, trackers_of(profile, language))
    who = desk.state.player
    player = desk.state.entities.get(who)
    counts = desk.state.trackers.in_profile(profile, ()).asks(HEALTH)
    if not counts or player is None or player.get("hp") is not None:
        return (chosen,)
    return (chosen, *(deltas.AttributeSet(who, name, DEFAULT_HP) for name in ("max_hp", "hp")))  # as at a beginning


def _people(desk: _Desk, name: str) -> tuple[str, ...]:
    """The ids of the characters in a field, separated by commas. Raises ``BadInput`` for an unknown one."""
    names = [each.strip() for each in desk.text(name).split(",") if each.strip()]
    return tuple(_Desk(desk.state, {name: each}, desk.now).entity(name, Kind.CHARACTER).id for each in names)


def _turn_known(desk: _Desk) -> int:
    depth = desk.number("number")
    last = desk.state.depth
    if depth is None or not 0 < depth <= last:
        raise BadInput(f"number: {desk.text('number')!r} is no turn of this path; give a number from 1 to {last}")
    return depth


def _told(desk: _Desk) -> tuple[Event, ...]:
    by = desk.entity("by", Kind.CHARACTER).id if desk.text("by") else ""
    return (deltas.AudienceSet(_turn_known(desk), ALSO, _people(desk, "who"), by),)


def _audience(desk: _Desk) -> tuple[Event, ...]:
    audience, who = desk.text("audience"), _people(desk, "who")
    if audience not in (ONLY, EVERYBODY, PRESENT):
        raise BadInput(f"audience: {audience!r} is no audience; give {ONLY}, {EVERYBODY} or {PRESENT}")
    if who and audience != ONLY:
        raise BadInput(f"who: only the audience {ONLY!r} names characters")
    return (deltas.AudienceSet(_turn_known(desk), audience, who),)


def _chapter(desk: _Desk) -> tuple[Event, ...]:
    """What a person tells of some turns, in place of the summaries within them."""
    first, last = desk.number("first"), desk.number("last")
    if first is None or last is None or not 0 < first <= last <= desk.state.depth:
        raise BadInput(f"first, last: give turns of this path, from 1 to {desk.state.depth}, the earlier one first")
    text = desk.text("text")
    if len(text) > MAX_STORY_CHARS:
        raise BadInput(f"text: {len(text)} characters are too many for a chapter (at most {MAX_STORY_CHARS})")
    for part in desk.state.story:
        if part.overlaps(first, last) and not (first <= part.first and part.last <= last):
            raise BadInput(f"first, last: the turns {part.first} to {part.last} are told as one; include all of them")
    own = sum(part.by_hand for part in desk.state.story if not part.overlaps(first, last))
    if own >= MAX_STORY:
        raise BadInput(f"text: {own} chapters by hand are too many (at most {MAX_STORY}); write two of them as one")
    return (deltas.StoryTold(CHAPTER, first, last, text, by_hand=True),)


_FORMS: dict[str, _Form] = {
    "merge": _Form(("one", "into"), (), _merge),
    "split": _Form(("of", "name"), (), _split),
    "rename": _Form(("who", "name"), (), lambda desk: (deltas.Renamed(desk.entity("who").id, desk.text("name")),)),
    "forget": _Form(("who",), (), lambda desk: (deltas.Forgotten(desk.entity("who").id),)),
    "move": _Form(("place",), ("who",), _move),
    "status": _Form(("status",), ("who",), _status),
    "hp": _Form(("hp",), ("who", "max_hp"), _hp),
    "mood": _Form(("mood",), ("who",), lambda desk: (deltas.MoodChanged(desk.who().id, desk.text("mood")),)),
    "give": _Form(("item",), ("who", "quantity", "from"), _give),
    "take": _Form(("item",), ("who", "quantity"), _take),
    "met": _Form(("who",), (), _met),
    "parted": _Form(("who",), (), lambda desk: (deltas.Separated(desk.who().id),)),
    "relation": _Form(("from", "to", "type"), ("strength",), _relation),
    "unrelate": _Form(("from", "to"), ("type",), _unrelate),
    "attribute": _Form(("who", "attribute"), ("value",), _attribute),
    "note": _Form(("text",), (), lambda desk: (deltas.Noted(nfc(desk.text("text"))),)),
    "unnote": _Form(("remark",), ("text",), _unnote),
    "event": _Form(("name",), ("text", "due", "expires", "when", "place", "who"), _event),
    "close": _Form(("event",), ("outcome",), _close),
    "lore": _Form(("entry",), ("text",), lambda desk: (deltas.LoreLearned(desk.text("entry"), desk.text("text")),)),
    "remember": _Form(("text",), ("record", "namespace"), _remember),
    "unremember": _Form(("record",), (), lambda desk: (deltas.Unremembered(desk.text("record")),)),
    "tracker": _Form(("tracker", "value"), ("who", "to", "place"), _tracker),
    "declare": _Form(("declaration",), (), _declare),
    "profile": _Form(("profile",), ("language",), _profile),
    "undeclare": _Form(("tracker",), (), lambda desk: (deltas.TrackerRemoved(desk.text("tracker")),)),
    "told": _Form(("who", "number"), ("by",), _told),
    "audience": _Form(("number", "audience"), ("who",), _audience),
    "chapter": _Form(("first", "last", "text"), (), _chapter),
    "settle": _Form(("finding", "verdict"), ("note",), _settle),
}
KINDS = {kind: (form.needs, form.takes) for kind, form in _FORMS.items()}
"""The required and the optional fields of each kind of correction."""
FIELDS = frozenset(name for form in _FORMS.values() for name in (*form.needs, *form.takes))
