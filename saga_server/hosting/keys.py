"""The API keys that were made while the server ran: created, rotated, revoked, and stored as hashes in the journal.

A key has 256 random bits, so a plain SHA-256 reveals nothing about it. Only human-chosen secrets need a slow or keyed
hash.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import logging
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, Literal, get_args

from attrs import define, evolve, field, fields, frozen
from attrs.validators import in_

from saga_core import codec
from saga_core.counters import Counters
from saga_core.errors import BadInput, Conflict, NotFound, StoreCorrupt
from saga_core.ports import Clock, Entropy
from saga_core.stores import Batch, Key, StateKV
from saga_server.hosting import layout

log = logging.getLogger("saga")

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


MARK: Final = "saga_"
"""The prefix of every key."""
SHOWN: Final = len(MARK) + 4
"""The number of leading characters by which people recognise a key."""
LONGEST_NAME: Final = 100
LONGEST_GRACE: Final = 30 * 86_400.0
"""The longest time in seconds for which the previous key may stay valid after a rotation."""
MODE: Final = "access.keys"
_OWNER: Final = re.compile(r"[0-9a-f]{16}")
_PAGE: Final = 1_000
_TRIES: Final = 20


def digest_of(key: str) -> str:
    """Return the stored hash of a key."""
    return hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()


@define(eq=False, kw_only=True)
class Keyring:
    """The keys in memory, as of the last look at the store."""

    kv: StateKV
    clock: Clock
    entropy: Entropy
    counters: Counters
    mark: Path | None = None
    """An empty file that exists while there are keys. A server that finds none in its journal then stays closed."""
    _records: dict[str, tuple[KeyRecord, bytes]] = field(factory=dict, init=False)
    """Records by key id, with their stored bytes."""
    _by_prefix: dict[str, list[KeyRecord]] = field(factory=dict, init=False)
    _by_owner: dict[str, KeyRecord] = field(factory=dict, init=False)
    _version: bytes | None = field(default=None, init=False)
    _unreadable: bool = field(default=False, init=False)
    known: bool = field(default=False, init=False)
    """Whether the store was read at least once, and has keys, also revoked ones, if ``mark`` says so."""
    _ends: dict[str, float] = field(factory=dict, init=False)
    """When each former key ends on the monotonic clock, by its hash: it stays refused if the clock is set back."""

    @property
    def any(self) -> bool:
        """Whether there is a key that is not revoked. Unreadable records count as such keys."""
        return self._unreadable or bool(self._by_owner) or (not self.known and self._is_marked())

    def _is_marked(self) -> bool:
        return self.mark is not None and self.mark.exists()

    def _set_mark(self) -> None:
        """Write the mark if there are keys, and remove it if the last one was revoked. A lost key leaves no record."""
        if self.mark is None or not self._records or not self.mark.parent.is_dir():
            return
        try:
            if self._by_owner:
                self.mark.touch()
            elif not self._unreadable:
                self.mark.unlink(missing_ok=True)
        except OSError as error:
            log.warning(
                "%s cannot be written, by which a server knows of keys that it cannot read: %s", self.mark, error
            )

    def find(self, key: str) -> KeyRecord | None:
        """Return the record of a key that is valid now. Hashes are compared in constant time."""
        digest, found = digest_of(key), None
        for record in self._by_prefix.get(key[:SHOWN], ()):
            same = hmac.compare_digest(digest, record.digest)
            before = hmac.compare_digest(digest, record.former_digest)
            if same or (before and self._still(record)):
                found = record
        return found

    def _still(self, record: KeyRecord) -> bool:
        """Whether the former key of a record is still valid, by both clocks."""
        is_over = self.clock.monotonic() >= self._ends.get(record.former_digest, 0.0)
        return not is_over and self.clock.now() < record.former_until

    def owned_by(self, owner: str) -> KeyRecord | None:
        """Return the key of an owner, unless it was revoked."""
        return self._by_owner.get(owner)

    def was_revoked(self, owner: str) -> bool:
        """Whether an owner had keys, and has none any more."""
        return owner not in self._by_owner and any(record.owner == owner for record, _ in self._records.values())

    def get(self, key_id: str) -> KeyRecord:
        """Return a record by id. Raises ``NotFound``."""
        found = self._records.get(key_id)
        if found is None:
            raise NotFound(f"there is no key {key_id[:40]!r}; saga keys lists them")
        return found[0]

    def all(self) -> list[KeyRecord]:
        """Return all records including revoked ones, oldest first."""
        return sorted((record for record, _ in self._records.values()), key=lambda each: (each.created, each.id))

    # -- the store ---------------------------------------------------------------------------------------------

    async def look(self) -> None:
        """Read the keys again if a server changed one; otherwise this is one small read. Raises ``StoreError``."""
        version = (await self.kv.get([layout.ACCESS_VERSION])).get(layout.ACCESS_VERSION)
        if version != self._version or not self.known:
            await self._load(version)

    async def _load(self, version: bytes | None) -> None:
        found: dict[str, tuple[KeyRecord, bytes]] = {}
        after: Key | None = None
        wrong = ""
        while rows := await self.kv.scan(layout.ACCESS_KEYS, after=after, limit=_PAGE):
            for key, raw in rows:
                try:
                    record = codec.decode(raw, KeyRecord)
                except StoreCorrupt as error:
                    wrong = f"key {key[-1]}: it cannot be read, and is not taken: {error}"
                    continue
                if record.id == key[-1]:
                    found[record.id] = record, raw
                else:
                    wrong = f"key {key[-1]}: its record is of another one, and is not taken"
            after = rows[-1][0]
        known = bool(found) or not self._is_marked()
        if not known and not wrong:
            wrong = f"{self.mark} says that there are keys, but the journal has none; if that is right, remove the file"
        if wrong:
            self.counters.degrade(MODE, wrong)
        else:
            self.counters.recover(MODE)
        # The version was read before the rows, so later changes are read at the next look.
        self._records, self._version, self._unreadable, self.known = found, version, bool(wrong), known
        living = [record for record, _ in found.values() if not record.revoked]
        self._by_owner = {record.owner: record for record in living}
        self._by_prefix = {}
        wall, passed = self.clock.now(), self.clock.monotonic()
        self._ends = {
            each.former_digest: self._ends.get(each.former_digest, passed + each.former_until - wall)
            for each in living
            if each.former_digest
        }
        for record in living:
            for prefix in {record.prefix, record.former_prefix} - {""}:
                self._by_prefix.setdefault(prefix, []).append(record)
        self._set_mark()

    async def _write(self, change: Callable[[], KeyRecord]) -> KeyRecord:
        """Commit the record that ``change`` makes from the current ones. Raises its errors and ``StoreError``."""
        for left in range(_TRIES, 0, -1):
            await self.look()
            record = change()
            known = self._records.get(record.id)
            version = self.entropy.token(8).hex().encode()
            try:
                await self.kv.commit(
                    Batch({layout.access_key(record.id): codec.encode(record), layout.ACCESS_VERSION: version}),
                    expected={
                        layout.access_key(record.id): known[1] if known is not None else None,
                        layout.ACCESS_VERSION: self._version,
                    },
                )
            except Conflict:
                if left == 1:
                    raise
                continue
            await self._load(version)
            return record
        raise AssertionError("unreachable")

    # -- changing ----------------------------------------------------------------------------------------------

    async def create(
        self, name: str, role: Role = "player", *, owner: str | None = None, quotas: Quotas | None = None
    ) -> tuple[KeyRecord, str]:
        """Create a key and return its record and the key itself, which cannot be read again.

        ``owner`` is the owner of the sessions that the key plays, as the fingerprint that session lists show. Without
        it, the key gets a new owner. Raises ``BadInput``, and ``Conflict`` if another key has that owner.
        """
        name = _named(name)
        if role not in ROLES:
            raise BadInput(f"role: {str(role)[:40]!r} is none; give one of {', '.join(ROLES)}")
        if owner is not None and not _OWNER.fullmatch(owner):
            raise BadInput(f"owner: {owner[:40]!r} is no fingerprint of a key; saga sessions --json shows them")
        key, id_ = self._new(), self.entropy.token(6).hex()
        whose = owner or self.entropy.token(8).hex()

        def make() -> KeyRecord:
            other = self._by_owner.get(whose)
            if other is not None:
                raise Conflict(
                    layout.access_key(other.id),
                    f"owner: {whose} has the key {other.id} ({other.name}) already; rotate or revoke that one",
                )
            return KeyRecord(
                id=id_,
                name=name,
                role=role,
                owner=whose,
                prefix=key[:SHOWN],
                digest=digest_of(key),
                created=self.clock.now(),
                quotas=quotas or Quotas(),
            )

        return await self._write(make), key

    async def rotate(self, key_id: str, grace: float = 0.0) -> tuple[KeyRecord, str]:
        """Replace a key. The previous one stays valid for ``grace`` seconds. Raises ``NotFound`` and ``BadInput``."""
        if not 0 <= grace <= LONGEST_GRACE:
            raise BadInput(f"grace: {grace:g} is not allowed; give seconds from 0 to {LONGEST_GRACE:g}")
        key = self._new()

        def change() -> KeyRecord:
            before = self._living(key_id)
            return evolve(
                before,
                prefix=key[:SHOWN],
                digest=digest_of(key),
                former_prefix=before.prefix if grace else "",
                former_digest=before.digest if grace else "",
                former_until=self.clock.now() + grace if grace else 0.0,
            )

        return await self._write(change), key

    async def revoke(self, key_id: str) -> KeyRecord:
        """Revoke a key. Its owner's sessions stay. Raises ``NotFound``."""
        return await self._write(lambda: evolve(self._living(key_id), revoked=max(self.clock.now(), 1.0)))

    async def change(
        self, key_id: str, *, name: str | None = None, quotas: Callable[[Quotas], Quotas] = lambda before: before
    ) -> KeyRecord:
        """Change the name or the quotas of a key. Raises ``NotFound`` and ``BadInput``."""

        def changed() -> KeyRecord:
            before = self._living(key_id)
            return evolve(before, name=before.name if name is None else _named(name), quotas=quotas(before.quotas))

        return await self._write(changed)

    def _living(self, key_id: str) -> KeyRecord:
        found = self.get(key_id)
        if found.revoked:
            raise NotFound(f"the key {key_id} was revoked; create another one for the owner {found.owner}")
        return found

    def _new(self) -> str:
        return MARK + base64.urlsafe_b64encode(self.entropy.token(32)).decode().rstrip("=")


def _named(name: str) -> str:
    found = " ".join(name.split())
    if not found or len(found) > LONGEST_NAME or not found.isprintable():
        raise BadInput(f"name: give 1 to {LONGEST_NAME} printable characters that say whose key it is")
    return found
