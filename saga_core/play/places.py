"""Finds the session and turn that a request continues. Begins sessions, and adopts turns that the journal lacks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from attrs import define, evolve, field, frozen

from saga_core.background import SessionLocks
from saga_core.config import Settings
from saga_core.counters import Counters
from saga_core.errors import NotFound
from saga_core.ids import IdSource
from saga_core.journal import Journal
from saga_core.log_context import set_log_context
from saga_core.model import Delta, Session, TurnKind
from saga_core.play.adoption import adopt
from saga_core.play.asked import Asked
from saga_core.play.open_calls import OpenCalls
from saga_core.play.server_history import is_thin
from saga_core.ports import Clock
from saga_core.sessions import LiveSession, LiveSessions, SessionDirectory, timeline_named
from saga_core.transcript import Located, Match, Matcher, Transcript, UsualNotes, locate, words_key


@frozen(kw_only=True)
class Place:
    """The place of a request in a session's tree, and the kind of the request."""

    live: LiveSession
    parent: str
    """The turn that the request continues."""
    transcript: Transcript
    """The request's messages, as they were understood."""
    shown: frozenset[str]
    """Turns of the path that are in the request's history."""
    kind: TurnKind
    timeline: str = ""
    """The named timeline that the request chose."""
    adopted: tuple[str, ...] = ()
    """Turns that were adopted from the request's history just now."""


@define(eq=False, kw_only=True)
class Places:
    """Finds the places of requests."""

    settings: Settings
    directory: SessionDirectory
    live: LiveSessions
    journal: Journal
    locks: SessionLocks
    matcher: Matcher
    ids: IdSource
    clock: Clock
    counters: Counters
    open_calls: OpenCalls
    usual: UsualNotes = field(factory=UsualNotes)
    keyed: Callable[[], bool] = lambda: False
    """Whether there are API keys besides those of the settings."""
    own: Callable[[str], Awaitable[bool]] | None = None
    """Makes this server the writer of a session, if several share the journal. Returns whether others wrote the session
    meanwhile. Raises ``OwnedElsewhere``."""

    async def find(self, asked: Asked) -> Place | None:
        """Find the place of a request; None for a side request that shows nothing of a known story.

        If no session is known, one is begun. Turns that the history proves and the journal lacks are recorded. Raises
        the same errors as ``Saga.begin``.
        """
        only, timeline = None, ""
        if asked.session:
            only, timeline = await self.directory.named(asked.session, asked.owner, asked.world.get)
        found = await self._locate(asked, only)
        found = self.usual.told(found)
        if asked.aside:
            found = evolve(found, kind=TurnKind.SIDE)
        self.counters.add(f"begun.{found.kind.value}")
        if found.outside:
            return None
        transcript, match = found.transcript, found.match
        if asked.world.explicit is not None and only is None and match.session is not None:
            known = await self.journal.session(match.session)
            if known.world != (await asked.world.get()).name:
                match = Match(None, unknown=transcript.past[len(transcript.greeting) :])
        if match.session is None and transcript.calls:
            match = await self._called(match, transcript, asked.owner)
        if timeline:
            match = await self._entered(match, timeline, transcript)
        elif only is not None and self.settings.config.session.server_history and is_thin(transcript):
            match = Match(only.id, (await self.live.get(only.id)).head, how="session")
        live = await self._session(found if match is found.match else evolve(found, match=match), asked)
        self.usual.take(live.session.id, found)
        set_log_context(session=live.session.id)
        asked.lap("match")
        place = Place(
            live=live,
            parent=match.parent or live.tree.root,
            transcript=transcript,
            shown=match.shown,
            kind=found.kind,
            timeline=timeline,
        )
        return await self._adopt(place, match) if match.unknown else place

    async def _called(self, match: Match, transcript: Transcript, owner: str) -> Match:
        """``match``, completed for a request with the results of tool calls in a session without recorded turns."""
        known = self.open_calls.session(transcript.calls)
        if not known:
            return match
        try:
            session = await self.journal.session(known)
        except NotFound:  # deleted since
            return match
        return evolve(match, session=session.id, parent=session.root) if session.owner == owner else match

    async def _locate(self, asked: Asked, only: Session | None) -> Located:
        """The place that the history proves, in a session that this server may write."""
        while True:
            found = await self._nearest(asked, only)
            named = only.id if only is not None else None
            session = named if found.match.session is None else found.match.session
            if self.own is None or session is None or found.outside or not await self.own(session):
                return found  # otherwise others wrote the session meanwhile: look again

    async def _nearest(self, asked: Asked, only: Session | None) -> Located:
        """The place among the sessions of the request's owner, or in an imported chat without an owner.

        A player may import chats before SAGA has seen the key that the frontend will send. If keys are configured,
        every chat belongs to one.
        """
        transcript, world = asked.transcript, asked.world.name
        found = await locate(self.matcher, transcript, owner=asked.owner, only=only, world=world)
        keyed = self.settings.config.server.api_keys or self.keyed()
        if not found.match.unknown or only is not None or not asked.owner or keyed:
            return found
        other = await locate(self.matcher, transcript, owner="", only=None, world=world)
        session, parent = other.match.session, other.match.parent
        if session is None or len(other.match.unknown) >= len(found.match.unknown):
            return found
        tree = (await self.live.get(session)).tree
        if tree.get(parent).depth == 0 or tree.ancestor_at(parent, 1).kind is not TurnKind.IMPORTED:
            return found
        return other

    async def _session(self, found: Located, asked: Asked) -> LiveSession:
        """The session that was found, or a new one."""
        match = found.match
        if match.session is not None:
            await self.locks.opened(match.session)
            live = await self.live.get(match.session)
            live.tree.get(match.parent)  # it may have been pruned meanwhile
            live.touched = self.clock.now()
            return live
        greeting = "\n\n".join(utterance.text for utterance in found.transcript.greeting)
        return await self.directory.begin(await asked.world.get(), owner=asked.owner, greeting=greeting)

    async def _entered(self, match: Match, timeline: str, transcript: Transcript) -> Match:
        """``match``, for a request that names a timeline: at its head, unless the history proves another place.

        If the player's words are those of the head, the request asks for another reply to them.
        """
        if match.how != "session" or match.session is None:
            return match
        live = await self.live.get(match.session)
        known = timeline_named(live, timeline)
        head = live.tree.get(known.head)
        if head.id != known.fork and head.parent is not None and head.user_key == words_key(transcript.words):
            return evolve(match, parent=head.parent)
        return evolve(match, parent=head.id)

    async def _adopt(self, place: Place, match: Match) -> Place:
        """Record the turns that the history proves and the journal lacks, and return the place after them."""
        session = place.live.session.id
        async with self.locks.writing(session):
            live = await self.live.get(session)
            live.tree.get(place.parent)
            known = await self._changes(match)
            try:
                parent, adopted = await adopt(
                    live,
                    place.parent,
                    match.unknown,
                    self.ids,
                    self.clock.now(),
                    live.world.language,
                    place.timeline,
                    known,
                )
            except BaseException:  # also on cancellation: what was recorded so far is read from the journal
                self.live.forget(session)
                raise
        self.counters.add("turns.adopted", len(adopted))
        return evolve(place, live=live, parent=parent, shown=place.shown | frozenset(adopted), adopted=tuple(adopted))

    async def _changes(self, match: Match) -> dict[str, Delta]:
        """The deltas of the turns in the other session of ``match``, by the keys of their replies."""
        if match.joined is None:
            return {}
        session, turn = match.joined
        live = await self.live.get(session)
        nodes = [node for node in live.tree.upwards(turn) if node.parent is not None]
        turns = await self.journal.turns(session, [node.id for node in nodes])
        return {node.reply_key: live.effective(turn) for node, turn in zip(nodes, turns, strict=True)}
