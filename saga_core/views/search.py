"""A search for a text in a story, and the answer row for each item that has it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cache, cached_property, lru_cache
from typing import Any, Literal, get_args

from attrs import define, field, frozen
from cachetools import LRUCache

from saga_core.config import LorebookConfig
from saga_core.context import Piece, TurnContext
from saga_core.language import (
    caseless,
    content_words,
    ends_word,
    every,
    is_hangul,
    match_text,
    maybe_noun,
    nfc,
    particles,
    short_nouns,
    telling_nothing,
    terms,
)
from saga_core.model import Delta, Event, Tree, TurnKind, deltas
from saga_core.recall import STAMP, excerpt, split_sentences
from saga_core.sessions import LiveSession

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_RUN = re.compile(r"[^\W_]+|…")
"""A run of letters or numbers, or the mark of an excerpt's omission, over which no match extends."""
_GAP = "…"
_LEAD = 40
"""Characters before a match that are shown if its sentence is too long."""


@lru_cache(maxsize=512)
def plainly(text: str) -> str:
    """Return ``text`` normalized for comparison, without punctuation: quotes and line breaks may differ."""
    return " ".join(match.group() for match in _RUN.finditer(match_text(nfc(text))))


def _asked(text: str) -> str:
    return plainly(text).strip("… ")


def _shapes(word: str) -> list[str]:
    """Return the search forms of a word: index terms, which unify numbers and inflections, or parts of other words."""
    if word.isascii():
        return terms(word)
    nothing = telling_nothing()
    return [each if each in nothing else _bare(each) for each in content_words(word)]


def _bare(word: str) -> str:
    """Return a Hangul word without its particles. At least two syllables are kept."""
    if is_hangul(word[0]):
        for size in range(2, len(word)):
            if word[size:] in particles():
                return word[:size]
    return word


def unstamped(episode: str) -> str:
    """Return an episode without its turn number."""
    stamp = STAMP.match(episode)
    return episode if stamp is None else episode[stamp.end() :]


def spoken_of(episode: str) -> str:
    """Return an episode without its turn number and SAGA's own labels ("lost:", "met:")."""
    facts, line_end, said = episode.partition("\n")
    if STAMP.match(facts) is None:
        return episode
    labels = _fact_labels()
    parts = [part.partition(": ") for part in unstamped(facts).split(" | ")]
    kept = [rest if label in labels else f"{label}{colon}{rest}" for label, colon, rest in parts]
    return " | ".join(kept) + line_end + said


@cache
def _fact_labels() -> frozenset[str]:
    return frozenset(word for each in every() for word in each.texts.episode.values())


@frozen(eq=False)
class SearchedText:
    """A text in which words are searched, for any number of wordings."""

    text: str

    @cached_property
    def plain(self) -> str:
        """The text without punctuation, between two spaces."""
        return f" {plainly.__wrapped__(self.text)} "

    @cached_property
    def terms(self) -> frozenset[str]:
        """The index terms of the text."""
        return frozenset(terms(self.text))

    @cached_property
    def folded(self) -> str:
        """The text normalized for word search."""
        return match_text(nfc(self.text))

    @cached_property
    def nouns(self) -> Mapping[str, list[str]]:
        """The forms of each one-syllable Korean noun in the text."""
        found: dict[str, list[str]] = {}
        words = _WORD.findall(nfc(self.text))
        for word, noun in zip(words, short_nouns(words), strict=True):
            if noun:
                found.setdefault(noun, []).append(word)
        return found


def _within(text: str, words: Set[str], lengths: Set[int]) -> Set[str]:
    """Return the words that a text has, also as parts of others. ``lengths`` are those of the words."""
    if len(text) * len(lengths) > len(words):
        return {word for word in words if word in text}
    return words & {text[at : at + length] for length in lengths for at in range(len(text) - length + 1)}


@frozen
class SearchWords:
    """A text prepared for comparison with others."""

    plain: str = field(converter=_asked)
    words: Mapping[str, str]
    """The words as typed, by search form. Words that carry no meaning are left out if there are others."""

    @cached_property
    def _syllables(self) -> frozenset[str]:
        """The words that are one syllable of Hangul. Inside another word, one is no match."""
        return frozenset(word for word in self.words if len(word) == 1 and is_hangul(word))

    @cached_property
    def _parts(self) -> tuple[frozenset[str], frozenset[int]]:
        """The words that are found as parts of others, because their endings are inflected or there are no spaces
        between words, and their lengths."""
        found = frozenset(word for word in self.words if not word.isascii()) - self._syllables
        return found, frozenset(map(len, found))

    @cached_property
    def _nouns(self) -> Mapping[str, list[str]]:
        """The words that may be forms of a Korean noun of one syllable, by noun."""
        found: dict[str, list[str]] = {}
        for word in self.words:
            if noun := maybe_noun(word):
                found.setdefault(noun, []).append(word)
        return found

    @property
    def short(self) -> bool:
        """Whether the words include Korean nouns of one syllable."""
        return bool(self._syllables or self._nouns)

    @cached_property
    def _order(self) -> Mapping[str, int]:
        return {word: at for at, word in enumerate(self.words)}

    @classmethod
    def of(cls, text: str) -> SearchWords:
        """Return the wording of ``text``. It has no words if ``text`` has none."""
        typed: dict[str, str] = {}
        words = _WORD.findall(nfc(text))
        for each, noun in zip(words, short_nouns(words), strict=True):
            for word in [noun] if noun else _shapes(each):
                if len(word) == 1 and word.isascii() and word.isalpha():
                    continue
                typed.setdefault(word, each)
        nothing = telling_nothing()
        return cls(text, {word: each for word, each in typed.items() if word not in nothing} or typed)

    def found_in(self, text: str) -> list[str]:
        """Return the words that ``text`` has in any form."""
        return list(self.forms_in(text))

    def forms_in(self, text: str) -> dict[str, list[str]]:
        """As ``found_in``, with the matching parts of the folded ``text`` for each word."""
        return self.forms_of(SearchedText(text))

    def forms_of(self, heard: SearchedText) -> dict[str, list[str]]:
        """As ``forms_in``, for a prepared text."""
        folded, parts = heard.folded, self._parts
        found = {word: [word] for word in (heard.terms & self.words.keys()) - self._syllables}
        if not folded.isascii():
            found |= {word: [word] for word in _within(folded, *parts)}
        if self._syllables:
            found |= {each: heard.nouns[each] for each in self._syllables & heard.nouns.keys() if each in folded}
        for noun in self._nouns.keys() & heard.nouns.keys() if self._nouns else ():
            found |= {word: heard.nouns[noun] for word in self._nouns[noun] if word not in found}
        return {word: found[word] for word in sorted(found, key=self._order.__getitem__)}

    def typed(self, text: str) -> list[str]:
        """As ``found_in``, with the words as typed."""
        return [self.words[word] for word in self.found_in(text)]

    def sharing(self, text: str) -> list[str]:
        """As ``typed``, including Korean words with a different ending or in a compound that share a stem of at least
        two syllables."""
        found = set(self.found_in(text))
        stems = {_bare(word) for word in _WORD.findall(nfc(text)) if is_hangul(word[0])}
        stems = {stem for stem in stems if len(stem) > 1}
        return [
            typed
            for word, typed in self.words.items()
            if word in found
            or (is_hangul(word[0]) and len(word) > 1 and any(word.startswith(s) or s.startswith(word) for s in stems))
        ]

    def told_by(self, told: str, whole: str) -> bool:
        """Whether ``told``, an excerpt of ``whole``, has the text word for word, or otherwise all of the words in
        ``whole`` if that does not have the text word for word."""
        if self.stands_in(told):
            return True
        return not self.stands_in(whole) and set(self.found_in(whole)) <= set(self.found_in(told))

    def stands_in(self, text: str) -> bool:
        """Whether ``text`` has the text word for word and as whole words, ignoring punctuation and case."""
        return self._at(f" {plainly(text)} ") >= 0

    def closeness(self, heard: SearchedText) -> tuple[bool, float]:
        """Return whether ``heard`` has the text word for word, and its share of the words."""
        return self._at(heard.plain) >= 0, len(self.forms_of(heard)) / len(self.words)

    def _at(self, said: str) -> int:
        """Return the offset of ``plain`` in a text without punctuation and with a space at both ends, or -1."""
        plain = self.plain
        at = said.find(plain) if plain else -1
        while at >= 0:
            if self._apart(said, at, at + len(plain)):
                return at
            at = said.find(plain, at + 1)
        return -1

    def _apart(self, said: str, start: int, stop: int) -> bool:
        first, last = said[start], said[stop - 1]
        if said[start - 1] != " " and (is_hangul(first) or not caseless(first)):
            return False
        rest, _, behind = said[stop:].partition(" ") if said[stop] != " " else ("", "", "")
        if not is_hangul(last):
            return not rest or caseless(last)
        return ends_word(said[:stop].rpartition(" ")[2], rest, behind.partition(" ")[0])

    def around(self, text: str, limit: int) -> str | None:
        """Return the sentences of ``text`` that have the text word for word, in at most ``limit`` characters, or all of
        a short text. None if it has no such sentence."""
        whole, _, starts, stops = split_sentences(nfc(text))
        runs = list(_RUN.finditer(whole))
        words = [match_text(run.group()) for run in runs]
        at = self._at(f" {' '.join(words)} ")
        if at < 0:
            return None
        ends = [0]
        for word in words:
            ends.append(ends[-1] + len(word) + 1)
        # The text begins with a space, so word number n begins at ``ends[n] + 1``.
        first, last = (bisect_right(ends, place - 1) - 1 for place in (at, at + len(self.plain) - 1))
        begin, end = runs[first].start(), runs[last].end()
        if len(whole) <= limit // 2:
            return whole.replace("\n", " ")
        start = starts[bisect_right(starts, begin) - 1]
        stop = max(end, stops[bisect_right(starts, end - 1) - 1])
        if stop - start > limit:
            start = max(start, begin - _LEAD)
            stop = min(stop, start + limit)
        head, tail = f"{_GAP} " if start else "", f" {_GAP}" if stop < len(whole) else ""
        return f"{head}{whole[start:stop].strip()}{tail}".replace("\n", " ")


_SESSIONS = 8
_MEANT = deltas.Noted | deltas.Unnoted | deltas.LoreLearned | deltas.EventScheduled


@frozen
class TurnItem:
    """An item from a turn or from a correction of it."""

    kind: Literal["note", "lore", "event"]
    turn: str
    depth: int
    key: str
    """The note's text, the entry's name, or the event's id."""
    text: str


@frozen
class _Read:
    later: tuple[Delta, ...]
    """The turn's amendments at the time when it was read."""
    events: tuple[Event, ...]


@define(eq=False)
class TurnItems:
    """Reads the turns of a session once. Turns that were amended since are read again."""

    _known: LRUCache[str, dict[str, _Read]] = field(factory=lambda: LRUCache(_SESSIONS), init=False)

    async def of(self, live: LiveSession) -> list[TurnItem]:
        """Return all items in a session, including notes that were removed later (see ``taken_back``)."""
        events = await self._events(live)
        root = live.tree.root
        found = [TurnItem("note", root, 0, text, text) for text in live.world.start_events]
        for turn, each in events.items():
            found += _of_turn(turn, live.tree.get(turn).depth, each)
        return found

    async def taken_back(self, live: LiveSession, path: frozenset[str]) -> set[tuple[int, str]]:
        """Return the notes that were removed on a path, as (depth of their turn, text)."""
        events = await self._events(live)
        return {
            (event.depth, event.text)
            for turn in path & events.keys()
            for event in events[turn]
            if isinstance(event, deltas.Unnoted)
        }

    async def _events(self, live: LiveSession) -> dict[str, tuple[Event, ...]]:
        """Return the events by turn, in the order of the tree, without turns that have none."""
        known = self._known.get(live.session.id, {})
        tree, amended = live.tree, live.amendments
        there = [node.id for node in tree.nodes.values() if node.kind is not TurnKind.SIDE]
        missing = [turn for turn in there if turn not in known or known[turn].later != amended.get(turn, ())]
        fresh: dict[str, _Read] = {}
        async for turn in live.each_turn(missing):
            events = tuple(event for event in live.effective(turn).events if isinstance(event, _MEANT))
            fresh[turn.id] = _Read(amended.get(turn.id, ()), events)
        whole = {turn: fresh.get(turn) or known[turn] for turn in there if turn in fresh or turn in known}
        self._known[live.session.id] = whole
        return {turn: read.events for turn, read in whole.items() if read.events}


def _of_turn(turn: str, depth: int, events: tuple[Event, ...]) -> Iterator[TurnItem]:
    for event in events:
        if isinstance(event, deltas.Noted):
            yield TurnItem("note", turn, depth, event.text, event.text)
        elif isinstance(event, deltas.LoreLearned) and event.text:
            yield TurnItem("lore", turn, depth, event.entry, f"{event.entry}: {event.text}")
        elif isinstance(event, deltas.EventScheduled):
            text = f"{event.name}: {event.text}" if event.text else event.name
            yield TurnItem("event", turn, depth, event.event, text)


_NEAR = 280
"""Maximum characters of a text that are shown around the words."""

Reason = Literal[
    "told",
    "own_words",
    "in_prompt",
    "in_front",
    "in_chat",
    "cut_out",
    "no_room",
    "not_known",
    "no_signal",
    "faded",
    "hidden",
    "not_due",
    "over",
    "opening",
    "later",
    "swiped",
    "elsewhere",
]
"""Why an item was in the prompt or not. The reasons in order: the context had it; the player said it in the request;
the world's text at the start of every prompt has it; the pages in front of the history had it; the sent history had it;
its turn or entry was in the context, but the excerpt left it out; it was found but did not fit; nothing in the scene
led to it, and it is not recorded whether the history had it; nothing in the scene led to it; its lore entry was last
mentioned too long ago; its lore entry waits for a first mention; its event is not due yet, by time, place or person;
its event expired, happened or was cancelled; it is in the opening, which only the sent history can show; it came with
that turn or later; it is in or below a swiped reply; it is on another branch."""

ORDER: Mapping[str, int] = {reason: place for place, reason in enumerate(get_args(Reason))}


@frozen
class Placed:
    """The items from a session's turns, relative to the given turn."""

    before: tuple[TurnItem, ...] = ()
    """Items on the turn's path before it."""
    aside: tuple[TurnItem, ...] = ()
    """Items from the turn itself, from later turns or from other branches (see ``where``)."""
    heard: Mapping[str, SearchedText] = field(factory=dict)
    """The items' texts, prepared for comparison."""


@frozen
class Knowledge:
    """Data for the search besides turns and states."""

    brought: TurnItems
    lorebook: LorebookConfig
    world_text: str
    """The author's text of the world, as in every prompt."""


@define
class Looking:
    """A search: the text, and the turn and context to search."""

    live: LiveSession
    turn: str
    context: TurnContext
    wording: SearchWords
    sure: bool
    knowledge: Knowledge
    placed: Placed

    @cached_property
    def _told(self) -> str:
        """The lines of the context, the skipped lines and the pages, normalized."""
        lines = [piece.text for piece in (*self.context.pieces, *self.context.skipped)]
        return "".join(f" {plainly(line)} \n" for line in (*lines, *self.context.pages.splitlines()))

    @property
    def above(self) -> str:
        """The turn that the context was read after."""
        return self.live.tree.get(self.turn).parent or self.turn

    def row(
        self, kind: str, key: str, text: str, reason: Reason, piece: Piece | None = None, **more: Any
    ) -> dict[str, Any]:
        """Return the answer row of an item. ``share`` is the share of the words that the text has, and ``words`` are
        these words as typed. ``verbatim`` tells whether the text has the asked text word for word. ``near`` is the part
        of the text around the words. ``line`` is the line that the context had or skipped."""
        said = spoken_of(text) if kind == "turn" else text
        forms = self.wording.forms_in(said)
        verbatim = self.wording.stands_in(said)
        shown = unstamped(text)
        near = self.wording.around(shown, _NEAR) if verbatim else None
        if near is None:
            near = excerpt(shown, {each: 1.0 for found in forms.values() for each in found}, _NEAR)
        return {
            "kind": kind,
            "key": key,
            "text": text,
            "share": 1.0 if verbatim else round(len(forms) / len(self.wording.words), 2),
            "words": [self.wording.words[word] for word in forms],
            "verbatim": verbatim,
            "near": near,
            "reason": reason,
            "line": piece.text if piece is not None else None,
            "score": round(piece.score, 4) if piece is not None else None,
            "tokens": piece.tokens if piece is not None else None,
            **more,
        }

    def closeness(self, text: str) -> tuple[bool, float]:
        """Return whether ``text`` has the asked text word for word, and its share of the words. Faster than ``row``."""
        heard = self.placed.heard.get(text)
        return self.wording.closeness(SearchedText(text) if heard is None else heard)

    def near_enough(self, text: str, least: float) -> bool:
        """Whether ``text`` has at least the share ``least`` of the words, or the asked text word for word."""
        verbatim, share = self.closeness(text)
        return verbatim or share >= least

    def became(self, key: str, whole: str, otherwise: Reason) -> tuple[Reason, Piece | None]:
        """Return the reason and the piece for ``key``, whose full text is ``whole``; ``otherwise`` without a piece."""
        for piece in self.context.pieces:
            if piece.key == key:
                return ("told" if self.wording.told_by(piece.text, whole) else "cut_out"), piece
        for piece in self.context.skipped:
            if piece.key == key:
                return "no_room", piece
        return otherwise, None

    def is_said(self, text: str) -> bool:
        """Whether a line of the context, a skipped line or the pages have ``text``, ignoring punctuation. Long texts
        are shortened there, so it is enough if both ``text`` and a line have the asked text word for word."""
        if f" {plainly(text)} " in self._told:
            return True
        return self.wording.stands_in(text) and any(map(self.wording.stands_in, self._told.splitlines()))


async def placed(live: LiveSession, turn: str, brought: TurnItems) -> Placed:
    """Return the items from the session's turns, relative to ``turn``."""
    tree = live.tree
    before: list[TurnItem] = []
    aside: list[TurnItem] = []
    above = tree.get(turn).parent
    path = frozenset(node.id for node in tree.path(above)) if above is not None else frozenset[str]()
    gone = await brought.taken_back(live, path)
    for each in await brought.of(live):
        if each.turn in path:
            if each.kind != "note" or (each.depth, each.key) not in gone:
                before.append(each)
        else:
            aside.append(each)
    return Placed(tuple(before), tuple(aside), {each.text: SearchedText(each.text) for each in (*before, *aside)})


def where(live: LiveSession, turn: str, other: str) -> Reason:
    """Return where a turn that is not on the path above ``turn`` is, relative to ``turn``."""
    if other == turn or live.tree.is_ancestor(turn, other):
        return "later"
    return "swiped" if _was_swiped(live.tree, live.head, turn, other) else "elsewhere"


def _was_swiped(tree: Tree, head: str, turn: str, other: str) -> bool:
    """Whether ``other`` is in or below another reply to the same words of the player as on the path of ``turn``."""
    path = head if tree.is_ancestor(turn, head) else turn
    node = tree.get(other)
    while node.parent is not None and not tree.is_ancestor(node.parent, path):
        node = tree.get(node.parent)
    if tree.get(path).depth < node.depth:
        return False
    return tree.ancestor_at(path, node.depth).user_key == node.user_key


def nearest(rows: Sequence[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    """Return the ``most`` best rows, one for each item."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for row in sorted(rows, key=lambda row: (not row["verbatim"], -row["share"], ORDER[row["reason"]])):
        found.setdefault((row["kind"], row["key"]), row)
    return list(found.values())[:most]
