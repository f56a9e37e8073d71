"""Reads lorebooks of all formats into ``Lorebook``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from attrs import evolve

from saga_core.imports.decorators import take_decorators
from saga_core.imports.fields import Fields
from saga_core.imports.lorebook_fates import AGNAI, BOOK, ENTRY_EXTENSIONS, ENTRY_V2, NOVELAI, RISU_LORE, WORLD_INFO
from saga_core.imports.records import Lorebook, LoreItem, Losses, Unreadable
from saga_core.world import LoreRule, as_pattern, is_pattern

ENTRIES = 50_000
_LOGICS = ("and_any", "not_all", "not_any", "and_all")
_POSITIONS = (
    "before_char", "after_char", "note_top", "note_bottom", "at_depth", "examples_top", "examples_bottom", "outlet",
)  # fmt: skip
_ROLES = ("system", "user", "assistant")
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
_FOLDER = "\uf000folder:"


def world_info(plain: Mapping[str, Any], losses: Losses) -> Lorebook:
    """Read SillyTavern's World Info, where ``entries`` is an object of entries by number."""
    book = Fields(plain, losses)
    book.account(BOOK)
    items = [_world_info_entry(Fields(each, losses, where)) for where, each in _entries(plain, losses)]
    return Lorebook(name=book.text("name"), description=book.text("description"), items=tuple(items))


def character_book(plain: Mapping[str, Any], losses: Losses) -> Lorebook:
    """Read the book of a card (V2, V3) or of Chub, where entries are a list, or an object by number."""
    book = Fields(plain, losses)
    book.account(BOOK)
    scan_depth, recursive = book.whole("scan_depth"), book.flag("recursive_scanning")
    items = []
    for where, each in _entries(plain, losses):
        item = _book_entry(Fields(each, losses, where))
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
    )


def risu_lore(rows: Any, losses: Losses, name: str = "") -> Lorebook:
    """Read RisuAI's entries from an export or a module."""
    items = []
    for where, each in _entries({"entries": rows}, losses):
        entry = Fields(each, losses, where)
        entry.account(RISU_LORE, _UNSAID)
        if entry.text("mode") == "folder" or entry.text("key").startswith(_FOLDER):
            continue
        patterns = bool(entry.flag("useRegex"))
        keys = (entry.text("key"),) if patterns else entry.texts("key", split=True)
        second = entry.texts("secondkey", split=True) if entry.flag("selective") else ()
        rule = LoreRule(
            keys=_keys(keys, patterns, losses, where),
            second_keys=_keys(second, patterns, losses, where),
            order=_order(entry.whole("insertorder", least=-999_999_999)),
            probability=_percent(entry.whole("activationPercent")),
            case_sensitive=entry.inner("extentions").flag("risu_case_sensitive"),
        )
        constant = bool(entry.flag("alwaysActive")) or entry.text("mode") == "constant"
        title, content = entry.text("comment"), entry.text("content")
        items.append(_item(entry, title, content, constant, rule, patterns=patterns))
    return Lorebook(name=name, items=tuple(items))


def novelai(plain: Mapping[str, Any], losses: Losses) -> Lorebook:
    """Read NovelAI's lorebook."""
    items = []
    for where, each in _entries(plain, losses):
        entry = Fields(each, losses, where)
        entry.account(NOVELAI)
        rule = LoreRule(
            keys=_keys(entry.texts("keys"), False, losses, where),
            enabled=entry.flag("enabled") is not False,
            order=_order(entry.inner("contextConfig").whole("budgetPriority", least=-999_999_999)),
        )
        items.append(
            _item(entry, entry.text("displayName"), entry.text("text"), bool(entry.flag("forceActivation")), rule)
        )
    if plain.get("categories"):
        losses.add("categories", "dropped", "they order the tool's own editor")
    if plain.get("settings"):
        losses.add("settings", "dropped", "they have a meaning in their own tool alone")
    return Lorebook(items=tuple(items))


def agnai(plain: Mapping[str, Any], losses: Losses) -> Lorebook:
    """Read Agnai's memory book."""
    book = Fields(plain, losses)
    items = []
    for where, each in _entries(plain, losses):
        entry = Fields(each, losses, where)
        entry.account(AGNAI)
        rule = LoreRule(
            keys=_keys(entry.texts("keywords"), False, losses, where),
            second_keys=_keys(entry.texts("secondaryKeys"), False, losses, where) if entry.flag("selective") else (),
            enabled=entry.flag("enabled") is not False,
            order=_order(entry.whole("weight", least=-999_999_999)),
            priority=entry.whole("priority", least=-999_999_999),
            probability=_percent(entry.whole("probability")),
        )
        items.append(_item(entry, entry.text("name"), entry.text("entry"), bool(entry.flag("constant")), rule))
    return Lorebook(name=book.text("name"), description=book.text("description"), items=tuple(items))


# -- entries -----------------------------------------------------------------------------------------------------


def _entries(plain: Mapping[str, Any], losses: Losses) -> Iterable[tuple[str, Mapping[str, Any]]]:
    """Yield the entries of a book, each with its place in words. Raises ``Unreadable`` for more than 50,000."""
    rows = plain.get("entries")
    if isinstance(rows, dict):
        named = [(f"entry {key}", each) for key, each in rows.items()]
    elif isinstance(rows, list):
        named = [(f"entry {number}", each) for number, each in enumerate(rows)]
    else:
        named = []
        if rows is not None:
            losses.add("entries", "dropped", "is neither a list nor an object")
    if len(named) > ENTRIES:
        raise Unreadable(f"the lorebook has {len(named):,} entries; at most {ENTRIES:,} are taken: split it")
    for where, each in named:
        if isinstance(each, dict):
            yield where, each
        else:
            losses.add("entries", "dropped", "is no object", where)


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
        "order": _order(entry.whole("order", least=-999_999_999)),
        "enabled": not entry.flag("disable"),
        "only_characters": () if excluded else names,
        "not_characters": names if excluded else (),
    })  # fmt: skip
    return _item(entry, entry.text("comment"), entry.text("content"), bool(entry.flag("constant")), rule)


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
        "order": _order(entry.whole("insertion_order", least=-999_999_999)),
        "enabled": entry.flag("enabled") is not False,
        "priority": entry.whole("priority", least=-999_999_999),
        "only_characters": () if excluded else names,
        "not_characters": names if excluded else (),
    })  # fmt: skip
    title = entry.text("name", "comment")
    constant = bool(entry.flag("constant"))
    return _item(entry, title, entry.text("content"), constant, rule, patterns=patterns)


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
    second = entry.texts(names["second"])
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
        keys=_keys(entry.texts(names["keys"]), patterns, losses, where),
        second_keys=_keys(second, patterns, losses, where),
        logic=_LOGICS[logic],
        scan_depth=entry.whole(names["scan_depth"]),
        case_sensitive=entry.flag(names["case"]),
        whole_words=entry.flag(names["words"]),
        probability=_percent(entry.whole("probability")) if used else 100,
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
        position=_POSITIONS[position] if position else "after_char" if stands == "after_char" else "",
        depth=_depth(entry.whole("depth")) if position == 4 else None,
        role=_ROLES[role] if role else "",
        ignore_budget=bool(entry.flag(names["budget"])),
        triggers=tuple(each for each in triggers if each in _TRIGGERS),
        **beside,
    )


def _item(
    entry: Fields, title: str, content: str, constant: bool, rule: LoreRule, *, patterns: bool = False
) -> LoreItem:
    content, rule, always = take_decorators(content, rule, entry.losses, entry.where, patterns=patterns)
    if patterns and not (constant or always) and not all(is_pattern(key) for key in rule.all_keys):
        entry.losses.add("keys", "dropped", "one is no valid pattern, so that the entry is never told", entry.where)
        rule = evolve(rule, enabled=False)
    if rule.position == "outlet":
        entry.losses.add("position", "dropped", "an outlet is told only where a prompt asks for it", entry.where)
        rule = evolve(rule, enabled=False)
    about = entry.text("category", "folder")
    return LoreItem(title=title, content=content, constant=constant or always, rule=rule, about=about)


def _keys(keys: Iterable[str], patterns: bool, losses: Losses, where: str) -> tuple[str, ...]:
    found = []
    for key in keys:
        key = key.strip()
        if patterns and key and not is_pattern(key):
            key = as_pattern(key)
        if is_pattern(key):
            # Whitespace is collapsed in names, but is significant in a pattern.
            key = key.replace("\n", "\\n").replace("\t", "\\t").replace("  ", "\\x20\\x20")
        if key:
            found.append(key)
    return tuple(dict.fromkeys(found))


def _depth(value: int | None) -> int:
    return 4 if value is None else value


def _order(value: int | None) -> int:
    return 100 if value is None else value


def _percent(value: int | None) -> int:
    return 100 if value is None else min(max(value, 0), 100)
