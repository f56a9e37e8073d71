"""The vocabulary of the world files, shared by the parser and the renderer.

A world is a folder with three markdown files. WORLD.md is free text, with optional front matter between two
``---`` lines. CHARACTERS.md and LOREBOOK.md have one section for each entry::

    ## Ergen
    - location: village square
    - items: healing potion x2, herb knife (equipped)
    - relations: Aria: trusts +2

    Text about him, as much as one likes.

Field lines are ``- key: value`` under the heading, with the keys of any language; the text starts at the first
other line. Lists are separated by commas, or written below the key as an indented list; ``\\,`` is a comma inside
a name. Unknown keys are kept as ``extra``. Text under a ``#`` heading, before the next ``##``, is a note to
authors and is not read. A line of text that looks like a heading, or a first line that looks like a field, is
written with a backslash before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from attrs import AttrsInstance, fields, frozen

from saga_core.language import DEFAULT, every, fold_name, known, language_of
from saga_core.stores import Limits
from saga_core.world.model import CharacterSheet, LoreEntry, LoreRule, World

WORLD_FILE = "WORLD.md"
CHARACTERS_FILE = "CHARACTERS.md"
LOREBOOK_FILE = "LOREBOOK.md"
FILES: tuple[str, ...] = (WORLD_FILE, CHARACTERS_FILE, LOREBOOK_FILE)

LONGEST = 12_000_000
"""Most characters of one file."""
LONGEST_FRONT = 200_000
"""Most characters of front matter. YAML takes ten times as long to read as the rest."""
MOST_SECTIONS = {CHARACTERS_FILE: 3_000, LOREBOOK_FILE: 50_000}
"""Most entries of each file. Every character is in every state, and on the pages that each turn renders."""
MOST_NAMES = {CHARACTERS_FILE: 50_000, LOREBOOK_FILE: 1_000_000}
"""Most names in all lists of each file."""
LARGEST_WORLD = Limits().value_bytes
"""Most bytes of a world in the journal, which keeps it in one record."""


@frozen
class FieldSpec:
    """One field: the part of a world that has it, the attribute it fills, and the kind of its value.

    ``part`` is character, lore, rule or front; ``kind`` is name, list, number, integer, flag, items, relations, or one
    of the kinds with a fixed set of words, such as type and layer.
    """

    part: str
    attribute: str
    kind: str

    def keys(self, language: str) -> tuple[str, ...]:
        """The keys in a language, starting with the one to write; the English keys if the language has none."""
        name = f"{self.part}.{self.attribute}"
        return language_of(language).world.keys.get(name) or language_of(DEFAULT).world.keys[name]

    def key(self, language: str) -> str:
        """The key to write in a world of this language."""
        return self.keys(language)[0]


_KINDS = {
    "bool": "flag",
    "bool | None": "flag",
    "int": "number",
    "int | None": "number",
    "tuple[str, ...]": "list",
    "tuple[ItemStack, ...]": "items",
    "tuple[SheetRelation, ...]": "relations",
}
"""The type of an attribute -> the kind of its value. Other attributes are names."""
_OF_THEIR_OWN = frozenset(("type", "layer", "mode", "logic", "position", "role"))
"""Attributes with a fixed set of words, which are kinds of their own."""
_SIGNED = frozenset(("order", "priority"))


def _specs(part: str, kind: type[AttrsInstance], attributes: Iterable[str]) -> tuple[FieldSpec, ...]:
    types = {each.name: str(each.type) for each in fields(kind)}

    def kind_of(name: str) -> str:
        if name in _OF_THEIR_OWN:
            return name
        return "integer" if name in _SIGNED else _KINDS.get(types[name], "name")

    return tuple(FieldSpec(part, name, kind_of(name)) for name in attributes)


def _all_but(kind: type[AttrsInstance], *left_out: str) -> list[str]:
    return [each.name for each in fields(kind) if each.name not in left_out]


CHARACTER_FIELDS = _specs("character", CharacterSheet, _all_but(CharacterSheet, "name", "extra", "body"))
LORE_FIELDS = _specs("lore", LoreEntry, _all_but(LoreEntry, "name", "text", "extra", "rule"))
RULE_FIELDS = _specs("rule", LoreRule, _all_but(LoreRule))
"""The fields of an entry's ``LoreRule``, which decide when the entry is told."""
FRONT_FIELDS = _specs(
    "front",
    World,
    ("title", "language", "aliases", "match", "greeting", "greetings", "start_events", "profile", "modules", "shared"),
)

TYPE_WORDS: dict[str, str] = {word: kind for each in every() for word, kind in each.world.types.items()}
FLAG_WORDS: dict[str, bool] = {word: flag for each in every() for word, flag in each.world.flags.items()}

_SEPARATORS = str.maketrans("", "", "_-")
_HEADING_ESCAPE = re.compile(r"\\+#{1,2}(?!#)")
_HEADING = re.compile(r"\\*#{1,2}(?!#)")
_BULLET_ESCAPE = re.compile(r"\\+[-*+]")
_BULLET = re.compile(r"\\*[-*+]")


def fold_key(key: str) -> str:
    """A key in the form in which keys are compared: ``Known By``, ``known-by`` and ``known_by`` are the same."""
    return fold_name(key).translate(_SEPARATORS)


@lru_cache(maxsize=16)
def by_key(specs: tuple[FieldSpec, ...]) -> dict[str, FieldSpec]:
    """The specs under each of their folded keys."""
    return {fold_key(key): spec for spec in specs for tag in known() for key in spec.keys(tag)}


def split_list(value: str) -> list[str]:
    """The items of a comma-separated list, unescaped and stripped; empty ones are dropped."""
    if "\\" not in value:
        return [item for each in value.split(",") if (item := each.strip())]
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
