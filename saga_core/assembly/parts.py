"""The parts of the engine, and the arguments of ``Saga.open``."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from attrs import field, frozen

from saga_core.background import Foreground, Supervisor
from saga_core.catalog import Memory, Sessions, Timelines
from saga_core.config import Settings
from saga_core.context import ContextReader, ContextSource
from saga_core.counters import Counters
from saga_core.hosting import Admission, Hosting, WriteRights
from saga_core.ids import IdSource
from saga_core.jobs import Background
from saga_core.journal import Journal
from saga_core.maintenance import Tools
from saga_core.play import Play, Prompting
from saga_core.ports import ChatModel, Clock, Embedder, Entropy
from saga_core.sessions import LiveSessions
from saga_core.storage import Stores
from saga_core.stores import Curator
from saga_core.transcript import Matcher
from saga_core.views import Projector, Views
from saga_core.world import WorldLibrary

log = logging.getLogger("saga")


@frozen(kw_only=True)
class OpenArguments:
    """The arguments of ``Saga.open``."""

    extractor: ChatModel | None
    curator: ChatModel | None
    """The model that the configured curator asks."""
    automatic: ChatModel | None
    """Reads replies without a block if there is no ``extractor``."""
    clock: Clock
    entropy: Entropy
    resume: bool = True
    """Whether pending work is resumed and damaged data is set aside."""
    tolerant: bool = False
    """Whether the engine runs without a damaged journal, as far as possible."""
    reviewer: Curator | None = None
    """A curator in the place of the configured one. The caller closes it."""
    stores: Mapping[str, object] = field(factory=dict)
    """Open stores by kind, in the place of the configured ones. The caller closes them."""
    embedder: Embedder | None = None
    sources: Mapping[str, ContextSource] = field(factory=dict)
    """Sources of context by name, beside those that the configuration names. The caller closes them."""
    hosting: Hosting | None = None
    """Admits sessions, and decides which of them this engine writes if the journal is shared."""
    counters: Counters | None = None
    """Counters that the engine shares with another one."""
    foreground: Foreground | None = None
    """The narrations to which its work gives way, if it shares them with another engine."""


@frozen(eq=False, kw_only=True)
class Parts:
    """The parts of the engine."""

    settings: Settings
    stores: Stores
    worlds: WorldLibrary
    journal: Journal
    counters: Counters
    live: LiveSessions
    reader: ContextReader
    prompting: Prompting
    matcher: Matcher
    supervisor: Supervisor
    projector: Projector
    clock: Clock
    ids: IdSource
    rights: WriteRights | None
    """Decides which sessions this engine writes, if several programs share the journal."""
    admission: Admission | None
    """Admits sessions; None if every session is."""
    play: Play
    sessions: Sessions
    timelines: Timelines
    views: Views
    memory: Memory
    tools: Tools
    background: Background
