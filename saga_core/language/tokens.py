"""Text to index terms. English words are stemmed; Korean is cut into syllable bigrams, for its words fail as terms.

A Hangul word loses its longest particle first, and gives its first syllable besides its bigrams: often that is all
that forms of a verb have in common ("끊겨서", "끊어져"), or of a noun of one syllable ("숲에", "숲은"). Han and kana
give bigrams; numbers and words of other scripts stand as they are. A number in words is the same term as in digits.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain

from saga_core.language.en.stemmer import stem
from saga_core.language.ko.particles import bigrams, is_hangul
from saga_core.language.ko.stripping import stripped
from saga_core.language.normal_forms import nfc

FUNCTION_WORDS = frozenset(
    map(
        stem,
        "a about all am an and any are as at be been but by can could did do does for from had has have he her hers "
        "him his how i if in into is it its just me my of on or our s she should so some t than that the their them "
        "then there these they this those to too us was we were what when where which who whom whose why will with "
        "would you your".split(),
    )
)
"""The stems of English words that nearly every sentence has."""

KOREAN_ENDINGS = frozenset(
    "습니 니다 했습 었습 았습 였습 합니 입니 어요 아요 해요 에요 예요 세요 네요 군요 지요 했어 었어 았어 였어 했다 "
    "었다 았다 였다 한다 된다 이다 있다 있었 있는 했던 었던 았던 하는 하고 했고 었고 았고 해서 어서 아서 하면 으면 "
    "지만 했지 었지 았지 하지 인데 는데 은데 으니 하니 려고 라고 다고 면서 더라 잖아 하며 으며 이며 하여 을까 할까 "
    "할게 을게 겠다 겠어 겠습 것은 것을 것이".split()
)
"""Syllable bigrams in which Korean verbs and sentences end, whatever they say."""

_COUNTS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
_TENS = "ten twenty thirty forty fifty sixty seventy eighty ninety hundred"
_ENGLISH_NUMBERS = {word: str(number) for number, word in enumerate(_COUNTS.split()) if number > 1}
_ENGLISH_NUMBERS |= {word: str(10 * number) for number, word in enumerate(_TENS.split(), 1)}
_KOREAN_NUMBERS = {
    **dict(zip("둘 셋 넷 다섯 여섯 일곱 여덟 아홉 열 열하나 열둘".split(), map(str, range(2, 13)), strict=True)),
    "열두": "12",
    "스물": "20",
    "스무": "20",
}
"""Numbers in words, which are found by their digits. "One" and 하나 say too many other things; 세 and 네 too."""

_KEPT = 64
"""Characters beyond which a text without a space is nothing to remember."""

_RUN = re.compile(
    r"[가-힣]+"
    r"|[a-zß-öø-ɏ]+(?:['’][a-z]+)?"
    r"|[0-9]+"
    r"|[\u3040-\u30ff\u3400-\u9fff]+"
    r"|[^\W_0-9a-zß-öø-ɏ가-힣\u3040-\u30ff\u3400-\u9fff]+"
)


def terms(text: str) -> list[str]:
    """The index terms of ``text``, in order, repeats included. NFC and case folding are done here."""
    parts = nfc(text).casefold().split()
    known = _terms_in if not parts or len(max(parts, key=len)) <= _KEPT else _terms_in.__wrapped__
    return list(chain.from_iterable(map(known, parts)))


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


@lru_cache(maxsize=8_192)
def _terms_in(part: str) -> tuple[str, ...]:
    """The terms of what stands between two spaces. Most of it comes again and again, punctuation and all."""
    return tuple(chain.from_iterable(map(_terms_of, _RUN.findall(part))))


def _terms_of(run: str) -> tuple[str, ...]:
    first = run[0]
    if is_hangul(first):
        return _hangul(run)
    if "\u3040" <= first <= "\u9fff":
        return tuple(bigrams(run))
    return (_ENGLISH_NUMBERS.get(run) or stem(run),) if first.isalpha() and run.isascii() else (run,)


def _hangul(word: str) -> tuple[str, ...]:
    bare = stripped(word)
    found = list(bigrams(bare))
    number = _KOREAN_NUMBERS.get(word) or _KOREAN_NUMBERS.get(bare)
    if number is not None:
        found.append(number)
    if len(word) > 1:
        found.append(word[0])
    return tuple(found)
