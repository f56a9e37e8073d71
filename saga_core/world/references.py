"""Checks that the references between entries can be resolved. An unresolved one is a warning, never an error."""

from __future__ import annotations

from collections.abc import Iterable

from saga_core.language import fold_name
from saga_core.world.findings import Findings
from saga_core.world.format import CHARACTERS_FILE, LOREBOOK_FILE
from saga_core.world.model import LoreEntry, World

Lines = dict[tuple[str, str, str], int]
"""The line of each field, under (file, entry, attribute)."""

_REFERENCES: tuple[tuple[str, str], ...] = (
    ("neighbours", "location"),
    ("places", "location"),
    ("related", "lore entry"),
    ("items", "item"),
    ("known_by", "character"),
)


def check_references(world: World, lines: Lines, findings: Findings) -> None:
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

    def check(self, names: Iterable[str], kind: str, file: str, line: int, entry: str, findings: Findings) -> None:
        for name in names:
            if fold_name(name) not in self._names[kind]:
                findings.warn(file, line, f'"{entry}" names "{name}", which is no {kind} of this world')


def _of_type(lore: Iterable[LoreEntry], kind: str) -> set[str]:
    return {fold_name(name) for entry in lore if entry.type == kind for name in (entry.name, *entry.aliases)}
