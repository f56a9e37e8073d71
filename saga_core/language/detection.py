"""Detects the language of a text by its script."""

from __future__ import annotations

import re
from functools import lru_cache

from saga_core.language.language import DEFAULT, language_of

_TOLD_BY = 16_000
"""The number of characters of a text that are examined."""
_HANGUL = re.compile("[가-힣]+")
_KANA = re.compile("[\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\uff66-\uff9d]+")
_HAN = re.compile("[\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+")
_UNSPACED = re.compile("[\u3005\u3041-\u30ff\u3400-\u9fff]+")
_ALL_KANA = re.compile("[\u3041-\u30ff]+")
_KATAKANA = re.compile("[\u30a1-\u30fa\uff66-\uff9d]")
_LATIN = re.compile("[A-Za-z]+")
_KEY = re.compile(r"^[ \t]*(?:[-*+][ \t]+)?[A-Za-z_ -]{1,24}:", re.M)
"""Matches a key of a world file at the beginning of a line."""
_KANA_SHARE = 10
"""A Japanese text has at least one kana per this many kana and Han characters. A Chinese text may have a stray one."""


def detect(text: str, default: str = "en") -> str:
    """The tag of the main language of a text, detected by its script.

    Hangul is Korean, kana are Japanese, and Han characters without kana are Chinese, or Japanese if ``default`` is
    "ja". Latin letters are English, or ``default`` if that is written in Latin letters. A character of the other
    scripts counts as two Latin letters. A text without letters of these scripts gives ``default``.
    """
    text = text[:_TOLD_BY]
    if text.isascii():
        return default if default == DEFAULT or _LATIN.search(text) is None else _latin(default)
    return _detected(text, default)


@lru_cache(maxsize=32)
def _detected(text: str, default: str) -> str:
    """Cached, because a card is the same in every turn, and a long one takes 0.1 ms."""
    hangul, latin = _count(_HANGUL, text), _count(_LATIN, text)
    kana, han = _count(_KANA, text), _count(_HAN, text)
    if max(hangul, kana + han) * 2 <= latin:
        return _latin(default) if latin else default
    if hangul >= kana + han:
        return "ko"
    if kana * _KANA_SHARE >= kana + han:
        return "ja"
    return default if default == "ja" and not kana else "zh"


@lru_cache
def _latin(default: str) -> str:
    """The tag of ``default`` if it is written in Latin letters, otherwise that of English."""
    found = language_of(default)
    return found.tag if found.grammar.is_latin else DEFAULT


def _count(letters: re.Pattern[str], text: str) -> int:
    """The number of characters that match ``letters``."""
    return sum(map(len, letters.findall(text)))


def language_of_files(text: str) -> str:
    """The language of an author's files. English keys are ignored, because files in any language may contain them. An
    English text with any Hangul counts as Korean."""
    found = detect(_KEY.sub("", text))
    return "ko" if found == "en" and _HANGUL.search(text) else found


def is_unspaced(text: str) -> bool:
    """Whether a text consists only of kana and Han characters, scripts without spaces between words."""
    return _UNSPACED.fullmatch(text) is not None


def is_kana(text: str) -> bool:
    """Whether a text consists only of kana."""
    return _ALL_KANA.fullmatch(text) is not None


def has_katakana(text: str) -> bool:
    """Whether a text contains katakana, of full or half width."""
    return _KATAKANA.search(text) is not None
