"""Reply match: finds the known turn whose reply stands at a place of a history, as it was, grown or cut.

Among several, the longest verified run upwards wins, then the one whose path the history shows most of, then the
newest. What was found for one message holds for every equal one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from itertools import islice

from attrs import define, field, frozen

from saga_core.model import Node, Session, Tree, TurnKind
from saga_core.transcript.alignment import align
from saga_core.transcript.history import History
from saga_core.transcript.identities import identity
from saga_core.transcript.kindred import kindred
from saga_core.transcript.player_text_match import SHORT
from saga_core.transcript.turn_index import TurnIndex

ABOVE = 4
"""Replies above a text that are looked up."""
_LEVELS = 256
"""Ancestors that verification looks at."""
_NEAR_END = 64
"""Messages from the end among which a reply may have grown or been cut; far behind it nobody touches one alone."""
_SESSIONS = 8
"""Sessions that are searched for one reply, the newest."""
_PROVES = 200
"""Characters from which on a text is one reply's alone, whatever stands above it."""
_STOPPED = 80
"""Characters of a reply of which nobody knows whether it is whole, at most, for it to be taken for a beginning."""
_FOREIGN = (TurnKind.ADOPTED, TurnKind.IMPORTED)
_AT_ONCE = 4_096
"""Ancestors that are looked at between two chances for others to run: a millisecond or two."""


@frozen
class Candidate:
    """A known turn that may be what stands at a place of the history."""

    tree: Tree
    node: Node
    position: int
    how: str
    run: int = 0
    """Replies of the history that agree with its path."""
    users: int = 0
    """Words of the history that agree with its path."""


@frozen
class _Said:
    """The known turns that a text of the history may be, wherever in it that stands."""

    turns: Sequence[tuple[Tree, Node, str]]
    length: int
    """Characters of the text's identity."""
    reach: int
    """The first place of the history where a reply stands that is above one of the turns."""
    words: frozenset[str]
    """What the player said in them."""


@define(eq=False)
class ReplyMatcher:
    """Looks for the replies of one history among the turns of ``owner``, or of the session ``only``."""

    known: TurnIndex
    tree: Callable[[str], Awaitable[Tree]]
    history: History
    owner: str
    only: Session | None
    alone: Callable[[str], Awaitable[None]] | None = None
    """Told of the one session that has all turns which a text may be, before the session is read. May raise."""
    examined: int = field(default=0, init=False)
    """Candidates looked at."""
    _said: dict[tuple[str, bool], _Said] = field(factory=dict, init=False)
    _found: dict[tuple[int, int], Candidate | None] = field(factory=dict, init=False)
    _whole: dict[tuple[str, str], bool] = field(factory=dict, init=False)

    async def find(self, position: int) -> Candidate | None:
        """The best candidate for the assistant message at ``position``, if it is good enough."""
        return await self._find(position, 0)

    async def _find(self, position: int, level: int) -> Candidate | None:
        """``level``: below how many other texts that prove little it is asked for."""
        # Each of those asks for the same ones above: without the memory, four times as often at every level.
        if (position, level) not in self._found:
            self._found[position, level] = await self._searched(position, level)
        return self._found[position, level]

    async def _searched(self, position: int, level: int) -> Candidate | None:
        said = await self._turns_of(position)
        if not said.turns or not self._can_be_trusted(said, position):
            return None
        found = [Candidate(tree, node, position, how) for tree, node, how in said.turns]
        if said.length < _PROVES or any(each.how != "reply" for each in found):
            alone = len(found) == 1 and await self._whole_ones(found)
            if not alone:  # the path is in memory; who was stopped, the journal tells
                found = await self._under(found, position, level) or await self._whole_ones(found)
        if len(found) == 1 and said.length >= SHORT:
            return found[0]  # trusted whatever stands above it, and nothing to compare it with
        best: Candidate | None = None
        looked_at = 0
        for candidate in found:
            verified = self._verified(candidate)
            if self._is_trusted(verified, said.length) and (best is None or _rank(verified) > _rank(best)):
                best = verified
            looked_at += min(candidate.node.depth, _LEVELS)
            if looked_at >= _AT_ONCE:
                looked_at = 0
                await asyncio.sleep(0)
        return best

    async def _turns_of(self, position: int) -> _Said:
        utterance = self.history.past[position]
        near = position >= len(self.history.past) - _NEAR_END
        found = self._said.get((utterance.key, near))
        if found is None:
            found = self._said[utterance.key, near] = await self._looked_up(utterance.key, utterance.text, near)
        return found

    async def _looked_up(self, key: str, text: str, near: bool) -> _Said:
        candidates = [(session, turn, "reply") for session, turn in await self.known.replies(self.owner, key)]
        if not candidates and not near:
            return _Said((), 0, 0, frozenset())
        text = identity(text)
        candidates = candidates or [
            (kin.session, kin.turn, kin.how) for kin in await kindred(self.known, text, self.owner)
        ]
        # What is said in many chats would load them all. Of an older one the replies before it tell the place.
        newest = set(sorted({session for session, *_ in candidates})[-_SESSIONS:])
        if self.alone is not None and len(newest) == 1 and len(text) >= SHORT:
            await self.alone(next(iter(newest)))
        turns: list[tuple[Tree, Node, str]] = []
        for session_id, turn_id, how in candidates:
            if session_id not in newest if self.only is None else session_id != self.only.id:
                continue
            tree = await self.tree(session_id)
            if turn_id in tree:
                self.examined += 1
                turns.append((tree, tree.get(turn_id), how))
        short = len(text) < SHORT
        reach = min((self._reach(tree, node) for tree, node, _ in turns), default=0) if short else 0
        return _Said(turns, len(text), reach, frozenset(node.user_key for _, node, _ in turns))

    def _reach(self, tree: Tree, node: Node) -> int:
        """The first place of the history where a reply from above ``node`` stands; behind its end if none does."""
        places = self.history.places
        known = (places[each.reply_key][0] for each in _above(tree, node) if each.reply_key in places)
        return min(known, default=len(self.history.past))

    def _can_be_trusted(self, said: _Said, position: int) -> bool:
        """Whether verifying could make one of the turns trusted: "Yes." is said in many chats, a thousand times."""
        if said.length >= SHORT or said.reach < position or not self.history.replies_above(position, 1):
            return True
        return self.history.words_before(position) in said.words

    async def _under(self, found: list[Candidate], position: int, level: int) -> list[Candidate]:
        """Of candidates that prove little those that stand below the nearest known reply above them.

        A stopped or a short reply is the same text in many chats, and at several places of one: the path decides. All
        of them where no reply above is known.
        """
        for at in self.history.replies_above(position, ABOVE) if level < ABOVE else ():
            above = await self._find(at, level + 1)
            if above is not None:
                return [each for each in found if _is_below(each, above)]
        return found

    async def _whole_ones(self, found: list[Candidate]) -> list[Candidate]:
        """The candidates that were found by their whole reply, and that nobody stopped: a stopped reply's text is the
        beginning of many others. The journal is asked once for all of them: what is said in many chats has hundreds.
        """
        complete = [each for each in found if each.how == "reply"]
        new = list(dict.fromkeys(_place(each) for each in complete if _place(each) not in self._whole))
        for place, turn in zip(new, await self.known.turns_at(new) if new else (), strict=True):
            stopped = turn.finish == "aborted" or (turn.kind in _FOREIGN and len(turn.reply) < _STOPPED)
            self._whole[place] = not stopped
        return [each for each in complete if self._whole[_place(each)]]

    def _verified(self, candidate: Candidate) -> Candidate:
        """Count how many replies and words of the history agree with the path above the candidate, gaps allowed."""
        tree, node, position = candidate.tree, candidate.node, candidate.position
        found = [(node, position), *align(_above(tree, node), self.history.places, position)]
        users = sum(self.history.words_before(place) == each.user_key for each, place in found)
        return Candidate(tree, node, position, candidate.how, len(found), users)

    def _is_trusted(self, candidate: Candidate, length: int) -> bool:
        """A long reply proves its place by itself; a short one needs its words or its neighbours to agree."""
        if length >= SHORT or candidate.run > 1 or candidate.users:
            return True
        return not self.history.replies_above(candidate.position, 1)


def _place(candidate: Candidate) -> tuple[str, str]:
    return candidate.tree.session, candidate.node.id


def _above(tree: Tree, node: Node) -> islice[Node]:
    return islice(tree.upwards(node.id), 1, 1 + _LEVELS)


def _is_below(candidate: Candidate, above: Candidate) -> bool:
    """Whether a candidate stands below another one, in the same session."""
    if candidate.tree.session != above.tree.session or candidate.node.id == above.node.id:
        return False
    return candidate.tree.is_ancestor(above.node.id, candidate.node.id)


def _rank(candidate: Candidate) -> tuple[int, int, int, str]:
    """The longest verified run, the most words, the fewest turns that the history does not show, the newest."""
    return candidate.run, candidate.users, candidate.run - candidate.node.depth, candidate.node.id
