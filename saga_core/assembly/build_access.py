"""Builds what says who may use a server."""

from __future__ import annotations

from saga_core.access import Access, AuditLog, Holdings, Keyring, Meter
from saga_core.assembly.foundations import Foundations
from saga_core.assembly.sharing import server_name

_ALONE = "alone"
"""The name of a server that shares its journal with nobody, however it is reached."""


def build_access(base: Foundations, *, shared: bool) -> Access:
    """The keys, their use and the audit log, and the question to them before a session begins."""
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
