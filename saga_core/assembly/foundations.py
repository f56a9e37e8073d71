"""The foundation of all parts: the journal, the sessions in memory, the supervisor and the projector."""

from __future__ import annotations

from functools import partial
from typing import Any, TypeVar

from attrs import AttrsInstance, fields, frozen

from saga_core.assembly.host import Host, forget_unshared, hold_lore
from saga_core.assembly.parts import OpenArguments
from saga_core.background import Foreground, SessionLocks, Supervisor
from saga_core.config import Settings
from saga_core.counters import Counters
from saga_core.hosting import Admission, WriteRights
from saga_core.ids import IdSource
from saga_core.jobs import ViewsJob
from saga_core.journal import Journal, Ledger
from saga_core.modules import open_modules
from saga_core.ports import Clock
from saga_core.sessions import LiveSessions, SessionDirectory, SharedMemories
from saga_core.storage import Stores
from saga_core.upstream import ModelFacts, facts_of
from saga_core.views import Projector

T = TypeVar("T", bound=AttrsInstance)


@frozen(eq=False, kw_only=True)
class Foundations:
    """What all parts build on."""

    settings: Settings
    opening: OpenArguments
    stores: Stores
    journal: Journal
    counters: Counters
    host: Host
    rights: WriteRights | None
    admission: Admission | None
    clock: Clock
    ids: IdSource
    locks: SessionLocks
    foreground: Foreground
    supervisor: Supervisor
    live: LiveSessions
    projector: Projector
    ledger: Ledger
    views: ViewsJob
    directory: SessionDirectory
    shared: SharedMemories


_NAMES = frozenset(each.name for each in fields(Foundations))


def made(kind: type[T], base: Foundations, **more: Any) -> T:
    """Build a part of the engine. Of its fields, those that ``more`` lacks are taken from ``base``, by their names."""
    shared = {each.name for each in fields(kind) if each.init} & _NAMES - more.keys()
    return kind(**{name: getattr(base, name) for name in shared}, **more)


def lay_foundations(
    settings: Settings, opening: OpenArguments, stores: Stores, journal: Journal, counters: Counters, host: Host
) -> Foundations:
    """Build the foundations on opened stores."""
    config, clock, locks = settings.config, opening.clock, SessionLocks()
    foreground = opening.foreground or Foreground()
    rights, admission, ids = host.rights, host.admission, IdSource(clock, opening.entropy)
    supervisor = Supervisor(counters, locks, host.may_work if rights is not None else None)
    projector = Projector(
        kv=stores.state,
        graph=stores.graph,
        vectors=stores.vector,
        cache=stores.cache,
        embedder=stores.embedder,
        clock=clock,
        counters=counters,
        slots=config.session.live_timelines,
        foreground=foreground,
        on_lore=hold_lore(stores) if rights is not None else (),
    )
    live = LiveSessions(
        journal,
        counters,
        supervisor.busy,
        config.session.checkpoint_every,
        config.session.loaded,
        rights,
        partial(forget_unshared, stores, projector) if rights is not None else None,
        modules=open_modules({name: each.enabled for name, each in config.modules.items()}, counters),
    )
    views = ViewsJob(live, projector, journal)
    return Foundations(
        settings=settings,
        opening=opening,
        stores=stores,
        journal=journal,
        counters=counters,
        host=host,
        rights=rights,
        admission=admission,
        clock=clock,
        ids=ids,
        locks=locks,
        foreground=foreground,
        supervisor=supervisor,
        live=live,
        projector=projector,
        ledger=Ledger(stores.state, counters, partial(_facts, settings)),
        views=views,
        directory=SessionDirectory(
            journal=journal,
            live=live,
            locks=locks,
            ids=ids,
            clock=clock,
            counters=counters,
            render=views.submit,
            beginning=admission.begin_session if admission is not None else None,
        ),
        shared=SharedMemories(stores.state, live, clock, frozenset(config.memory_strategies)),
    )


def _facts(settings: Settings, model: str, provider: str) -> ModelFacts:
    return facts_of(model, provider, settings.config.models.facts)
