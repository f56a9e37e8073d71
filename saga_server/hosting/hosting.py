"""``Hosting``: makes the access part and the leases of an engine."""

from __future__ import annotations

import os
import socket

from attrs import define, field

from saga_core.config import Config
from saga_core.counters import Counters
from saga_core.hosting import HostedEngine
from saga_core.ports import Entropy
from saga_core.registry import Backend, OpenOptions
from saga_core.stores import StateKV
from saga_server.hosting.access import Access
from saga_server.hosting.audit_log import AuditLog
from saga_server.hosting.holdings import Holdings
from saga_server.hosting.keys import Keyring
from saga_server.hosting.leases import Leases
from saga_server.hosting.liveness import Siblings
from saga_server.hosting.meter import Meter

_ALONE = "alone"
"""The name of a server that does not share its journal, at any address."""


@define(eq=False, kw_only=True)
class Hosting:
    """Keys, quotas and an audit log, and leases if the journal is shared. The argument ``hosting`` of ``Saga.open``."""

    address: str = ""
    """Where other servers that share the journal reach this one, unless ``server.address`` is set."""
    siblings: Siblings | None = None
    """Tells which processes that share the data directory on this machine are alive."""
    leases: Leases | None = field(default=None, init=False)
    """Set while an engine with a shared journal is open."""
    access: Access | None = field(default=None, init=False)
    """Set while an engine is open."""

    @property
    def one_machine(self) -> bool:
        """See ``saga_core.hosting.Hosting``."""
        return self.siblings is not None

    def rights(self, config: Config, state: StateKV, *, entropy: Entropy, counters: Counters, resume: bool) -> Leases:
        """Return the leases, and announce this process to its siblings."""
        name = server_name(config)
        self.leases = Leases(
            kv=state,
            # A command next to a server with the same configuration must not be taken for the server's next process.
            name=name if resume else f"{name} command {os.getpid()}",
            token=entropy.token(4).hex(),
            address=config.server.address or self.address,
            seconds=config.server.lease_seconds,
            counters=counters,
            siblings=self.siblings,
        )
        if self.siblings is not None:
            self.siblings.announce(self.leases.server)
        return self.leases

    def admission(self, engine: HostedEngine) -> Access:
        """Return the keys, their usage and the audit log."""
        kv, clock, counters = engine.state, engine.clock, engine.counters
        server = server_name(engine.settings.config) if engine.shared else _ALONE
        self.access = Access(
            keys=Keyring(kv=kv, clock=clock, entropy=engine.entropy, counters=counters),
            meter=Meter(
                kv=kv,
                clock=clock,
                counters=counters,
                holdings=Holdings(journal=engine.journal, clock=clock),
                server=server,
                shared=engine.shared,
            ),
            audit=AuditLog(kv=kv, clock=clock, counters=counters, server=server),
            journal=engine.journal,
            settings=engine.settings,
            counters=counters,
            shared=engine.shared,
        )
        return self.access


def server_name(config: Config) -> str:
    """Return the name that distinguishes this server from others that share the journal; the same after a restart."""
    return config.server.name or f"{socket.gethostname()}:{config.server.port or os.getpid()}"


async def _open(options: OpenOptions) -> Hosting:
    options.take()
    return Hosting()


BACKEND = Backend(kind="hosting", name="shared", open=_open, summary="leases and keys for a journal that is shared")
