"""Reply match: finds the known turn whose reply is at a position of a history, unchanged, grown or cut.

Of several turns, the one with the longest verified run upwards wins, then the one with the most agreeing words, then
the one whose path is most like the history, then the newest. Turns that are equal in all but age stay candidates for
the texts below them, which may tell them apart. Lookups are shared by equal messages.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left, bisect_right
from collections.abc import Awaitable, Callable, Sequence
from itertools import islice, pairwise
from operator import itemgetter

from attrs import define, evolve, field, frozen

from saga_core.model import Node, Session, Tree, TurnKind
from saga_core.transcript.alignment import align, latest
from saga_core.transcript.history import NO_WORDS, History
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
_MOST = 64
"""Maximum turns of one text that are looked up, the newest ones."""
_SESSIONS = 8
"""Maximum sessions that are searched for one text: those with the newest turns."""
_PROVES = 200
"""Minimum characters of a text that identifies a reply regardless of the text above it."""
_STOPPED = 80
"""An adopted or imported reply with fewer characters may be incomplete, and is treated like a stopped one."""
_WITNESSES = 32
"""Replies above a crowded text among which one is looked for that fewer chats have."""
_FOREIGN = (TurnKind.ADOPTED, TurnKind.IMPORTED)
_MOST_VERIFIED = 64
"""Maximum turns of one text that are verified: those that may reach the highest rank first."""
_FEW = 4
"""Turns of one text that are verified without asking whether they can be better than those before them, and depths of
one session whose equal turns are kept."""
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
    strays: int = 0
    """Number of turns that the path has and the history does not, or the other way round, between those that match."""


_Rank = tuple[int, int, int, int]
_UNRANKED: _Rank = (-1, 0, 0, 0)


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
    sessions: int = 0
    """Number of sessions among ``turns``."""
    crowded: bool = False
    """Whether so many turns have the text that ``turns`` are only the newest. The text then proves nothing by itself,
    and the right turn is looked for by the player's words and by the path, too."""


@define(eq=False)
class ReplyMatcher:
    """Finds the replies of a history among the turns of ``owner``, or of the session ``only``."""

    known: TurnIndex
    tree: Callable[[str], Awaitable[Tree]]
    history: History
    owner: str
    only: Session | None
    opening: Callable[[], str]
    """Returns the key of the greeting and the player's first words, by which crowded texts are told apart."""
    alone: Callable[[str], Awaitable[None]] | None = None
    """Called with a session before it is loaded, if it is the only one with turns that match a text. May raise."""
    examined: int = field(default=0, init=False)
    """Number of candidates examined."""
    _said: dict[tuple[str, bool], _Said] = field(factory=dict, init=False)
    _found: dict[tuple[int, int], Sequence[Candidate]] = field(factory=dict, init=False)
    _whole: dict[tuple[str, str], bool] = field(factory=dict, init=False)
    _highest: dict[tuple[str, int], tuple[int, int]] = field(factory=dict, init=False)
    _shown: dict[str, dict[str, list[Node]]] = field(factory=dict, init=False)
    """By session: its turns whose reply is in the history, by the reply's key."""
    _opened: list[str] | None = field(default=None, init=False)

    async def find(self, position: int) -> Candidate | None:
        """Return the best candidate for the assistant message at ``position``, or None if none is trusted."""
        found = await self._find(position, 0)
        return max(found, key=lambda each: each.node.id, default=None)

    async def opening_sessions(self) -> list[str]:
        """Return the sessions that began with the history's greeting and first player words, oldest first."""
        if self._opened is None:
            self._opened = await self.known.openings(self.owner, self.opening())
        return self._opened

    async def _find(self, position: int, level: int) -> Sequence[Candidate]:
        """Return the best candidates, which are equal in all but age. ``level`` is the recursion depth: the number of
        ambiguous texts below this one.
        """
        # Ambiguous texts look up the same replies above: without the cache, four times as often at every level.
        if (position, level) not in self._found:
            self._found[position, level] = await self._searched(position, level)
        return self._found[position, level]

    async def _searched(self, position: int, level: int) -> Sequence[Candidate]:
        said = await self._turns_of(position)
        if not (said.turns or said.crowded) or not self._can_be_trusted(said, position):
            return ()
        found = [Candidate(tree, node, position, how) for tree, node, how in said.turns]
        if said.crowded:
            found = _distinct([*found, *await self._answering(position), *await self._witnessed(position)])
        if said.crowded or said.length < _PROVES or any(each.how != "reply" for each in found):
            alone = len(found) == 1 and await self._whole_ones(found)
            if not alone:  # the path is in memory, but stopped replies are read from the journal
                found = await self._under(found, position, level) or await self._whole_ones(found)
        if len(found) == 1 and said.length >= SHORT and not said.crowded:
            return found  # trusted regardless of its path, and the only candidate
        return await self._best(found, said, level)

    async def _best(self, found: list[Candidate], said: _Said, level: int) -> Sequence[Candidate]:
        """Verify candidates for one position, and return the trusted ones of the highest rank.

        A reply that a story repeats has a candidate for each time. Most of them cannot be as good as the right one, and
        are not verified. Of equals, the newest is enough if no text below may tell them apart. Otherwise, those at some
        depths of each session are kept.
        """
        many = len(found) > _FEW
        if many:
            ranked = [(self._highest_rank(each), each.node.id, each) for each in found]
            ranked.sort(key=itemgetter(0, 1), reverse=True)
        else:
            ranked = [(_UNRANKED, each.node.id, each) for each in found]
        best: list[Candidate] = []
        highest = _UNRANKED
        twins: dict[tuple[str, str | None, str, str], Candidate] = {}
        """What was found for one of the turns with the same parent, words and reply holds for all of them."""
        verified = looked_at = 0
        for at_most, _, candidate in ranked:
            if many and best and (highest > at_most or (highest == at_most and self._enough(best, candidate, level))):
                continue
            twin = candidate.tree.session, candidate.node.parent, candidate.node.user_key, candidate.how
            shown = twins.get(twin)
            if shown is not None:
                shown = evolve(shown, node=candidate.node)
            elif verified == _MOST_VERIFIED:
                continue
            else:
                verified += 1
                shown = twins[twin] = self._verified(candidate)
                looked_at += min(candidate.node.depth, _LEVELS)
            if self._is_trusted(shown, said):
                rank = self._rank(shown)
                if rank > highest:
                    best, highest = [], rank
                if rank == highest:
                    best.append(shown)
            if looked_at >= _AT_ONCE:
                looked_at = 0
                await asyncio.sleep(0)
        return best

    def _enough(self, best: list[Candidate], candidate: Candidate, level: int) -> bool:
        """Whether ``best`` needs no further candidate of the same rank."""
        depths = {each.node.depth for each in best if each.tree.session == candidate.tree.session}
        return level == 0 or (len(depths) >= _FEW and candidate.node.depth not in depths)

    def _answers(self, candidate: Candidate) -> bool:
        """Whether the candidate is a reply to the player's words at its position."""
        return self.history.words_before(candidate.position) == candidate.node.user_key

    def _highest_rank(self, candidate: Candidate) -> _Rank:
        """Return the rank of a candidate whose path had every turn of the session that the history shows above it."""
        place = candidate.tree.session, candidate.position
        if place not in self._highest:
            self._highest[place] = self._most_matches(candidate.tree, candidate.position)
        run, users = self._highest[place]
        return self._rank(evolve(candidate, run=1 + run, users=self._answers(candidate) + users))

    def _rank(self, candidate: Candidate) -> _Rank:
        """Return the rank: longest verified run, most player words, fewest strays, a depth like that in the history.

        The depth counts if the history may begin where the session did. Of a history that is cut off, the newest turn
        is meant.
        """
        difference = 0
        if self._is_whole(candidate.tree):
            depth = bisect_right(self.history.replies, candidate.position) - self.history.greeting
            difference = abs(depth - candidate.node.depth)
        return candidate.run, candidate.users, -candidate.strays, -difference

    def _is_whole(self, tree: Tree) -> bool:
        """Whether the history may begin where the session did: with its greeting, or with one that nobody recorded."""
        greeting = tree.get(tree.root).reply_key
        if greeting or not self.history.greeting:
            return not greeting or greeting in self.history.places
        return next(iter(self.history.places)) not in self._shown_of(tree)

    def _most_matches(self, tree: Tree, position: int) -> tuple[int, int]:
        """Return how many positions above ``position`` show a reply of the session, and at how many of them it answers
        the same words as in the session.
        """
        words = self.history.words_before
        run = users = 0
        for key, nodes in self._shown_of(tree).items():
            above = latest(self.history.places[key], position)
            said = {node.user_key for node in nodes} if above else ()
            run += len(above)
            users += sum(words(at) in said for at in above)
        return run, users

    def _shown_of(self, tree: Tree) -> dict[str, list[Node]]:
        found = self._shown.get(tree.session)
        if found is None:
            places, found = self.history.places, {}
            for node in tree.nodes.values():
                if node.reply_key in places:
                    found.setdefault(node.reply_key, []).append(node)
            self._shown[tree.session] = found
        return found

    async def _turns_of(self, position: int) -> _Said:
        utterance = self.history.past[position]
        near = position >= len(self.history.past) - _NEAR_END
        found = self._said.get((utterance.key, near))
        if found is None:
            found = self._said[utterance.key, near] = await self._looked_up(utterance.key, utterance.text, near)
        return found

    async def _looked_up(self, key: str, text: str, near: bool) -> _Said:
        rows = await self.known.replies(self.owner, key, _MOST)
        candidates = [(session, turn, "reply") for session, turn in rows]
        if not candidates and not near:
            return _Said((), 0, 0, frozenset())
        text = identity(text)
        candidates = candidates or [
            (kin.session, kin.turn, kin.how) for kin in await kindred(self.known, text, self.owner)
        ]
        # A text in many chats would load them all.
        newest = _newest(candidates)
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
        crowded = len(rows) == _MOST or len({session for session, _ in rows}) > len(newest)
        decides = len(text) < SHORT and not crowded
        reach = min((self._reach(tree, node) for tree, node, _ in turns), default=0) if decides else 0
        words = frozenset(node.user_key for _, node, _ in turns)
        return _Said(turns, len(text), reach, words, len({tree.session for tree, *_ in turns}), crowded)

    async def _answering(self, position: int) -> list[Candidate]:
        """Return the turns with the reply at ``position`` that answer the same player words, if it answers any."""
        words, reply = self.history.words_before(position), self.history.past[position].key
        rows = await self.known.said(self.owner, words) if words != NO_WORDS else []
        if self.only is not None:
            rows = [row for row in rows if row[0] == self.only.id]
        newest, found = _newest(rows), list[Candidate]()
        for session_id, turn_id in rows:
            if session_id not in newest:
                continue
            tree = await self.tree(session_id)
            if turn_id in tree and tree.get(turn_id).reply_key == reply:
                self.examined += 1
                found.append(Candidate(tree, tree.get(turn_id), position, "reply"))
        return found

    async def _witnessed(self, position: int) -> list[Candidate]:
        """Return the turns with the reply at ``position`` in the sessions that the history shows by something else: the
        chat's beginning, or the nearest reply above that few chats have.
        """
        sessions = [self.only.id] if self.only is not None else list(await self.opening_sessions())
        if not 0 < len(sessions) <= _SESSIONS:
            sessions = sessions[-_SESSIONS:]
            for at in self.history.replies_above(position, _WITNESSES):
                said = await self._turns_of(at)
                if said.turns and not said.crowded:
                    sessions += [tree.session for tree, *_ in said.turns if tree.session not in sessions]
                    break
        reply, found = self.history.past[position].key, list[Candidate]()
        for session in sessions:
            tree = await self.tree(session)
            nodes = self._shown_of(tree).get(reply, ())
            self.examined += len(nodes)
            found += [Candidate(tree, node, position, "reply") for node in nodes if node.parent is not None]
        return found

    def _reach(self, tree: Tree, node: Node) -> int:
        """Return the first position of the history with a reply from above ``node``, or its length if there is none."""
        places = self.history.places
        known = (places[each.reply_key][0] for each in _above(tree, node) if each.reply_key in places)
        return min(known, default=len(self.history.past))

    def _can_be_trusted(self, said: _Said, position: int) -> bool:
        """Whether verification could make one of the turns trusted. This skips texts like "Yes.", which may occur a
        thousand times in many chats."""
        if said.crowded or said.length >= SHORT or said.reach < position or not self.history.replies_above(position, 1):
            return True
        return self.history.words_before(position) in said.words

    async def _under(self, found: list[Candidate], position: int, level: int) -> list[Candidate]:
        """Return the candidates below the nearest known reply above ``position``, or all if no such reply is known.

        A stopped or short reply is the same text in many chats and at several places of one, so the path decides.
        """
        for at in self.history.replies_above(position, ABOVE) if level < ABOVE else ():
            above = await self._find(at, level + 1)
            if above:
                after = [each for one in above for each in self._next(one, position)]
                return _below(_distinct([*found, *after]), above)
        return found

    def _next(self, above: Candidate, position: int) -> list[Candidate]:
        """Return the turns directly after ``above`` with the reply at ``position``."""
        tree, reply = above.tree, self.history.past[position].key
        nodes = [tree.get(child) for child in tree.children.get(above.node.id, ())]
        return [Candidate(tree, node, position, "reply") for node in nodes if node.reply_key == reply]

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
        most = self.history.matchable(position)
        found = [(node, position), *align(_above(tree, node), self.history.places, position, most)]
        users = sum(self.history.words_before(place) == each.user_key for each, place in found)
        # By how much a turn's depth and its number in the history differ: it changes with every stray turn.
        shifts = [each.depth - bisect_left(self.history.replies, place) for each, place in found]
        strays = sum(abs(one - other) for one, other in pairwise(shifts))
        return Candidate(tree, node, position, candidate.how, len(found), users, strays)

    def _is_trusted(self, candidate: Candidate, said: _Said) -> bool:
        """Whether a candidate is trusted. A long reply is, if one session has it. Others need matching words or other
        replies, if the history shows any.
        """
        alone = said.sessions == 1 and not said.crowded
        if candidate.run > 1 or candidate.users or (said.length >= SHORT and alone):
            return True
        return said.sessions == 1 and not self.history.replies_above(candidate.position, 1)


def _newest(rows: Sequence[tuple[str, ...]]) -> set[str]:
    """Return the sessions of the newest turns among rows of (session id, turn id, …)."""
    by_turn = sorted(rows, key=lambda row: row[1], reverse=True)
    return set(list(dict.fromkeys(row[0] for row in by_turn))[:_SESSIONS])


def _distinct(candidates: list[Candidate]) -> list[Candidate]:
    return list({_place(each): each for each in candidates}.values())


def _place(candidate: Candidate) -> tuple[str, str]:
    return candidate.tree.session, candidate.node.id


def _above(tree: Tree, node: Node) -> islice[Node]:
    return islice(tree.upwards(node.id), 1, 1 + _LEVELS)


def _below(candidates: Sequence[Candidate], above: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates that are descendants of one of ``above`` in the same session."""
    tops: dict[str, dict[int, set[str]]] = {}
    for each in above:
        tops.setdefault(each.tree.session, {}).setdefault(each.node.depth, set()).add(each.node.id)
    return [
        each
        for each in candidates
        if any(
            depth < each.node.depth and each.tree.ancestor_at(each.node.id, depth).id in ids
            for depth, ids in tops.get(each.tree.session, {}).items()
        )
    ]
