"""Finds a transcript's place: the known turn that the request's own history proves to be its parent.

Histories are read from the end. The deepest assistant message that equals a known reply names the parent. A message
that continues a known reply, or is the beginning of one, also names its place; it becomes a sibling with the text that
the player kept. Among several candidates, the longest verified run upwards wins, then the one whose path the history
shows most of, then the newest. If no reply is known, the player's words give the place (``player_text_match``). System
messages never count: notes, world info and macros change them on every turn.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from itertools import islice

from attrs import define, evolve, field, frozen

from saga_core.model import Node, Session, Tree, TurnKind
from saga_core.transcript import voices
from saga_core.transcript.alignment import align, edited
from saga_core.transcript.dialogue import Transcript, Utterance, identity_keys
from saga_core.transcript.identities import fingerprint, identity, identity_key
from saga_core.transcript.kindred import kindred
from saga_core.transcript.one_message import told_apart
from saga_core.transcript.player_text_match import SHORT as SHORT
from saga_core.transcript.player_text_match import Evidence, PlayerTextMatcher
from saga_core.transcript.player_text_match import words_key as words_key
from saga_core.transcript.turn_index import TurnIndex

_LEVELS = 256
"""Ancestors that verification looks at."""
_NEAR_END = 64
"""Messages from the end among which a reply may have grown or been cut; far behind it nobody touches one alone."""
_SESSIONS = 8
"""Sessions that are searched for one reply, the newest."""
_UNKNOWN = 64
"""Replies from the end that are looked up before the player's words are asked."""
_ASKED = 12
"""Quoted utterances that are looked up."""
_CHILDREN = 32
_PROVES = 200
"""Characters from which on a text is one reply's alone, whatever stands above it."""
_STOPPED = 80
"""Characters of a reply of which nobody knows whether it is whole, at most, for it to be taken for a beginning."""
_FOREIGN = (TurnKind.ADOPTED, TurnKind.IMPORTED)
_ABOVE = 4
"""Replies above a text that are looked up."""
_ONE_MESSAGE = (["user"], ["user", "assistant"])
"""Who speaks in a request that may show its chat in one message."""
_NAME = 42
"""Characters that a name and its colon take at most."""


@frozen
class Match:
    """The place of a transcript."""

    session: str | None
    """None: nothing in it is known."""
    parent: str = ""
    """The turn that the request continues, as far as it is known."""
    unknown: tuple[Utterance, ...] = ()
    """The utterances after ``parent`` and before the player's words that are no known turn: edited, cut, unseen."""
    shown: frozenset[str] = frozenset()
    """Turns of the path whose reply stands in the history."""
    how: str = "none"
    """``reply``, ``grown``, ``cut``, ``words``, ``opening``, ``session`` or ``none``."""
    joined: tuple[str, str] | None = None
    """A session, and its turn, where ``unknown`` is known too: the last of it that the history shows."""


@frozen
class _Candidate:
    tree: Tree
    node: Node
    position: int
    how: str
    run: int = 0
    users: int = 0


@define
class Matcher:
    """Matches transcripts against the journal. ``tree`` returns a session's tree and loads it if needed."""

    known: TurnIndex
    tree: Callable[[str], Awaitable[Tree]]
    examined: int = field(default=0, init=False)
    """Candidates looked at, for the counters."""

    async def match(
        self,
        transcript: Transcript,
        *,
        owner: str,
        only: Session | None = None,
        world: Callable[[], Awaitable[str]] | None = None,
    ) -> Match:
        """Where ``transcript`` stands among the turns of ``owner``, or of the session ``only``.

        ``world`` gives a world's name: a chat of which no reply is known is found only among sessions of that world.
        """
        past = transcript.past
        greeting = len(transcript.greeting) if len(transcript.greeting) <= len(past) else len(past)

        async def accepts(session_id: str) -> bool:
            if only is not None:
                return session_id == only.id
            return world is None or (await self.known.session(session_id)).world == await world()

        witness = PlayerTextMatcher(self.known, self.tree, accepts)
        said: Evidence | None = None
        unknown = 0
        for position in range(len(past) - 1, greeting - 1 if transcript.words else -1, -1):
            if past[position].role != "assistant":
                continue
            found = await self._at(past, position, owner, only)
            if found is not None and not (transcript.prefilled and _stray(found, past)):
                joined = await self._joined(found, past, owner) if only is None else None
                return joined or await self._matched(found, past)
            unknown += 1
            if unknown == _UNKNOWN:
                # Most likely a script changes every reply.
                said = await witness.find_place(past, owner)
                if said is not None and said.certain:
                    return _told(said, past)
        if unknown < _UNKNOWN:
            said = await witness.find_place(past, owner)
            if said is not None and said.certain:
                return _told(said, past)
        for position in range(greeting - 1, -1, -1) if transcript.words else ():
            # A client that sends the last reply and new words only: the reply stands where a greeting would.
            found = await self._at(past, position, owner, only)
            if found is not None and found.how == "reply":
                return await self._matched(found, past)
        rest = past[greeting:] if transcript.words or greeting < len(past) else ()
        if only is None:
            for session_id in reversed(await self.known.openings(owner, opening_key(transcript))):
                if await accepts(session_id):
                    session = await self.known.session(session_id)
                    return Match(session.id, session.root, rest, how="opening")
        if said is not None:
            return _told(said, past)
        if only is not None:
            return Match(only.id, only.root, rest, how="session")
        return Match(None, unknown=rest)

    async def cast(self, transcript: Transcript, owner: str) -> Transcript:
        """Tell who is who where only names tell the speakers: those with a known reply are characters."""
        said = transcript.utterances
        if len(said) < 3 and [each.role for each in said] in _ONE_MESSAGE and not said[0].quoted:
            return await told_apart(transcript, self.known, owner) or transcript
        quoted = [each for each in transcript.utterances if each.quoted]
        characters = {
            each.speaker for each in quoted[-_ASKED:] if each.speaker and await self.known.replies(owner, each.key, 1)
        }
        if not characters or len({each.speaker for each in quoted}) < 2:
            return transcript
        return transcript.cast(characters)

    async def quotes(self, transcript: Transcript, owner: str) -> bool:
        """Whether the request's last message shows the model a reply of a story, in a chat that tells none.

        So do requests that translate a reply or name its mood.
        """
        if transcript.greeting or not transcript.words:
            return False
        for text in voices.excerpts(transcript.words[-1].text):
            if len(identity(text)) < SHORT:
                continue
            for session_id, turn_id in await self.known.replies(owner, identity_key(text), 1):
                tree = await self.tree(session_id)
                if turn_id in tree and tree.get(turn_id).kind is not TurnKind.SIDE:
                    return True
        return False

    async def _at(
        self, past: Sequence[Utterance], position: int, owner: str, only: Session | None, level: int = 0
    ) -> _Candidate | None:
        """The best candidate for the assistant message at ``position``, if it is good enough.

        ``level``: below how many other texts that prove little it is asked for.
        """
        utterance = past[position]
        rows = await self.known.replies(owner, utterance.key)
        candidates = [(session, turn, "reply") for session, turn in rows]
        if not candidates and position < len(past) - _NEAR_END:
            return None
        text = identity(utterance.text)
        candidates = candidates or [(kin.session, kin.turn, kin.how) for kin in await kindred(self.known, text, owner)]
        # What is said in many chats would load them all. Of an older one the replies before it tell the place.
        newest = set(sorted({session for session, *_ in candidates})[-_SESSIONS:])
        found: list[_Candidate] = []
        for session_id, turn_id, how in candidates:
            if session_id not in newest if only is None else session_id != only.id:
                continue
            tree = await self.tree(session_id)
            if turn_id in tree:
                self.examined += 1
                found.append(_Candidate(tree, tree.get(turn_id), position, how))
        if found and (len(text) < _PROVES or any(each.how != "reply" for each in found)):
            alone = len(found) == 1 and await self._is_whole(found[0])
            if not alone:  # the path is in memory; who was stopped, the journal tells, a turn at a time
                below = await self._under(found, past, position, owner, only, level)
                found = below or [each for each in found if await self._is_whole(each)]
        if len(found) == 1 and len(text) >= SHORT:
            return found[0]  # trusted whatever stands above it, and nothing to compare it with
        verified = (_verify(candidate, past) for candidate in found)
        return max((each for each in verified if _trusted(each, past, len(text))), key=_rank, default=None)

    async def _under(
        self,
        found: list[_Candidate],
        past: Sequence[Utterance],
        position: int,
        owner: str,
        only: Session | None,
        level: int,
    ) -> list[_Candidate]:
        """Of candidates that prove little those that stand below the nearest known reply above them.

        A stopped or a short reply is the same text in many chats, and at several places of one: the path decides. All
        of them where no reply above is known.
        """
        looked = 0
        for at in range(position - 1, -1, -1):
            if past[at].role != "assistant" or looked == _ABOVE:
                continue
            looked += 1
            above = await self._at(past, at, owner, only, level + 1) if level < _ABOVE else None
            if above is None:
                continue
            return [each for each in found if _is_below(each, above)]
        return found

    async def _is_whole(self, candidate: _Candidate) -> bool:
        """Whether a candidate was found by its whole reply, and nobody stopped that: a stopped reply's text is the
        beginning of many others.
        """
        if candidate.how != "reply":
            return False
        (turn,) = await self.known.turns(candidate.tree.session, [candidate.node.id])
        return turn.finish != "aborted" and not (turn.kind in _FOREIGN and len(turn.reply) < _STOPPED)

    async def _matched(self, found: _Candidate, past: Sequence[Utterance]) -> Match:
        tree, node, position = found.tree, found.node, found.position
        last = await self._last_of_merged(found, past) if found.how == "grown" else None
        if found.how == "reply" or last is not None:
            node = last or node
            shown = _shown(tree, node, past, position) | ({node.id, found.node.id} if last else set())
            return Match(tree.session, node.id, tuple(past[position + 1 :]), shown, "reply")
        # The reply stands there with another text: its parent is sure, the rest is a sibling to be.
        assert node.parent is not None
        start = position
        while start and past[start - 1].role == "user":
            start -= 1
        parent = tree.get(node.parent)
        return Match(tree.session, parent.id, tuple(past[start:]), _shown(tree, parent, past, start), found.how)

    async def _joined(self, found: _Candidate, past: Sequence[Utterance], owner: str) -> Match | None:
        """The place in another story that a session continues which began with the end of it.

        A chat that showed an edited reply and new words alone proved no place, and that reply became the session's
        greeting. Now the history has the greeting, the session's whole path behind it, and known turns above it.
        """
        tree, root = found.tree, found.tree.get(found.tree.root)
        if found.how != "reply" or not root.reply_key:
            return None
        replies = [at for at in range(found.position + 1) if past[at].role == "assistant"]
        if found.node.depth >= len(replies):
            return None
        above = replies[: -found.node.depth] if found.node.depth else replies
        at = above[-1]
        if past[at].key != root.reply_key or all(each.role == "assistant" for each in past[:at]):
            return None
        for position in above[: -_ABOVE - 1 : -1]:
            other = await self._at(past, position, owner, None)
            if other is None or other.tree.session == tree.session:
                continue
            one, two = [await self.known.session(each) for each in (other.tree.session, tree.session)]
            if one.world != two.world:
                return None
            return evolve(await self._matched(other, past), joined=(tree.session, found.node.id))
        return None

    async def _last_of_merged(self, found: _Candidate, past: Sequence[Utterance]) -> Node | None:
        """The last of several turns whose replies stand in one message, as strict clients send those of a group."""
        tree, node = found.tree, found.node
        (turn,) = await self.known.turns(tree.session, [node.id])
        rest = identity(past[found.position].text)[len(identity(turn.reply)) :]
        while rest:
            children = [tree.get(each) for each in tree.children.get(node.id, ())[-_CHILDREN:]]
            children = [each for each in children if each.user_key == _NO_WORDS]
            for child, turn in zip(
                children, await self.known.turns(tree.session, [each.id for each in children]), strict=True
            ):
                reply = identity(turn.reply)
                at = rest.find(reply, 0, _NAME + len(reply)) if reply else -1
                if at == 0 or (at > 0 and rest[at - 1] == ":"):
                    rest, node = rest[at + len(reply) :], child
                    break
            else:
                return None
        return node


def _told(said: Evidence, past: Sequence[Utterance]) -> Match:
    return Match(said.tree.session, said.parent.id, tuple(past[said.start :]), said.agreeing, "words")


def _stray(found: _Candidate, past: Sequence[Utterance]) -> bool:
    """Whether the last message merely looks like a part of a known reply, to other words: it begins one yet to come."""
    last = found.position == len(past) - 1
    return last and found.how != "reply" and _words_before(past, found.position) != found.node.user_key


_NO_WORDS = words_key(())


def opening_key(transcript: Transcript) -> str:
    """The fingerprint of a chat's greeting and the player's first words."""
    greeting = [utterance.key for utterance in transcript.greeting]
    first: list[str] = []
    for utterance in transcript.utterances[len(greeting) :]:
        if utterance.role != "user":
            break
        first.append(utterance.key)
    return fingerprint("\0".join((*greeting, "\1", *first)))


def _words_before(past: Sequence[Utterance], position: int) -> str:
    start = position
    while start and past[start - 1].role == "user":
        start -= 1
    return words_key(past[start:position])


def _verify(candidate: _Candidate, past: Sequence[Utterance]) -> _Candidate:
    """Count how many replies and words of the history agree with the path above the candidate, gaps allowed."""
    places = _places(past, candidate.position)
    above = islice(candidate.tree.upwards(candidate.node.id), 1, 1 + _LEVELS)
    found = [(candidate.node, candidate.position), *align(above, places, candidate.position)]
    run, users = len(found), sum(_words_before(past, place) == node.user_key for node, place in found)
    return _Candidate(candidate.tree, candidate.node, candidate.position, candidate.how, run, users)


def _is_below(candidate: _Candidate, above: _Candidate) -> bool:
    """Whether a candidate stands below another one, in the same session."""
    if candidate.tree.session != above.tree.session or candidate.node.id == above.node.id:
        return False
    return candidate.tree.is_ancestor(above.node.id, candidate.node.id)


def _rank(candidate: _Candidate) -> tuple[int, int, int, str]:
    """The longest verified run, the most words, the fewest turns that the history does not show, the newest."""
    return candidate.run, candidate.users, candidate.run - candidate.node.depth, candidate.node.id


def _trusted(candidate: _Candidate, past: Sequence[Utterance], length: int) -> bool:
    """A long reply proves its place by itself; a short one needs its words or its neighbours to agree."""
    if length >= SHORT or candidate.run > 1 or candidate.users:
        return True
    return not any(utterance.role == "assistant" for utterance in past[: candidate.position])


def _places(past: Sequence[Utterance], end: int) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for index in range(end):
        if past[index].role == "assistant":
            places.setdefault(past[index].key, []).append(index)
    return places


def _shown(tree: Tree, node: Node, past: Sequence[Utterance], position: int) -> frozenset[str]:
    """The turns from ``node`` upwards whose reply the history shows, as it was or edited."""
    said = [at for at in range(position + 1) if past[at].role == "assistant"]
    keys = identity_keys([past[at] for at in said])
    path, nodes = tree.followed(node.id), tree.nodes
    # Most histories show the end of the path, turn by turn.
    shown: list[str] = []
    for turn, key in zip(reversed(path), reversed(keys), strict=False):
        if nodes[turn].reply_key != key:
            break
        shown.append(turn)
    at = len(keys) - len(shown)
    if at:
        places: dict[str, list[int]] = {}
        for place, key in enumerate(keys[:at]):
            places.setdefault(key, []).append(place)
        # Hidden messages leave gaps, but not endless ones: the walk is bounded by the history, not by the tree.
        end = len(path) - len(shown)
        first = max(0, len(path) - 2 * len(past) - _LEVELS)
        above = [nodes[turn] for turn in path[first:end]]
        found = align(reversed(above), places, at)
        shown += [node.id for node, _ in found]
        indexes = {node.id: index for index, node in enumerate(above)}
        words = [_words_before(past, place) for place in said[:at]]
        shown += edited(above, [(indexes[node.id], place) for node, place in found], words)
    return frozenset(shown)
