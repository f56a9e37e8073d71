"""The clock of a story: minutes since the midnight before its first day, as narrators write and read them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from saga_core.language import NEVER, Language, every, language_of, normalized

HOUR, DAY = 60, 24 * 60
_WEEK = 7
_EARLY = 6
"""The hour before which nobody plans anything without saying so."""
_SHORT_DAY = 3
"""The most letters of a day's name that is cut short."""
_UNITS = (_WEEK * DAY, DAY, HOUR, 1)
_AT = re.compile(
    r"(?<![\d:])(?P<hour>[01]?\d|2[0-4])\s{0,2}[:h](?!\s\d{1,2}:)\s{0,2}(?P<minute>[0-5]\d)(?!\d)\s{0,2}(?P<half>[ap]\.?m\b)?"
)
_DOTTED = r"(?<![\d.,$€£])(?P<hour>[01]?\d|2[0-4])\.(?P<minute>[0-5]\d)(?![\d.])"
_HALVES = re.compile(r"(?<=\d)\s{0,2}[ap]\.?m\b\.?")
_FRACTIONS = {"¼": ".25", "½": ".5", "¾": ".75"}
_FRACTION = re.compile(r"(?:(?<=\d)\s)?([¼½¾])")
_DIGITS = r"(?<!\d)(?<!\d[.,:/⁄])(?:\d{1,3}(?:,\d{3}){1,2}|\d{1,6}(?:[.,]\d{1,2})?)|(?<![^\s+-])\.\d{1,2}"
"""A whole number, never the end of a longer one: the 5 of ``1.5``, ``1/5`` and ``1:05`` is none."""
_HALF = re.compile(r"(?<!\d)(?P<hour>1[0-2]|0?[1-9])\s{0,2}(?P<half>[ap])\.?m\b")


def read_time(
    text: str, now: int, first: int | None, own: tuple[str, ...], about: str | None = None
) -> tuple[int | None, int | None]:
    """Return the time that a text names, or the minutes by which it moves the clock; None and None for neither.

    ``now`` is the time until then: a weekday is the next one of its name, and an hour that is past is tomorrow's.
    ``first`` is the place of the first day in the week, and ``own`` the names of the week's days, if it has its own.
    ``about`` is what is planned for that time: supper at seven is in the evening. Without it nothing is.
    """
    plain = _plain(text).replace("−", "-").strip()
    if (week_before := _without_week_later(plain)) is not None:
        at, _ = read_time(week_before, now, first, own, about)
        return (at + _WEEK * DAY if at is not None else None), None
    hour = _hour_in(plain, about)
    day = _day_in(plain, None if about is None else now // DAY + 1)
    if day is not None:
        return (day - 1) * DAY + (
            hour if hour is not None else now % DAY if (day - 1) * DAY == now - now % DAY else 0
        ), None
    passed = _passed(_without_hours(plain))
    if passed is not None:
        if hour is not None and passed % DAY == 0 and _clock_hour(plain) is not None:
            return (now // DAY) * DAY + passed + hour, None
        return None, passed
    weekday, length = weekday_in(text, own), len(own) or _WEEK
    if weeks := _ahead(plain, "weeks_ahead"):
        into = 0 if weekday is None or first is None else weekday - (first + now // DAY) % length
        return (now // DAY + weeks * length + into) * DAY + (hour if hour is not None else 8 * HOUR), None
    if weekday is not None and first is not None:
        ahead = (weekday - first - now // DAY) % length
        at = (now // DAY + ahead) * DAY + (hour if hour is not None else (now % DAY if not ahead else 8 * HOUR))
        return (at if at >= now else at + length * DAY), None
    days = _ahead(plain, "days_ahead")
    if days:
        return (now // DAY + days) * DAY + (hour if hour is not None else 8 * HOUR), None
    if hour is None or plain.startswith("+"):
        return None, None
    at = now // DAY * DAY + hour
    if days == 0 and _clock_hour(plain) is None:
        return max(at, now), None
    return (at if at >= now else at + DAY), None


def end_of_day_in(text: str, now: int) -> int | None:
    """The last minute of the day of ``now``, if a text names that day and no hour: ``later today``."""
    return (now // DAY + 1) * DAY - 1 if _ahead(_plain(text), "days_ahead") == 0 else None


def is_days_ahead(text: str) -> bool:
    """Whether a text says by its name that a day is ahead: ``tomorrow``, and ``第二天``, which may stand for day 2."""
    return bool(_ahead(_plain(text), "days_ahead"))


def is_relative(text: str) -> bool:
    """Whether a plan's time says how far ahead it is: ``tomorrow``, ``in two days``; not ``Saturday`` or ``17일``."""
    plain = _plain(text)
    if _day_in(plain, 1) is not None:
        return False
    ahead = (_ahead(plain, row) for row in ("days_ahead", "weeks_ahead"))
    return any(each is not None for each in ahead) or _passed(_without_hours(plain)) is not None


def shown_time(value: int, first: int | None, own: tuple[str, ...], tag: str) -> str:
    """A time as text in a language, with the name of the day if the week is known."""
    words = language_of(tag).labels
    day = words.story_day.format(day=value // DAY + 1)
    names = own or words.week
    parts = [day] if first is None else [day, names[(first + value // DAY) % len(names)]]
    return f"{', '.join(parts)}, {value % DAY // HOUR:02d}:{value % HOUR:02d}"


def names_hour(text: str) -> bool:
    """Whether a text that names a time names its hour, and not only its day: ``Saturday 19:00``, ``in two hours``."""
    plain = _plain(text)
    passed = _passed(plain)
    return _hour_in(plain) is not None or (passed is not None and passed % DAY != 0)


def names_only_weekday(text: str, own: tuple[str, ...]) -> bool:
    """Whether a text names its day by the week alone: ``Saturday 19:00``, and not ``day 3, Saturday``."""
    return weekday_in(text, own) is not None and _day_in(normalized("NFKC", text).casefold()) is None


def weekday_in(text: str, own: tuple[str, ...]) -> int | None:
    """The place in the week of the day that a text names first, from 0; None if it names none."""
    plain = normalized("NFKC", text).casefold()
    if own:
        return next((at for at, name in enumerate(own) if name.casefold() in plain), None)
    for language in every():
        found = ((re.search(pattern, plain), at) for at, pattern in enumerate(language.clock.weekdays))
        # "Sat" and "sun" may be other words.
        days = [(len(day[0]) <= _SHORT_DAY, day.start(), at) for day, at in found if day is not None]
        if days:
            return min(days)[-1]
    return None


def _plain(text: str) -> str:
    """A text in one spelling, with ``1½`` as ``1.5``."""
    return normalized("NFKC", _FRACTION.sub(lambda found: _FRACTIONS[found[1]], text)).casefold()


def _without_week_later(plain: str) -> str | None:
    """A text without what makes of its day the same day a week later; None if nothing does."""
    for language in every():
        found = _week_later(language).search(plain)
        if found is not None:
            start, end = found.span(str(found.lastgroup))
            return f"{plain[:start]} {plain[end:]}"
    return None


@cache
def _week_later(language: Language) -> re.Pattern[str]:
    days = "|".join((*language.clock.weekdays, *language.clock.days_ahead))
    return re.compile(language.clock.week_later.replace("DAY", f"(?:{days})"))


def _hour_in(plain: str, about: str | None = None) -> int | None:
    hour = _clock_hour(plain, about)
    parts = (at for language in every() for at in _parts_in(language.clock.parts, plain))
    return hour if hour is not None else next((at * HOUR for at in parts), None)


def _clock_hour(plain: str, about: str | None = None) -> int | None:
    """The hour and the minute that a text gives in numbers, in the half of the day that stands beside them, or else in
    that of what is planned."""
    between, spoken = (
        next((found for each in every() if (found := pattern(each).search(plain)) is not None), None)
        for pattern in (_between, _hours)
    )
    found = between or _AT.search(plain) or _HALF.search(plain) or _dotted().search(plain) or spoken
    if found is None:
        return None
    said = found.groupdict()
    hour = _number(said["hour"])
    minute = 30 if said.get("thirty") else 15 if said.get("quarter") else _number(said.get("minute") or "0")
    if said.get("to"):
        hour, minute = (hour - 1) % 24, HOUR - minute
    half = said.get("half") or ""
    part = _part_beside(plain[: found.start()], plain[found.end() :]) if not half and hour <= 12 else None
    if half.startswith("p") or (part is not None and (12 <= part < 20 or (part >= 20 and 6 <= hour < 12))):
        hour += 12 if hour < 12 else 0
    elif hour == 12 and (half or (part is not None and not 6 <= part < 20)):
        hour = 0
    elif about is not None and part is None and not half and found in (between, spoken) and 0 < hour < 12:
        hour = _half_of_day(hour, _plain(about)) if not said["hour"].startswith("0") else hour
    return hour % 24 * HOUR + minute


def _half_of_day(hour: int, about: str) -> int:
    """The hour of a plan that names no half of the day: the one nearer to what is planned, and never in the night."""
    hours = (each.clock for each in every())
    usual = next((at for words in hours for at in _parts_in({**words.meals, **words.parts}, about)), None)
    if usual is None:
        return hour + 12 if hour < _EARLY else hour
    return min((hour, hour + 12), key=lambda each: abs(each - usual))


def _number(written: str) -> int:
    """The number that digits or words write, or the hour of a part of the day."""
    if written.isdecimal():
        return int(written)
    words = (each.clock for each in every())
    known = (n for each in words for n in (each.numbers.get(written), *_parts_in(each.parts, written)) if n is not None)
    return int(next(known))


def _parts_in(parts: Mapping[str, int], text: str) -> Iterator[int]:
    return (at for part, at in parts.items() if re.search(part, text))


def _part_beside(before: str, after: str) -> int | None:
    """The part of the day that is named directly before or after an hour, as the hour at which it begins."""
    for language in every():
        for pattern, at in language.clock.parts.items():
            if re.search(rf"(?:{pattern})\W{{0,2}}$", before[-20:]) or re.match(rf"\W{{0,2}}(?:{pattern})", after):
                return at
    return None


def _day_in(plain: str, today: int | None = None) -> int | None:
    """The day that a text counts from the first: ``day 3``, and ``3일`` directly before an hour.

    ``today`` is the day on which something is planned. Then ``14일까지`` is that day, and so is ``17일`` alone unless
    it is past.
    """
    for language in every():
        found = re.search(language.clock.day_number, plain) or _date(plain, language, today)
        if found is not None and int(found["day"]):
            return int(found["day"])
    return None


def _date(plain: str, language: Language, today: int | None) -> re.Match[str] | None:
    found = re.search(language.clock.date, plain)
    if found is None or plain.startswith(("+", "-")):
        return None
    weekday = "|".join(language.clock.weekdays)
    rest = re.sub(rf"^\W{{0,3}}(?:{weekday})?\W{{0,3}}", "", plain[found.end() :])
    hours = (_AT, _hours(language), *map(re.compile, language.clock.parts))
    ends = plain[found.end() :].lstrip()[:1] in ("", ",", "(")
    due = today is not None and (found.groupdict().get("by") or (ends and int(found["day"]) >= today))
    return found if due or any(hour.match(rest) for hour in hours) else None


def _ahead(plain: str, row: str) -> int | None:
    """By how many days or weeks what a text names is ahead: 0 for today, 1 for tomorrow; None if it names none."""
    named = ((pattern, count) for language in every() for pattern, count in getattr(language.clock, row).items())
    return next((count for pattern, count in named if re.search(pattern, plain)), None)


def _without_hours(plain: str) -> str:
    """A text without hours of the day, whose minutes are no length of time: 오후 4시 30분, 11:30 am."""
    for pattern in (_between, _hours):
        for language in every():
            plain = pattern(language).sub(" ", plain)
    return _HALVES.sub(" ", plain)


def _passed(plain: str) -> int | None:
    """The minutes that a text says have passed; None if it names no length of time."""
    most, minutes = 0, 0.0
    for language in every():
        found = list(_lengths(language).finditer(plain))
        if len(found) > most:
            most, minutes = len(found), sum(_minutes(each, language) for each in found)
    return (-round(minutes) if plain.startswith("-") else round(minutes)) if most else None


def _minutes(length: re.Match[str], language: Language) -> float:
    said = {name: part for name, part in length.groupdict().items() if part}
    unit = next((each for each in _UNITS if f"u{each}" in said), DAY)
    number = said.get("number", "")
    count = _counts(language).get(number or said.get("spelled", ""))
    return ((_count(number) if count is None else count) + ("half" in said) / 2) * unit


def _count(digits: str) -> float:
    """The number that digits write: ``1.5``, ``1,5``, ``1,000``."""
    return float(digits.replace(",", "" if len(digits.rpartition(",")[2]) == 3 else "."))


@cache
def _counts(language: Language) -> dict[str, float]:
    return {**language.clock.numbers, **language.clock.vague, **language.clock.spelled}


@cache
def _lengths(language: Language) -> re.Pattern[str]:
    words = language.clock
    units = zip(_UNITS, (words.weeks, words.days, words.hours, words.minutes), strict=True)
    named = "|".join(f"(?P<u{minutes}>{pattern})" for minutes, pattern in units)
    number = "|".join(
        (_DIGITS, rf"(?<![a-z])(?<![a-z]-)(?:{'|'.join(_longest_first({**words.numbers, **words.vague})) or NEVER})")
    )
    spelled = "|".join(_longest_first(words.spelled)) or NEVER
    return re.compile(
        rf"(?:(?P<number>{number})(?!(?<=[a-z])[a-z])\s{{0,2}}(?:{named})|(?P<spelled>{spelled}))(?:\s{{0,2}}(?P<half>{words.half}))?"
    )


@cache
def _hours(language: Language) -> re.Pattern[str]:
    words = language.clock
    number = "|".join((r"(?<!\d)(?:[01]?\d|2[0-4])", *_longest_first(words.numbers, whole=True)))
    minute = rf"\s{{0,2}}(?:(?P<minute>[0-5]?\d)\s{{0,2}}(?:{words.minutes})|(?P<thirty>{words.half}))"
    return re.compile(rf"(?P<hour>{number})\s{{0,2}}(?:{words.oclock})(?:{minute})?")


@cache
def _between(language: Language) -> re.Pattern[str]:
    """Matches an hour with the minutes before it: half past nine, ten to six; not "ten to twelve hours"."""
    number = "|".join((r"[0-5]?\d", *_longest_first(language.clock.numbers, whole=True)))
    between = language.clock.between.replace("NUMBER", number)
    return re.compile(rf"(?:{between})(?!\s{{0,2}}(?:{_units()}))(?:\s{{0,2}}(?P<half>[ap])\.?m\b)?")


@cache
def _dotted() -> re.Pattern[str]:
    """Matches an hour with a dot, 20.30, and no length of time: 1.25 hours."""
    return re.compile(rf"{_DOTTED}(?!\s{{0,2}}(?:{_units()}))(?:\s{{0,2}}(?P<half>[ap])\.?m\b)?")


@cache
def _units() -> str:
    """The pattern of a unit of time in all languages."""
    words = (language.clock for language in every())
    return "|".join(unit for each in words for unit in (each.weeks, each.days, each.hours, each.minutes))


def _longest_first(words: Mapping[str, float], whole: bool = False) -> list[str]:
    return [re.escape(each) for each in sorted(words, key=len, reverse=True) if not whole or words[each] % 1 == 0]
