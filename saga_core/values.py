"""Plain values shared by the stores and the model: properties, page names, and a curator's proposals."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from attrs import field, frozen

Scalar = str | int | float | bool | None
"""A property value.

Integers fit 64 bits, floats are finite, and texts contain no NUL and no lone surrogate. Types round-trip exactly, so
subclasses such as ``StrEnum`` members are refused.
"""

Value = Scalar | tuple[Scalar, ...]

PAGE_NAMES: tuple[str, ...] = ("state.md", "relations.md", "story.md", "lore.md")
"""The pages of a session, in their order in the prompt."""

_FIRST, _LAST = (datetime(*day, tzinfo=UTC).timestamp() for day in ((1, 1, 2), (9999, 12, 30)))


def date_of(seconds: float) -> datetime:
    """The date of a time in seconds since 1970, in UTC. A clock that was out of the years 1 to 9999 has the nearest."""
    return datetime.fromtimestamp(max(_FIRST, min(_LAST, seconds)), UTC)


@frozen
class Proposal:
    """A finding or a change, as data. The core validates and journals it, and records its proposer."""

    kind: str
    """``contradiction``, ``compress``, ``event``, ``lore``, ``memory`` or ``remember``."""
    summary: str
    turns: tuple[str, ...] = ()
    """Ids of the turns that are its evidence."""
    entities: tuple[str, ...] = ()
    data: Mapping[str, str] = field(factory=dict)
    """The texts that the kind needs. See ``saga_core.curation.validation``."""
