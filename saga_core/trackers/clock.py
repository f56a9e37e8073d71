"""The clock of a story: minutes since the midnight before its first day, as narrators write and read them."""

from __future__ import annotations

import re
from functools import cache

from saga_core.language import Language, every, language_of, normalized

HOUR, DAY = 60, 24 * 60
_WEEK = 7
_AT = re.compile(
    r"(?<![\d:])(?P<hour>[01]?\d|2[0-4])\s{0,2}[:h]\s{0,2}(?P<minute>[0-5]\d)(?!\d)\s{0,2}(?P<half>[ap]\.?m\b)?"
)
_HALVES = re.compile(r"(?<=\d)\s{0,2}[ap]\.?m\b\.?")
_HALF = re.compile(r"(?<!\d)(?P<hour>1[0-2]|0?[1-9])\s{0,2}(?P<half>[ap])\.?m\b")


def read_time(text: str, now: int, first: int | None, own: tuple[str, ...]) -> tuple[int | None, int | None]:
    """Return the time that a text names, or the minutes by which it moves the clock; None and None for neither.

    ``now`` is the time until then: a weekday is the next one of its name, and an hour that is past is tomorrow's.
    ``first`` is the place of the first day in the week, and ``own`` the names of the week's days, if it has its own.
    """
    plain = normalized("NFKC", text).casefold().replace("−", "-").strip()
    hour = _hour_in(plain)
    day = _day_in(plain)
    if day is not None:
        return (day - 1) * DAY + (
            hour if hour is not None else now % DAY if (day - 1) * DAY == now - now % DAY else 0
        ), None
    passed = _passed(_without_hours(plain))
    if passed is not None:
        if hour is not None and passed % DAY == 0 and _AT.search(plain):
            return (now // DAY) * DAY + passed + hour, None
        return None, passed
    weekday = weekday_in(text, own)
    if weekday is not None and first is not None:
        length = len(own) or _WEEK
        ahead = (weekday - first - now // DAY) % length
        at = (now // DAY + ahead) * DAY + (hour if hour is not None else (now % DAY if not ahead else 8 * HOUR))
        return (at if at >= now else at + length * DAY), None
    for language in every():
        if language.clock.next_day and re.search(language.clock.next_day, plain):
            return (now // DAY + 1) * DAY + (hour if hour is not None else 8 * HOUR), None
    if hour is None:
        return None, None
    at = now // DAY * DAY + hour
    return (at if at >= now else at + DAY), None


def shown_time(value: int, first: int | None, own: tuple[str, ...], tag: str) -> str:
    """A time as text in a language, with the name of the day if the week is known."""
    words = language_of(tag).labels
    day = words.story_day.format(day=value // DAY + 1)
    names = own or words.week
    parts = [day] if first is None else [day, names[(first + value // DAY) % len(names)]]
    return f"{', '.join(parts)}, {value % DAY // HOUR:02d}:{value % HOUR:02d}"


def names_hour(text: str) -> bool:
    """Whether a text that names a time names its hour, and not only its day: ``Saturday 19:00``, ``in two hours``."""
    plain = normalized("NFKC", text).casefold()
    passed = _passed(plain)
    return _hour_in(plain) is not None or (passed is not None and passed % DAY != 0)


def names_only_weekday(text: str, own: tuple[str, ...]) -> bool:
    """Whether a text names its day by the week alone: ``Saturday 19:00``, and not ``day 3, Saturday``."""
    return weekday_in(text, own) is not None and _day_in(normalized("NFKC", text).casefold()) is None


def weekday_in(text: str, own: tuple[str, ...]) -> int | None:
    """The place in the week of the day that a text names, from 0; None if it names none."""
    plain = normalized("NFKC", text).casefold()
    if own:
        return next((at for at, name in enumerate(own) if name.casefold() in plain), None)
    for language in every():
        for at, pattern in enumerate(language.clock.weekdays):
            if re.search(pattern, plain):
                return at
    return None


def _hour_in(plain: str) -> int | None:
    found = _AT.search(plain) or _HALF.search(plain)
    if found is not None:
        hour, minute = int(found["hour"]), int(found.groupdict().get("minute") or 0)
        if (found["half"] or "").startswith("p") and hour < 12:
            hour += 12
        elif (found["half"] or "").startswith("a") and hour == 12:
            hour = 0
        return hour % 24 * HOUR + minute
    for language in every():
        words = language.clock
        spoken = re.search(words.oclock, plain)
        if spoken is not None:
            hour = int(spoken["hour"]) + (12 if spoken.groupdict().get("pm") and int(spoken["hour"]) < 12 else 0)
            return hour % 24 * HOUR + int(spoken.groupdict().get("minute") or 0)
        for pattern, hour in words.parts.items():
            if re.search(pattern, plain):
                return hour * HOUR
    return None


def _day_in(plain: str) -> int | None:
    found = (re.search(language.clock.day_number, plain) for language in every())
    return next((int(each["day"]) for each in found if each is not None and int(each["day"])), None)


def _without_hours(plain: str) -> str:
    """A text without hours of the day, whose minutes are no length of time: 오후 4시 30분, 11:30 am."""
    for language in every():
        plain = re.sub(language.clock.oclock, " ", plain)
    return _HALVES.sub(" ", plain)


def _passed(plain: str) -> int | None:
    """The minutes that a text says have passed; None if it names no length of time."""
    total: int | None = None
    for language in every():
        for found in _lengths(language).finditer(plain):
            number, unit = found["number"], found.lastgroup or ""
            count = int(number) if number.isdecimal() else language.clock.numbers.get(number, 1)
            total = (total or 0) + count * int(unit.removeprefix("u"))
        for word, days in language.clock.spelled.items():
            if word in plain:
                total = (total or 0) + days * DAY
        if total is not None:
            return -total if plain.startswith("-") else total
    return None


@cache
def _lengths(language: Language) -> re.Pattern[str]:
    words = language.clock
    numbers = "|".join(sorted(map(re.escape, words.numbers), key=len, reverse=True))
    units = ((7 * DAY, words.weeks), (DAY, words.days), (HOUR, words.hours), (1, words.minutes))
    named = "|".join(f"(?P<u{minutes}>{pattern})" for minutes, pattern in units)
    return re.compile(rf"(?P<number>\d{{1,6}}{f'|{numbers}' if numbers else ''})\s{{0,2}}(?:{named})")
