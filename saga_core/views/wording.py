"""A text that somebody asks about: its words, and whether another text says it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from attrs import field, frozen

from saga_core.language import (
    caseless,
    content_words,
    every,
    is_hangul,
    match_text,
    nfc,
    particles,
    telling_nothing,
    terms,
)
from saga_core.recall import STAMP

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_RUN = re.compile(r"[^\W_]+|…")
"""A run of letters or numbers, or the mark of what an excerpt left out: no sentence reaches over it."""


def _plain(text: str) -> str:
    """``text`` without punctuation, as it is compared: a sentence may be told with other quotes or line breaks."""
    return " ".join(match.group() for match in _RUN.finditer(match_text(nfc(text))))


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


@frozen
class Wording:
    """The text as it is compared with others."""

    plain: str = field(converter=_asked)
    words: Mapping[str, str]
    """Its words in the shape in which they stand elsewhere too, and as they were typed. Those that every sentence has
    are left out as long as there are others."""

    @classmethod
    def of(cls, text: str) -> Wording:
        """A wording without words, if ``text`` has none."""
        typed: dict[str, str] = {}
        for match in _WORD.finditer(nfc(text)):
            for word in _shapes(match.group()):
                if len(word) == 1 and word.isascii() and word.isalpha():
                    continue
                typed.setdefault(word, match.group())
        nothing = telling_nothing()
        return cls(text, {word: each for word, each in typed.items() if word not in nothing} or typed)

    def found_in(self, text: str) -> list[str]:
        """Those of ``words`` that ``text`` has, forms of one word for each other."""
        own, folded = frozenset(terms(text)), match_text(nfc(text))
        # Where words are inflected at their ends, or have no spaces between them, they stand inside of others.
        return [word for word in self.words if word in own or (not word.isascii() and word in folded)]

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
        """Whether the text stands there word for word, punctuation and case aside."""
        plain, said = self.plain, f" {_plain(text)} "
        before = "" if caseless(plain[:1]) else " "
        behind = "" if caseless(plain[-1:]) else " "
        return bool(plain) and f"{before}{plain}{behind}" in said
