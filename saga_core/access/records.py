"""The stored records of API keys: identity, quotas and usage."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, Literal, get_args

from attrs import evolve, field, fields, frozen
from attrs.validators import in_

from saga_core.errors import BadInput

Role = Literal["chat", "player", "admin"]
"""``chat``: may play. ``player``: may play and manage the owner's sessions. ``admin``: may do everything."""
ROLES: Final[tuple[Role, ...]] = get_args(Role)
_MOST: Final = 10.0**15


@frozen(kw_only=True)
class Quotas:
    """The limits of a key; 0 means no limit."""

    turns_a_minute: int = 0
    tokens_a_day: int = 0
    """Tokens of prompts and replies together, as providers bill them."""
    dollars_a_day: float = 0.0
    sessions: int = 0
    bytes: int = 0
    """Bytes in the journal of all sessions of the owner."""


QUOTAS: Final = frozenset(each.name for each in fields(Quotas))


def read_quotas(given: Mapping[str, str], before: Quotas) -> Quotas:
    """Return ``before`` updated with quotas given as text. Raises ``BadInput``."""
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
    """The record of a key. It contains only the key's hash."""

    id: str
    name: str
    role: str = field(validator=in_(ROLES))
    owner: str
    """The owner of the sessions. It stays the same when the key is rotated."""
    prefix: str
    """The beginning of the key, by which people recognise it."""
    digest: str = field(repr=False)
    created: float
    quotas: Quotas = field(factory=Quotas)
    former_prefix: str = ""
    former_digest: str = field(default="", repr=False)
    """The hash of the key before the last rotation, which is valid until ``former_until``."""
    former_until: float = 0.0
    revoked: float = 0.0
    """When it was revoked; 0 if it was not."""


@frozen(kw_only=True)
class Use:
    """The usage of a key as counted by one server. Days and minutes are in UTC since the epoch."""

    day: int = 0
    minute: int = 0
    turns_in_minute: int = 0
    turns: int = 0
    tokens: int = 0
    dollars: float = 0.0
    unpriced: int = 0
    """Calls with an unknown price, which count no dollars."""


@frozen(kw_only=True)
class AuditEntry:
    """A request, made once or several times within a minute. It contains no text of a story."""

    at: float
    last: float
    times: int
    key: str
    """The id of the key; empty for a key from the settings."""
    owner: str
    role: str
    source: str
    """The address that the request came from."""
    forwarded: str
    """The earlier addresses that the request claims. They can be forged."""
    what: str
    """The request, without the names in it."""
    session: str
    turn: str
    status: int
