"""Plain values that the stores and the model share: properties, the names of the pages, a curator's proposals."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

Scalar = str | int | float | bool | None
"""A property value. Integers fit 64 bits, floats are finite, texts hold no NUL and no lone surrogate, and types come
back as they went in: subclasses, such as those of ``StrEnum``, are refused."""

Value = Scalar | tuple[Scalar, ...]

PAGE_NAMES: tuple[str, ...] = ("state.md", "relations.md", "story.md", "lore.md")
"""The pages of a session, in the order in which they stand in a prompt."""


@frozen
class Proposal:
    """A finding or a change, as data. The core validates it, journals it, and records who proposed it."""

    kind: str
    """``contradiction``, ``compress``, ``event``, ``lore``, ``memory`` or ``remember``."""
    summary: str
    turns: tuple[str, ...] = ()
    """Ids of the turns that prove it."""
    entities: tuple[str, ...] = ()
    data: Mapping[str, str] = field(factory=dict)
    """What the kind needs, as texts: see ``saga_core.curation.validation``."""
