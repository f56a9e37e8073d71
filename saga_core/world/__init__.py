"""Authored worlds: the values, the markdown format read and written, and the library of world folders."""

from __future__ import annotations

from saga_core.world.editing import WorldFiles, edited, listed, world_files
from saga_core.world.errors import UnknownWorld, WorldError, WorldProblem
from saga_core.world.key_patterns import (
    READ,
    KeySearch,
    PatternSearch,
    as_pattern,
    is_pattern,
    key_search,
    pattern_search,
    why_unread,
)
from saga_core.world.library import PICTURES, FreeNames, WorldLibrary, default_roots, imported_from, write_world
from saga_core.world.macros import USER, MacroRoom, TooManyMacros, draw, fill_macros, name_character
from saga_core.world.model import (
    EMPTY_WORLD,
    KEEP,
    LAYERS,
    LORE_TYPES,
    CharacterSheet,
    ItemStack,
    LoreEntry,
    LoreRule,
    SheetRelation,
    World,
)
from saga_core.world.opening import DEFAULT_HP, opening_state
from saga_core.world.parse import parse_world
from saga_core.world.render import LaidOut, lay_out, render_world

__all__ = [
    "DEFAULT_HP",
    "EMPTY_WORLD",
    "KEEP",
    "LAYERS",
    "LORE_TYPES",
    "PICTURES",
    "READ",
    "USER",
    "CharacterSheet",
    "FreeNames",
    "ItemStack",
    "KeySearch",
    "LaidOut",
    "LoreEntry",
    "LoreRule",
    "MacroRoom",
    "PatternSearch",
    "SheetRelation",
    "TooManyMacros",
    "UnknownWorld",
    "World",
    "WorldError",
    "WorldFiles",
    "WorldLibrary",
    "WorldProblem",
    "as_pattern",
    "default_roots",
    "draw",
    "edited",
    "fill_macros",
    "imported_from",
    "is_pattern",
    "key_search",
    "lay_out",
    "listed",
    "name_character",
    "opening_state",
    "parse_world",
    "pattern_search",
    "render_world",
    "why_unread",
    "world_files",
    "write_world",
]
