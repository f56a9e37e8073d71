"""A world written as its three markdown files: the inverse of ``parse``."""

from __future__ import annotations

from typing import Any

from attrs import fields_dict, frozen

from saga_core.errors import BadInput
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
from saga_core.world.lore_rule import LoreRule
from saga_core.world.model import CharacterSheet, LoreEntry, World
from saga_core.world.notation import write_relation, write_stack
from saga_core.world.parse import parse_world

_ALWAYS = frozenset({"player", "type", "layer", "title", "language"})
_DEFAULTS = {
    kind: {name: attribute.default for name, attribute in fields_dict(kind).items()}
    for kind in (CharacterSheet, LoreEntry, LoreRule)
}


def render_world(world: World) -> dict[str, str]:
    """The files of ``world`` by name, with keys in its language; parsed, they give ``world`` again.

    Raises ``BadInput`` (``WorldError`` where a line is at fault) for a world that the format cannot hold, such as
    one with two entries of the same name.
    """
    return lay_out(world).texts


@frozen
class LaidOut:
    """The files of a world by name, and what reading them warns of: each ``where/file:line: text``."""

    texts: dict[str, str]
    warnings: tuple[str, ...]
    where: str


def lay_out(world: World) -> LaidOut:
    """As ``render_world``, with the warnings of reading what was written. Raises as that does."""
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
    from saga_core.world.front_matter import write_front_matter  # with PyYAML, imported when it is needed

    rows: list[tuple[str, str | tuple[str, ...]]] = []
    for spec in FRONT_FIELDS:
        value = getattr(world, spec.attribute)
        if value or spec.attribute in _ALWAYS:
            rows.append((spec.attribute, value))
    body = f"\n{world.description}\n" if world.description else ""
    return f"{write_front_matter(rows)}\n{body}"


def _section(value: CharacterSheet | LoreEntry, specs: tuple[FieldSpec, ...], body: str, language: str) -> str:
    rows = [f"## {value.name}", *_rows(value, specs, language)]
    if isinstance(value, LoreEntry) and value.rule is not None:
        # A rule that says nothing is written with its mode: it is a rule all the same.
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
    """The first part that did not come back as it was."""
    pairs = zip((*wanted.characters, *wanted.lore), (*read.characters, *read.lore), strict=True)
    return next((repr(before) for before, after in pairs if before != after), "its front matter")
