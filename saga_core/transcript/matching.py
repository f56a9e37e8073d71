"""Finds the place of a request: the turn that its history proves, and the kind of the request."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import takewhile

from attrs import define, evolve, field, frozen
from cachetools import LRUCache

from saga_core.model import Session, Tree, TurnKind, TurnNode
from saga_core.transcript.dialogue import Transcript, Utterance, excerpts, identity_keys
from saga_core.transcript.evidence import (
    ABOVE,
    NO_WORDS,
    Candidate,
    Edit,
    History,
    PlayerTextMatcher,
    ReplyEvidence,
    ReplyMatcher,
    TurnIndex,
    align,
    edited,
    latest,
    resembles,
)
from saga_core.transcript.evidence import SHORT as SHORT
from saga_core.transcript.evidence import words_key as words_key
from saga_core.transcript.identities import fingerprint, identity, identity_key
from saga_core.transcript.one_message import told_apart
from saga_core.transcript.request_kind import classify, names_the_next

# -- the matcher -----------------------------------------------------------------------------------------------
#
# Finds a transcript's place: the known turn that is the request's parent according to its history.
#
# Histories are read from the end. The deepest assistant message that equals a known reply identifies the parent. A
# message that continues a known reply, or is its beginning, also identifies its place; it becomes a sibling with the
# text that the player kept (``reply_match``). If no reply is known, the player's words identify the place
# (``player_text_match``). System messages are ignored, because notes, world info and macros change them on every turn.

_LEVELS = 256
"""Turns of the path that are searched in addition to twice the length of the history."""
_UNKNOWN = 64
"""Unknown replies from the end after which the player's words are looked up."""
_ASKED = 12
"""Quoted utterances that are looked up."""
_CHILDREN = 32
_ONE_MESSAGE = (["user"], ["user", "assistant"])
"""The roles in a request that may have its whole chat in one message."""
_NARRATED = (TurnKind.NARRATION, TurnKind.CONTINUATION)
_NAME = 42
"""Maximum characters of a name with its colon."""


@frozen
class Match:
    """The place of a transcript."""

    session: str | None
    """None if nothing in the transcript is known."""
    parent: str = ""
    """The deepest known turn that the request continues."""
    unknown: tuple[Utterance, ...] = ()
    """Utterances between ``parent`` and the player's words that are not known turns: edited, cut or new."""
    shown: frozenset[str] = frozenset()
    """Turns of the path whose reply the history shows."""
    edits: tuple[Edit, ...] = ()
    """Those whose text it may show otherwise than it was recorded, between neighbours that are unchanged or edited."""
    how: str = "none"
    """``reply``, ``grown``, ``cut``, ``words``, ``opening``, ``session`` or ``none``."""
    joined: tuple[str, str] | None = None
    """Another session in which ``unknown`` is known, and its last turn that the history shows."""


@define
class Matcher:
    """Matches transcripts against the journal. ``tree`` returns a session's tree and loads it if needed."""

    known: TurnIndex
    tree: Callable[[str], Awaitable[Tree]]
    alone: Callable[[str], Awaitable[None]] | None = None
    """See ``ReplyMatcher``."""
    examined: int = field(default=0, init=False)
    """Number of candidates examined, for the counters."""

    async def match(
        self,
        transcript: Transcript,
        *,
        owner: str,
        only: Session | None = None,
        world: Callable[[], Awaitable[str]] | None = None,
    ) -> Match:
        """Find the place of ``transcript`` among the turns of ``owner``, or of the session ``only``.

        ``world`` returns a world's name. A chat without known replies is found only among sessions of that world.
        """
        past = transcript.past
        replies = self._replies(History(past), owner, only, partial(opening_key, transcript))
        try:
            return await self._match(transcript, replies, world)
        finally:
            self.examined += replies.examined

    def _replies(self, history: History, owner: str, only: Session | None, opening: Callable[[], str]) -> ReplyMatcher:
        return ReplyMatcher(self.known, self.tree, history, owner, only, opening, self.alone)

    async def _match(
        self, transcript: Transcript, replies: ReplyMatcher, world: Callable[[], Awaitable[str]] | None
    ) -> Match:
        history, owner, only = replies.history, replies.owner, replies.only
        past = history.past
        greeting = len(transcript.greeting) if len(transcript.greeting) <= len(past) else len(past)

        async def accepts(session_id: str) -> bool:
            if only is not None:
                return session_id == only.id
            return world is None or (await self.known.session(session_id)).world == await world()

        witness = PlayerTextMatcher(self.known, self.tree, accepts)
        said: ReplyEvidence | None = None
        unknown = 0
        for position in range(len(past) - 1, greeting - 1 if transcript.words else -1, -1):
            if past[position].role != "assistant":
                continue
            found = await replies.find(position)
            if found is not None and not (transcript.prefilled and _stray(found, history)):
                joined = (
                    await self._brought_back(found, replies) or await self._joined(found, replies)
                    if only is None
                    else None
                )
                return joined or await self._matched(found, history)
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
            # If a client sends only the last reply and new words, the reply is where a greeting would be.
            found = await replies.find(position)
            if found is not None and found.how == "reply":
                return await self._matched(found, history)
        rest = past[greeting:] if transcript.words or greeting < len(past) else ()
        if only is None:
            for session_id in reversed(await replies.opening_sessions()):
                if await accepts(session_id):
                    session = await self.known.session(session_id)
                    return Match(session.id, session.root, rest, how="opening")
        if said is not None:
            return _told(said, past)
        if only is not None:
            return Match(only.id, only.root, rest, how="session")
        return Match(None, unknown=rest)

    async def cast(self, transcript: Transcript, owner: str) -> Transcript:
        """Assign roles if only names identify the speakers: those with a known reply are characters."""
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
        """Whether the request's last message quotes a known reply, outside of a story.

        Requests to translate a reply or to name its mood do that.
        """
        if transcript.greeting or not transcript.words:
            return False
        for text in excerpts(transcript.words[-1].text):
            if len(identity(text)) < SHORT:
                continue
            for session_id, turn_id in await self.known.replies(owner, identity_key(text), 1):
                tree = await self.tree(session_id)
                if turn_id in tree and tree.get(turn_id).kind is not TurnKind.SIDE:
                    return True
        return False

    async def _matched(self, found: Candidate, history: History) -> Match:
        past, tree, node, position = history.past, found.tree, found.node, found.position
        last = await self._last_of_merged(found, past) if found.how == "grown" else None
        if found.how == "reply" or last is not None:
            node = last or node
            shown, edits = _shown(tree, node, history, position)
            shown |= {node.id, found.node.id} if last else set()
            return Match(tree.session, node.id, tuple(past[position + 1 :]), shown, edits, "reply")
        # The reply has a different text. Its parent is certain, and the new text becomes a sibling.
        assert node.parent is not None
        start = history.words_start(position)
        parent = tree.get(node.parent)
        return Match(tree.session, parent.id, tuple(past[start:]), *_shown(tree, parent, history, start), found.how)

    async def _brought_back(self, found: Candidate, replies: ReplyMatcher) -> Match | None:
        """Return the place in the session that narrated the turns with which the found session began, or None.

        A chat whose session was deleted goes on in one that adopts its turns. If the deleted one is brought back, it is
        the story again, with the turns that were narrated meanwhile.
        """
        tree, history = found.tree, replies.history
        if found.node.depth == 0 or tree.ancestor_at(found.node.id, 1).kind is not TurnKind.ADOPTED:
            return None
        path = [tree.get(turn) for turn in tree.followed(found.node.id)[1:]]
        last = [*takewhile(lambda node: node.kind is TurnKind.ADOPTED, path)][-1]
        shown = latest(history.places.get(last.reply_key, ()), found.position + 1)
        other = await replies.elsewhere(Candidate(tree, last, shown[-1], "reply")) if shown else None
        if other is None or not any(node.kind in _NARRATED for node in other.tree.upwards(other.node.id)):
            return None
        one, two = [await self.known.session(each) for each in (other.tree.session, tree.session)]
        if one.world != two.world or two.label:
            return None
        match = await self._matched(found, history)
        return evolve(await self._matched(other, history), joined=(tree.session, match.parent))

    async def _joined(self, found: Candidate, replies: ReplyMatcher) -> Match | None:
        """Return the place in another session if the found session is its continuation, or None.

        Such a session began with a request that had only an edited reply and new words. It matched no place, and the
        reply became the session's greeting. Now the history has the greeting, the session's whole path after it, and
        known turns of the other session before it.
        """
        tree, root = found.tree, found.tree.get(found.tree.root)
        if found.how != "reply" or not root.reply_key:
            return None
        past = replies.history.past
        shown = [at for at in replies.history.replies if at <= found.position]
        if found.node.depth >= len(shown):
            return None
        above = shown[: -found.node.depth] if found.node.depth else shown
        at = above[-1]
        if past[at].key != root.reply_key or all(each.role == "assistant" for each in past[:at]):
            return None
        for position in above[: -ABOVE - 1 : -1]:
            other = await replies.find(position)
            if other is None or other.tree.session == tree.session:
                continue
            one, two = [await self.known.session(each) for each in (other.tree.session, tree.session)]
            if one.world != two.world:
                return None
            return evolve(await self._matched(other, replies.history), joined=(tree.session, found.node.id))
        return None

    async def _last_of_merged(self, found: Candidate, past: Sequence[Utterance]) -> TurnNode | None:
        """Return the last of several turns whose replies are merged in one message, as strict clients do for groups."""
        tree, node = found.tree, found.node
        (turn,) = await self.known.turns(tree.session, [node.id])
        text, end = identity(past[found.position].text), len(identity(turn.reply))
        while end < len(text):
            children = [tree.get(each) for each in tree.children.get(node.id, ())[-_CHILDREN:]]
            children = [each for each in children if each.user_key == NO_WORDS]
            for child, turn in zip(
                children, await self.known.turns(tree.session, [each.id for each in children]), strict=True
            ):
                reply = identity(turn.reply)
                at = text.find(reply, end, end + _NAME + len(reply)) if reply else -1
                if at == end or (at > end and text[at - 1] == ":"):
                    end, node = at + len(reply), child
                    break
            else:
                return None
        return node


def _told(said: ReplyEvidence, past: Sequence[Utterance]) -> Match:
    return Match(said.tree.session, said.parent.id, tuple(past[said.start :]), said.agreeing, how="words")


def _stray(found: Candidate, history: History) -> bool:
    """Whether the last message only resembles a known reply but follows other words, and so is a prefill."""
    last = found.position == len(history.past) - 1
    return last and found.how != "reply" and history.words_before(found.position) != found.node.user_key


def opening_key(transcript: Transcript) -> str:
    """Return the fingerprint of a chat's greeting and the player's first words."""
    greeting = [utterance.key for utterance in transcript.greeting]
    first: list[str] = []
    for utterance in transcript.utterances[len(greeting) :]:
        if utterance.role != "user":
            break
        first.append(utterance.key)
    return fingerprint("\0".join((*greeting, "\1", *first)))


def _shown(tree: Tree, node: TurnNode, history: History, position: int) -> tuple[frozenset[str], tuple[Edit, ...]]:
    """Return the turns from ``node`` upwards whose reply the history shows, unchanged or edited, and their edits."""
    past = history.past
    said = [at for at in history.replies if at <= position]
    keys = identity_keys([past[at] for at in said])
    path, nodes = tree.followed(node.id), tree.nodes
    # Most histories show the end of the path, turn by turn.
    shown: list[str] = []
    for turn, key in zip(reversed(path), reversed(keys), strict=False):
        if nodes[turn].reply_key != key:
            break
        shown.append(turn)
    at, end = len(keys) - len(shown), len(path) - len(shown)
    replies = {end + number: at + number for number in range(max(0, len(shown) - _LEVELS), len(shown))}
    if at:
        places: dict[str, list[int]] = {}
        for place, key in enumerate(keys[:at]):
            places.setdefault(key, []).append(place)
        # Hidden messages leave gaps, but the walk is bounded by the length of the history, not of the tree.
        first = max(0, len(path) - 2 * len(past) - _LEVELS)
        above = [nodes[turn] for turn in path[first:end]]
        indexes = {node.id: index for index, node in enumerate(above)}
        known = [(indexes[node.id], place) for node, place in align(reversed(above), places, at)]
        words = [history.words_before(place) for place in said[:at]]
        for index, place in (*known, *edited(above, known, words)):
            shown.append(above[index].id)
            replies[first + index] = place
    return frozenset(shown), tuple(_edits(tree, path, replies, [*zip(said, keys, strict=True)], history))


def _edits(
    tree: Tree,
    path: Sequence[str],
    replies: Mapping[int, int],
    said: Sequence[tuple[int, str]],
    history: History,
) -> Iterator[Edit]:
    """Yield the turns of ``path`` that the history shows with another text, between neighbours that it shows as well.

    ``replies`` has the number of a turn's reply in ``said`` by the turn's index, and ``said`` its position and key.
    """
    for index, number in replies.items():
        node, (place, key) = tree.nodes[path[index]], said[number]
        if node.parent is None:
            continue
        words, is_next = history.words_before(place), replies.get(index - 1, number) == number - 1
        if key == node.reply_key:
            if node.id not in tree.edited and (words == node.user_key or not is_next):
                continue
        elif replies.get(index + 1) != number + 1 or not (is_next or words == node.user_key):
            continue
        own = history.past[history.words_start(place) : place] if is_next else ()
        yield Edit(node.id, history.past[place], own or None)


# -- the place, and the kind of the request --------------------------------------------------------------------

_COMPARED = 32


@frozen
class Located:
    """A request with its kind and its place in a story."""

    transcript: Transcript
    match: Match
    kind: TurnKind

    @property
    def outside(self) -> bool:
        """Whether it is a side request that shows nothing of a known story."""
        return self.kind is TurnKind.SIDE and self.match.how in ("none", "session")


async def locate(
    matcher: Matcher, transcript: Transcript, *, owner: str, only: Session | None, world: Callable[[], Awaitable[str]]
) -> Located:
    """Find the place of ``transcript`` among the turns of ``owner``, or of the session ``only``."""
    transcript = await matcher.cast(transcript, owner)
    match = await matcher.match(transcript, owner=owner, only=only, world=world)
    if transcript.prefilled and _ends_unknown(match, transcript) and not await _is_reply(matcher, match, transcript):
        transcript = transcript.without_prefill()
        match = await matcher.match(transcript, owner=owner, only=only, world=world)
    elif transcript.calls and not transcript.words and _ends_unknown(match, transcript):
        transcript = transcript.without_step()
        match = await matcher.match(transcript, owner=owner, only=only, world=world)
    kind = classify(transcript)
    if kind is TurnKind.NARRATION and match.how in ("none", "session") and await matcher.quotes(transcript, owner):
        kind = TurnKind.SIDE
    return Located(transcript, match, kind)


def _ends_unknown(match: Match, transcript: Transcript) -> bool:
    return bool(match.unknown) and match.unknown[-1] is transcript.utterances[-1]


async def _is_reply(matcher: Matcher, match: Match, transcript: Transcript) -> bool:
    """Whether the assistant message at the end is a reply that was stopped, grown or edited, and is to be continued.

    Otherwise it is a prefill of the next reply and not part of the story.
    """
    if match.how in ("grown", "cut") and sum(each.role == "assistant" for each in match.unknown) == 1:
        return True
    if match.session is None:
        return False
    past = transcript.utterances[:-1]
    start = len(past)
    while start and past[start - 1].role == "user":
        start -= 1
    words, now = words_key(past[start:]), transcript.utterances[-1].text
    if not identity(now):  # only a quotation mark or a name, with which every reply may begin
        return False
    tree = await matcher.tree(match.session)
    said = [node.id for node in tree.nodes.values() if node.user_key == words and node.kind is not TurnKind.SIDE]
    for turn in await matcher.known.turns(match.session, said[-_COMPARED:]):
        known, shown = identity(turn.reply), identity(now)
        if known and (shown.startswith(known) or known.startswith(shown) or resembles(turn.reply, now)):
            return True
    return False


# -- notes that stand there at every turn ----------------------------------------------------------------------
#
# Distinguishes the notes that a frontend puts after a chat at every turn from one-time instructions.
#
# In a group chat, a frontend names the next speaker, then adds its usual notes, then an instruction if there is one.
# Only a comparison with an earlier turn can distinguish the last note from an instruction.

_CHATS = 1_024
_BLANK = re.compile(r"\n[ \t]*\n")


@frozen
class _Notes:
    """The paragraphs after a chat, without the one that names the next speaker."""

    paragraphs: tuple[str, ...]
    alone: bool
    """Whether the next speaker's name was there alone."""


@define
class UsualNotes:
    """The notes after each chat at the player's last words. They are kept only in memory. Without them, a request is
    classified by its own text.
    """

    _known: LRUCache[str, _Notes] = field(factory=lambda: LRUCache(_CHATS))

    def learn(self, session: str, located: Located) -> None:
        """Store the notes after the player's words if the request names the next speaker.

        Without player words, only fewer notes than known are stored, because the others may be an instruction.
        """
        transcript, known = located.transcript, self._known.get(session)
        if located.kind is not TurnKind.NARRATION or not transcript.past or not _says_who(transcript):
            return
        now = _notes(transcript)
        if transcript.words or known is None or len(now.paragraphs) < len(known.paragraphs):
            self._known[session] = now

    def corrected(self, located: Located) -> Located:
        """Return ``located``, with the kind of a request without player words corrected by the chat's usual notes."""
        transcript = located.transcript
        usual = self._known.get(located.match.session or "")
        if usual is None or transcript.words:
            return located
        now = _notes(transcript)
        if located.kind is TurnKind.NARRATION and _says_who(transcript):
            count = len(usual.paragraphs)
            if len(now.paragraphs) > count and now.paragraphs[:count] == usual.paragraphs:
                return evolve(located, kind=TurnKind.SIDE)
        if (
            located.kind is TurnKind.SIDE
            and usual.alone
            and not _says_who(transcript)
            and now == evolve(usual, alone=False)
        ):
            # No next speaker is named, so the last speaker continues.
            return evolve(located, kind=TurnKind.CONTINUATION)
        return located


def _says_who(transcript: Transcript) -> bool:
    return bool(transcript.speaker) or names_the_next(transcript.trailing_system)


def _notes(transcript: Transcript) -> _Notes:
    said = (part for part in _BLANK.split(transcript.trailing_system) if not names_the_next(part))
    return _Notes(tuple(text for part in said if (text := identity(part))), bool(transcript.speaker))
