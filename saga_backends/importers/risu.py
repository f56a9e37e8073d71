"""RisuAI: lorebooks, modules and chats, with the summaries of HypaV3 memory."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from attrs import evolve

from saga_backends.importers.lore import ANY, entries_of, item_of, keys_of, order_of, percent_of
from saga_core.imports import (
    FROM_NEXT_REQUEST,
    KEPT,
    MEASURED,
    OWN_EDITOR,
    OWN_TOOL,
    SENT_AGAIN,
    Chat,
    ChatMessage,
    ChatSummary,
    Fields,
    Fit,
    ForeignFile,
    Lorebook,
    Losses,
    Record,
    Unreadable,
    dropped,
    fates,
    mapped,
    read_time,
    stem,
    with_messages,
)
from saga_core.world import LoreRule

ENTRY = fates(
    (KEPT, "key secondkey insertorder comment content alwaysActive selective activationPercent useRegex extentions"),
    (mapped("constant is kept; folder and child only order the tool's editor"), "mode"),
    (OWN_EDITOR, "bookVersion id"),
    (mapped("the entry's group of texts in the editor; a note"), "folder"),
    (OWN_TOOL, "loreCache"),
)
MODULE = fates(
    (KEPT, "name lorebook"),
    (dropped("a note of the module's author"), "description"),
    (OWN_TOOL, "id namespace"),
    (
        dropped("SAGA runs no scripts and shows no pictures of other tools"),
        "regex trigger cjs assets backgroundEmbedding customModuleToggle lowLevelAccess",
    ),
)
_SUMMARY_OF_THE_TOOL = dropped("a summary of the tool; saga backfill finds out what happened")
CHAT = fates(
    (KEPT, "message name"),
    (SENT_AGAIN, "note modules"),
    (dropped("lore of one chat: export it as a lorebook and import that"), "localLore"),
    (dropped("the greeting is not in a RisuAI chat; SAGA learns it from the next request"), "fmIndex"),
    (OWN_TOOL, "id folderId lastDate bookmarks bookmarkNames lastMemory suggestMessages isStreaming sdData"),
    (_SUMMARY_OF_THE_TOOL, "hypaV2Data supaMemoryData"),
    (mapped("its summaries are the story so far, at the turns of their messages"), "hypaV3Data"),
    (dropped("variables of scripts say nothing to SAGA"), "scriptstate"),
    (FROM_NEXT_REQUEST, "bindedPersona"),
)
MESSAGE = fates(
    (KEPT, "role data time name swipeId"),
    (mapped("the speaker, where there is no name"), "saying"),
    (mapped("by it a summary finds its messages"), "chatId"),
    (MEASURED, "generationInfo promptInfo"),
    (OWN_TOOL, "otherUser"),
    (mapped("a message left out of prompts is a turn like any other; it happened"), "disabled"),
    (dropped("a comment is no turn of the story"), "isComment"),
    (mapped("replies beside the one that was taken"), "swipes"),
)
MEMORY = fates(
    (KEPT, "summaries"),
)
SUMMARY = fates(
    (KEPT, "text"),
    (mapped("the turns that these messages belong to"), "chatMemos"),
    (dropped("SAGA tells every part of the story"), "isImportant"),
    (OWN_TOOL, "categoryId tags"),
)
_OF_MODULES = frozenset({"regex", "trigger", "cjs", "namespace", "customModuleToggle", "backgroundEmbedding"})
"""Fields beside a lorebook that only a module has."""
_IN_PAGE = re.compile(r"""class=["']?idat["']?[^>]{0,200}>""")
_RISUM = b"\x6f\x00"
_FOLDER = "\uf000folder:"
_UNSAID = {"mode": "normal"}


class RisuAi:
    """Reads what RisuAI exports as JSON."""

    kinds: Mapping[str, str] = {"risu_lorebook": "a lorebook of RisuAI", "risu_chat": "a chat of RisuAI"}

    def fits(self, file: ForeignFile) -> Fit:
        """See ``Importer.fits``."""
        if file.head.startswith(_RISUM) and len(file.head) > 6:
            raise Unreadable(
                "this is a RisuAI module (.risum), whose text is scrambled: export its lorebook from RisuAI as JSON"
            )
        if _page(file) is not None:
            return Fit.DECLARED
        kind = file.fields.get("type")
        known = kind in ("risuModule", "risuChat", "risuAllChats") or (kind == "risu" and "data" in file.fields)
        is_module = isinstance(file.fields.get("lorebook"), list) and not _OF_MODULES.isdisjoint(file.fields)
        return Fit.DECLARED if known else Fit.LIKELY if is_module else Fit.NONE

    def read(self, file: ForeignFile) -> Iterable[tuple[str, Record]]:
        """See ``Importer.read``."""
        plain, losses = file.fields, file.losses
        page = _page(file)
        if page is not None:
            losses.add("page", "mapped", "the chat in it is read, and not what the page shows")
            return [("risu_chat", each) for each in with_messages(_chats(page, file), losses)]
        kind = plain.get("type", "risuModule")
        if kind == "risuModule":
            whole = Fields(plain, losses)
            module = whole.inner("module") if "module" in plain else whole
            module.account({**MODULE, "type": KEPT})
            return [("risu_lorebook", lorebook(module.rows("lorebook"), losses, module.text("name")))]
        if kind == "risu":
            return [("risu_lorebook", lorebook(plain.get("data"), losses))]
        return [("risu_chat", each) for each in with_messages(_chats(plain.get("data"), file), losses)]


def lorebook(rows: Any, losses: Losses, name: str = "") -> Lorebook:
    """Read the entries of an export or a module."""
    items = []
    for entry in entries_of({"entries": rows}, losses):
        entry.account(ENTRY, _UNSAID)
        if entry.text("mode") == "folder" or entry.text("key").startswith(_FOLDER):
            continue
        patterns = bool(entry.flag("useRegex"))
        keys = (entry.text("key"),) if patterns else entry.texts("key", split=True)
        second = entry.texts("secondkey", split=True) if entry.flag("selective") else ()
        rule = LoreRule(
            keys=keys_of(keys, patterns),
            second_keys=keys_of(second, patterns),
            order=order_of(entry.whole("insertorder", least=ANY)),
            probability=percent_of(entry.whole("activationPercent")),
            case_sensitive=entry.inner("extentions").flag("risu_case_sensitive"),
        )
        constant = bool(entry.flag("alwaysActive")) or entry.text("mode") == "constant"
        items.append(item_of(entry, entry.text("comment"), entry.text("content"), constant, rule, patterns=patterns))
    return Lorebook(name=name, items=tuple(items))


def _page(file: ForeignFile) -> Any:
    """The chat in a page that RisuAI wrote: JSON in an element of the class ``idat``; None in any other file."""
    if not file.start.startswith("<") or (mark := _IN_PAGE.search(file.text)) is None:
        return None
    for text in (file.text[mark.end() :], html.unescape(file.text[mark.end() :])):
        try:
            found: Any = json.JSONDecoder().raw_decode(text.lstrip())[0]
        except (ValueError, RecursionError):
            continue
        return found
    return None


def _chats(data: Any, file: ForeignFile) -> Iterable[Chat]:
    losses = file.losses
    for number, each in enumerate(data if isinstance(data, list) else [data]):
        if not isinstance(each, dict):
            losses.add("data", "dropped", "is no chat", f"chat {number}")
            continue
        chat = Fields(each, losses, f"chat {number}")
        chat.account(CHAT, {"fmIndex": -1})
        messages: list[ChatMessage] = []
        places: dict[str, int] = {}
        for row in chat.objects("message", f"chat {number}, message"):
            message = _message(row)
            if message is not None:
                if isinstance(row.plain.get("chatId"), str):
                    places[row.plain["chatId"]] = len(messages)
                messages.append(message)
        summaries = _summaries(chat.inner("hypaV3Data"), places, f"chat {number}")
        yield evolve(Chat.of(chat.text("name") or stem(file.name), messages), summaries=summaries)
    if file.fields.get("folders"):
        losses.add("folders", "dropped", OWN_TOOL.why)


def _message(row: Fields) -> ChatMessage | None:
    row.account(MESSAGE)
    text = row.text("data")
    if row.flag("isComment") or not text.strip():
        return None
    is_user = row.text("role") == "user"
    swipes = () if is_user else tuple(dict.fromkeys(each for each in row.texts("swipes") if each != text))
    return ChatMessage(
        role="user" if is_user else "assistant",
        text=text,
        speaker=row.text("name"),
        at=read_time(row.plain.get("time")),
        hidden=bool(row.plain.get("disabled")),
        swipes=swipes,
    )


def _summaries(memory: Fields, places: Mapping[str, int], chat: str) -> tuple[ChatSummary, ...]:
    """Return the summaries in the order of their messages.

    ``places`` maps a message's id to its index. A summary covers all messages from its first to its last, except for
    those that an earlier summary covers.
    """
    memory.account(MEMORY)
    placed = []
    for summary in memory.objects("summaries", f"{chat}, summary", prefix=f"{memory.prefix}summaries.", what="object"):
        summary.account(SUMMARY)
        text = " ".join(summary.text("text").split())
        known = [places[each] for each in summary.texts("chatMemos") if each in places]
        if not text or not known:
            why = "none of its messages is in the chat" if text else "it has no text"
            memory.losses.add("summaries", "dropped", why, summary.where)
            continue
        placed.append((min(known), max(known), summary.where, text))
    found: list[ChatSummary] = []
    for first, last, where, text in sorted(placed):
        begin = max(first, found[-1].last + 1) if found else first
        if begin > last:
            memory.losses.add("summaries", "dropped", "its messages are told by another one", where)
            continue
        found.append(ChatSummary(text, begin, last))
    return tuple(found)


IMPORTER = RisuAi()
