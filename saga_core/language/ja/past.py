"""Japanese words of time and of remembering."""

from __future__ import annotations

from saga_core.language.han import COUNTS
from saga_core.language.past import PastWords

_DIGITS = {**COUNTS, "数": 3}
_DAYS = {"半月": 15, "一昨日": 2}
_UNITS = {"日": 1, "晩": 1, "夜": 1, "週間": 7, "週": 7, "か月": 30, "ヶ月": 30, "ヵ月": 30}
_NUMBER = rf"(?P<number>{'|'.join(_DIGITS)}|\d{{1,3}}) ?(?P<unit>{'|'.join(_UNITS)})"
_COUNT = rf"(?:(?P<days>{'|'.join(_DAYS)})|{_NUMBER})"
_TOLD = r"(?:^|[.!?…\n”\"'’*)。！？」』] ?)\s{0,8}+"

PAST = PastWords(
    asking=(
        r"誰|だれ|何|なに|どこ|いつ|なぜ|どうして|どう(?:やって|すれば|なっ|いう)|どの|どんな|どれ|どっち|いくつ|いくら"
        r"|覚えて|思い出|昔|以前|昨日|さっき|あの時|あのとき|最初|初めて|約束|前に|だっけ|たっけ|んだった"
    ),
    asking_unmarked=r"(?:です|ます|でした|ました|だろう|でしょう)か(?=[。.!…]*\s*$)|(?:教えて|話して|説明して"
    r"|聞かせて)",
    ago=rf"{_COUNT} ?(?:前|まえ)",
    numbers=_DIGITS,
    units=_UNITS,
    days=_DAYS,
    named_days=(
        (r"一昨々日|さきおととい", 3),
        (r"一昨日|おととい|一昨夜", 2),
        (r"昨日|きのう|昨夜|昨晩|ゆうべ", 1),
        (r"先週", 7),
        (r"先月", 30),
    ),
    meeting=r"(?:初めて|最初に|はじめて)(?:会|出会|見)|初対面|出会った(?:日|時|とき|頃)",
    beginning=r"一番最初|最初の頃|物語の(?:初め|始め|最初)|始まった(?:時|とき|頃)|旅立った(?:時|とき)|出発した(?:時"
    r"|とき)|最初に(?!会|出会|見)",
    latest=r"この前|前回|先日|最後に",
    hints=(
        *("前", "まえ", "昨", "きのう", "おととい", "ゆうべ", "先週", "先月", "先日", "最初", "初", "はじめて"),
        *("出会", "始ま", "旅立", "出発", "最後"),
    ),
    later=(
        rf"{_TOLD}(?:翌[日朝]|次の(?:日|朝)|あくる(?:日|朝)|夜が明け|朝が(?:来|訪れ)|朝に(?:なっ|なり)"
        rf"|{_COUNT}(?:後|が(?:過ぎ|経|たっ|たち)|経っ|過ぎ))"
    ),
    dated=r"(?P<year>\d{1,9})年(?P<rest>\d{1,2}月\d{1,2}日)",
)
