"""Names in Hangul or kana as models spell them in Latin letters: 준 as Jun or Joon, ミナ as Mina."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_SOUNDS = tuple(
    (re.compile(pattern), sound)
    for pattern, sound in (
        (r"[^a-z]", ""),
        (r"tsu", "tu"),
        (r"ti|chi", "ji"),
        (r"ch|[jz]", "j"),
        (r"sh", "s"),
        (r"r(?=[^aeiouy]|\Z)", ""),  # Park is Bak
        (r"[lr]", "r"),
        (r"[kg]", "g"),
        (r"[td]", "d"),
        (r"[pb]", "b"),
        (r"f", "h"),
        (r"(?<=[aeiou])h(?=[^aeiouy]|\Z)", ""),
        (r"ee", "i"),
        (r"oo|ou|eo|eu|o|u", "o"),
        (r"i(?=y)", ""),
        (r"(.)\1", r"\1"),
    )
)
"""The usual romanizations differ in these. Both spellings are brought to one."""
_LEAST = 3
"""The sounds that a name needs to be told from others."""


def is_spelled(latin: str, name: str) -> bool:
    """Whether ``latin`` spells ``name``, which is written in Hangul or kana."""
    sounds = _sounds(latin)
    return len(sounds) >= _LEAST and sounds == _sounds(_letters(name))


@lru_cache(maxsize=4_096)
def _letters(name: str) -> str:
    """The letters of a name in Hangul or kana; "" for any other."""
    found: list[str] = []
    for char in name:
        called = unicodedata.name(char, "")
        if called.startswith(("HANGUL SYLLABLE ", "HIRAGANA LETTER ", "KATAKANA LETTER ")):
            found.append(called.rpartition(" ")[2].casefold())
        elif char.isalpha():
            return ""
    return "".join(found)


@lru_cache(maxsize=4_096)
def _sounds(latin: str) -> str:
    text = latin.casefold()
    for pattern, sound in _SOUNDS:
        text = pattern.sub(sound, text)
    return text
