"""LoreRule: when an entry of the lorebook is told, as its author defined it in another tool."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attrs import Attribute, field, fields, frozen

from saga_core.errors import BadInput
from saga_core.language import clean_name
from saga_core.world.pattern_notation import is_pattern

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


def _names(values: Iterable[str]) -> tuple[str, ...]:
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
    keys: tuple[str, ...] = field(default=(), converter=_names)
    second_keys: tuple[str, ...] = field(default=(), converter=_names)
    logic: str = field(default="and_any", validator=_word_of(LOGICS))
    additional_keys: tuple[str, ...] = field(default=(), converter=_names)
    """One of these keys must occur as well, regardless of the second keys."""
    exclude_keys: tuple[str, ...] = field(default=(), converter=_names)
    case_sensitive: bool | None = None
    whole_words: bool | None = None
    scan_depth: int | None = field(default=None, validator=_at_most(_MOST))
    probability: int = field(default=100, validator=_at_most(100))
    sticky: int = field(default=0, validator=_at_most(_MOST))
    cooldown: int = field(default=0, validator=_at_most(_MOST))
    delay: int = field(default=0, validator=_at_most(_MOST))
    groups: tuple[str, ...] = field(default=(), converter=_names)
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
    only_characters: tuple[str, ...] = field(default=(), converter=_names)
    not_characters: tuple[str, ...] = field(default=(), converter=_names)
    triggers: tuple[str, ...] = field(default=(), converter=_names)
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


_SPECIAL = {
    each.name: each.default
    for each in fields(LoreRule)
    if each.name
    in {
        "second_keys",
        "additional_keys",
        "exclude_keys",
        "case_sensitive",
        "probability",
        "sticky",
        "cooldown",
        "delay",
        "groups",
        "recursion_level",
        "only_characters",
        "not_characters",
        "triggers",
        "only_after",
        "only_every",
        "keep_after_match",
        "not_after_match",
        "enabled",
    }
}
PLAIN_RULE = LoreRule()
