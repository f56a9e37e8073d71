"""Reads chats of SillyTavern: one message per line, with or without a header, with groups, swipes and branches."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from attrs import evolve

from saga_backends.importers.lore import ANY
from saga_core.imports import (
    KEPT,
    MEASURED,
    OWN_TOOL,
    SENT_AGAIN,
    Chat,
    ChatMessage,
    Fields,
    Losses,
    Unreadable,
    check_amount,
    dropped,
    fates,
    mapped,
    read_time,
    stem,
    tidy,
)

HEADER = fates(
    (mapped("the player's name where messages have none"), "user_name"),
    (KEPT, "character_name chat_metadata"),
    (mapped("the time of messages without one"), "create_date"),
)
METADATA = fates(
    (mapped("the chat becomes a timeline of that one's session"), "main_chat"),
    (mapped("the player's name where nothing else says it, if the personas are imported too"), "persona"),
    (
        SENT_AGAIN,
        "note_prompt note_interval note_position note_depth note_role scenario mes_example system_prompt "
        "world_info script_injects",
    ),
    (dropped("what was sticky or resting when the file was written begins anew"), "timedWorldInfo"),
    (dropped("variables of scripts say nothing to SAGA"), "variables"),
    (dropped("files are not in a chat's file"), "attachments"),
    (OWN_TOOL, "quickReply tainted integrity chat_id_hash objective sheets custom_background"),
)
MESSAGE = fates(
    (KEPT, "name is_user send_date mes extra swipe_id"),
    (mapped("a hidden message is a turn like any other; it happened"), "is_system"),
    (OWN_TOOL, "is_name force_avatar original_avatar title"),
    (mapped("replies beside the one that was taken; those of a greeting begin other chats"), "swipes"),
    (dropped("the times of replies that were not taken"), "swipe_info"),
    (MEASURED, "gen_started gen_finished"),
    (dropped("variables of scripts say nothing to SAGA"), "variables"),
)
EXTRA = fates(
    (
        MEASURED,
        "api model gen_id reasoning_duration reasoning_signature reasoning_type time_to_first_token bias token_count",
    ),
    (OWN_TOOL, "type tool_invocations swipeable isSmallSys uses_system_ui"),
    (dropped("what a model thought is no story"), "reasoning"),
    (dropped("files are not in a chat's file"), "files"),
    (dropped("pictures are not in a chat's file"), "media image image_swipes inline_image"),
    (dropped("the text as it was shown; the prompt has mes"), "display_text"),
    (dropped("a summary of the tool; saga backfill finds out what happened"), "memory"),
    (mapped("the chat of that name is a timeline from here"), "bookmark_link"),
)
_OF_THE_TOOL = ("comment", "assistant_note", "help", "welcome", "empty", "slash_commands", "formatting")
_UNUSED = ("", "unused")
_DECODER = json.JSONDecoder()


def read_chat(lines: Iterable[tuple[int, str]], file: str, losses: Losses) -> Chat:
    """Read a chat from its lines, each with its number. Raises ``Unreadable`` for no message, or too many."""
    rows = _rows(lines, losses)
    first = next(rows, None)
    header = Fields({}, losses)
    if first is not None and "mes" not in first[1]:
        header = Fields(first[1], losses, "line 1")
        header.account(HEADER)
        first = None
    meta = header.inner("chat_metadata")
    meta.account(METADATA)
    created = read_time(header.plain.get("create_date"))
    messages: list[ChatMessage] = []
    swipes = 0
    for number, plain in chain([first] if first is not None else [], rows):
        found = _message(Fields(plain, losses, f"line {number}"))
        if found is not None:
            messages.append(found)
            swipes += len(found.swipes)
            check_amount(len(messages), swipes)
    if not messages:
        raise Unreadable("this looks like a chat of SillyTavern, and no message of it can be read")
    timed = [each if each.at else evolve(each, at=created) for each in messages]
    named = {name: header.text(name) for name in ("user_name", "character_name")}
    user, character = ("" if each in _UNUSED else each for each in named.values())
    chat = Chat.of(stem(file), timed, user=user, character=character)
    return evolve(chat, parent=meta.text("main_chat"), persona=meta.text("persona"))


def _rows(lines: Iterable[tuple[int, str]], losses: Losses) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the JSON objects of the lines, each with its line number."""
    faulty = 0
    for number, line in lines:
        if faulty:
            losses.add("line", "dropped", "a line is no JSON", f"line {faulty}")
            faulty = 0
        found, is_whole = _objects(line)
        if not is_whole:
            faulty = number  # reported below, once it is known whether it is the last line
        for plain in found:
            if isinstance(plain, dict):
                yield number, plain
            else:
                losses.add("line", "dropped", "a line is no message", f"line {number}")
        if len(found) > 1:
            losses.add("line", "mapped", "several messages in one line are read one by one", f"line {number}")
    if faulty:
        losses.add("line", "dropped", "the last line is cut off", f"line {faulty}")


def _objects(line: str) -> tuple[list[Any], bool]:
    """Return the JSON values of a line, which has one unless a line end was lost, and whether nothing is left over."""
    found: list[Any] = []
    at = 0
    while at < len(line):
        try:
            plain, end = _DECODER.raw_decode(line, at)
        except (ValueError, RecursionError):
            return found, False
        found.append(plain)
        at = len(line) - len(line[end:].lstrip())
    return found, True


def _message(row: Fields) -> ChatMessage | None:
    extra = row.inner("extra")
    user, hidden = bool(row.flag("is_user")), bool(row.flag("is_system"))
    kind = extra.text("type")
    told = kind == "narrator"
    if kind in _OF_THE_TOOL or (hidden and not told and (extra.flag("isSmallSys") or extra.flag("uses_system_ui"))):
        row.losses.add("mes", "dropped", "a message of the tool is no turn of the story", row.where)
        return None
    row.account(MESSAGE)
    extra.account(EXTRA)
    text = row.text("mes")
    swipes = _swipes(row)
    if swipes:
        taken = row.whole("swipe_id", least=ANY)
        if taken is not None and not 0 <= taken < len(swipes):
            row.losses.add("swipe_id", "dropped", "names none of the swipes", row.where)
            taken = None
        if taken is None and not text:
            taken = 0
        text = text or swipes[taken or 0]
        # An edited message differs from its own swipe, which is left out by number. Without a number, all that differ
        # from the message are kept.
        swipes = [each for at, each in enumerate(swipes) if at != taken]
    if not text.strip():
        row.losses.add("mes", "dropped", "a blank message is nothing", row.where)
        return None
    if told:
        row.losses.add("mes", "mapped", "what a narrator says belongs to the next turn, or to the last one", row.where)
        return ChatMessage(role="narrator", text=text, at=read_time(row.plain.get("send_date")), hidden=hidden)
    return ChatMessage(
        role="user" if user else "assistant",
        text=text,
        speaker=row.text("name"),
        at=read_time(row.plain.get("send_date")),
        hidden=hidden,
        swipes=() if user else tuple(each for each in dict.fromkeys(swipes) if each.strip() and each != text),
        checkpoint=extra.text("bookmark_link"),
    )


def _swipes(row: Fields) -> list[str]:
    found = []
    for each in row.rows("swipes"):
        text = each.get("message") if isinstance(each, dict) else each  # Chub writes objects
        if isinstance(text, str):
            found.append(tidy(text))
        else:
            found.append("")
            row.losses.add("swipes", "dropped", "a swipe is no text", row.where)
    return found
