"""Parts of the access of one server, over a store that others may share."""

from __future__ import annotations

import hashlib

from attrs import define

from saga_backends.memory import MemoryState
from saga_core.config import Config, Settings
from saga_core.counters import Counters
from saga_core.journal import Journal
from saga_core.stores import StateKV
from saga_server.hosting import Access, KeyRecord, Keyring, Quotas
from saga_server.hosting.audit_log import AuditLog
from saga_server.hosting.holdings import Holdings
from saga_server.hosting.meter import Meter


@define
class Hands:
    """A clock that a test moves."""

    time: float = 1_700_000_000.0
    passed: float = 0.0

    def now(self) -> float:
        return self.time + self.passed

    def monotonic(self) -> float:
        return self.passed


@define
class Draws:
    """Randomness that differs each time, and never between two runs."""

    seed: str = "0"
    drawn: int = 0

    def token(self, size: int) -> bytes:
        self.drawn += 1
        return hashlib.blake2b(f"{self.seed}.{self.drawn}".encode(), digest_size=size).digest()


def opened(kv: StateKV | None = None, *, server: str = "a", clock: Hands | None = None, shared: bool = True) -> Access:
    """The access of a server."""
    store, hands, counters = kv if kv is not None else MemoryState(), clock or Hands(), Counters()
    journal = Journal(store, counters)
    return Access(
        keys=Keyring(kv=store, clock=hands, entropy=Draws(server), counters=counters),
        meter=Meter(
            kv=store, clock=hands, counters=counters, holdings=Holdings(journal=journal, clock=hands), server=server,
            shared=shared,
        ),
        audit=AuditLog(kv=store, clock=hands, counters=counters, server=server),
        journal=journal,
        settings=Settings(Config()),
        counters=counters,
        shared=shared,
    )  # fmt: skip


async def key(access: Access, name: str = "one", **quotas: float) -> KeyRecord:
    """A key with these quotas."""
    return (await access.keys.create(name, quotas=Quotas(**quotas)))[0]  # type: ignore[arg-type]
