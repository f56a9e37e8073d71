"""Telling the language of a text by its script."""

from __future__ import annotations

import re
from functools import lru_cache

_TOLD_BY = 16_000
"""Characters that tell a text's language."""
_HANGUL = re.compile("[가-힣]+")
_KANA = re.compile("[\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\uff66-\uff9d]+")
_HAN = re.compile("[\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+")
_UNSPACED = re.compile("[\u3005\u3041-\u30ff\u3400-\u9fff]+")
_ALL_KANA = re.compile("[\u3041-\u30ff]+")
_KATAKANA = re.compile("[\u30a1-\u30fa\uff66-\uff9d]")
_LATIN = re.compile("[A-Za-z]+")
_KEY = re.compile(r"^[ \t]*(?:[-*+][ \t]+)?[A-Za-z_ -]{1,24}:", re.M)
"""A key of a world file, at the beginning of a line."""
_KANA_SHARE = 10
"""Of so many kana and Han characters at least one is a kana in Japanese. A Chinese text may hold a stray one."""


def detect(text: str, default: str = "en") -> str:
    """The tag of the language that a text is written in for the most part, told by its script.

    Hangul is Korean, kana are Japanese, Han characters without kana Chinese, Latin letters English; each of the others
    says as much as two Latin letters. A few Han characters alone may be Japanese as well: then ``default`` decides. A
    text without letters is in ``default``; anything else that is written in no known script is English.
    """
    text = text[:_TOLD_BY]
    if text.isascii():
        return "en" if default == "en" or _LATIN.search(text) else default
    return _detected(text, default)


@lru_cache(maxsize=32)
def _detected(text: str, default: str) -> str:
    """A card is the same from turn to turn, and a long one takes 0.1 ms."""
    hangul, latin = _count(_HANGUL, text), _count(_LATIN, text)
    kana, han = _count(_KANA, text), _count(_HAN, text)
    if max(hangul, kana + han) * 2 <= latin:
        return "en" if latin else default
    if hangul >= kana + han:
        return "ko"
    if kana * _KANA_SHARE >= kana + han:
        return "ja"
    return default if default == "ja" and not kana else "zh"


def _count(letters: re.Pattern[str], text: str) -> int:
    """How many characters are in runs of such letters."""
    return sum(map(len, letters.findall(text)))


def language_of_files(text: str) -> str:
    """The language of an author's files, their English keys left out: these may stand in any of them. English ones with
    any Hangul in them count as Korean."""
    found = detect(_KEY.sub("", text))
    return "ko" if found == "en" and _HANGUL.search(text) else found


def is_unspaced(text: str) -> bool:
    """Whether a text is written in kana and Han characters alone: scripts that put no spaces between words."""
    return _UNSPACED.fullmatch(text) is not None


def is_kana(text: str) -> bool:
    """Whether a text is written in kana alone."""
    return _ALL_KANA.fullmatch(text) is not None


def has_katakana(text: str) -> bool:
    """Whether there is katakana in a text, of full or of half width."""
    return _KATAKANA.search(text) is not None
