"""The tables of docs/import.md, from the code that reads the fields; ``python -m tests.docs.fates`` writes them."""

from __future__ import annotations

import re
from pathlib import Path

from saga_core.imports import cards, chat_fates, decorators, hypa_memory, lorebook_fates, other_chats, sillytavern
from saga_core.imports.fields import Fate

PAGE = Path(__file__).parents[2] / "docs" / "import.md"
TABLES: dict[str, dict[str, Fate]] = {
    "card": cards.CARD,
    "card.extensions": cards.EXTENSIONS,
    "character_book": lorebook_fates.BOOK,
    "character_book.entries": lorebook_fates.ENTRY_V2,
    "character_book.entries.extensions": lorebook_fates.ENTRY_EXTENSIONS,
    "world_info": lorebook_fates.WORLD_INFO,
    "decorators": decorators.DECORATORS,
    "risu_lorebook": lorebook_fates.RISU_LORE,
    "risu_lorebook.module": chat_fates.RISU_MODULE,
    "novelai_lorebook": lorebook_fates.NOVELAI,
    "agnai_book": lorebook_fates.AGNAI,
    "sillytavern_chat.header": sillytavern.HEADER,
    "sillytavern_chat.chat_metadata": sillytavern.METADATA,
    "sillytavern_chat.messages": sillytavern.MESSAGE,
    "sillytavern_chat.extra": sillytavern.EXTRA,
    "risu_chat": other_chats.RISU_CHAT,
    "risu_chat.message": other_chats.RISU_MESSAGE,
    "risu_chat.summaries": hypa_memory.HYPA_SUMMARY,
    "group": chat_fates.GROUP,
    "personas": chat_fates.PERSONAS,
    "ooba_chat": chat_fates.OOBA,
    "kobold_chat": chat_fates.KOBOLD,
    "cai_chat": chat_fates.CAI,
    "cai_chat.msgs": chat_fates.CAI_MESSAGE,
    "agnai_chat": chat_fates.AGNAI_CHAT,
    "agnai_chat.messages": chat_fates.AGNAI_MESSAGE,
    "backyard.character": chat_fates.BYAF_CHARACTER,
    "backyard.scenario": chat_fates.BYAF_SCENARIO,
    "backyard.messages": chat_fates.BYAF_MESSAGE,
    "openai_messages": chat_fates.OPENAI,
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
