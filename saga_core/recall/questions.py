"""What the player's words ask for: an amount, a time, or something that is past.

Time words such as "yesterday", "three days ago", "on March 16" or "at the start" are resolved to earlier turns. Days
are counted by the story if its turns say that days pass ("The next morning …", "Three days later …"). Otherwise they
are counted by the dates on which the turns were played. Where words look back, recall gets more room in the prompt.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache, lru_cache

from attrs import frozen

from saga_core.language import DEFAULT, Language, PastWords, every, languages_in, match_name, match_text
from saga_core.recall.episodes import PathEpisodes
from saga_core.values import date_of

_LOOKED_AT = 4_000
"""Characters of the player's words that are searched."""


@cache
def _patterns(languages: tuple[Language, ...]) -> tuple[re.Pattern[str], ...]:
    """Return the patterns of "when" questions, "how many" questions, and of their answers. Compiled on first use."""
    words = [each.past for each in languages]
    return tuple(
        re.compile("|".join(parts))
        for parts in (
            [each.asks_when for each in words],
            [each.asks_amount for each in words],
            [part for each in words for part in (each.amount, each.moment)],
            [each.amount for each in words],
        )
    )


def amount_sought(words: str) -> re.Pattern[str] | None:
    """Return the pattern that a turn must match to answer ``words``, for use with ``states_amount``.

    Returns None unless ``words`` ask for a number or a time. ``words`` must be in NFC; case does not matter.
    """
    folded = words[:_LOOKED_AT].casefold()
    when, many, moment, amount = _patterns(languages_in(folded))
    if when.search(folded) is not None:
        return moment
    return amount if many.search(folded) is not None else None


@lru_cache(maxsize=2_048)
def states_amount(episode: str, asked: re.Pattern[str]) -> bool:
    """Whether the spoken part of an episode matches ``asked``, the result of ``amount_sought``.

    Results are cached because successive reads check the same turns.
    """
    return asked.search(episode.casefold(), episode.find("\n") + 1) is not None


@frozen
class _Language:
    """The patterns of one language."""

    words: PastWords
    ago: re.Pattern[str]
    later: re.Pattern[str]
    named_days: tuple[tuple[re.Pattern[str], int], ...]


@cache
def _languages() -> tuple[_Language, ...]:
    """Return the patterns of all languages. The default language is last: other texts may have some of its words."""
    found = [
        _Language(
            each.past,
            re.compile(each.past.ago),
            re.compile(each.past.later),
            tuple((re.compile(pattern), days) for pattern, days in each.past.named_days.items()),
        )
        for each in sorted(every(), key=lambda each: each.tag == DEFAULT)
    ]
    return tuple(found)


@cache
def _any(words: str) -> re.Pattern[str]:
    """Return the named pattern of all languages combined. Compiled on first use to keep startup fast."""
    return re.compile("|".join(getattr(each.past, words) for each in every()))


@cache
def _hints() -> re.Pattern[str]:
    """Return a pattern that every time word matches. Most messages do not match it and need no further check."""
    return re.compile("|".join(re.escape(hint) for each in every() for hint in each.past.hints))


_LOOKED_THROUGH = 400
"""Maximum turns that are searched for passing days. Four times as many are searched for a first meeting."""
_OPENING, _OPENING_PART = 8, 0.04
_DAY = 86_400.0
_A_WEEK = 7
_ELSEWHERE = 10 / 24
"""The part of a day by which a date begins earlier in eastern time zones than in UTC and ends later in western ones."""
_YEARS = 30
"""Years that are searched for a date without a year."""
_DIGIT = re.compile("[0-9]")


@frozen
class Dated:
    """A calendar date."""

    month: int
    day: int
    year: int = 0
    """0 if not given."""


@frozen
class Meant:
    """The time that time words refer to."""

    days: int | None = None
    """This many days ago."""
    meeting: bool = False
    """The time of a first meeting."""
    latest: bool = False
    """The most recent time."""
    beginning: bool = False
    date: Dated | None = None


@lru_cache(maxsize=8)  # called three times in a read
def time_named(words: str) -> Meant | None:
    """Return the time that the player's words refer to, if any. ``words`` must be in NFC; case does not matter."""
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


def without_time(text: str) -> str:
    """Return a text, in lower case, without words that say how long ago something was."""
    text = text.casefold()
    for language in _languages() if _hints().search(text) is not None else ():
        for pattern in (language.ago, *(pattern for pattern, _ in language.named_days)):
            text = pattern.sub(" ", text)
    return text


def turns_at(meant: Meant, episodes: PathEpisodes, names: Sequence[str], now: float) -> range:
    """Return the depths of the turns that are meant, or an empty range if they cannot be determined.

    ``names`` are the characters of a first meeting. ``now`` is the request's time in seconds since the epoch.
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
    """Return the first calendar date in ``words``."""
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
    """Return the days of a count of days, weeks or months; 1 if nothing is counted."""
    found = match.groupdict()
    if found.get("days"):
        return words.days[found["days"]]
    number, unit = found.get("number"), found.get("unit")
    return (words.numbers.get(number) or int(number)) * words.units[unit] if number and unit else 1


@lru_cache(maxsize=1_024)
def _passed(text: str) -> int:
    """Return how many days have passed according to an episode. Cached: successive questions search the same turns."""
    said = text.partition("\n")[2].casefold()
    for language in _languages()[-1:] if said.isascii() else _languages():
        later = language.later.search(said)
        if later is not None:
            return _count(later, language.words)
    return 0


@cache
def _met() -> tuple[str, ...]:
    """Return the labels of met characters in an episode's line of facts, one per language."""
    return tuple(match_text(f"{each.texts.episode['met']}: ") for each in every())


def _by_story(episodes: PathEpisodes, days: int) -> range | None:
    """Return the turns ``days`` story days ago, or None if the latest turns mention no passing day."""
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


def _by_play(episodes: PathEpisodes, days: int, now: float) -> range:
    """Return the turns that were played about ``days`` days before ``now``."""
    early, late = (days / 3, days / 3) if days >= _A_WEEK else (0.75, 0.6)
    first = episodes.since(now - (days + early) * _DAY)
    return range(max(1, first), episodes.since(now - (days - late) * _DAY))


def _by_date(episodes: PathEpisodes, date: Dated, now: float) -> range:
    """Return the turns that were played on that date between UTC-10 and UTC+10, or on the day after ("yesterday").

    Without a year, the latest year with such turns is used. Returns an empty range if they are more than half of the
    story, because the date then does not narrow the search.
    """
    latest = date_of(now).year
    for year in (date.year,) if date.year else range(latest, latest - _YEARS, -1):
        try:
            start = datetime(year, date.month, date.day, tzinfo=UTC).timestamp()
        except ValueError:  # 30 February
            continue
        then = range(max(1, episodes.since(start - _ELSEWHERE * _DAY)), episodes.since(start + (2 + _ELSEWHERE) * _DAY))
        if then:
            return then if 2 * len(then) <= episodes.last else range(0)
    return range(0)


def _first_meeting(episodes: PathEpisodes, names: Sequence[str]) -> range:
    """Return the turn in which a named character was met, or the first turn that mentions one. Only turns whose line
    of facts has a turn number count, which excludes plain conversations."""
    folded = list(map(match_name, names))
    first = 0
    for depth in range(1, min(episodes.last, _LOOKED_THROUGH * 4) + 1):
        turn = episodes.at(depth)
        text = match_text(episodes.text(turn)) if turn is not None else ""
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


@cache
def _asking(languages: tuple[Language, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the pattern of questions and words about the past, and that of questions without a question mark."""
    return (
        re.compile("|".join((r"[?？]", *(each.past.asking for each in languages)))),
        re.compile("|".join(each.past.asking_unmarked for each in languages)),
    )


@cache
def _of_now(languages: tuple[Language, ...]) -> re.Pattern[str]:
    return re.compile("|".join(each.past.now for each in languages))


@cache
def _other_story(languages: tuple[Language, ...]) -> re.Pattern[str]:
    return re.compile("|".join(each.past.other_story for each in languages))


def without_other_story(words: str) -> str | None:
    """Return the player's words, lower case, without those that name another story ("our last adventure"), or None if
    they name none. ``words`` must be in NFC; case does not matter."""
    folded = words[:_LOOKED_AT].casefold()
    pattern = _other_story(languages_in(folded))
    return pattern.sub(" ", folded) if pattern.search(folded) is not None else None


def looks_back(words: str) -> bool:
    """Whether the player's words ask for something or speak of the past. ``words`` must be in NFC, in any case."""
    if len(words) > 2 * _LOOKED_AT:  # in a very long text, questions are at the beginning or the end
        words = f"{words[:_LOOKED_AT]}\n{words[-_LOOKED_AT:]}"
    languages = languages_in(words)
    folded = _of_now(languages).sub(" ", words.casefold())
    if any(pattern.search(folded) is not None for pattern in _asking(languages)):
        return True
    meant = time_named(words)
    return meant is not None and meant.date is None  # a calendar date may be in the future
