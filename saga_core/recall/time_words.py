"""Time words: which earlier turns the player means by "yesterday", "three days ago", "on March 16" or "at the start".

Days are those of the story where it tells that they pass ("The next morning …", "Three days later …"); otherwise those
on which the turns were played.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache, lru_cache

from attrs import frozen

from saga_core.language import DEFAULT, PastWords, every, languages_in
from saga_core.recall.episodes import Episodes


@frozen
class _Language:
    """The patterns of one language."""

    words: PastWords
    ago: re.Pattern[str]
    later: re.Pattern[str]
    named_days: tuple[tuple[re.Pattern[str], int], ...]


@cache
def _languages() -> tuple[_Language, ...]:
    """Those with words of time; the default one last, for a text in another may have some of its words."""
    found = [
        _Language(
            each.past,
            re.compile(each.past.ago),
            re.compile(each.past.later),
            tuple((re.compile(pattern), days) for pattern, days in each.past.named_days),
        )
        for each in sorted(every(), key=lambda each: each.tag == DEFAULT)
    ]
    return tuple(found)


@cache
def _any(words: str) -> re.Pattern[str]:
    """The pattern of that name, of any language. Made when it is first needed: a start does without."""
    return re.compile("|".join(getattr(each.past, words) for each in every()))


@cache
def _hints() -> re.Pattern[str]:
    """What all words of time have in them: most messages have none of it."""
    return re.compile("|".join(re.escape(hint) for each in every() for hint in each.past.hints))


_LOOKED_THROUGH = 400
"""Turns that are looked through for days that pass, and for a first meeting, at most."""
_OPENING, _OPENING_PART = 8, 0.04
_DAY = 86_400.0
_A_WEEK = 7
_ELSEWHERE = 10 / 24
"""The part of a day by which it begins earlier in the east than in UTC, and ends later in the west."""
_YEARS = 30
"""Years that are looked through for a day that has none."""
_DIGIT = re.compile("[0-9]")


@frozen
class Dated:
    """A day of the calendar."""

    month: int
    day: int
    year: int = 0
    """0 when nobody says."""


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
    date: Dated | None = None


@lru_cache(maxsize=8)  # it is asked three times in a read
def time_meant(words: str) -> Meant | None:
    """What the player's words say of time; None when they say nothing. Expected in NFC, in any case."""
    words = words.casefold()
    date = _date(words)
    if date is not None:
        return Meant(date=date)
    if _hints().search(words) is None:
        return None
    if _any("meeting").search(words):
        return Meant(meeting=True)
    agos = [(found.start(), number) for number, each in enumerate(_languages()) if (found := each.ago.search(words))]
    if agos:
        language = _languages()[min(agos)[1]]
        found = language.ago.search(words)
        assert found is not None
        return Meant(days=_count(found, language.words))
    for language in _languages():
        for pattern, days in language.named_days:
            if pattern.search(words):
                return Meant(days=days)
    if _any("latest").search(words):
        return Meant(latest=True)
    return Meant(beginning=True) if _any("beginning").search(words) else None


def turns_meant(meant: Meant, episodes: Episodes, names: Sequence[str], now: float) -> range:
    """The depths of the turns that are meant; none when the story and its turns do not tell.

    ``names``: who is named, for a first meeting. ``now``: when it is asked, in seconds since the epoch.
    """
    if meant.days is not None:
        found = _by_story(episodes, meant.days)
        return found if found is not None else _by_play(episodes, meant.days, now)
    if meant.date is not None:
        return _by_date(episodes, meant.date, now)
    if meant.latest:
        return range(0)
    if meant.meeting and names:
        return _first_meeting(episodes, names)
    return range(1, 1 + min(episodes.last, max(_OPENING, round(episodes.last * _OPENING_PART))))


def _date(words: str) -> Dated | None:
    """The first day of the calendar that is named."""
    if _DIGIT.search(words) is None:
        return None
    for language in languages_in(words):
        found = _dated(language.past.date).search(words)
        if found is None:
            continue
        groups = {name[:-1]: text for name, text in found.groupdict().items() if text is not None}
        month, day = groups["month"], groups["day"].rstrip("stndrh")
        number = int(month) if month.isdigit() else language.past.months[month[:3]]
        return Dated(number, int(day), int(groups.get("year", 0)))
    return None


@cache
def _dated(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _count(match: re.Match[str], words: PastWords) -> int:
    """The days that a count of days, weeks or months makes; 1 where nothing is counted."""
    found = match.groupdict()
    if found.get("days"):
        return words.days[found["days"]]
    number, unit = found.get("number"), found.get("unit")
    return (words.numbers.get(number) or int(number)) * words.units[unit] if number and unit else 1


@lru_cache(maxsize=1_024)
def _passed(text: str) -> int:
    """How many days an episode says have passed. The same turns are looked through for one question and the next."""
    said = text.partition("\n")[2].casefold()
    for language in _languages()[-1:] if said.isascii() else _languages():
        later = language.later.search(said)
        if later is not None:
            return _count(later, language.words)
    return 0


@cache
def _met() -> tuple[str, ...]:
    """What stands before those who were met, in an episode's line of facts."""
    return tuple(f"{each.texts.episode['met']}: ".casefold() for each in every())


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


def _by_date(episodes: Episodes, date: Dated, now: float) -> range:
    """The turns that were played on that day, in Los Angeles or in Sydney, or on the next, when it was "yesterday".

    Unless a year is named, in the latest of the years that had such turns. None when they are most of the story: then
    the day tells nothing apart.
    """
    latest = datetime.fromtimestamp(now, UTC).year
    for year in (date.year,) if date.year else range(latest, latest - _YEARS, -1):
        try:
            start = datetime(year, date.month, date.day, tzinfo=UTC).timestamp()
        except ValueError:  # 30 February
            continue
        then = range(max(1, episodes.since(start - _ELSEWHERE * _DAY)), episodes.since(start + (2 + _ELSEWHERE) * _DAY))
        if then:
            return then if 2 * len(then) <= episodes.last else range(0)
    return range(0)


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
            for mark in _met()
        ):
            return range(depth, depth + 1)
    return range(first, first + 1) if first else range(0)
