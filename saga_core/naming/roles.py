"""Roles that a character card gives: ``秦少白——76号副官`` makes 秦副官 him, ``박두칠: 젊은 내관`` makes 박 내관 him."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import takewhile

from saga_core.language import fold_name, is_hangul, is_unspaced, match_text
from saga_core.naming.forms import is_full_name, is_title, name_words, words_of

_LEAST = 2
"""The minimum number of letters of a role that is a title behind a family name."""
_PARTS = re.compile(r"[,，、/·(（)）]")
_OF = re.compile(r"\b(?:of|to|for|by|with|under|and)\b")


@lru_cache(maxsize=4_096)
def is_entitled(name: str, known: str, about: str) -> bool:
    """Whether ``name`` is a part of the full name ``known`` with the role of which ``about`` tells.

    The role is the end of a part of ``about``: the head of the phrase in each of these languages.
    """
    parts = [part.strip() for part in _PARTS.split(about)]
    if name.isascii() or known.isascii():
        return _is_entitled_in_latin(name, known, parts)
    folded, whole = match_text(fold_name(name)), match_text(fold_name(known))
    if folded[:1] in name_words("diminutives") and folded[1:] == whole[:1]:
        return any(match_text(fold_name(part)).endswith(folded) for part in parts)  # the card says 组织里的老周
    before = _shared(folded, whole)
    if folded.endswith(whole):
        title = folded.removesuffix(whole)
    elif before and before not in name_words("diminutives") and _is_a_part(before, whole):
        title = folded.removeprefix(before)
    else:
        return False
    ends = (match_text(fold_name(part)) for part in parts)
    return len(title) >= _LEAST and any(end.endswith(title) and not end.endswith(folded) for end in ends)


def key_of(known: str) -> str:
    """What every name with a title has of ``known``: the last word in Latin script, otherwise the first letter."""
    return words_of(known)[-1] if known.isascii() else match_text(fold_name(known))[:1]


def keys_of(name: str) -> set[str]:
    """The keys of everybody whom ``name`` may mean."""
    return {words_of(name)[-1], *match_text(fold_name(name))}


def _shared(one: str, other: str) -> str:
    """The letters with which both texts begin."""
    return "".join(left for left, _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _is_a_part(before: str, whole: str) -> bool:
    """Whether ``before`` may be the family name of ``whole``, or all of it."""
    if before == whole:
        return True
    if all(map(is_hangul, whole)):
        return is_full_name(whole) and len(before) == 1
    return is_unspaced(whole) and len(before) < len(whole) <= _LEAST * 3


def _is_entitled_in_latin(name: str, known: str, parts: list[str]) -> bool:
    words, whole = words_of(name), words_of(known)
    if len(words) < _LEAST or words[-1] != whole[-1] or len(whole) < _LEAST:
        return False
    titles = [word.strip(".") for word in words[:-1]]
    heads = [words_of(_OF.split(part, maxsplit=1)[0].strip())[-1:] for part in parts]
    return is_title(titles[0]) and [titles[-1]] in heads and not any(map(str.isdigit, titles[-1]))
