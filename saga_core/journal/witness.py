"""The player's words as witness: where a history stands when none of its replies is known as it is.

Regex scripts and translators change every reply on its way back, and leave the player's words alone. Words that are
long, or that agree with the words above them, name the turn that they were said in; its parent is the place. That it
is the place counts as proven when the reply before the words is still like the parent's, and as a guess otherwise.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from attrs import define, frozen

from saga_core.journal.journal import Journal
from saga_core.journal.likeness import resembles
from saga_core.journal.transcript import Utterance, fingerprint, identity
from saga_core.journal.tree import Node, Tree
from saga_core.model.turn import TurnKind

SHORT = 24
"""Characters of identity below which a text proves nothing by itself: "OK." is said in many chats."""
_LOOKED_UP = 8
"""Words, from the end backwards, that are looked up."""
_READ = 4
"""Candidates whose texts are read, the best first."""
_LEVELS = 256


def words_key(utterances: Sequence[Utterance]) -> str:
    """The fingerprint of what the player said in one turn, one message or several."""
    return fingerprint("\0".join(utterance.key for utterance in utterances))


@frozen
class Testimony:
    """The turn before the words, and where in the history they begin."""

    tree: Tree
    parent: Node
    start: int
    agreeing: frozenset[str]
    """Turns whose words stand in the history."""
    proven: bool


@frozen
class _Group:
    """The player's words before one reply: ``start`` to ``end`` of the history, the reply at ``end``."""

    start: int
    end: int
    key: str


@frozen
class _Candidate:
    tree: Tree
    node: Node
    agreeing: frozenset[str]


@define
class Witness:
    """Looks for the place of one history among the turns of ``owner``."""

    journal: Journal
    tree: Callable[[str], Awaitable[Tree]]
    accepts: Callable[[str], Awaitable[bool]]
    """Whether a session may be the one."""

    async def testify(self, past: Sequence[Utterance], owner: str) -> Testimony | None:
        """The deepest place that is proven, or else the deepest that several words agree on."""
        groups = _groups(past)
        guess: Testimony | None = None
        for at in range(len(groups) - 1, max(-1, len(groups) - 1 - _LOOKED_UP), -1):
            group = groups[at]
            length = sum(len(identity(said.text)) for said in past[group.start : group.end])
            for candidate in (await self._candidates(groups[: at + 1], owner))[:_READ]:
                run = len(candidate.agreeing)
                if run < 2 and length < SHORT:
                    continue
                proven = await self._proven(candidate, past, group, run)
                assert candidate.node.parent is not None
                found = Testimony(
                    candidate.tree,
                    candidate.tree.get(candidate.node.parent),
                    group.start,
                    candidate.agreeing - {candidate.node.id},
                    proven,
                )
                if proven:
                    return found
                if guess is None and run > 1:
                    guess = found
        return guess

    async def _candidates(self, groups: Sequence[_Group], owner: str) -> list[_Candidate]:
        """The turns in which the last of ``groups`` was said, one for each parent; the most agreeing first."""
        above: dict[str, list[int]] = {}
        for at, group in enumerate(groups[:-1]):
            above.setdefault(group.key, []).append(at)
        found: dict[str, _Candidate] = {}
        for session_id, turn_id in reversed(await self.journal.said(owner, groups[-1].key)):
            if not await self.accepts(session_id):
                continue
            tree = await self.tree(session_id)
            node = tree.nodes.get(turn_id)
            if node is None or node.parent is None or node.parent in found or node.kind is TurnKind.SIDE:
                continue
            found[node.parent] = _Candidate(tree, node, _agreeing(tree, node, above, len(groups) - 1))
        return sorted(found.values(), key=lambda each: -len(each.agreeing))

    async def _proven(self, candidate: _Candidate, past: Sequence[Utterance], group: _Group, run: int) -> bool:
        tree, node = candidate.tree, candidate.node
        assert node.parent is not None
        parent = tree.get(node.parent)
        before = past[group.start - 1] if group.start else None
        if parent.parent is None:
            # The chat's first words. Other replies before them would belie that.
            return before is None or all(said.role == "assistant" for said in past[: group.start])
        said, above = await self.journal.turns(tree.session, [node.id, parent.id])
        if before is not None and not resembles(before.text, above.reply):
            return False
        return run > 1 or resembles(past[group.end].text, said.reply)


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


def _agreeing(tree: Tree, node: Node, above: dict[str, list[int]], before: int) -> frozenset[str]:
    """``node`` and its ancestors whose words stand in the history, in order, gaps allowed."""
    agreeing = {node.id}
    for level, ancestor in enumerate(tree.upwards(node.id)):
        if level > _LEVELS or not before:
            break
        place = next((at for at in reversed(above.get(ancestor.user_key, ())) if at < before), None) if level else None
        if place is not None:
            agreeing.add(ancestor.id)
            before = place
    return frozenset(agreeing)
