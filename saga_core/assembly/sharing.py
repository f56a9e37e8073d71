"""Puts the journal behind the fence where several servers share it, and tells the parts who writes a session."""

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
    """What tells this server from others that share the journal: the same after a restart."""
    return config.server.name or f"{socket.gethostname()}:{config.server.port or os.getpid()}"


def share(config: Config, given: Given, stores: Stores, counters: Counters) -> Leases | None:
    """The leases of this server, and the journal's store behind them; None where nobody else can open the journal."""
    if Capability.SHARED not in stores.state.info.capabilities:
        return None
    name = server_name(config)
    leases = Leases(
        kv=stores.state,
        # A command beside a server of the same configuration must not pass for its next process.
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
    """Let the parts know of takings, losses and work that others left."""

    def forget(session: str) -> None:
        base.live.forget(session)
        prompting.memories.forget(session)
        base.silent.forget(session)

    async def may_work(session: str) -> bool:
        try:
            await leases.own(session)
        except OwnedElsewhere:
            return False  # its owner does it, or whoever finds the owner gone
        return True

    async def take_up(session: str) -> None:
        async with base.locks.writing(session):  # what this server writes itself is not cut off
            if await base.journal.settle(session):
                base.live.forget(session)
        await base.supervisor.take_up(session)

    def read_shares_again() -> None:
        if base.shared.strategies:
            base.live.forgotten += 1  # other servers' sessions may tell more by now

    async def elsewhere(session: str) -> None:
        """The owner of the session finds the place, and reads nothing for it."""
        if not LOOK_CLOSELY.get():
            await leases.ask_elsewhere(session)

    matcher.alone = elsewhere
    base.live.ownership = leases
    base.supervisor.may_work = may_work
    leases.is_busy = base.supervisor.busy
    if leases.siblings is not None:
        # Whoever has a session in memory keeps it: passing a request on costs less than reading the session anew.
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
    if leases.siblings is None:  # else a process whose sessions were taken has ended, and writes nothing
        _fence(leases, base.stores)
    if base.stores.vector.info.capabilities >= _BOTH:
        # Whoever fills a world's lore fills it with the same: what is whole stays as it is.
        base.projector.on_lore.append(cast(Holding, base.stores.vector).hold)


async def _forget_own(base: Foundations, session: str) -> None:
    """What stores show of a session that this server alone has: others may have changed it since."""
    if Capability.SHARED not in base.stores.graph.info.capabilities:
        await base.projector.drop_graphs(session)
    base.projector.look_again(session)


def _fence(leases: Leases, stores: Stores) -> None:
    """Have what is written to views hold only with the lease, where that lies beside the journal."""
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
    """Keep the scopes of sessions that this server holds in memory, where the store has a layer for that."""
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
