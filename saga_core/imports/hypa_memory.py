"""Reads HypaV3 memory: the summaries that RisuAI stores with a chat, each of some of its messages."""

from __future__ import annotations

from collections.abc import Mapping

from saga_core.imports.fields import KEPT, Fate, Fields, dropped, mapped
from saga_core.imports.records import ChatSummary

_TOOL = dropped("it has a meaning in its own tool alone")

HYPA_V3: dict[str, Fate] = {"summaries": KEPT}
HYPA_SUMMARY: dict[str, Fate] = {
    "text": KEPT,
    "chatMemos": mapped("the turns that these messages belong to"),
    "isImportant": dropped("SAGA tells every part of the story"),
    "categoryId": _TOOL,
    "tags": _TOOL,
}


def read_summaries(memory: Fields, places: Mapping[str, int], shift: str) -> tuple[ChatSummary, ...]:
    """Return the summaries in the order of their messages.

    ``places`` maps a message's id to its index, and ``shift`` names the chat in losses. A summary covers all messages
    from its first to its last, except for those that an earlier summary covers.
    """
    memory.account(HYPA_V3)
    placed = []
    for number, row in enumerate(memory.rows("summaries")):
        where = f"{shift}, summary {number}"
        if not isinstance(row, dict):
            memory.losses.add("summaries", "dropped", "is no object", where)
            continue
        summary = Fields(row, memory.losses, where, f"{memory.prefix}summaries.")
        summary.account(HYPA_SUMMARY)
        text = " ".join(summary.text("text").split())
        known = [places[each] for each in summary.texts("chatMemos") if each in places]
        if not text or not known:
            why = "none of its messages is in the chat" if text else "it has no text"
            memory.losses.add("summaries", "dropped", why, where)
            continue
        placed.append((min(known), max(known), where, text))
    found: list[ChatSummary] = []
    for first, last, where, text in sorted(placed):
        begin = max(first, found[-1].last + 1) if found else first
        if begin > last:
            memory.losses.add("summaries", "dropped", "its messages are told by another one", where)
            continue
        found.append(ChatSummary(text, begin, last))
    return tuple(found)
