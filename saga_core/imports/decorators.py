"""Decorators: the lines with ``@@`` that the content of an entry may begin with (V3, RisuAI, SillyTavern)."""

from __future__ import annotations

from typing import Any

from attrs import evolve, fields_dict

from saga_core.imports.fields import Fate, dropped, mapped
from saga_core.imports.records import Losses
from saga_core.world import LoreRule

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
    "dont_activate": {"enabled": False},
    "match_full_word": {"whole_words": True},
    "match_partial_word": {"whole_words": False},
    "recursive": {"no_recursion_into": False},
    "unrecursive": {"no_recursion_into": True},
    "no_recursive_search": {"no_recursion_from": True},
}
_LISTS = {"additional_keys": "keys", "exclude_keys": "exclude_keys"}

DECORATORS: dict[str, Fate] = {
    "activate": Fate("kept"),
    **dict.fromkeys(_NUMBERS, Fate("kept")),
    **dict.fromkeys(_FLAGS, Fate("kept")),
    **dict.fromkeys(_LISTS, Fate("kept")),
    "role": Fate("kept"),
    "depth": mapped(f"kept for export; {_NOT_HERE}"),
    "reverse_depth": mapped(_NOT_HERE),
    "instruct_depth": mapped(_NOT_HERE),
    "reverse_instruct_depth": mapped(_NOT_HERE),
    "instruct_scan_depth": mapped("read as scan_depth"),
    "position": mapped("after_desc and before_desc are kept for export; SAGA tells the entry among the lore"),
    "is_greeting": dropped("SAGA does not tell which greeting a chat began with"),
    "ignore_on_max_context": mapped("made the first to go when there is no room"),
    "exclude_keys_all": dropped("SAGA has no rule that wants all of several excluding keys"),
    "is_user_icon": dropped("a picture of the player says nothing to a narrator"),
    "disable_ui_prompt": dropped("prompts of the frontend are the frontend's"),
    "inject_at": dropped("SAGA writes nothing into the frontend's own texts"),
    "inject_lore": dropped("SAGA writes nothing into other entries"),
    "inject_replace": dropped("SAGA writes nothing into the frontend's own texts"),
    "inject_prepend": dropped("SAGA writes nothing into the frontend's own texts"),
    "end": Fate("kept"),
}
"""What becomes of each decorator."""

_POSITIONS = {"before_desc": "before_char", "after_desc": "after_char"}
_DEEP = 16


def take_decorators(content: str, rule: LoreRule, losses: Losses, where: str) -> tuple[str, LoreRule, bool]:
    """The content without its decorators, the rule with them, and whether the entry is always told."""
    if not content.lstrip().startswith("@@"):
        return content, rule, False
    lines = content.lstrip().split("\n")
    at, constant, settled, fallbacks = 0, False, False, 0
    while at < len(lines) and lines[at].startswith("@@"):
        line = lines[at].rstrip()
        name, _, value = line.lstrip("@").strip().partition(" ")
        is_fallback = line.startswith("@@@")
        at += 1
        if is_fallback and settled:
            continue
        fallbacks = fallbacks + 1 if is_fallback else 0
        fate = DECORATORS.get(name)
        settled = fate is not None and fate.verdict != "dropped" and fallbacks <= _DEEP
        if fate is None:
            losses.add(f"@@{name[:40]}", "dropped", "SAGA does not know this decorator", where)
            continue
        if fate.verdict == "dropped":
            losses.add(f"@@{name}", "dropped", fate.why, where)
            continue
        if fate.verdict == "mapped":
            losses.add(f"@@{name}", "mapped", fate.why, where)
        if name == "end":
            break
        constant = constant or name == "activate"
        rule = evolve(rule, **_changes(name, value.strip(), rule, losses, where))
    return "\n".join(lines[at:]).lstrip("\n"), rule, constant


def _changes(name: str, value: str, rule: LoreRule, losses: Losses, where: str) -> dict[str, Any]:
    if name in _FLAGS:
        return _FLAGS[name]
    if name in _LISTS:
        own = fields_dict(LoreRule)[_LISTS[name]].name
        return {own: (*getattr(rule, own), *(each.strip() for each in value.split(",") if each.strip()))}
    if name in _NUMBERS or name == "instruct_scan_depth":
        own = _NUMBERS.get(name, "scan_depth")
        if not value.isdecimal() or len(value) > 9:
            losses.add(f"@@{name}", "dropped", "its value is no whole number", where)
            return {}
        placed = {"position": "at_depth"} if own == "depth" else {}
        return {own: min(int(value), 100) if own == "probability" else int(value), **placed}
    if name == "role" and value in ("system", "user", "assistant"):
        return {"role": value}
    if name == "position" and value in _POSITIONS:
        return {"position": _POSITIONS[value]}
    if name == "ignore_on_max_context":
        return {"priority": 0}
    return {}
