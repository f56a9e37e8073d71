"""Evidence of where a history belongs: the replies and the player's words that it has in common with known turns."""

from __future__ import annotations

import asyncio
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice, pairwise
from operator import itemgetter
from typing import NamedTuple, Protocol

from attrs import define, evolve, field, frozen

from saga_core.language import caseless_letter
from saga_core.model import Session, Tree, Turn, TurnKind, TurnNode
from saga_core.transcript.dialogue import Utterance, identity_keys
from saga_core.transcript.identities import fingerprint, identity, prefix_keys

# -- what is asked of the journal ------------------------------------------------------------------------------


class TurnIndex(Protocol):
    """The journal's interface for the matcher.

    Rows are (session id, turn id), oldest first. If there are more than ``limit``, the newest are returned.
    """

    async def session(self, session_id: str) -> Session:
        """Return a session by its id. Raises ``NotFound``."""
        ...

    async def turns(self, session_id: str, ids: Sequence[str]) -> list[Turn]:
        """Return the turns with these ids, in that order."""
        ...

    async def turns_at(self, places: Sequence[tuple[str, str]]) -> list[Turn]:
        """Return the turns at these places (session id, turn id), in that order, with few store calls."""
        ...

    async def replies(self, owner: str, key: str, limit: int = 64) -> list[tuple[str, str]]:
        """Return the turns whose reply has this identity key."""
        ...

    async def beginnings(self, owner: str, prefix_key: str, limit: int = 64) -> list[tuple[str, str]]:
        """Return the turns whose reply has this prefix key."""
        ...

    async def said(self, owner: str, key: str, limit: int = 256) -> list[tuple[str, str]]:
        """Return the turns whose player words have this key."""
        ...

    async def openings(self, owner: str, key: str, limit: int = 16) -> list[str]:
        """Return the sessions whose opening has this key."""
        ...


# -- texts with small changes ----------------------------------------------------------------------------------

INHERIT = 0.8
"""Minimum similarity (0 to 1) at which a text counts as the other with small changes."""
SAME_BEGINNING = 0.7
"""The same for two texts with the same first half, if they are written in a script without capitals.

Two English texts are 38 % alike by chance, because they share a few letters. Korean, Japanese and Chinese texts are
14 to 19 % alike. If seven tenths of a text stay, it is 80 % alike in English, but only 73 % in the others.
"""
_LEAST = 24
"""The minimum number of characters of the longer text for ``SAME_BEGINNING``. Short replies often begin alike."""
_COMPARED = 4_000
_ROUNDING = 1e-5
"""Less than one character of the compared text, and more than the library's rounding error at the threshold."""


def likeness(one: str, other: str) -> float:
    """Return the similarity of two texts, 0 to 1, ignoring decoration; 0 if it is too low to count as the same text.

    It is twice the length of their longest common subsequence, divided by the sum of their lengths (normalized indel
    similarity). The first 4,000 characters of each text are compared.
    """
    left, right = identity(one)[:_COMPARED], identity(other)[:_COMPARED]
    if not left and not right:
        return 0.0
    # The import takes 10 ms and 7 MB, and few chats have an edited reply.
    from rapidfuzz.distance import Indel

    least = SAME_BEGINNING if _begin_alike(left, right) else INHERIT
    return Indel.normalized_similarity(left, right, score_cutoff=least - _ROUNDING)


def resembles(one: str, other: str) -> bool:
    """Whether one text is the other with small changes."""
    return likeness(one, other) > 0


def _begin_alike(left: str, right: str) -> bool:
    """Whether half of the longer text begins both, mostly in letters of a script without capitals."""
    longer = max(len(left), len(right))
    half = left[: (longer + 1) // 2]
    if longer < _LEAST or len(half) * 2 < longer or not right.startswith(half):
        return False
    return 2 * sum(map(caseless_letter, half)) >= len(half)


# -- replies that grew or were cut -----------------------------------------------------------------------------


class Kin(NamedTuple):
    """A known reply and its relation to a text."""

    session: str
    turn: str
    how: str
    """``grown`` if the text begins with the reply, ``cut`` if the text is the reply's beginning."""
    length: int
    """Characters of the reply's identity."""


async def similar_replies(known: TurnIndex, text: str, owner: str) -> list[Kin]:
    """Return the known replies that begin an identity text or begin with it, by at least twelve characters."""
    kin: dict[str, Kin] = {}
    for prefix in prefix_keys(text):
        rows: dict[str, list[str]] = {}
        for session_id, turn_id in (await known.beginnings(owner, prefix))[::-1]:
            rows.setdefault(session_id, []).append(turn_id)
        for session_id, ids in rows.items():
            for turn in await known.turns(session_id, ids):
                reply = identity(turn.reply)
                how = "grown" if text.startswith(reply) else "cut" if reply.startswith(text) else ""
                if how:
                    kin[turn.id] = Kin(session_id, turn.id, how, len(reply))
        if kin:
            break
    return list(kin.values())


# -- turns of a path in a history ------------------------------------------------------------------------------

Places = Mapping[str, Sequence[int]]
"""The positions of each reply in the history, ascending, by the reply's key."""

_TWINS = 8
"""Maximum positions per reply that are considered, those nearest to the end: a hundred times "Yes." prove little."""

_Chain = tuple[TurnNode, int, "_Chain | None"]


def align(upwards: Iterable[TurnNode], places: Places, end: int, most: int | None = None) -> list[tuple[TurnNode, int]]:
    """Return the longest sequence of turns of a path that the history shows in order before position ``end``.

    Each turn comes with its position, the deepest first. ``upwards`` is the path from its end. This is a longest common
    subsequence by the method of Hunt and Szymanski, among the last eight positions of each reply. So a reply that was
    given twice and edited once is not matched to the wrong position. ``most`` are the positions that can be matched, as
    ``matchable`` counts them: once all of them are, the rest of the path is not read.
    """
    reached: list[int] = []
    """By chain length: the negated position of the chain's last turn. Negated so that the list ascends."""
    chains: list[_Chain] = []
    for node in upwards:
        if not node.reply_key:
            continue
        known = places.get(node.reply_key)
        if known is None:
            continue
        # First position first, so that a chain cannot have two positions of one turn.
        for place in latest(known, end):
            at = bisect_left(reached, -place)
            chain = (node, place, chains[at - 1] if at else None)
            if at == len(reached):
                reached.append(-place)
                chains.append(chain)
            elif -place < reached[at]:
                reached[at] = -place
                chains[at] = chain
        if len(reached) == most:
            break
    found: list[tuple[TurnNode, int]] = []
    last = chains[-1] if chains else None
    while last is not None:
        node, place, last = last
        found.append((node, place))
    return found[::-1]


def matchable(places: Places, end: int) -> int:
    """Return the number of positions before ``end`` that are compared with turns."""
    return sum(len(latest(known, end)) for known in places.values())


def latest(places: Sequence[int], end: int) -> Sequence[int]:
    """Return those of a reply's positions that are compared with turns: the last eight before ``end``, ascending."""
    before = bisect_left(places, end)
    return places[max(0, before - _TWINS) : before]


@frozen
class Edit:
    """A turn whose text the history shows otherwise than it was recorded, or may show as it was again."""

    turn: str
    reply: Utterance
    words: tuple[Utterance, ...] | None
    """The player's words before the reply. None if they may be those of several turns."""


def edited(
    path: Sequence[TurnNode], known: Sequence[tuple[int, int]], words: Sequence[str]
) -> Iterator[tuple[int, int]]:
    """Yield the turns of a path whose reply the history shows in an edited form, in the form of ``known``.

    ``path`` is a part of the path, downwards. ``known`` are the turns that were found, as (index in ``path``, number of
    the reply in the history), the deepest first. ``words`` has the key of the player's words before each reply of the
    history. If there are as many replies as turns between two known turns, they are paired in order. Otherwise they are
    paired by the player's words before the reply.
    """
    below = len(path), len(words)
    for above in (*known, (-1, -1)):
        turns, replies = range(above[0] + 1, below[0]), range(above[1] + 1, below[1])
        below = above
        if len(turns) == len(replies):
            yield from (pair for pair in zip(turns, replies, strict=True) if path[pair[0]].parent is not None)
            continue
        said: dict[str, list[int]] = {}
        for turn in turns if replies else ():
            said.setdefault(path[turn].user_key, []).append(turn)
        end = turns.stop
        for reply in reversed(replies):
            alike = said.get(words[reply], ())
            at = bisect_left(alike, end)
            if at:
                end = alike[at - 1]
                yield end, reply


# -- the history -----------------------------------------------------------------------------------------------
#
# The history of a request, indexed by its replies and the player's words before them.
#
# The index is built once, however many turns are compared with it: a history may have thousands of equal messages, and
# each of them may match as many known turns.


def words_key(utterances: Sequence[Utterance]) -> str:
    """Return the fingerprint of the player's words in one turn, in one or several messages."""
    return fingerprint("\0".join(utterance.key for utterance in utterances))


NO_WORDS = words_key(())


@define(eq=False)
class History:
    """The utterances before the player's words that a request answers."""

    past: tuple[Utterance, ...]
    _words: dict[int, str] = field(factory=dict, init=False)
    _matchable: dict[int, int] = field(factory=dict, init=False)

    @cached_property
    def replies(self) -> list[int]:
        """The positions of the replies, ascending."""
        return [at for at, said in enumerate(self.past) if said.role == "assistant"]

    @cached_property
    def greeting(self) -> int:
        """The number of replies before the player's first words, 0 if the player speaks first."""
        first = next((at for at, said in enumerate(self.past) if said.role == "user"), len(self.past))
        return bisect_left(self.replies, first)

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """The positions of each reply, ascending, by the reply's key."""
        found: dict[str, list[int]] = {}
        for at, key in zip(self.replies, identity_keys([self.past[at] for at in self.replies]), strict=True):
            found.setdefault(key, []).append(at)
        return found

    def matchable(self, place: int) -> int:
        """Return the number of replies before ``place`` that are compared with the turns of a path."""
        if len(self.places) == len(self.replies):
            return bisect_left(self.replies, place)
        if place not in self._matchable:
            self._matchable[place] = matchable(self.places, place)
        return self._matchable[place]

    def replies_above(self, place: int, count: int) -> list[int]:
        """Return the positions of the last ``count`` replies before ``place``, the nearest first."""
        end = bisect_left(self.replies, place)
        return self.replies[max(0, end - count) : end][::-1]

    def words_start(self, place: int) -> int:
        """Return the position at which the player's words directly before ``place`` begin."""
        start = place
        while start and self.past[start - 1].role == "user":
            start -= 1
        return start

    def words_before(self, place: int) -> str:
        """Return the key of the player's words directly before ``place``."""
        found = self._words.get(place)
        if found is None:
            found = self._words[place] = words_key(self.past[self.words_start(place) : place])
        return found


# -- by the player's words -------------------------------------------------------------------------------------
#
# Player-text match: finds the place of a history without known replies, by the player's words.
#
# Regex scripts and translators change every reply on its way back, but not the player's words. Words that are long, or
# that match the path together with earlier words, identify the turn in which they were said; its parent is the place.
# The place is certain if the replies before the words still resemble the original ones. If only some do, a person may
# have rewritten them. Nobody rewrites many replies in a row, so if none of many resembles its original, a script
# changed them, and the place is certain too.

SHORT = 24
"""Minimum characters of an identity text that proves a place by itself. Texts like "OK." occur in many chats."""
_LOOKED_UP = 8
"""Player messages, from the end backwards, that are looked up."""
_SESSIONS_SAID = 4
"""Maximum sessions that are searched, because each may have to be loaded."""
_READ = 4
"""Maximum candidates whose texts are read, the best first."""
_WORDS_COMPARED = 8
"""Maximum replies before the words that are compared."""
_WORD_LEVELS = 256
_SAID_AT_ONCE = 16
"""Candidates that are compared before yielding to the event loop."""
_MANY = 6
"""Minimum agreeing player messages for which different replies count as changed by a script."""


@frozen
class ReplyEvidence:
    """The turn before the player's words, and the position in the history at which the words begin."""

    tree: Tree
    parent: TurnNode
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
    node: TurnNode
    agreeing: Mapping[str, _Group]
    """``node`` and its ancestors whose player words the history has, with their groups, deepest first."""


@define
class PlayerTextMatcher:
    """Finds the place of a history by the player's words."""

    known: TurnIndex
    tree: Callable[[str], Awaitable[Tree]]
    accepts: Callable[[str], Awaitable[bool]]
    """Returns whether a session may be searched."""

    async def find_place(self, past: Sequence[Utterance], owner: str) -> ReplyEvidence | None:
        """Return the deepest certain place, or otherwise the deepest place on which several player messages agree."""
        groups = _groups(past)
        guess: ReplyEvidence | None = None
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
                found = ReplyEvidence(
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
            if len(chosen) < _SESSIONS_SAID and await self.accepts(session):
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
            if len(found) % _SAID_AT_ONCE == 0:
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
        pairs = [(place.end, turn) for turn, place in agreeing.items() if turn != node.id][:_WORDS_COMPARED]
        if len(pairs) < min(len(above), _WORDS_COMPARED):
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
    tree: Tree, node: TurnNode, groups: Sequence[_Group], places: Mapping[str, Sequence[int]], last: int
) -> dict[str, _Group]:
    """Return ``node``, which answers ``groups[last]``, and its ancestors that answer earlier groups, in order.

    ``places`` has the ascending indexes of all groups by key.
    """
    agreeing = {node.id: groups[last]}
    for ancestor in islice(tree.upwards(node.id), 1, 1 + _WORD_LEVELS):
        if not last:
            break
        same = places.get(ancestor.user_key, ())
        before = bisect_left(same, last)
        if before:
            last = same[before - 1]
            agreeing[ancestor.id] = groups[last]
    return agreeing


# -- by replies ------------------------------------------------------------------------------------------------
#
# Reply match: finds the known turn whose reply is at a position of a history, unchanged, grown or cut.
#
# Of several turns, the one with the longest verified run upwards wins, then the one with the most agreeing words, then
# the one whose path is most like the history, then the newest. Turns that are equal in all but age stay candidates for
# the texts below them, which may tell them apart. Lookups are shared by equal messages.

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
    node: TurnNode
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

    turns: Sequence[tuple[Tree, TurnNode, str]]
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
    _shown: dict[str, dict[str, list[TurnNode]]] = field(factory=dict, init=False)
    """By session: its turns whose reply is in the history, by the reply's key."""
    _opened: list[str] | None = field(default=None, init=False)

    async def find(self, position: int) -> Candidate | None:
        """Return the best candidate for the assistant message at ``position``, or None if none is trusted."""
        found = await self._find(position, 0)
        homes = sorted({each.tree.session: each.tree for each in found}.items())
        if len(homes) > 1:  # the session that was played last; of a copy and what it was made from, the latter
            heads = {home: tree.get((await self.known.session(home)).head).at for home, tree in homes}
            last = max(heads, key=heads.__getitem__)
            found = [each for each in found if each.tree.session == last]
        return max(found, key=lambda each: each.node.id, default=None)

    async def elsewhere(self, found: Candidate) -> Candidate | None:
        """Return the turn of another session that the history shows as well as ``found``, or almost, best first."""
        others = [
            each for each in (await self._turns_of(found.position)).turns if each[0].session != found.tree.session
        ]
        verified = [self._verified(Candidate(tree, node, found.position, how)) for tree, node, how in others]
        least = self._verified(found)
        alike = [
            each
            for each in verified
            if each.how == "reply" and each.users and 2 * (each.run + each.users) > least.run + least.users
        ]
        return max(alike, key=lambda each: (each.run, each.users, each.node.id), default=None)

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
        if not (len(found) == 1 and said.length >= SHORT and not said.crowded):  # else trusted regardless of its path
            found = list(await self._best(found, said, level))
        elsewhere = said.length < _PROVES and await self._are_elsewhere(found, position, level, said.length < SHORT)
        return () if elsewhere else found

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

    def _shown_of(self, tree: Tree) -> dict[str, list[TurnNode]]:
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
            (kin.session, kin.turn, kin.how) for kin in await similar_replies(self.known, text, self.owner)
        ]
        # A text in many chats would load them all.
        newest = _newest(candidates)
        if self.alone is not None and len(newest) == 1 and len(text) >= SHORT:
            await self.alone(next(iter(newest)))
        turns: list[tuple[Tree, TurnNode, str]] = []
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

    def _reach(self, tree: Tree, node: TurnNode) -> int:
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

    async def _are_elsewhere(self, found: Sequence[Candidate], position: int, level: int, short: bool) -> bool:
        """Whether the history shows nothing above the candidates, but several turns of another session.

        A chat whose replies are known does not leave for another story that has one equal reply. If it is a ``short``
        one, nor does a chat that shows much else, or that began as another session did, of which it shows more: the
        rest could not be written there yet.
        """
        homes = {each.tree.session for each in found}
        if not found or level >= ABOVE:
            return False
        shown = max(self._verified(each).run for each in found)
        if short and not any(self._goes_on_in(each.tree) for each in found):
            for session in (await self.opening_sessions())[-_SESSIONS:]:
                if session not in homes and self._most_matches(await self.tree(session), position)[0] > shown:
                    return True
        if any(
            self._shows_above(each, position) if short else self._reach(each.tree, each.node) < position
            for each in found
        ):
            return False
        replies = self.history.replies_above(position, ABOVE)
        for at in replies:
            above = await self._find(at, level + 1)
            if above:
                return any(each.tree.session not in homes and self._verified(each).run > 1 for each in above)
        said = {self.history.words_before(at) for at in self.history.replies_above(position, _LEVELS)}
        return (
            short
            and len(replies) == ABOVE
            and not any(turn.user_key in said for each in found for turn in _above(each.tree, each.node))
        )

    def _shows_above(self, candidate: Candidate, position: int) -> bool:
        """Whether the history shows a turn above the candidate. All chats of a card have its greeting."""
        places, tree = self.history.places, candidate.tree
        return any(
            each.parent is not None or self._goes_on_in(tree)
            for each in _above(tree, candidate.node)
            if latest(places.get(each.reply_key, ()), position)
        )

    def _goes_on_in(self, tree: Tree) -> bool:
        """Whether the session began in the middle of the history, with a reply that became its greeting."""
        shown: Sequence[int] = self.history.places.get(tree.get(tree.root).reply_key, ())
        return bool(shown) and shown[-1] not in self.history.replies[: self.history.greeting]

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
        replies, if the history shows any. A short one with other words before it may begin any chat.
        """
        alone = said.sessions == 1 and not said.crowded
        if candidate.run > 1 or candidate.users or (said.length >= SHORT and alone):
            return True
        history, at = self.history, candidate.position
        return said.sessions == 1 and not history.replies_above(at, 1) and history.words_start(at) == at


def _newest(rows: Sequence[tuple[str, ...]]) -> set[str]:
    """Return the sessions of the newest turns among rows of (session id, turn id, …)."""
    by_turn = sorted(rows, key=lambda row: row[1], reverse=True)
    return set(list(dict.fromkeys(row[0] for row in by_turn))[:_SESSIONS])


def _distinct(candidates: list[Candidate]) -> list[Candidate]:
    return list({_place(each): each for each in candidates}.values())


def _place(candidate: Candidate) -> tuple[str, str]:
    return candidate.tree.session, candidate.node.id


def _above(tree: Tree, node: TurnNode) -> islice[TurnNode]:
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
