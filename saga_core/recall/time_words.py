"""Time words: which earlier turns the player means by "yesterday", "사흘 전", "처음 만났을 때" or "in the beginning".

Days are those of the story where it tells that they pass ("The next morning …", "사흘 뒤, …"); otherwise those on which
the turns were played.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from attrs import frozen

from saga_core.recall.episodes import Episodes

_EN_NUMBERS = {
    word: number
    for number, words in enumerate(("", "a one", "two couple", "three few", "four", "five", "six", "seven", "eight"))
    for word in words.split()
} | {"nine": 9, "ten": 10, "eleven": 11, "twelve": 12}
_KO_DAYS = {
    "하루": 1,
    "이틀": 2,
    "사흘": 3,
    "나흘": 4,
    "닷새": 5,
    "엿새": 6,
    "이레": 7,
    "일주일": 7,
    "여드레": 8,
    "아흐레": 9,
    "열흘": 10,
    "보름": 15,
}
_KO_NUMBERS = {"한": 1, "두": 2, "세": 3, "네": 4, "다섯": 5, "여섯": 6}
_UNITS = {"day": 1, "night": 1, "morning": 1, "evening": 1, "week": 7, "month": 30, "일": 1, "주": 7, "주일": 7}
_UNITS |= {"달": 30, "개월": 30}

_EN_COUNT = rf"(?P<en>{'|'.join(_EN_NUMBERS)}|\d{{1,3}}) (?:of )?(?P<en_unit>day|night|morning|evening|week|month)s?"
_KO_NUMBER = rf"(?P<ko_number>{'|'.join(_KO_NUMBERS)}|\d{{1,3}}) ?(?P<ko_unit>주일|주|달|개월|일)"
_KO_COUNT = rf"(?:(?P<ko>{'|'.join(_KO_DAYS)})|{_KO_NUMBER})"
_AGO = re.compile(rf"\b{_EN_COUNT} (?:ago\b|(?:before|earlier|back)(?=\s*(?:[,;.?!]|$)))|{_KO_COUNT} ?전")
_NAMED_DAYS = (
    (re.compile(r"day before yesterday|그저께|그제|엊그제|엊그저께"), 2),
    (re.compile(r"\byesterday\b|\blast (?:night|evening)\b|어제|어젯밤|간밤|지난밤"), 1),
    (re.compile(r"\blast week\b|지난 ?주|저번 ?주"), 7),
    (re.compile(r"\blast month\b|지난 ?달|저번 ?달"), 30),
)
_MEETING = re.compile(
    r"\bfirst (?:met|meet|saw|see|encounter\w*|came across)\b|\bmet\b[^.?!]{0,200}\bfirst time\b"
    r"|\b(?:day|time|when) (?:we|i|you) met\b"
    r"|처음(?:으로)? ?(?:만났|만난|만나|봤|보았|본 ?날|본 ?때|마주)|첫 ?만남|만난 ?날"
)
_BEGINNING = re.compile(
    r"\b(?:in|at|from) the (?:very )?(?:beginning|start|outset)\b"
    r"(?! of (?!(?:the|this|our) (?:story|tale|journey|adventure|game)))"
    r"|\bwhen (?:we|i|it|this|all this|everything|our \w+) (?:all )?(?:first )?(?:began|started|set out|arrived)\b"
    r"(?! (?:to|at|in|on|with|for|home|there|by|\w+ing)\b)"
    r"|맨 ?처음|처음에|처음부터|시작할 ?때|시작했을 ?때|떠나올 ?때|출발할 ?때|출발했을 ?때"
)
_LATEST = re.compile(r"\b(?:the )?(?:last|previous|other) time\b|\bmost recently\b|지난 ?번|저번에|마지막으로")
_HINTS = (
    *("ago", "before", "earlier", "back", "yesterday", "last", "first", "met", "beginning", "start", "outset", "began"),
    *(
        "arrived",
        "set out",
        "previous",
        "other time",
        "recently",
        "전",
        "어제",
        "그제",
        "어젯밤",
        "간밤",
        "지난",
        "저번",
    ),
    *("그저께", "처음", "첫", "만난", "시작", "떠나올", "출발", "마지막"),
)
"""Parts of words without which nothing above is found: looking for these costs a tenth."""

_SENTENCE = r"(?:^|[.!?…\n”\"'’*)] ?)\s{0,8}"
_EN_LATER = re.compile(
    rf"{_SENTENCE}(?:(?:it (?:is|was) )?(?:the )?(?:next|following) (?:day|morning|dawn)\b"
    r"|(?:at|by) (?:dawn|daybreak|sunrise)\b|(?:morning|dawn) (?:comes|came|breaks|broke|finds|found)\b"
    rf"|{_EN_COUNT} (?:later|pass|passed|go by|went by)\b)"
)
_KO_LATER = re.compile(
    rf"{_SENTENCE}(?:(?:다음|이튿) ?날|날이 (?:밝|새)|동이 (?:트|텄)|아침이 (?:밝|되|왔|오|찾아)"
    rf"|{_KO_COUNT}(?:이|가)? ?(?:뒤|후|지나|지났|흘러|흘렀))"
)

_LOOKED_THROUGH = 400
"""Turns that are looked through for days that pass, and for a first meeting, at most."""
_OPENING, _OPENING_PART = 8, 0.04
_DAY = 86_400.0
_A_WEEK = 7
_FACTS = ("met: ", "만남: ")


@frozen
class Meant:
    """What time words speak of."""

    days: int | None = None
    """So many days ago."""
    meeting: bool = False
    """When somebody was met first."""
    latest: bool = False
    """When it happened last."""
    beginning: bool = False


def time_meant(words: str) -> Meant | None:
    """What the player's words say of time; None when they say nothing. Expected in NFC, in any case."""
    words = words.casefold()
    if not any(hint in words for hint in _HINTS):
        return None
    if _MEETING.search(words):
        return Meant(meeting=True)
    ago = _AGO.search(words)
    if ago is not None:
        return Meant(days=_count(ago))
    for pattern, days in _NAMED_DAYS:
        if pattern.search(words):
            return Meant(days=days)
    if _LATEST.search(words):
        return Meant(latest=True)
    return Meant(beginning=True) if _BEGINNING.search(words) else None


def turns_meant(meant: Meant, episodes: Episodes, names: Sequence[str], now: float) -> range:
    """The depths of the turns that are meant; none when the story and its turns do not tell.

    ``names``: who is named, for a first meeting. ``now``: when it is asked, in seconds since the epoch.
    """
    if meant.days is not None:
        found = _by_story(episodes, meant.days)
        return found if found is not None else _by_play(episodes, meant.days, now)
    if meant.latest:
        return range(0)
    if meant.meeting and names:
        return _first_meeting(episodes, names)
    return range(1, 1 + min(episodes.last, max(_OPENING, round(episodes.last * _OPENING_PART))))


def _count(match: re.Match[str]) -> int:
    """The days that a count of days, weeks or months makes."""
    found = match.groupdict()
    if found.get("en"):
        number = found["en"]
        return (_EN_NUMBERS.get(number) or int(number)) * _UNITS[found["en_unit"]]
    if found.get("ko"):
        return _KO_DAYS[found["ko"]]
    number = found["ko_number"]
    return (_KO_NUMBERS.get(number) or int(number)) * _UNITS[found["ko_unit"]]


def _passed(text: str) -> int:
    """How many days an episode says have passed."""
    said = text.partition("\n")[2].casefold()
    later = _EN_LATER.search(said) if said.isascii() else _KO_LATER.search(said) or _EN_LATER.search(said)
    if later is None:
        return 0
    counted = later.groupdict()
    return _count(later) if any(counted.get(name) for name in ("en", "ko", "ko_number")) else 1


def _by_story(episodes: Episodes, days: int) -> range | None:
    """The turns of the story's day ``days`` ago; None when the latest turns tell of no day that passed."""
    slack = days // 4
    gone, last = 0, 0
    told = False
    for depth in range(episodes.last, max(0, episodes.last - _LOOKED_THROUGH), -1):
        if not last and days - slack <= gone <= days + slack:
            last = depth
        if gone > days + slack:
            return range(depth + 1, last + 1) if last else range(0)
        turn = episodes.at(depth)
        passed = _passed(episodes.text(turn)) if turn is not None else 0
        told = told or passed > 0
        gone += passed
    if not told:
        return None
    return range(max(1, episodes.last - _LOOKED_THROUGH + 1), last + 1) if last else range(0)


def _by_play(episodes: Episodes, days: int, now: float) -> range:
    """The turns that were played about so many days before ``now``."""
    early, late = (days / 3, days / 3) if days >= _A_WEEK else (0.75, 0.6)
    first = episodes.since(now - (days + early) * _DAY)
    return range(max(1, first), episodes.since(now - (days - late) * _DAY))


def _first_meeting(episodes: Episodes, names: Sequence[str]) -> range:
    """The turn that tells of meeting one of those named, or the first that tells of one; none in a talk of two."""
    folded = [name.casefold() for name in names]
    first = 0
    for depth in range(1, min(episodes.last, _LOOKED_THROUGH * 4) + 1):
        turn = episodes.at(depth)
        text = episodes.text(turn).casefold() if turn is not None else ""
        if not any(name in text for name in folded):
            continue
        facts = text.partition("\n")[0]
        if not facts.startswith("turn "):
            continue
        first = first or depth
        if any(
            mark in facts and any(name in facts.partition(mark)[2].partition(" | ")[0] for name in folded)
            for mark in _FACTS
        ):
            return range(depth, depth + 1)
    return range(first, first + 1) if first else range(0)
