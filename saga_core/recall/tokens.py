"""Text to index terms. English words are stemmed; Korean is cut into syllable bigrams, for its words fail as terms.

A Hangul word loses its longest particle first. One that has but one syllable before a particle ("숲에", "검을") gives
that syllable besides its bigrams, since it may also be a word of two syllables ("사과"). Han and kana give bigrams;
numbers and words of other scripts stand as they are.
"""

from __future__ import annotations

import re
from functools import lru_cache

from saga_core.recall.particles import LONGEST, stripped
from saga_core.recall.stemmer import stem
from saga_core.text.korean import PARTICLES, bigrams, is_hangul
from saga_core.text.normal import nfc

_RUN = re.compile(
    r"[가-힣]+"
    r"|[a-zß-öø-ɏ]+(?:['’][a-z]+)?"
    r"|[0-9]+"
    r"|[\u3040-\u30ff\u3400-\u9fff]+"
    r"|[^\W_0-9a-zß-öø-ɏ가-힣\u3040-\u30ff\u3400-\u9fff]+"
)


def terms(text: str) -> list[str]:
    """The index terms of ``text``, in order, repeats included. NFC and case folding are done here."""
    found: list[str] = []
    for run in _RUN.findall(nfc(text).casefold()):
        found.extend(_terms_of(run))
    return found


def content_words(text: str) -> list[str]:
    """The words of ``text`` in the shape in which they stand in other sentences too, each once, in order.

    A Hangul word without its particle, the stem of an English word (most often its beginning). For looking where in a
    text a query is answered; words of one letter are left out.
    """
    found: dict[str, None] = {}
    for run in _RUN.findall(nfc(text).casefold()):
        word = (stripped(run) if is_hangul(run[0]) else stem(run)) if run[0].isalpha() else run
        if len(word) > 1 or not word.isascii():
            found.setdefault(word)
    return list(found)


@lru_cache(maxsize=16_384)
def _terms_of(run: str) -> tuple[str, ...]:
    first = run[0]
    if is_hangul(first):
        return _hangul(run)
    if "\u3040" <= first <= "\u9fff":
        return tuple(bigrams(run))
    return (stem(run),) if first.isalpha() and run.isascii() else (run,)


def _hangul(word: str) -> tuple[str, ...]:
    found = list(bigrams(stripped(word)))
    if 2 <= len(word) <= 1 + LONGEST and word[1:] in PARTICLES:
        found.append(word[0])
    return tuple(found)
