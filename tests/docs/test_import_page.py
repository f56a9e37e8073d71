"""docs/import.md: its tables are those of the code, and the code does what they say."""

from __future__ import annotations

import re
from typing import Any

import pytest

from saga_core.imports import Fate, importers, read_file
from saga_core.world.format import RULE_FIELDS
from tests.core.imports import every_field, samples
from tests.docs.fates import PAGE, TABLES, with_tables

TEXT = PAGE.read_text(encoding="utf-8")


def test_the_tables_are_those_of_the_code() -> None:
    assert with_tables(TEXT) == TEXT, "write them anew: python -m tests.docs.fates"
    assert set(re.findall(r"<!-- fates: ([\w.]+) -->", TEXT)) == set(TABLES)


def test_every_kind_is_on_the_page() -> None:
    listed = {cell for row in TEXT.split("\n") if row.startswith("| `") for cell in re.findall(r"^\| `(\w+)`", row)}
    assert set(importers().kinds) <= listed


def test_every_rule_of_lore_is_on_the_page() -> None:
    for spec in RULE_FIELDS:
        assert f"`{spec.key('en')}`" in TEXT, spec.attribute


def wrapped(table: str, field: str, value: Any) -> tuple[bytes, str]:
    """A file in which a field of a table says something, and the field's name among losses."""
    if table in LATER:
        return every_field.alone(table, field)
    own: dict[str, Any] = {field: value}
    entry = {"keys": ["k"], "content": "c", "enabled": True, "insertion_order": 1, "extensions": {}, "selective": True}
    chat: dict[str, Any] = {"message": [{"role": "char", "data": "Hello."}]}
    said = samples.message("Ysolde", "Hello, traveller.")
    meta = {"chat_metadata": own} if table.endswith("chat_metadata") else {"chat_metadata": {}}
    plain: Any = {
        "card": lambda: {"spec": "chara_card_v2", "data": {"name": "Y", **own}},
        "card.extensions": lambda: {"spec": "chara_card_v2", "data": {"name": "Y", "extensions": own}},
        "character_book": lambda: {"spec": "lorebook_v3", "data": {"entries": [entry], **own}},
        "character_book.entries": lambda: {"spec": "lorebook_v3", "data": {"entries": [{**entry, **own}]}},
        "character_book.entries.extensions": lambda: {
            "spec": "lorebook_v3", "data": {"entries": [{**entry, "extensions": own}]}},
        "world_info": lambda: {"entries": {"0": {"key": ["k"], "content": "c", "selective": True, **own}}},
        "decorators": lambda: {"entries": {"0": {"key": ["k"], "content": f"@@{field} {value}\nText."}}},
        "risu_lorebook": lambda: {"type": "risu", "data": [{"key": "k", "content": "c", **own}]},
        "novelai_lorebook": lambda: {"lorebookVersion": 5, "entries": [{"text": "t", "displayName": "d", **own}]},
        "agnai_book": lambda: {"entries": [{"name": "n", "entry": "e", "keywords": ["k"], **own}]},
        "risu_chat": lambda: {"type": "risuChat", "data": {**chat, **own}},
        "risu_chat.message": lambda: {
            "type": "risuChat", "data": {"message": [{**chat["message"][0], **own}, *chat["message"]]}},
        "risu_chat.summaries": lambda: {
            "type": "risuChat", "data": {"message": [{**chat["message"][0], "chatId": "a"}], "hypaV3Data": {
                "summaries": [{"text": "t", "chatMemos": ["a"], **own}]}}},
    }.get(table, lambda: None)()  # fmt: skip
    if plain is not None:
        name = {"decorators": "@@", "risu_chat.summaries": "hypaV3Data.summaries."}.get(table, "") + field
        return samples.plain(plain), f"extensions.{name}" if table.endswith("extensions") else name
    if table.endswith("header"):
        return samples.jsonl({**meta, **own}, said), field
    if table.endswith("chat_metadata"):
        return samples.jsonl({"user_name": "Alex", **meta}, said), f"chat_metadata.{field}"
    if table.endswith("extra"):
        return samples.jsonl(meta, {**said, "extra": own}, said), f"extra.{field}"
    return samples.jsonl(meta, {**said, **own}, said), field


VALUES: dict[str, Any] = {
    **samples.WORLD_INFO_ENTRY, "assets": [{"uri": "ccdefault:"}], "alternate_greetings": ["a"], "tags": ["t"],
    "source": ["s"], "group_only_greetings": ["g"], "extensions": {}, "character_book": {}, "keys": ["k"], "data": {},
    "creator_notes_multilingual": {"ko": "x"}, "depth_prompt": {"prompt": "p"}, "regex_scripts": [1],
    "risuai": {"x": 1},
    "secondary_keys": ["s"], "enabled": True, "insertion_order": 3, "priority": 3, "use_regex": True,
    "spec": "lorebook_v3",
    "case_sensitive": True, "scan_depth": 3, "token_budget": 5, "recursive_scanning": True, "mes": "Hello.", "id": 5,
    "position": 3, "group_weight": 3, "probability": 50, "useProbability": True, "entries": [], "swipes": ["a", "b"],
    "is_user": True, "is_system": True, "extra": {}, "swipe_id": 1, "chat_metadata": {}, "talkativeness": "0.9",
    "message": [{"role": "char", "data": "x"}], "localLore": [1], "fmIndex": 2, "role": 2, "keywords": ["k"],
    "secondaryKeys": ["s"], "loreBiasGroups": [1], "contextConfig": {"budgetPriority": 3}, "forceActivation": True,
    "mode": "constant", "extentions": {}, "activationPercent": 40, "insertorder": 3, "weight": 4, "entry": "e",
    "character_filter": {"names": ["n"]}, "triggers": ["swipe"], "sticky": 3, "cooldown": 3, "delay": 3, "depth": 9,
    "swipe_info": [1], "tool_invocations": [1], "files": [1], "media": [1], "image_swipes": [1], "variables": {"a": 1},
    "send_date": 1750000000, "time": 1750000000, "isComment": True, "disabled": True, "bookmarks": [1],
    "constant": True,
    "match_whole_words": True, "selectiveLogic": 1, "group_override": True, "use_group_scoring": True,
    "originalData": {"a": 1},
    "exclude_recursion": True, "prevent_recursion": True, "delay_until_recursion": 1, "ignore_budget": True,
    "alwaysActive": True, "selective": True, "useRegex": True, "group": "g", "display_index": 5, "name": "n",
}  # fmt: skip
LATER = {
    *("risu_lorebook.module", "group", "personas", "ooba_chat", "kobold_chat", "cai_chat", "cai_chat.msgs"),
    "ooba_character",
    *("agnai_chat", "agnai_chat.messages", "backyard.character", "backyard.scenario", "backyard.messages"),
    "openai_messages",
}
"""Tables whose files are made elsewhere."""
NUMBERS = ("activate_only", "depth", "probability", "priority")
IN_ROLE: dict[str, dict[str, Any]] = {
    "risu_chat.message": {"data": "Hello.", "role": "char", "name": "n", "swipes": ["a"]},
    "character_book.entries": {"position": "after_char", "extensions": {"position": 1}, "selectiveLogic": 1},
    "risu_chat": {"name": "n", "hypaV3Data": {"summaries": []}},
    "risu_chat.summaries": {"chatMemos": ["a"], "isImportant": True, "tags": ["t"]},
    "agnai_book": {"name": "n"},
    "character_book": {"extensions": {"x": 1}},
    "character_book.entries.extensions": {"addMemo": "x"},
    "world_info": {"extensions": {"x": 1}, "addMemo": "x"},
    "risu_lorebook": {"key": "k"},
}


@pytest.mark.parametrize("table", TABLES)
def test_the_fields_of_a_table_fare_as_the_page_says(table: str) -> None:
    fates = TABLES[table]
    assert {name: fared(table, name, fate) for name, fate in fates.items()} == {
        name: fate.verdict for name, fate in fates.items()
    }


def fared(table: str, field: str, fate: Fate) -> str:
    """The verdict of an import on a file with the field."""
    value = IN_ROLE.get(table, {}).get(field, VALUES.get(field, "x"))
    if table == "decorators":
        value = "3" if any(part in field for part in NUMBERS) else "user" if field == "role" else "before_desc"
    raw, name = wrapped(table, field, value)
    reading = read_file("x", raw)
    assert reading.found, reading.refused
    losses = reading.found[0].losses
    verdicts = {loss.field: loss.verdict for loss in losses if table not in LATER or loss.why == fate.why}
    if table == "risu_chat.message" and fate.verdict == "dropped" and field == "isComment":
        verdicts.setdefault(name, "dropped")
    return verdicts.get(name, "kept")
