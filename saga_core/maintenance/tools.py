"""The parts of the engine that maintenance works with."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import AbstractAsyncContextManager

from attrs import field, frozen

from saga_core.background import Supervisor
from saga_core.config import Settings
from saga_core.counters import Counters
from saga_core.ids import IdSource
from saga_core.journal import Journal, Keep
from saga_core.ports import Clock
from saga_core.sessions import LiveSessions, SessionDirectory
from saga_core.storage import Stores
from saga_core.stores import Key
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
    """Renders the queued views, vectors included, for at most the given number of seconds."""
    delete: Callable[[str], Awaitable[None]]
    """Deletes a session."""
    replace: Callable[[str, Keep], Awaitable[None]]
    """Deletes a session, with the records of a copy in its place."""
    own: Callable[[str], Awaitable[object]] | None = None
    """Makes this server the writer of a session, if several share the journal. Raises ``OwnedElsewhere``."""
    import_entries: Callable[[str, str], dict[Key, bytes]]
    """Returns the entries for the commit of an imported session, by its owner and id, that its host wants there."""
    letting_go: Callable[[str], AbstractAsyncContextManager[None]]
    """Entered around a removal, so that curators forget what they store of a session elsewhere."""
    left_elsewhere: Callable[[], Awaitable[Sequence[str]]]
    """What curators still have to forget, each with the reason and the remedy."""
    forget_elsewhere: Callable[[], Awaitable[object]]
    """Has curators forget what they still have to."""
    forget_at_hand: Callable[[], None]
    """Drops the contexts and prompts that are cached in memory."""
    importing: asyncio.Lock = field(factory=asyncio.Lock)
    """Held during an import, so that no other import writes what this one looked for and did not find."""
    stopped_imports: set[object] = field(factory=set)
    """The tokens of the running imports that were stopped."""
    running_imports: set[object] = field(factory=set)
    """A token for each running import."""
