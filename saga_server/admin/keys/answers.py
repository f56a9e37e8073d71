"""What the admin API answers about keys, their use, and who did what."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen


@frozen(kw_only=True, eq=False, repr=False)
class KeyQuotas:
    """What a key may use; 0 is no limit."""

    turns_a_minute: int
    tokens_a_day: int
    dollars_a_day: float
    sessions: int
    bytes: int


@frozen(kw_only=True, eq=False, repr=False)
class KeyUse:
    """What was used with a key: turns in this minute, and the rest today, by the days of UTC.

    ``unpriced`` calls have no known price, and count no dollars. ``sessions`` and ``bytes`` are what its owner has, as
    it was counted a minute ago at most; ``bytes`` is null until it was.
    """

    turns_in_minute: int
    turns: int
    tokens: int
    dollars: float
    unpriced: int
    sessions: int
    bytes: int | None


@frozen(kw_only=True, eq=False, repr=False)
class AccessKey:
    """A key, without what it is. ``use`` is null where it was not asked for."""

    id: str
    name: str
    role: str
    owner: str
    prefix: str
    created: float
    revoked: float | None
    former_until: float | None
    quotas: KeyQuotas
    use: KeyUse | None


@frozen(kw_only=True, eq=False, repr=False)
class MadeKey(AccessKey):
    """A key that was made just now. ``secret`` is the key itself, told this once."""

    secret: str


@frozen(eq=False, repr=False)
class AccessKeys:
    """All keys that were made while the server ran."""

    keys: Sequence[AccessKey]


@frozen(kw_only=True, eq=False, repr=False)
class Me:
    """Who asks: the role, the owner whose sessions they are, and the key, where it has a record.

    ``locked``: whether this server wants a key at all.
    """

    locked: bool
    role: str
    owner: str
    key: AccessKey | None


@frozen(kw_only=True, eq=False, repr=False)
class AuditRow:
    """Somebody asked for something, ``times`` times from ``at`` to ``last``."""

    at: float
    last: float
    times: int
    key: str
    owner: str
    role: str
    source: str
    forwarded: str
    what: str
    session: str
    turn: str
    status: int


@frozen(eq=False, repr=False)
class Audit:
    """The latest entries first, and the cursor of those before; None when there are none."""

    entries: Sequence[AuditRow]
    next: str | None
