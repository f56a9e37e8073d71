"""The host of an engine: guards a shared journal, and says which sessions this engine may write and begin."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import cast

from attrs import frozen

from saga_core.assembly.parts import OpenArguments
from saga_core.capabilities import Capability
from saga_core.config import Config
from saga_core.counters import Counters
from saga_core.errors import OwnedElsewhere
from saga_core.hosting import Admission, Hosting, WriteRights
from saga_core.recall import episodes_scope, session_of_episodes
from saga_core.registry import OpenOptions, load
from saga_core.storage import Stores
from saga_core.stores import Fenced, Holding
from saga_core.views import Projector, scope_of, session_of_scope

log = logging.getLogger("saga.leases")

_BOTH = frozenset({Capability.RESIDENT, Capability.SHARED})


@frozen(kw_only=True)
class Host:
    """What decides about sessions; nothing in an engine for one user with a journal to itself."""

    rights: WriteRights | None = None
    """Decides which sessions this engine writes, if several programs share the journal."""
    admission: Admission | None = None
    """Admits sessions; None if every session is."""
    one_machine: bool = False
    """Whether the programs that share the journal are processes of this machine."""

    async def may_work(self, session: str) -> bool:
        """Whether background work on a session is this engine's."""
        try:
            if self.rights is not None:
                await self.rights.own(session)
        except OwnedElsewhere:
            return False  # the session's owner does the work, or the server that finds the owner gone
        return True


async def hosting_of(opening: OpenArguments, stores: Stores) -> Hosting | None:
    """Return the argument ``hosting``, or the installed one if there is none and the journal is shared."""
    if opening.hosting is not None or Capability.SHARED not in stores.state.info.capabilities:
        return opening.hosting
    return cast(Hosting, await load("hosting", "shared").open(OpenOptions()))


def share(
    config: Config, opening: OpenArguments, hosting: Hosting | None, stores: Stores, counters: Counters
) -> WriteRights | None:
    """Guard the journal's store with the rights to write in it. Return None if the journal is not shared."""
    if hosting is None or Capability.SHARED not in stores.state.info.capabilities:
        return None
    rights = hosting.rights(config, stores.state, entropy=opening.entropy, counters=counters, resume=opening.resume)
    stores.state = rights.guard()
    stores.keep("hosting", rights)
    if opening.hosting is None or not opening.hosting.one_machine:
        # Else, a process whose sessions were taken has ended and writes nothing.
        _fence(rights, stores)
    return rights


def _fence(rights: WriteRights, stores: Stores) -> None:
    """Make writes to views depend on the lease, if the view store is in the same place as the journal."""
    journal = stores.state.info.identity
    for kind, store in stores.all().items():
        if kind == "state" or Capability.SHARED not in store.info.capabilities:
            continue
        fenced = hasattr(getattr(store, "inner", store), "fence")  # a resident layer passes it on
        if not fenced or not journal or store.info.identity != journal:
            log.warning(
                "%s store: it lies in another place than the journal, or has no `fence`, so that a server which was "
                "cut off may leave an old view there; put both into one schema, or look now and then with `saga verify "
                "--repair`",
                kind,
            )
            continue
        cast(Fenced, store).fence(rights.fence_of(session_of_episodes if kind == "vector" else session_of_scope))


def hold_lore(stores: Stores) -> Sequence[Callable[[str], None]]:
    """Return what keeps a complete lore scope in memory, if the vectors are shared and have a resident layer.

    Every server fills a world's lore with the same vectors, so a complete lore scope never changes.
    """
    return (cast(Holding, stores.vector).hold,) if stores.vector.info.capabilities >= _BOTH else ()


async def forget_unshared(stores: Stores, projector: Projector, session: str) -> None:
    """Discard a session's views in stores of this server only, because other servers may have changed the session."""
    if Capability.SHARED not in stores.graph.info.capabilities:
        await projector.drop_graphs(session)
    projector.look_again(session)


@frozen
class ResidentScopes:
    """Keeps the scopes of this engine's sessions in memory, in shared stores with a resident layer."""

    stores: Stores
    slots: int

    def hold(self, session: str) -> None:
        """Keep a session's scopes in memory."""
        for layer, scope in self._scopes(session):
            layer.hold(scope)

    def release(self, session: str) -> None:
        """Do so no longer."""
        for layer, scope in self._scopes(session):
            layer.release(scope)

    def _scopes(self, session: str) -> list[tuple[Holding, str]]:
        graph, vector = self.stores.graph, self.stores.vector
        scopes: list[tuple[Holding, str]] = []
        if graph.info.capabilities >= _BOTH:
            scopes += [(cast(Holding, graph), scope_of(session, slot)) for slot in range(self.slots)]
        if vector.info.capabilities >= _BOTH:
            scopes.append((cast(Holding, vector), episodes_scope(session)))
        return scopes
