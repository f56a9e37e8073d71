"""Reads chats of RisuAI, text-generation-webui, Kobold Lite, CAI Tools and Agnai, and plain lists of messages."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve

from saga_core.imports import chat_fates
from saga_core.imports.fields import KEPT, Fate, Fields, dropped, mapped, read_time
from saga_core.imports.hypa_memory import read_summaries
from saga_core.imports.limits import check_amount
from saga_core.imports.records import Chat, ChatMessage, Losses, Unreadable, stem
from saga_core.imports.texts import tidy

_TOOL = dropped("it has a meaning in its own tool alone")
_SENT = dropped("the frontend goes on sending it")

RISU_CHAT: dict[str, Fate] = {
    "message": KEPT,
    "name": KEPT,
    "note": _SENT,
    "localLore": dropped("lore of one chat: export it as a lorebook and import that"),
    "fmIndex": dropped("the greeting is not in a RisuAI chat; SAGA learns it from the next request"),
    "id": _TOOL,
    "hypaV2Data": dropped("a summary of the tool; saga backfill finds out what happened"),
    "hypaV3Data": mapped("its summaries are the story so far, at the turns of their messages"),
    "supaMemoryData": dropped("a summary of the tool; saga backfill finds out what happened"),
    "scriptstate": dropped("variables of scripts say nothing to SAGA"),
    "modules": _SENT,
    "bindedPersona": dropped("SAGA learns who plays from the frontend's next request"),
    "folderId": _TOOL,
    "lastDate": _TOOL,
    "bookmarks": _TOOL,
    "bookmarkNames": _TOOL,
    "lastMemory": _TOOL,
    "suggestMessages": _TOOL,
    "isStreaming": _TOOL,
    "sdData": _TOOL,
}
RISU_MESSAGE: dict[str, Fate] = {
    "role": KEPT,
    "data": KEPT,
    "saying": mapped("the speaker, where there is no name"),
    "chatId": mapped("by it a summary finds its messages"),
    "time": KEPT,
    "generationInfo": dropped("a measurement of the reply that was"),
    "promptInfo": dropped("a measurement of the reply that was"),
    "name": KEPT,
    "otherUser": _TOOL,
    "disabled": mapped("a message left out of prompts is a turn like any other; it happened"),
    "isComment": dropped("a comment is no turn of the story"),
    "swipes": mapped("replies beside the one that was taken"),
    "swipeId": KEPT,
}
_MARKS = re.compile(r"\{\{\[(INPUT|OUTPUT|SYSTEM)(_END)?\]\}\}")
_BEGIN = "<|BEGIN-VISIBLE-CHAT|>"


def risu_chats(plain: Mapping[str, Any], file: str, losses: Losses) -> list[Chat]:
    """Read a RisuAI export of one chat or of all chats."""
    data = plain.get("data")
    rows = data if isinstance(data, list) else [data]
    found = []
    for number, each in enumerate(rows):
        if not isinstance(each, dict):
            losses.add("data", "dropped", "is no chat", f"chat {number}")
            continue
        chat = Fields(each, losses, f"chat {number}")
        chat.account(RISU_CHAT, {"fmIndex": -1})
        messages: list[ChatMessage] = []
        places: dict[str, int] = {}
        for at, row in enumerate(chat.rows("message")):
            if not isinstance(row, dict):
                losses.add("message", "dropped", "is no message", f"chat {number}, message {at}")
                continue
            message = _risu_message(Fields(row, losses, f"chat {number}, message {at}"))
            if message is not None:
                if isinstance(row.get("chatId"), str):
                    places[row["chatId"]] = len(messages)
                messages.append(message)
        summaries = read_summaries(chat.inner("hypaV3Data"), places, f"chat {number}")
        found.append(evolve(_chat(chat.text("name") or stem(file), messages), summaries=summaries))
    if plain.get("folders"):
        losses.add("folders", "dropped", _TOOL.why)
    return _some(found)


def _risu_message(row: Fields) -> ChatMessage | None:
    row.account(RISU_MESSAGE)
    text = row.text("data")
    if row.flag("isComment") or not text.strip():
        return None
    swipes = [each for each in row.texts("swipes") if each != text]
    return ChatMessage(
        role="user" if row.text("role") == "user" else "assistant",
        text=text,
        speaker=row.text("name"),
        at=read_time(row.plain.get("time")),
        hidden=bool(row.plain.get("disabled")),
        swipes=tuple(dict.fromkeys(swipes)) if row.text("role") != "user" else (),
    )


def ooba_chat(plain: Mapping[str, Any], file: str, losses: Losses) -> list[Chat]:
    """Read a chat of text-generation-webui: rows of the player's words and the reply, in the new or the old form."""
    shown = next((name for name in ("data_visible", "visible", "data") if plain.get(name)), "data")
    read = "internal" if isinstance(plain.get("internal"), list) else shown
    rows, escaped = plain.get(read), read != "internal"
    Fields(plain, losses).account({**chat_fates.OOBA, read: KEPT})
    messages: list[ChatMessage] = []
    for number, row in enumerate(rows if isinstance(rows, list) else []):
        if not isinstance(row, list) or len(row) != 2 or not all(isinstance(each, str) for each in row):
            losses.add("rows", "dropped", "a row is no pair of texts", f"row {number}")
            continue
        words, reply = (tidy(html.unescape(each) if escaped else each) for each in row)
        if words.strip() and words.strip() != _BEGIN:
            messages.append(ChatMessage(role="user", text=words))
        if reply.strip():
            messages.append(ChatMessage(role="assistant", text=reply))
    return _some([_chat(stem(file), messages)])


def kobold_chat(plain: Mapping[str, Any], file: str, losses: Losses) -> list[Chat]:
    """Read a story of Kobold Lite: pieces of text, with marks where the player speaks and where the model replies."""
    told = Fields(plain, losses)
    told.account(chat_fates.KOBOLD)
    pieces = [told.text("prompt"), *told.texts("actions")]
    messages: list[ChatMessage] = []
    if not any(_MARKS.search(piece) for piece in pieces):
        losses.add("actions", "mapped", "a story without marks: each piece is a reply without words before it")
        messages = [ChatMessage(role="assistant", text=piece.strip()) for piece in pieces if piece.strip()]
        return _some([_chat(stem(file), messages)])
    text = "".join(pieces)
    role, start = "", 0
    for mark in [*_MARKS.finditer(text), None]:
        said = text[start : mark.start() if mark is not None else len(text)].strip()
        if said and role == "SYSTEM":
            losses.add("prompt", "dropped", "instructions are the frontend's")
        elif said:
            messages.append(ChatMessage(role="user" if role == "INPUT" else "assistant", text=said))
        if mark is not None:
            start, role = mark.end(), "" if mark[2] else mark[1]
    return _some([_chat(stem(file), messages)])


def cai_chats(plain: Mapping[str, Any], file: str, losses: Losses) -> list[Chat]:
    """Read the histories of one character that CAI Tools saved."""
    whole = Fields(plain, losses)
    whole.account(chat_fates.CAI)
    found = []
    histories = whole.inner("histories").rows("histories")
    for number, each in enumerate(histories):
        rows = each.get("msgs") if isinstance(each, dict) else None
        messages = []
        for at, row in enumerate(rows if isinstance(rows, list) else []):
            if not isinstance(row, dict):
                losses.add("msgs", "dropped", "is no message", f"history {number}, message {at}")
                continue
            told = Fields(row, losses, f"history {number}, message {at}", "msgs.")
            told.account(chat_fates.CAI_MESSAGE)
            src = told.inner("src")
            if told.text("text").strip():
                role: Any = "user" if src.flag("is_human") else "assistant"
                messages.append(ChatMessage(role=role, text=told.text("text"), speaker=src.text("name")))
        name = stem(file) if len(histories) == 1 else f"{stem(file)} {number + 1}"
        found.append(_chat(name, messages))
    return _some(found)


def agnai_chat(plain: Mapping[str, Any], file: str, losses: Losses) -> list[Chat]:
    """Read Agnai's export of a chat."""
    whole = Fields(plain, losses)
    whole.account(chat_fates.AGNAI_CHAT)
    messages = []
    for at, row in enumerate(whole.rows("messages")):
        if not isinstance(row, dict):
            losses.add("messages", "dropped", "is no message", f"message {at}")
            continue
        told = Fields(row, losses, f"message {at}", "messages.")
        told.account(chat_fates.AGNAI_MESSAGE)
        if told.text("msg").strip():
            messages.append(
                ChatMessage(
                    role="user" if told.text("userId") and not told.text("characterId") else "assistant",
                    text=told.text("msg"),
                    speaker=told.text("handle", "name"),
                    at=read_time(row.get("createdAt")),
                )
            )
    return _some([_chat(whole.text("name") or stem(file), messages)])


def openai_messages(rows: Sequence[Any], file: str, losses: Losses) -> list[Chat]:
    """Read a list of messages with ``role`` and ``content``."""
    check_amount(len(rows), 0)
    messages = []
    for at, row in enumerate(rows):
        where = f"message {at}"
        if isinstance(row, dict):
            Fields(row, losses, where).account(chat_fates.OPENAI)
        role, content = (row.get("role"), row.get("content")) if isinstance(row, dict) else (None, None)
        if isinstance(content, list):
            texts = [part.get("text") for part in content if isinstance(part, dict)]
            if len([each for each in texts if isinstance(each, str)]) < len(content):
                losses.add("content", "dropped", "pictures and other parts that are no text", where)
            content = "\n".join(each for each in texts if isinstance(each, str))
        if role not in ("user", "assistant") or not isinstance(content, str):
            losses.add("role", "dropped", "system messages and tools are no turns of the story", where)
        elif content.strip():
            name = row.get("name")
            messages.append(
                ChatMessage(role=role, text=tidy(content), speaker=tidy(name) if isinstance(name, str) else "")
            )
    return _some([_chat(stem(file), messages)])


def _chat(name: str, messages: Sequence[ChatMessage]) -> Chat:
    speakers = list(dict.fromkeys(each.speaker for each in messages if each.role == "assistant" and each.speaker))
    players = [each.speaker for each in messages if each.role == "user" and each.speaker]
    return Chat(
        name=name,
        user=players[-1] if players else "",
        character=speakers[0] if speakers else "",
        members=tuple(speakers) if len(speakers) > 1 else (),
        messages=tuple(messages),
    )


def _some(chats: list[Chat]) -> list[Chat]:
    found = [chat for chat in chats if chat.messages]
    if not found:
        raise Unreadable("this looks like a chat, and holds no message")
    return found
