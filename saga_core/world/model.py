"""The authored world as values: character sheets, lore entries with the rules by which they are told, and the world.

Names and text are normalised when a value is made (NFC, spaces collapsed in names and one-line values,
line ends and outer white space of text trimmed), so that two worlds that read alike are equal.
References between entries are kept as the author wrote them; ``World.character`` and ``World.entry``
resolve them by name or alias.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from functools import cached_property
from typing import Any, TypeVar

from attrs import NOTHING, Attribute, field, fields, frozen

from saga_core.errors import BadInput
from saga_core.language import UNSAID, clean_name, fold_name, known, nfc
from saga_core.model import SCOPES
from saga_core.trackers import PROFILES, Tracker
from saga_core.world.key_patterns import is_pattern

KEEP, SAGA = "keep", "saga"
MODES = (SAGA, KEEP)
LOGICS = ("and_any", "not_all", "not_any", "and_all")
POSITIONS = (
    "before_char",
    "after_char",
    "note_top",
    "note_bottom",
    "at_depth",
    "examples_top",
    "examples_bottom",
    "outlet",
)
ROLES = ("system", "user", "assistant")
TRIGGERS = ("normal", "continue", "impersonate", "swipe", "regenerate", "quiet")
DEFAULT_ORDER, DEFAULT_WEIGHT = 100, 100


def _rule_names(values: Iterable[str]) -> tuple[str, ...]:
    if values == ():  # the usual case, and a rule has seven such fields
        return ()
    return tuple(name for name in (clean_name(value) for value in values) if name)


def _word_of(allowed: tuple[str, ...]) -> Any:
    def check(instance: object, attribute: Attribute[str], value: str) -> None:
        if value and value not in allowed:
            raise BadInput(f'LoreRule.{attribute.name} is "{value}"; use one of {", ".join(allowed)}')

    return check


def _at_most(most: int) -> Any:
    def check(instance: object, attribute: Attribute[int | None], value: int | None) -> None:
        if value is not None and not 0 <= value <= most:
            raise BadInput(f"LoreRule.{attribute.name} is {value}; use a whole number from 0 to {most}")

    return check


_MOST = 999_999_999


@frozen(kw_only=True)
class LoreRule:
    """The rules of one entry. With ``mode`` ``saga`` only the keys count, as further names of the entry.

    ``sticky``, ``cooldown`` and ``delay`` are counted in messages; a turn has two. A key between slashes is a regular
    expression. None means the chat's own default.
    """

    mode: str = field(default=SAGA, validator=_word_of(MODES))
    keys: tuple[str, ...] = field(default=(), converter=_rule_names)
    second_keys: tuple[str, ...] = field(default=(), converter=_rule_names)
    logic: str = field(default="and_any", validator=_word_of(LOGICS))
    additional_keys: tuple[str, ...] = field(default=(), converter=_rule_names)
    """One of these keys must occur as well, regardless of the second keys."""
    exclude_keys: tuple[str, ...] = field(default=(), converter=_rule_names)
    case_sensitive: bool | None = None
    whole_words: bool | None = None
    scan_depth: int | None = field(default=None, validator=_at_most(_MOST))
    probability: int = field(default=100, validator=_at_most(100))
    sticky: int = field(default=0, validator=_at_most(_MOST))
    cooldown: int = field(default=0, validator=_at_most(_MOST))
    delay: int = field(default=0, validator=_at_most(_MOST))
    groups: tuple[str, ...] = field(default=(), converter=_rule_names)
    group_weight: int = field(default=DEFAULT_WEIGHT, validator=_at_most(_MOST))
    group_override: bool = False
    group_scoring: bool = False
    no_recursion_into: bool = False
    """The texts of other entries do not activate this one."""
    no_recursion_from: bool = False
    """The text of this entry activates no other one."""
    recursion_level: int = field(default=0, validator=_at_most(_MOST))
    """From 1 on, the entry waits for the texts of other entries, and for the entries of lower levels."""
    position: str = field(default="", validator=_word_of(POSITIONS))
    depth: int | None = field(default=None, validator=_at_most(_MOST))
    role: str = field(default="", validator=_word_of(ROLES))
    order: int = DEFAULT_ORDER
    priority: int | None = None
    ignore_budget: bool = False
    enabled: bool = True
    only_characters: tuple[str, ...] = field(default=(), converter=_rule_names)
    not_characters: tuple[str, ...] = field(default=(), converter=_rule_names)
    triggers: tuple[str, ...] = field(default=(), converter=_rule_names)
    only_after: int = field(default=0, validator=_at_most(_MOST))
    """The number of replies that must precede, the greeting included."""
    only_every: int = field(default=0, validator=_at_most(_MOST))
    """If not 0, the entry is told only when the number of replies is a multiple of this."""
    keep_after_match: bool = False
    not_after_match: bool = False

    @property
    def special(self) -> bool:
        """Whether these rules ask for more than relevance alone can do."""
        return any(getattr(self, name) != default for name, default in _SPECIAL.items()) or any(
            is_pattern(key) for key in self.all_keys
        )

    @property
    def all_keys(self) -> tuple[str, ...]:
        """The keys of every kind."""
        return (*self.keys, *self.second_keys, *self.additional_keys, *self.exclude_keys)

    @property
    def timed(self) -> bool:
        """Whether it matters when the entry was told before."""
        return bool(self.sticky or self.cooldown or self.keep_after_match or self.not_after_match)


_NAMES_OF_SPECIAL = frozenset(
    "second_keys additional_keys exclude_keys case_sensitive probability sticky cooldown delay groups recursion_level "
    "only_characters not_characters triggers only_after only_every keep_after_match not_after_match enabled".split()
)
_SPECIAL = {each.name: each.default for each in fields(LoreRule) if each.name in _NAMES_OF_SPECIAL}


LORE_TYPES: tuple[str, ...] = ("location", "item", "character", "faction", "event", "concept")
LAYERS: tuple[str, ...] = ("A1", "A2", "A3", "A4")


def _text(value: str) -> str:
    return nfc(value).replace("\r\n", "\n").replace("\r", "\n").strip()


def _maybe_name(value: str | None) -> str | None:
    return (clean_name(value) or None) if value is not None else None


def _names(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(clean_name(value) for value in values)


def _texts(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(_text(value) for value in values)


def _pairs(values: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple((clean_name(key), clean_name(value)) for key, value in values)


def _one_of(allowed: tuple[str, ...]) -> Any:
    def check(instance: object, attribute: Attribute[str], value: str) -> None:
        if value not in allowed:
            kind = type(instance).__name__
            raise BadInput(f'{kind}.{attribute.name} is "{value}"; use one of {", ".join(allowed)}')

    return check


def _some_of(allowed: tuple[str, ...]) -> Any:
    check = _one_of(allowed)

    def check_all(instance: object, attribute: Attribute[tuple[str, ...]], values: tuple[str, ...]) -> None:
        for value in values:
            check(instance, attribute, value)

    return check_all


def _named(instance: object, attribute: Attribute[str], value: str) -> None:
    if not value:
        raise BadInput(f"{type(instance).__name__}.{attribute.name} is empty; give it a name")


@frozen
class ItemStack:
    """``quantity`` (at least 1) of one item that a character carries."""

    name: str = field(converter=clean_name, validator=_named)
    quantity: int = 1
    equipped: bool = False


@frozen
class SheetRelation:
    """The relation of the sheet's character to ``to``. A ``strength`` below 0 is enmity."""

    to: str = field(converter=clean_name, validator=_named)
    type: str = field(converter=clean_name, validator=_named)
    strength: int = 0


@frozen
class CharacterSheet:
    """One section of CHARACTERS.md. ``extra`` holds fields that SAGA does not know, as written."""

    name: str = field(converter=clean_name, validator=_named)
    player: bool = False
    hp: int | None = None
    max_hp: int | None = None
    location: str | None = field(default=None, converter=_maybe_name)
    traits: tuple[str, ...] = field(default=(), converter=_names)
    mood: str | None = field(default=None, converter=_maybe_name)
    occupation: str | None = field(default=None, converter=_maybe_name)
    background: str | None = field(default=None, converter=_maybe_name)
    status: str = field(default="alive", converter=clean_name, validator=_named)
    aliases: tuple[str, ...] = field(default=(), converter=_names)
    items: tuple[ItemStack, ...] = ()
    relations: tuple[SheetRelation, ...] = ()
    extra: tuple[tuple[str, str], ...] = field(default=(), converter=_pairs)
    body: str = field(default="", converter=_text)


@frozen
class LoreEntry:
    """One section of LOREBOOK.md.

    ``neighbours`` are the places next to a location, ``places`` the locations and ``items`` the items that the
    entry tells of, ``related`` other entries. A ``secret`` is for those in ``known_by`` only. A ``constant``
    entry is always a candidate for the prompt.
    """

    name: str = field(converter=clean_name, validator=_named)
    type: str = field(validator=_one_of(LORE_TYPES))
    layer: str = field(validator=_one_of(LAYERS))
    tags: tuple[str, ...] = field(default=(), converter=_names)
    aliases: tuple[str, ...] = field(default=(), converter=_names)
    text: str = field(default="", converter=_text)
    constant: bool = False
    neighbours: tuple[str, ...] = field(default=(), converter=_names)
    related: tuple[str, ...] = field(default=(), converter=_names)
    places: tuple[str, ...] = field(default=(), converter=_names)
    items: tuple[str, ...] = field(default=(), converter=_names)
    known_by: tuple[str, ...] = field(default=(), converter=_names)
    secret: bool = False
    extra: tuple[tuple[str, str], ...] = field(default=(), converter=_pairs)
    rule: LoreRule | None = None
    """When the entry is told, if the author defined more than the fields above."""


@frozen
class World:
    """An authored world. ``name`` is the folder's name; ``aliases`` are other names by which it can be requested.

    ``match`` are the names that select the world if one of them occurs in a system prompt. ``greeting`` is an opening
    line for a frontend to show, ``greetings`` are others, and ``description`` is the free text of WORLD.md.
    """

    name: str = field(converter=clean_name, validator=_named)
    title: str = field(converter=clean_name)
    language: str = field(default=UNSAID, validator=_one_of(known()))
    description: str = field(default="", converter=_text)
    match: tuple[str, ...] = field(default=(), converter=_names)
    aliases: tuple[str, ...] = field(default=(), converter=_names)
    greeting: str = field(default="", converter=_text)
    start_events: tuple[str, ...] = field(default=(), converter=_names)
    characters: tuple[CharacterSheet, ...] = ()
    lore: tuple[LoreEntry, ...] = ()
    greetings: tuple[str, ...] = field(default=(), converter=_texts)
    trackers: tuple[Tracker, ...] = ()
    """What stories in this world count."""
    profile: str = field(default="", validator=_one_of(("", *PROFILES)))
    """What sort of stories are told in this world. Without one, it is an adventure."""
    modules: tuple[str, ...] = field(default=(), converter=_names)
    """The modules that stories in this world use, unless the configuration switches them off."""
    shared: tuple[str, ...] = field(default=(), converter=_names, validator=_some_of(SCOPES))
    """What sessions in this world share if they choose to."""

    @property
    def player(self) -> CharacterSheet | None:
        """The sheet marked as the player's, if there is one."""
        return next((sheet for sheet in self.characters if sheet.player), None)

    @property
    def card(self) -> str:
        """The bodies of the character sheets, in which an import keeps the texts of a card. No prompt has them."""
        return "\n".join(sheet.body for sheet in self.characters)

    @property
    def counts_nothing(self) -> bool:
        """Whether no author said what the story counts: the world is a card's, or there is none."""
        return self.player is None and not self.trackers and not self.profile

    def character(self, name: str) -> CharacterSheet | None:
        """The sheet with this name or alias; case and spacing are ignored."""
        return self._sheets.get(fold_name(name))

    def entry(self, name: str) -> LoreEntry | None:
        """The lore entry with this name or alias; case and spacing are ignored."""
        return self._entries.get(fold_name(name))

    @cached_property
    def digest(self) -> str:
        """SHA-256, in hex, of the content of the files. The folder's name and the layout do not count.

        Fields with their default value are left out, so that a field added to the format later changes no digest.
        """
        said = _said(self)
        said.pop("name")
        canonical = json.dumps(said, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode("utf-8")).hexdigest()

    @cached_property
    def _sheets(self) -> dict[str, CharacterSheet]:
        return _index(self.characters)

    @cached_property
    def _entries(self) -> dict[str, LoreEntry]:
        return _index(self.lore)


_Named = TypeVar("_Named", CharacterSheet, LoreEntry)


def _index(values: tuple[_Named, ...]) -> dict[str, _Named]:
    index = {fold_name(value.name): value for value in values}
    for value in values:
        for alias in value.aliases:
            index.setdefault(fold_name(alias), value)
    return index


def _said(value: Any) -> dict[str, Any]:
    """The fields of an attrs value that differ from their default; of nested values likewise."""
    said: dict[str, Any] = {}
    for name, default in _FIELDS[type(value)]:
        item = getattr(value, name)
        if default is NOTHING or item != default:
            said[name] = _plain(item)
    return said


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return _said(value) if type(value) in _FIELDS else value


_FIELDS = {
    kind: tuple((attribute.name, attribute.default) for attribute in fields(kind))
    for kind in (World, CharacterSheet, LoreEntry, LoreRule, ItemStack, SheetRelation, Tracker)
}
"""The fields of each kind of value and their defaults."""


EMPTY_WORLD = World(name="empty", title="")
"""No characters and no lore: what a session has when no world is chosen."""
