"""Turns a card and its lorebooks into a world, whose files an author can read and edit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from attrs import evolve, frozen

from saga_core.imports.archives import plain_name
from saga_core.imports.records import Asset, Card, Lorebook, LoreItem, Losses
from saga_core.language import clean_name, fold_name, is_common, language_of_files
from saga_core.trackers import MOST_TRACKERS, Tracker
from saga_core.world import (
    KEEP,
    CharacterSheet,
    LoreEntry,
    LoreRule,
    MacroRoom,
    World,
    is_pattern,
    name_character,
    pattern_search,
    why_unread,
)

LoreMode = Literal["auto", "keep", "saga"]
_SHOWN = 80
_NAME = 200
"""Longest name of an entry, in characters."""
_KEYS = ("keys", "second_keys", "additional_keys", "exclude_keys")


@frozen(kw_only=True)
class WorldPlan:
    """A world to be written, and the files that go with it."""

    world: World
    assets: tuple[Asset, ...] = ()
    greetings: int = 0
    """The number of openings."""


def world_of(
    card: Card | None,
    books: Sequence[Lorebook],
    name: str,
    losses: Losses,
    *,
    mode: LoreMode = "auto",
    tell_card: bool = False,
    room: MacroRoom | None = None,
) -> WorldPlan:
    """Build the world of a card with its lorebooks, or of lorebooks alone.

    ``name`` is used if neither the card nor a lorebook has a name. ``mode`` decides how lore is selected: ``keep`` by
    the entries' own rules, ``saga`` by relevance; ``auto`` chooses for each entry. With ``tell_card``, SAGA puts the
    card's texts into the world's description, for clients that do not send them. ``room`` limits what names take in
    place of macros; without it, this world has the room of a whole import. Raises ``TooManyMacros``.
    """
    room = room if room is not None else MacroRoom()
    title = clean_name(card.name if card is not None else next((each.name for each in books if each.name), "")) or name
    character = clean_name(card.nickname) if card is not None and card.nickname else title
    own = [card.book] if card is not None and card.book is not None else []
    items = [item for book in (*own, *books) for item in book.items]
    lore = _entries(items, character, mode, losses, room)
    sheets = (_sheet(card, title, character, room),) if card is not None else ()
    room.where = "a greeting (first_mes, alternate_greetings or group_only_greetings)"
    texts = [entry.text for entry in lore[:200]] + [card.description if card is not None else ""]
    named = dict.fromkeys((title, character)) if card is not None else ()
    if common := [each for each in named if is_common(each)]:
        why = f"{common[0]!r} chooses no world for a new chat, because any system prompt may have it; name the world"
        losses.add("name", "mapped", why)
    found = World(
        name=plain_name(title),
        title=title,
        language=language_of_files("\n".join(texts)),
        match=tuple(each for each in named if len(each) > 1 and not is_common(each)),
        greeting=name_character(card.first_mes, character, room) if card is not None else "",
        greetings=tuple(
            name_character(each, character, room)
            for each in (*card.alternate_greetings, *card.group_only_greetings)
            if each.strip()
        )
        if card is not None
        else (),
        description=_told(card, character, room) if card is not None and tell_card else "",
        characters=sheets,
        lore=lore,
        trackers=_trackers(
            [
                *(card.trackers if card is not None else ()),
                *(tracker for book in (*own, *books) for tracker in book.trackers),
            ],
            losses,
        ),
    )
    openings = (found.greeting, *found.greetings)
    return WorldPlan(world=found, assets=card.assets if card is not None else (), greetings=sum(map(bool, openings)))


def _trackers(declared: Sequence[Tracker], losses: Losses) -> tuple[Tracker, ...]:
    """The trackers, each name once and no more than a story counts."""
    found = {each.key: each for each in reversed(declared)}
    ordered = [found.pop(each.key) for each in declared if each.key in found]
    for each in ordered[MOST_TRACKERS:]:
        losses.add(each.name, "dropped", f"a story counts at most {MOST_TRACKERS} trackers")
    return tuple(ordered[:MOST_TRACKERS])


def _sheet(card: Card, title: str, character: str, room: MacroRoom) -> CharacterSheet:
    """The character sheet. Texts that the frontend sends anyway go into the body, which is never part of a prompt."""
    parts = (
        ("", card.description),
        ("Personality", card.personality),
        ("Scenario", card.scenario),
        ("Example dialogue", card.mes_example),
        ("System prompt", card.system_prompt),
        ("Post-history instructions", card.post_history_instructions),
        ("Depth prompt", card.depth_prompt),
        ("Creator's notes", card.creator_notes),
        ("Creator", card.creator),
        ("Version", card.character_version),
        ("Tags", ", ".join(card.tags)),
        ("Source", "\n".join(card.source)),
    )
    told = []
    for heading, text in parts:
        if text.strip():
            room.where = heading or "Description"
            named = name_character(text, character, room)
            told.append(f"### {heading}\n{named.strip()}" if heading else named)
    body = "\n\n".join(told)
    aliases = (character,) if fold_name(character) != fold_name(title) else ()
    return CharacterSheet(name=title, aliases=aliases, body=body)


def _told(card: Card, character: str, room: MacroRoom) -> str:
    parts = (card.description, card.personality, card.scenario)
    room.where = "description, personality or scenario"
    return "\n\n".join(name_character(part, character, room).strip() for part in parts if part.strip())


def _entries(
    items: Iterable[LoreItem], character: str, mode: LoreMode, losses: Losses, room: MacroRoom
) -> tuple[LoreEntry, ...]:
    """The lore entries, each with a unique name and its mode."""
    taken: dict[str, int] = {}
    found: list[LoreEntry] = []
    for number, item in enumerate(items, 1):
        room.where = f"entry {number}"
        text = name_character(item.content, character, room).strip()
        if not text:
            losses.add("content", "dropped", "an entry without a text tells nothing", f"entry {number}")
            continue
        rule = _named_rule(item.rule, character, room, keep=mode == KEEP or (mode == "auto" and item.rule.special))
        for key in rule.all_keys:
            if is_pattern(key) and pattern_search(key) is None:
                losses.add("keys", "dropped", f"{why_unread(key)}: {key[:_SHOWN]}", f"entry {number}")
        name = _free(_title(item, number, character, room), taken)
        extra = (("category", clean_name(item.about)),) if item.about.strip() else ()
        found.append(
            LoreEntry(
                name,
                "concept",
                "A1" if item.constant else "A2",
                text=text,
                constant=item.constant,
                rule=rule,
                extra=tuple(pair for pair in extra if pair[1]),
            )
        )
    return tuple(found)


def _named_rule(rule: LoreRule, character: str, room: MacroRoom, *, keep: bool) -> LoreRule:
    """The rule with its mode set and the character's name filled into its keys.

    Only keys with a macro are rewritten, because a large book has tens of thousands of rules.
    """
    changes: dict[str, Any] = {"mode": KEEP} if keep else {}
    for name in _KEYS:
        keys: tuple[str, ...] = getattr(rule, name)
        if any("{{" in key or "<" in key for key in keys):
            changes[name] = _named(keys, character, room)
    return evolve(rule, **changes) if changes else rule


def _named(keys: Iterable[str], character: str, room: MacroRoom) -> tuple[str, ...]:
    return tuple(name_character(key, character, room) for key in keys)


def _title(item: LoreItem, number: int, character: str, room: MacroRoom) -> str:
    for each in (item.title, *(key for key in item.rule.keys if not key.startswith("/"))):
        name = clean_name(name_character(each, character, room))[:_NAME].strip()
        if fold_name(name):
            return name
    return f"Entry {number}"


def _free(name: str, taken: dict[str, int]) -> str:
    """The name, with a number appended if another entry has it."""
    key = fold_name(name)
    if key not in taken:
        taken[key] = 1
        return name
    while True:
        taken[key] += 1
        found = f"{name} ({taken[key]})"
        if fold_name(found) not in taken:
            taken[fold_name(found)] = 1
            return found
