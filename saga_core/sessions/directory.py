"""The directory of sessions: begins sessions, and finds sessions, timelines and turns by their names."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from weakref import WeakValueDictionary

from attrs import define, evolve, field

from saga_core.background import SessionLocks
from saga_core.counters import Counters
from saga_core.errors import Conflict, NotFound, StoreError
from saga_core.hosting import Create
from saga_core.ids import IdSource
from saga_core.journal import Journal, make_root
from saga_core.language import clean_name
from saga_core.model import Session, Timeline
from saga_core.ports import Clock
from saga_core.sessions.kinds import PERSONAL, WORLD, share_of
from saga_core.sessions.live_sessions import LiveSession, LiveSessions
from saga_core.world import World

Render = Callable[[str, Sequence[str]], None]
"""Renders the views of some turns of a session in the background. The turns' jobs are recorded by then."""


@define(eq=False)
class NewSession:
    """A session that a request begins. It is removed with the last request in it, if none of them leaves a turn."""

    session: Session | None = None
    """Its record as it began. None before that, and once it is to stay."""
    requests: int = 1
    """How many requests are played in it."""

    def is_played(self) -> bool:
        """Whether requests are played in it."""
        return self.requests > 0


@define(eq=False, kw_only=True)
class SessionDirectory:
    """All sessions of the journal, in memory or not."""

    journal: Journal
    live: LiveSessions
    locks: SessionLocks
    ids: IdSource
    clock: Clock
    counters: Counters
    render: Render
    beginning: Callable[[str, str, Create], Awaitable[None]] | None = None
    """Begins a session of an owner, by its id, if the owner's key allows it. Raises ``QuotaExceeded``."""
    new: WeakValueDictionary[str, NewSession] = field(factory=WeakValueDictionary, init=False)
    """The new sessions, by id, as long as a request in them is played."""

    async def begin(
        self,
        world: World,
        *,
        owner: str = "",
        label: str = "",
        greeting: str = "",
        kind: str = PERSONAL,
        new: NewSession | None = None,
    ) -> LiveSession:
        """Begin a session of a ``kind``. Its root and its world are recorded when this returns.

        ``new`` becomes that session, if a request begins it.

        Raises ``Conflict`` for a taken label, ``QuotaExceeded`` if the owner's key allows no more sessions, and
        ``StoreError``.
        """
        session_id, now = self.ids.new("s"), self.clock.now()
        root = make_root(session_id, self.ids.new("t"), now, greeting)
        kind, _, share = kind.partition(":")
        session = Session(session_id, root.id, owner, label, world.name, world.digest, now, root.id, kind=kind)
        if kind == WORLD:
            session = evolve(session, share=share_of(world.name, share), shared_at=now)
        create = partial(self.journal.create_session, session, root, world)
        if new is not None:
            self.new[session_id] = new  # another request may find it before this one knows that it began
        await (create() if self.beginning is None else self.beginning(owner, session_id, create))
        if new is not None:
            new.session = session
        self.counters.add("sessions.created")
        self.render(session_id, [root.id])
        try:
            return await self.live.get(session_id)
        except NotFound as error:
            lost = "the journal lost a session that it had just taken; its commit must have written when it returns"
            raise StoreError(lost) from error

    async def named(
        self,
        name: str,
        owner: str,
        world: Callable[[], Awaitable[World]],
        kind: str = PERSONAL,
        new: NewSession | None = None,
    ) -> tuple[Session, str]:
        """Return the session of ``owner`` with this label or id. Else ``new`` begins in ``world()``, of a ``kind``.

        A named timeline may follow after the last ``@``. It is returned as the second value. Raises ``NotFound`` for a
        known session without a timeline of that name.
        """
        found = await self._known(name, owner)
        if found is not None:
            return found, ""
        label, _, timeline = (clean_name(part) for part in name.rpartition("@"))
        above = await self._known(label, owner) if label and timeline else None
        if above is not None:
            known = (await self.live.get(above.id)).timelines
            if timeline not in known:
                named = ", ".join(sorted(known)) or "none"
                raise NotFound(
                    f"session {label!r} has no timeline {timeline!r}; it has: {named}. Fork it first, or name the"
                    f" session without {'@' + timeline!r}"
                )
            return above, timeline
        try:
            return (await self.begin(await world(), owner=owner, label=name, kind=kind, new=new)).session, ""
        except Conflict:
            # Another request with the same name was faster.
            return await self.named(name, owner, world, kind, new)

    async def holds(self, name: str, owner: str) -> bool:
        """Whether the owner has a session with this label or id. A timeline may follow after the last ``@``."""
        for each in (name, clean_name(name.rpartition("@")[0])):
            with suppress(NotFound):
                if each and await self._known(each, owner) is not None:
                    return True
        return False

    async def _known(self, name: str, owner: str) -> Session | None:
        """Return the owner's session with this id, or else with this label."""
        with suppress(NotFound):
            found = await self.journal.session(name)
            if found.owner == owner:  # a stranger does not learn that it exists
                return found
        known = await self.journal.labelled(owner, name)
        return None if known is None else await self.journal.session(known)

    async def find(self, session_id: str, owner: str | None = None) -> Session:
        """Return a session by id, or by label if the label is unique. ``NotFound``; of several, it lists the ids.

        With ``owner``, sessions of other owners are reported as missing, with the same message.
        """
        if owner is not None:
            found = await self._known(session_id, owner)
            if found is None:
                raise NotFound(f"there is no session {session_id[:80]!r}")
            return found
        try:
            return await self.journal.session(session_id)
        except NotFound:
            named = [session for session in await self.journal.sessions() if session.label == session_id]
            if len(named) > 1:
                ids = ", ".join(each.id for each in named)
                raise NotFound(f"{len(named)} sessions are named {session_id[:80]!r}; give an id: {ids}") from None
            if not named:
                raise
            return named[0]

    async def load(self, session_id: str) -> LiveSession:
        """Load a session by id or label, once no operation on the whole session is running. ``NotFound``."""
        session = await self.find(session_id)
        await self.locks.opened(session.id)
        return await self.live.get(session.id)

    @asynccontextmanager
    async def writing(self, session_id: str) -> AsyncIterator[LiveSession]:
        """Hold the write lock of a session, by id or label, and load the session. ``NotFound``."""
        session = await self.find(session_id)
        async with self.locks.writing(session.id):
            live = await self.live.get(session.id)
            with live.writing():
                yield live


# -- names of turns and timelines ------------------------------------------------------------------------------

_DIGITS = 10


def turn_named(live: LiveSession, given: str | None) -> str:
    """Return the turn with this id, the active path's turn of this number, or the head of the timeline with this name.

    A number never means a timeline. None means the active head. Raises ``NotFound``, and the message lists the valid
    turns.
    """
    if given is None:
        return live.head
    if given in live.tree:
        return given
    depth, name = live.tree.get(live.head).depth, clean_name(given)
    if not is_number(name) and name in live.timelines:
        return live.timelines[name].head
    if given.isascii() and given.isdecimal() and len(given) < _DIGITS and int(given) <= depth:
        return live.tree.path(live.head)[int(given)].id
    named = f"; its timelines are {', '.join(sorted(live.timelines))}" if live.timelines else ""
    raise NotFound(
        f"session {live.session.id} has no turn and no timeline {given!r}; the turns of its active path are"
        f" 0 to {depth}, its last is {live.head}{named}; give a turn's number or id for a path without a name"
    )


def is_number(name: str) -> bool:
    """Whether a name reads as a whole number, in digits of any script."""
    return name.lstrip("+-−").isdecimal()


def timeline_named(live: LiveSession, name: str) -> Timeline:
    """Return the timeline with this name. Raises ``NotFound``."""
    found = live.timelines.get(clean_name(name))
    if found is None:
        raise NotFound(f"session {live.session.id} has no timeline {name!r}")
    return found
