"""Answers of the admin API about keys, their use, and the audit log."""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen


@frozen(kw_only=True, eq=False, repr=False)
class KeyQuotas:
    """The quotas of a key; 0 means no limit."""

    turns_a_minute: int
    tokens_a_day: int
    dollars_a_day: float
    sessions: int
    bytes: int


@frozen(kw_only=True, eq=False, repr=False)
class KeyUse:
    """What a key used: turns in the current minute, and turns, tokens and dollars today (in UTC).

    ``unpriced`` counts the calls without a known price, which add no dollars. ``sessions`` and ``bytes`` are what the
    key's owner holds; the count may be up to a minute old. ``bytes`` is null until it has been counted once.
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
    """A key, without its secret. ``use`` is null if the request does not report it."""

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
    """A key with a new secret. ``secret`` is the key itself and is shown only in this answer."""

    secret: str


@frozen(eq=False, repr=False)
class AccessKeys:
    """All keys that were made while the server ran."""

    keys: Sequence[AccessKey]


@frozen(kw_only=True, eq=False, repr=False)
class Me:
    """The caller: its role, its owner id, to which its sessions belong, and its key.

    ``key`` is null if the key was not made while the server ran. ``locked`` says whether the server requires a key.
    """

    locked: bool
    role: str
    owner: str
    key: AccessKey | None


@frozen(kw_only=True, eq=False, repr=False)
class AuditRow:
    """An entry of the audit log: the same request, made ``times`` times between ``at`` and ``last``."""

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
    """Entries of the audit log, the latest first. ``next`` is the cursor for older entries; null if there are none."""

    entries: Sequence[AuditRow]
    next: str | None
