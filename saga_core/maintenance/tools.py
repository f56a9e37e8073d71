"""The parts of the engine that maintenance works with."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from contextlib import AbstractAsyncContextManager

from attrs import field, frozen

from saga_core.background import Supervisor
from saga_core.config import Settings
from saga_core.counters import Counters
from saga_core.ids import IdSource
from saga_core.journal import Journal
from saga_core.ports import Clock
from saga_core.sessions import LiveSessions, SessionDirectory
from saga_core.storage import Stores
from saga_core.views import Projector
from saga_core.world import WorldLibrary


@frozen(eq=False, kw_only=True)
class Tools:
    """The engine's parts, and a few of its operations."""

    settings: Settings
    stores: Stores
    journal: Journal
    worlds: WorldLibrary
    directory: SessionDirectory
    live: LiveSessions
    projector: Projector
    supervisor: Supervisor
    ids: IdSource
    clock: Clock
    counters: Counters
    queued: Callable[[str], Collection[str]]
    """A session's turns whose views are queued."""
    finish_views: Callable[[float], Awaitable[object]]
    """Renders what is queued, vectors included, for at most so many seconds."""
    delete: Callable[[str], Awaitable[None]]
    """Deletes a session."""
    own: Callable[[str], Awaitable[object]] | None = None
    """Takes a session where several servers share the journal. Raises ``OwnedElsewhere``."""
    letting_go: Callable[[str], AbstractAsyncContextManager[None]]
    """Around a removal: curators forget what they keep of a session elsewhere."""
    forget_at_hand: Callable[[], None]
    """Forgets contexts and prompts that are kept in memory."""
    importing: asyncio.Lock = field(factory=asyncio.Lock)
    """Held while files are taken in: what one import looked for and did not find, another must not write meanwhile."""
    stopping: set[object] = field(factory=set)
    """The imports under way that somebody stopped, each under a token of its own that is in ``taking``."""
    taking: set[object] = field(factory=set)
