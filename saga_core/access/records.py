"""What is kept of the keys of a server: who they are, what they may use, and what they used."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, Literal, get_args

from attrs import evolve, field, fields, frozen
from attrs.validators import in_

from saga_core.errors import BadInput

Role = Literal["chat", "player", "admin"]
"""``chat``: plays. ``player``: plays, and looks after her own sessions. ``admin``: may do everything."""
ROLES: Final[tuple[Role, ...]] = get_args(Role)
_MOST: Final = 10.0**15


@frozen(kw_only=True)
class Quotas:
    """What a key may use; 0 is no limit."""

    turns_a_minute: int = 0
    tokens_a_day: int = 0
    """Of prompts and replies together, as providers bill them."""
    dollars_a_day: float = 0.0
    sessions: int = 0
    bytes: int = 0
    """Of the journal, by all sessions of the owner."""


QUOTAS: Final = frozenset(each.name for each in fields(Quotas))


def read_quotas(given: Mapping[str, str], before: Quotas) -> Quotas:
    """``before`` with those that are given as texts. Raises ``BadInput``."""
    found: dict[str, Any] = {}
    for name, text in given.items():
        if name not in QUOTAS:
            raise BadInput(f"{name}: is no quota; there are {', '.join(sorted(QUOTAS))}")
        try:
            number = float(text) if name == "dollars_a_day" else int(text)
        except ValueError:
            number = math.nan
        if not 0 <= number <= _MOST:
            kind = "an amount such as 1.50" if name == "dollars_a_day" else "a whole number"
            raise BadInput(f"{name}: {text[:40]!r} is not allowed; give {kind}, or 0 for no limit")
        found[name] = number
    return evolve(before, **found)


@frozen(kw_only=True)
class KeyRecord:
    """A key, without what it is: only the hash of it is kept."""

    id: str
    name: str
    role: str = field(validator=in_(ROLES))
    owner: str
    """Whose sessions are hers: they stay when the key is rotated."""
    prefix: str
    """How the key begins, by which people recognise it."""
    digest: str = field(repr=False)
    created: float
    quotas: Quotas = field(factory=Quotas)
    former_prefix: str = ""
    former_digest: str = field(default="", repr=False)
    """Of the key before the last rotation, which is taken until ``former_until``."""
    former_until: float = 0.0
    revoked: float = 0.0
    """When it was revoked; 0: it was not."""


@frozen(kw_only=True)
class Use:
    """What was used with a key, as one server counted it. Days and minutes are those of UTC, since the epoch."""

    day: int = 0
    minute: int = 0
    turns_in_minute: int = 0
    turns: int = 0
    tokens: int = 0
    dollars: float = 0.0
    unpriced: int = 0
    """Calls whose price is not known: they count no dollars."""


@frozen(kw_only=True)
class AuditEntry:
    """Somebody asked for something, once or several times within a minute. Nothing of a story is in it."""

    at: float
    last: float
    times: int
    key: str
    """The id of the key; empty for one of the settings."""
    owner: str
    role: str
    source: str
    """The address that the request came from."""
    forwarded: str
    """What the request says of the addresses before that; anybody can say so."""
    what: str
    """The request, without the names in it."""
    session: str
    turn: str
    status: int
