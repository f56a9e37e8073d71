"""Facts of a story, turn by turn, weighted by importance, and condensed into scenes and chapters."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from attrs import evolve, frozen

from saga_core.extraction import conditions
from saga_core.language import DEFAULT, Texts, is_lasting, language_of, match_name, match_text
from saga_core.model import (
    ALIVE,
    CHAPTER,
    DEAD,
    SCENE,
    Entity,
    Event,
    Kind,
    StoryPart,
    Turn,
    TurnKind,
    WorldState,
    deltas,
    fold,
    redirected,
)
from saga_core.projection import BOND, DEATH, EVENT, MEETING, THING, clauses, named, people_in, weight
from saga_core.stores import CurationView
from saga_core.values import Proposal

_LEARNED_IN_PLAY = ("status", "status_since", "hp")


@frozen
class ReplayedTurn:
    """One turn of the view."""

    turn: Turn
    before: WorldState
    after: WorldState
    reported: tuple[Event, ...]
    """The turn's changes without those that a person made by hand."""
    alive: frozenset[str] = frozenset()
    """The ids of those who, as a person says, are alive from this turn on."""


def replay(view: CurationView) -> tuple[ReplayedTurn, ...]:
    """Return the view's turns in order, folded from the state before them, without side requests."""
    state = view.before if view.before is not None else _unknown(view.state)
    steps = []
    for turn in view.turns:
        if turn.kind in (TurnKind.ROOT, TurnKind.SIDE):
            continue
        after = fold(state, turn.delta, turn=turn.id, depth=turn.depth)
        by_hand = view.by_hand.get(turn.id, ())
        reported = tuple(event for event in turn.delta.events if event not in by_hand)
        who = (event.who for event in by_hand if isinstance(event, deltas.StatusChanged))
        steps.append(ReplayedTurn(turn, state, after, reported, frozenset(who) & _living(after)))
        state = after
    return tuple(steps)


def _living(state: WorldState) -> frozenset[str]:
    return frozenset(each.id for each in state.of_kind(Kind.CHARACTER) if not each.dead)


def _unknown(state: WorldState) -> WorldState:
    """Return a bare initial state with the known entities and adjacent places, without status and hit points."""
    return WorldState(
        world=state.world,
        player=state.player,
        entities={id_: _bare(entity) for id_, entity in state.entities.items()},
        merged=state.merged,
        links=frozenset(link for link in state.links if link[1] == "ADJACENT"),
    )


def _bare(entity: Entity) -> Entity:
    kept = {name: value for name, value in entity.attributes.items() if name not in _LEARNED_IN_PLAY}
    return evolve(entity, attributes=kept)


_NOTE = 200


@frozen
class Fact:
    """A fact from a turn."""

    depth: int
    text: str
    weight: int
    turn: str = ""
    names: tuple[str, ...] = ()
    """Names of which a text must have at least one to contain the fact."""
    said: str = ""
    """What a clause of the text must say besides."""
    people: int = 0
    """How many characters a remark names."""


def facts_of(steps: Sequence[ReplayedTurn], language: str, *, of: Sequence[ReplayedTurn] | None = None) -> list[Fact]:
    """Return the facts of the turns, in order: deaths, events, meetings, items, notes. ``of`` are the turns whose facts
    are wanted, all by default. What the last of the ``steps`` knows to be untrue is no fact."""
    words = language_of(language).texts
    untrue = frozenset(steps[-1].after.untrue) if steps else frozenset()
    return [fact for step in (steps if of is None else of) for fact in _of_step(step, words, untrue)]


def _of_step(step: ReplayedTurn, words: Texts, untrue: Collection[tuple[int, str]]) -> Iterator[Fact]:
    before, after, depth, turn = step.before, step.after, step.turn.depth, step.turn.id

    def fact(text: str, weight: int, *names: str, said: str = "") -> Fact:
        return Fact(depth, text, weight, turn, names, said)

    for each in step.turn.delta.events:
        event = redirected(each, after.merged)
        ids = (getattr(event, part, None) for part in ("who", "owner", "item", "giver", "receiver"))
        if any(isinstance(id_, str) and id_ not in after.entities for id_ in ids):
            continue  # a reading of the card took it for another
        if isinstance(event, deltas.StatusChanged):
            name = after.name(event.who)
            known = after.entities[event.who].names
            if event.status == DEAD:
                yield fact(words.died(name=name), DEATH, *known)
                continue
            was = _status(before, event.who)
            had, has = conditions(was), conditions(event.status)
            if event.status == ALIVE and had:
                yield fact(words.recovered(name=name, status=(over := ", ".join(had))), BOND, *known, said=over)
            elif new := ", ".join(each for each in has if each not in had) or (event.status if was == DEAD else ""):
                yield fact(words.fared(name=name, status=new), BOND, *known, said=new)
        elif isinstance(event, deltas.EventTriggered) and (depth, event.name) not in untrue:
            yield fact(event.name, EVENT, event.name)
        elif isinstance(event, deltas.Met) and event.who not in before.met and event.who != after.player:
            name = after.name(event.who)
            yield fact(words.met(who=after.name(after.player), name=name), MEETING, name)
        elif isinstance(event, deltas.ItemGained) and event.owner == after.player:
            name = after.name(event.item)
            yield fact(words.gained(who=after.name(after.player), name=name), THING, name)
        elif isinstance(event, deltas.ItemLost) and event.owner == after.player:
            hands, left = (state.belongings.get(event.owner, {}) for state in (before, after))
            if event.item in hands and event.item not in left:
                name = after.name(event.item)
                yield fact(words.lost(who=after.name(after.player), name=name), THING, name)
        elif isinstance(event, deltas.ItemTransferred):
            item, giver, receiver = (after.name(id_) for id_ in (event.item, event.giver, event.receiver))
            yield fact(words.gave(who=giver, receiver=receiver, name=item), THING, item)
        elif isinstance(event, deltas.Noted) and (depth, event.text) not in untrue:
            text = " ".join(event.text.split())[:_NOTE].rstrip(" ;.")
            if text:
                yield _remark(depth, text.replace(";", ","), _worth(text), people_in(after), turn)


def _remark(depth: int, text: str, weight: int, people: Sequence[tuple[str, str]], turn: str = "") -> Fact:
    """A remark. What is between people weighs more than what one of them does alone."""
    count = len(named(text, people))
    return Fact(depth, text, max(weight, MEETING) if count > 1 else weight, turn, people=count)


def _worth(clause: str, happened: frozenset[str] = frozenset()) -> int:
    """The weight of a clause. What is due, and what somebody does not know, weighs as much as a promise."""
    return max(weight(clause, happened), BOND if is_lasting(clause) else 0)


def _status(state: WorldState, who: str) -> str:
    return str(state.entities[who].get("status") or "") if who in state.entities else ""


def facts_in(parts: Sequence[StoryPart], state: WorldState) -> list[Fact]:
    """Return the facts in parts of the story of a state, one for each clause."""
    people, happened = people_in(state), state.event_names
    told = [(part.first, clause) for part in parts for clause in clauses(part.text)]
    return [_remark(depth, clause, _worth(clause, happened), people) for depth, clause in told]


def lost(text: str, facts: Sequence[Fact]) -> list[Fact]:
    """Return the facts of at least the weight of an event that ``text`` lacks.

    It has a death if one of its clauses speaks of a death and names who died, and a condition if it names whose it is,
    and a clause has half of its words. It has a promise, a debt or a secret if it has half of the words, and one of its
    clauses speaks of such a thing and has some of them.
    """
    folded = match_text(text)
    told = [(_worth(clause), match_text(clause)) for clause in clauses(text)]
    return [fact for fact in facts if fact.weight >= EVENT and not _told(folded, told, fact)]


def _told(folded: str, told: Sequence[tuple[int, str]], fact: Fact) -> bool:
    if fact.names:
        names = [match_name(name) for name in fact.names]
        if fact.weight == DEATH:
            return any(worth == DEATH and any(name in clause for name in names) for worth, clause in told)
        said = _stems(fact.said)
        return any(name in folded for name in names) and (
            not said or any(_share(said, clause) >= 0.5 for _, clause in told)
        )
    stems = _stems(fact.text)
    return _share(stems, folded) >= 0.5 and (
        fact.weight <= EVENT or any(worth >= fact.weight and _share(stems, clause) > 0 for worth, clause in told)
    )


def _stems(text: str) -> list[str]:
    return [word[: max(2, len(word) - 1)] for word in re.findall(r"\w{2,}", match_text(text))]


def _share(stems: Sequence[str], folded: str) -> float:
    """The part of ``stems`` that a text has."""
    return sum(stem in folded for stem in stems) / max(1, len(stems))


def condensed(facts: Sequence[Fact], limit: int, language: str = DEFAULT) -> str:
    """Return the facts with the highest weight, in order and each a sentence, in ``limit`` characters.

    Of equal weight, those that name more people come first. What one does alone takes no room of a weightier fact.
    """
    stop = language_of(language).texts.stop
    between = " " if stop == "." else ""
    chosen: list[tuple[int, Fact]] = []
    spent = 0
    seen: set[str] = set()
    left_out = 0
    for at, fact in sorted(enumerate(facts), key=lambda each: (-each[1].weight, -each[1].people, each[0])):
        cost = len(_sentence(fact.text, stop)) + len(between)
        if fact.text in seen or fact.weight < min(left_out, THING):
            continue
        if spent + cost > limit:
            left_out = max(left_out, fact.weight)
        else:
            seen.add(fact.text)
            chosen.append((at, fact))
            spent += cost
    ordered = sorted(chosen, key=lambda each: each[0])
    return between.join(_sentence(fact.text, stop) for _, fact in ordered)


def _sentence(text: str, stop: str) -> str:
    """Return ``text`` with a capital at its beginning and ``stop`` at its end, unless it ends otherwise."""
    plain = text.strip(" ;")
    return f"{plain[:1].upper()}{plain[1:]}" + ("" if plain[-1:] in _ENDS else stop)


_ENDS = frozenset(".!?…。！？")
SCENE_TURNS = 10
"""The most turns of a scene."""
SCENE_LEAST = 4
"""The fewest turns of a scene that another one follows."""
SCENE_CHARS = 320
CHAPTER_SCENES = 5
CHAPTER_CHARS = 560
_PAUSE = 360
"""Minutes of the story's clock in one turn from which on another scene begins."""


def scenes_of(steps: Sequence[ReplayedTurn]) -> list[list[ReplayedTurn]]:
    """Return turns by scenes. One begins where the player goes elsewhere, meets other company, or hours have passed."""
    found: list[list[ReplayedTurn]] = []
    for step in steps:
        if not found or len(found[-1]) == SCENE_TURNS or (len(found[-1]) >= SCENE_LEAST and _begins_scene(step)):
            found.append([])
        found[-1].append(step)
    if len(found) > 1 and len(found[-1]) < SCENE_LEAST and len(found[-2]) + len(found[-1]) <= SCENE_TURNS:
        found[-2:] = [found[-2] + found[-1]]
    return found


def _begins_scene(step: ReplayedTurn) -> bool:
    before, after = step.before, step.after
    if before.location is not None and after.location != before.location:
        return True
    if before.present and after.present and set(before.present).isdisjoint(after.present):
        return True
    was, now = before.minutes, after.minutes
    return was is not None and now is not None and now - was >= _PAUSE


def condense(view: CurationView, compress_after: int) -> tuple[Proposal, ...]:
    """Return the view's scenes that have facts, and chapters of old scenes.

    Five scenes become a chapter after ``compress_after`` turns. Nothing is invented: each clause is a recorded fact.
    """
    steps = replay(view)
    proposals = []
    parts = list(view.state.story)
    for run in scenes_of(steps):
        text = condensed(facts_of(steps, view.language, of=run), SCENE_CHARS, view.language)
        first, last = run[0].turn.depth, run[-1].turn.depth
        covered = any(part.first <= first and last <= part.last for part in parts)
        if text and not covered and not any(part.by_hand and part.overlaps(first, last) for part in parts):
            parts.append(StoryPart(SCENE, first, last, text))
            proposals.append(story_proposal(SCENE, first, last, text, tuple(step.turn.id for step in run)))
    scenes: list[StoryPart] = []
    for part in sorted(parts, key=lambda part: part.first):
        if part.by_hand:  # no chapter goes over what a person wrote
            scenes = []
        elif part.level == SCENE and part.last <= view.state.depth - compress_after:
            scenes.append(part)
        if len(scenes) == CHAPTER_SCENES:
            text = condensed(facts_in(scenes, view.state), CHAPTER_CHARS, view.language)
            proposals.append(story_proposal(CHAPTER, scenes[0].first, scenes[-1].last, text, ()))
            scenes = []
    return tuple(proposals)


def story_proposal(level: str, first: int, last: int, text: str, turns: tuple[str, ...]) -> Proposal:
    """Return the proposal to summarize some turns with ``text``."""
    summary = f"{level} {first}-{last}: {text}"[:200]
    return Proposal(
        "compress", summary, turns, (), {"level": level, "first": str(first), "last": str(last), "text": text}
    )
