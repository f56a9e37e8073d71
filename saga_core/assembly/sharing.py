"""Guards a shared journal with leases, and tells the other parts which server writes a session."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable
from typing import cast

from saga_core.assembly.foundations import Foundations
from saga_core.assembly.parts import Given
from saga_core.capabilities import Capability
from saga_core.config import Config
from saga_core.counters import Counters
from saga_core.errors import OwnedElsewhere
from saga_core.ownership import LOOK_CLOSELY, Leases, OwnedState, fence_of_views
from saga_core.play import Prompting
from saga_core.recall import episodes_scope, session_of_episodes
from saga_core.storage import Stores
from saga_core.stores import Fenced, Holding, Store
from saga_core.transcript import Matcher
from saga_core.views import scope_of, session_of_scope

log = logging.getLogger("saga.leases")

_BOTH = frozenset({Capability.RESIDENT, Capability.SHARED})


def server_name(config: Config) -> str:
    """Return the name that distinguishes this server from others that share the journal; the same after a restart."""
    return config.server.name or f"{socket.gethostname()}:{config.server.port or os.getpid()}"


def share(config: Config, given: Given, stores: Stores, counters: Counters) -> Leases | None:
    """Create this server's leases and guard the journal's store with them. Return None if the journal is not shared."""
    if Capability.SHARED not in stores.state.info.capabilities:
        return None
    name = server_name(config)
    leases = Leases(
        kv=stores.state,
        # A command next to a server with the same configuration must not be taken for the server's next process.
        name=name if given.resume else f"{name} command {os.getpid()}",
        token=given.entropy.token(4).hex(),
        address=config.server.address or given.address,
        seconds=config.server.lease_seconds,
        counters=counters,
        siblings=given.siblings,
    )
    if given.siblings is not None:
        given.siblings.announce(leases.server)
    stores.state = OwnedState(stores.state, leases)
    stores.keep(leases)
    return leases


def connect(leases: Leases, base: Foundations, prompting: Prompting, matcher: Matcher) -> None:
    """Notify the parts when a session is taken over or lost, or when another server left work."""

    def forget(session: str) -> None:
        base.live.forget(session)
        prompting.memories.forget(session)
        base.silent.forget(session)

    async def may_work(session: str) -> bool:
        try:
            await leases.own(session)
        except OwnedElsewhere:
            return False  # the session's owner does the work, or the server that finds the owner gone
        return True

    async def take_up(session: str) -> None:
        async with base.locks.writing(session):  # a write of this server is not an interrupted one
            if await base.journal.settle(session):
                base.live.forget(session)
        await base.supervisor.take_up(session)

    def read_shares_again() -> None:
        if base.shared.strategies:
            base.live.forgotten += 1  # other servers' sessions may have new memories

    async def elsewhere(session: str) -> None:
        """Refuse a session of another server, so that its owner matches the request and nothing is read here."""
        if not LOOK_CLOSELY.get():
            await leases.ask_elsewhere(session)

    matcher.alone = elsewhere
    base.live.ownership = leases
    base.supervisor.may_work = may_work
    leases.is_busy = base.supervisor.busy
    if leases.siblings is not None:
        # A process keeps the sessions it has in memory: forwarding a request is cheaper than reading the session again.
        leases.is_busy = lambda session: base.supervisor.busy(session) or base.live.peek(session) is not None
    base.live.before_load = lambda session: _forget_own(base, session)
    leases.on_stale.append(forget)
    leases.on_inherited = take_up
    leases.on_beat = read_shares_again
    slots = base.settings.config.session.live_timelines

    def scopes(session: str) -> list[str]:
        return [scope_of(session, slot) for slot in range(slots)]

    for store, named in ((base.stores.graph, scopes), (base.stores.vector, lambda session: [episodes_scope(session)])):
        _hold(leases, store, named)
    if leases.siblings is None:  # else, a process whose sessions were taken has ended and writes nothing
        _fence(leases, base.stores)
    if base.stores.vector.info.capabilities >= _BOTH:
        # Every server fills a world's lore with the same vectors, so a complete lore scope never changes.
        base.projector.on_lore.append(cast(Holding, base.stores.vector).hold)


async def _forget_own(base: Foundations, session: str) -> None:
    """Discard a session's views in stores of this server only, because other servers may have changed the session."""
    if Capability.SHARED not in base.stores.graph.info.capabilities:
        await base.projector.drop_graphs(session)
    base.projector.look_again(session)


def _fence(leases: Leases, stores: Stores) -> None:
    """Make writes to views depend on the lease, if the view store is in the same place as the journal."""
    journal = stores.state.info.identity
    for kind, store in stores.all().items():
        if kind == "state" or Capability.SHARED not in store.info.capabilities:
            continue
        if not journal or store.info.identity != journal:
            log.warning(
                "%s store: it lies in another place than the journal, so that a server which was cut off may leave an "
                "old view there; put both into one schema, or look now and then with `saga verify --repair`",
                kind,
            )
            continue
        cast(Fenced, store).fence(fence_of_views(leases, session_of_episodes if kind == "vector" else session_of_scope))


def _hold(leases: Leases, store: Store, scopes: Callable[[str], list[str]]) -> None:
    """Keep the scopes of the sessions that this server holds in memory, if the store has a resident layer."""
    if not store.info.capabilities >= _BOTH:
        return
    layer = cast(Holding, store)

    def owned(session: str) -> None:
        for scope in scopes(session):
            layer.hold(scope)

    def free(session: str) -> None:
        for scope in scopes(session):
            layer.release(scope)

    leases.on_owned.append(owned)
    leases.on_free.append(free)
