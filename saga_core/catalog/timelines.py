"""Timelines: fork, name, compare and prune paths of a session's tree, and show it as unbranched runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import asdict, define, evolve, field, frozen

from saga_core.arguments import checks_arguments
from saga_core.catalog.lines import effect
from saga_core.catalog.sessions import LettingGo, Sessions
from saga_core.context import RecentContexts
from saga_core.counters import Counters
from saga_core.errors import BadInput, Conflict
from saga_core.ids import is_turn_id
from saga_core.journal import Journal, Ledger, Removal, keys
from saga_core.language import clean_name, known, language_of, primary
from saga_core.model import Timeline, WorldState
from saga_core.ports import Clock
from saga_core.projection import Difference, compare_states, difference_words
from saga_core.sessions import (
    LiveSession,
    LiveSessions,
    SessionDirectory,
    is_number,
    parts_with,
    timeline_named,
    turn_named,
)
from saga_core.views import Projector

_RUN_EXCERPT = 100
_WITH_WORDS = 200


async def runs_of(live: LiveSession) -> dict[str, Any]:
    """Return the tree as runs, from the root, parents before children. JSON-able.

    A run is a sequence of turns without a branch. Swiped replies do not end a run: a turn without successors, next to a
    sibling that is continued, is counted in ``swipes``. Each run has the ids of its ``first`` and ``last`` turn and
    their depths, the run that it branches off from (``parent``), whether it is on the ``active`` path, the named
    timelines that end in it, whether it contains the latest turn (``head``), the beginnings of the texts at its two
    ends, and by depth how many other replies stand ``beside`` its turns.
    """
    tree = live.tree
    named: dict[str, list[str]] = {}
    for timeline in live.timelines.values():
        named.setdefault(timeline.head, []).append(timeline.name)
    active = {node.id for node in tree.path(live.head)}
    kept = {live.head, *named, *(timeline.fork for timeline in live.timelines.values())}
    found: list[dict[str, Any]] = []
    open_runs: list[tuple[str, str | None]] = [(tree.root, None)]
    while open_runs:
        first, parent = open_runs.pop()
        last, turns, swipes, names, head = first, 1, 0, list(named.get(first, ())), first == live.head
        others = len(tree.children.get(tree.get(first).parent or "", ())) - 1
        beside = {tree.get(first).depth: others} if others > 0 else {}
        while True:
            kids = tree.children.get(last, [])
            lasting = [kid for kid in kids if tree.children.get(kid) or kid in kept] or kids[-1:]
            swipes += len(kids) - len(lasting)
            if len(lasting) != 1:
                break
            (last,) = lasting
            turns += 1
            if len(kids) > 1:
                beside[tree.get(last).depth] = len(kids) - 1
            names += named.get(last, ())
            head = head or last == live.head
        found.append(
            {
                "id": first,
                "parent": parent,
                "first": tree.get(first).depth,
                "last_id": last,
                "last": tree.get(last).depth,
                "turns": turns,
                "swipes": swipes,
                "beside": beside,
                "active": first in active,
                "head": head,
                "names": sorted(names),
                "updated": tree.get(last).at,
            }
        )
        open_runs += [(kid, first) for kid in sorted(lasting, key=lambda kid: kid in active)]  # the active one is next
    ends = list(dict.fromkeys(turn for run in found for turn in (run["id"], run["last_id"])))
    texts = {turn.id: turn for turn in await live.turns(ends)}
    for run in found:
        run["begins"] = (texts[run["id"]].user or texts[run["id"]].reply)[:_RUN_EXCERPT]
        run["ends"] = texts[run["last_id"]].reply[:_RUN_EXCERPT]
    return {"session": live.session.id, "root": tree.root, "head": live.head, "turns": len(tree), "runs": found}


async def turn_of(live: LiveSession, ledger: Ledger, turn_id: str) -> dict[str, Any]:
    """Return one turn: its texts, its changes, its cost, its sibling replies, and what removing it would remove."""
    tree = live.tree
    node = tree.get(turn_id)
    turn = await live.turn(turn_id)
    whole = live.effective(turn)
    before = await live.state(node.parent) if node.parent else WorldState()
    after = await live.state(node.id)
    beside = [kid for kid in tree.children.get(node.parent or "", ()) if kid != node.id]
    others = await live.turns(beside)
    active = tree.is_ancestor(node.id, live.head)
    below = [node.id]
    for each in below:
        below += tree.children.get(each, ())
    inside = frozenset(below)
    named = live.timelines.values()
    return {
        "session": live.session.id,
        "turn": node.depth,
        "turn_id": node.id,
        "parent": node.parent,
        "kind": node.kind.value,
        "at": turn.at,
        "user": turn.user,
        "reply": turn.reply,
        "model": turn.model,
        "finish": turn.finish,
        "by": whole.source.value,
        "status": whole.status.value,
        "problems": list(whole.problems),
        "effect": effect(before, after, live.world.language, whole.events) if node.parent else [],
        "bills": [asdict(bill) for bill in await ledger.of_turn(live.session.id, node.id)],
        "active": active,
        "head": node.id == live.head,
        "names": sorted(each.name for each in named if each.head == node.id),
        "beside": [
            {
                "turn_id": each.id,
                "reply": each.reply[:_RUN_EXCERPT],
                "at": each.at,
                "continued": bool(tree.children.get(each.id)),
            }
            for each in others
        ],
        "next": list(tree.children.get(node.id, ())),
        "below": {
            "turns": len(below),
            "forgotten": sorted(each.name for each in named if each.fork in inside),
            "shortened": sorted(each.name for each in named if each.head in inside and each.fork not in inside),
        },
    }


LONGEST_NAME = 200
_EXCERPT = 80


@frozen
class Side:
    """One of two compared turns."""

    name: str
    """The name of its timeline, or a description of the turn."""
    turn: str
    depth: int
    since: tuple[str, ...]
    """The turns after the common ancestor, by depth."""


@frozen
class Comparison:
    """Two turns of a session's tree and their differences."""

    session: str
    ancestor: str
    """The deepest turn on both paths."""
    depth: int
    """The depth of the ancestor."""
    one: Side
    other: Side
    differences: tuple[Difference, ...]
    language: str
    words: tuple[str, ...]
    """The differences in ``language``, one line each."""


@frozen
class Pruned:
    """The result of pruning."""

    turns: int
    forgotten: tuple[str, ...] = field(default=())
    """The named timelines that were forked inside the removed part. They were removed too."""
    shortened: tuple[str, ...] = field(default=())
    """The named timelines that were forked above it. They now end at the parent of the removed turn."""


@checks_arguments
@define(eq=False, kw_only=True)
class Timelines:
    """Operations on a session's tree."""

    sessions: Sessions
    directory: SessionDirectory
    live: LiveSessions
    journal: Journal
    projector: Projector
    letting_go: LettingGo
    contexts: RecentContexts
    clock: Clock
    counters: Counters

    async def list(self, session_id: str) -> Sequence[dict[str, Any]]:
        """Return the named timelines and the ends of all other paths, newest first.

        Each has ``name`` and ``fork`` (None without a name), ``head``, ``depth``, ``updated``, whether it is the
        ``active`` one, whether its views are currently rendered (``live``), and how its last reply begins (``ends``; of
        the first 200).
        """
        live = await self.directory.load(session_id)
        shown = await self.projector.shown(live.session.id)
        named = list(live.timelines.values())
        heads = {timeline.head for timeline in named}
        rows: list[tuple[str, str | None, str | None]] = [(each.head, each.name, each.fork) for each in named]
        rows += [(node.id, None, None) for node in live.tree.leaves() if node.id not in heads]
        rows.sort(key=lambda row: row[1] or "")
        rows.sort(key=lambda row: row[0], reverse=True)
        last = list(dict.fromkeys(head for head, _, _ in rows[:_WITH_WORDS]))
        ends = {turn.id: turn.reply[:_RUN_EXCERPT] for turn in await live.turns(last)}
        return [
            {
                "name": name,
                "fork": fork,
                "head": head,
                "depth": live.tree.get(head).depth,
                "updated": live.tree.get(head).at,
                "active": head == live.head,
                "live": head in shown,
                "ends": ends.get(head, ""),
            }
            for head, name, fork in rows
        ]

    async def runs(self, session_id: str) -> dict[str, Any]:
        """Return the tree as unbranched runs (see ``runs_of``). ``NotFound``."""
        return await runs_of(await self.directory.load(session_id))

    async def turn(self, session_id: str, turn: str) -> dict[str, Any]:
        """Return one turn with its details (see ``turn_of``), by id, timeline name or number. ``NotFound``."""
        live = await self.directory.load(session_id)
        return await turn_of(live, self.sessions.ledger, turn_named(live, turn))

    async def fork(self, session_id: str, turn: str | None, name: str) -> Timeline:
        """Create a named timeline at ``turn``: a turn's id, another timeline's name, or None for the active head.

        A request for ``session@name`` whose history matches no turn continues at its head. Raises ``NotFound``,
        ``BadInput`` for an invalid name, and ``Conflict`` if the name is taken.
        """
        name = _checked(name)
        async with self.directory.writing(session_id) as live:
            at = turn_named(live, turn)
            _check_free(live, name)
            made = Timeline(name, at, at, self.clock.now())
            await self.journal.change_timelines(live.session.id, [made], fresh=name)
            live.timelines[name] = made
        self.counters.add("timelines.forked")
        return made

    async def rename(self, session_id: str, name: str, new: str) -> Timeline:
        """Rename a timeline. Raises the same errors as ``fork``."""
        new = _checked(new)
        async with self.directory.writing(session_id) as live:
            old = timeline_named(live, name)
            if new == old.name:
                return old
            _check_free(live, new)
            renamed = evolve(old, name=new)
            await self.journal.change_timelines(live.session.id, [renamed], gone=[old.name], fresh=new)
            del live.timelines[old.name]
            live.timelines[new] = renamed
        return renamed

    async def forget(self, session_id: str, name: str) -> None:
        """Remove a timeline's name. Its turns stay; ``prune`` removes turns. ``NotFound``."""
        async with self.directory.writing(session_id) as live:
            known = timeline_named(live, name)
            await self.journal.change_timelines(live.session.id, gone=[known.name])
            del live.timelines[known.name]

    async def path(self, session_id: str, turn: str | None = None) -> Sequence[dict[str, Any]]:
        """Return excerpts of the turns from the root to ``turn`` (an id, a timeline's name, None: the active head)."""
        live = await self.directory.load(session_id)
        at = turn_named(live, turn)
        turns = await live.turns([node.id for node in live.tree.path(at)])
        return [
            {
                "id": each.id,
                "depth": each.depth,
                "kind": each.kind.value,
                "at": each.at,
                "user": each.user[:_EXCERPT],
                "reply": each.reply[:_EXCERPT],
            }
            for each in turns
        ]

    async def compare(self, session_id: str, one: str, other: str, *, language: str | None = None) -> Comparison:
        """Compare two turns or named timelines: their common ancestor and their differences.

        ``language`` is the language of the texts, a tag such as ``ko``; the default is the world's language. Raises
        ``NotFound`` and ``BadInput``.
        """
        live = await self.directory.load(session_id)
        left, right = live.tree.get(turn_named(live, one)), live.tree.get(turn_named(live, other))
        spoken = _language(language, live.world.language)
        meet = live.tree.common_ancestor(left.id, right.id)
        found = compare_states(await live.state(left.id), await live.state(right.id), since=meet.depth)
        names = [
            name if name in live.timelines else _in_words(node.depth, spoken)
            for name, node in ((clean_name(one), left), (clean_name(other), right))
        ]
        if names[0] == names[1]:
            names = [f"{name} ({node.id})" for name, node in zip(names, (left, right), strict=True)]
        sides = [
            Side(name, node.id, node.depth, tuple(each.id for each in live.tree.path(node.id)[meet.depth + 1 :]))
            for name, node in zip(names, (left, right), strict=True)
        ]
        words = tuple(difference_words(each, sides[0].name, sides[1].name, spoken) for each in found)
        return Comparison(live.session.id, meet.id, meet.depth, sides[0], sides[1], found, spoken, words)

    async def prune(self, session_id: str, turn: str) -> Pruned:
        """Remove a turn and everything below it from the journal and from every store.

        Timelines that were forked inside are removed. Raises ``NotFound``, and ``BadInput`` for the root and for a part
        that contains the active head. A crash midway leaves a smaller tree; prune again.
        """
        async with self.sessions.changing(session_id, stop=False) as live:
            doomed = _below(live, turn)
            above = live.tree.get(turn).parent
            inside = frozenset(doomed)
            assert above is not None
            forgotten = sorted(each.name for each in live.timelines.values() if each.fork in inside)
            shortened = [
                evolve(each, head=above)
                for each in live.timelines.values()
                if each.head in inside and each.fork not in inside
            ]
            remembered = [node.id for node in map(live.tree.get, doomed) if node.episode]
            try:
                # Add the jobs first: after a crash, the turns that remain are rendered again at the next start.
                await self.journal.add_jobs(live.session.id, remembered)
                await self.projector.remove(live, doomed)
                parts = await parts_with(live, inside)
                async with self.letting_go(live.session.id):
                    await Removal(self.journal.kv, live.session, live.tree).prune(doomed, shortened, forgotten, parts)
            except BaseException:
                self.live.forget(live.session.id)
                self.directory.render(live.session.id, remembered)
                raise
        for turn_id in doomed:
            self.contexts.pop(turn_id, None)
        self.counters.add("turns.pruned", len(doomed))
        return Pruned(len(doomed), tuple(forgotten), tuple(sorted(each.name for each in shortened)))


def _checked(name: str) -> str:
    clean = clean_name(name)
    if clean in ("", ".", "..") or len(clean) > LONGEST_NAME or not clean.isprintable() or "@" in clean:
        raise BadInput(
            f"name: {name[:80]!r} cannot name a timeline; give 1 to {LONGEST_NAME} printable characters without '@',"
            " but neither '.' nor '..'"
        )
    if is_number(clean):
        raise BadInput(f"name: {clean!r} cannot name a timeline, because a number means a turn; add a word")
    return clean


def _check_free(live: LiveSession, name: str) -> None:
    if name in live.tree or is_turn_id(name):
        raise BadInput(f"name: {name!r} is the id of a turn; give another name")
    if name in live.timelines:
        raise Conflict(
            keys.timeline(live.session.id, name),
            f"session {live.session.id} has a timeline {name!r} already; choose another name, or forget that one",
        )


def _below(live: LiveSession, turn: str) -> list[str]:
    """Return a turn and everything below it. Raises ``BadInput`` if it must not be removed."""
    node = live.tree.get(turn)
    if node.parent is None:
        raise BadInput(f"turn: {turn!r} is the session's root; reset the session to start it over, or delete it")
    if live.tree.is_ancestor(turn, live.head):
        raise BadInput(
            f"turn: {turn!r} is, or leads to, the active head {live.head!r}; play a turn on another path first, or"
            " prune a part that the active path does not run through"
        )
    found = [turn]
    for each in found:
        found += live.tree.children.get(each, ())
    return found


def _language(given: str | None, own: str) -> str:
    if given is not None and primary(given) not in known():
        raise BadInput(f"language: {given!r} is not known; use {', '.join(known())}")
    return language_of(given or own).tag


def _in_words(depth: int, language: str) -> str:
    return language_of(language).texts.turn.format(depth=depth)
