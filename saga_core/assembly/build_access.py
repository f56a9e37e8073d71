"""Builds the access part: API keys, their usage and the audit log."""

from __future__ import annotations

from saga_core.access import Access, AuditLog, Holdings, Keyring, Meter
from saga_core.assembly.foundations import Foundations
from saga_core.assembly.sharing import server_name

_ALONE = "alone"
"""The name of a server that does not share its journal, at any address."""


def build_access(base: Foundations, *, shared: bool) -> Access:
    """Build the keys, the meter and the audit log, and check the quotas before each new session."""
    kv, clock, counters = base.stores.state, base.given.clock, base.counters
    server = server_name(base.settings.config) if shared else _ALONE
    access = Access(
        keys=Keyring(kv=kv, clock=clock, entropy=base.given.entropy, counters=counters),
        meter=Meter(
            kv=kv,
            clock=clock,
            counters=counters,
            holdings=Holdings(journal=base.journal, clock=clock),
            server=server,
            shared=shared,
        ),
        audit=AuditLog(kv=kv, clock=clock, counters=counters, server=server),
        journal=base.journal,
        settings=base.settings,
        counters=counters,
        shared=shared,
    )
    base.directory.beginning = access.begin_session
    return access
