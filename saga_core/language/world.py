"""The keys and words of world files in a language. English ones are read in every world."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen


@frozen(kw_only=True, eq=False, repr=False)
class WorldWords:
    """The words of one language. All may be left out; then the English ones are written."""

    keys: Mapping[str, tuple[str, ...]] = field(factory=dict)
    """Words for keys, by names such as ``character.hp``, ``lore.type`` or ``front.title``. The first word is written.
    """
    types: Mapping[str, str] = field(factory=dict)
    """Words for the types of lore, mapped to the types."""
    flags: Mapping[str, bool] = field(factory=dict)
    equipped: str = "equipped"
    """The mark in parentheses after an equipped item."""
