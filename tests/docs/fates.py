"""The tables of docs/import.md, from the code that reads the fields; ``python -m tests.docs.fates`` writes them."""

from __future__ import annotations

import re
from pathlib import Path

from saga_backends.importers import agnai, backyard, cai, kobold, lore, novelai, ooba, openai_messages, risu
from saga_backends.importers.tavern import cards, chats, lorebooks, people
from saga_core.imports import Fate

PAGE = Path(__file__).parents[2] / "docs" / "import.md"
TABLES: dict[str, dict[str, Fate]] = {
    "card": cards.CARD,
    "card.extensions": cards.EXTENSIONS,
    "character_book": lorebooks.BOOK,
    "character_book.entries": lorebooks.ENTRY_V2,
    "character_book.entries.extensions": lorebooks.ENTRY_EXTENSIONS,
    "world_info": lorebooks.WORLD_INFO,
    "decorators": lore.DECORATORS,
    "risu_lorebook": risu.ENTRY,
    "risu_lorebook.module": risu.MODULE,
    "novelai_lorebook": novelai.ENTRY,
    "agnai_book": agnai.ENTRY,
    "sillytavern_chat.header": chats.HEADER,
    "sillytavern_chat.chat_metadata": chats.METADATA,
    "sillytavern_chat.messages": chats.MESSAGE,
    "sillytavern_chat.extra": chats.EXTRA,
    "risu_chat": risu.CHAT,
    "risu_chat.message": risu.MESSAGE,
    "risu_chat.summaries": risu.SUMMARY,
    "group": people.GROUP,
    "personas": people.PERSONAS,
    "ooba_chat": ooba.LOG,
    "ooba_character": ooba.CHARACTER,
    "kobold_chat": kobold.STORY,
    "cai_chat": cai.HISTORY,
    "cai_chat.msgs": cai.MESSAGE,
    "agnai_chat": agnai.CHAT,
    "agnai_chat.messages": agnai.MESSAGE,
    "backyard.character": backyard.CHARACTER,
    "backyard.scenario": backyard.SCENARIO,
    "backyard.messages": backyard.MESSAGE,
    "openai_messages": openai_messages.MESSAGE,
}
_TABLE = re.compile(r"(<!-- fates: ([\w.]+) -->\n)(?:\|[^\n]*\n)*")


def table(fates: dict[str, Fate]) -> str:
    rows = ["| field | what becomes of it | how, or why not |", "| --- | --- | --- |"]
    groups: dict[tuple[str, str], list[str]] = {}
    for name, fate in fates.items():
        groups.setdefault((fate.verdict, fate.why), []).append(f"`{name}`")
    for (verdict, why), names in groups.items():
        rows.append(f"| {', '.join(names)} | {verdict} | {why} |".replace("  ", " "))
    return "".join(f"{row}\n" for row in rows)


def with_tables(text: str) -> str:
    return _TABLE.sub(lambda found: found[1] + table(TABLES[found[2]]), text)


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
