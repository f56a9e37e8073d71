"""Access: the keys of a server, what they used, and who did what. It looks and writes beside the replies."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from typing import Any, Final

from attrs import define, field

from saga_core.access.audit_log import AuditLog, Limits
from saga_core.access.begun import Create
from saga_core.access.keyring import Keyring
from saga_core.access.meter import LOOK_SECONDS, Meter, Taken
from saga_core.access.records import AuditEntry, KeyRecord
from saga_core.config import Settings
from saga_core.counters import Counters
from saga_core.errors import NotFound, SagaError
from saga_core.journal import Journal

log = logging.getLogger("saga.access")

MODE: Final = "access"


@define(eq=False, kw_only=True)
class Access:
    """All of it. ``start`` begins to look and to write by itself; ``aclose`` writes what waits."""

    keys: Keyring
    meter: Meter
    audit: AuditLog
    journal: Journal
    settings: Settings
    counters: Counters
    shared: bool
    """Whether other servers may change the keys."""
    _billed: list[tuple[str, int, float | None]] = field(factory=list, init=False)
    """Session, tokens and dollars of calls behind the replies."""
    _news: asyncio.Event = field(factory=asyncio.Event, init=False)
    _task: asyncio.Task[None] | None = field(default=None, init=False)

    async def start(self) -> None:
        """Go on by itself from now on."""
        self.counters.listeners.append(self._hear)
        if not self.keys.known:
            self._news.set()  # the store did not answer when it was opened
        self._task = asyncio.create_task(self._go_on(), name="saga-access")

    async def aclose(self) -> None:
        """Write what waits, as far as the store takes it."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            await self._try()
        await self.meter.holdings.aclose()

    # -- turns -------------------------------------------------------------------------------------------------

    def record(self, key_id: str) -> KeyRecord | None:
        """The key that a request showed; None for one of the settings, or none."""
        try:
            return self.keys.get(key_id) if key_id else None
        except NotFound:
            return None  # it went since the request came

    async def admit(self, key_id: str, turns: int = 1) -> Taken | None:
        """Count turns of a key, before they begin. Raises ``QuotaExceeded`` and ``StoreError``."""
        record = self.record(key_id)
        if record is None:
            return None
        taken = await self.meter.admit(record, turns)
        self._news.set()
        return taken

    async def give_back(self, taken: Taken | None) -> None:
        """What was let in is played at another server."""
        if taken is not None:
            await self.meter.give_back(taken)

    async def begin_session(self, owner: str, session: str, create: Create) -> None:
        """Begin a session of an owner, if her key allows it. Raises ``QuotaExceeded``, ``Conflict``, ``StoreError``."""
        record = self.keys.owned_by(owner) if owner else None
        if record is None:
            await create({}, {})
        else:
            await self.meter.begin(record, session, create)

    async def spent(self, key_id: str, tokens: int, dollars: float | None) -> None:
        """A call with a key was paid for. Raises ``StoreError``."""
        if self.record(key_id) is not None:
            await self.meter.spent(key_id, tokens, dollars)
            self._news.set()

    def note(self, entry: AuditEntry) -> None:
        """Write down who asked for what, if the settings want it."""
        if self._limits().days > 0:
            self.audit.note(entry)
            self._news.set()

    # -- beside ------------------------------------------------------------------------------------------------

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
                self._news.set()  # the store did not take it, or more came meanwhile

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
        """Look whether keys changed, and write what was counted and noted. Raises ``StoreError``."""
        if self.shared or not self.keys.known:
            await self.keys.look()
        await self._settle_bills()
        await self.meter.flush()
        await self.audit.flush()
        await self.audit.prune(self._limits())

    async def _settle_bills(self) -> None:
        """Count what calls behind the replies cost to the key that owns the session."""
        while self._billed:
            session, tokens, dollars = self._billed[0]
            try:
                record = self.keys.owned_by((await self.journal.session(session)).owner)
            except NotFound:
                record = None
            self._billed.pop(0)
            if record is not None:
                await self.meter.spent(record.id, tokens, dollars)

    def _limits(self) -> Limits:
        server = self.settings.config.server
        return Limits(server.audit_days, server.audit_entries)
