"""Records the stories of chats in the journal, each as a new session or as more turns of an existing one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence

from attrs import evolve, frozen

from saga_core import codec
from saga_core.errors import StoreError
from saga_core.extraction import the_player
from saga_core.imports import ROOT, Story, StoryLine
from saga_core.journal import AT_ONCE, TurnEntry, keys, make_root, write_turns
from saga_core.language import clean_name
from saga_core.maintenance.tools import Tools
from saga_core.maintenance.transfer import SessionFile, import_session
from saga_core.model import (
    SCENE,
    Delta,
    ReportStatus,
    Session,
    Source,
    Timeline,
    Tree,
    Turn,
    TurnKind,
    TurnNode,
    WorldState,
    deltas,
    fold,
    node_of,
)
from saga_core.projection import render_episode
from saga_core.sessions import LiveSession
from saga_core.stores import Batch, Key
from saga_core.trackers import AUTO, guessed_profile, trackers_of
from saga_core.transcript import Transcript, Utterance, identity_key, opening_key
from saga_core.world import World, opening_state

_SEARCHED = 8
"""Replies at each end of a story by which it is looked up."""
_UNREPORTED = Delta(status=ReportStatus.FALLBACK)


@frozen
class StoryPlace:
    """The session that holds a story, in whole or in part."""

    session: str
    known: dict[int, str]
    """Index of a turn in the story to the id of the recorded turn, the root included."""


async def find_story(tools: Tools, story: Story, owner: str) -> StoryPlace | None:
    """Find the session of ``owner`` that has most of the story's turns; None if no session has any."""
    keys = [turn.reply_key for turn in (*story.turns[:_SEARCHED], *story.turns[-_SEARCHED:])]
    sessions: set[str] = set()
    for key in dict.fromkeys(keys):
        sessions |= {session for session, _ in await tools.journal.replies(owner, key)}
    best: StoryPlace | None = None
    for session in sorted(sessions):
        place = StoryPlace(session, _known(await tools.live.tree(session), story))
        if len(place.known) > (len(best.known) if best is not None else 1):
            best = place
    return best


def _known(tree: Tree, story: Story) -> dict[int, str]:
    greeting = _greeting(story)
    if tree.get(tree.root).reply_key != (identity_key(greeting) if greeting else ""):
        return {}
    found = {ROOT: tree.root}
    below: dict[str, dict[tuple[str, str], str]] = {}
    for number, turn in enumerate(story.turns):
        parent = found.get(turn.parent)
        if parent is None:
            continue
        if parent not in below:
            nodes = [tree.get(child) for child in tree.children.get(parent, ())]
            below[parent] = {(node.user_key, node.reply_key): node.id for node in nodes}
        child = below[parent].get((turn.user_key, turn.reply_key))
        if child is not None:
            found[number] = child
    return found


def _greeting(story: Story) -> str:
    return "\n\n".join(story.greeting)


async def add_story(tools: Tools, story: Story, owner: str, world: World, label: str) -> Session:
    """Record the story as a new session with the name ``label``. It becomes visible as a whole or not at all.

    Raises ``Conflict`` if the name has been taken meanwhile, and ``StoreError``.
    """
    now = tools.clock.now()
    root = make_root(tools.ids.new("s"), tools.ids.new("t"), now, _greeting(story))
    tree = Tree(root.session)
    root_node = node_of(root, user_key="", reply_key=identity_key(root.reply) if root.reply else "", episode="")
    tree.add(root_node)
    entries = await _entries(tools, story, {ROOT: root.id}, tree, opening_state(world, root.id), world, now)
    ids = {ROOT: root.id} | {number: entry.turn.id for number, entry in entries.items()}
    player = next((turn.player for turn in story.turns if turn.player), "")
    title = " · ".join(each for each in (clean_name(story.character)[:80], player) if each)
    head = ids[story.head]
    session = Session(root.session, root.id, owner, label, world.name, world.digest, now, head, title=title)
    file = SessionFile(session, world)
    file.turns = [(root, root_node), *((entry.turn, tree.get(entry.turn.id)) for entry in entries.values())]
    changes = [*_told(tools, story, entries), *_profile(tools, root.id, world)]
    file.beside = [(("amend", turn, delta.id), delta) for turn, delta in changes]
    file.timelines = [_timeline(line, ids, now) for line in story.branches]
    openings = {_opening(story, line): ids[_first(story, line.head)] for line in reversed(story.lines)}
    file.openings = list(openings.items())
    return await import_session(tools, file, named=True)


async def grow_story(tools: Tools, story: Story, place: StoryPlace) -> int:
    """Add the turns of the story that a session lacks, either all or none, and return their number.

    Raises ``StoreError``.
    """
    async with tools.supervisor.locks.writing(place.session):
        live = await tools.live.get(place.session)
        known = _known(live.tree, story)
        now = tools.clock.now()
        root_state = await live.state(live.tree.root)
        ends = [known[turn.parent] for at, turn in enumerate(story.turns) if at not in known and turn.parent in known]
        states = {turn: await live.state(turn) for turn in ends}
        children = {turn: [*below] for turn, below in live.tree.children.items()}
        tree = Tree(live.tree.session, live.tree.root, dict(live.tree.nodes), children)
        entries = await _entries(tools, story, known, tree, root_state, live.world, now, states)
        ids = known | {number: entry.turn.id for number, entry in entries.items()}
        timelines = [
            _timeline(line, ids, now)
            for line in story.branches
            if line.name not in live.timelines or line.head in entries
        ]
        if not entries and not timelines:
            return 0
        head = ids[story.head] if story.head in entries else ""
        told = {
            keys.amendment(place.session, turn, delta.id): codec.encode(delta)
            for turn, delta in _told(tools, story, entries)
        }
        try:
            if len(entries) + len(timelines) + len(told) <= AT_ONCE:
                await tools.journal.append(
                    live.session, list(entries.values()), head=head, timelines=timelines, beside=Batch(told)
                )
            else:
                session = evolve(live.session, head=head or live.session.head)
                await _append_in_parts(tools, live, tree, entries, session, timelines, told)
        finally:
            tools.live.forget(place.session)
    tools.counters.add("turns.imported", len(entries))
    tools.directory.render(place.session, [entry.turn.id for entry in entries.values()])
    return len(entries)


async def _append_in_parts(
    tools: Tools,
    live: LiveSession,
    tree: Tree,
    entries: dict[int, TurnEntry],
    session: Session,
    timelines: Sequence[Timeline],
    told: Mapping[Key, bytes],
) -> None:
    turns = [(entry.turn, tree.get(entry.turn.id)) for entry in entries.values()]
    if entries:
        first, last = turns[0][0].id, turns[-1][0].id
        if between := next((turn for turn in live.tree.nodes if first <= turn <= last), None):
            raise StoreError(
                f"session {session.id}: turn {between} has an id between those that the file's turns would get; "
                "nothing was written; import the file again"
            )
    more = {keys.timeline(session.id, each.name): codec.encode(each) for each in timelines}
    await write_turns(tools.stores.state, session, turns, beside=told, more=more)


async def _entries(
    tools: Tools,
    story: Story,
    known: dict[int, str],
    tree: Tree,
    root_state: WorldState,
    world: World,
    now: float,
    states: dict[str, WorldState] | None = None,
) -> dict[int, TurnEntry]:
    """Make the turns of the story that are not ``known``, and add them to ``tree``. Returns them by their index."""
    found: dict[int, TurnEntry] = {}
    ids = dict(known)
    at_hand = {tree.root: root_state, **(states or {})}
    for number, turn in enumerate(story.turns):
        if number % AT_ONCE == 0:
            await asyncio.sleep(0)  # let other tasks run in between
        if number in known:
            continue
        parent = ids[turn.parent]
        above = tree.get(parent)
        made = Turn(
            tools.ids.new("t"),
            tree.session,
            parent,
            above.depth + 1,
            turn.at or now,
            user=turn.user,
            reply=turn.reply,
            delta=evolve(_UNREPORTED, events=the_player(at_hand[parent], turn.player)),
            kind=TurnKind.IMPORTED,
            jump=tree.jump_for(parent),
        )
        state = fold(at_hand[parent], made.delta, turn=made.id, depth=made.depth)
        episode = render_episode(made.delta, state, made.user, made.reply, world.language)
        node: TurnNode = node_of(made, user_key=turn.user_key, reply_key=turn.reply_key, episode=episode, present=None)
        tree.add(node)
        ids[number], at_hand[made.id] = made.id, state
        found[number] = TurnEntry(made, turn.user_key, episode, reply_key=turn.reply_key)
    return found


def _told(tools: Tools, story: Story, entries: Mapping[int, TurnEntry]) -> Iterable[tuple[str, Delta]]:
    """The file's summaries of new turns as later deltas, because an extraction does not replace those."""
    for number, parts in story.parts.items():
        if number in entries:
            for part in parts:
                event = deltas.StoryTold(SCENE, part.first, part.last, part.text)
                yield entries[number].turn.id, Delta((event,), Source.CURATION, id=tools.ids.new("a"))


def _profile(tools: Tools, root: str, world: World) -> Iterable[tuple[str, Delta]]:
    """What sort of story it is, if the configuration leaves it to the card and the card speaks clearly of one."""
    free = tools.settings.config.profile == AUTO and world.counts_nothing
    profile = guessed_profile(world.card) if free else ""
    if profile:
        event = deltas.ProfileChosen(profile, trackers_of(profile, world.language))
        yield root, Delta((event,), Source.EDIT, id=tools.ids.new("a"))


def _timeline(line: StoryLine, ids: dict[int, str], now: float) -> Timeline:
    return Timeline(line.name, ids[line.fork], ids[line.head], line.at or now)


def _opening(story: Story, line: StoryLine) -> str:
    said = [Utterance("assistant", text, 0) for text in story.greeting]
    said += [Utterance("user", text, 0) for text in line.first]
    return opening_key(Transcript(({"role": "user", "content": ""},), tuple(said)))


def _first(story: Story, head: int) -> int:
    """The first turn of the path to ``head``."""
    at = head
    while story.turns[at].parent != ROOT:
        at = story.turns[at].parent
    return at
