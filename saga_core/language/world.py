"""The keys and words of world files in a language. English ones are read in every world."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen


@frozen(kw_only=True, eq=False, repr=False)
class WorldWords:
    """All of them may be left out: then the English ones are written."""

    keys: Mapping[str, tuple[str, ...]] = field(factory=dict)
    """By ``character.hp``, ``lore.type`` or ``front.title``; the first is the one that is written."""
    types: Mapping[str, str] = field(factory=dict)
    """Words for the types of lore, to the types."""
    flags: Mapping[str, bool] = field(factory=dict)
    equipped: str = "equipped"
    """Behind what somebody wears, in parentheses."""
