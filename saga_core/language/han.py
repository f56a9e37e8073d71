"""Han characters, which several languages share: their simplified forms for matching, and numbers written in them."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

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
    # The word for ledger is written 账本 or 帐本, in traditional forms with 賬 or 帳.
    return {**variants(), ord("帳"): "账", ord("帐"): "账"}


def variants() -> dict[int, str]:
    """Traditional and new Japanese forms of characters, each with its simplified form.

    ``han_variants.txt`` was made from ``TSCharacters.txt`` and ``JPVariants.txt`` of OpenCC 1.1
    (https://github.com/BYVoid/OpenCC, Apache License 2.0): characters of one code unit, the first choice of each. The
    3,181 forms stand there in order, then their simplified forms. OpenCC itself takes 8 MB.
    """
    text = Path(__file__).with_name("han_variants.txt").read_text(encoding="utf-8")
    written, plain = ("".join(part.split()) for part in text.split("\n\n"))
    return dict(zip(map(ord, written), plain, strict=True))


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


# -- counts in words, such as 三十, 兩百五十, 3万, 十几 ------------------------------------------------------------

_CIPHERS = "〇零一二三四五六七八九两兩"
_PLACES = "十百千万萬亿億"
_MORE = "多余餘几幾数数"

_FIRST = rf"\d{{1,4}}(?:,\d{{3}})?[千万萬亿億]|[{_CIPHERS[2:]}{_PLACES}]"
SPELLED = rf"(?:{_FIRST})[{_CIPHERS}{_PLACES}]{{0,12}}(?:[{_MORE}](?<=[{_PLACES}].))?"
"""A pattern of a number in Han characters, or in digits with 万. It also matches texts that are no numbers, for which
``value`` returns None."""

BEHIND = rf"(?<![第独獨唯初其同单單某每各半另这這那哪单數数几幾{_CIPHERS}{_PLACES}\d])(?<!もう)(?<!あと)(?<!たった)"
"""A lookbehind for such a number directly behind a name, without a space. It excludes characters that form another word
with the number (第三, 独一)."""

_NUMBERED = (
    "号 號 番 室 階 章 巻 話 回 級 型 棟 区 便 機 頁 房 层 層 楼 樓 卷 集 级 等级 码 碼 密码 编号 编號 車 车厢 柜 "
    "櫃 路 區 版 期 页 门 門 座 栋 间 間 ロッカー 出口 レベル ナンバー タイプ ゲート コード ページ 車両 部屋 "
    "モデル 番線 ホーム バージョン シーズン"
)
_NO_KEY = r"(?:(?<!鍵)(?<!钥匙)(?<!鑰匙)(?<!キー)(?<!カード)(?<!卡)|(?!\s+\d{3}))"
COUNTABLE = rf"[^A-Z]*[ぁ-ゖァ-ヺー々一-鿿]{''.join(f'(?<!{end})' for end in _NUMBERED.split())}{_NO_KEY}"
"""A pattern of a name after which a bare number is a quantity. It excludes numbered things such as rooms and lockers,
and their keys."""

_PLAIN = str.maketrans("兩萬億亿", "两万亿亿")
_ABOUT = re.compile(rf"([{_CIPHERS[2:]}])([{_CIPHERS[2:]}])")
_ONE_BY_ONE = re.compile(rf"[{_CIPHERS}]{{2,12}}")
_ONE = "[一二三四五六七八九两]"
_BY_UNITS = re.compile(rf"(?:{_ONE}?千)?零?(?:{_ONE}?百)?零?(?:{_ONE}?十)?{_ONE}?")
_IN_DIGITS = re.compile(rf"(\d+)(千)?((?<=千){_ONE}?百)?")


def apart(words: str) -> str:
    """An alternative, with its bar, of counter words that need a number in digits or one with a space before it. Such a
    word and a number often end a name: 八门, 三山."""
    return rf"|(?:(?<=\d)|(?<=\s[{_CIPHERS}{_PLACES}])|(?<=\s[{_CIPHERS}{_PLACES}]{{2}}))(?:{words})"


def value(written: str) -> int | None:
    """The value of a text that matches ``SPELLED``, the lowest for an approximate number; None if it is no number."""
    plain = written.replace(",", "").rstrip(_MORE).translate(_PLAIN)
    if about := _ABOUT.fullmatch(plain):
        first, second = (number_of(char) for char in about.groups())
        return first if second - first in (1, 2) else None
    if _ONE_BY_ONE.fullmatch(plain):
        return number_of(plain) if "〇" in plain or "零" in plain else None
    whole, rest = 0, plain
    for unit, many in (("亿", 100_000_000), ("万", 10_000)):
        head, found, tail = rest.partition(unit)
        if found:
            below = _below(head) if head else 1
            if below is None:
                return None
            whole, rest = whole + below * many, tail.removeprefix("零")
    last = _below(rest) if rest else 0
    return (whole + last) or None if last is not None else None


def _below(part: str) -> int | None:
    """The value of a part without 万, written with units; None if it is no number."""
    if found := _IN_DIGITS.fullmatch(part):
        return int(found[1]) * (1_000 if found[2] else 1) + (number_of(found[3]) if found[3] else 0)
    return number_of(part) if _BY_UNITS.fullmatch(part) is not None else None
