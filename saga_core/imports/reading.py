"""Reads files of other tools. The format is detected from the bytes, never from the file name."""

from __future__ import annotations

import codecs
import io
import json
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, BinaryIO

from saga_core.imports import chunks, limits, other_chats, sillytavern
from saga_core.imports.archives import Archive, open_archive, plain_files
from saga_core.imports.backyard import read_backyard
from saga_core.imports.cards import read_card
from saga_core.imports.chat_fates import GROUP, PERSONAS, RISU_MODULE
from saga_core.imports.fields import Fields
from saga_core.imports.lorebooks import agnai, character_book, novelai, risu_lore, world_info
from saga_core.imports.records import (
    Chat,
    Found,
    Group,
    Lorebook,
    Losses,
    Persona,
    Reading,
    Record,
    Refused,
    SagaSession,
    Unreadable,
)
from saga_core.imports.sources import Source, head_of, lines_of, opened
from saga_core.imports.texts import decode, read_json, tidy

FILE = 256 << 20
"""Largest file, in bytes."""
_JPEG = b"\xff\xd8\xff"
_ZIP = b"PK\x03\x04"
_RISUM = b"\x6f\x00"
_HTML = ("<!doctype", "<html", "<head", "<body")
_V1 = ("first_mes", "description", "personality", "scenario", "mes_example", "char_persona", "char_greeting")

Take = tuple[str, list[Record]]


def read_files(files: Iterable[tuple[str, Source]]) -> Reading:
    """Read files, each with its name. A file that cannot be imported is refused with a reason; the others are read."""
    return Reading().and_(read_file(name, source) for name, source in files)


def read_file(name: str, source: Source) -> Reading:
    """Read one file. A zip or a chat in lines that is given by its path is never in memory as a whole."""
    try:
        with opened(source) as file:
            size, head = file.seek(0, os.SEEK_END), head_of(file)
            if size > FILE:
                raise Unreadable(f"the file is {size >> 20} MB; at most {FILE >> 20} MB are taken")
            if not head.strip() and not file.read().strip():
                raise Unreadable("the file is empty")
            if head.startswith(_ZIP):
                return _read_archive(name, open_archive(file))
            chat = _read_lines(name, file, head)
            if chat is not None:
                return chat
            file.seek(0)
            return _read_one(name, file.read())
    except Unreadable as error:
        return Reading((), (Refused(name, str(error)),))
    except OSError as error:
        return Reading((), (Refused(name, f"it cannot be read ({error.strerror})"),))


def _read_lines(name: str, file: BinaryIO, head: bytes) -> Reading | None:
    """Read a chat with one JSON object per line, line by line. None for any other file, or if it is not UTF-8."""
    if not head.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"{"):
        return None
    losses = Losses()
    try:
        lines = lines_of(file)
        first = next(lines)
        if not _is_object(first) or _is_session(first) or not any(line.strip() for line in lines):
            return None
        return _found(name, "sillytavern_chat", [sillytavern.read_chat(lines_of(file), name, losses)], losses)
    except UnicodeDecodeError:
        return None  # the encoding is detected from the whole file


def _is_object(line: str) -> bool:
    try:
        return isinstance(read_json(line), dict)
    except Unreadable:
        return False


def _is_session(line: str) -> bool:
    return '"saga"' in line and '"session"' in line


def _read_one(name: str, raw: bytes) -> Reading:
    losses = Losses()
    if raw.startswith(chunks.PNG):
        return _read_png(name, raw, losses)
    if raw.startswith(_JPEG):
        if raw.find(_ZIP) < 0:
            raise Unreadable("this is a picture without a card behind it")
        return _read_archive(name, open_archive(io.BytesIO(raw)))
    if raw.startswith(_RISUM) and len(raw) > 6:
        raise Unreadable(
            "this is a RisuAI module (.risum), whose text is scrambled: export its lorebook from RisuAI as JSON"
        )
    if raw.startswith((b"RIFF", b"GIF8", b"%PDF", b"\x1f\x8b", b"7z\xbc\xaf", b"Rar!")):
        raise Unreadable("this is a picture, a document or an archive of a kind that holds no card; use PNG or zip")
    text = decode(raw, losses)
    kind, records = _read_text(name, text, losses)
    return _found(name, kind, records, losses)


def _found(name: str, kind: str, records: Iterable[Record], losses: Losses) -> Reading:
    records = list(records)
    for each in records:
        limits.check(each)
        if isinstance(each, Chat) and each.messages[-1].role == "user":
            losses.add("last words", "dropped", "nobody replied to them yet: the next request has them", each.name)
    return Reading(tuple(Found(file=name, kind=kind, record=each, losses=losses.listed()) for each in records))


def _read_png(name: str, raw: bytes, losses: Losses) -> Reading:
    texts = chunks.text_chunks(raw, losses)
    card = chunks.card_in(texts)
    if card is None:
        raise Unreadable("this is a picture without a card in it; it may have lost it when it was saved or sent anew")
    plain = read_json(decode(card, losses))
    if not isinstance(plain, dict):
        raise Unreadable("the picture's card is no JSON object")
    packed = chunks.packed_assets(texts, losses)
    assets = plain_files([(name, raw), *packed.items()])
    return _found(name, "card", [read_card(plain, losses, assets)], losses)


# -- archives ----------------------------------------------------------------------------------------------------


def _read_archive(name: str, archive: Archive) -> Reading:
    if "card.json" in archive.names:
        return _read_charx(name, archive)
    if "manifest.json" in archive.names and any(each.startswith("characters/") for each in archive.names):
        losses = Losses()
        card, chats = read_backyard(archive, losses)
        found = _found(name, "card", [card] if card is not None else [], losses)
        return found.and_([_found(name, "backyard_chat", chats, Losses() if found.found else losses)])
    readings = []
    for member in archive.names:
        if _is_noise(member):
            continue
        try:
            raw = archive.read(member)
        except Unreadable as error:
            readings.append(Reading((), (Refused(f"{name}/{member}", str(error)),)))
            continue
        readings.append(_read_member(f"{name}/{member}", raw))
    found = Reading().and_(readings)
    if not found.found and not found.refused:
        raise Unreadable("the archive holds nothing that could be a card, a lorebook or a chat")
    return found


def _read_member(path: str, raw: bytes) -> Reading:
    """Read a member of an archive. An inner archive is read only if it holds a card."""
    if raw.startswith(_ZIP):
        try:
            inner = open_archive(io.BytesIO(raw))
            if "card.json" in inner.names or "manifest.json" in inner.names:
                return _read_archive(path, inner)
        except Unreadable as error:
            return Reading((), (Refused(path, str(error)),))
        return Reading((), (Refused(path, "an archive in an archive: unpack it, or import it by itself"),))
    return read_file(path, raw)


def _is_noise(member: str) -> bool:
    """Whether a member is a system's own file, or by its extension not a card, lorebook or chat."""
    name = member.rpartition("/")[2].lower()
    if member.startswith("__MACOSX/") or name.startswith(".") or name in ("thumbs.db", "desktop.ini"):
        return True
    return name.endswith((".webp", ".gif", ".mp3", ".mp4", ".ogg", ".wav", ".webm", ".css", ".js", ".html", ".ttf"))


def _read_charx(name: str, archive: Archive) -> Reading:
    losses = Losses()
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
    return _found(name, "card", [read_card(plain, losses, plain_files(files))], losses)


# -- texts -------------------------------------------------------------------------------------------------------


def _read_text(name: str, text: str, losses: Losses) -> Take:
    start = text.lstrip()[:200].lower()
    if start.startswith("rcc||"):
        raise Unreadable("the card is encrypted (RisuAI's old rcc form): export it anew from RisuAI as V3")
    if start.startswith(_HTML):
        raise Unreadable("this is a web page; save the card or the chat itself, not the page that shows it")
    if start[:1] not in ("{", "["):
        raise Unreadable("this is a text, and no card, lorebook or chat: such files are JSON, PNG or zip")
    lines = text.strip().split("\n")
    if _is_lines(lines):
        head = lines[0]
        if _is_session(head):
            return "saga_session", [SagaSession(text.encode())]
        return "sillytavern_chat", [sillytavern.read_chat(lines, name, losses)]
    plain = read_json(text)
    if isinstance(plain, list):
        return _read_list(name, plain, losses)
    return _read_object(name, plain, losses)


def _is_lines(lines: list[str]) -> bool:
    """Whether a text has one JSON object per line: either several lines, or one line with a message or a header."""
    try:
        first = read_json(lines[0])
    except Unreadable:
        return False
    if not isinstance(first, dict):
        return False
    if len(lines) > 1 or {"mes", "is_user"} <= first.keys():
        return True
    return "chat_metadata" in first and "members" not in first  # with both it is a group's file


def _read_list(name: str, plain: list[Any], losses: Losses) -> Take:
    rows = [each for each in plain if isinstance(each, dict)]
    if rows and all("role" in each and ("content" in each) for each in rows):
        return "openai_messages", list(other_chats.openai_messages(plain, name, losses))
    if rows and all("mes" in each for each in rows[1:] or rows):
        return "sillytavern_chat", [sillytavern.read_chat([json.dumps(each) for each in rows], name, losses)]
    raise Unreadable("this is a list, and no list of messages with role and content")


def _read_object(name: str, plain: Mapping[str, Any], losses: Losses) -> Take:
    for fits, read in _DIALECTS:
        if fits(plain):
            return read(name, plain, losses)
    raise Unreadable(_looks_like(plain))


def _has(*names: str) -> Callable[[Mapping[str, Any]], bool]:
    return lambda plain: all(name in plain for name in names)


def _card(name: str, plain: Mapping[str, Any], losses: Losses) -> Take:
    return "card", [read_card(plain, losses)]


def _book(kind: str, read: Callable[[Mapping[str, Any], Losses], Lorebook]) -> Callable[..., Take]:
    def taken(name: str, plain: Mapping[str, Any], losses: Losses) -> Take:
        return kind, [read(plain, losses)]

    return taken


def _chats(kind: str, read: Callable[[Mapping[str, Any], str, Losses], list[Chat]]) -> Callable[..., Take]:
    def taken(name: str, plain: Mapping[str, Any], losses: Losses) -> Take:
        return kind, list(read(plain, name, losses))

    return taken


def _v3_book(plain: Mapping[str, Any], losses: Losses) -> Lorebook:
    data = plain.get("data")
    if not isinstance(data, dict):
        raise Unreadable("data: is no object; a lorebook_v3 has its entries there")
    return character_book(data, losses)


def _risu_book(plain: Mapping[str, Any], losses: Losses) -> Lorebook:
    return risu_lore(plain.get("data"), losses)


def _risu_module(plain: Mapping[str, Any], losses: Losses) -> Lorebook:
    module = Fields(plain, losses).inner("module")
    module.account(RISU_MODULE)
    return risu_lore(module.rows("lorebook"), losses, module.text("name"))


def _settings(name: str, plain: Mapping[str, Any], losses: Losses) -> Take:
    """Read the personas from SillyTavern's settings."""
    losses.add("settings", "dropped", "those of the tool are its own; the personas among them were read")
    own = plain["power_user"]
    return _personas(name, {each: own.get(each) for each in PERSONAS}, losses)


def _personas(name: str, plain: Mapping[str, Any], losses: Losses) -> Take:
    Fields(plain, losses).account(PERSONAS)
    descriptions = Fields(plain, losses).inner("persona_descriptions")
    found: list[Record] = []
    for avatar, called in Fields(plain, losses).inner("personas").plain.items():
        told = descriptions.inner(avatar) if avatar in descriptions.plain else Fields({}, losses)
        found.append(Persona(tidy(str(called)).strip(), told.text("description"), id=str(avatar)))
    return "personas", found


def _group(name: str, plain: Mapping[str, Any], losses: Losses) -> Take:
    group = Fields(plain, losses)
    group.account(GROUP)
    # The metadata of chats without a header are here. The open chat's metadata have their own field.
    kept = {**group.inner("past_metadata").plain, group.text("chat_id"): group.inner("chat_metadata").plain}
    parents = {
        str(chat): Fields(each, losses).text("main_chat") for chat, each in kept.items() if isinstance(each, dict)
    }
    return "group", [
        Group(name=group.text("name"), members=group.texts("members"), chats=group.texts("chats"), parents=parents)
    ]


def _messages(name: str, plain: Mapping[str, Any], losses: Losses) -> Take:
    rows = plain["messages"]
    if rows and isinstance(rows[0], dict) and "msg" in rows[0]:
        return "agnai_chat", list(other_chats.agnai_chat(plain, name, losses))
    for each in plain:
        if each != "messages":
            losses.add(str(each)[:40], "dropped", "settings of a request")
    return "openai_messages", list(other_chats.openai_messages(rows, name, losses))


def _entry_has(plain: Mapping[str, Any], *names: str) -> bool:
    rows = plain.get("entries")
    values: Iterable[Any] = rows.values() if isinstance(rows, dict) else rows if isinstance(rows, list) else ()
    each = next(iter(values), None)
    return isinstance(each, dict) and all(name in each for name in names)


def _personas_among(settings: Any) -> bool:
    return isinstance(settings, dict) and isinstance(settings.get("personas"), dict) and bool(settings["personas"])


_DIALECTS: tuple[tuple[Callable[[Mapping[str, Any]], bool], Callable[..., Take]], ...] = (
    (lambda plain: str(plain.get("spec", "")).startswith("chara_card_"), _card),
    (lambda plain: plain.get("spec") == "lorebook_v3", _book("lorebook_v3", _v3_book)),
    (lambda plain: plain.get("type") == "risuModule", _book("risu_lorebook", _risu_module)),
    (lambda plain: plain.get("type") in ("risuChat", "risuAllChats"), _chats("risu_chat", other_chats.risu_chats)),
    (lambda plain: plain.get("type") == "risu" and "data" in plain, _book("risu_lorebook", _risu_book)),
    (_has("lorebookVersion", "entries"), _book("novelai_lorebook", novelai)),
    (lambda plain: _entry_has(plain, "keywords", "entry"), _book("agnai_book", agnai)),
    (lambda plain: _entry_has(plain, "text", "displayName"), _book("novelai_lorebook", novelai)),
    (lambda plain: _entry_has(plain, "keys", "content"), _book("character_book", character_book)),
    (lambda plain: isinstance(plain.get("entries"), dict), _book("world_info", world_info)),
    (lambda plain: isinstance(plain.get("entries"), list), _book("character_book", character_book)),
    (_has("personas", "persona_descriptions"), _personas),
    (lambda plain: _personas_among(plain.get("power_user")), _settings),
    (_has("members", "chats"), _group),
    (_has("histories"), _chats("cai_chat", other_chats.cai_chats)),
    (lambda plain: isinstance(plain.get("data_visible"), list), _chats("ooba_chat", other_chats.ooba_chat)),
    (lambda plain: isinstance(plain.get("internal"), list), _chats("ooba_chat", other_chats.ooba_chat)),
    (lambda plain: isinstance(plain.get("actions"), list), _chats("kobold_chat", other_chats.kobold_chat)),
    (lambda plain: isinstance(plain.get("messages"), list), _messages),
    (lambda plain: ("name" in plain or "char_name" in plain) and any(each in plain for each in _V1), _card),
)


def _looks_like(plain: Mapping[str, Any]) -> str:
    names = {str(name) for name in plain}
    if names & {"temperature", "temp", "presetVersion", "top_p", "prompt_order"}:
        return "this looks like a preset of settings; SAGA takes cards, lorebooks and chats, and no presets"
    if "power_user" in names:
        return "these are SillyTavern's settings, and no persona is among them"
    shown = ", ".join(sorted(names)[:6]) or "nothing"
    return f"this is JSON with {shown[:200]}: no card, lorebook or chat that SAGA knows"
