"""Writes a world as a card or a lorebook of the V3 specification, and a path of a session as a chat of SillyTavern."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from saga_backends.importers.tavern.lorebooks import LOGICS, POSITIONS, ROLES
from saga_core.values import date_of
from saga_core.world import CharacterSheet, LoreEntry, LoreRule, World, is_pattern

if TYPE_CHECKING:
    from saga_core.maintenance import StoryPath

_SECTIONS = {
    "Personality": "personality",
    "Scenario": "scenario",
    "Example dialogue": "mes_example",
    "System prompt": "system_prompt",
    "Post-history instructions": "post_history_instructions",
    "Depth prompt": "depth_prompt",
    "Creator's notes": "creator_notes",
    "Creator": "creator",
    "Version": "character_version",
    "Tags": "tags",
    "Source": "source",
}
_HEADING = re.compile(r"^### (.+)$", re.MULTILINE)


def card_of(world: World) -> dict[str, Any]:
    """The world as a card (V3). The card's character is the first one that the player does not play."""
    sheet = next((each for each in world.characters if not each.player), None)
    texts = _texts(sheet)
    depth = texts.pop("depth_prompt")
    tags, source = texts.pop("tags"), texts.pop("source")
    return {
        "spec": "chara_card_v3",
        "spec_version": "3.0",
        "data": {
            "name": sheet.name if sheet is not None else world.title,
            "nickname": sheet.aliases[0] if sheet is not None and sheet.aliases else "",
            **texts,
            "first_mes": world.greeting,
            "alternate_greetings": list(world.greetings),
            "group_only_greetings": [],
            "tags": [each.strip() for each in tags.split(",") if each.strip()],
            "source": source.split("\n") if source else [],
            "extensions": {"depth_prompt": {"prompt": depth, "depth": 4, "role": "system"}} if depth else {},
            "character_book": book_of(world),
        },
    }


def lorebook_of(world: World) -> dict[str, Any]:
    """The world's lore as a lorebook (V3)."""
    return {"spec": "lorebook_v3", "data": book_of(world)}


def book_of(world: World) -> dict[str, Any]:
    """The world's lore in the form of a card's ``character_book``."""
    return {
        "name": world.title,
        "extensions": {},
        "entries": [_entry(entry, number) for number, entry in enumerate(world.lore)],
    }


def _texts(sheet: CharacterSheet | None) -> dict[str, str]:
    """The texts of a card, from the sections of the character's body."""
    found = {"description": "", **dict.fromkeys(_SECTIONS.values(), "")}
    if sheet is None:
        return found
    at, name = 0, "description"
    for heading in _HEADING.finditer(sheet.body):
        section = _SECTIONS.get(heading[1].strip())
        if section is None:
            continue
        found[name] = sheet.body[at : heading.start()].strip()
        at, name = heading.end(), section
    found[name] = sheet.body[at:].strip()
    return found


def _entry(entry: LoreEntry, number: int) -> dict[str, Any]:
    rule = entry.rule or LoreRule()
    keys = rule.keys or (entry.name, *entry.aliases)
    content = [f"@@additional_keys {','.join(rule.additional_keys)}"] if rule.additional_keys else []
    content += [f"@@exclude_keys {','.join(rule.exclude_keys)}"] if rule.exclude_keys else []
    content += [f"@@activate_only_after {rule.only_after}"] if rule.only_after else []
    content += [f"@@activate_only_every {rule.only_every}"] if rule.only_every else []
    content += ["@@keep_activate_after_match"] if rule.keep_after_match else []
    content += ["@@dont_activate_after_match"] if rule.not_after_match else []
    found: dict[str, Any] = {
        "id": number,
        "name": entry.name,
        "comment": "",
        "keys": list(keys),
        "secondary_keys": list(rule.second_keys),
        "selective": bool(rule.second_keys),
        "content": "\n".join([*content, entry.text]),
        "constant": entry.constant,
        "enabled": rule.enabled,
        "insertion_order": rule.order,
        "position": "after_char" if rule.position == "after_char" else "before_char",
        "use_regex": any(is_pattern(key) for key in keys),
        "extensions": _extensions(rule),
    }
    if rule.case_sensitive is not None:
        found["case_sensitive"] = rule.case_sensitive
    if rule.priority is not None:
        found["priority"] = rule.priority
    if found["use_regex"] and not all(is_pattern(key) for key in (*keys, *rule.second_keys)):
        found["use_regex"] = False  # patterns between slashes are mixed with words, as SillyTavern allows
    return found


def _extensions(rule: LoreRule) -> dict[str, Any]:
    """SillyTavern's own fields, as it stores them in a card."""
    filters = rule.only_characters or rule.not_characters
    found: dict[str, Any] = {
        "position": POSITIONS.index(rule.position) if rule.position else 0,
        "depth": 4 if rule.depth is None else rule.depth,
        "role": ROLES.index(rule.role) if rule.role else 0,
        "probability": rule.probability,
        "useProbability": True,
        "selectiveLogic": LOGICS.index(rule.logic),
        "group": ", ".join(rule.groups),
        "group_override": rule.group_override,
        "group_weight": rule.group_weight,
        "use_group_scoring": rule.group_scoring,
        "exclude_recursion": rule.no_recursion_into,
        "prevent_recursion": rule.no_recursion_from,
        "delay_until_recursion": rule.recursion_level,
        "scan_depth": rule.scan_depth,
        "match_whole_words": rule.whole_words,
        "sticky": rule.sticky,
        "cooldown": rule.cooldown,
        "delay": rule.delay,
        "triggers": list(rule.triggers),
        "ignore_budget": rule.ignore_budget,
    }
    if filters:
        found["character_filter"] = {"isExclude": bool(rule.not_characters), "names": list(filters), "tags": []}
    return found


def chat_of(path: StoryPath) -> bytes:
    """A path of a session as a chat of SillyTavern, one message per line."""
    meta = {"main_chat": path.parent} if path.parent else {}
    header = {
        "user_name": path.user, "character_name": path.character, "create_date": _date(path.created),
        "chat_metadata": meta,
    }  # fmt: skip
    rows: list[dict[str, Any]] = [header]
    if path.greeting:
        rows.append(_message(path.character, path.greeting, path.created))
    for turn in path.turns:
        if turn.user:
            rows.append({**_message(path.user, turn.user, turn.at), "is_user": True})
        row = _message(turn.speaker, turn.replies[turn.taken], turn.at)
        if len(turn.replies) > 1:
            row |= {"swipe_id": turn.taken, "swipes": list(turn.replies)}
        if turn.checkpoint:
            row["extra"] = {"bookmark_link": turn.checkpoint}
        rows.append(row)
    return b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)


def _message(name: str, text: str, at: float) -> dict[str, Any]:
    return {"name": name, "is_user": False, "is_system": False, "send_date": _date(at), "mes": text, "extra": {}}


def _date(at: float) -> str:
    return date_of(at).isoformat(timespec="milliseconds").replace("+00:00", "Z")
