"""A world written as its three markdown files: the inverse of ``parse``."""

from __future__ import annotations

from typing import Any

from attrs import fields_dict, frozen

from saga_core.errors import BadInput
from saga_core.trackers import write_table
from saga_core.world.format import (
    CHARACTER_FIELDS,
    CHARACTERS_FILE,
    FRONT_FIELDS,
    LORE_FIELDS,
    LOREBOOK_FILE,
    RULE_FIELDS,
    WORLD_FILE,
    FieldSpec,
    escape_body,
    join_list,
)
from saga_core.world.model import CharacterSheet, LoreEntry, LoreRule, World
from saga_core.world.parse import parse_world, write_relation, write_stack

_ALWAYS = frozenset({"player", "type", "layer", "title", "language"})
_DEFAULTS = {
    kind: {name: attribute.default for name, attribute in fields_dict(kind).items()}
    for kind in (CharacterSheet, LoreEntry, LoreRule)
}


def render_world(world: World) -> dict[str, str]:
    """The files of ``world`` by name, with keys in its language. Parsing them gives ``world`` again.

    Raises ``BadInput`` (``WorldError`` if a line is at fault) for a world that the format cannot represent, such as
    one with two entries of the same name.
    """
    return lay_out(world).texts


@frozen
class LaidOut:
    """The files of a world by name, and the warnings from parsing them, each ``where/file:line: text``."""

    texts: dict[str, str]
    warnings: tuple[str, ...]
    where: str


def lay_out(world: World) -> LaidOut:
    """Like ``render_world``, with the warnings from parsing the result. Raises the same errors."""
    files = {
        WORLD_FILE: _world_file(world),
        CHARACTERS_FILE: "\n".join(
            _section(sheet, CHARACTER_FIELDS, sheet.body, world.language) for sheet in world.characters
        ),
        LOREBOOK_FILE: "\n".join(_section(entry, LORE_FIELDS, entry.text, world.language) for entry in world.lore),
    }
    where = f"worlds/{world.name}"
    read, warnings = parse_world(files, world.name, where)
    if read != world:
        raise BadInput(f'world "{world.name}" cannot be written: {_difference(world, read)}')
    return LaidOut(files, warnings, where)


def _world_file(world: World) -> str:
    from saga_core.world.front_matter import write_front_matter  # needs PyYAML, so imported on first use

    rows: list[tuple[str, str | tuple[str, ...]]] = []
    for spec in FRONT_FIELDS:
        value = getattr(world, spec.attribute)
        if value or spec.attribute in _ALWAYS:
            rows.append((spec.attribute, value))
    parts = [world.description, write_table(world.trackers) if world.trackers else ""]
    body = "".join(f"\n{part}\n" for part in parts if part)
    return f"{write_front_matter(rows)}\n{body}"


def _section(value: CharacterSheet | LoreEntry, specs: tuple[FieldSpec, ...], body: str, language: str) -> str:
    rows = [f"## {value.name}", *_rows(value, specs, language)]
    if isinstance(value, LoreEntry) and value.rule is not None:
        # A rule with only default values is written with its mode, so that it is read as a rule again.
        rows += _rows(value.rule, RULE_FIELDS, language) or [f"- {RULE_FIELDS[0].key(language)}: {value.rule.mode}"]
    rows.extend(f"- {key}: {text}".rstrip() for key, text in value.extra)
    if body:
        rows.extend(("", escape_body(body)))
    return "\n".join([*rows, ""])


def _rows(value: CharacterSheet | LoreEntry | LoreRule, specs: tuple[FieldSpec, ...], language: str) -> list[str]:
    defaults = _DEFAULTS[type(value)]
    rows = []
    for spec in specs:
        item = getattr(value, spec.attribute)
        if spec.attribute in _ALWAYS or item != defaults[spec.attribute]:
            rows.append(f"- {spec.key(language)}: {_shown(spec.kind, item, language)}")
    return rows


def _shown(kind: str, value: Any, language: str) -> str:
    if kind == "list":
        return join_list(value)
    if kind == "items":
        return join_list(tuple(write_stack(stack, language) for stack in value))
    if kind == "relations":
        return join_list(tuple(write_relation(relation) for relation in value))
    if kind == "flag":
        return "true" if value else "false"
    return str(value)


def _difference(wanted: World, read: World) -> str:
    """The first part that did not survive rendering and parsing."""
    pairs = zip((*wanted.characters, *wanted.lore), (*read.characters, *read.lore), strict=True)
    return next((repr(before) for before, after in pairs if before != after), "its front matter or its trackers")
