"""Guards a shared journal, and tells the other parts which sessions this engine may write."""

from __future__ import annotations

import logging
from typing import cast

from saga_core.assembly.foundations import Foundations
from saga_core.assembly.parts import Given
from saga_core.capabilities import Capability
from saga_core.config import Config
from saga_core.counters import Counters
from saga_core.errors import OwnedElsewhere
from saga_core.hosting import Admission, HostedEngine, Hosting, OwnershipListener, WriteRights
from saga_core.play import Prompting
from saga_core.recall import episodes_scope, session_of_episodes
from saga_core.registry import OpenOptions, load
from saga_core.storage import Stores
from saga_core.stores import Fenced, Holding
from saga_core.transcript import Matcher
from saga_core.views import scope_of, session_of_scope

log = logging.getLogger("saga.leases")

_BOTH = frozenset({Capability.RESIDENT, Capability.SHARED})


async def hosting_of(given: Given, stores: Stores) -> Hosting | None:
    """Return the argument ``hosting``, or the installed one if there is none and the journal is shared."""
    if given.hosting is not None or Capability.SHARED not in stores.state.info.capabilities:
        return given.hosting
    return cast(Hosting, await load("hosting", "shared").open(OpenOptions()))


def share(
    config: Config, given: Given, hosting: Hosting | None, stores: Stores, counters: Counters
) -> WriteRights | None:
    """Guard the journal's store with the rights to write in it. Return None if the journal is not shared."""
    if hosting is None or Capability.SHARED not in stores.state.info.capabilities:
        return None
    rights = hosting.rights(config, stores.state, entropy=given.entropy, counters=counters, resume=given.resume)
    stores.state = rights.guard()
    stores.keep(rights)
    return rights


def admission_of(base: Foundations, hosting: Hosting | None, rights: WriteRights | None) -> Admission | None:
    """Return what admits sessions, and let it decide about new ones. None if every session is admitted."""
    if hosting is None:
        return None
    admission = hosting.admission(
        HostedEngine(
            settings=base.settings,
            state=base.stores.state,
            journal=base.journal,
            clock=base.given.clock,
            entropy=base.given.entropy,
            counters=base.counters,
            shared=rights is not None,
        )
    )
    base.directory.beginning = admission.begin_session
    return admission


def connect(rights: WriteRights, base: Foundations, prompting: Prompting, matcher: Matcher) -> None:
    """Notify the parts when a session is taken over or lost, or when another server left work."""

    def forget(session: str) -> None:
        base.live.forget(session)
        prompting.memories.forget(session)
        base.silent.forget(session)

    async def may_work(session: str) -> bool:
        try:
            await rights.own(session)
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

    def is_busy(session: str) -> bool:
        # A process keeps the sessions it has in memory: forwarding a request is cheaper than reading the session again.
        return base.supervisor.busy(session) or (one_machine and base.live.peek(session) is not None)

    one_machine = base.given.hosting is not None and base.given.hosting.one_machine
    matcher.alone = rights.ask_elsewhere  # so that the session's owner matches the request, and nothing is read here
    base.live.ownership = rights
    base.supervisor.may_work = may_work
    base.live.before_load = lambda session: _forget_own(base, session)
    slots = base.settings.config.session.live_timelines

    def scopes(session: str) -> list[str]:
        return [scope_of(session, slot) for slot in range(slots)]

    held = ((base.stores.graph, scopes), (base.stores.vector, lambda session: [episodes_scope(session)]))
    layers = [(cast(Holding, store), named) for store, named in held if store.info.capabilities >= _BOTH]

    def hold(session: str) -> None:
        """Keep a session's scopes in memory, in stores with a resident layer."""
        for layer, named in layers:
            for scope in named(session):
                layer.hold(scope)

    def release(session: str) -> None:
        for layer, named in layers:
            for scope in named(session):
                layer.release(scope)

    rights.listen(
        OwnershipListener(
            is_busy=is_busy,
            on_stale=forget,
            on_owned=hold,
            on_free=release,
            on_inherited=take_up,
            on_beat=read_shares_again,
        )
    )
    if not one_machine:  # else, a process whose sessions were taken has ended and writes nothing
        _fence(rights, base.stores)
    if base.stores.vector.info.capabilities >= _BOTH:
        # Every server fills a world's lore with the same vectors, so a complete lore scope never changes.
        base.projector.on_lore.append(cast(Holding, base.stores.vector).hold)


async def _forget_own(base: Foundations, session: str) -> None:
    """Discard a session's views in stores of this server only, because other servers may have changed the session."""
    if Capability.SHARED not in base.stores.graph.info.capabilities:
        await base.projector.drop_graphs(session)
    base.projector.look_again(session)


def _fence(rights: WriteRights, stores: Stores) -> None:
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
        cast(Fenced, store).fence(rights.fence_of(session_of_episodes if kind == "vector" else session_of_scope))
