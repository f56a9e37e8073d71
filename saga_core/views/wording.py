"""A searched text: its words, and whether another text has them."""

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
"""A run of letters or numbers, or the mark of an excerpt's omission, over which no match extends."""
_GAP = "…"
_LEAD = 40
"""Characters before a match that are shown if its sentence is too long."""


@lru_cache(maxsize=512)
def _plain(text: str) -> str:
    """Return ``text`` normalized for comparison, without punctuation: quotes and line breaks may differ."""
    return " ".join(match.group() for match in _RUN.finditer(match_text(nfc(text))))


def plainly(text: str) -> str:
    """Return ``text`` normalized for comparison, without punctuation."""
    return _plain(text)


def _asked(text: str) -> str:
    return _plain(text).strip("… ")


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


@define(eq=False)
class Heard:
    """A text in which words are searched, for any number of wordings."""

    text: str
    _plain: str | None = field(default=None, init=False)
    _terms: frozenset[str] | None = field(default=None, init=False)
    _folded: str | None = field(default=None, init=False)
    _nouns: Mapping[str, list[str]] | None = field(default=None, init=False)

    @property
    def plain(self) -> str:
        """The text without punctuation, between two spaces."""
        if self._plain is None:
            self._plain = f" {_plain.__wrapped__(self.text)} "
        return self._plain

    @property
    def terms(self) -> frozenset[str]:
        """The index terms of the text."""
        if self._terms is None:
            self._terms = frozenset(terms(self.text))
        return self._terms

    @property
    def folded(self) -> str:
        """The text normalized for word search."""
        if self._folded is None:
            self._folded = match_text(nfc(self.text))
        return self._folded

    @property
    def nouns(self) -> Mapping[str, list[str]]:
        """The forms of each one-syllable Korean noun in the text."""
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
    """A text prepared for comparison with others."""

    plain: str = field(converter=_asked)
    words: Mapping[str, str]
    """The words as typed, by search form. Words that carry no meaning are left out if there are others."""

    @property
    def short(self) -> bool:
        """Whether the words include Korean nouns of one syllable."""
        return any(is_hangul(word[0]) and (len(word) == 1 or bool(maybe_noun(word))) for word in self.words)

    @classmethod
    def of(cls, text: str) -> Wording:
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
        return self.forms_of(Heard(text))

    def forms_of(self, heard: Heard) -> dict[str, list[str]]:
        """As ``forms_in``, for a prepared text."""
        own, folded, short = heard.terms, heard.folded, self.short

        def forms(word: str) -> list[str]:
            if len(word) == 1 and is_hangul(word):  # a single syllable inside another word is no match
                return heard.nouns.get(word, []) if word in folded else []
            # Words with inflected endings, or without spaces between them, are found as parts of others.
            if word in own or (not word.isascii() and word in folded):
                return [word]
            return heard.nouns.get(maybe_noun(word), []) if short else []

        return {word: found for word in self.words if (found := forms(word))}

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
        return self._at(f" {_plain(text)} ") >= 0

    def closeness(self, heard: Heard) -> tuple[bool, float]:
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
        whole, _, starts, stops = laid_out(nfc(text))
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
