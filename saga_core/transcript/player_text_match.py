"""Player-text match: finds the place of a history without known replies, by the player's words.

Regex scripts and translators change every reply on its way back, but not the player's words. Words that are long, or
that match the path together with earlier words, identify the turn in which they were said; its parent is the place. The
place is certain if the replies before the words still resemble the original ones. If only some do, a person may have
rewritten them. Nobody rewrites many replies in a row, so if none of many resembles its original, a script changed them,
and the place is certain too.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import islice

from attrs import define, frozen

from saga_core.model import Node, Tree, TurnKind
from saga_core.transcript.dialogue import Utterance
from saga_core.transcript.history import words_key
from saga_core.transcript.identities import identity
from saga_core.transcript.similarity import resembles
from saga_core.transcript.turn_index import TurnIndex

SHORT = 24
"""Minimum characters of an identity text that proves a place by itself. Texts like "OK." occur in many chats."""
_LOOKED_UP = 8
"""Player messages, from the end backwards, that are looked up."""
_SESSIONS = 4
"""Maximum sessions that are searched, because each may have to be loaded."""
_READ = 4
"""Maximum candidates whose texts are read, the best first."""
_COMPARED = 8
"""Maximum replies before the words that are compared."""
_LEVELS = 256
_AT_ONCE = 16
"""Candidates that are compared before yielding to the event loop."""
_MANY = 6
"""Minimum agreeing player messages for which different replies count as changed by a script."""


@frozen
class Evidence:
    """The turn before the player's words, and the position in the history at which the words begin."""

    tree: Tree
    parent: Node
    start: int
    agreeing: frozenset[str]
    """Turns whose player words the history has."""
    certain: bool
    """Whether there is no other explanation for the words."""


@frozen
class _Group:
    """The player's words before one reply: positions ``start`` to ``end`` of the history, with the reply at ``end``."""

    start: int
    end: int
    key: str


@frozen
class _Candidate:
    tree: Tree
    node: Node
    agreeing: Mapping[str, _Group]
    """``node`` and its ancestors whose player words the history has, with their groups, deepest first."""


@define
class PlayerTextMatcher:
    """Finds the place of a history by the player's words."""

    known: TurnIndex
    tree: Callable[[str], Awaitable[Tree]]
    accepts: Callable[[str], Awaitable[bool]]
    """Returns whether a session may be searched."""

    async def find_place(self, past: Sequence[Utterance], owner: str) -> Evidence | None:
        """Return the deepest certain place, or otherwise the deepest place on which several player messages agree."""
        groups = _groups(past)
        guess: Evidence | None = None
        compared: dict[tuple[int, str], bool] = {}
        places: dict[str, list[int]] = {}
        for at, group in enumerate(groups):
            places.setdefault(group.key, []).append(at)
        rows = await self._rows(groups[-_LOOKED_UP:], owner)
        for at in range(len(groups) - 1, len(groups) - 1 - len(rows), -1):
            group = groups[at]
            length = sum(len(identity(said.text)) for said in past[group.start : group.end])
            for candidate in (await self._candidates(groups, places, at, rows[at - len(groups)]))[:_READ]:
                if len(candidate.agreeing) < 2 and length < SHORT:
                    continue
                node = candidate.node
                assert node.parent is not None
                found = Evidence(
                    candidate.tree,
                    candidate.tree.get(node.parent),
                    group.start,
                    frozenset(candidate.agreeing) - {node.id},
                    await self._is_certain(candidate, past, groups[:at], compared),
                )
                if found.certain:
                    return found
                if guess is None and len(candidate.agreeing) > 1:
                    guess = found
        return guess

    async def _rows(self, groups: Sequence[_Group], owner: str) -> list[list[tuple[str, str]]]:
        """Return the turns with each group's words, in the few sessions that have most of the groups."""
        rows = [await self.known.said(owner, group.key) for group in groups]
        known = Counter(session for row in rows for session in {session for session, _ in row})
        chosen: list[str] = []
        for session in sorted(known, key=lambda each: (known[each], each), reverse=True):
            if len(chosen) < _SESSIONS and await self.accepts(session):
                chosen.append(session)
        return [[each for each in row if each[0] in chosen] for row in rows]

    async def _candidates(
        self, groups: Sequence[_Group], places: Mapping[str, Sequence[int]], at: int, rows: Sequence[tuple[str, str]]
    ) -> list[_Candidate]:
        """Return the turns with the words of ``groups[at]``, one per parent, those with most agreement first."""
        found: dict[str, _Candidate] = {}
        for session_id, turn_id in reversed(rows):
            tree = await self.tree(session_id)
            node = tree.nodes.get(turn_id)
            if node is None or node.parent is None or node.parent in found or node.kind is TurnKind.SIDE:
                continue
            found[node.parent] = _Candidate(tree, node, _agreeing(tree, node, groups, places, at))
            if len(found) % _AT_ONCE == 0:
                await asyncio.sleep(0)
        return sorted(found.values(), key=lambda each: -len(each.agreeing))

    async def _is_certain(
        self,
        candidate: _Candidate,
        past: Sequence[Utterance],
        above: Sequence[_Group],
        compared: dict[tuple[int, str], bool],
    ) -> bool:
        """Whether the replies before the words resemble the known ones, or so many differ that a script changed them.

        ``compared`` caches whether the reply at a position of the history resembles that of a turn.
        """
        tree, node, agreeing = candidate.tree, candidate.node, candidate.agreeing
        assert node.parent is not None
        if tree.get(node.parent).parent is None:
            return not above  # the chat's first words
        pairs = [(place.end, turn) for turn, place in agreeing.items() if turn != node.id][:_COMPARED]
        if len(pairs) < min(len(above), _COMPARED):
            return False
        start = agreeing[node.id].start
        if start and (start - 1, node.parent) not in pairs:
            pairs.insert(0, (start - 1, node.parent))
        pairs = pairs or [(agreeing[node.id].end, node.id)]
        fresh = [pair for pair in pairs if pair not in compared]
        turns = await self.known.turns(tree.session, [turn for _, turn in fresh])
        for (at, turn_id), turn in zip(fresh, turns, strict=True):
            compared[at, turn_id] = resembles(past[at].text, turn.reply)
        alike = {compared[pair] for pair in pairs}
        return alike == {True} or (alike == {False} and len(agreeing) >= _MANY)


def _groups(past: Sequence[Utterance]) -> list[_Group]:
    groups: list[_Group] = []
    start = None
    for at, said in enumerate(past):
        if said.role == "user":
            start = at if start is None else start
        elif start is not None:
            groups.append(_Group(start, at, words_key(past[start:at])))
            start = None
    return groups


def _agreeing(
    tree: Tree, node: Node, groups: Sequence[_Group], places: Mapping[str, Sequence[int]], last: int
) -> dict[str, _Group]:
    """Return ``node``, which answers ``groups[last]``, and its ancestors that answer earlier groups, in order.

    ``places`` has the ascending indexes of all groups by key.
    """
    agreeing = {node.id: groups[last]}
    for ancestor in islice(tree.upwards(node.id), 1, 1 + _LEVELS):
        if not last:
            break
        same = places.get(ancestor.user_key, ())
        before = bisect_left(same, last)
        if before:
            last = same[before - 1]
            agreeing[ancestor.id] = groups[last]
    return agreeing
