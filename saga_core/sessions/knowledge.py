"""What one character knows: the turns of a path that it knows of, and the story as it looks from there.

The view of a character is a fold like the state, over what it knows: all that happened at turns it was at or was told
of, in their order, and what concerns itself. So a thing that was moved behind its back is where it last saw it.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Mapping, Sequence

from attrs import define, evolve, field, frozen
from cachetools import LRUCache

from saga_core.language import (
    AFTER_NO_TITLE,
    all_of,
    begins_about,
    is_confided,
    is_guarded,
    is_identity,
    is_one_of_few,
    is_subject,
    learns,
    mentions,
    names_herself,
    sentences_of,
    staying,
    tells_few,
)
from saga_core.model import (
    EVERYBODY,
    MOMENT,
    Audience,
    Delta,
    Entity,
    Event,
    Hearing,
    Kind,
    MemoryRecord,
    TurnKind,
    TurnNode,
    WorldState,
    assumed_from,
    deltas,
    fold,
    hearing,
    without_secrets,
)
from saga_core.naming import is_word_for_player, parts_alone
from saga_core.sessions.live_sessions import LiveSession
from saga_core.trackers import Secrecy, TrackerKind, Trackers

_KEPT = 64
_AT_ONCE = 128
"""Turns that are folded before the event loop gets control again."""


@frozen
class Perspective:
    """A character's knowledge at one turn of a path."""

    who: str
    """The character's id; empty for somebody the story has not met, who knows what everybody knows."""
    state: WorldState
    """The state as the character knows it. Who is here and where they are is taken from the state itself."""
    unseen: frozenset[str]
    """The turns of the path that the character does not know of."""
    whole: WorldState = field(repr=False)
    """The state as it is."""

    def knows(self, record: MemoryRecord) -> bool:
        """Whether the turns of the path that a record was learned from are known."""
        return self.unseen.isdisjoint(record.turns)


@frozen
class _Fold:
    turn: str
    revision: int
    audiences: Mapping[int, Audience]
    assumed: int | None
    state: WorldState
    unseen: frozenset[str]
    unmet: frozenset[str]
    """Entities of turns that the character does not know of, and of no other."""


@define(eq=False)
class Perspectives:
    """Computes perspectives. The last ones are cached, so that the next turn folds one delta."""

    _folds: LRUCache[tuple[str, str], _Fold] = field(factory=lambda: LRUCache(_KEPT))

    async def of(self, live: LiveSession, turn: str, who: str) -> Perspective:
        """Return what the character ``who`` knows at ``turn``. ``NotFound``."""
        state = await live.state(turn)
        who = state.merged.get(who, who)
        ids = ids_of(state, who)
        assumed = assumed_from(state.met, state.audiences, ids)
        path = live.tree.followed(turn)
        revision = live.revision
        known = self._folds.get((live.session.id, who))
        if (
            known is not None
            and known.revision == revision
            and (known.audiences, known.assumed) == (state.audiences, assumed)
            and known.turn in live.tree
            and live.tree.is_ancestor(known.turn, turn)
        ):
            view, unseen, unmet = known.state, set(known.unseen), set(known.unmet)
            rest = path[live.tree.get(known.turn).depth + 1 :]
        else:
            view, unseen, unmet, rest = await live.state(path[0]), set[str](), set[str](), path[1:]
        before = await live.state(path[-len(rest) - 1])
        for start in range(0, len(rest), _AT_ONCE):
            part = rest[start : start + _AT_ONCE]
            for at, delta in zip(part, await live.deltas(part), strict=True):
                node = live.tree.get(at)
                seen = who == state.player or hearing(node, state.audiences, ids, assumed) is not None
                if not seen and node.kind is not TurnKind.SIDE:
                    unseen.add(at)
                elif node.parent in unseen:
                    view = _come_upon(view, before)
                known_of = _Known(seen, ids, unseen, path, state.trackers, view)
                events = tuple(each for event in delta.events if (each := known_of(event)))
                for event in events:
                    if seen or not isinstance(event, (deltas.Introduced, *_ALWAYS)):
                        unmet.difference_update(deltas.ids_in(event))
                    elif isinstance(event, deltas.Introduced) and event.id not in view.entities:
                        unmet.add(event.id)
                view = fold(view, Delta(events), turn=at, depth=node.depth)
                before = fold(before, delta, turn=at, depth=node.depth)
                view = _in_one_hand(view, before, events)
            if start + _AT_ONCE < len(rest):
                await asyncio.sleep(0)
        if live.revision == revision:
            fold_ = _Fold(turn, revision, state.audiences, assumed, view, frozenset(unseen), frozenset(unmet))
            self._folds[live.session.id, who] = fold_
        away = turn in unseen and ids.isdisjoint(state.present)
        return Perspective(who, _here(view, state, unmet - ids, ids if away else frozenset()), frozenset(unseen), state)


def ids_of(state: WorldState, who: str) -> frozenset[str]:
    """Return an entity's id and the ids of those that were merged into it."""
    return frozenset((who, *(gone for gone, into in state.merged.items() if into == who))) - {""}


_ALWAYS = (
    deltas.TrackersDeclared,
    deltas.TrackerRemoved,
    deltas.ProfileChosen,
    deltas.ModuleUsed,
    deltas.AudienceSet,
    deltas.Played,
    deltas.Forgotten,
    deltas.Merged,
    deltas.WorldSeen,
)
"""What the others mean depends on it, or everybody in the world can see it."""
_HANDLED = (deltas.ItemGained, deltas.ItemLost, deltas.ItemTransferred)
_CURATED = (
    deltas.Found,
    deltas.Settled,
    deltas.LoreLearned,
    deltas.BlockWritten,
)
"""What a curator writes about several turns."""


def _come_upon(view: WorldState, before: WorldState) -> WorldState:
    """Return a view where the character comes upon the others, whom the turns missed may have led elsewhere: with the
    company and its place as they were ``before`` the turn."""
    there = {each: before.whereabouts[each] for each in (before.player, *before.present) if each in before.whereabouts}
    return evolve(view, present=before.present, whereabouts={**view.whereabouts, **there})


def _in_one_hand(view: WorldState, state: WorldState, events: Collection[Event]) -> WorldState:
    """Return a view where a single thing that the events of a turn name is in no hand that it had left by then.

    ``state`` is the story's after the turn. The thing may have passed through hands of which the character knows
    nothing.
    """
    things = {event.item for event in events if isinstance(event, _HANDLED)}
    single = {
        each for each in things if sum(own[each].quantity for own in state.belongings.values() if each in own) < 2
    }
    stale = {
        who: single.intersection(own).difference(state.belongings.get(who, ())) for who, own in view.belongings.items()
    }
    if not any(stale.values()):
        return view
    hands = {
        who: {item: stack for item, stack in own.items() if item not in stale[who] or stack.quantity > 1}
        for who, own in view.belongings.items()
    }
    return evolve(view, belongings=hands)


@frozen
class _Known:
    """What a character learns of the events of one turn."""

    seen: bool
    """Whether the character was there or was told of it."""
    ids: frozenset[str]
    unseen: Collection[str]
    path: Sequence[str]
    trackers: Trackers
    view: WorldState
    """What the character knew before."""

    def __call__(self, event: Event) -> Event | None:
        """Return the event itself, less, or nothing."""
        match event:
            case deltas.StoryTold(first=first, last=last):
                return event if not any(turn in self.unseen for turn in self.path[max(0, first) : last + 1]) else None
            case deltas.Remembered(record=record):
                return event if not any(turn in self.unseen for turn in record.turns) else None
            case deltas.EventScheduled(who=who, kind=kind):
                # Without a kind it is a plan of the narrator's.
                return event if who in self.ids or (self.seen and self._may_know(kind)) else None
        if isinstance(event, _CURATED):
            return None
        if self.seen or isinstance(event, _ALWAYS) or self._is_public(event):
            return event
        if isinstance(event, deltas.Introduced):
            # Later events name the entity. That it exists is told nowhere unless something else is known of it.
            return evolve(event, aliases=(), attributes={})
        return event if _is_own(event, self.ids) else None

    def _may_know(self, kind: str) -> bool:
        tracker = self.trackers.find(kind) if kind else None
        return tracker is not None and tracker.secret is not Secrecy.CHARACTERS

    def _is_public(self, event: Event) -> bool:
        """Whether it is no secret: the hour, and the name that a player without one speaks under from now on."""
        match event:
            case deltas.TrackerSet(tracker=name) | deltas.TrackerChanged(tracker=name):
                tracker = self.trackers.find(name)
                return tracker is not None and tracker.kind is TrackerKind.CLOCK
            case deltas.Renamed(id=id_):
                return id_ == self.view.player and is_word_for_player(self.view.name(id_))
        return False


def _is_own(event: Event, ids: frozenset[str]) -> bool:
    """Whether an event happens to the character itself, wherever it is: it moves, is hurt, feels, gets or gives."""
    match event:
        case (
            deltas.HpChanged(who=who)
            | deltas.HpSet(who=who)
            | deltas.MoodChanged(who=who)
            | deltas.StatusChanged(who=who)
            | deltas.AttributeSet(who=who)
            | deltas.Moved(who=who)
            | deltas.ItemGained(owner=who)
            | deltas.ItemLost(owner=who)
            | deltas.ItemCounted(owner=who)
            | deltas.RelationChanged(source=who)
            | deltas.RelationEnded(source=who)
        ):
            return who in ids
        case deltas.ItemTransferred(giver=giver, receiver=receiver):
            return giver in ids or receiver in ids
        case deltas.EventTriggered(who=who):
            return who is not None and not ids.isdisjoint(who)
        case deltas.TrackerSet(subject=subject) | deltas.TrackerChanged(subject=subject):
            return subject in ids
    return False


def _here(view: WorldState, state: WorldState, unmet: Collection[str], away: Collection[str]) -> WorldState:
    """Return a view with what everybody here sees: who is here, and where the player and the company are.

    Whoever is ``away``, given by the ids, sees nobody. Where the player and those with the player were last is no place
    of now, and neither is her own: she may be on her way to them.
    """
    present = () if away else state.present
    company = [] if away else [each for each in (state.player, *present) if each in state.whereabouts]
    whereabouts = {**view.whereabouts, **{each: state.whereabouts[each] for each in company}}
    for who, where in view.whereabouts.items():
        # Whoever is no longer here is where the story has them, if they were last seen here.
        gone = who not in company and where.place == state.location and state.whereabouts.get(who) != where
        if (who in away or where.place == view.location) if away else gone:
            del whereabouts[who]
    seen = {state.player, *present}
    here = {*seen, *(where.place for where in whereabouts.values())}
    return evolve(
        view,
        entities={
            id_: _as_seen(each, state.entities.get(id_)) if not away and id_ in seen else each
            for id_, each in view.entities.items()
            if id_ not in unmet or id_ in here
        },
        turn=state.turn,
        depth=state.depth,
        player=state.player,
        present=present,
        whereabouts=whereabouts,
        trackers=state.trackers,
        happenings=without_secrets(view.happenings, state.trackers),
        problems=(),
        findings=(),
        blocks={},
    )


_VISIBLE = ("hp", "max_hp", "status", MOMENT)


def _as_seen(known: Entity, now: Entity | None) -> Entity:
    """Somebody who is here, as everybody here sees: with the hit points and the condition of now."""
    if now is None or now is known:
        return known
    hidden = {name: value for name, value in known.attributes.items() if name not in _VISIBLE}
    shown = {name: now.attributes[name] for name in _VISIBLE if name in now.attributes}
    return evolve(known, attributes={**hidden, **shown})


# -- who knows what --------------------------------------------------------------------------------------------


@frozen
class Unknown:
    """Something that matters now and that somebody here does not know."""

    who: str
    """The id of the character who does not know it."""
    depth: int
    text: str
    """The remark or the name of the event."""


def heard(state: WorldState, node: TurnNode, who: str) -> Hearing | None:
    """Return since when a character knows what happened at a turn of the path to ``state``, or None."""
    if who == state.player:
        return Hearing(node.depth)
    ids = ids_of(state, who)
    return hearing(node, state.audiences, ids, assumed_from(state.met, state.audiences, ids))


def heard_of(state: WorldState, node: TurnNode, who: str, text: str) -> Hearing | None:
    """As ``heard``, of one remark of the turn, which may say that only certain people know it."""
    if who != state.player and is_confided(text) and is_guarded(text):
        few = _few_who_know(text, _people(state))
        told = state.audiences.get(node.depth, Audience())
        if few and who not in few and not _is_told(told, ids_of(state, who)):
            return None
    return heard(state, node, who)


def hears(live: LiveSession, state: WorldState, who: str, depth: int) -> bool:
    """Whether a character knows what happened at the turn ``depth`` of the path to ``state``."""
    return heard(state, live.tree.ancestor_at(state.turn, depth), who) is not None


def knowers(live: LiveSession, state: WorldState, depth: int) -> dict[str, Hearing | None]:
    """Return for each known character and the player since when it knows what happened at the turn ``depth`` of the
    path, None if it does not. ``NotFound``."""
    node = live.tree.ancestor_at(state.turn, depth)
    people = dict.fromkeys((state.player, *state.met, *state.present))
    found: dict[str, Hearing | None] = {}
    for who in people:
        if who in state.entities and who not in state.merged:
            found[who] = heard(state, node, who)
    return found


_SENTENCE_END = re.compile(rf"[.!?。！？\n]+{AFTER_NO_TITLE}\s*")
_MOST_HERE = 100
"""The most people present of whom is asked what they do not know: those who came last. A line names a few of them."""


def unknown_here(live: LiveSession, state: WorldState, subjects: Sequence[tuple[int, str]]) -> list[Unknown]:
    """Return which of the ``subjects``, given by depth and text, somebody present does not know.

    A remark is judged by its statements, each of which begins with somebody. One that begins with her name, or with a
    part of it that names nobody else, and not with what is hers, tells what she did, which she knows. So does whoever
    it names too and has come here with the one who did it, who was away: Tobin went to fetch Mina. A secret about her
    she may not know, nor whose she is. A remark that says that she was told, or has learned of it, tells what she
    knows. That somebody who is here stays at this place, everybody here sees. What only certain people know, as a
    secret says, the others do not know although they were there.
    """
    found: list[Unknown] = []
    last = state.present[-_MOST_HERE:]
    here = {who: each for who in last if (each := state.entities.get(who)) is not None and not each.dead}
    names = {who: each.names for who, each in here.items()}
    place = state.entities.get(state.location or "")
    places = place.names if place is not None else ()
    people: dict[str, tuple[str, ...]] = {}
    ids = {who: ids_of(state, who) for who in names}
    met = frozenset(state.met)
    assumed = {who: assumed_from(met, state.audiences, ids[who]) for who in names}
    for depth, text in subjects:
        if not 0 < depth <= state.depth:
            continue
        node = live.tree.ancestor_at(state.turn, depth)
        ignorant = [who for who in names if hearing(node, state.audiences, ids[who], assumed[who]) is None]
        confided = is_confided(text)
        guarded = confided and is_guarded(text)
        if not (ignorant or guarded):
            continue
        statements = [text]
        if guarded or any(called[:2] in text for who in ignorant for called in names[who]):
            # Most texts name nobody who does not know them, and the parts of names take the whole cast to tell.
            if not people:
                people = _people(state)
                names = {who: people[who] for who in names}
            statements = _statements(text, people.values())
        told = state.audiences.get(depth, Audience())
        for statement in statements:
            did = {who for who in names if _is_subject(statement, names[who], confided)}
            if any(staying(tuple(names[who]), place).match(statement) for who in did for place in places):
                continue  # everybody here sees it
            came = set() if confided else {_came(live, state, ids[who], depth) for who in did} - {depth}
            few = _few_who_know(statement, people) if guarded else frozenset[str]()
            unaware = [who for who in names if who not in few and not _is_told(told, ids[who])] if few else ignorant
            if few and is_identity(statement):  # which is no secret from herself
                unaware = [who for who in unaware if who in ignorant or not statement.startswith(names[who])]
            for who in unaware:
                if not (
                    who in did
                    or _learns(text, names[who])
                    or (came and _came(live, state, ids[who], depth) in came and names_herself(statement, names[who]))
                ):
                    found.append(Unknown(who, depth, statement))
    return found


def _people(state: WorldState) -> dict[str, tuple[str, ...]]:
    """The names of all characters by id, and the parts of them that name nobody else."""
    parts = parts_alone(state.entities.values())
    people = {each.id: (*each.names, *parts.get(each.id, ())) for each in state.of_kind(Kind.CHARACTER)}
    if state.player in people:
        words = (each for each in all_of(lambda each: each.names.player) if len(each) > 1)
        people[state.player] += tuple(sorted(words))
    return people


def _few_who_know(text: str, people: Mapping[str, Sequence[str]]) -> frozenset[str]:
    """The ids of those who alone know what a remark tells, as it says, and who tells it them; empty if it does not."""
    few = [who for who, names in people.items() if is_one_of_few(text, names)]
    return frozenset((*few, *(who for who, names in people.items() if tells_few(text, names)))) if few else frozenset()


def _is_told(audience: Audience, ids: frozenset[str]) -> bool:
    """Whether it was set that somebody knows of a turn."""
    return audience.base == EVERYBODY or not ids.isdisjoint((*audience.told, *audience.only))


def _statements(text: str, people: Collection[Sequence[str]]) -> list[str]:
    """The sentences of a remark. One that begins with none of the ``people``, or says who knows it or does not, belongs
    to the one before it."""
    starts = (end.end() for end in _SENTENCE_END.finditer(text))
    cuts = [at for at in starts if any(_begins(text[at:], names) for names in people)]
    return [text[at:to].rstrip() for at, to in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def _begins(text: str, names: Sequence[str]) -> bool:
    return _begins_about(text, names) and not is_guarded(sentences_of(text)[0])


def _begins_about(text: str, names: Sequence[str]) -> bool:
    return any(begins_about(text, each) and mentions(text, each) for each in names)


def _is_subject(text: str, names: Sequence[str], confided: bool) -> bool:
    return any(each in text and mentions(text, each) and is_subject(text, each, confided) for each in names)


def _learns(text: str, names: Sequence[str]) -> bool:
    return any(each in text for each in names) and learns(text, names)


def _came(live: LiveSession, state: WorldState, ids: frozenset[str], after: int) -> int:
    """Return the depth of the turn since which somebody is here without a break, at least that ``after`` which."""
    node = live.tree.get(state.turn)
    while node.depth > after and node.parent is not None and (node.company is None or not ids.isdisjoint(node.company)):
        node = live.tree.get(node.parent)
    return node.depth
