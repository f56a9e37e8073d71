"""Names with titles in languages that put no spaces between words, and family names with a title.

``苏师姐`` is 苏晚晴, ``天野先輩`` is 天野しおり, ``小叶`` is 叶知秋, ``맹 사형`` is 맹호연, as long as exactly one
person fits.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache

from attrs import frozen

from saga_core.language import fold_name, is_hangul, is_kana, is_unspaced, match_text
from saga_core.naming.forms import name_words

_LONGEST_FULL = 5
"""The maximum number of letters of a full name in Han characters or in Hangul."""


@frozen
class Core:
    """A name without its titles. If ``titled``, one was removed, and a single letter is enough to match a name."""

    text: str
    titled: bool


@lru_cache(maxsize=16_384)
def core(name: str) -> Core:
    """The core of a name. Its text is empty if the name is only a title."""
    plain = match_text(fold_name(name))
    if not is_unspaced(plain):
        words = name.split()
        if len(words) == 2 and all(map(_is_korean, words)) and _plain(words[1]) in _titles():
            return Core(fold_name(words[0]), True)
        if len(words) == 1 and _is_korean(plain):
            return _without(plain, least=2)
        return Core(plain, False)
    return _without(plain, least=1)


def _without(plain: str, least: int) -> Core:
    """``plain`` without titles at its end and its beginning; at least ``least`` letters remain, or none."""
    left, changed = plain, True
    while changed and left and (left.endswith(_ordered()) or left.startswith(_ordered())):
        changed = False
        for title in _ordered():
            if left.endswith(title) and (left == title or len(left) - len(title) >= least):
                left, changed = left.removesuffix(title), True
                break
            if len(title) > 1 and left.startswith(title) and len(left) - len(title) >= 2:
                left, changed = left.removeprefix(title), True
                break
    for diminutive in sorted(name_words("diminutives")):
        if left == plain and left.startswith(diminutive) and len(left) == len(diminutive) + 1:
            return Core(left.removeprefix(diminutive), True)
    return Core(left, left != plain)


def title_of(name: str) -> str:
    """The title after a Korean name, separated by a space: 이장 of ``박 이장님``; "" if there is none."""
    words = name.split()
    return _plain(words[1]) if len(words) == 2 and all(map(_is_korean, words)) and core(name).titled else ""


def _plain(title: str) -> str:
    """A title without the suffix of respect: 교수 of ``교수님``."""
    plain = fold_name(title)
    heads = (plain.removesuffix(suffix) for suffix in name_words("title_suffixes"))
    return next((head for head in heads if head in _titles()), plain)


@lru_cache(maxsize=16_384)
def entitled_name(name: str) -> tuple[str, frozenset[str]]:
    """A Korean name and its titles: 백운 and 교장, of ``백운 교장 선생님``. The name is "" if it is only a title or a
    family name, or where there are two."""
    words = name.split()
    if not words or not all(map(_is_korean, words)):
        return "", frozenset()
    if len(words) == 1:
        inner, plain = core(name).text, fold_name(name)
        words = [inner, plain.removeprefix(inner)] if inner and plain.startswith(inner) else words
    titles = frozenset(_plain(each) for each in words if each and _plain(each) in _titles())
    left = [each for each in words if each and _plain(each) not in _titles()]
    is_name = len(left) == 1 and len(left[0]) > 1 and left[0] not in name_words("long_families")
    return (fold_name(left[0]), titles) if is_name else ("", frozenset())


def may_call(name: str) -> bool:
    """Whether ``may_be_called(name, known)`` can be true for any known name."""
    one = core(name)
    return bool(one.text) and (one.titled or not _is_korean(one.text))


def may_be_called(name: str, known: str) -> bool:
    """Whether ``name`` may refer to ``known``: with other titles, or by the family or the given name alone."""
    one, other = core(name), core(known)
    if not one.text or not other.text or _of_two_places(name, known):
        return False
    if _is_korean(one.text):
        if one.titled and other.titled:  # 박 이장 is 박춘배 이장, but no 박 선장
            part, full = sorted((one.text, other.text), key=len)
            return title_of(name) == title_of(known) != "" and _is_part_in_korean(part, full)
        return one.titled and _is_part_in_korean(one.text, other.text)
    if one.text == other.text:
        # One family name with two different titles means two people of a family.
        return (one.titled or other.titled) and (len(one.text) > 1 or not (one.titled and other.titled))
    short, long = sorted((one, other), key=lambda each: len(each.text))
    if is_kana(long.text) or not 2 <= len(long.text) <= _LONGEST_FULL + 3:
        return False  # names in kana that merely share a part are different names
    if long.text.endswith(short.text):
        return short.titled or len(short.text) > 1 or len(long.text) > 2
    # The first two of three Han characters count as a part of the name only if a title was removed.
    return long.text.startswith(short.text) and (short.titled or (len(short.text) > 1 and len(long.text) > 3))


def _of_two_places(one: str, other: str) -> bool:
    """Whether two names say of what each is, and say different things: 番頭の源さん and 板場の源さん."""
    links = [each for each in name_words("possessives") if len(each) == 1]
    heads = [name.rpartition(link)[0] for link in links for name in (one, other) if link in name]
    return len(heads) == 2 and not any(head in second for head, second in (heads, heads[::-1]))


def is_name_of(name: str, known: Iterable[str]) -> bool:
    """Whether ``name`` is one of the ``known`` names, or the given name of one: 小满 of 周小满."""
    plain = match_text(fold_name(name))
    return any(
        plain == whole or (1 < len(plain) == len(whole) - 1 < _LONGEST_FULL and whole.endswith(plain))
        if (whole := match_text(fold_name(each))) and not whole.isascii()
        else fold_name(name) in (whole, *map(fold_name, each.split(" ")[:1]))
        for each in known
    )


def title_in(name: str) -> str:
    """The title behind the family name: 掌柜 of 周掌柜; "" if there is none."""
    plain, inner = match_text(fold_name(name)), core(name)
    return plain.removeprefix(inner.text) if inner.titled and plain.startswith(inner.text) else ""


def _is_part_in_korean(part: str, full: str) -> bool:
    """Whether ``part`` is the full Korean name ``full``, its family name or its given name."""
    if len(full) in (3, 4) and full[:2] in name_words("long_families") and part in (full, full[:2], full[2:]):
        return True
    return len(full) == 3 and part in (full, full[0], full[1:])


def is_bare_title(name: str) -> bool:
    """Whether a name is a title and nothing else: ``掌门``."""
    plain = match_text(fold_name(_unaddressed(name)))
    return plain in _titles() or (is_unspaced(plain) and not core(name).text)


def bears(known: str, title: str) -> bool:
    """Whether a known name contains a title: ``掌门陆玄清`` contains 掌门."""
    plain, wanted = match_text(fold_name(known)), match_text(fold_name(_unaddressed(title)))
    if _is_korean(wanted):
        return " " in known and wanted in map(_plain, known.split())
    return plain != wanted and (plain.endswith(wanted) or plain.startswith(wanted))


def _unaddressed(title: str) -> str:
    """A title without the form of address after it: ``황후`` for ``황후 마마`` and ``황후마마``, 교수 for 교수님."""
    words = title.split()
    if len(words) == 2 and fold_name(words[1]) in _addresses():
        return words[0]
    heads = (title.removesuffix(address) for address in _addresses() if len(words) == 1)
    return next((head for head in heads if head != title and match_text(fold_name(head)) in _titles()), _plain(title))


@cache
def _addresses() -> frozenset[str]:
    return frozenset(map(fold_name, name_words("addresses")))


@cache
def _titles() -> frozenset[str]:
    words = name_words("titles_around") | name_words("honorifics")
    return frozenset(match_text(fold_name(word)) for word in words)


@cache
def _ordered() -> tuple[str, ...]:
    without_spaces = (title for title in _titles() if is_unspaced(title))
    korean = (title for title in _titles() if _is_korean(title) and len(title) > 1)
    return tuple(sorted((*without_spaces, *korean), key=lambda title: (-len(title), title)))


def _is_korean(text: str) -> bool:
    return bool(text) and all(map(is_hangul, text))
