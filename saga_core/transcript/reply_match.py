"""Reply match: finds the known turn whose reply is at a position of a history, unchanged, grown or cut.

Of several turns, the one with the longest verified run upwards wins, then the one whose path the history shows best,
then the newest. Lookups are shared by equal messages.
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
"""Maximum replies above a text that are looked up."""
_LEVELS = 256
"""Maximum ancestors that are verified."""
_NEAR_END = 64
"""Messages from the end among which a reply may have grown or been cut. Farther back, single replies do not change."""
_SESSIONS = 8
"""Maximum sessions that are searched for one reply, the newest ones."""
_PROVES = 200
"""Minimum characters of a text that identifies a reply regardless of the text above it."""
_STOPPED = 80
"""An adopted or imported reply with fewer characters may be incomplete, and is treated like a stopped one."""
_FOREIGN = (TurnKind.ADOPTED, TurnKind.IMPORTED)
_AT_ONCE = 4_096
"""Ancestors that are examined before yielding to the event loop, which takes a millisecond or two."""


@frozen
class Candidate:
    """A known turn that may be the one at a position of the history."""

    tree: Tree
    node: Node
    position: int
    how: str
    run: int = 0
    """Number of replies in the history that match the turn's path."""
    users: int = 0
    """Number of player words in the history that match the turn's path."""


@frozen
class _Said:
    """The known turns that a text may be, regardless of its position in the history."""

    turns: Sequence[tuple[Tree, Node, str]]
    length: int
    """Characters of the text's identity."""
    reach: int
    """The first position of the history with a reply from above one of the turns."""
    words: frozenset[str]
    """The keys of the player's words in the turns."""


@define(eq=False)
class ReplyMatcher:
    """Finds the replies of a history among the turns of ``owner``, or of the session ``only``."""

    known: TurnIndex
    tree: Callable[[str], Awaitable[Tree]]
    history: History
    owner: str
    only: Session | None
    alone: Callable[[str], Awaitable[None]] | None = None
    """Called with a session before it is loaded, if it is the only one with turns that match a text. May raise."""
    examined: int = field(default=0, init=False)
    """Number of candidates examined."""
    _said: dict[tuple[str, bool], _Said] = field(factory=dict, init=False)
    _found: dict[tuple[int, int], Candidate | None] = field(factory=dict, init=False)
    _whole: dict[tuple[str, str], bool] = field(factory=dict, init=False)

    async def find(self, position: int) -> Candidate | None:
        """Return the best candidate for the assistant message at ``position``, or None if none is trusted."""
        return await self._find(position, 0)

    async def _find(self, position: int, level: int) -> Candidate | None:
        """As ``find``. ``level`` is the recursion depth: the number of ambiguous texts below this one."""
        # Ambiguous texts look up the same replies above: without the cache, four times as often at every level.
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
            if not alone:  # the path is in memory, but stopped replies are read from the journal
                found = await self._under(found, position, level) or await self._whole_ones(found)
        if len(found) == 1 and said.length >= SHORT:
            return found[0]  # trusted regardless of its path, and the only candidate
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
        # A text in many chats would load them all. Older sessions are still found by the replies before it.
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
        """Return the first position of the history with a reply from above ``node``, or its length if there is none."""
        places = self.history.places
        known = (places[each.reply_key][0] for each in _above(tree, node) if each.reply_key in places)
        return min(known, default=len(self.history.past))

    def _can_be_trusted(self, said: _Said, position: int) -> bool:
        """Whether verification could make one of the turns trusted. This skips texts like "Yes.", which may occur a
        thousand times in many chats."""
        if said.length >= SHORT or said.reach < position or not self.history.replies_above(position, 1):
            return True
        return self.history.words_before(position) in said.words

    async def _under(self, found: list[Candidate], position: int, level: int) -> list[Candidate]:
        """Return the candidates below the nearest known reply above ``position``, or all if no such reply is known.

        A stopped or short reply is the same text in many chats and at several places of one, so the path decides.
        """
        for at in self.history.replies_above(position, ABOVE) if level < ABOVE else ():
            above = await self._find(at, level + 1)
            if above is not None:
                return [each for each in found if _is_below(each, above)]
        return found

    async def _whole_ones(self, found: list[Candidate]) -> list[Candidate]:
        """Return the candidates that were found by their whole reply and were not stopped, because a stopped reply may
        be the beginning of many others. The journal is read once for all of them, because there may be hundreds.
        """
        complete = [each for each in found if each.how == "reply"]
        new = list(dict.fromkeys(_place(each) for each in complete if _place(each) not in self._whole))
        for place, turn in zip(new, await self.known.turns_at(new) if new else (), strict=True):
            stopped = turn.finish == "aborted" or (turn.kind in _FOREIGN and len(turn.reply) < _STOPPED)
            self._whole[place] = not stopped
        return [each for each in complete if self._whole[_place(each)]]

    def _verified(self, candidate: Candidate) -> Candidate:
        """Count the replies and player words of the history that match the path above the candidate, allowing gaps."""
        tree, node, position = candidate.tree, candidate.node, candidate.position
        found = [(node, position), *align(_above(tree, node), self.history.places, position)]
        users = sum(self.history.words_before(place) == each.user_key for each, place in found)
        return Candidate(tree, node, position, candidate.how, len(found), users)

    def _is_trusted(self, candidate: Candidate, length: int) -> bool:
        """Whether a candidate is trusted. A long reply is; a short one needs matching words or other replies."""
        if length >= SHORT or candidate.run > 1 or candidate.users:
            return True
        return not self.history.replies_above(candidate.position, 1)


def _place(candidate: Candidate) -> tuple[str, str]:
    return candidate.tree.session, candidate.node.id


def _above(tree: Tree, node: Node) -> islice[Node]:
    return islice(tree.upwards(node.id), 1, 1 + _LEVELS)


def _is_below(candidate: Candidate, above: Candidate) -> bool:
    """Whether a candidate is a descendant of another one in the same session."""
    if candidate.tree.session != above.tree.session or candidate.node.id == above.node.id:
        return False
    return candidate.tree.is_ancestor(above.node.id, candidate.node.id)


def _rank(candidate: Candidate) -> tuple[int, int, int, str]:
    """Return the rank: longest verified run, most player words, fewest turns missing in the history, newest."""
    return candidate.run, candidate.users, candidate.run - candidate.node.depth, candidate.node.id
