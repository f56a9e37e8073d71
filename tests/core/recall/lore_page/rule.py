"""A lore entry as plain values, read from the formats' fields and from nothing of SAGA's.

Written without a look at SAGA's own code, from the reference of formats that the project keeps ("the page") and, where
the page lists a field without saying what it does, from SillyTavern's manual and the V3 specification that it names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

LOGICS = ("and_any", "not_all", "not_any", "and_all")  # selectiveLogic 0 to 3


@dataclass(frozen=True)
class Filter:
    """Keys that must (or must not) stand in the text besides the first ones."""

    keys: tuple[str, ...]
    logic: str = "and_any"


@dataclass(frozen=True)
class Rule:
    name: str
    content: str = ""
    keys: tuple[str, ...] = ()
    filters: tuple[Filter, ...] = ()
    patterns: bool = False  # V3's use_regex: every key is a pattern, with slashes or without
    enabled: bool = True
    constant: bool = False
    always: bool = False
    never: bool = False
    case: bool = False  # null in a file is a setting of the tool, whose default is off
    whole: bool = False  # likewise
    depth: int = 2  # likewise: two messages
    chance: float = 100
    sticky: int = 0
    cooldown: int = 0
    delay: int = 0
    groups: tuple[str, ...] = ()
    weight: float = 100
    override: bool = False
    scoring: bool = False
    shut_to_lore: bool = False  # excludeRecursion: other entries do not open it
    mute_to_lore: bool = False  # preventRecursion: it opens no others
    level: int = 0
    order: float = 100
    names: tuple[str, ...] = ()
    names_excluded: bool = False
    triggers: tuple[str, ...] = ()
    free: bool = False  # ignoreBudget
    only_after: int = 0
    only_every: int = 0
    keep_after: bool = False
    not_after: bool = False


def world_info_rules(book: Mapping[str, Any]) -> list[Rule]:
    """The entries of a World Info file (an object by uid, not a list)."""
    return [_world_info_rule(entry) for entry in book["entries"].values()]


def _world_info_rule(entry: Mapping[str, Any]) -> Rule:
    second = once(entry.get("keysecondary") or ()) if entry.get("selective") else ()
    who = entry.get("characterFilter") or {}
    rule = Rule(
        name=entry["comment"],
        content=entry["content"],
        keys=once(entry.get("key") or ()),
        filters=(Filter(second, LOGICS[entry.get("selectiveLogic") or 0]),) if second else (),
        enabled=not entry.get("disable"),
        constant=bool(entry.get("constant")),
        case=bool(entry.get("caseSensitive")),
        whole=bool(entry.get("matchWholeWords")),
        depth=2 if entry.get("scanDepth") is None else entry["scanDepth"],
        chance=entry.get("probability", 100) if entry.get("useProbability") else 100,
        sticky=entry.get("sticky") or 0,
        cooldown=entry.get("cooldown") or 0,
        delay=entry.get("delay") or 0,
        groups=comma_list(entry.get("group") or ""),
        weight=entry.get("groupWeight", 100),
        override=bool(entry.get("groupOverride")),
        scoring=bool(entry.get("useGroupScoring")),
        shut_to_lore=bool(entry.get("excludeRecursion")),
        mute_to_lore=bool(entry.get("preventRecursion")),
        level=int(entry.get("delayUntilRecursion") or 0),  # a number; in old files a boolean
        order=entry.get("order", 100),
        names=tuple(who.get("names") or ()),
        names_excluded=bool(who.get("isExclude")),
        triggers=tuple(entry.get("triggers") or ()),
        free=bool(entry.get("ignoreBudget")),
    )
    # The page: World Info knows two decorators. Others are text there.
    return decorated(rule, known=("activate", "dont_activate"))


def book_rules(book: Mapping[str, Any]) -> list[Rule]:
    """The entries of a V3 lorebook's ``data`` (or a card's ``character_book``)."""
    return [_book_rule(book, entry) for entry in book["entries"]]


def _book_rule(book: Mapping[str, Any], entry: Mapping[str, Any]) -> Rule:
    own = entry.get("extensions") or {}
    if "selectiveLogic" in own:
        return _tavern_rule(entry, own)
    # The specification lets use_regex overrule second keys and `constant` ("SHOULD"). Both tools that write such books
    # heed them all the same, and so does this: use_regex only makes every key a pattern.
    second = once(entry.get("secondary_keys") or ()) if entry.get("selective") else ()
    recursive = book.get("recursive_scanning", True)  # undefined: the application decides
    depth = book.get("scan_depth")
    rule = Rule(
        name=entry["name"],
        content=entry["content"],
        keys=once(entry["keys"]),
        filters=(Filter(second),) if second else (),
        patterns=bool(entry.get("use_regex")),
        enabled=entry["enabled"],
        constant=bool(entry.get("constant")),
        case=bool(entry.get("case_sensitive")),
        depth=2 if depth is None else depth,
        shut_to_lore=not recursive,
        order=entry["insertion_order"],
    )
    return decorated(rule)


_TAVERN = {
    "use_group_scoring": "useGroupScoring", "group_override": "groupOverride", "group_weight": "groupWeight",
    "exclude_recursion": "excludeRecursion", "prevent_recursion": "preventRecursion", "scan_depth": "scanDepth",
    "delay_until_recursion": "delayUntilRecursion", "match_whole_words": "matchWholeWords",
    "case_sensitive": "caseSensitive", "character_filter": "characterFilter",
    "ignore_budget": "ignoreBudget",
}  # fmt: skip


def _tavern_rule(entry: Mapping[str, Any], own: Mapping[str, Any]) -> Rule:
    """An entry that SillyTavern wrote into a card. It says ``use_regex`` of every entry, and never reads it."""
    plain = {_TAVERN.get(name, name): value for name, value in own.items()}
    plain |= {
        "comment": entry["name"],
        "content": entry["content"],
        "key": entry["keys"],
        "keysecondary": entry["secondary_keys"],
        "selective": entry.get("selective"),
        "constant": entry.get("constant"),
        "disable": not entry["enabled"],
        "order": entry["insertion_order"],
    }
    return _world_info_rule(plain)


def once(keys: Sequence[str]) -> tuple[str, ...]:
    """Each key once: what is written twice is no second key."""
    return tuple(dict.fromkeys(keys))


def comma_list(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


@dataclass
class _Seen:
    names: set[str] = field(default_factory=set)


def decorated(rule: Rule, known: Sequence[str] | None = None) -> Rule:
    """The rule without the decorators at the head of its content, and with what they say."""
    lines = rule.content.split("\n")
    seen = _Seen()
    taken_above = True  # whether the decorator above a fallback was understood
    while lines and (lines[0].startswith("@@") or not lines[0].strip()):
        line = lines.pop(0).strip()
        if not line:
            continue
        fallback = line.startswith("@@@")
        if fallback and taken_above:
            continue
        word, _, value = line.lstrip("@").partition(" ")
        understood = _apply(rule, word, value.strip()) if known is None or word in known else None
        taken_above = understood is not None
        if understood is None or word in seen.names:  # of several with one name the first counts
            continue
        seen.names.add(word)
        rule = understood
    never = rule.never and not rule.always  # the specification: `activate` overrules `dont_activate`
    return replace(rule, content="\n".join(lines), never=never)


_FLAGS: dict[str, dict[str, Any]] = {
    "activate": {"always": True},
    "dont_activate": {"never": True},
    "keep_activate_after_match": {"keep_after": True},
    "dont_activate_after_match": {"not_after": True},
    # RisuAI's own. The page lists the names; these are their plain meanings.
    "match_full_word": {"whole": True},
    "match_partial_word": {"whole": False},
    "unrecursive": {"mute_to_lore": True},
    "recursive": {"mute_to_lore": False},
    "no_recursive_search": {"shut_to_lore": True},
}
_NUMBERS = {"activate_only_after": "only_after", "activate_only_every": "only_every", "scan_depth": "depth"}
# Where an entry stands, who says it, what goes first: understood, and nothing that opens it.
_PLACES = ("depth", "reverse_depth", "role", "position", "ignore_on_max_context", "priority", "end")
# Not understood in a chat, by the specification: instruct_depth, reverse_instruct_depth, instruct_scan_depth.


def _apply(rule: Rule, word: str, value: str) -> Rule | None:
    """The rule with one decorator; None for one that is unknown or whose value is not valid."""
    if word in _FLAGS:
        return replace(rule, **_FLAGS[word])
    if word in _NUMBERS:
        return replace(rule, **{_NUMBERS[word]: int(value)}) if value.isdecimal() else None
    if word == "probability":
        return replace(rule, chance=float(value)) if value.isdecimal() else None
    if word == "additional_keys":
        return replace(rule, filters=(*rule.filters, Filter(comma_list(value)))) if value else None
    if word == "exclude_keys":
        return replace(rule, filters=(*rule.filters, Filter(comma_list(value), "not_any"))) if value else None
    return rule if word in _PLACES else None
