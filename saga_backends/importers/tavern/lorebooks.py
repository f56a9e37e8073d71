"""Lorebooks of SillyTavern (World Info), and those in cards, which Chub and the V3 specification have as well."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from attrs import evolve

from saga_backends.importers.lore import ANY, PLACE, entries_of, item_of, key_texts, keys_of, order_of, percent_of
from saga_backends.importers.tavern.variables import initial_variables
from saga_core.imports import (
    KEPT,
    OWN_EDITOR,
    OWN_TOOL,
    SCRIPT,
    Fate,
    Fields,
    Lorebook,
    LoreItem,
    Losses,
    dropped,
    mapped,
)
from saga_core.world import LoreRule

_VECTOR = mapped("in mode saga every entry is found by its meaning as well")
_SCAN = dropped("SAGA looks through the chat alone, not through the card's fields")
BOOK: dict[str, Fate] = {
    "name": KEPT,
    "description": mapped("a note to authors in LOREBOOK.md"),
    "scan_depth": mapped("given to each entry without one of its own"),
    "token_budget": mapped("token_budget.lorebook_max of SAGA's settings holds for all lore together"),
    "recursive_scanning": mapped("given to each entry"),
    "extensions": OWN_TOOL,
    "entries": KEPT,
    "spec": KEPT,
    "data": KEPT,
    "originalData": dropped("it is the card's book that the file was made from; the entries themselves count"),
}
ENTRY_V2: dict[str, Fate] = {
    "keys": KEPT,
    "secondary_keys": KEPT,
    "content": KEPT,
    "extensions": KEPT,
    "enabled": KEPT,
    "insertion_order": KEPT,
    "case_sensitive": KEPT,
    "name": KEPT,
    "priority": KEPT,
    "id": OWN_EDITOR,
    "comment": mapped("the entry's title where it has no name, else a note"),
    "selective": KEPT,
    "constant": KEPT,
    "position": PLACE,
    "use_regex": mapped("a key that is a pattern stands between slashes"),
    "selectiveLogic": KEPT,
}
ENTRY_EXTENSIONS: dict[str, Fate] = {
    "position": PLACE,
    "depth": PLACE,
    "role": PLACE,
    "probability": KEPT,
    "useProbability": KEPT,
    "selectiveLogic": KEPT,
    "group": KEPT,
    "group_override": KEPT,
    "group_weight": KEPT,
    "use_group_scoring": KEPT,
    "exclude_recursion": KEPT,
    "prevent_recursion": KEPT,
    "delay_until_recursion": KEPT,
    "scan_depth": KEPT,
    "case_sensitive": KEPT,
    "match_whole_words": KEPT,
    "sticky": KEPT,
    "cooldown": KEPT,
    "delay": KEPT,
    "triggers": KEPT,
    "ignore_budget": KEPT,
    "character_filter": mapped("names are kept; tags are not, for a chat does not tell SAGA a card's tags"),
    "automation_id": SCRIPT,
    "vectorized": _VECTOR,
    "outlet_name": dropped("an outlet is told only where a prompt asks for it; SAGA's has none"),
    "display_index": OWN_EDITOR,
    "addMemo": OWN_EDITOR,
    "match_persona_description": _SCAN,
    "match_character_description": _SCAN,
    "match_character_personality": _SCAN,
    "match_character_depth_prompt": _SCAN,
    "match_scenario": _SCAN,
    "match_creator_notes": _SCAN,
    "weight": dropped("relevance decides, or the order"),
    "linked": OWN_EDITOR,
    "excludeRecursion": KEPT,
    "preventRecursion": KEPT,
}
WORLD_INFO: dict[str, Fate] = {
    "uid": OWN_EDITOR,
    "key": KEPT,
    "keysecondary": KEPT,
    "comment": KEPT,
    "content": KEPT,
    "constant": KEPT,
    "vectorized": _VECTOR,
    "selective": KEPT,
    "selectiveLogic": KEPT,
    "addMemo": OWN_EDITOR,
    "order": KEPT,
    "position": PLACE,
    "disable": KEPT,
    "excludeRecursion": KEPT,
    "preventRecursion": KEPT,
    "delayUntilRecursion": KEPT,
    "probability": KEPT,
    "useProbability": KEPT,
    "depth": PLACE,
    "group": KEPT,
    "groupOverride": KEPT,
    "groupWeight": KEPT,
    "scanDepth": KEPT,
    "caseSensitive": KEPT,
    "matchWholeWords": KEPT,
    "useGroupScoring": KEPT,
    "automationId": SCRIPT,
    "role": PLACE,
    "sticky": KEPT,
    "cooldown": KEPT,
    "delay": KEPT,
    "displayIndex": OWN_EDITOR,
    "ignoreBudget": KEPT,
    "outletName": ENTRY_EXTENSIONS["outlet_name"],
    "matchPersonaDescription": _SCAN,
    "matchCharacterDescription": _SCAN,
    "matchCharacterPersonality": _SCAN,
    "matchCharacterDepthPrompt": _SCAN,
    "matchScenario": _SCAN,
    "matchCreatorNotes": _SCAN,
    "triggers": KEPT,
    "characterFilter": ENTRY_EXTENSIONS["character_filter"],
    "extensions": OWN_TOOL,
}

LOGICS = ("and_any", "not_all", "not_any", "and_all")
POSITIONS = (
    "before_char", "after_char", "note_top", "note_bottom", "at_depth", "examples_top", "examples_bottom", "outlet",
)  # fmt: skip
ROLES = ("system", "user", "assistant")
_TRIGGERS = ("normal", "continue", "impersonate", "swipe", "regenerate", "quiet")
_UNSAID: dict[str, Any] = {
    "position": 0,
    "depth": 4,
    "role": 0,
    "probability": 100,
    "useProbability": True,
    "groupWeight": 100,
    "group_weight": 100,
    "addMemo": True,
    "mode": "normal",
}
_UNSAID_V2 = {**_UNSAID, "position": "before_char"}
_TAVERN = frozenset(("selectiveLogic", "useProbability", "display_index", "exclude_recursion"))
"""Some of the fields that SillyTavern writes into the extensions of every entry."""


def world_info(plain: Mapping[str, Any], losses: Losses) -> Lorebook:
    """Read SillyTavern's World Info, where ``entries`` is an object of entries by number."""
    book = Fields(plain, losses)
    book.account(BOOK)
    items = [_entry(Fields(each, losses, where), "key") for where, each in entries_of(plain, losses)]
    return Lorebook(
        name=book.text("name"),
        description=book.text("description"),
        items=tuple(items),
        trackers=initial_variables(items, (), losses),
    )


def character_book(plain: Mapping[str, Any], losses: Losses, names: Iterable[str] = ()) -> Lorebook:
    """Read the book of a card (V2, V3) or of Chub, where entries are a list, or an object by number.

    ``names`` are those of the card's character.
    """
    book = Fields(plain, losses)
    book.account(BOOK)
    scan_depth, recursive = book.whole("scan_depth"), book.flag("recursive_scanning")
    items = []
    for where, each in entries_of(plain, losses):
        item = _entry(Fields(each, losses, where), "keys")
        rule = item.rule
        if rule.scan_depth is None and scan_depth is not None:
            rule = evolve(rule, scan_depth=scan_depth)
        if recursive is False:
            rule = evolve(rule, no_recursion_into=True, no_recursion_from=True)
        items.append(evolve(item, rule=rule))
    return Lorebook(
        name=book.text("name"),
        description=book.text("description"),
        scan_depth=scan_depth,
        token_budget=book.whole("token_budget"),
        recursive=recursive,
        items=tuple(items),
        trackers=initial_variables(items, names, losses),
    )


def _entry(entry: Fields, usual: str) -> LoreItem:
    """Read an entry in the form that its keys have, whatever the book has around it; ``usual`` if it has none."""
    keys = next((name for name in (usual, "key", "keys") if name in entry.plain), usual)
    return _world_info_entry(entry) if keys == "key" else _book_entry(entry)


def _world_info_entry(entry: Fields) -> LoreItem:
    entry.account(WORLD_INFO, _UNSAID)
    filters = entry.inner("characterFilter")
    names, excluded = filters.texts("names"), bool(filters.flag("isExclude"))
    rule = _rule(entry, {
        "keys": "key", "second": "keysecondary", "logic": "selectiveLogic", "scan_depth": "scanDepth",
        "case": "caseSensitive", "words": "matchWholeWords", "weight": "groupWeight", "override": "groupOverride",
        "scoring": "useGroupScoring", "exclude": "excludeRecursion", "prevent": "preventRecursion",
        "level": "delayUntilRecursion", "budget": "ignoreBudget",
    }, beside={
        "order": order_of(entry.whole("order", least=ANY)),
        "enabled": not entry.flag("disable"),
        "only_characters": () if excluded else names,
        "not_characters": names if excluded else (),
    })  # fmt: skip
    return item_of(entry, entry.text("comment"), entry.text("content"), bool(entry.flag("constant")), rule)


def _book_entry(entry: Fields) -> LoreItem:
    entry.account(ENTRY_V2, _UNSAID_V2)
    own = entry.inner("extensions")
    own.account(ENTRY_EXTENSIONS, _UNSAID)
    # The logic may also be a field of the entry itself. Keys always are, and so is the position in words.
    merged = Fields(
        {**{k: v for k, v in entry.plain.items() if k != "position"}, **own.plain}, entry.losses, entry.where
    )
    filters = own.inner("character_filter")
    names, excluded = filters.texts("names"), bool(filters.flag("isExclude"))
    # SillyTavern sets use_regex on every entry that it writes into a card, and never reads it.
    patterns = bool(entry.flag("use_regex")) and not _TAVERN & own.plain.keys()
    rule = _rule(merged, {
        "keys": "keys", "second": "secondary_keys", "logic": "selectiveLogic", "scan_depth": "scan_depth",
        "case": "case_sensitive", "words": "match_whole_words", "weight": "group_weight",
        "override": "group_override", "scoring": "use_group_scoring", "exclude": "exclude_recursion",
        "prevent": "prevent_recursion", "level": "delay_until_recursion", "budget": "ignore_budget",
    }, patterns=patterns, stands=entry.plain.get("position"), beside={
        "order": order_of(entry.whole("insertion_order", least=ANY)),
        "enabled": entry.flag("enabled") is not False,
        "priority": entry.whole("priority", least=ANY),
        "only_characters": () if excluded else names,
        "not_characters": names if excluded else (),
    })  # fmt: skip
    title = entry.text("name", "comment")
    constant = bool(entry.flag("constant"))
    return item_of(entry, title, entry.text("content"), constant, rule, patterns=patterns)


def _rule(
    entry: Fields,
    names: Mapping[str, str],
    *,
    beside: Mapping[str, Any],
    patterns: bool = False,
    stands: Any = None,
) -> LoreRule:
    """Build a rule from SillyTavern's own fields. ``names`` has the fields' names in this format.

    ``beside`` has fields of the rule that were read already. ``stands`` is the position in words, used if there is no
    number.
    """
    losses, where = entry.losses, entry.where
    second = key_texts(entry, names["second"])
    if second and not entry.flag("selective"):
        losses.add(names["second"], "dropped", "selective is off, so that they did not count", where)
        second = ()
    logic = entry.whole(names["logic"], most=3) or 0
    used = entry.flag("useProbability") is not False
    level = entry.plain.get(names["level"])
    position = entry.whole("position", most=7) if not isinstance(entry.plain.get("position"), str) else None
    role = entry.whole("role", most=2)
    weight = entry.whole(names["weight"])
    triggers = entry.texts("triggers")
    unknown = [each for each in triggers if each not in _TRIGGERS]
    if unknown:
        losses.add("triggers", "dropped", f"SAGA does not know {unknown[0][:40]!r}", where)
    return LoreRule(
        keys=keys_of(key_texts(entry, names["keys"]), patterns),
        second_keys=keys_of(second, patterns),
        logic=LOGICS[logic],
        scan_depth=entry.whole(names["scan_depth"]),
        case_sensitive=entry.flag(names["case"]),
        whole_words=entry.flag(names["words"]),
        probability=percent_of(entry.whole("probability")) if used else 100,
        sticky=entry.whole("sticky") or 0,
        cooldown=entry.whole("cooldown") or 0,
        delay=entry.whole("delay") or 0,
        groups=entry.texts("group", split=True),
        group_weight=100 if weight is None else weight,
        group_override=bool(entry.flag(names["override"])),
        group_scoring=bool(entry.flag(names["scoring"])),
        no_recursion_into=bool(entry.flag(names["exclude"])),
        no_recursion_from=bool(entry.flag(names["prevent"])),
        recursion_level=int(level) if isinstance(level, bool) else entry.whole(names["level"]) or 0,
        position=POSITIONS[position] if position else "after_char" if stands == "after_char" else "",
        depth=_depth(entry.whole("depth")) if position == 4 else None,
        role=ROLES[role] if role else "",
        ignore_budget=bool(entry.flag(names["budget"])),
        triggers=tuple(each for each in triggers if each in _TRIGGERS),
        **beside,
    )


def _depth(value: int | None) -> int:
    return 4 if value is None else value
