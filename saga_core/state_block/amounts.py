"""Amounts: names with a quantity, and quantities by themselves."""

from __future__ import annotations

import re
from functools import cache

from saga_core.language import any_of, clean_name, every, normalized
from saga_core.state_block.flow import Node, Scalar, unquote
from saga_core.state_block.values import MAX_NAME, MAX_QUANTITY, Unreadable, is_nothing, shown

_MAX_WRITTEN = 200
"""Characters of a quantity as it is written."""
_COUNTERS = any_of(lambda each: each.amounts.counters)
_BEHIND = f"{_COUNTERS}|{any_of(lambda each: each.amounts.counters_behind)}"
_MONEY = any_of(lambda each: each.amounts.money)
_NATIVE = {word: number for each in every() for word, number in each.amounts.numbers.items()}
_PLURALS = {word: number for each in every() for word, number in each.amounts.plurals.items()}
_COUNTED = any_of(lambda each: each.amounts.counted)
_NUMBERED = any_of(lambda each: each.amounts.numbered)
_WIDE = {0xFF10 + n: str(n) for n in range(10)} | {ord("ｘ"): "x", ord("Ｘ"): "x", ord("，"): ","}
_N = r"(?P<n>\d{1,3}(?:,\d{3})+|\d+)"
_TIMES = r"(?:(?<![A-Za-z0-9])[xX]|[×✕✖*])"
_SPELLED = any_of(lambda each: each.grammar.spelled)
_JOINED = any_of(lambda each: each.grammar.joined)
_NAMED = any_of(lambda each: each.amounts.named)
_COUNTABLE = f"{any_of(lambda each: each.amounts.countable)}|{any_of(lambda each: each.grammar.countable)}"
_CURRENCY = any_of(lambda each: each.amounts.currency)
_SIGN = "[$€£¥₩₹]"
"""Signs of money: what is left of 20 is counted in them."""
_WORDS_N = "|".join((*_NATIVE, _SPELLED))
_NATIVE_N = f"(?P<n>{_WORDS_N})"
_ANY_N = rf"(?P<n>\d{{1,3}}(?:,\d{{3}})+|\d+|{_WORDS_N})"


@cache
def _amounts() -> tuple[re.Pattern[str], ...]:
    """Names with amounts. Made when they are first needed, as they take long."""
    patterns = (
        rf"(?P<name>.*\S)\s*[(（]\s*[xX×✕*]?\s*{_N}\s*(?:{_BEHIND})?\s*[)）]",
        rf"(?P<name>.*\S)\s*[(（]\s*{_NATIVE_N}\s*(?:{_BEHIND})\s*[)）]",
        rf"(?P<name>.*\S)\s*[:：=]\s*[xX×✕*]?\s*{_N}\s*(?:{_BEHIND})?",
        rf"(?P<name>.*?\S)\s*{_TIMES}\s*{_ANY_N}\s*(?:{_BEHIND})?",
        rf"(?!.*(?:{_NUMBERED}))(?P<name>.*[^\s\d,])\s*(?<![\d,]){_N}\s*(?:{_BEHIND})",
        rf"(?!(?:{_SPELLED})\s*(?:{_BEHIND})\Z)(?P<name>.*?\S)\s+{_NATIVE_N}\s*(?:{_BEHIND})",
        rf"(?P<name>.*?\S)(?P<n>{_JOINED})(?:{_BEHIND})",
        rf"(?!{_NAMED}){_N}\s*(?:{_COUNTERS})(?:{_COUNTED})(?P<name>\S.*)",
        rf"(?!{_NAMED}){_NATIVE_N}\s*(?:{_COUNTERS})(?:{_COUNTED})(?P<name>\S.*)",
        rf"{_N}\s*(?P<name>{_CURRENCY})",
        rf"(?P<name>{_SIGN})\s?{_N}",
        rf"{_N}\s?(?P<name>{_SIGN})",
        rf"{_NATIVE_N}\s*(?P<name>{_CURRENCY})",
        rf"{_N}\s*[xX×✕*]\s+(?P<name>\S.*)",
        rf"[xX×]\s?{_N}\s+(?P<name>[^\W\d_].*)",
        rf"(?P<name>{_MONEY})\s*\+?\s*{_N}",
        rf"(?P<name>{_MONEY})\s+{_NATIVE_N}",
        rf"{_NATIVE_N}\s*(?P<name>{_MONEY})",
        rf"{_N}\s*[×✕*]\s*(?P<name>\S.*)",
        rf"{_N}\s+(?P<name>[^\W\d_].*)",
        rf"(?P<n>{'|'.join(_PLURALS)})\s+(?!of )(?P<name>[a-z][a-z' -]*s|[a-z'-]+s of [a-z][a-z' -]*)",
        rf"(?P<name>{_COUNTABLE})\s+(?P<n>[1-9]\d{{0,2}})",
    )
    return tuple(map(re.compile, patterns))


@cache
def _quantities() -> re.Pattern[str]:
    return re.compile(
        rf"[xX×✕*]?\s*{_N}(?:\.0+)?\s*(?:{_BEHIND})?|{_NATIVE_N.replace('<n>', '<native>')}\s*(?:{_BEHIND})?"
    )


def split_amount(text: str) -> tuple[str, int | None]:
    """``healing potion x2`` as the name and the quantity; None when ``text`` gives no quantity.

    "sword +2" and "Volume 3" are names, "torches 3" is not. Raises Unreadable for a quantity of 0 or above
    ``MAX_QUANTITY``.
    """
    text = clean_name(text)
    if len(text) > MAX_NAME + 20:
        return text, None  # no name anyway: read_name says so
    plain = text.translate(_WIDE)
    for pattern in _amounts():
        if (match := pattern.fullmatch(plain)) and _is_number(match["n"]):
            name = text[match.start("name") : match.end("name")]  # as it is written; the signs are one for one
            return unquote(name).text, _quantity(match["n"])
    return unquote(text).text, None


def read_quantity(node: Node) -> int | None:
    """A quantity that stands by itself: ``2``, ``x2``; None for nothing. Raises Unreadable."""
    if isinstance(node, Scalar) and len(node.text) <= _MAX_WRITTEN:
        if is_nothing(node):
            return None
        text = normalized("NFKC", node.text).strip()
        match = _quantities().fullmatch(text)
        if match and _is_number(match["n"] or match["native"]):
            return _quantity(match["n"] or match["native"])
    raise Unreadable(f"{shown(node)} is no quantity")


def _is_number(written: str) -> bool:
    """Whether that is one: words that look like a number may say none, 三八."""
    if written in _NATIVE or written in _PLURALS or written.replace(",", "").isdecimal():
        return True
    return any(each.grammar.number(written) is not None for each in every())


def _quantity(written: str) -> int:
    if written in _NATIVE:
        return _NATIVE[written]
    if written in _PLURALS:
        return _PLURALS[written]
    spelled = next((found for each in every() if (found := each.grammar.number(written)) is not None), None)
    if spelled is not None:
        written = str(spelled)
    digits = written.replace(",", "").lstrip("0")
    if not digits or len(digits) > len(str(MAX_QUANTITY)) or not 1 <= int(digits) <= MAX_QUANTITY:
        raise Unreadable(f"the quantity {shown(written)} is not between 1 and {MAX_QUANTITY}")
    return int(digits)
