"""Han characters, which several languages share: their simplified forms for matching, and numbers written in them."""

from __future__ import annotations

import re
from functools import cache

LETTERS = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_HAN = re.compile(f"[{LETTERS}]")
_DIGITS = {char: number for number, char in enumerate("〇一二三四五六七八九")} | {"两": 2, "零": 0}
_UNITS = {"十": 10, "百": 100, "千": 1_000, "万": 10_000}
_NUMBER = re.compile("[〇零一二两三四五六七八九十百千万]+")


def simplified(text: str) -> str:
    """``text`` with each Han character in its simplified form; the length stays the same. Traditional and Japanese
    forms of a character then compare equal. Only for matching: several characters may share a simplified form."""
    if text.isascii():
        return text
    return text.translate(_table()) if _HAN.search(text) is not None else text


@cache
def _table() -> dict[int, str]:
    from saga_core.language.han_variants import SIMPLIFIED, WRITTEN

    # The word for ledger is written 账本 or 帐本, in traditional forms with 賬 or 帳.
    return {**dict(zip(map(ord, WRITTEN), SIMPLIFIED, strict=True)), ord("帳"): "账", ord("帐"): "账"}


def numbers_in(run: str) -> list[str]:
    """The numbers above 1 in a run of simplified Han characters, as digits: "三百二十" is "320"."""
    found = (number_of(match.group()) for match in _NUMBER.finditer(run))
    return [str(number) for number in found if number > 1]


def number_of(written: str) -> int:
    """The value of a number in simplified Han characters, written with units ("三百二十") or as digits ("三二〇")."""
    if not any(char in _UNITS for char in written):
        return int("".join(str(_DIGITS[char]) for char in written))
    whole = part = digit = 0
    for char in written:
        if char in _DIGITS:
            digit = _DIGITS[char]
        elif char == "万":
            whole, part, digit = whole + (part + digit or 1) * 10_000, 0, 0
        else:
            part, digit = part + (digit or 1) * _UNITS[char], 0
    return whole + part + digit


def _spelled(number: int) -> str:
    tens, ones = divmod(number, 10)
    digits = "〇一二三四五六七八九"
    return ((digits[tens] if tens > 1 else "") + "十" if tens else "") + (digits[ones] if ones else "")


COUNTS = {_spelled(number): number for number in sorted(range(1, 32), key=lambda number: -len(_spelled(number)))}
"""The numbers up to 31 in Han characters, the longest first."""
