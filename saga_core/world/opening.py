"""The opening state: a world as it is before the first turn."""

from __future__ import annotations

import re
from collections.abc import Callable

from attrs import evolve

from saga_core.ids import entity_id
from saga_core.language import fold_name, language_of
from saga_core.model import Entity, Kind, Placement, Relation, Stack, WorldState
from saga_core.trackers import HEALTH, Count, Trackers, Whose, pair, start_value, trackers_of
from saga_core.values import Value
from saga_core.world.format import split_list
from saga_core.world.model import CharacterSheet, World

DEFAULT_HP = 100
_OF_PAIR = re.compile(r"(?P<to>.*[^\s:：])\s*(?:[:：]\s*|\s)(?P<value>\S+)")


def opening_state(world: World, root: str) -> WorldState:
    """The state at the turn ``root``, as the world's files define it.

    A world without a player's sheet gets an unnamed player with 100 hit points, whose name is learned during play.
    """
    own = trackers_of(world.profile, world.language)
    trackers = Trackers(world.trackers).in_profile(world.profile, own)
    health = trackers.asks(HEALTH)
    points = DEFAULT_HP if health else None
    entities: dict[str, Entity] = {}
    by_name: dict[tuple[Kind, str], str] = {}

    def ensure(kind: Kind, name: str, aliases: tuple[str, ...] = (), **attributes: Value) -> str:
        known = by_name.get((kind, fold_name(name)))
        if known is None:
            known = entity_id(kind.value, name)
            filled = {key: value for key, value in attributes.items() if value is not None}
            entities[known] = Entity(known, kind, name, aliases, filled)
            for each in (name, *aliases):
                by_name.setdefault((kind, fold_name(each)), known)
        return known

    kinds = {"location": Kind.LOCATION, "item": Kind.ITEM}
    for entry in world.lore:
        if entry.type in kinds:
            ensure(kinds[entry.type], entry.name, entry.aliases)
    for sheet in world.characters:
        ensure(Kind.CHARACTER, sheet.name, sheet.aliases, **_attributes(sheet, health))

    whereabouts: dict[str, Placement] = {}
    belongings: dict[str, dict[str, Stack]] = {}
    relations: dict[tuple[str, str], Relation] = {}
    player = ""
    for sheet in world.characters:
        who = ensure(Kind.CHARACTER, sheet.name)
        if sheet.player:
            player = who
        if sheet.location:
            whereabouts[who] = Placement(ensure(Kind.LOCATION, sheet.location))
        for item in sheet.items:
            hands, id_ = belongings.setdefault(who, {}), ensure(Kind.ITEM, item.name)
            old = hands.get(id_, Stack(0))
            hands[id_] = Stack(old.quantity + item.quantity, old.equipped or item.equipped)
        for relation in sheet.relations:
            other = ensure(Kind.CHARACTER, relation.to)
            if other != who:
                relations[who, other] = Relation(relation.type, relation.strength)
    links: set[tuple[str, str, str]] = set()
    for entry in world.lore:
        if entry.type == "location":
            here = ensure(Kind.LOCATION, entry.name)
            links.update((here, "ADJACENT", ensure(Kind.LOCATION, name)) for name in entry.neighbours)
    if not player:
        texts = language_of(world.language).texts
        player = ensure(Kind.CHARACTER, texts.player, texts.player_aliases, is_player=True, hp=points, max_hp=points)
    return WorldState(
        world=world.digest,
        turn=root,
        player=player,
        entities=entities,
        whereabouts=whereabouts,
        belongings=belongings,
        relations=relations,
        links=frozenset(link for link in links if link[0] != link[2]),
        notes=tuple((0, text) for text in world.start_events),
        trackers=trackers,
        counts=_counts(world, trackers, lambda name: ensure(Kind.CHARACTER, name)),
    )


def _counts(world: World, trackers: Trackers, id_of: Callable[[str], str]) -> dict[str, dict[str, Count]]:
    """The values of trackers on the sheets: ``gold: 12``, and for a pair ``affection: Mina 20, Joon -5``."""
    found: dict[str, dict[str, Count]] = {}
    for sheet in world.characters if trackers else ():
        own = {"mood": sheet.mood, "occupation": sheet.occupation}
        for key, text in (*((key, text) for key, text in own.items() if text), *sheet.extra):
            tracker = trackers.find(key)
            if tracker is None or tracker.whose in (Whose.WORLD, Whose.PLACE):
                continue
            subject = id_of(sheet.name)
            parts = [(subject, text)]
            if tracker.whose is Whose.PAIR:
                pairs = (_OF_PAIR.fullmatch(each) for each in split_list(text))
                parts = [(pair(subject, id_of(each["to"])), each["value"]) for each in pairs if each is not None]
            for of, said in parts:
                value = start_value(evolve(tracker, start=said))
                if value is not None:
                    found.setdefault(tracker.key, {})[of] = Count(value)
    return found


def _attributes(sheet: CharacterSheet, health: bool) -> dict[str, Value]:
    if not health:
        sheet = evolve(sheet, hp=None, max_hp=None)
    top = sheet.max_hp if sheet.max_hp is not None else sheet.hp
    if top is None and sheet.player and health:
        top = DEFAULT_HP
    return {
        "is_player": True if sheet.player else None,
        "hp": sheet.hp if sheet.hp is not None else top,
        "max_hp": top,
        "mood": sheet.mood,
        "status": sheet.status,
        "occupation": sheet.occupation,
        "traits": sheet.traits or None,
        "background": sheet.background,
    }
