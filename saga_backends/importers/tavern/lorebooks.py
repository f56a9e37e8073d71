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
    Fields,
    Lorebook,
    LoreItem,
    Losses,
    dropped,
    fates,
    mapped,
)
from saga_core.world import LoreRule

_VECTOR = mapped("in mode saga every entry is found by its meaning as well")
_SCAN = dropped("SAGA looks through the chat alone, not through the card's fields")
BOOK = fates(
    (KEPT, "name entries spec data"),
    (mapped("a note to authors in LOREBOOK.md"), "description"),
    (mapped("given to each entry without one of its own"), "scan_depth"),
    (mapped("token_budget.lorebook_max of SAGA's settings holds for all lore together"), "token_budget"),
    (mapped("given to each entry"), "recursive_scanning"),
    (OWN_TOOL, "extensions"),
    (dropped("it is the card's book that the file was made from; the entries themselves count"), "originalData"),
)
ENTRY_V2 = fates(
    (
        KEPT,
        "keys secondary_keys content extensions enabled insertion_order case_sensitive name priority "
        "selective constant selectiveLogic",
    ),
    (OWN_EDITOR, "id"),
    (mapped("the entry's title where it has no name, else a note"), "comment"),
    (PLACE, "position"),
    (mapped("a key that is a pattern stands between slashes"), "use_regex"),
)
ENTRY_EXTENSIONS = fates(
    (PLACE, "position depth role"),
    (
        KEPT,
        "probability useProbability selectiveLogic group group_override group_weight use_group_scoring "
        "exclude_recursion prevent_recursion delay_until_recursion scan_depth case_sensitive "
        "match_whole_words sticky cooldown delay triggers ignore_budget excludeRecursion preventRecursion",
    ),
    (mapped("names are kept; tags are not, for a chat does not tell SAGA a card's tags"), "character_filter"),
    (SCRIPT, "automation_id"),
    (_VECTOR, "vectorized"),
    (dropped("an outlet is told only where a prompt asks for it; SAGA's has none"), "outlet_name"),
    (OWN_EDITOR, "display_index addMemo linked"),
    (
        _SCAN,
        "match_persona_description match_character_description match_character_personality "
        "match_character_depth_prompt match_scenario match_creator_notes",
    ),
    (dropped("relevance decides, or the order"), "weight"),
)
WORLD_INFO = fates(
    (OWN_EDITOR, "uid addMemo displayIndex"),
    (
        KEPT,
        "key keysecondary comment content constant selective selectiveLogic order disable excludeRecursion "
        "preventRecursion delayUntilRecursion probability useProbability group groupOverride groupWeight "
        "scanDepth caseSensitive matchWholeWords useGroupScoring sticky cooldown delay ignoreBudget triggers",
    ),
    (_VECTOR, "vectorized"),
    (PLACE, "position depth role"),
    (SCRIPT, "automationId"),
    (ENTRY_EXTENSIONS["outlet_name"], "outletName"),
    (
        _SCAN,
        "matchPersonaDescription matchCharacterDescription matchCharacterPersonality "
        "matchCharacterDepthPrompt matchScenario matchCreatorNotes",
    ),
    (ENTRY_EXTENSIONS["character_filter"], "characterFilter"),
    (OWN_TOOL, "extensions"),
)

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
    items = [_entry(entry, "key") for entry in entries_of(plain, losses)]
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
    for entry in entries_of(plain, losses):
        item = _entry(entry, "keys")
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
    weight, depth = entry.whole(names["weight"]), entry.whole("depth")
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
        depth=(4 if depth is None else depth) if position == 4 else None,
        role=ROLES[role] if role else "",
        ignore_budget=bool(entry.flag(names["budget"])),
        triggers=tuple(each for each in triggers if each in _TRIGGERS),
        **beside,
    )
