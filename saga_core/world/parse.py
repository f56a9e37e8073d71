"""Parses the three markdown files of a world into values. The format is described in ``format``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from attrs import define

from saga_core.errors import BadInput
from saga_core.language import clean_name, detect, fold_name, language_of_files, nfc
from saga_core.language import known as languages
from saga_core.world.findings import Findings, meant
from saga_core.world.format import (
    CHARACTER_FIELDS,
    CHARACTERS_FILE,
    FILES,
    FLAG_WORDS,
    FRONT_FIELDS,
    LONGEST,
    LORE_FIELDS,
    LOREBOOK_FILE,
    MOST_NAMES,
    RULE_FIELDS,
    TYPE_WORDS,
    WORLD_FILE,
    FieldSpec,
    by_key,
    fold_key,
    split_list,
)
from saga_core.world.lore_rule import LOGICS, MODES, POSITIONS, ROLES, TRIGGERS, LoreRule
from saga_core.world.model import (
    LAYERS,
    LORE_TYPES,
    CharacterSheet,
    ItemStack,
    LoreEntry,
    SheetRelation,
    World,
)
from saga_core.world.notation import read_relation, read_stack
from saga_core.world.references import Lines, check_references
from saga_core.world.sections import FieldLine, Section, read_sections

_TITLE = re.compile(r"^#(?!#)[ \t]+(.+)$", re.MULTILINE)
_WHOLE = re.compile(r"\+?[0-9]{1,9}")
_SIGNED = re.compile(r"[+-]?[0-9]{1,9}")
_CHOICES: dict[str, tuple[Mapping[str, object], tuple[str, ...]]] = {
    "flag": (FLAG_WORDS, ("true", "false")),
    "type": (TYPE_WORDS, LORE_TYPES),
    "layer": ({layer.casefold(): layer for layer in LAYERS}, LAYERS),
    "mode": ({word: word for word in MODES}, MODES),
    "logic": ({word: word for word in LOGICS}, LOGICS),
    "position": ({word: word for word in POSITIONS}, POSITIONS),
    "role": ({word: word for word in ROLES}, ROLES),
}

_RULED = tuple(spec.attribute for spec in RULE_FIELDS)

_Value = TypeVar("_Value", ItemStack, SheetRelation)

_MUCH = 4_000
"""Bytes of an entry's text above which a warning is given: about 800 tokens of Korean and 1,000 of English."""


def parse_world(files: Mapping[str, str], name: str, where: str | None = None) -> tuple[World, tuple[str, ...]]:
    """Parse ``files`` (``WORLD.md``, ``CHARACTERS.md``, ``LOREBOOK.md``; absent ones count as empty).

    ``name`` is the folder's name and ``where`` the folder as shown in messages (``worlds/<name>``). Returns the
    world and its warnings, each ``file:line: text``: unresolved references and likely misspellings.

    Raises ``WorldError`` with every problem of all files, and ``BadInput`` if ``files`` is empty or has other names.
    """
    where = where if where is not None else f"worlds/{name}"
    unknown = [key for key in files if key not in FILES]
    if unknown or not files:
        raise BadInput(f"{where}: files are {sorted(files)}; a world has {', '.join(FILES)}")
    findings = Findings(where)
    if not clean_name(name):
        findings.problem(WORLD_FILE, 1, "the name of the world's folder is blank", "rename the folder")
    for file, text in files.items():
        if len(text) > LONGEST:
            message = f"the file has {len(text):,} characters; at most {LONGEST:,} are read"
            findings.problem(file, 1, message, "shorten it, or divide the world")
    findings.raise_problems()
    texts = {file: _clean(files.get(file, "")) for file in FILES}
    lines: Lines = {}
    front = _front(texts[WORLD_FILE], "".join(texts.values()), name, findings)
    characters = _sheets(texts[CHARACTERS_FILE], findings, lines)
    lore = _entries(texts[LOREBOOK_FILE], findings, lines)
    findings.raise_problems()
    world = World(name=name, characters=tuple(characters), lore=tuple(lore), **front)
    check_references(world, lines, findings)
    return world, findings.all_warnings()


def _clean(text: str) -> str:
    return nfc(text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"))


def _front(text: str, all_text: str, name: str, findings: Findings) -> dict[str, Any]:
    """The keyword arguments of ``World`` that come from WORLD.md."""
    from saga_core.world.front_matter import read_front_matter  # needs PyYAML, so imported on first use

    matter = read_front_matter(text)
    for fault in matter.faults:
        findings.problem(WORLD_FILE, fault.line, fault.message, fault.remedy)
    found: dict[str, Any] = {"description": matter.body}
    specs = by_key(FRONT_FIELDS)
    for field in matter.fields:
        spec = specs.get(fold_key(field.key))
        if spec is None:
            known = tuple(spec.attribute for spec in FRONT_FIELDS)
            findings.warn(WORLD_FILE, field.line, f'key "{field.key}" is ignored; known are {", ".join(known)}')
        elif spec.attribute in found:
            findings.problem(WORLD_FILE, field.line, f'key "{field.key}" stands twice', "keep one of them")
        elif spec.kind == "list":
            value = (field.value,) if isinstance(field.value, str) else field.value
            found[spec.attribute] = () if value == ("",) and isinstance(field.value, str) else value
        elif not isinstance(field.value, str):
            findings.problem(WORLD_FILE, field.line, f'key "{field.key}" is a list', "give it one value")
        elif spec.attribute == "language" and field.value not in languages():
            findings.problem(
                WORLD_FILE, field.line, f'key "{field.key}" is "{field.value}"', f"use one of {', '.join(languages())}"
            )
        else:
            found[spec.attribute] = field.value
    if "title" not in found:
        heading = _TITLE.search(matter.body)
        found["title"] = heading.group(1) if heading is not None else name
    found.setdefault("language", language_of_files(all_text))
    return found


def _sheets(text: str, findings: Findings, lines: Lines) -> list[CharacterSheet]:
    keys = by_key(CHARACTER_FIELDS)
    sections = _bounded(CHARACTERS_FILE, read_sections(text, CHARACTERS_FILE, keys, findings), findings)
    sheets: list[CharacterSheet] = []
    player: Section | None = None
    for section in sections:
        fields = _Fields(CHARACTERS_FILE, section, findings).read(keys, lines)
        hp, max_hp = fields.get("hp"), fields.get("max_hp")
        if hp is not None and max_hp is not None and hp > max_hp:
            message = f'field "hp" of "{section.name}" is {hp}, above max_hp {max_hp}'
            findings.problem(CHARACTERS_FILE, section.line, message, "lower hp or raise max_hp")
        if fields.get("player"):
            if player is not None:
                message = f'"{section.name}" is a second player; the first is "{player.name}", line {player.line}'
                findings.problem(CHARACTERS_FILE, section.line, message, "mark one character as the player")
            player = player or section
        sheets.append(CharacterSheet(name=section.name, body=section.body, **fields))
    _unique(CHARACTERS_FILE, sections, sheets, findings)
    return sheets


def _entries(text: str, findings: Findings, lines: Lines) -> list[LoreEntry]:
    keys, of_rules = by_key((*LORE_FIELDS, *RULE_FIELDS)), by_key(RULE_FIELDS)
    sections = _bounded(LOREBOOK_FILE, read_sections(text, LOREBOOK_FILE, keys, findings), findings)
    entries: list[LoreEntry] = []
    for section in sections:
        reader = _Fields(LOREBOOK_FILE, section, findings)
        fields = reader.read(keys, lines)
        rule = reader.rule({name: fields.pop(name) for name in _RULED if name in fields}, of_rules)
        for attribute, standard in (("type", "concept"), ("layer", "A3")):
            if attribute not in fields:
                fields[attribute] = standard
                message = f'"{section.name}" has no {attribute}; read as {standard}'
                findings.warn(LOREBOOK_FILE, section.line, message)
        if len(section.body.encode()) > _MUCH:
            message = (
                f'"{section.name}" has {len(section.body):,} characters of text, more than there is room for in a '
                "prompt as a rule; an entry goes in whole or not at all: split it"
            )
            findings.warn(LOREBOOK_FILE, section.line, message)
        entries.append(LoreEntry(name=section.name, text=section.body, rule=rule, **fields))
    _unique(LOREBOOK_FILE, sections, entries, findings)
    return entries


def _bounded(file: str, sections: list[Section], findings: Findings) -> list[Section]:
    """The sections; none, with a problem recorded, if their lists have more names than a world may have."""
    names = 0
    for section in sections:
        names += sum(line.value.count(",") + 1 for line in section.fields)
        if names > MOST_NAMES:
            message = f"the lists up to here name more than {MOST_NAMES:,} things; no more are read"
            findings.problem(file, section.line, message, "shorten the lists, or divide the world")
            return []
    return sections


def _unique(
    file: str, sections: list[Section], values: Sequence[CharacterSheet | LoreEntry], findings: Findings
) -> None:
    """Check that a name occurs once in a file, and that no alias could mean two entries."""
    owner: dict[str, Section] = {}
    for section in sections:
        first = owner.setdefault(fold_name(section.name), section)
        if first is not section:
            message = f'"{section.name}" stands twice, first on line {first.line}'
            findings.problem(file, section.line, message, "join the two entries or rename one")
    for section, value in zip(sections, values, strict=True):
        for alias in value.aliases:
            first = owner.setdefault(fold_name(alias), section)
            if first.name != section.name:
                message = f'alias "{alias}" of "{section.name}" also means "{first.name}", line {first.line}'
                findings.problem(file, section.line, message, "drop the alias from one of them")


@define
class _Fields:
    """The field lines of one section, turned into keyword arguments; faults go to ``findings``."""

    file: str
    section: Section
    findings: Findings

    def read(self, keys: Mapping[str, FieldSpec], lines: Lines) -> dict[str, Any]:
        known = tuple(keys)
        read: dict[str, Any] = {}
        extra: list[tuple[str, str]] = []
        seen: dict[str, int] = {}
        for line in self.section.fields:
            spec = keys.get(fold_key(line.key))
            identity = spec.attribute if spec is not None else f"extra:{fold_key(line.key)}"
            first = seen.setdefault(identity, line.line)
            if first != line.line:
                self._problem(line, f"stands twice, first on line {first}", "keep one of them")
            elif spec is None:
                extra.append((line.key, line.value))
                near = None if self.findings.warned_enough else meant(fold_key(line.key), known)
                if near is not None:
                    message = f'field "{line.key}" is not known; was "{keys[near].key(self._language(line))}" meant?'
                    self.findings.warn(self.file, line.line, message)
            elif line.value:
                lines[(self.file, self.section.name, spec.attribute)] = line.line
                value = self._value(spec.kind, line)
                if value is not None:
                    read[spec.attribute] = value
        if extra:
            read["extra"] = tuple(extra)
        return read

    @staticmethod
    def _language(line: FieldLine) -> str:
        return detect(line.key)

    def _value(self, kind: str, line: FieldLine) -> Any:
        """The value of one field; None when it is faulty, which has then been recorded."""
        if kind == "name":
            return line.value
        if kind == "list":
            return tuple(split_list(line.value))
        if kind == "number":
            return self._number(line)
        if kind == "integer":
            return self._integer(line)
        if kind == "items":
            return self._each(line, read_stack, "use a quantity of 1 or more, or drop the item")
        if kind == "relations":
            remedy = "write name: kind strength, for example Aria: trusts +2"
            return self._each(line, read_relation, remedy)
        words, allowed = _CHOICES[kind]
        if line.value.casefold() not in words:
            self._problem(line, f'is "{line.value}"', f"use one of {', '.join(allowed)}")
        return words.get(line.value.casefold())

    def _number(self, line: FieldLine) -> int | None:
        if _WHOLE.fullmatch(line.value):
            return int(line.value)
        self._problem(line, f'is "{line.value}"', "use a whole number, 0 or more")
        return None

    def _integer(self, line: FieldLine) -> int | None:
        if _SIGNED.fullmatch(line.value):
            return int(line.value)
        self._problem(line, f'is "{line.value}"', "use a whole number")
        return None

    def rule(self, found: Mapping[str, Any], keys: Mapping[str, FieldSpec]) -> LoreRule | None:
        """The rule that these fields define; None if there are none."""
        given = dict(found)
        for line in self.section.fields:
            spec = keys.get(fold_key(line.key))
            if spec is None:
                continue
            if spec.attribute == "probability" and given.get("probability", 0) > 100:
                self._problem(line, f'is "{line.value}"', "use a whole number from 0 to 100")
                del given["probability"]
            if spec.attribute == "triggers" and not set(given.get("triggers", ())) <= set(TRIGGERS):
                self._problem(line, f'is "{line.value}"', f"use some of {', '.join(TRIGGERS)}")
                del given["triggers"]
        return LoreRule(**given) if given else None

    def _each(self, line: FieldLine, read: Callable[[str], _Value | None], remedy: str) -> tuple[_Value, ...]:
        """The items of a list field, each read by ``read``. Items that it refuses are recorded as problems."""
        values: list[_Value] = []
        for item in split_list(line.value):
            value = read(item)
            if value is None:
                self._problem(line, f'has "{item}"', remedy)
            else:
                values.append(value)
        return tuple(values)

    def _problem(self, line: FieldLine, message: str, remedy: str) -> None:
        self.findings.problem(self.file, line.line, f'field "{line.key}" {message}', remedy)
