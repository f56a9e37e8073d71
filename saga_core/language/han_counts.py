"""Counts written in words in Chinese and Japanese: 三十, 兩百五十, 3万, 十几."""

from __future__ import annotations

import re

from saga_core.language.han import number_of

_DIGITS = "〇零一二三四五六七八九两兩"
_UNITS = "十百千万萬亿億"
_MORE = "多余餘几幾数数"

_FIRST = rf"\d{{1,4}}(?:,\d{{3}})?[千万萬亿億]|[{_DIGITS[2:]}{_UNITS}]"
SPELLED = rf"(?:{_FIRST})[{_DIGITS}{_UNITS}]{{0,12}}(?:[{_MORE}](?<=[{_UNITS}].))?"
"""A pattern of a number in Han characters, or in digits with 万. It also matches texts that are no numbers, for which
``value`` returns None."""

BEHIND = rf"(?<![第独獨唯初其同单單某每各半另这這那哪单數数几幾{_DIGITS}{_UNITS}\d])(?<!もう)(?<!あと)(?<!たった)"
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
_ABOUT = re.compile(rf"([{_DIGITS[2:]}])([{_DIGITS[2:]}])")
_ONE_BY_ONE = re.compile(rf"[{_DIGITS}]{{2,12}}")
_ONE = "[一二三四五六七八九两]"
_BY_UNITS = re.compile(rf"(?:{_ONE}?千)?零?(?:{_ONE}?百)?零?(?:{_ONE}?十)?{_ONE}?")
_IN_DIGITS = re.compile(rf"(\d+)(千)?((?<=千){_ONE}?百)?")


def apart(words: str) -> str:
    """An alternative, with its bar, of counter words that need a number in digits or one with a space before it. Such a
    word and a number often end a name: 八门, 三山."""
    return rf"|(?:(?<=\d)|(?<=\s[{_DIGITS}{_UNITS}])|(?<=\s[{_DIGITS}{_UNITS}]{{2}}))(?:{words})"


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
