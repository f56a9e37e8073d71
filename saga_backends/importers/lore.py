"""What entries of lorebooks of several tools share: keys, numbers, and decorators.

Decorators are the ``@@`` lines at the beginning of an entry's content (V3, RisuAI, SillyTavern).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from attrs import evolve

from saga_core.imports import KEPT, Fields, LoreItem, Losses, Unreadable, dropped, fates, mapped
from saga_core.world import LoreRule, as_pattern, is_pattern

ENTRIES = 50_000
"""Most entries of a lorebook."""
ANY = -999_999_999
"""The least number that an order or a priority may be."""
PLACE = mapped("kept for export; SAGA tells all lore in one place, before the player's words")

_NOT_HERE = "SAGA's prompt has no such place; the entry is told among the lore"
_NUMBERS = {
    "activate_only_after": "only_after",
    "activate_only_every": "only_every",
    "scan_depth": "scan_depth",
    "depth": "depth",
    "probability": "probability",
    "priority": "priority",
}
_FLAGS: dict[str, dict[str, Any]] = {
    "keep_activate_after_match": {"keep_after_match": True},
    "dont_activate_after_match": {"not_after_match": True},
    "activate": {},
    "dont_activate": {},
    "match_full_word": {"whole_words": True},
    "match_partial_word": {"whole_words": False},
    "recursive": {"no_recursion_from": False},
    "unrecursive": {"no_recursion_from": True},
    "no_recursive_search": {"no_recursion_into": True},
}
_LISTS = ("additional_keys", "exclude_keys")
_COUNTED = dropped("it counts a text without messages; SAGA's chats have messages")

DECORATORS = fates(
    (KEPT, " ".join((*_NUMBERS, *_FLAGS, *_LISTS, "role"))),
    (mapped(f"kept for export; {_NOT_HERE}"), "depth"),
    (mapped(_NOT_HERE), "reverse_depth"),
    (_COUNTED, "instruct_depth reverse_instruct_depth instruct_scan_depth"),
    (mapped("after_desc and before_desc are kept for export; SAGA tells the entry among the lore"), "position"),
    (dropped("SAGA does not tell which greeting a chat began with"), "is_greeting"),
    (mapped("made the first to go when there is no room"), "ignore_on_max_context"),
    (dropped("SAGA has no rule that wants all of several excluding keys"), "exclude_keys_all"),
    (dropped("a picture of the player says nothing to a narrator"), "is_user_icon"),
    (dropped("prompts of the frontend are the frontend's"), "disable_ui_prompt"),
    (dropped("SAGA writes nothing into the frontend's own texts"), "inject_at inject_replace inject_prepend"),
    (dropped("SAGA writes nothing into other entries"), "inject_lore"),
    (mapped(f"the last place of the chat, kept for export; {_NOT_HERE}"), "end"),
)
"""The fate of each decorator."""

_POSITIONS = {"before_desc": "", "after_desc": "after_char"}
_DEEP = 16


def take_decorators(
    content: str, rule: LoreRule, losses: Losses, where: str, *, patterns: bool = False
) -> tuple[str, LoreRule, bool]:
    """Return the content without its decorators, the rule with them applied, and whether the entry is always told.

    If a decorator occurs several times, the first one counts. A fallback (``@@@``) counts only if the decorator above
    it is unknown, unsupported or invalid. With ``patterns``, the keys of decorators are regular expressions.
    """
    if not content.lstrip().startswith("@@"):
        return content, rule, False
    lines = content.lstrip().split("\n")
    at, settled, fallbacks = 0, False, 0
    seen: set[str] = set()
    while at < len(lines) and lines[at].startswith("@@"):
        line = lines[at].rstrip()
        name, _, value = line.lstrip("@").strip().partition(" ")
        is_fallback = line.startswith("@@@")
        at += 1
        if is_fallback and settled:
            continue
        fallbacks = fallbacks + 1 if is_fallback else 0
        settled = False
        fate = DECORATORS.get(name)
        if fate is None or fallbacks > _DEEP:
            losses.add(f"@@{name[:40]}", "dropped", "SAGA does not know this decorator", where)
            continue
        if fate.verdict == "dropped":
            losses.add(f"@@{name}", "dropped", fate.why, where)
            continue
        changes = _changes(name, value.strip(), rule, patterns)
        if changes is None:
            losses.add(f"@@{name}", "dropped", _INVALID, where)
            continue
        settled = True
        if name in seen:
            losses.add(f"@@{name}", "dropped", "of several with one name the first counts", where)
            continue
        seen.add(name)
        if fate.verdict == "mapped":
            losses.add(f"@@{name}", "mapped", fate.why, where)
        rule = evolve(rule, **changes)
    always = "activate" in seen
    if "dont_activate" in seen and not always:
        rule = evolve(rule, enabled=False)
    return "\n".join(lines[at:]).lstrip("\n"), rule, always


_INVALID = "its value is not one that this decorator has"


def _changes(name: str, value: str, rule: LoreRule, patterns: bool) -> dict[str, Any] | None:
    """The fields of a rule that a decorator sets; None if its value is invalid."""
    if name in _FLAGS:
        return _FLAGS[name]
    if name in _LISTS:
        keys = [each.strip() for each in value.split(",") if each.strip()]
        return {name: tuple(_pattern(key) if patterns else key for key in keys)} if keys else None
    if name in _NUMBERS:
        own = _NUMBERS[name]
        if not value.isdecimal() or len(value) > 9:
            return None
        placed = {"position": "at_depth"} if own == "depth" else {}
        return {own: min(int(value), 100) if own == "probability" else int(value), **placed}
    if name == "role":
        return {"role": value} if value in ("system", "user", "assistant") else None
    if name == "position":
        return {"position": _POSITIONS[value], "depth": None} if value in _POSITIONS else None
    if name == "ignore_on_max_context":
        return {"priority": 0}
    if name == "end":
        return {"position": "at_depth", "depth": 0}
    return {} if name == "reverse_depth" and value.isdecimal() else None


def _pattern(key: str) -> str:
    return key if is_pattern(key) else as_pattern(key)


# -- entries -----------------------------------------------------------------------------------------------------


def entries_of(plain: Mapping[str, Any], losses: Losses) -> Iterable[Fields]:
    """Yield the entries of a book. Raises ``Unreadable`` for more than 50,000."""
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
            yield Fields(each, losses, where)
        else:
            losses.add("entries", "dropped", "is no object", where)


def item_of(
    entry: Fields, title: str, content: str, constant: bool, rule: LoreRule, *, patterns: bool = False
) -> LoreItem:
    """Return an entry with the decorators of its content applied."""
    content, rule, always = take_decorators(content, rule, entry.losses, entry.where, patterns=patterns)
    if patterns and not (constant or always) and not all(is_pattern(key) for key in rule.all_keys):
        entry.losses.add("keys", "dropped", "one is no valid pattern, so that the entry is never told", entry.where)
        rule = evolve(rule, enabled=False)
    if rule.position == "outlet":
        entry.losses.add("position", "dropped", "an outlet is told only where a prompt asks for it", entry.where)
        rule = evolve(rule, enabled=False)
    about = entry.text("category", "folder")
    return LoreItem(title=title, content=content, constant=constant or always, rule=rule, about=about)


def key_texts(entry: Fields, name: str) -> tuple[str, ...]:
    """The keys in a field. A text in place of a list is split at commas, unless it is a pattern."""
    value = entry.plain.get(name)
    if not isinstance(value, str) or is_pattern(value) or "," not in value:
        return entry.texts(name)
    entry.losses.add(name, "mapped", "a text in place of a list; it was split at commas", entry.where)
    return entry.texts(name, split=True)


def keys_of(keys: Iterable[str], patterns: bool = False) -> tuple[str, ...]:
    """Return the keys of an entry. With ``patterns``, all of them are regular expressions."""
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


def first_entry_has(plain: Mapping[str, Any], *names: str) -> bool:
    """Whether the first of ``entries`` has fields of these names."""
    rows = plain.get("entries")
    values: Iterable[Any] = rows.values() if isinstance(rows, dict) else rows if isinstance(rows, list) else ()
    each = next(iter(values), None)
    return isinstance(each, dict) and all(name in each for name in names)


def order_of(value: int | None) -> int:
    """Return the order of an entry, 100 by default."""
    return 100 if value is None else value


def percent_of(value: int | None) -> int:
    """Return a chance from 0 to 100, 100 by default."""
    return 100 if value is None else min(max(value, 0), 100)
