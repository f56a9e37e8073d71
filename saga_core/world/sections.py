"""Splits a markdown file into sections: a ``##`` heading, its field lines, and the text below them."""

from __future__ import annotations

import re
from collections.abc import Container

from attrs import define, field, frozen

from saga_core.language import clean_name
from saga_core.world.findings import Findings
from saga_core.world.format import MOST_SECTIONS, fold_key, unescape_body

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
class Section:
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


def read_sections(text: str, file: str, known: Container[str], findings: Findings) -> list[Section]:
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
    if len(opened) > MOST_SECTIONS:
        message = f"{len(opened):,} entries; at most {MOST_SECTIONS:,} are read"
        findings.problem(file, opened[MOST_SECTIONS].line, message, "divide them among several worlds")
        return []
    return [_close(section, file, known, findings) for section in opened]


def _close(section: _Open, file: str, known: Container[str], findings: Findings) -> Section:
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
    return Section(section.name, section.line, tuple(fields), unescape_body(body))


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
