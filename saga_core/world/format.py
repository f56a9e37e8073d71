"""The vocabulary of the world files, shared by the parser and the renderer.

A world is a folder with three markdown files. WORLD.md is free text, with optional front matter between two
``---`` lines. CHARACTERS.md and LOREBOOK.md have one section for each entry::

    ## 에르겐
    - 위치: 마을 광장
    - 소지품: 치유 물약 x2, 약초 칼 (장착)
    - 관계: 아리아: trusts +2

    Text about him, as much as one likes.

Field lines are ``- key: value`` under the heading, with Korean or English keys; the text starts at the first
other line. Lists are separated by commas, or stand below the key as an indented list; ``\\,`` is a comma inside
a name. Unknown keys are kept as ``extra``. What stands under a ``#`` heading, before the next ``##``, is a note
to authors and is not read. A line of text that would read as a heading, or a first line that would read as a
field, is written with a backslash before it.
"""

from __future__ import annotations

import re

from attrs import frozen

from saga_core.language import fold_name

WORLD_FILE = "WORLD.md"
CHARACTERS_FILE = "CHARACTERS.md"
LOREBOOK_FILE = "LOREBOOK.md"
FILES: tuple[str, ...] = (WORLD_FILE, CHARACTERS_FILE, LOREBOOK_FILE)


@frozen
class FieldSpec:
    """One field: the attribute it fills, how its value reads, and its keys (the first is the one written).

    ``kind`` is name, list, number, flag, items, relations, type or layer.
    """

    attribute: str
    kind: str
    english: tuple[str, ...]
    korean: tuple[str, ...]

    def key(self, language: str) -> str:
        """The key to write in a world of this language."""
        return self.korean[0] if language == "ko" else self.english[0]


_ALIASES = FieldSpec("aliases", "list", ("aliases", "alias"), ("별칭", "별명"))

CHARACTER_FIELDS: tuple[FieldSpec, ...] = (
    FieldSpec("player", "flag", ("player",), ("player", "플레이어")),
    FieldSpec("hp", "number", ("hp",), ("hp", "체력")),
    FieldSpec("max_hp", "number", ("max_hp",), ("max_hp", "최대 체력")),
    FieldSpec("location", "name", ("location",), ("위치",)),
    FieldSpec("traits", "list", ("traits", "personality"), ("성격", "특성")),
    FieldSpec("mood", "name", ("mood",), ("기분",)),
    FieldSpec("occupation", "name", ("occupation", "job"), ("직업",)),
    FieldSpec("background", "name", ("background",), ("배경",)),
    FieldSpec("status", "name", ("status",), ("상태",)),
    _ALIASES,
    FieldSpec("items", "items", ("items", "inventory"), ("소지품", "인벤토리")),
    FieldSpec("relations", "relations", ("relations", "relationships"), ("관계",)),
)

LORE_FIELDS: tuple[FieldSpec, ...] = (
    FieldSpec("type", "type", ("type",), ("타입", "유형")),
    FieldSpec("layer", "layer", ("layer",), ("레이어",)),
    FieldSpec("tags", "list", ("tags", "tag"), ("태그",)),
    _ALIASES,
    FieldSpec("constant", "flag", ("constant",), ("상시",)),
    FieldSpec("neighbours", "list", ("neighbours", "neighbors"), ("인접",)),
    FieldSpec("related", "list", ("related",), ("관련",)),
    FieldSpec("places", "list", ("places",), ("장소",)),
    FieldSpec("items", "list", ("items",), ("아이템",)),
    FieldSpec("known_by", "list", ("known_by",), ("아는 이", "아는 사람")),
    FieldSpec("secret", "flag", ("secret",), ("비밀",)),
)

FRONT_FIELDS: tuple[FieldSpec, ...] = (
    FieldSpec("title", "name", ("title",), ("제목",)),
    FieldSpec("language", "name", ("language",), ("언어",)),
    FieldSpec("aliases", "list", ("aliases",), ("별칭",)),
    FieldSpec("match", "list", ("match",), ("선택어",)),
    FieldSpec("greeting", "name", ("greeting",), ("인사말",)),
    FieldSpec("start_events", "list", ("start_events",), ("시작 사건",)),
)

TYPE_WORDS: dict[str, str] = {
    "location": "location",
    "장소": "location",
    "item": "item",
    "아이템": "item",
    "character": "character",
    "캐릭터": "character",
    "인물": "character",
    "faction": "faction",
    "세력": "faction",
    "event": "event",
    "사건": "event",
    "concept": "concept",
    "개념": "concept",
}

FLAG_WORDS: dict[str, bool] = {
    "true": True,
    "yes": True,
    "예": True,
    "네": True,
    "false": False,
    "no": False,
    "아니오": False,
    "아니요": False,
}

_SEPARATORS = str.maketrans("", "", "_-")
_HEADING_ESCAPE = re.compile(r"\\+#{1,2}(?!#)")
_HEADING = re.compile(r"\\*#{1,2}(?!#)")
_BULLET_ESCAPE = re.compile(r"\\+[-*+]")
_BULLET = re.compile(r"\\*[-*+]")


def fold_key(key: str) -> str:
    """A key as it is compared: ``Known By``, ``known-by`` and ``known_by`` are one."""
    return fold_name(key).translate(_SEPARATORS)


def by_key(specs: tuple[FieldSpec, ...]) -> dict[str, FieldSpec]:
    """The specs under each of their folded keys."""
    return {fold_key(key): spec for spec in specs for key in (*spec.english, *spec.korean)}


def split_list(value: str) -> list[str]:
    """The items of a comma-separated list, unescaped and stripped; empty ones are dropped."""
    items: list[str] = []
    current: list[str] = []
    position = 0
    while position < len(value):
        char = value[position]
        if char == "\\" and value[position + 1 : position + 2] in (",", "\\"):
            position += 1
            current.append(value[position])
        elif char == ",":
            items.append("".join(current).strip())
            current = []
        else:
            current.append(char)
        position += 1
    items.append("".join(current).strip())
    return [item for item in items if item]


def join_list(items: tuple[str, ...]) -> str:
    """The inverse of ``split_list``."""
    return ", ".join(item.replace("\\", "\\\\").replace(",", "\\,") for item in items)


def escape_body(text: str) -> str:
    """``text`` with a backslash before each line that a parser would take for a heading or a field."""
    lines = text.split("\n")
    escaped = ["\\" + line if _HEADING.match(line) else line for line in lines]
    if _BULLET.match(lines[0]):
        escaped[0] = "\\" + lines[0]
    return "\n".join(escaped)


def unescape_body(text: str) -> str:
    """The inverse of ``escape_body``."""
    lines = text.split("\n")
    plain = [line[1:] if _HEADING_ESCAPE.match(line) else line for line in lines]
    if _BULLET_ESCAPE.match(lines[0]):
        plain[0] = lines[0][1:]
    return "\n".join(plain)
