"""Korean numbers in words: 열두, 스물다섯, 만 이천."""

from __future__ import annotations

import re

_ONES = {
    "한": 1, "두": 2, "세": 3, "석": 3, "서": 3, "네": 4, "넉": 4, "너": 4,
    "다섯": 5, "여섯": 6, "일곱": 7, "여덟": 8, "아홉": 9,
}  # fmt: skip
_TENS = {
    "열": 10, "스물": 20, "서른": 30, "마흔": 40, "쉰": 50, "예순": 60, "일흔": 70, "여든": 80, "아흔": 90,
}  # fmt: skip
_AFTER_TENS = [word for word in _ONES if word not in ("석", "서", "넉", "너")]

COUNTING: dict[str, int] = {"스무": 20, **{ten: tens for ten, tens in _TENS.items() if ten != "스물"}, **_ONES}
"""Korean numbers that consist of one word before a counter."""

ABOUT: dict[str, int] = {
    "한두": 1, "두어": 2, "두세": 2, "서너": 3, "너댓": 4, "네댓": 4, "네다섯": 4, "너덧": 4, "대여섯": 5, "예닐곱": 6,
    "일고여덟": 7, "여덟아홉": 8, "여남은": 10,
}  # fmt: skip
"""Approximate numbers, with their lowest value."""

_DIGITS = {word: number for number, word in enumerate("일이삼사오육칠팔구", 1)}
_UNITS = {"십": 10, "백": 100, "천": 1_000}
_GROUP = r"(?:[일이삼사오육칠팔구]?[십백천] ?)++[일이삼사오육칠팔구]?|[일이삼사오육칠팔구]"

_TWO_WORDS = re.compile(rf"({'|'.join(_TENS)})({'|'.join(_AFTER_TENS)})")

_NATIVE = rf"(?:{'|'.join(_TENS)})(?:{'|'.join(_AFTER_TENS)})"
_BELOW = rf"(?:{_GROUP}|\d{{1,3}},\d{{3}}|\d{{1,4}}[천백]?)"
_CHINESE = (
    rf"(?:{_BELOW} ?억(?: ?{_BELOW} ?만)?|{_BELOW} ?만(?: ?{_BELOW})?|만(?: ?(?:{_GROUP}))?|\d{{1,3}}[천백]|{_GROUP})"
)
_WHOLE = re.compile(f"{_NATIVE}|{_CHINESE}")
_APART = r"(?:(?<=[일이삼사오육칠팔구십백천만억\d]{2})|(?<=\s)|(?=\s))"

SPELLED = f"(?:{_NATIVE}|{_CHINESE}{_APART})"
"""A pattern of a native Korean number of two words, a Sino-Korean number, or a number in digits with 천, 만, 억. A
single syllable needs a space before it or before its counter: 사원 지도 is the map of a temple, and 천장 열쇠 is not a
thousand keys."""

_PART = re.compile(r"(\d+|[일이삼사오육칠팔구])?([십백천])?")


def value(written: str) -> int | None:
    """The value of a text that matches ``SPELLED``; None for any other text."""
    if two := _TWO_WORDS.fullmatch(written):
        return _TENS[two[1]] + _ONES[two[2]]
    plain = written.replace(" ", "").replace(",", "")
    if not plain or _WHOLE.fullmatch(written) is None:
        return None
    most, hundred_millions, plain = plain.rpartition("억")
    head, many, tail = plain.rpartition("만")
    whole = (_below(head) or 1) * 10_000 * bool(many) + _below(tail)
    return _below(most) * 100_000_000 * bool(hundred_millions) + whole


def _below(group: str) -> int:
    return sum(
        (int(digit) if digit.isdigit() else _DIGITS[digit] if digit else 1) * _UNITS.get(unit, 1)
        for digit, unit in _PART.findall(group)
        if digit or unit
    )
