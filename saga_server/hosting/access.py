"""Access: the API keys of a server, their usage, and the audit log. A background task reads and writes the store."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any, Final

from attrs import define, field

from saga_core.config import Settings
from saga_core.counters import Counters
from saga_core.errors import NotFound, QuotaExceeded, SagaError
from saga_core.hosting import Create
from saga_core.journal import Journal
from saga_core.stores import Key
from saga_server.hosting.audit_log import AuditEntry, AuditLog
from saga_server.hosting.holdings import uncounted
from saga_server.hosting.keys import KeyRecord, Keyring
from saga_server.hosting.meter import DAY, LOOK_SECONDS, Meter, Taken

log = logging.getLogger("saga.access")

MODE: Final = "access"


@define(eq=False, kw_only=True)
class Access:
    """The keys, the meter and the audit log. ``start`` begins the background work; ``aclose`` writes what is left."""

    keys: Keyring
    meter: Meter
    audit: AuditLog
    journal: Journal
    settings: Settings
    counters: Counters
    shared: bool
    """Whether other servers may change the keys."""
    _billed: list[tuple[str, int, float | None]] = field(factory=list, init=False)
    """Session, tokens and dollars of background calls."""
    _settling: asyncio.Lock = field(factory=asyncio.Lock, init=False)
    _news: asyncio.Event = field(factory=asyncio.Event, init=False)
    _task: asyncio.Task[None] | None = field(default=None, init=False)

    async def start(self) -> None:
        """Start the background task."""
        self.counters.listeners.append(self._hear)
        if not self.keys.known:
            self._news.set()  # the store did not answer at opening
        self._task = asyncio.create_task(self._go_on(), name="saga-access")

    async def aclose(self) -> None:
        """Write all pending data, as far as the store accepts it."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await self._try()
        await self.meter.holdings.aclose()

    @property
    def keyed(self) -> bool:
        """Whether there is a key that is not revoked."""
        return self.keys.any

    async def read(self) -> None:
        """Read the keys. Raises ``StoreError``."""
        await self.keys.look()

    def import_entries(self, owner: str, session: str) -> dict[Key, bytes]:
        """See ``Admission.import_entries``."""
        return uncounted(owner, session)

    # -- turns -------------------------------------------------------------------------------------------------

    def record(self, key_id: str) -> KeyRecord | None:
        """Return the record of a request's key; None for a key from the settings, or without a key."""
        try:
            return self.keys.get(key_id) if key_id else None
        except NotFound:
            return None  # the key was removed after the request arrived

    async def admit(self, key_id: str, turns: int = 1) -> Taken | None:
        """Count turns of a key before they begin. Raises ``QuotaExceeded`` and ``StoreError``."""
        record = self.record(key_id)
        if record is None:
            return None
        taken = await self.meter.admit(record, turns)
        self._news.set()
        return taken

    async def has_room(self, key_id: str) -> None:
        """Check that the stories of a key's owner may grow. Raises ``QuotaExceeded``."""
        record = self.record(key_id)
        if record is not None:
            await self.meter.has_room(record)

    async def give_back(self, taken: Taken | None) -> None:
        """Take back a count, because the turn is played on another server or refused."""
        if taken is not None:
            await self.meter.give_back(taken)

    async def begin_session(self, owner: str, session: str, create: Create) -> None:
        """Begin a session if the owner's key allows it. Raises ``QuotaExceeded``, ``Conflict``, ``StoreError``."""
        record = self.keys.owned_by(owner) if owner else None
        if record is None:
            await create({}, {})
        else:
            await self.meter.begin(record, session, create)

    async def admit_call(self, owner: str, *, in_settings: bool) -> None:
        """See ``Admission.admit_call``. ``in_settings``: a key from the settings has this owner, too."""
        if not owner:
            return
        await self._settle_bills()
        record = self.keys.owned_by(owner)
        if record is not None:
            await self.meter.has_day(record)
        elif self.keys.was_revoked(owner) and not in_settings:
            raise QuotaExceeded("the key of the session was revoked", quota="revoked", free_in=DAY)

    async def spent(self, key_id: str, tokens: int, dollars: float | None) -> None:
        """Count the tokens and the price of a call with a key. Raises ``StoreError``."""
        if self.record(key_id) is not None:
            await self.meter.spent(key_id, tokens, dollars)
            self._news.set()

    def note(self, entry: AuditEntry) -> None:
        """Add an entry to the audit log, if the settings enable it."""
        if self.settings.config.server.audit_days > 0:
            self.audit.note(entry)
            self._news.set()

    # -- background --------------------------------------------------------------------------------------------

    def _hear(self, event: str, about: Mapping[str, Any]) -> None:
        if event == "billed" and self.keys.any:
            self._billed.append((about["session"], about["input"] + about["output"], about["dollars"]))
            self._news.set()

    async def _go_on(self) -> None:
        while True:
            if not self.shared:
                await self._news.wait()
            await asyncio.sleep(LOOK_SECONDS)
            self._news.clear()
            await self._try()
            if self.meter.waiting or self.audit.waiting or not self.keys.known:
                self._news.set()  # the store did not accept it, or more arrived meanwhile

    async def _try(self) -> None:
        try:
            await self.step()
        except (SagaError, OSError) as error:
            self.counters.degrade(MODE, f"keys, their use and the audit log wait for the store: {error}")
        except Exception:
            log.exception("an unexpected error while keys and their use were looked after")
        else:
            self.counters.recover(MODE)

    async def step(self) -> None:
        """Check for changed keys, and write the counts and the audit entries. Raises ``StoreError``."""
        if self.shared or not self.keys.known:
            await self.keys.look()
        await self._settle_bills()
        await self.meter.flush()
        await self.audit.flush()
        server = self.settings.config.server
        await self.audit.prune(server.audit_days, server.audit_entries)

    async def _settle_bills(self) -> None:
        """Charge the costs of background calls to the key that owns the session."""
        async with self._settling:
            while self._billed:
                session, tokens, dollars = self._billed[0]
                try:
                    record = self.keys.owned_by((await self.journal.session(session)).owner)
                except NotFound:
                    record = None
                self._billed.pop(0)
                if record is not None:
                    await self.meter.spent(record.id, tokens, dollars)
