"""Finds the session and turn that a request continues. Begins sessions, and adopts turns that the journal lacks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

from attrs import define, evolve, field
from cachetools import LRUCache

from saga_core.background import SessionLocks
from saga_core.config import Settings
from saga_core.counters import Counters, set_log_context
from saga_core.errors import NotFound, StoreError
from saga_core.extraction import still_told
from saga_core.hosting import Admission, WriteRights
from saga_core.ids import IdSource
from saga_core.journal import Journal, TurnEntry
from saga_core.language import clean_name, detect, language_of
from saga_core.model import (
    Delta,
    Event,
    ReportStatus,
    Session,
    Timeline,
    Tree,
    Turn,
    TurnKind,
    TurnNode,
    WorldState,
    deltas,
    fold,
    follow,
    node_of,
)
from saga_core.naming import Names
from saga_core.play.prompting import is_thin
from saga_core.play.request import Place, Request
from saga_core.ports import Clock
from saga_core.projection import render_episode, witnesses
from saga_core.sessions import (
    PERSONAL,
    LiveSession,
    LiveSessions,
    NewSession,
    SessionDirectory,
    timeline_named,
    turn_named,
)
from saga_core.state_block import thinks_only
from saga_core.trackers import DAY
from saga_core.transcript import (
    SHORT,
    Edit,
    Located,
    Match,
    Matcher,
    Transcript,
    UsualNotes,
    Utterance,
    identity,
    identity_key,
    likeness,
    locate,
    words_key,
)
from saga_core.world import EMPTY_WORLD, World, WorldLibrary

# -- chats with pending tool calls -----------------------------------------------------------------------------

_CALLS = 4_096


@define
class OpenCalls:
    """The sessions of calls, by call id, in memory only. After a restart, such a chat is found by its first words."""

    _sessions: LRUCache[str, str] = field(factory=lambda: LRUCache(_CALLS))

    def keep(self, session: str, calls: Iterable[str]) -> None:
        """Note the calls of a reply in ``session``. Empty ids are skipped."""
        self._sessions.update((call, session) for call in calls if call)

    def session(self, calls: Iterable[str]) -> str:
        """The session in which one of ``calls`` was made; empty if none is known."""
        return next((self._sessions[call] for call in calls if call in self._sessions), "")


# -- adoption --------------------------------------------------------------------------------------------------
#
# Adoption: adds the turns to the tree that a history proves and the journal lacks.
#
# An edited, cut or extended reply becomes a sibling of the original. With a small difference it keeps the delta. With a
# large one its changes count as unreported.

_SIBLINGS = 32
_SEARCHED = 1_024
"""Turns below a known one that are searched for an edited reply, if the turns in between are hidden."""
_SEARCHES = 128
"""Searches behind hidden turns for one history. One takes up to 12 ms. A history needs one search for each place where
turns are hidden before an edited reply; a history that has nothing in common with the recorded one would need one for
each of its turns."""
_AT_ONCE = 32
"""Turns that are adopted before other tasks get a chance to run."""
_COMMITTED = 64
"""Approximate number of turns that are recorded in one commit."""

_Made = tuple[TurnEntry, TurnNode, WorldState]


def pairs(unknown: Sequence[Utterance]) -> list[tuple[list[Utterance], Utterance]]:
    """The player's words and the reply to them, for each reply. Words without a reply are left out.

    A reply that was stopped while the model was still thinking is left out too, because it has no text of the story.
    """
    found: list[tuple[list[Utterance], Utterance]] = []
    words: list[Utterance] = []
    for utterance in unknown:
        if utterance.role == "user":
            words.append(utterance)
        else:
            if not thinks_only(utterance.text):
                found.append((words, utterance))
            words = []
    return found


async def adopt(
    live: LiveSession,
    parent: str,
    unknown: Sequence[Utterance],
    ids: IdSource,
    at: float,
    language: str,
    timeline: str = "",
    known: Mapping[str, Delta] | None = None,
) -> tuple[str, list[str]]:
    """Record the turns of ``unknown`` below ``parent``. ``timeline`` is the one that the request named. ``known`` has
    the deltas of some of the turns, by the keys of their replies.

    Returns the turn that the history ends with (``parent`` if there is none) and the new turns. A turn that exists
    with the same texts is used as it is. A long history is recorded in several commits, from its beginning on, and its
    episodes are indexed with its views. ``live`` has a turn once it is committed, because other tasks fold the turns
    that ``live`` has, and read them from the journal.
    """
    made: list[_Made] = []
    # The nodes of ``live`` and those that are not committed yet. None of the latter is looked up as a child.
    tree = Tree(live.session.id, live.tree.root, dict(live.tree.nodes))
    state: WorldState | None = None
    fresh: list[str] = []
    twins: list[str] = []
    told_above = True
    searches = _SEARCHES
    moved: dict[str, Timeline] = {}
    told = pairs(unknown)
    for number, (words, reply) in enumerate(told):
        if number and number % _AT_ONCE == 0:
            if len(made) >= _COMMITTED:
                fresh += await _append(live, made, parent, moved)
            await asyncio.sleep(0)
        user_key = words_key(words)
        # If the previous turn was edited too, the old children are below its twin, the turn before the edit.
        children = [child for each in (parent, *twins) for child in live.tree.children.get(each, ())]
        # The player's words may be edited as well: siblings with the same words come first, but others may match too.
        siblings = sorted(
            (live.tree.get(child) for child in children[-_SIBLINGS:]), key=lambda node: node.user_key != user_key
        )
        key = identity_key(reply.text)
        same = [node for node in siblings if (node.reply_key, node.user_key, node.parent) == (key, user_key, parent)]
        if same:
            parent, twins, told_above = same[-1].id, [], True
            continue
        nearest = [node.id for node in siblings]
        hidden: list[str] = []
        answered = any(node.user_key == user_key for node in siblings)
        if children and searches and (told_above or not answered):
            searches -= 1
            # Below a reply that was rewritten, only the same words show that a turn continues the old story.
            only_same = answered or not told_above
            hidden = _behind_hidden(live.tree, (parent, *twins), user_key, reply.text, same_words=only_same)
            hidden = hidden[: _SIBLINGS - len(nearest)]
        twin = await _twin(live, nearest, hidden, reply.text)
        if twin is not None and twin.id in hidden and live.tree.is_ancestor(parent, twin.id):
            # The turns in between are hidden, but are part of the story.
            parent = twin.parent or parent
        told_above, twins = twin is not None, [twin.id] if twin is not None else nearest
        before = state if state is not None and state.turn == parent else await live.state(parent)
        if twin is not None:
            delta = live.effective(twin)
            after = fold(before, delta, turn=twin.id, depth=twin.depth)
            last = not live.tree.children.get(twin.id)
            delta = still_told(delta, twin.reply, reply.text, after, last=last)
        elif known and key in known:
            delta = _fitted(known[key], before)
        else:  # nobody reported what the new text changed
            delta = Delta(status=ReportStatus.FALLBACK)
        above = tree.get(parent)
        turn = Turn(
            ids.new("t"),
            live.session.id,
            parent,
            above.depth + 1,
            at,
            user="\n".join(utterance.text for utterance in words),
            reply=reply.text,
            delta=delta,
            kind=TurnKind.ADOPTED,
            jump=tree.jump_for(parent),
            speaker=clean_name(reply.speaker),
        )
        state = fold(before, delta, turn=turn.id, depth=turn.depth)
        episode = render_episode(delta, state, turn.user, turn.reply, language)
        present = witnesses(above, before, state)
        node = node_of(turn, user_key=user_key, reply_key=key, episode=episode, present=present)
        tree.add(node)
        moved.update((each.name, each) for each in follow(tree, {**live.timelines, **moved}.values(), node, timeline))
        made.append((TurnEntry(turn, user_key, episode, present), node, state))
        parent = turn.id
    return parent, fresh + await _append(live, made, parent, moved)


def _fitted(delta: Delta, state: WorldState) -> Delta:
    """What a turn of another session changed, for the story that it joins, with ``state`` before it.

    Who is known there under the same name is one person, and a clock that had only begun goes on: by days as long as
    it is the first one, which an hour alone means, and by weeks behind that.
    """
    events: list[Event] = []
    names = Names(state)
    for event in delta.events:
        if isinstance(event, deltas.TrackerSet) and state.clock is not None and event.tracker == state.clock.name:
            behind = (state.minutes or 0) - event.value if isinstance(event.value, int) else 0
            if isinstance(event.value, int) and behind > 0:
                step = DAY if event.value < DAY else 7 * DAY
                event = evolve(event, value=event.value + -(-behind // step) * step)
        events.append(event)
        if isinstance(event, deltas.Introduced) and event.id not in state.entities:
            found = names.find(event.kind, event.name)
            if found is not None:
                events.append(deltas.Merged(event.id, found))
    return evolve(delta, events=tuple(events))


async def _append(live: LiveSession, made: list[_Made], head: str, moved: dict[str, Timeline]) -> list[str]:
    """Record the turns ``made``, empty the list, and return the recorded turns."""
    if not made:
        return []
    entries = [entry for entry, *_ in made]
    live.session = await live.journal.append(live.session, entries, head=head, timelines=moved.values())
    live.timelines.update(moved)
    for entry, node, state in made:
        live.record(entry.turn, node, state)
    made.clear()
    return [entry.turn.id for entry in entries]


def _behind_hidden(tree: Tree, tops: Sequence[str], user_key: str, text: str, *, same_words: bool) -> list[str]:
    """The turns further below ``tops`` that ``text`` may be an edit of: those with the same words first, then by
    distance. For a short text, or with ``same_words``, only turns with the same words are returned."""
    same: list[str] = []
    others: list[str] = []
    level = [child for top in tops for child in tree.children.get(top, ())]
    left = _SEARCHED
    while level and left > 0:
        level = [child for each in level for child in tree.children.get(each, ())][:left]
        left -= len(level)
        for each in level:
            (same if tree.get(each).user_key == user_key else others).append(each)
    return same if same_words or len(identity(text)) < SHORT else same + others


async def _twin(live: LiveSession, siblings: Sequence[str], hidden: Sequence[str], text: str) -> Turn | None:
    """Find the turn whose reply ``text`` is, with small changes or more text around it; None if there is none.

    The turn is one of ``siblings`` or of ``hidden``.
    """
    best, score = None, (0.0, 0)
    now = identity(text)
    for turn in await live.journal.turns(live.session.id, [*siblings, *hidden]):
        known = identity(turn.reply)
        grown = known != "" and (now.startswith(known) or now.endswith(known))
        # An edit of a continued reply is an edit of the whole, though it contains the first part unchanged.
        alike = likeness(turn.reply, text)
        if (grown or alike) and (alike, len(known)) > score:
            best, score = turn, (alike, len(known))
    return best


# -- places ----------------------------------------------------------------------------------------------------

_HEARD = 8
"""Last messages of a chat without a world from which its language is detected."""


@define
class WorldChoice:
    """The world for a new session. Its files are read only if needed, because a known session has its own world."""

    worlds: WorldLibrary
    explicit: str | None
    transcript: Transcript
    default: str | None
    _world: World | None = field(default=None, init=False)

    async def get(self) -> World:
        """The explicit world, or the one that the system prompt names, or the default. Raises as ``choose`` does.

        The empty world gets the language of the chat.
        """
        if self._world is None:
            chosen = await self.worlds.chosen(self.explicit, self.transcript.system_text, self.default)
            self._world = evolve(chosen, language=self._language(chosen)) if chosen == EMPTY_WORLD else chosen
        return self._world

    async def name(self) -> str:
        """The world's name. Raises as ``get`` does."""
        return (await self.get()).name

    def _language(self, world: World) -> str:
        last = "\n".join(utterance.text for utterance in self.transcript.utterances[-_HEARD:])
        return language_of(detect(last, detect(self.transcript.system_text, world.language))).tag


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
    room: Callable[[], Awaitable[None]]
    """Awaited before a session begins, for as long as there is too much work."""
    edited: Callable[[str, Sequence[Edit]], None]
    """Told of the texts of known turns that a history shows otherwise than they were recorded."""
    usual: UsualNotes = field(factory=UsualNotes)
    rights: WriteRights | None = None
    """Decides which sessions this engine writes, if several programs share the journal."""
    admission: Admission | None = None
    """Admits sessions; None if every session is."""

    async def find(self, request: Request, transcript: Transcript, world: WorldChoice, new: NewSession) -> Place | None:
        """Find the place of a request; None for a side request that shows nothing of a known story.

        If no session is known, ``new`` begins. Turns that the history proves and the journal lacks are recorded. Raises
        the same errors as ``Saga.begin``.
        """
        only, timeline = None, ""
        origin = ""
        if request.continued:
            only, origin = await self._continued(request.continued, request.owner)
        elif request.session:
            only, timeline = await self.directory.named(
                request.session, request.owner, world.get, request.kind or PERSONAL, new
            )
        located = self.usual.corrected(await self._locate(request, transcript, world, only))
        if request.aside:
            located = evolve(located, kind=TurnKind.SIDE)
        self.counters.add(f"begun.{located.kind.value}")
        if located.outside:
            return None
        transcript, match = located.transcript, located.match
        if world.explicit is not None and only is None and match.session is not None:
            session = await self.journal.session(match.session)
            if session.world != (await world.get()).name:
                match = Match(None, unknown=transcript.past[len(transcript.greeting) :])
        if match.session is None and transcript.calls:
            match = await self._called(match, transcript, request.owner)
        if origin and only is not None:
            match = await self._going_on(match, only, origin, transcript)
        elif timeline:
            match = await self._entered(match, timeline, transcript)
        elif only is not None and self.settings.config.session.server_history and is_thin(transcript):
            match = Match(only.id, (await self.live.get(only.id)).head, how="session")
        live = await self._session(match, transcript, request, world, new)
        self.usual.learn(live.session.id, located)
        set_log_context(session=live.session.id)
        place = Place(
            live=live,
            parent=match.parent or live.tree.root,
            transcript=transcript,
            shown=match.shown,
            kind=located.kind,
            timeline=timeline,
        )
        if match.edits and place.kind is not TurnKind.SIDE:
            self.edited(live.session.id, match.edits)
        if match.unknown:
            place = await self._adopt(place, match)
        begun = self.directory.new.get(live.session.id)
        if begun is not None and begun is not new:
            begun.requests += 1
        return evolve(place, new=begun)

    async def unknown_messages(self, request: Request, transcript: Transcript, world: WorldChoice) -> int | None:
        """How many messages of the request's history are unknown here. None if it shows no turn narrated here.

        A request that names a session which is here has none.
        """
        for name in (request.session, request.continued):
            if name and await self.directory.holds(name, request.owner):
                return 0
        match = (await self._nearest(request.owner, transcript, world, None)).match
        if match.session is None:
            return None
        path = (await self.live.tree(match.session)).upwards(match.parent)
        narrated = any(node.kind not in (TurnKind.ROOT, TurnKind.ADOPTED) for node in path)
        return len(match.unknown) if narrated else None

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

    async def _locate(
        self, request: Request, transcript: Transcript, world: WorldChoice, only: Session | None
    ) -> Located:
        """The place that the history proves, in a session that this server may write."""
        while True:
            located = await self._nearest(request.owner, transcript, world, only)
            named = only.id if only is not None else None
            session = named if located.match.session is None else located.match.session
            if self.rights is None or session is None or located.outside or not await self.rights.own(session):
                return located  # otherwise others wrote the session meanwhile: look again

    async def _nearest(self, owner: str, transcript: Transcript, world: WorldChoice, only: Session | None) -> Located:
        """The place among the sessions of the request's owner, or in an imported chat without an owner.

        A player may import chats before SAGA has seen the key that the frontend will send. If keys are configured,
        every chat belongs to one.
        """
        own = await locate(self.matcher, transcript, owner=owner, only=only, world=world.name)
        keyed = self.settings.config.server.api_keys or (self.admission is not None and self.admission.keyed)
        if not own.match.unknown or only is not None or not owner or keyed:
            return own
        other = await locate(self.matcher, transcript, owner="", only=None, world=world.name)
        session, parent = other.match.session, other.match.parent
        if session is None or len(other.match.unknown) >= len(own.match.unknown):
            return own
        tree = (await self.live.get(session)).tree
        if tree.get(parent).depth == 0 or tree.ancestor_at(parent, 1).kind is not TurnKind.IMPORTED:
            return own
        return other

    async def _session(
        self, match: Match, transcript: Transcript, request: Request, world: WorldChoice, new: NewSession
    ) -> LiveSession:
        """The session of ``match``, or else ``new``."""
        if match.session is not None:
            await self.locks.opened(match.session)
            live = await self.live.get(match.session)
            live.tree.get(match.parent)  # it may have been pruned meanwhile
            live.touched = self.clock.now()
            return live
        await self.room()
        greeting = "\n\n".join(utterance.text for utterance in transcript.greeting)
        kind = request.kind or PERSONAL
        return await self.directory.begin(await world.get(), owner=request.owner, greeting=greeting, kind=kind, new=new)

    async def _continued(self, named: str, owner: str) -> tuple[Session, str]:
        """The session and the turn that a new chat goes on from. Raises ``NotFound``."""
        label, _, turn = (part.strip() for part in named.rpartition("@"))
        if label:
            try:
                session = await self.directory.find(label, owner)
            except NotFound:
                pass  # the session's own name has an @
            else:
                return session, turn_named(await self.live.get(session.id), turn)
        session = await self.directory.find(named, owner)
        return session, (await self.live.get(session.id)).head

    async def _going_on(self, match: Match, session: Session, origin: str, transcript: Transcript) -> Match:
        """``match``, for a new chat that goes on from the turn ``origin``, unless its history proves another place.

        The chat's greeting proves nothing. If the player's words are those of ``origin``, which is the session's head,
        the request asks for another reply to them.
        """
        said = transcript.past[len(transcript.greeting) :]
        if match.how not in ("session", "opening") and any(each.role == "assistant" for each in said):
            return match
        tree = (await self.live.get(session.id)).tree
        node = tree.get(origin)
        if node.user_key == words_key(transcript.words) and node.parent is not None and node.user_key:
            origin = node.parent
        return Match(session.id, origin, said, how="session")

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
        """Record the turns that the history proves and the journal lacks, and return the place after them.

        If they cannot be written, the place before them is returned. Its turn has the memory of what was recorded.
        """
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
            except BaseException as error:  # also on cancellation: what was recorded so far is read from the journal
                self.live.forget(session)
                if not isinstance(error, StoreError):
                    raise
                return evolve(place, live=await self.live.get(session), unadopted=error)
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
