"""Files as other tools write them, made by hand from the formats' descriptions. Every field is used."""

from __future__ import annotations

import base64
import io
import json
import struct
import zipfile
import zlib
from typing import Any

# fmt: off
WORLD_INFO_ENTRY: dict[str, Any] = {
    "uid": 0, "key": ["brass key", "/arch(ive|way)/i"], "keysecondary": ["flood"], "comment": "The brass key",
    "content": "The brass key opens the flooded archive.", "constant": False, "vectorized": True, "selective": True,
    "selectiveLogic": 3, "addMemo": True, "order": 80, "position": 4, "disable": False, "excludeRecursion": True,
    "preventRecursion": True, "delayUntilRecursion": 2, "probability": 60, "useProbability": True, "depth": 2,
    "group": "keys, metal", "groupOverride": True, "groupWeight": 30, "scanDepth": 6, "caseSensitive": True,
    "matchWholeWords": True, "useGroupScoring": True, "automationId": "x", "role": 1, "sticky": 4, "cooldown": 8,
    "delay": 2, "displayIndex": 3, "ignoreBudget": True, "outletName": "o", "matchPersonaDescription": True,
    "matchCharacterDescription": True, "matchCharacterPersonality": True, "matchCharacterDepthPrompt": True,
    "matchScenario": True, "matchCreatorNotes": True, "triggers": ["normal", "swipe"],
    "characterFilter": {"isExclude": False, "names": ["Ysolde"], "tags": ["t1"]},
}
OLD_ENTRY = {"uid": 1, "key": ["eldoria"], "content": "A wood.", "comment": "Eldoria", "order": 100}


def world_info() -> dict[str, Any]:
    return {"entries": {"0": WORLD_INFO_ENTRY, "1": OLD_ENTRY}}


BOOK_ENTRY: dict[str, Any] = {
    "keys": ["salt gate"], "secondary_keys": ["rain"], "content": "@@depth 5\n@@probability 40\nThe gate is shut.",
    "extensions": {
        "position": 1, "depth": 3, "role": 2, "probability": 70, "useProbability": True, "selectiveLogic": 2,
        "group": "gate", "group_override": True, "group_weight": 5, "exclude_recursion": True,
        "prevent_recursion": True, "delay_until_recursion": True, "scan_depth": 3, "case_sensitive": True,
        "match_whole_words": False, "sticky": 1, "cooldown": 2, "delay": 3, "automation_id": "a", "vectorized": True,
        "triggers": ["continue"], "ignore_budget": True, "use_group_scoring": True, "display_index": 1,
    },
    "enabled": True, "insertion_order": 7, "case_sensitive": False, "name": "Salt gate", "priority": 3, "id": 9,
    "comment": "memo", "selective": True, "constant": False, "position": "after_char", "use_regex": False,
}


def character_book() -> dict[str, Any]:
    return {
        "name": "Harrowmere", "description": "Salt and rain.", "scan_depth": 4, "token_budget": 500,
        "recursive_scanning": False, "extensions": {"x": 1},
        "entries": [BOOK_ENTRY, {"keys": ["fog"], "content": "Fog hides {{char}}.", "extensions": {},
                                 "enabled": True, "insertion_order": 10}],
    }


def card_v2(**data: Any) -> dict[str, Any]:
    return {
        "spec": "chara_card_v2", "spec_version": "2.0",
        "data": {
            "name": "Ysolde", "description": "{{char}} keeps the salt gate. {{user}} is a traveller.",
            "personality": "calm", "scenario": "Night at the gate.",
            "first_mes": '*The gate lamp hisses.* "State your name, {{user}}."',
            "mes_example": "<START>\n{{user}}: Is it open?\n{{char}}: No.", "creator_notes": "notes",
            "system_prompt": "{{original}} Be brief.", "post_history_instructions": "Under 120 words.",
            "alternate_greetings": ["*Fog.* You are late.", "{{random::Rain,Snow}} falls."], "tags": ["fantasy"],
            "creator": "me", "character_version": "1.2",
            "extensions": {"talkativeness": "0.7", "fav": True, "world": "Eldoria",
                           "depth_prompt": {"prompt": "Remember the fog.", "depth": 4, "role": "system"},
                           "regex_scripts": [{"scriptName": "x"}]},
            "character_book": character_book(), **data,
        },
    }


def card_v3(**data: Any) -> dict[str, Any]:
    more = {
        "assets": [{"type": "icon", "uri": "embeded://assets/icon.png", "name": "main", "ext": "png"}],
        "nickname": "Ys", "creator_notes_multilingual": {"ko": "메모"}, "source": ["book:1"],
        "group_only_greetings": ["All of you!"], "creation_date": 1, "modification_date": 2, **data,
    }
    return {**card_v2(**more), "spec": "chara_card_v3", "spec_version": "3.0"}


CARD_V1 = {
    "name": "Tamsin", "description": "Grey coat.", "personality": "dry", "scenario": "Rain.", "first_mes": "Hm.",
    "mes_example": "<START>",
}


def png(chunks: dict[str, bytes], *, kind: bytes = b"tEXt", apng: bool = False) -> bytes:
    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    body = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
    body += chunk(b"acTL", b"\0" * 8) if apng else b""
    for keyword, data in chunks.items():
        packed = {b"tEXt": data, b"zTXt": b"\0" + zlib.compress(data), b"iTXt": b"\1\0\0\0" + zlib.compress(data)}
        body += chunk(kind, keyword.encode("latin-1") + b"\0" + packed[kind])
    return b"\x89PNG\r\n\x1a\n" + body + chunk(b"IDAT", zlib.compress(b"\0\0")) + chunk(b"IEND", b"")


def card_png(card: dict[str, Any], **options: Any) -> bytes:
    keyword = "ccv3" if card["spec"] == "chara_card_v3" else "chara"
    return png({keyword: base64.b64encode(json.dumps(card).encode())}, **options)


def zipped(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def plain(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def charx() -> bytes:
    return zipped(
        {"card.json": plain(card_v3()), "assets/icon.png": b"icon", "../../evil.png": b"evil", "module.risum": b"o\0"}
    )


RISU_LORE = {
    "type": "risu", "ver": 1,
    "data": [
        {"key": "mill, weir", "secondkey": "night", "insertorder": 50, "comment": "Mill", "content":
         "@@@bogus 1\n@@additional_keys loft\nThe wheel stopped.", "mode": "normal", "alwaysActive": False,
         "selective": True, "activationPercent": 50, "useRegex": False, "bookVersion": 2, "id": "u", "folder": "f",
         "extentions": {"risu_case_sensitive": True}},
        {"key": "\uf000folder:f", "comment": "Folder", "content": "", "mode": "folder", "insertorder": 1,
         "alwaysActive": False, "secondkey": "", "selective": False},
        {"key": "/d[ae]m/i", "comment": "Dam", "content": "Old dam.", "mode": "constant", "insertorder": 2,
         "alwaysActive": True, "secondkey": "", "selective": False, "useRegex": True},
    ],
}
NOVELAI = {
    "lorebookVersion": 5, "settings": {"orderByKeyLocations": True}, "categories": [{"name": "Places"}],
    "entries": [{"id": "1", "text": "A tower.", "displayName": "Tower", "keys": ["tower", "/spire/"],
                 "searchRange": 1000, "enabled": True, "forceActivation": True, "keyRelative": True,
                 "nonStoryActivatable": True, "category": "Places", "loreBiasGroups": [{}], "lastUpdatedAt": 1,
                 "contextConfig": {"prefix": "", "budgetPriority": 400}}],
}
AGNAI_BOOK = {
    "kind": "memory",
    "name": "Agnai",
    "description": "d",
    "entries": [{"name": "Cat", "entry": "A cat.", "keywords": ["cat"], "weight": 2, "priority": 5, "enabled": True}],
}


def message(name: str, mes: str, *, user: bool = False, **more: Any) -> dict[str, Any]:
    return {"name": name, "is_user": user, "is_system": False, "send_date": "2025-06-03T16:05:00.000Z", "mes": mes,
            "extra": {}, **more}


def jsonl(*rows: Any) -> bytes:
    return b"\n".join(plain(row) for row in rows)


HEADER = {"user_name": "Alex", "character_name": "Ysolde", "create_date": "2025-06-03@16h05m12s", "chat_metadata": {
    "note_prompt": "n", "variables": {"a": 1}, "integrity": "x", "timedWorldInfo": {"sticky": {}},
    "persona": "a.png"}}
GREETING = message("Ysolde", '*The gate lamp hisses.* "State your name, {{user}}."', swipes=["a", "b"], swipe_id=0)


def st_chat(*, parent: str = "", turns: int = 3, tail: str = "", header: Any = HEADER) -> bytes:
    """A chat of SillyTavern; with ``tail``, its last turn is another one."""
    rows: list[Any] = [header] if header is not None else []
    if parent:
        rows = [{**header, "chat_metadata": {**header["chat_metadata"], "main_chat": parent}}]
    rows.append(GREETING)
    for turn in range(1, turns + 1):
        last = tail if turn == turns else ""
        rows.append(message("Alex", f"I do thing number {turn}{last}, slowly.", user=True))
        reply = f"*The lamp flickers.* This is what happens in turn {turn}{last}, and it is long enough to be known."
        other = f"Something else altogether happens in turn {turn}{last}; nobody took this reply, a swipe."
        rows.append(message("Ysolde", reply, swipe_id=1, swipes=[other, reply],
                            swipe_info=[{"send_date": "x"}], gen_started="x",
                            extra={"api": "openai", "reasoning": "hm", "bookmark_link": ""}))
    return jsonl(*rows)


RISU_CHAT = {
    "type": "risuChat", "ver": 2,
    "data": {
        "message": [
            {"role": "user", "data": "I knock at the mill.", "chatId": "1", "time": 1750000000000},
            {"role": "char", "data": "The mill is dark, and somebody laughs in it.", "saying": "c", "chatId": "2",
             "time": 1750000001000, "generationInfo": {"model": "m"}, "swipes": ["The mill is lit, and nobody is in.",
             "The mill is dark, and somebody laughs in it."], "swipeId": 1},
            {"role": "user", "data": "A comment.", "isComment": True},
            {"role": "user", "data": "I go in.", "disabled": True},
            {"role": "char", "data": "The floor gives way under one board.", "disabled": "allBefore"},
        ],
        "note": "n", "name": "Mill night", "localLore": [{}], "fmIndex": 1, "id": "u", "scriptstate": {"$a": 1},
        "hypaV3Data": {"summaries": [{"text": "t", "chatMemos": ["1"]}]}, "modules": ["m"], "bookmarks": ["1"],
    },
    "folders": [],
}
RISU_ALL = {"type": "risuAllChats", "ver": 2, "data": [RISU_CHAT["data"]], "folders": [{"name": "f"}]}
OOBA_NEW = {"internal": [["<|BEGIN-VISIBLE-CHAT|>", "Hello & welcome."], ["Hi <there>.", "Sit down, traveller."]],
            "visible": [["", "Hello &amp; welcome."], ["Hi &lt;there&gt;.", "Sit down, traveller."]],
            "metadata": {"x": 1}}
OOBA_CHARACTER = "name: Ruda\ngreeting: |-\n  Mind the bucket, {{user}}.\ncontext: |-\n  Ruda keeps the pump.\n"
OOBA_OLD = {"data": [["Hi", "raw"]], "data_visible": [["Hi &amp; bye.", "Sit down &quot;here&quot;."]]}
KOBOLD = {"gamestarted": True, "prompt": "Once.", "memory": "m", "authorsnote": "", "worldinfo": [],
          "savedsettings": {"x": 1}, "actions": ["\n{{[INPUT]}}\nI look.\n{{[OUTPUT]}}\n", "A tower stands there.",
          "\n{{[INPUT]}}\nI climb.\n{{[INPUT_END]}}{{[OUTPUT]}}\nIt is high."]}
KOBOLD_STORY = {"gamestarted": True, "prompt": "Once upon a time.", "actions": ["There was a cat.", "It slept."]}
CAI = {"info": {}, "histories": {"histories": [
    {"msgs": [{"src": {"is_human": False, "name": "Bot"}, "text": "Hello."},
              {"src": {"is_human": True, "name": "Me"}, "text": "Hi."},
              {"src": {"is_human": False, "name": "Bot"}, "text": "How are you?"}]},
    {"msgs": [{"src": {"is_human": True, "name": "Me"}, "text": "Another day."},
              {"src": {"is_human": False, "name": "Bot"}, "text": "Another story."}]}]}}
AGNAI_CHAT = {"name": "Agnai talk", "messages": [
    {"_id": "1", "msg": "Welcome.", "characterId": "c", "handle": "Bot", "createdAt": "2025-06-03T16:05:00Z"},
    {"_id": "2", "msg": "Hello.", "userId": "u", "handle": "Me", "createdAt": "2025-06-03T16:06:00Z"},
    {"_id": "3", "msg": "Good evening.", "characterId": "c", "handle": "Bot", "state": "x"}]}
OPENAI = [{"role": "system", "content": "s"}, {"role": "assistant", "content": "Hello."},
          {"role": "user", "content": [{"type": "text", "text": "Hi."}, {"type": "image_url", "image_url": {}}]},
          {"role": "assistant", "content": "Sit down."}]


def byaf() -> bytes:
    return zipped({
        "manifest.json": plain({"schemaVersion": 1, "characters": ["characters/a/character.json"]}),
        "characters/a/character.json": plain({"displayName": "Byra", "persona": "A pilot.",
                                              "loreItems": [{"key": "ship, hull", "value": "A ship."}]}),
        "characters/a/images/x.png": b"png",
        "scenarios/s1.json": plain({"title": "Dock", "narrative": "At the dock.",
            "firstMessages": [{"text": "Welcome aboard."}], "exampleMessages": [{"text": "Ex."}],
            "messages": [{"type": "human", "text": "Hello.", "createdAt": "2025-06-03T16:05:00Z"},
                         {"type": "ai", "outputs": [{"text": "Swipe.", "createdAt": "2025-06-03T16:05:01Z"},
                                                    {"text": "Taken.", "createdAt": "2025-06-03T16:05:02Z"}]}]}),
    })


ALL: dict[str, tuple[bytes, set[str]]] = {
    "card.png": (card_png(card_v2()), {"card"}),
    "card3.png": (card_png(card_v3()), {"card"}),
    "zcard.png": (card_png(card_v2(), kind=b"zTXt", apng=True), {"card"}),
    "icard.png": (card_png(card_v3(), kind=b"iTXt"), {"card"}),
    "card.json": (plain(card_v2()), {"card"}),
    "card3.json": (plain(card_v3()), {"card"}),
    "card1.json": (plain(CARD_V1), {"card"}),
    "pyg.json": (plain({"char_name": "P", "char_persona": "x", "char_greeting": "Hi", "world_scenario": "w",
                        "example_dialogue": "e"}), {"card"}),
    "a.charx": (charx(), {"card"}),
    "a.jpg": (b"\xff\xd8\xff\xe0" + b"\0" * 40 + b"\xff\xd9" + charx(), {"card"}),
    "a.byaf": (byaf(), {"card", "backyard_chat"}),
    "wi.json": (plain(world_info()), {"world_info"}),
    "wi_old.json": (plain({"entries": {"0": OLD_ENTRY}}), {"world_info"}),
    "book.json": (plain(character_book()), {"character_book"}),
    "chub.json": (plain({**character_book(), "entries": {"1": BOOK_ENTRY}}), {"character_book"}),
    "v3book.json": (plain({"spec": "lorebook_v3", "data": character_book()}), {"lorebook_v3"}),
    "risu.json": (plain(RISU_LORE), {"risu_lorebook"}),
    "risumod.json": (plain({"type": "risuModule", "module": {"name": "M", "lorebook": RISU_LORE["data"], "regex": [1],
                            "trigger": [1]}}), {"risu_lorebook"}),
    "nai.lorebook": (plain(NOVELAI), {"novelai_lorebook"}),
    "agnai.json": (plain(AGNAI_BOOK), {"agnai_book"}),
    "chat.jsonl": (st_chat(), {"sillytavern_chat"}),
    "old_group.jsonl": (st_chat(header=None), {"sillytavern_chat"}),
    "risuchat.json": (plain(RISU_CHAT), {"risu_chat"}),
    "risuall.json": (plain(RISU_ALL), {"risu_chat"}),
    "ooba.json": (plain(OOBA_NEW), {"ooba_chat"}),
    "ooba_old.json": (plain(OOBA_OLD), {"ooba_chat"}),
    "ooba.yaml": (OOBA_CHARACTER.encode(), {"card"}),
    "kobold.json": (plain(KOBOLD), {"kobold_chat"}),
    "kobold_story.json": (plain(KOBOLD_STORY), {"kobold_chat"}),
    "cai.json": (plain(CAI), {"cai_chat"}),
    "agnai_chat.json": (plain(AGNAI_CHAT), {"agnai_chat"}),
    "openai.json": (plain(OPENAI), {"openai_messages"}),
    "openai2.json": (plain({"model": "m", "messages": OPENAI}), {"openai_messages"}),
    "personas.json": (plain({"personas": {"a.png": "Alex"}, "persona_descriptions": {"a.png": {"description": "d"}}}),
                      {"personas"}),
    "group.json": (plain({"id": "1", "name": "Two", "members": ["a.png"], "chats": ["chat"], "chat_id": "chat"}),
                   {"group"}),
}
"""File names, the bytes, and the kinds that they hold. The names are wrong on purpose in the tests."""
