"""Parses the three markdown files of a world into values. The format is described in ``format``."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from attrs import define, field, frozen

from saga_core import codec
from saga_core.errors import BadInput
from saga_core.language import clean_name, detect, every, fold_name, is_common, language_of, language_of_files, nfc
from saga_core.language import known as languages
from saga_core.model import SCOPES
from saga_core.trackers import PROFILES, read_table
from saga_core.world.errors import ParseFindings, meant
from saga_core.world.format import (
    CHARACTER_FIELDS,
    CHARACTERS_FILE,
    FILES,
    FLAG_WORDS,
    FRONT_FIELDS,
    LARGEST_WORLD,
    LONGEST,
    LORE_FIELDS,
    LOREBOOK_FILE,
    MOST_NAMES,
    MOST_SECTIONS,
    RULE_FIELDS,
    TYPE_WORDS,
    WORLD_FILE,
    FieldSpec,
    by_key,
    fold_key,
    split_list,
    unescape_body,
)
from saga_core.world.model import (
    LAYERS,
    LOGICS,
    LORE_TYPES,
    MODES,
    POSITIONS,
    ROLES,
    TRIGGERS,
    CharacterSheet,
    ItemStack,
    LoreEntry,
    LoreRule,
    SheetRelation,
    World,
)

_HEADING = re.compile(r"##(?!#)[ \t]*(.*)$")
_GROUP = re.compile(r"#(?:[ \t]+.*)?$")
_FIELD = re.compile(r"[ \t]*[-*+][ \t]+([^:：]*[^:：\s])[ \t]*[:：][ \t]*(.*)$")
_BARE = re.compile(r"[ \t]*\**([^-*+:：\s][^:：]{0,40})[:：]")
_NESTED = re.compile(r"[ \t]+[-*+][ \t]+(.*)$")


@define
class FieldLine:
    """One ``- key: value`` line. The items of an indented list below it are joined with commas."""

    key: str
    line: int
    value: str


@frozen
class WorldSection:
    """One entry of a file. ``line`` is that of its heading, counted from 1."""

    name: str
    line: int
    fields: tuple[FieldLine, ...]
    body: str


@define
class _Open:
    """A section that is being read, with its numbered rows below the heading."""

    name: str
    line: int
    rows: list[tuple[int, str]] = field(factory=list)


def read_sections(text: str, file: str, known: Container[str], findings: ParseFindings) -> list[WorldSection]:
    """The sections of ``text`` (line ends as ``\\n``) in order. ``known`` holds the folded keys of the file.

    A block of fields may contain blank lines, as long as the keys after them are known.
    """
    opened: list[_Open] = []
    current: _Open | None = None
    stray: int | None = None
    warned = True
    for number, row in enumerate(text.split("\n"), start=1):
        heading = _HEADING.match(row)
        if heading is not None:
            current = _Open(clean_name(heading.group(1)), number)
            if current.name:
                opened.append(current)
            else:
                findings.problem(file, number, "a heading has no name", 'write "## name"')
        elif _GROUP.match(row):
            current = None
            warned = False
        elif current is not None:
            current.rows.append((number, row))
        elif row.strip():
            stray = stray or number
            line = _field(number, row)
            if line is not None and fold_key(line.key) in known:
                message = f'field "{line.key}" stands under no heading'
                findings.problem(file, number, message, 'write "## name" above the fields of an entry')
            elif opened and not warned:
                warned = True
                findings.warn(file, number, 'text under a "#" heading is not read; inside an entry use "###"')
    if stray is not None and not opened and not findings.problems:
        findings.problem(file, stray, "no heading in the file", 'start each entry with "## name"')
    most = MOST_SECTIONS[file]
    if len(opened) > most:
        message = f"{len(opened):,} entries; at most {most:,} are read"
        findings.problem(file, opened[most].line, message, "divide them among several worlds")
        return []
    return [_close(section, file, known, findings) for section in opened]


def _close(section: _Open, file: str, known: Container[str], findings: ParseFindings) -> WorldSection:
    fields: list[FieldLine] = []
    nested: list[str] | None = None
    loose = blank = False
    rest = len(section.rows)
    for at, (number, row) in enumerate(section.rows):
        if not row.strip():
            loose, blank = bool(fields), True
            continue
        item = _NESTED.match(row) if nested is not None else None
        if item is not None and nested is not None:
            nested.append(item.group(1).strip())
            loose = False
            continue
        line = _field(number, row)
        if line is None or (loose and fold_key(line.key) not in known):
            bare = None if blank else _BARE.match(row)
            if bare is not None and fold_key(bare.group(1)) in known:
                shown = row.strip()
                findings.warn(file, number, f'"{shown}" has no dash and is read as text; write "- {shown}"')
            rest = at
            break
        if nested:
            fields[-1].value = ", ".join(nested)
        fields.append(line)
        nested = None if line.value else []
        loose = blank = False
    if nested:
        fields[-1].value = ", ".join(nested)
    body = "\n".join(row for _, row in section.rows[rest:]).strip()
    return WorldSection(section.name, section.line, tuple(fields), unescape_body(body))


def _field(number: int, row: str) -> FieldLine | None:
    match = _FIELD.match(row)
    if match is None:
        return None
    key, value = match.group(1), match.group(2)
    if key.startswith("**"):  # "**key:** value" and "**key**: value"
        key = key[2:]
        if key.endswith("**"):
            key = key[:-2]
        elif value.startswith("**"):
            value = value[2:]
    return FieldLine(clean_name(key), number, clean_name(value))


_EQUIPPED = re.compile(rf"(.*\S)\s*\((?:{'|'.join(each.world.equipped for each in every())})\)", re.IGNORECASE)
_QUANTITY = re.compile(r"(.*\S)\s+[xX×]\s?([0-9]{1,12})")
_NUMBER = re.compile(r"[+-]?[0-9]+")
_STRENGTH = re.compile(r"(.*\S)\s+([+-]?[0-9]{1,9})")


def read_stack(text: str) -> ItemStack | None:
    """Read ``치유 물약 x2``, ``불꽃 검 (장착)`` or ``arrow x20 (equipped)``; None if the quantity is 0."""
    worn = _EQUIPPED.fullmatch(text)
    name = worn.group(1) if worn is not None else text
    counted = _QUANTITY.fullmatch(name)
    if counted is None:
        return ItemStack(name, 1, worn is not None)
    quantity = int(counted.group(2))
    return ItemStack(counted.group(1), quantity, worn is not None) if quantity > 0 else None


def write_stack(stack: ItemStack, language: str) -> str:
    """The inverse of ``read_stack``. A name that would be misread is written with its quantity even if it is 1."""
    text = stack.name
    if stack.quantity != 1 or _QUANTITY.fullmatch(text) or _EQUIPPED.fullmatch(text):
        text += f" x{stack.quantity}"
    return f"{text} ({language_of(language).world.equipped})" if stack.equipped else text


def read_relation(text: str) -> SheetRelation | None:
    """Read ``에르겐: trusts +2``. Without a number the strength is 0. None if the name or the kind is missing."""
    to, _, kind = (part.strip() for part in text.rpartition(":"))
    graded = _STRENGTH.fullmatch(kind)
    strength = int(graded.group(2)) if graded is not None else 0
    kind = graded.group(1) if graded is not None else kind
    if not to or not kind or _NUMBER.fullmatch(kind):
        return None
    return SheetRelation(to, kind, strength)


def write_relation(relation: SheetRelation) -> str:
    """The inverse of ``read_relation``. A strength of 0 is left out if possible."""
    text = f"{relation.to}: {relation.type}"
    graded = relation.strength != 0 or _STRENGTH.fullmatch(relation.type) is not None
    return f"{text} {relation.strength:+d}" if graded else text


Lines = dict[tuple[str, str, str], int]
"""The line of each field, under (file, entry, attribute)."""

_REFERENCES: tuple[tuple[str, str], ...] = (
    ("neighbours", "location"),
    ("places", "location"),
    ("related", "lore entry"),
    ("items", "item"),
    ("known_by", "character"),
)


def check_references(world: World, lines: Lines, findings: ParseFindings) -> None:
    """Warn of each reference in ``world`` that names nothing, or something of the wrong kind."""
    known = _Known(world)
    for sheet in world.characters:
        if sheet.location is not None:
            line = lines[(CHARACTERS_FILE, sheet.name, "location")]
            known.check([sheet.location], "location", CHARACTERS_FILE, line, sheet.name, findings)
        if sheet.relations:
            line = lines[(CHARACTERS_FILE, sheet.name, "relations")]
            known.check((r.to for r in sheet.relations), "character", CHARACTERS_FILE, line, sheet.name, findings)
    for entry in world.lore:
        for attribute, kind in _REFERENCES:
            names: tuple[str, ...] = getattr(entry, attribute)
            if names:
                line = lines[(LOREBOOK_FILE, entry.name, attribute)]
                known.check(names, kind, LOREBOOK_FILE, line, entry.name, findings)
        if entry.neighbours and entry.type != "location":
            line = lines[(LOREBOOK_FILE, entry.name, "neighbours")]
            findings.warn(LOREBOOK_FILE, line, f'"{entry.name}" is no location, so it has no neighbours')


class _Known:
    """The folded names of a world by the kind of thing that they name."""

    def __init__(self, world: World) -> None:
        sheets = {fold_name(name) for sheet in world.characters for name in (sheet.name, *sheet.aliases)}
        carried = {fold_name(stack.name) for sheet in world.characters for stack in sheet.items}
        self._names: dict[str, set[str]] = {
            "location": _of_type(world.lore, "location"),
            "item": _of_type(world.lore, "item") | carried,
            "character": _of_type(world.lore, "character") | sheets,
            "lore entry": {fold_name(name) for entry in world.lore for name in (entry.name, *entry.aliases)},
        }

    def check(self, names: Iterable[str], kind: str, file: str, line: int, entry: str, findings: ParseFindings) -> None:
        for name in names:
            if fold_name(name) not in self._names[kind]:
                findings.warn(file, line, f'"{entry}" names "{name}", which is no {kind} of this world')


def _of_type(lore: Iterable[LoreEntry], kind: str) -> set[str]:
    return {fold_name(name) for entry in lore if entry.type == kind for name in (entry.name, *entry.aliases)}


_TITLE = re.compile(r"^#(?!#)[ \t]+(.+)$", re.MULTILINE)
_NUMBERS = {
    "number": (re.compile(r"\+?[0-9]{1,9}"), "use a whole number, 0 or more"),
    "integer": (re.compile(r"[+-]?[0-9]{1,9}"), "use a whole number"),
}
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
    findings = ParseFindings(where)
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
    _fits(world, texts, findings)
    check_references(world, lines, findings)
    return world, findings.all_warnings()


_GROWTH = 8
"""Most bytes of a world's record for each character of its files."""


def _fits(world: World, texts: Mapping[str, str], findings: ParseFindings) -> None:
    """Check that the journal can keep the world. Otherwise each request that begins a session in it would fail."""
    if sum(map(len, texts.values())) * _GROWTH <= LARGEST_WORLD:
        return
    size = len(codec.encode(world))
    if size > LARGEST_WORLD:
        longest = max(texts, key=lambda file: len(texts[file]))
        message = f"the world takes {size:,} bytes in the journal; at most {LARGEST_WORLD:,} are kept"
        findings.problem(longest, 1, message, "shorten this file, or divide the world")
    findings.raise_problems()


def _clean(text: str) -> str:
    return nfc(text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"))


def _front(text: str, all_text: str, name: str, findings: ParseFindings) -> dict[str, Any]:
    """The keyword arguments of ``World`` that come from WORLD.md."""
    from saga_core.world.front_matter import read_front_matter  # needs PyYAML, so imported on first use

    matter = read_front_matter(text)
    for fault in matter.faults:
        findings.problem(WORLD_FILE, fault.line, fault.message, fault.remedy)
    table = read_table(matter.body)
    above = text.count("\n") - matter.body.count("\n") + 1
    for wrong in table.faults:
        findings.problem(WORLD_FILE, above + wrong.line, wrong.message, wrong.remedy)
    found: dict[str, Any] = {"description": table.rest, "trackers": table.trackers}
    specs = by_key(FRONT_FIELDS)
    for line in matter.fields:
        spec = specs.get(fold_key(line.key))
        if spec is None:
            known = tuple(spec.attribute for spec in FRONT_FIELDS)
            findings.warn(WORLD_FILE, line.line, f'key "{line.key}" is ignored; known are {", ".join(known)}')
        elif spec.attribute in found:
            findings.problem(WORLD_FILE, line.line, f'key "{line.key}" stands twice', "keep one of them")
        elif spec.kind == "list":
            value = (line.value,) if isinstance(line.value, str) else line.value
            found[spec.attribute] = () if value == ("",) and isinstance(line.value, str) else value
            common = [each for each in found[spec.attribute] if spec.attribute == "match" and is_common(each)]
            if common:
                text = f'"{common[0]}" chooses no world: any system prompt may have it; choose a rarer name'
                findings.warn(WORLD_FILE, line.line, text)
            strange = [each for each in found[spec.attribute] if spec.attribute == "shared" and each not in SCOPES]
            if strange:
                text = f'key "{line.key}" has "{strange[0]}"'
                findings.problem(WORLD_FILE, line.line, text, f"use some of {', '.join(SCOPES)}")
        elif not isinstance(line.value, str):
            findings.problem(WORLD_FILE, line.line, f'key "{line.key}" is a list', "give it one value")
        elif spec.attribute == "language" and line.value not in languages():
            findings.problem(
                WORLD_FILE, line.line, f'key "{line.key}" is "{line.value}"', f"use one of {', '.join(languages())}"
            )
        elif spec.attribute == "profile" and line.value.casefold() not in PROFILES:
            findings.problem(
                WORLD_FILE, line.line, f'key "{line.key}" is "{line.value}"', f"use one of {', '.join(PROFILES)}"
            )
        else:
            found[spec.attribute] = line.value.casefold() if spec.attribute == "profile" else line.value
    if "title" not in found:
        heading = _TITLE.search(matter.body)
        found["title"] = heading.group(1) if heading is not None else name
    found.setdefault("language", language_of_files(all_text))
    return found


def _sheets(text: str, findings: ParseFindings, lines: Lines) -> list[CharacterSheet]:
    keys = by_key(CHARACTER_FIELDS)
    sections = _bounded(CHARACTERS_FILE, read_sections(text, CHARACTERS_FILE, keys, findings), findings)
    sheets: list[CharacterSheet] = []
    player: WorldSection | None = None
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


def _entries(text: str, findings: ParseFindings, lines: Lines) -> list[LoreEntry]:
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


def _bounded(file: str, sections: list[WorldSection], findings: ParseFindings) -> list[WorldSection]:
    """The sections; none, with a problem recorded, if their lists have more names than a world may have."""
    names, most = 0, MOST_NAMES[file]
    for section in sections:
        names += sum(line.value.count(",") + 1 for line in section.fields)
        if names > most:
            message = f"the lists up to here name more than {most:,} things; no more are read"
            findings.problem(file, section.line, message, "shorten the lists, or divide the world")
            return []
    return sections


def _unique(
    file: str, sections: list[WorldSection], values: Sequence[CharacterSheet | LoreEntry], findings: ParseFindings
) -> None:
    """Check that a name occurs once in a file, and that no alias could mean two entries."""
    owner: dict[str, WorldSection] = {}
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
    section: WorldSection
    findings: ParseFindings

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
        if kind in _NUMBERS:
            form, remedy = _NUMBERS[kind]
            if form.fullmatch(line.value):
                return int(line.value)
            self._problem(line, f'is "{line.value}"', remedy)
            return None
        if kind == "items":
            return self._each(line, read_stack, "use a quantity of 1 or more, or drop the item")
        if kind == "relations":
            remedy = "write name: kind strength, for example Aria: trusts +2"
            return self._each(line, read_relation, remedy)
        words, allowed = _CHOICES[kind]
        if line.value.casefold() not in words:
            self._problem(line, f'is "{line.value}"', f"use one of {', '.join(allowed)}")
        return words.get(line.value.casefold())

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
