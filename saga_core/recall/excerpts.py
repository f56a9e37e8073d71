"""What a remembered text is shortened to: the part that a query asks about, or its particular sentences."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from math import log
from typing import TypeVar
from weakref import ReferenceType, ref

from attrs import define, field, frozen

from saga_core.language import AFTER_NO_TITLE, caseless, folded_terms, match_text, simplified, telling_nothing
from saga_core.recall.episodes import PLAYER, PathEpisodes, few


@define(eq=False)
class SentenceTerms:
    """The terms of a text's sentences, computed once for all questions."""

    places: Mapping[str, int]
    """The sentences that have each term, as a bit mask. Bit 0 is the first sentence."""
    _seldom: AbstractSet[str] = frozenset()
    _rare: AbstractSet[str] = frozenset()
    _found: int | None = None
    _among: ReferenceType[AbstractSet[str]] | None = None

    @staticmethod
    def of(sentences: Iterable[str]) -> SentenceTerms:
        """Return the terms of ``sentences``, which must be in lower case. Single syllables and letters are skipped."""
        places: dict[str, int] = {}
        for number, sentence in enumerate(sentences):
            bit = 1 << number
            for term in folded_terms(sentence):
                if len(term) > 1 or term.isdigit():
                    places[term] = places.get(term, 0) | bit
        return SentenceTerms(places)

    def beside(self, not_seldom: AbstractSet[str], not_rare: AbstractSet[str]) -> int:
        """Return the bits of the sentences with three terms outside ``not_seldom`` or one term outside ``not_rare``.

        Both sets only grow, so terms that were found in them before are not checked again.
        """
        if self._among is None or self._among() is not not_seldom:
            self._seldom = self._rare = self.places.keys()
            self._among, self._found = ref(not_seldom), None
        if not self._seldom.isdisjoint(not_seldom):
            self._seldom, self._found = self._seldom - not_seldom, None
        if not self._rare.isdisjoint(not_rare):
            self._rare, self._found = self._rare - not_rare, None
        if self._found is None:
            self._found = _with_enough(self.places, self._seldom, self._rare)
        return self._found


class ParticularSentences:
    """Finds the particular sentences of texts. Made for one read, because it caches the counts of terms."""

    def __init__(self, episodes: PathEpisodes, turns: int) -> None:
        """``turns`` is the number of turns in ``episodes``."""
        self._spread = episodes.spread
        self._rare, self._seldom = few(turns)
        self._not_rare, self._not_seldom = episodes.common(self._rare), episodes.common(self._seldom)
        self._certain = not episodes.aside
        self._known: dict[str, int] = {}

    def __call__(self, worded: SentenceTerms) -> int:
        """Return the bits of the particular sentences, which have one rare term or three uncommon ones."""
        places = worded.places
        found = worded.beside(self._not_seldom, self._not_rare)
        if self._certain:
            return found
        known, most, rare = self._known, self._seldom, self._rare
        open_ = [term for term, bits in places.items() if bits & ~found]
        for term in open_:
            if term not in known:
                known[term] = self._spread(term, most)
        counted = [term for term in open_ if known[term] <= most]
        return _with_enough(places, counted, [term for term in counted if known[term] <= rare]) | found


def _with_enough(places: Mapping[str, int], seldom: Iterable[str], rare: Iterable[str]) -> int:
    """Return the bits of the sentences with one of ``rare`` or three of ``seldom``."""
    one = two = three = 0
    for term in seldom:
        bits = places[term]
        three |= two & bits
        two |= one & bits
        one |= bits
    for term in rare:
        three |= places[term]
    return three


D = TypeVar("D", int, str)


class SearchedWords:
    """The words that one read searches its texts for, as lower-case substrings (from ``content_words``).

    Each text is searched once.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self.words = tuple(words)
        self._standing: dict[str, list[str]] = {}

    def standing(self, text: str) -> list[str]:
        """Return the words that occur in ``text``, in the order of ``words``."""
        found = self._standing.get(text)
        if found is None:
            folded = normalized_turn(text)
            found = self._standing[text] = [word for word in self.words if word in folded]
        return found

    def possible(self, text: str) -> Sequence[str]:
        """Return the words that may occur in ``text`` or a part of it: all words until ``text`` was searched."""
        return self._standing.get(text, self.words)


def closeness(texts: Mapping[D, str], sought: SearchedWords, reach: int) -> dict[D, float]:
    """Return for each text the largest share of the words, 0 to 1, that occurs within ``reach`` characters.

    A word counts more when fewer of the texts have it. A word that all texts have counts 0.
    """
    standing = {document: sought.standing(text) for document, text in texts.items()}
    having = Counter(word for words in standing.values() for word in words)
    weights = {word: log(len(texts) / having[word]) for word in sought.words if having[word]}
    whole = sum(weights.values())
    if not whole:
        return dict.fromkeys(texts, 0.0)
    close: dict[D, float] = {}
    for document, words in standing.items():
        weighty = [word for word in words if weights[word]]
        if len(weighty) > 1:
            own = [weights[word] for word in weighty]
            best = _best(_places(normalized_turn(texts[document]), weighty), own, reach)
        else:
            best = weights[weighty[0]] if weighty else 0.0
        close[document] = best / whole
    return close


@lru_cache(maxsize=512)
def normalized_turn(text: str) -> str:
    """Return a turn's text normalized for word search. Cached: successive questions find mostly the same turns."""
    return match_text(text)


def _places(text: str, words: Sequence[str]) -> list[tuple[int, int]]:
    """Return (offset, word number) for every occurrence of a word in ``text``, ordered by offset."""
    found: list[tuple[int, int]] = []
    find = text.find
    for number, word in enumerate(words):
        at, size = find(word), len(word)
        while at >= 0:
            found.append((at, number))
            at = find(word, at + size)
    found.sort()
    return found


def _best(found: Sequence[tuple[int, int]], weights: Sequence[float], reach: int) -> float:
    """Return the largest total weight of different words that occur within ``reach`` characters."""
    best = 0.0
    total = 0.0
    inside = [0] * len(weights)
    first = 0
    for at, number in found:
        if not inside[number]:
            total += weights[number]
        inside[number] += 1
        while at - found[first][0] > reach:
            gone = found[first][1]
            inside[gone] -= 1
            if not inside[gone]:
                total -= weights[gone]
            first += 1
        best = max(best, total)
    return best


_END = re.compile(
    rf"[.!?。…！？\n]{AFTER_NO_TITLE}(?<!(?<!\w)[A-HJ-Z]\.)"
    r"(?:(?<=\n)\n*|(?<=[。！？])[\"'”’」』)]*\s*|(?<!\n)[\"'”’」』)]*\s+)"
)
"""The end of a sentence or a line, and not of an initial. The pattern starts with a single character set, which makes
the search twice as fast."""
GAP = "…"
_BEHIND, _FARTHER, _BEFORE = 0.5, 0.2, 0.3
"""Shares of a sentence's worth that are added to the next sentence, to the one after that, and to the previous one."""
_SAME = 1e-9
"""Tolerance below which two sums count as equal."""


def excerpt(text: str, weights: Mapping[str, float], limit: int, *, sentence: int = 0) -> str:
    """Return the run of whole sentences of ``text`` with the highest worth, on one line, in ``limit`` characters.

    A single sentence longer than ``limit`` may have up to ``sentence`` characters before it is cut. A text that fits is
    returned whole. ``weights`` maps lower-case words to their worth (see ``word_weights``). The answer to a question
    often stands next to the sentence that resembles it, so each sentence adds a part of its worth to its neighbours,
    most to the next one. Of equal runs the earlier one is returned. Omitted text at either end is marked with "…".
    """
    text, folded, starts, stops = split_sentences(text)
    if len(text) <= limit:
        return text.replace("\n", " ")
    marks = 2 * (len(GAP) + 1)
    room = limit - marks
    first, last = _best_run(worth_of(folded, starts, weights), starts, stops, room)
    start, stop = starts[first], stops[last]
    chosen = text[start:stop].replace("\n", " ")
    room = max(room, sentence - marks)
    if len(chosen) > room:
        return f"{GAP} {_cut(chosen, weights, room)} {GAP}"
    head = f"{GAP} " if first else ""
    tail = f" {GAP}" if last + 1 < len(starts) else ""
    behind = starts[last + 1] if tail else len(text)
    opened, open_behind = _speeches(text, (start, behind))
    return f"{head}{opened}{text[start:behind].rstrip()}{_QUOTES.get(open_behind, '')}{tail}".replace("\n", " ")


_QUOTES = {'"': '"', "“": "”", "„": "“", "「": "」", "『": "』", "«": "»"}
_QUOTE = re.compile(rf"[\n{''.join(sorted({*_QUOTES, *_QUOTES.values()}))}]")


def _speeches(text: str, places: Sequence[int]) -> list[str]:
    """The opening mark of the speech in which each of the ``places`` stands, in their order; "" outside speech. No
    speech goes on in the next line."""
    found: list[str] = []
    opened, at = "", 0
    for place in places:
        for each in _QUOTE.finditer(text, at, place):
            mark = each.group()
            if mark == "\n":
                opened = ""
            elif opened:
                opened = "" if mark == _QUOTES[opened] else opened
            elif mark in _QUOTES:
                opened = mark
        found.append(opened)
        at = max(at, place)
    return found


def word_weights(
    words: Sequence[str], texts: Sequence[str], possible: Sequence[Sequence[str]] | None = None
) -> tuple[dict[str, float], list[dict[str, float]]]:
    """Return the worth of each of ``words`` (from ``content_words``), and for each text the words it has.

    A word is worth more when fewer of ``texts`` have it. Question words and function words are ignored if there are
    other words. ``possible`` lists for each text the words that it may contain, if known.
    """
    nothing = telling_nothing()
    content = [word for word in words if word not in nothing] or list(words)
    having, wanted = dict.fromkeys(content, 0), possible or [content] * len(texts)
    each: list[list[str]] = []
    for text, may in zip(texts, wanted, strict=True):
        folded = normalized_turn(text)
        found = [word for word in may if word in having and word in folded]
        for word in found:
            having[word] += 1
        each.append(found)
    weights = {word: log(1 + len(texts) / max(1, count)) for word, count in having.items()}
    return weights, [{word: weights[word] for word in found} for found in each]


def _best_run(worth: Mapping[int, float], starts: Sequence[int], stops: Sequence[int], room: int) -> tuple[int, int]:
    """Return the numbers of the first and last sentence of the run with the highest worth in ``room`` characters.

    Each sentence adds a part of its worth to its neighbours. The last sentence of the run has some worth.
    """
    count = len(starts)
    if not worth:
        return 0, max((at for at in range(count) if stops[at] <= room), default=0)
    lent = [0.0] * (count + 3)  # sentence 0 adds to index -1, which is never read
    for at, own in worth.items():
        lent[at] += own
        lent[at - 1] += _BEFORE * own
        lent[at + 1] += _BEHIND * own
        lent[at + 2] += _FARTHER * own
    best, found = 0.0, (0, 0)
    first, total = max(0, min(worth) - 1), 0.0
    for last in range(first, min(count, max(worth) + 3)):
        own = lent[last]
        if not own:
            continue
        total += own
        least = stops[last] - room
        while first < last and starts[first] < least:
            total -= lent[first]
            first += 1
        if total > best + _SAME:
            best, found = total, (first, last)
    return found


@lru_cache(maxsize=1_024)
def split_sentences(text: str) -> tuple[str, str, list[int], list[int]]:
    """Return ``text`` with single spaces, the same in lower case, and the start and end offsets of its sentences.

    Results are cached because successive turns usually recall the same texts.
    """
    text = "\n".join(line for part in text.split("\n") if (line := _spaced(part)))
    return text, _folded(text), *_sentences(text)


def _spaced(line: str) -> str:
    """Return ``line`` with single spaces and none at its ends."""
    if line.isprintable() and "  " not in line:  # the space is the only printable white space
        return line.strip(" ")
    return " ".join(line.split())


def _sentences(text: str) -> tuple[list[int], list[int]]:
    """Return the start and end offsets of the sentences of a text with single spaces, without closing quotes."""
    spans = [end.span() for end in _END.finditer(text)]
    starts = [0, *[end for _, end in spans]]
    stops = [at if text[at] == "\n" else at + 1 for at, _ in spans]
    stops.append(len(text))
    return starts, stops


def _folded(text: str) -> str:
    """Return ``text`` in lower case with unchanged offsets: a letter that folds to several ("ß") stays as it is."""
    folded = simplified(text.casefold())
    if len(folded) == len(text):
        return folded
    return simplified("".join(lower if len(lower := char.casefold()) == 1 else char for char in text))


def worth_of(folded: str, starts: Sequence[int], weights: Mapping[str, float]) -> dict[int, float]:
    """Return the summed worth of the words in each sentence, by sentence number, without sentences that have none.

    ``starts`` has the start offsets of the sentences. A word counts once per sentence. White space separates the
    sentences, so no word crosses a boundary.
    """
    worth: dict[int, float] = {}
    find, get, last = folded.find, worth.get, len(starts) - 1
    for word, weight in weights.items():
        at = find(word)
        while at >= 0:
            if at and folded[at - 1].isalnum() and not caseless(word[0]):  # do not find "way" in "always"
                at = find(word, at + 1)
                continue
            sentence = bisect_right(starts, at)
            worth[sentence - 1] = get(sentence - 1, 0.0) + weight
            if sentence > last:
                break
            at = find(word, starts[sentence])
    return worth


def _cut(sentence: str, words: Iterable[str], room: int) -> str:
    """Return ``room`` characters of a long sentence, starting a little before the first of ``words``."""
    folded = match_text(sentence)
    places = [at for word in words if (at := folded.find(word)) >= 0]
    start = max(0, min(min(places, default=0) - room // 4, len(sentence) - room))
    return sentence[start : start + room].strip()


_WHOSE = re.compile(rf"{PLAYER}|[^\n:>\"“”]{{1,40}}:\s")
"""The speaker mark at the start of a line: the player's mark or a name."""
_ASKS = ("?", "？")
_LINES = 8
"""Shortened lines that are cached per turn. The same sentences are chosen most of the time."""


def particular_sentences(text: str, particular: Callable[[SentenceTerms], int]) -> str:
    """Return ``text`` on one line with only the ``particular`` sentences, or an empty string if there are none.

    ``particular`` takes the terms of all sentences and returns the bits of the particular ones. A question is omitted
    if the sentence after it is omitted, unless only such questions are left. Omissions are marked with "…". The speaker
    mark of a line is kept if any of its sentences is kept.
    """
    talk = _talk(text)
    kept = particular(talk.worded)
    # The answer to the last question of a turn is in the next turn.
    return talk.told(kept & ~(talk.asks & ~(kept >> 1)) or kept)


def most_similar_sentence(text: str, weights: Mapping[str, float]) -> str:
    """Return the sentence of ``text`` with the highest worth by ``weights``, marked as in ``particular_sentences``.

    Of equal sentences the first one is returned. A question is returned with the sentence after it. Returns an empty
    string if no sentence has any worth.
    """
    talk = _talk(text)
    worth = worth_of(talk.folded, talk.starts, weights)
    if not worth:
        return ""
    best = min(worth, key=lambda at: (-worth[at], at))
    asks = talk.asks >> best & 1 and best + 1 < len(talk.sentences)
    return talk.told((0b11 if asks else 0b1) << best)


@frozen(eq=False)
class _Talk:
    """A turn split into sentences, once for all questions."""

    line: str
    """The text on one line."""
    sentences: list[str]
    whose: list[str | None]
    """The speaker mark of each sentence that begins a line, "" if it has none; None for other sentences."""
    speeches: list[str]
    """The opening mark of the speech in which each sentence begins, or "", and of that behind the last."""
    asks: int
    """The bits of the questions."""
    worded: SentenceTerms
    folded: str
    starts: list[int]
    """As ``split_sentences`` gives them."""
    _lines: dict[int, str] = field(factory=dict)

    def told(self, kept: int) -> str:
        """Return the sentences with these bits on one line, or an empty string for none."""
        found = self._lines.get(kept)
        if found is None:
            if len(self._lines) == _LINES:
                self._lines.clear()
            found = self._lines[kept] = self._joined(kept)
        return found

    def _joined(self, kept: int) -> str:
        if kept == (1 << len(self.sentences)) - 1:
            return self.line
        if not kept:
            return ""
        parts: list[str] = []
        left_out, mark = False, ""
        for number, (sentence, begins) in enumerate(zip(self.sentences, self.whose, strict=True)):
            if begins is not None:
                mark = begins
            chosen = kept >> number & 1
            if chosen:
                if left_out:
                    parts += (mark, GAP) if mark and begins is None else (GAP,)
                opened = self.speeches[number] if left_out else ""
                closed = "" if kept >> number + 1 & 1 else _QUOTES.get(self.speeches[number + 1], "")
                parts.append(f"{opened}{sentence}{closed}")
                mark = ""
            left_out = not chosen
        return " ".join((*parts, GAP) if left_out else parts)


@lru_cache(maxsize=1_024)
def _talk(text: str) -> _Talk:
    """Split a turn. Cached: a read shortens about a hundred turns, most of them the same as in the read before."""
    text, folded, starts, stops = split_sentences.__wrapped__(text)
    sentences, whose, worded, asks = list[str](), list[str | None](), list[str](), 0
    ends = [*starts[1:], len(text)]
    speeches = _speeches(text, (*starts, len(text)))
    for start, stop, end in zip(starts, stops, ends, strict=True):
        if text.endswith(_ASKS, start, stop):
            asks |= 1 << len(sentences)
        sentences.append(text[start:end].rstrip())
        worded.append(folded[start:stop])
        begins = not start or text[start - 1] == "\n"
        found = _WHOSE.match(text, start) if begins else None
        whose.append(found.group().strip() if found is not None else "" if begins else None)
    return _Talk(text.replace("\n", " "), sentences, whose, speeches, asks, SentenceTerms.of(worded), folded, starts)
