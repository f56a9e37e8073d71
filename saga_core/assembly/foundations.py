"""The foundation of all parts: the journal, the sessions in memory, the supervisor and the projector."""

from __future__ import annotations

import logging

from attrs import define, field

from saga_core.assembly.parts import Given
from saga_core.background import Foreground, SessionLocks, Supervisor
from saga_core.config import Settings
from saga_core.counters import Counters
from saga_core.ids import IdSource
from saga_core.jobs import ViewsJob
from saga_core.journal import Journal, Ledger
from saga_core.sessions import LiveSessions, SessionDirectory, SharedMemories, SilentChats
from saga_core.storage import Stores
from saga_core.views import Projector

log = logging.getLogger("saga")


@define(eq=False)
class Foundations:
    """The foundation, made from opened stores."""

    settings: Settings
    given: Given
    stores: Stores
    journal: Journal
    counters: Counters
    ids: IdSource = field(init=False)
    locks: SessionLocks = field(factory=SessionLocks, init=False)
    foreground: Foreground = field(factory=Foreground, init=False)
    supervisor: Supervisor = field(init=False)
    live: LiveSessions = field(init=False)
    projector: Projector = field(init=False)
    ledger: Ledger = field(init=False)
    views: ViewsJob = field(init=False)
    directory: SessionDirectory = field(init=False)
    shared: SharedMemories = field(init=False)
    silent: SilentChats = field(init=False)

    def __attrs_post_init__(self) -> None:
        config, stores, clock = self.settings.config, self.stores, self.given.clock
        self.silent = SilentChats(self.counters)
        self.ids = IdSource(clock, self.given.entropy)
        self.supervisor = Supervisor(self.counters, self.locks)
        self.live = LiveSessions(
            self.journal,
            self.counters,
            self.supervisor.busy,
            config.session.checkpoint_every,
            config.session.loaded,
        )
        self.projector = Projector(
            stores.state,
            stores.graph,
            stores.vector,
            stores.cache,
            stores.embedder,
            clock,
            self.counters,
            config.session.live_timelines,
            self.foreground,
        )
        self.ledger = Ledger(stores.state, self.counters)
        self.views = ViewsJob(self.live, self.projector, self.journal)
        self.directory = SessionDirectory(
            journal=self.journal,
            live=self.live,
            locks=self.locks,
            ids=self.ids,
            clock=clock,
            counters=self.counters,
            render=self.views.submit,
        )
        self.shared = SharedMemories(stores.state, self.live, clock, frozenset(config.memory_strategies))
