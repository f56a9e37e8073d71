"""SillyTavern, and the formats of cards that it shares with other tools."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from saga_backends.importers.lore import first_entry_has
from saga_backends.importers.tavern import people
from saga_backends.importers.tavern.cards import read_card
from saga_backends.importers.tavern.chats import read_chat
from saga_backends.importers.tavern.lorebooks import character_book, world_info
from saga_backends.importers.tavern.png import PNG, card_in, packed_assets, text_chunks
from saga_core.imports import (
    Archive,
    Card,
    Fit,
    ForeignFile,
    Losses,
    Record,
    Unreadable,
    decode,
    plain_files,
    read_json,
)

_JPEG = b"\xff\xd8\xff"
_V1 = ("first_mes", "description", "personality", "scenario", "mes_example", "char_persona", "char_greeting")
_PRESET = {"temperature", "temp", "presetVersion", "top_p", "prompt_order"}


class Tavern:
    """Reads cards V1 to V3, their lorebooks and World Info, and SillyTavern's chats, personas and groups."""

    kinds: Mapping[str, str] = {
        "card": "a character card",
        "world_info": "a lorebook of SillyTavern (World Info)",
        "character_book": "a lorebook as cards have it (V2, Chub)",
        "lorebook_v3": "a lorebook of the V3 specification",
        "sillytavern_chat": "a chat of SillyTavern",
        "personas": "personas of SillyTavern",
        "group": "a group of SillyTavern",
    }

    def fits(self, file: ForeignFile) -> Fit:
        """See ``Importer.fits``."""
        if file.head.startswith(PNG):
            return Fit.DECLARED
        if file.archive is not None:
            return Fit.DECLARED if "card.json" in file.archive.names else Fit.NONE
        if file.head.startswith(_JPEG):
            raise Unreadable("this is a picture without a card behind it")
        if file.start.lower().startswith("rcc||"):
            raise Unreadable("the card is encrypted (RisuAI's old rcc form): export it anew from RisuAI as V3")
        if file.is_lines:
            return Fit.LIKELY
        return _kind_of(file)[1]

    def read(self, file: ForeignFile) -> Iterable[tuple[str, Record]]:
        """See ``Importer.read``."""
        losses = file.losses
        if file.head.startswith(PNG):
            return [("card", _picture(file))]
        if file.archive is not None:
            return [("card", _charx(file.archive, losses))]
        if file.is_lines:
            return [("sillytavern_chat", read_chat(file.lines(), file.name, losses))]
        kind, _ = _kind_of(file)
        if kind == "sillytavern_chat":
            rows = file.json if isinstance(file.json, list) else [file.json]
            lines = ((number, json.dumps(each)) for number, each in enumerate(rows, 1))
            return [(kind, read_chat(lines, file.name, losses))]
        if kind == "personas":
            return [(kind, each) for each in people.personas(file.fields, losses)]
        return [(kind, _object(kind, file.fields, losses))]


def _kind_of(file: ForeignFile) -> tuple[str, Fit]:
    """The kind of a JSON file, and how sure that is. Raises ``Unreadable`` for files of the tool that hold nothing."""
    if isinstance(file.json, list):
        rows = [each for each in file.json if isinstance(each, dict)]
        is_chat = bool(rows) and all("mes" in each for each in rows[1:] or rows)
        return "sillytavern_chat", Fit.LIKELY if is_chat else Fit.NONE
    plain = file.fields
    if str(plain.get("spec", "")).startswith("chara_card_"):
        return "card", Fit.DECLARED
    if plain.get("spec") == "lorebook_v3":
        return "lorebook_v3", Fit.DECLARED
    if {"mes", "is_user"} <= plain.keys() or ("chat_metadata" in plain and "members" not in plain):
        return "sillytavern_chat", Fit.SHAPED  # a chat of one line; a group has members
    if first_entry_has(plain, "keys", "content"):
        return "character_book", Fit.LIKELY
    if isinstance(plain.get("entries"), dict | list):
        return "world_info" if isinstance(plain["entries"], dict) else "character_book", Fit.LOOSE
    if {"personas", "persona_descriptions"} <= plain.keys() or _has_personas(plain.get("power_user")):
        return "personas", Fit.LIKELY
    if {"members", "chats"} <= plain.keys():
        return "group", Fit.LIKELY
    if ("name" in plain or "char_name" in plain) and any(each in plain for each in _V1):
        return "card", Fit.LOOSE
    if _PRESET & plain.keys():
        raise Unreadable("this looks like a preset of settings; SAGA takes cards, lorebooks and chats, and no presets")
    if "power_user" in plain:
        raise Unreadable("these are SillyTavern's settings, and no persona is among them")
    return "", Fit.NONE


def _object(kind: str, plain: Mapping[str, Any], losses: Losses) -> Record:
    if kind == "card":
        return read_card(plain, losses)
    if kind == "group":
        return people.group(plain, losses)
    if kind == "world_info":
        return world_info(plain, losses)
    if kind == "lorebook_v3":
        data = plain.get("data")
        if not isinstance(data, dict):
            raise Unreadable("data: is no object; a lorebook_v3 has its entries there")
        return character_book(data, losses)
    return character_book(plain, losses)


def _has_personas(settings: Any) -> bool:
    return isinstance(settings, dict) and isinstance(settings.get("personas"), dict) and bool(settings["personas"])


def _picture(file: ForeignFile) -> Card:
    texts = text_chunks(file.raw, file.losses)
    plain = card_in(texts, file.losses)
    if plain is None:
        raise Unreadable("this is a picture without a card in it; it may have lost it when it was saved or sent anew")
    packed = packed_assets(texts, file.losses)
    return read_card(plain, file.losses, plain_files([(file.name, file.raw), *packed.items()]))


def _charx(archive: Archive, losses: Losses) -> Card:
    plain = read_json(decode(archive.read("card.json"), losses))
    if not isinstance(plain, dict):
        raise Unreadable("card.json is no JSON object")
    files = []
    for member in archive.names:
        if member == "module.risum":
            losses.add("module.risum", "dropped", "its text is scrambled; export its lorebook from RisuAI as JSON")
        elif member.startswith("x_meta/"):
            losses.add("x_meta", "dropped", "it describes pictures")
        elif member != "card.json":
            try:
                files.append((member, archive.read(member)))
            except Unreadable as error:
                losses.add("assets", "dropped", str(error), member)
    return read_card(plain, losses, plain_files(files))


IMPORTER = Tavern()
