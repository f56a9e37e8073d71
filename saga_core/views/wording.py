"""A text that somebody asks about: its words, and whether another text says it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from functools import cache, lru_cache

from attrs import define, field, frozen

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
from saga_core.recall import STAMP, laid_out

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_RUN = re.compile(r"[^\W_]+|…")
"""A run of letters or numbers, or the mark of what an excerpt left out: no sentence reaches over it."""
_GAP = "…"
_LEAD = 40
"""Characters that stand in front of the place of a text where its sentence is too long to be shown."""


@lru_cache(maxsize=512)
def _plain(text: str) -> str:
    """``text`` without punctuation, as it is compared: a sentence may be told with other quotes or line breaks."""
    return " ".join(match.group() for match in _RUN.finditer(match_text(nfc(text))))


def plainly(text: str) -> str:
    """``text`` without punctuation, as it is compared."""
    return _plain(text)


def _asked(text: str) -> str:
    return _plain(text).strip("… ")


def _shapes(word: str) -> list[str]:
    """A word as it is looked for: among index terms, where numbers in words are digits and forms of a word are one, or
    as a part of others."""
    if word.isascii():
        return terms(word)
    nothing = telling_nothing()
    return [each if each in nothing else _bare(each) for each in content_words(word)]


def _bare(word: str) -> str:
    """A Hangul word without all particles behind it; two syllables stay."""
    if is_hangul(word[0]):
        for size in range(2, len(word)):
            if word[size:] in particles():
                return word[:size]
    return word


def unstamped(episode: str) -> str:
    """An episode without the number of its turn."""
    stamp = STAMP.match(episode)
    return episode if stamp is None else episode[stamp.end() :]


def spoken_of(episode: str) -> str:
    """What an episode says, without the number of its turn and SAGA's own labels ("lost:", "met:")."""
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


@define(eq=False)
class Heard:
    """A text in which words are looked for. Several wordings may be looked for in one."""

    text: str
    _plain: str | None = field(default=None, init=False)
    _terms: frozenset[str] | None = field(default=None, init=False)
    _folded: str | None = field(default=None, init=False)
    _nouns: Mapping[str, list[str]] | None = field(default=None, init=False)

    @property
    def plain(self) -> str:
        """Without punctuation, between spaces."""
        if self._plain is None:
            self._plain = f" {_plain.__wrapped__(self.text)} "
        return self._plain

    @property
    def terms(self) -> frozenset[str]:
        """Its index terms."""
        if self._terms is None:
            self._terms = frozenset(terms(self.text))
        return self._terms

    @property
    def folded(self) -> str:
        """As words are looked for in it."""
        if self._folded is None:
            self._folded = match_text(nfc(self.text))
        return self._folded

    @property
    def nouns(self) -> Mapping[str, list[str]]:
        """Its Korean nouns of one syllable, and in which forms it has them."""
        if self._nouns is None:
            found: dict[str, list[str]] = {}
            words = _WORD.findall(nfc(self.text))
            for word, noun in zip(words, short_nouns(words), strict=True):
                if noun:
                    found.setdefault(noun, []).append(word)
            self._nouns = found
        return self._nouns


@frozen
class Wording:
    """The text as it is compared with others."""

    plain: str = field(converter=_asked)
    words: Mapping[str, str]
    """Its words in the shape in which they stand elsewhere too, and as they were typed. Those that every sentence has
    are left out as long as there are others."""

    @property
    def short(self) -> bool:
        """Whether Korean nouns of one syllable are among the words."""
        return any(is_hangul(word[0]) and (len(word) == 1 or bool(maybe_noun(word))) for word in self.words)

    @classmethod
    def of(cls, text: str) -> Wording:
        """A wording without words, if ``text`` has none."""
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
        """Those of ``words`` that ``text`` has, forms of one word for each other."""
        return list(self.forms_in(text))

    def forms_in(self, text: str) -> dict[str, list[str]]:
        """As ``found_in``, and for each the parts of ``text``, folded, by which it is told there."""
        return self.forms_of(Heard(text))

    def forms_of(self, heard: Heard) -> dict[str, list[str]]:
        """As ``forms_in``."""
        own, folded, short = heard.terms, heard.folded, self.short

        def forms(word: str) -> list[str]:
            if len(word) == 1 and is_hangul(word):  # inside of another word it says nothing
                return heard.nouns.get(word, []) if word in folded else []
            # Where words are inflected at their ends, or have no spaces between them, they stand inside of others.
            if word in own or (not word.isascii() and word in folded):
                return [word]
            return heard.nouns.get(maybe_noun(word), []) if short else []

        return {word: found for word in self.words if (found := forms(word))}

    def typed(self, text: str) -> list[str]:
        """As ``found_in``, the words as they were typed."""
        return [self.words[word] for word in self.found_in(text)]

    def sharing(self, text: str) -> list[str]:
        """As ``typed``, and Korean words besides that stand there with another ending, or as the beginning of a
        compound: two syllables of the stem at least."""
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
        """Whether ``told``, which was made of ``whole``, says what of it is meant: the very sentence where it stands in
        ``whole``, else every one of the words that ``whole`` has."""
        if self.stands_in(told):
            return True
        return not self.stands_in(whole) and set(self.found_in(whole)) <= set(self.found_in(told))

    def stands_in(self, text: str) -> bool:
        """Whether the text stands there word for word, punctuation and case aside, and no part of a word for itself."""
        return self._at(f" {_plain(text)} ") >= 0

    def closeness(self, heard: Heard) -> tuple[bool, float]:
        """Whether a text says the text word for word, and how much of the words it has."""
        return self._at(heard.plain) >= 0, len(self.forms_of(heard)) / len(self.words)

    def _at(self, said: str) -> int:
        """Where ``plain`` stands in a text without punctuation, which has a space at both ends; -1 for nowhere."""
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
        """The sentences of ``text`` in which the text stands word for word, at most ``limit`` characters: all of a
        short one. None where it does not stand there."""
        whole, _, starts, stops = laid_out(nfc(text))
        runs = list(_RUN.finditer(whole))
        words = [match_text(run.group()) for run in runs]
        at = self._at(f" {' '.join(words)} ")
        if at < 0:
            return None
        ends = [0]
        for word in words:
            ends.append(ends[-1] + len(word) + 1)
        # One space stands in front of all: the word whose letters begin at ``ends[n] + 1`` is number n.
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
