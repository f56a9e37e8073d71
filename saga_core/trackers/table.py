"""Trackers as a Markdown table, as authors write them in WORLD.md."""

from __future__ import annotations

import re
from collections.abc import Iterable

from attrs import frozen

from saga_core.errors import BadInput
from saga_core.language import squash
from saga_core.trackers.declaring import DECLARED_FIELDS, declaration_of, tracker_of
from saga_core.trackers.tracker import MOST_TRACKERS, Tracker

HEADING = "## Trackers"
_HEADING = re.compile(r"##[ \t]+trackers?[ \t]*$", re.IGNORECASE)
_RULE = re.compile(r"[\s|:-]+$")
_CELL = re.compile(r"(?<!\\)\|")
_OTHER_NAMES = {"tracker": "name", "whose": "for", "who": "for", "meaning": "description", "atlimit": "limit"}


@frozen
class TableFault:
    """A part of a table that cannot be read. ``line`` counts from 0 in the text."""

    line: int
    message: str
    remedy: str


@frozen
class TrackerTable:
    """The trackers of a text, the text without their table, and what is wrong with the table."""

    trackers: tuple[Tracker, ...] = ()
    rest: str = ""
    faults: tuple[TableFault, ...] = ()


def read_table(text: str) -> TrackerTable:
    """Read the table under the heading ``## Trackers`` of ``text``. Such a heading without a table is plain text."""
    lines = text.split("\n")
    for at, line in enumerate(lines):
        if not _HEADING.match(line):
            continue
        first = next((row for row in range(at + 1, len(lines)) if lines[row].strip()), len(lines))
        if first < len(lines) and lines[first].lstrip().startswith("|"):
            end = next((row for row in range(first, len(lines)) if not lines[row].lstrip().startswith("|")), len(lines))
            rest = "\n".join([*lines[:at], *lines[end:]])
            return _read(list(enumerate(lines))[first:end], re.sub(r"\n{3,}", "\n\n", rest))
    return TrackerTable(rest=text)


def write_table(trackers: Iterable[Tracker]) -> str:
    """The inverse of ``read_table``: the heading, and a table with the columns that the trackers need."""
    rows = [declaration_of(each) for each in trackers]
    columns = [name for name in DECLARED_FIELDS if name in ("name", "kind", "for") or any(name in row for row in rows)]
    shown = [columns, ["---"] * len(columns), *([row.get(name, "") for name in columns] for row in rows)]
    return "\n".join([HEADING, "", *("| " + " | ".join(map(_escaped, row)) + " |" for row in shown)])


def _read(rows: list[tuple[int, str]], rest: str) -> TrackerTable:
    faults: list[TableFault] = []
    (number, header), *body = rows
    columns: list[str] = []
    for cell in _cells(header):
        name = _OTHER_NAMES.get(squash(cell), squash(cell))
        if name not in DECLARED_FIELDS or name in columns:
            why = "stands twice" if name in columns else "is not known"
            faults.append(TableFault(number, f'column "{cell}" {why}', f"use some of {', '.join(DECLARED_FIELDS)}"))
        columns.append(name)
    if "name" not in columns:
        faults.append(TableFault(number, "the trackers have no names", 'begin the table with the column "name"'))
    found: dict[str, Tracker] = {}
    for number, row in body if not faults else ():
        if _RULE.fullmatch(row):
            continue
        cells = _cells(row)
        if len(cells) > len(columns):
            message = f"the row has {len(cells)} cells for {len(columns)} columns"
            faults.append(TableFault(number, message, "write a bar inside a cell as \\|"))
            continue
        try:
            tracker = tracker_of({name: cell for name, cell in zip(columns, cells, strict=False) if cell})
        except BadInput as error:
            column, _, said = str(error).partition(": ")
            message, _, remedy = said.partition("; ")
            faults.append(TableFault(number, f'column "{column}": {message}', remedy or "see docs/trackers.md"))
            continue
        if tracker.key in found:
            faults.append(TableFault(number, f'tracker "{tracker.name}" stands twice', "keep one of them"))
        found[tracker.key] = tracker
    if len(found) > MOST_TRACKERS:
        faults.append(
            TableFault(rows[0][0], f"{len(found)} trackers; at most {MOST_TRACKERS} are counted", "leave some out")
        )
    return TrackerTable(tuple(found.values()), rest, tuple(faults))


def _cells(row: str) -> list[str]:
    cells = [cell.replace("\\|", "|").strip() for cell in _CELL.split(row.strip().removeprefix("|"))]
    return cells[:-1] if cells and not cells[-1] else cells


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|")
