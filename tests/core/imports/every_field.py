"""Files of every kind that use every field of their tables, or some of them."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import yaml

from tests.core.imports import samples
from tests.docs.fates import TABLES

Part = Callable[[str], dict[str, Any]]
"""A table's name to the fields that a file is to have of it."""

NUMBERS = {"sticky": 4, "cooldown": 8, "delay": 2, "probability": 60, "depth": 2, "position": 3, "role": 2}
_RULES: dict[str, Any] = {
    **NUMBERS,
    "useProbability": False,
    "selectiveLogic": 3,
    "group": "keys",
    "triggers": ["swipe"],
    "vectorized": True,
}
FIELDS: dict[str, dict[str, Any]] = {
    "card": {
        **samples.card_v3()["data"], "extensions": {}, "character_book": {}, "avatar": "a.png",
        "creator_notes_multilingual": {"ko": "메모"},
    },
    "card.extensions": {
        **samples.card_v2()["data"]["extensions"], "talkativeness": "0.7", "risuai": {"lowLevelAccess": True},
    },
    "character_book": {
        "name": "Harrow", "description": "Salt.", "scan_depth": 4, "token_budget": 500, "recursive_scanning": True,
        "extensions": {"x": 1}, "entries": [], "originalData": {"a": 1},
    },
    "character_book.entries": {
        "keys": ["salt gate"], "secondary_keys": ["rain"], "content": "The gate is shut.", "extensions": {},
        "enabled": True, "insertion_order": 7, "case_sensitive": True, "name": "Gate", "priority": 3, "id": 9,
        "comment": "memo", "selective": True, "constant": True, "position": "after_char", "use_regex": True,
        "selectiveLogic": 2,
    },
    "character_book.entries.extensions": {
        **_RULES, "group_override": True, "group_weight": 5, "use_group_scoring": True, "exclude_recursion": True,
        "prevent_recursion": True, "delay_until_recursion": 2, "scan_depth": 3, "case_sensitive": True,
        "match_whole_words": True, "ignore_budget": True, "excludeRecursion": True, "preventRecursion": True,
        "character_filter": {"isExclude": True, "names": ["Y"], "tags": ["t"]}, "automation_id": "a",
        "outlet_name": "o", "display_index": 1, "addMemo": "x", "linked": True, "weight": 10,
        **dict.fromkeys((
            "match_persona_description", "match_character_description", "match_character_personality",
            "match_character_depth_prompt", "match_scenario", "match_creator_notes"), True),
    },
    "world_info": {**samples.WORLD_INFO_ENTRY, "uid": 3, "addMemo": "x", "extensions": {"x": 1}, "disable": True,
                   "constant": True},
    "decorators": {
        **dict.fromkeys(TABLES["decorators"], ""), "activate_only_after": "2", "activate_only_every": "3",
        "scan_depth": "4", "probability": "40", "priority": "5", "depth": "6", "reverse_depth": "2",
        "instruct_depth": "1", "reverse_instruct_depth": "1", "instruct_scan_depth": "2", "role": "user",
        "position": "before_desc", "is_greeting": "1", "additional_keys": "a,b", "exclude_keys": "c",
        "exclude_keys_all": "d,e", "disable_ui_prompt": "post_history_instructions", "inject_at": "desc",
        "inject_lore": "x", "inject_replace": "y", "inject_prepend": "z",
    },
    "risu_lorebook": {
        "key": "mill, weir", "secondkey": "night", "insertorder": 50, "comment": "Mill",
        "content": "The wheel stopped.",
        "mode": "multiple", "alwaysActive": True, "selective": True, "activationPercent": 50, "useRegex": True,
        "bookVersion": 2, "id": "u", "folder": "f", "extentions": {"risu_case_sensitive": True}, "loreCache": {"a": 1},
    },
    "risu_lorebook.module": {
        "name": "M", "lorebook": [1], "description": "d", "id": "u", "namespace": "n", "regex": [1], "trigger": [1],
        "cjs": "x", "assets": [1], "backgroundEmbedding": "<b>", "customModuleToggle": "t", "lowLevelAccess": True,
    },
    "novelai_lorebook": {**samples.NOVELAI["entries"][0]},
    "agnai_book": {
        "name": "Cat", "entry": "A cat.", "keywords": ["cat"], "weight": 2, "priority": 5, "enabled": True, "id": 1,
        "constant": True, "secondaryKeys": ["dog"], "selective": True, "comment": "note", "position": "after_char",
        "probability": 40,
    },
    "sillytavern_chat.header": {
        "user_name": "Alex", "character_name": "Ysolde", "create_date": "2025-06-03@16h05m12s", "chat_metadata": {},
    },
    "sillytavern_chat.chat_metadata": {
        **dict.fromkeys(TABLES["sillytavern_chat.chat_metadata"], "x"), "note_depth": 4, "note_interval": 1,
        "timedWorldInfo": {"sticky": {"world.1": {"start": 3, "end": 7}}}, "variables": {"gold": 3},
        "script_injects": {"a": 1}, "attachments": [1], "tainted": True,
    },
    "sillytavern_chat.messages": {
        "name": "Ysolde", "is_user": False, "is_system": True, "is_name": True, "send_date": "June 3, 2024 4:05pm",
        "mes": "The lamp flickers.", "extra": {}, "force_avatar": "a", "original_avatar": "b", "swipe_id": 1,
        "swipes": ["Nothing happens.", "The lamp flickers."], "swipe_info": [{"send_date": "x"}], "gen_started": "x",
        "gen_finished": "y", "title": "t", "variables": [{"a": 1}],
    },
    "sillytavern_chat.extra": {
        **dict.fromkeys(TABLES["sillytavern_chat.extra"], "x"), "reasoning_duration": 7, "time_to_first_token": 7,
        "token_count": 40, "tool_invocations": [{}], "files": [{}], "media": [{}], "image_swipes": ["x"],
        "inline_image": True, "swipeable": True, "memory": "In short.",
    },
    "risu_chat": {
        **dict.fromkeys(TABLES["risu_chat"], "x"), "message": [], "name": "Mill night", "localLore": [{}], "fmIndex": 1,
        "hypaV2Data": {"a": 1}, "hypaV3Data": {}, "scriptstate": {"$a": 1}, "modules": ["m"], "lastDate": 7,
        "bookmarks": ["b"], "bookmarkNames": {"b": "B"}, "suggestMessages": ["s"], "isStreaming": True,
    },
    "risu_chat.message": {
        "role": "char", "data": "The mill is dark.", "saying": "c", "chatId": "a", "time": 1750000001000,
        "name": "Miller",
        "generationInfo": {"model": "m"}, "promptInfo": {"p": 1}, "otherUser": True, "disabled": "allBefore",
        "isComment": True, "swipes": ["The mill is lit.", "The mill is dark."], "swipeId": 1,
    },
    "risu_chat.summaries": {
        "text": "The mill was dark.", "chatMemos": ["a"], "isImportant": True, "categoryId": "c", "tags": ["t"],
    },
    "group": {
        **dict.fromkeys(TABLES["group"], "x"), "members": ["a.png"], "chats": ["one"], "chat_id": "one",
        "past_metadata": {"one": {"main_chat": "two"}}, "chat_metadata": {"main_chat": "three"},
        "allow_self_responses": True, "activation_strategy": 1, "generation_mode": 1, "disabled_members": ["b.png"],
        "fav": True, "date_added": 1.5,
    },
    "personas": {
        "personas": {"a.png": "Alex"}, "persona_descriptions": {"a.png": {"description": "d"}},
        "default_persona": "a.png",
    },
    "ooba_chat": {**samples.OOBA_NEW, "data": [["a", "b"]], "data_visible": [["Hi.", "Sit down."]]},
    "ooba_character": dict.fromkeys(TABLES["ooba_character"], "x"),
    "kobold_chat": {**samples.KOBOLD, "authorsnote": "a", "worldinfo": [{"key": "k"}]},
    "cai_chat": {**samples.CAI, "info": {"name": "Bot"}},
    "cai_chat.msgs": {"src": {"is_human": False, "name": "Bot"}, "text": "How are you?"},
    "agnai_chat": {**samples.AGNAI_CHAT},
    "agnai_chat.messages": {
        "_id": "3", "msg": "Good evening.", "characterId": "c", "userId": "u", "handle": "Bot", "name": "B",
        "createdAt": "2025-06-03T16:05:00Z", "updatedAt": "2025-06-03T16:05:00Z", "kind": "chat-message",
    },
    "backyard.character": {
        "displayName": "Byra", "name": "B", "persona": "A pilot.", "loreItems": [{"key": "ship", "value": "A ship."}],
        "images": ["images/x.png"], "id": "c", "schemaVersion": 1, "createdAt": "2025", "updatedAt": "2025",
    },
    "backyard.scenario": {
        "title": "Dock", "narrative": "At the dock.", "firstMessages": [{"text": "Welcome."}],
        "exampleMessages": [{"text": "Ex."}], "messages": [], "formattingInstructions": "Be brief.", "schemaVersion": 1,
    },
    "backyard.messages": {
        "type": "ai", "text": "Taken.", "createdAt": "2025-06-03T16:05:00Z", "updatedAt": "2025-06-03T16:05:00Z",
        "outputs": [{"text": "Swipe."}, {"text": "Taken."}],
    },
    "openai_messages": {"role": "assistant", "content": "Sit down.", "name": "Ysolde"},
}  # fmt: skip
"""Every field of every table, each with a value that says something."""

ELSEWHERE = {"character_book": {"spec", "data"}, "risu_chat.message": set[str](), "card": set[str]()}
"""Fields of a table that stand around what the table is about."""
NEEDED: dict[str, set[str]] = {
    "card": {"name", "extensions", "character_book"},
    "character_book": {"entries"},
    "character_book.entries": {"keys", "content", "extensions", "selective"},
    "world_info": {"key", "content", "selective"},
    "risu_lorebook": {"key", "content", "selective"},
    "risu_lorebook.module": {"lorebook"},
    "novelai_lorebook": {"text", "displayName"},
    "agnai_book": {"name", "entry", "keywords", "selective"},
    "sillytavern_chat.header": {"chat_metadata"},
    "sillytavern_chat.messages": {"mes", "extra", "name", "is_user"},
    "risu_chat": {"message", "hypaV3Data"},
    "risu_chat.message": {"role", "data", "chatId"},
    "risu_chat.summaries": {"text", "chatMemos"},
    "group": {"members", "chats"},
    "personas": {"personas", "persona_descriptions"},
    "ooba_chat": {"internal"},
    "ooba_character": {"name", "context", "greeting"},
    "kobold_chat": {"actions", "prompt"},
    "cai_chat": {"histories"},
    "cai_chat.msgs": {"src", "text"},
    "agnai_chat": {"messages"},
    "agnai_chat.messages": {"msg", "characterId", "userId"},
    "backyard.scenario": {"messages"},
    "backyard.messages": {"type", "text", "outputs"},
    "openai_messages": {"role", "content"},
}
"""Without these a file is of another kind, or holds nothing."""
PREFIX = {
    "card.extensions": "extensions.", "character_book.entries.extensions": "extensions.", "decorators": "@@",
    "risu_lorebook.module": "module.", "sillytavern_chat.chat_metadata": "chat_metadata.",
    "sillytavern_chat.extra": "extra.", "risu_chat.summaries": "hypaV3Data.summaries.", "cai_chat.msgs": "msgs.",
    "agnai_chat.messages": "messages.", "backyard.messages": "messages.",
}  # fmt: skip
"""What stands before a table's fields among losses."""
_BOOK = ("character_book", "character_book.entries", "character_book.entries.extensions")


def _book(part: Part) -> dict[str, Any]:
    entry = {**part(_BOOK[1]), "extensions": part(_BOOK[2])}
    return {**part(_BOOK[0]), "entries": [entry]}


def _card(part: Part) -> dict[str, Any]:
    data = {**part("card"), "extensions": part("card.extensions"), "character_book": _book(part)}
    return {"spec": "chara_card_v3", "spec_version": "3.0", "data": data}


def _png(part: Part) -> bytes:
    return samples.png({"ccv3": base64.b64encode(samples.plain(_card(part)))})


def _yaml(part: Part) -> bytes:
    return yaml.safe_dump(part("ooba_character"), allow_unicode=True).encode()


def _decorated(part: Part) -> bytes:
    lines = [f"@@{name} {value}".rstrip() for name, value in part("decorators").items()]
    entry = {"key": ["k"], "content": "\n".join([*lines, "Text."]), "selective": True}
    return samples.plain({"entries": {"0": entry}})


def _sillytavern(part: Part) -> bytes:
    said = samples.message("Alex", "I knock.", user=True)
    told = {**part("sillytavern_chat.messages"), "extra": part("sillytavern_chat.extra")}
    # What is hidden and of the tool besides is no message of the story.
    hidden = {**samples.message("Ysolde", "Hidden words."), "is_system": bool(told.pop("is_system", False))}
    header = {**part("sillytavern_chat.header"), "chat_metadata": part("sillytavern_chat.chat_metadata")}
    return samples.jsonl(header, samples.message("Ysolde", "Night."), said, told, hidden)


def _risu(part: Part) -> dict[str, Any]:
    said = {"role": "user", "data": "I knock at the mill."}
    told = dict(part("risu_chat.message"))
    comment = {"role": "user", "data": "A comment.", "isComment": told.pop("isComment", False)}
    rows = [said, told, comment]
    return {**part("risu_chat"), "message": rows, "hypaV3Data": {"summaries": [part("risu_chat.summaries")]}}


def _cai(part: Part) -> bytes:
    msgs = [{"src": {"is_human": True, "name": "Me"}, "text": "Hi."}, part("cai_chat.msgs")]
    return samples.plain({**part("cai_chat"), "histories": {"histories": [{"msgs": msgs}]}})


def _agnai(part: Part) -> bytes:
    said = {"msg": "Hello.", "userId": "u"}
    return samples.plain({**part("agnai_chat"), "messages": [said, part("agnai_chat.messages")]})


def _byaf(part: Part) -> bytes:
    said = {"type": "human", "text": "Hello."}
    scenario = {**part("backyard.scenario"), "messages": [said, part("backyard.messages")]}
    return samples.zipped({
        "manifest.json": samples.plain({"schemaVersion": 1}),
        "characters/a/character.json": samples.plain(part("backyard.character")),
        "characters/a/images/x.png": b"png",
        "scenarios/s1.json": samples.plain(scenario),
    })  # fmt: skip


def _rows(part: Part) -> list[Any]:
    return [{"role": "user", "content": "Hi."}, part("openai_messages")]


def plainly(build: Callable[[Part], Any]) -> Callable[[Part], bytes]:
    return lambda part: samples.plain(build(part))


_CHAT = tuple(name for name in TABLES if name.startswith("sillytavern_chat"))
_RISU_CHAT = ("risu_chat", "risu_chat.message", "risu_chat.summaries")
_BYAF = ("backyard.character", "backyard.scenario", "backyard.messages")
FILES: tuple[tuple[str, tuple[str, ...], Callable[[Part], bytes]], ...] = (
    ("card", ("card", "card.extensions", *_BOOK), plainly(_card)),
    ("card", ("card", "card.extensions", *_BOOK), _png),
    ("card", _BYAF, _byaf),
    ("backyard_chat", _BYAF, _byaf),
    ("character_book", _BOOK, plainly(_book)),
    ("character_book", _BOOK, plainly(lambda part: {**_book(part), "entries": {"7": _book(part)["entries"][0]}})),
    ("lorebook_v3", _BOOK, plainly(lambda part: {"spec": "lorebook_v3", "data": _book(part)})),
    ("world_info", ("world_info",), plainly(lambda part: {"entries": {"0": part("world_info")}})),
    ("world_info", ("decorators",), _decorated),
    ("risu_lorebook", ("risu_lorebook",), plainly(lambda part: {"type": "risu", "data": [part("risu_lorebook")]})),
    ("risu_lorebook", ("risu_lorebook", "risu_lorebook.module"), plainly(lambda part: {
        "type": "risuModule", "module": {**part("risu_lorebook.module"), "lorebook": [part("risu_lorebook")]}})),
    ("novelai_lorebook", ("novelai_lorebook",), plainly(
        lambda part: {"lorebookVersion": 5, "entries": [part("novelai_lorebook")]})),
    ("agnai_book", ("agnai_book",), plainly(lambda part: {"entries": [part("agnai_book")]})),
    ("sillytavern_chat", _CHAT, _sillytavern),
    ("risu_chat", _RISU_CHAT, plainly(lambda part: {"type": "risuChat", "ver": 2, "data": _risu(part)})),
    ("risu_chat", _RISU_CHAT, plainly(lambda part: {"type": "risuAllChats", "ver": 2, "data": [_risu(part)]})),
    ("group", ("group",), plainly(lambda part: part("group"))),
    ("personas", ("personas",), plainly(lambda part: part("personas"))),
    ("personas", ("personas",), plainly(lambda part: {"power_user": part("personas")})),
    ("ooba_chat", ("ooba_chat",), plainly(lambda part: part("ooba_chat"))),
    ("card", ("ooba_character",), _yaml),
    ("kobold_chat", ("kobold_chat",), plainly(lambda part: part("kobold_chat"))),
    ("cai_chat", ("cai_chat", "cai_chat.msgs"), _cai),
    ("agnai_chat", ("agnai_chat", "agnai_chat.messages"), _agnai),
    ("openai_messages", ("openai_messages",), plainly(_rows)),
    ("openai_messages", ("openai_messages",), plainly(lambda part: {"messages": _rows(part)})),
)  # fmt: skip
"""A kind, the tables that tell of its fields, and how a file is made of some of them."""


def expected(part: Part, tables: Iterable[str]) -> set[tuple[str, str, str]]:
    """What is to be told of a file: each field that it has and that is not kept, with what became of it."""
    return {
        (PREFIX.get(table, "") + name, TABLES[table][name].verdict, TABLES[table][name].why)
        for table in tables
        for name in part(table)
        if TABLES[table][name].verdict != "kept"
    }


def alone(table: str, field: str) -> tuple[bytes, str]:
    """A file that uses one field of a table beside those that it needs, and the field's name among losses."""
    build = next(build for _, tables, build in FILES if table in tables)

    def part(name: str) -> dict[str, Any]:
        chosen = NEEDED.get(name, set()) | ({field} if name == table else set())
        return {each: value for each, value in FIELDS[name].items() if each in chosen}

    return build(part), PREFIX.get(table, "") + field


def of_tables(tables: Iterable[str], told: Iterable[tuple[str, str, str]]) -> set[tuple[str, str, str]]:
    """Of what was told, what the tables speak of."""
    return set(told) & expected(lambda table: dict.fromkeys(TABLES[table]), tables)


def varied(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The same fields with other values."""
    return {name: _other(name, value) for name, value in fields.items()}


FIXED = {
    "triggers",
    "role",
    "type",
    "position",
    "spec",
    "chatId",
    "chatMemos",
    "mode",
    "createdAt",
    "time",
    "send_date",
    "kind",
}
"""Fields whose values are words of the format, or name other things."""


def _other(name: str, value: Any) -> Any:
    if name in FIXED or isinstance(value, bool) or "[[" in str(value):
        return value
    if isinstance(value, str):
        return value if value.isdecimal() or not value else f"{value} 둘째 二 ふた"
    if isinstance(value, int | float):
        return value if name == "selectiveLogic" else value + 1
    if isinstance(value, list):
        return [_other(name, each) for each in value]
    if isinstance(value, dict):
        return {key: _other(key, each) for key, each in value.items()}
    return value
