"""State changes by corrections and curators: merges, splits, removals, findings, summaries, scheduled events."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from attrs import evolve
from attrs import fields as attributes

from saga_core.model import deltas
from saga_core.model.counting import with_subject
from saga_core.model.entities import (
    Entity,
    Finding,
    Kind,
    MemoryBlock,
    Placement,
    Relation,
    Scheduled,
    Stack,
    StoryPart,
)
from saga_core.model.world_state import (
    MAX_FINDINGS,
    MAX_LORE,
    MAX_SCHEDULED,
    MAX_STORY,
    MAX_STORY_CHARS,
    MAX_UNTRUE,
    WorldState,
)

_IDS = frozenset("id who to owner item giver receiver source target event place gone into subject other by".split())
ONE_PERSON = "one_person"
"""The rule of findings about two characters who may be one person. Their keys have the ids of the two."""
ONE, TWO = "one", "two"
HAPPENED, CANCELLED = "happened", "cancelled"
"""How a scheduled event ended."""
"""The verdicts on such a finding: they are one person, or two."""
OWES = " → "
"""What stands between who owes something and to whom."""
SCENE, CHAPTER = "scene", "chapter"
LEVELS = (SCENE, CHAPTER)
_ELLIPSIS = " … "
_STATUS = ("status", "status_since")


def redirected(event: Any, merged: Mapping[str, str]) -> Any:
    """Return ``event`` with the ids of merged entities replaced by the ids of the entities they were merged into.

    Who knows of a turn is kept by the ids under which they were there.
    """
    found: dict[str, Any] = {}
    for attribute in attributes(type(event)):
        value = getattr(event, attribute.name)
        if attribute.name in _IDS and isinstance(value, str) and value in merged:
            found[attribute.name] = merged[value]
        elif attribute.name == "who" and isinstance(value, tuple) and type(event) is not deltas.AudienceSet:
            found["who"] = tuple(dict.fromkeys(merged.get(each, each) for each in value))
    return evolve(event, **found) if found else event


def merge(state: WorldState, event: deltas.Merged) -> WorldState | str:
    """Return the state with ``gone`` merged into ``into``, or the reason as text if that is impossible."""
    gone, into = state.entities.get(event.gone), state.entities.get(event.into)
    if gone is None or into is None:
        return f"unknown id {(event.gone if gone is None else event.into)!r}"
    if gone.id == into.id or gone.kind is not into.kind:
        return f"{gone.name!r} and {into.name!r} cannot be one"
    if gone.id == state.player:
        return f"{gone.name!r} is the player and cannot go into {into.name!r}; merge the other way round"
    names = dict.fromkeys((*into.aliases, *gone.names))
    names.pop(into.name, None)
    told = {name: value for each in (gone, into) for name, value in each.attributes.items() if name not in _STATUS}
    latest = max(into, gone, key=_status_told)
    told |= {name: latest.attributes[name] for name in _STATUS if name in latest.attributes}
    whole = evolve(into, aliases=tuple(names), attributes=told)
    entities = {id_: (whole if id_ == into.id else each) for id_, each in state.entities.items() if id_ != gone.id}

    def now(id_: str) -> str:
        return into.id if id_ == gone.id else id_

    belongings: dict[str, dict[str, Stack]] = {}
    for owner, hands in state.belongings.items():
        own = belongings.setdefault(now(owner), {})
        for item, stack in hands.items():
            old = own.get(now(item), Stack(0))
            own[now(item)] = Stack(old.quantity + stack.quantity, old.equipped or stack.equipped)
    relations: dict[tuple[str, str], Relation] = {}
    for (source, target), relation in state.relations.items():
        pair = now(source), now(target)
        if pair[0] != pair[1]:
            relations[pair] = _together(relations[pair], relation) if pair in relations else relation
    whereabouts: dict[str, Placement] = {}
    for who, placement in state.whereabouts.items():
        placed = evolve(placement, place=now(placement.place))
        if now(who) not in whereabouts or whereabouts[now(who)].since <= placed.since:
            whereabouts[now(who)] = placed
    merged = {id_: now(other) for id_, other in state.merged.items()}
    absent = {state.player, into.id} if whole.dead else {state.player}
    return evolve(
        state,
        entities=entities,
        belongings=belongings,
        relations=relations,
        whereabouts=whereabouts,
        links=frozenset(
            (now(source), type_, now(target)) for source, type_, target in state.links if now(source) != now(target)
        ),
        met=tuple(dict.fromkeys(now(who) for who in state.met if now(who) != state.player)),
        present=tuple(dict.fromkeys(each for who in state.present if (each := now(who)) not in absent)),
        happenings=tuple(evolve(each, event=now(each.event)) for each in state.happenings),
        schedule={
            now(id_): evolve(each, event=now(id_), place=now(each.place), who=now(each.who))
            for id_, each in called(state.schedule, gone.names, into.name).items()
        },
        findings=tuple(each for each in state.findings if each.verdict or not _is_about(each, gone.id)),
        merged={**merged, gone.id: into.id},
        counts=with_subject(state, gone.id, into.id),
    )


def _together(one: Relation, other: Relation) -> Relation:
    """Two relations of a pair as one: the newer name, and the sum, of what is felt and of what is owed."""
    pair = sorted((one, other), key=lambda each: each.since)
    feelings = [each.felt for each in pair if each.felt and not each.over]
    debts = [each.owed for each in pair if each.owed and not pair[1].over]
    felt, owed = (
        evolve(parts[-1], strength=sum(each.strength for each in parts)) if parts else None
        for parts in (feelings, debts)
    )
    return evolve(felt, debt=owed) if felt else owed or pair[1]


def called(schedule: Mapping[str, Scheduled], names: Collection[str], name: str) -> dict[str, Scheduled]:
    """Return a schedule in which somebody with these ``names`` owes, or is owed, under another ``name``."""

    def sides(between: str) -> str:
        return OWES.join(name if each in names else each for each in between.split(OWES))

    return {id_: evolve(each, between=sides(each.between)) for id_, each in schedule.items()}


def _status_told(entity: Entity) -> tuple[int, bool]:
    """Since when an entity has its status, or none any more. Of two statuses of one turn, a death is the later."""
    since = entity.get("status_since")
    return since if isinstance(since, int) else -1 + ("status" in entity.attributes), entity.dead


def _is_about(finding: Finding, who: str) -> bool:
    """Whether a finding is the question whether this character is also another one."""
    return finding.rule == ONE_PERSON and who in finding.key.split(":")


def split(state: WorldState, event: deltas.Split) -> WorldState | str:
    """Return the state in which ``name`` is a separate entity, or the reason as text if that is impossible.

    If ``fresh`` already bears the name, it is given back to that one.
    """
    whole = state.entities.get(event.id)
    if whole is None:
        return f"unknown id {event.id!r}"
    bearer = state.entities.get(event.fresh)
    if bearer is not None and (event.name not in bearer.names or bearer.kind is not whole.kind or bearer is whole):
        return f"{event.name!r} is an entity of its own already"
    if event.name not in whole.aliases:
        return f"{whole.name!r} has no other name {event.name!r}"
    rest = tuple(alias for alias in whole.aliases if alias != event.name)
    if bearer is not None:
        return evolve(state, entities={**state.entities, whole.id: evolve(whole, aliases=rest)})
    fresh = Entity(event.fresh, whole.kind, event.name)
    changed: dict[str, Any] = {
        "entities": {**state.entities, whole.id: evolve(whole, aliases=rest), fresh.id: fresh},
        "merged": {id_: into for id_, into in state.merged.items() if id_ != fresh.id},
    }
    if whole.id in state.whereabouts and whole.id != state.player:
        changed["whereabouts"] = {**state.whereabouts, fresh.id: state.whereabouts[whole.id]}
    if whole.kind is Kind.CHARACTER and whole.id in state.met:
        changed["met"] = (*state.met, fresh.id)
    return evolve(state, **changed)


def forget(state: WorldState, id_: str) -> WorldState | str:
    """Return the state without an entity, or the reason as text if it cannot be removed."""
    if id_ not in state.entities:
        return f"unknown id {id_!r}"
    if id_ == state.player:
        return f"{state.name(id_)!r} is the player and cannot be forgotten"
    untrue = [(each.depth, each.name) for each in state.happenings if each.event == id_]
    return evolve(
        state,
        **(taken_back(state.untrue, state.story, *untrue) if untrue else {}),
        entities={each: entity for each, entity in state.entities.items() if each != id_},
        whereabouts={who: where for who, where in state.whereabouts.items() if id_ not in (who, where.place)},
        belongings={
            owner: {item: stack for item, stack in hands.items() if item != id_}
            for owner, hands in state.belongings.items()
            if owner != id_
        },
        relations={pair: relation for pair, relation in state.relations.items() if id_ not in pair},
        links=frozenset(link for link in state.links if id_ not in (link[0], link[2])),
        met=tuple(who for who in state.met if who != id_),
        present=tuple(who for who in state.present if who != id_),
        happenings=tuple(each for each in state.happenings if each.event != id_),
        schedule={event: each for event, each in state.schedule.items() if event != id_},
        counts=with_subject(state, id_),
    )


def noticed(
    findings: tuple[Finding, ...], event: deltas.Found, depth: int, merged: Mapping[str, str]
) -> tuple[Finding, ...]:
    """Return the findings with one more. A finding with a known key changes nothing, and the question whether two are
    one is settled if they are."""
    if any(each.key == event.key for each in findings):
        return findings
    asked = {merged.get(who, who) for who in event.key.split(":")[1:]} if event.rule == ONE_PERSON else ()
    verdict = ONE if len(asked) == 1 else ""
    return (*findings, Finding(event.key, event.rule, event.text, depth, event.turns, verdict))[-MAX_FINDINGS:]


def told(story: tuple[StoryPart, ...], event: deltas.StoryTold) -> tuple[StoryPart, ...]:
    """Return the story summary with one more part, which replaces the parts within its turns.

    Beyond ``MAX_STORY`` parts, the two oldest neighbours become one chapter that keeps the beginning and the end of
    each. The oldest turns are therefore summarised most briefly. What a person wrote stays as it is.
    """
    if not event.by_hand and any(part.by_hand and part.overlaps(event.first, event.last) for part in story):
        return story
    kept = [part for part in story if not (event.first <= part.first and part.last <= event.last)]
    text = shortened(event.text, MAX_STORY_CHARS)
    kept.append(StoryPart(event.level, event.first, event.last, text, event.by_hand))
    kept.sort(key=lambda part: (part.first, part.last))
    while len(kept) > MAX_STORY:
        at = next((at for at, part in enumerate(kept[:-1]) if not (part.by_hand or kept[at + 1].by_hand)), None)
        if at is None:
            break
        one, other = kept[at : at + 2]
        text = f"{shortened(one.text, MAX_STORY_CHARS // 2)} {shortened(other.text, MAX_STORY_CHARS // 2 - 1)}"
        kept[at : at + 2] = [StoryPart(CHAPTER, one.first, max(one.last, other.last), text)]
    return tuple(kept)


def shortened(text: str, limit: int) -> str:
    """Return ``text`` in at most ``limit`` characters: its beginning and its end, with an ellipsis between them."""
    if len(text) <= limit:
        return text
    half = (limit - len(_ELLIPSIS)) // 2
    return f"{text[:half].rstrip()}{_ELLIPSIS}{text[len(text) - half :].lstrip()}"


def learned(lore: Mapping[str, str], event: deltas.LoreLearned) -> dict[str, str]:
    """Return the learned lore with one change. Beyond ``MAX_LORE`` entries the oldest are dropped."""
    found = {entry: text for entry, text in lore.items() if entry != event.entry}
    if event.text:
        found[event.entry] = event.text
    return dict(list(found.items())[-MAX_LORE:])


def scheduled(schedule: Mapping[str, Scheduled], event: deltas.EventScheduled, depth: int) -> dict[str, Scheduled]:
    """Return the schedule with one more event. An event that is already there gets the new conditions."""
    found = {id_: each for id_, each in schedule.items() if id_ != event.event}
    found[event.event] = Scheduled(
        event.event,
        event.name,
        event.text,
        event.due,
        event.expires,
        event.place,
        event.who,
        depth,
        event.kind,
        event.at,
        event.when,
        event.between,
        depth if event.kind else 0,
    )
    return dict(list(found.items())[-MAX_SCHEDULED:])


def written(blocks: Mapping[str, MemoryBlock], event: deltas.BlockWritten, depth: int) -> dict[str, MemoryBlock]:
    """Return the memory blocks with one block's new text."""
    old = blocks.get(event.name)
    return {**blocks, event.name: MemoryBlock(event.text, old.version + 1 if old else 1, depth)}


def taken_back(
    untrue: tuple[tuple[int, str], ...], story: tuple[StoryPart, ...], *said: tuple[int, str]
) -> dict[str, Any]:
    """Return what of a state changes when what was ``said`` (depth, text) is not true: it is kept as untrue, and the
    story is without it where it quotes it word for word. Parts left empty are removed."""

    def left(part: StoryPart) -> str:
        text = part.text
        for depth, each in said:
            if part.first <= depth <= part.last:
                quoted = re.escape(each.rstrip(" ;."))
                whole = rf"(^|[;.!?。！？]\s*){quoted}(?:[.。]|(?=;)|(?<=[!?…！？])|$);?\s*"
                text = re.sub(whole, r"\1", text, flags=re.IGNORECASE)
        return text if text == part.text else text.strip("; ")

    parts = (evolve(part, text=text) if (text := left(part)) != part.text else part for part in story)
    return {
        "untrue": tuple(dict.fromkeys((*untrue, *said)))[-MAX_UNTRUE:],
        "story": tuple(part for part in parts if part.text),
    }
