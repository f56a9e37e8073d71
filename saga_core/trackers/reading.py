"""Reads what a narrator, a person or an author wrote as a tracker's value, and shows values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from attrs import frozen

from saga_core.language import NEVER, all_of, any_of, clean_name, every, normalized, squash
from saga_core.trackers import clock
from saga_core.trackers.tracker import LONGEST_TEXT, Tracker, TrackerKind, same_words
from saga_core.values import Value

MOST_ITEMS = 32
"""The items of a list."""


@frozen
class Reading:
    """What a text says of a value: what it is now (``value``), or how it changed."""

    value: Value = None
    by: int = 0
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    @property
    def changes(self) -> bool:
        """Whether it says anything."""
        return self.value is not None or bool(self.by or self.added or self.removed)


class UnreadableValue(ValueError):
    """A text that is no value of its tracker. The message says why."""


def read_value(tracker: Tracker, said: str | Sequence[str], before: Value = None) -> Reading:
    """Read a text as a value of ``tracker``, or a list of texts. Raises ``UnreadableValue``.

    A number with a sign is a change, and one without is the new value; ``=`` before a number makes it the new value
    whatever its sign. ``before`` is the value until now, on which the meaning of "Saturday" and "19:00" depends.
    """
    parts = [said] if isinstance(said, str) else list(said)
    if tracker.kind is TrackerKind.LIST:
        return _items(parts)
    text = (", " if tracker.kind is TrackerKind.TEXT else " ").join(part.strip() for part in parts if part.strip())
    *before_it, text = map(str.strip, _ARROW.split(text))
    if sum_of := _SUM_OF.match(text):
        before_it, text = [text], text[sum_of.end() :]
    if before_it and tracker.numeric and tracker.kind is not TrackerKind.CLOCK:
        text = _absolute(text)
    if not text or squash(text) in _unchanged():
        return Reading()
    if tracker.kind is TrackerKind.CLOCK:
        now = before if isinstance(before, int) else 0
        at, by = _time(tracker, text, now)
        if at is None and by is None:
            raise UnreadableValue(f"{text[:40]!r} is no time")
        return Reading(at, by or 0)
    if tracker.numeric:
        return _number(tracker, text)
    if tracker.kind is TrackerKind.FLAG:
        flag = _flags().get(squash(_head(text)))
        if flag is None:
            raise UnreadableValue(f"{text[:40]!r} is neither yes nor no")
        return Reading(flag)
    if tracker.kind is TrackerKind.CHOICE:
        option = _option(tracker, text)
        if option is None:
            options = ", ".join(name for _, name in tracker.steps)
            raise UnreadableValue(f"{text[:40]!r} is none of {options}")
        return Reading(option)
    quoted = _QUOTED_TEXT.fullmatch(text)
    return Reading(clean_name(quoted[1] if quoted else text)[:LONGEST_TEXT])


def says_nothing(said: Sequence[str]) -> bool:
    """Whether a report leaves a value as it is or empty: ``null``, ``[]``, ``none``."""
    return all(squash(each) in {"", *_unchanged()} for each in said)


_MINUS = any_of(lambda each: each.values.minus)
_PLUS = any_of(lambda each: each.values.plus)
_LOSS = any_of(lambda each: each.values.loss)
_GAIN = any_of(lambda each: each.values.gain)
_PAID = any_of(lambda each: f"{each.values.loss}|{each.values.paid}")
_EARNED = any_of(lambda each: f"{each.values.gain}|{each.values.earned}")
_BECOMES = any_of(lambda each: each.values.becomes)
_QUOTED_TEXT = re.compile(r"[\"“「『]([^\"“”「」『』]+)[\"”」』]\s*[—–(（-].*")
"""A text in quotation marks with an explanation behind it."""
_FROM_HOUR = re.compile(rf".*\d:\d\d\s*\w{{0,3}}?(?:{_BECOMES})\s*(?=\D{{0,12}}\d{{1,2}}:\d\d)")


def _time(tracker: Tracker, text: str, now: int) -> tuple[int | None, int | None]:
    """The time that a text names, or the minutes that it says have passed. What explains it behind it does not count:
    ``10:20 — about twenty minutes later``, ``+20m (a short walk)``."""
    text = text[moved.end() :] if (moved := _FROM_HOUR.match(text)) else text
    head = _COMMENT.split(text, maxsplit=1)[0]
    texts = [text]
    if head != text and (re.search(r"\d:\d\d", head) or text[:1] == "+"):
        texts.insert(0, head)
    figures = _in_figures(text)
    as_said = text.isascii() or figures == text or clock.is_days_ahead(text)
    texts.insert(len(texts) if as_said else 0, figures)
    for each in texts:
        at, by = clock.read_time(each, now, first_day(tracker), week(tracker))
        if at is not None or by is not None:
            return at, by
    return None, None


_ARROW = re.compile(r"\s{0,4}(?:-{1,3}>|={1,3}>|→|⇒|➔|➜|➡\ufe0f?|⟶)\s{0,4}")
_SUM_OF = re.compile(r".*\d[^=]{0,12}[+\-−]\s{0,2}\d[^=]{0,12}=\s{0,4}(?=[^\d]{0,6}\d)", re.DOTALL)
"""What stands before the result of a sum that is written out: ``20 + 7 = 27``."""
_COMMENT = re.compile(r"\s[—–-]\s|[(（；;]|，(?=[^，]*\Z)")


def _head(text: str) -> str:
    """``text`` without a remark behind it: in parentheses, or behind a dash or a comma."""
    return re.split(r"[(,;，；]|\s[—–-]\s", normalized("NFKC", text), maxsplit=1)[0]


def _option(tracker: Tracker, text: str) -> str | None:
    """The option that a text names, also by a word of another language or among other words; None for none or two."""
    for wanted in (squash(text), squash(_head(text))):
        for _, name in tracker.steps:
            if squash(name) == wanted or wanted in same_words(name):
                return name
    words = set(map(squash, re.findall(r"\w+", _head(text))))
    joined = [word for word in words if not word.isascii()]
    words |= {word[:end] for word in joined for end in range(1, len(word)) if len(word) - end <= 3}
    words |= {
        word[: found.start() + 1]
        for word in joined
        if (found := re.search(r"[\u4e00-\u9fff](?=[\u3040-\u30ff])", word))
    }
    words |= {word[start:] for word in joined for start in range(1, len(word)) if len(word) <= 3}
    among = [name for _, name in tracker.steps if words & {squash(name), *same_words(name)}]
    if len(among) == 2 and (moved := re.search(_BECOMES, _head(text))):  # from clear to rain
        return _option(tracker, _head(text)[moved.end() :])
    return among[0] if len(among) == 1 else None


def time_in(clock_: Tracker, text: str, now: int | None, about: str) -> int | None:
    """The time that a text names or that is so long after ``now``, in minutes; None if it says none, or a day of a week
    that is unknown. ``about`` is what is planned for it."""
    if first_day(clock_) is None and clock.names_only_weekday(text, week(clock_)):
        return None
    at, by = clock.read_time(text, now or 0, first_day(clock_), week(clock_), about)
    if at is not None and (now is not None or not clock_.start):
        return at
    if now is None or at is not None:
        return at
    return now + by if by is not None else clock.end_of_day_in(text, now)


def start_value(tracker: Tracker) -> Value:
    """The value with which the tracker starts; None if it is unknown."""
    if not tracker.start:
        return None
    if tracker.kind is TrackerKind.LIST:
        return _items([tracker.start]).value
    try:
        value = read_value(tracker, tracker.start if not tracker.numeric else _absolute(tracker.start)).value
    except UnreadableValue:
        return None
    return tracker.clamped(value) if isinstance(value, int) and not isinstance(value, bool) else value


def shown_value(tracker: Tracker, value: Value, language: str = "en") -> str:
    """A value as text: ``12 coins``, ``45 (friendly)``, ``3 gold 5 silver``, ``day 3, Wednesday, 14:30``."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or "–"
    if not isinstance(value, int):
        return str(value)
    if tracker.kind is TrackerKind.CLOCK:
        shown = clock.shown_time(value, first_day(tracker), week(tracker), language)
        return shown if tracker.start else shown.partition(", ")[2]
    if tracker.kind is TrackerKind.MONEY and tracker.steps:
        return _coins(tracker, value)
    _, most = tracker.limits
    shown = f"{value:+d}" if tracker.kind is TrackerKind.METER else f"{value}"
    if most is not None and tracker.kind is TrackerKind.NUMBER:
        shown += f"/{most}"
    if tracker.unit:
        shown += tracker.unit if tracker.unit in "%°" else f" {tracker.unit}"
    step = tracker.step(value)
    return f"{shown} ({step})" if step else shown


def shown_due(clock_: Tracker, at: int, when: str, language: str) -> str:
    """The time ``at`` which was given as ``when``, without an hour that nobody named."""
    shown = shown_value(clock_, at, language)
    return shown if clock.names_hour(when) else shown.rpartition(", ")[0]


def overdue_from(at: int, when: str) -> int:
    """The minute from which what is due at ``at`` is overdue: that one, or the next day if ``when`` names no hour."""
    return at if clock.names_hour(when) else (at // clock.DAY + 1) * clock.DAY


def week(tracker: Tracker) -> tuple[str, ...]:
    """The names of the days of a clock's own week; empty for the usual one."""
    return tuple(name for _, name in tracker.steps) if tracker.kind is TrackerKind.CLOCK else ()


@cache
def first_day(tracker: Tracker) -> int | None:
    """The place of a clock's first day in its week, from 0; None if its start names none.

    A clock that does not begin at a known day begins with the week, and counts weekdays alone.
    """
    return clock.weekday_in(tracker.start, week(tracker)) if tracker.start else 0


# -- numbers ---------------------------------------------------------------------------------------------------------

_NUMBER = re.compile(
    r"(?P<set>=\s*)?(?P<sign>[+\-]\s*)?(?P<digits>\d{1,3}(?:[,，]\d{3})+(?!\d)|\d{1,12})(?P<rest>\.\d+)?"
)


def _absolute(text: str) -> str:
    return text if text[:1] == "=" else f"={text}"


def _plain(text: str) -> str:
    plain = normalized("NFKC", text).replace("−", "-").replace("–", "-")
    return _MYRIADS.sub(lambda found: str(_in_digits(found[0])), plain)


_PLACES = {word: worth for each in every() for word, worth in each.amounts.places.items()}
_TEN_THOUSAND, _THOUSAND, _HUNDRED = (
    "".join(sorted(word for word, worth in _PLACES.items() if worth == size)) for size in (10_000, 1_000, 100)
)
_HUNDREDS = rf"(?:\s?\d\s?[{_HUNDRED}])?"
_MYRIADS = re.compile(
    rf"\d[\d,]{{0,9}}(?:\.\d)?\s?[{_TEN_THOUSAND}](?:\s?\d\s?[{_THOUSAND}])?{_HUNDREDS}|\d\s?[{_THOUSAND}]{_HUNDREDS}|\d\s?[{_HUNDRED}]"
)


def _in_digits(written: str) -> int:
    """The number that digits write with words for hundreds, thousands and ten thousands."""
    parts = re.findall(r"([\d,.]+)\s?(\D)", written)
    return round(sum(float(digits.replace(",", "")) * _PLACES[place] for digits, place in parts))


_FROM_TO = re.compile(rf"\d{{1,12}}(?:/\d{{1,12}})?\s*\w{{0,3}}?(?:{_BECOMES})\s*(?P<now>[+\-]?\d{{1,12}})")
_TO_TOTAL = re.compile(
    rf"\d{{1,9}}[^\d+\-]{{0,8}}(?:{_LOSS}|{_GAIN})[^\d+\-(]{{0,8}}(?P<now>\d{{1,9}}[^\d]{{0,4}})", re.IGNORECASE
)
"""A change in words, and behind it what is now."""
_SAID = tuple(
    (re.compile(rf"(?<!\w)(?:{words})\s*(?=\d)", re.IGNORECASE), sign)
    for words, sign in ((f"{_MINUS}|[↓⬇▼▽🔻📉]", "-"), (f"{_PLUS}|[↑⬆▲△🔺📈]", "+"))
)
_REMARK = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")


@cache
def _spelled() -> re.Pattern[str]:
    words = sorted(_NUMBER_WORDS, key=len, reverse=True)
    latin, others = (
        "|".join(re.escape(word) for word in words if word.isascii() is is_latin) for is_latin in (True, False)
    )
    spaced, joined = (
        "|".join(each.grammar.spelled for each in every() if (each.grammar.stands is None) is has_spaces)
        for has_spaces in (True, False)
    )
    return re.compile(
        rf"(?<![^\W\d_])(?:{spaced or NEVER}|(?:{latin})\b|(?:{others})(?![^\W\d_]))|{joined or NEVER}", re.I
    )


_NUMBER_WORDS = {
    word: int(number)
    for each in every()
    for word, number in {**each.clock.numbers, **each.amounts.numbers}.items()
    if number == int(number) and (len(word) > 2 or not word.isascii())
}


def _in_figures(text: str) -> str:
    """``text`` with a number in words as one in digits: ``minus three``."""

    def digits(found: re.Match[str]) -> str:
        number = next((n for each in every() if (n := each.grammar.number(found[0])) is not None), None)
        number = _NUMBER_WORDS.get(found[0].casefold()) if number is None else number
        return found[0] if number is None else str(number)

    if any(map(str.isdigit, text)):
        return text
    return _spelled().sub(digits, re.sub(r"(?<!\S)\S{1,8}(?!\S)", digits, text))


_CLAUSES = re.compile(r"[,;，、；](?=\s?\D)|\band\b", re.I)


def _change_in_words(text: str, less: str = _LOSS, more: str = _GAIN) -> str:
    """``text`` with the sign of a number that stands in words: ``rises by 3``, and without what was before. ``less``
    and ``more`` match words of a loss and of a gain; in a text with both, each counts for its clause."""
    outside = _REMARK.sub(" ", text).strip()
    text = outside if any(map(str.isdigit, outside)) else text.strip("()[] ")
    if total := _TO_TOTAL.search(text):
        return f"={total['now']}"
    if moved := _FROM_TO.search(text):
        return moved["now"] if moved["now"][0] not in "+-" else f"={moved['now']}"
    for words, sign in _SAID:
        text = words.sub(sign, text)
    loss, gain = (re.search(words, text, re.IGNORECASE) for words in (less, more))
    if loss and gain and len(clauses := _CLAUSES.split(text)) > 1:
        return ", ".join(_change_in_words(each, less, more) for each in clauses)
    if bool(loss) != bool(gain) and not re.search(r"[+\-=]\s*\d", text):
        text = re.sub(r"\d", lambda first: f"{'-' if loss else '+'}{first[0]}", text, count=1)
    return text


_EXPONENT = re.compile(r"\d\.?[eE][+\-]?\d")


def _number(tracker: Tracker, text: str) -> Reading:
    plain = _plain(text)
    if _EXPONENT.search(plain):  # no story counts so, and its parts are no numbers of their own
        raise UnreadableValue(f"{text[:40]!r} is no whole number")
    step = next((number for number, name in tracker.steps if squash(name) == squash(plain.lstrip("="))), None)
    if step is not None and tracker.kind is not TrackerKind.MONEY:
        return Reading(step)
    words = (_PAID, _EARNED) if tracker.kind is TrackerKind.MONEY else (_LOSS, _GAIN)
    plain = _change_in_words(_in_figures(plain), *words)
    if tracker.kind is TrackerKind.MONEY and tracker.steps:
        return _money(tracker, plain)
    found = _NUMBER.search(_SYMBOL.sub("", plain) if tracker.kind is TrackerKind.MONEY else plain)
    if found is None or found["rest"]:
        raise UnreadableValue(f"{text[:40]!r} is no whole number")
    number = int(re.sub(r"\D", "", found["digits"]))
    if found["sign"] and found["sign"][0] == "-":
        number = -number
    return Reading(by=number) if found["sign"] and not found["set"] else Reading(number)


_SYMBOL = re.compile(r"[$£€¥₩](?=\s?\d)")
_SUM = re.compile(
    r"(?P<sign>[+\-])?\s{0,4}(?P<before>[$£€¥₩])?\s?(?P<digits>\d[\d,]{0,14}(?:\.\d{1,2}(?!\d))?)\s{0,4}"
    r"(?P<after>[$£€¥₩])?(?P<coin>[^\d+\-,;$£€¥₩]*)"
)


def _money(tracker: Tracker, plain: str) -> Reading:
    names, bare = _coins_of(tracker)
    plain = _coins_first(plain, "|".join(re.escape(name) for name, _ in names))
    total, sign, relative, seen = 0, 1, False, False
    for found in _SUM.finditer(plain):
        coin = squash(found["coin"].partition("(")[0])
        worth = next((worth for name, worth in names if name in coin), None)
        if worth is None and len(short := {worth for name, worth in names if coin and name.startswith(coin)}) == 1:
            worth = short.pop()
        if found["before"] or found["after"] or (worth is None and "." in found["digits"]):
            worth = tracker.steps[-1][0]  # a sign of a currency stands for its largest coin
        if worth is None and (coin and seen):
            continue
        sign = -1 if found["sign"] == "-" else 1 if found["sign"] else sign
        relative = relative or bool(found["sign"])
        total += sign * round(float(found["digits"].replace(",", "")) * (worth or bare))
        seen = True
    if not seen:
        raise UnreadableValue(f"{plain[:40]!r} is no sum of {', '.join(name for _, name in tracker.steps)}")
    return Reading(by=total) if relative and not plain.startswith("=") else Reading(total)


@cache
def _coins_of(tracker: Tracker) -> tuple[tuple[tuple[str, int], ...], int]:
    """The names of the coins with their worth, in every language and the longest first; and the worth of the coin that
    a bare number counts: the one that the tracker is called after, or else the smallest."""
    coins = {(key, worth) for worth, name in tracker.steps for key in (squash(name), *same_words(name))}
    words = {tracker.key, *map(squash, tracker.name.split())}
    called = [worth for worth, name in tracker.steps if squash(name) in words]
    bare = called[0] if len(called) == 1 else tracker.steps[0][0]
    return tuple(sorted(coins, key=lambda coin: (-len(coin[0]), coin))), bare


def _coins_first(text: str, coins: str) -> str:
    """``text`` with each coin behind its number: ``{gold: 2, silver: 4}``, and two silver in Korean order."""
    if not re.match(rf"[\s\"'{{(=+-]*(?:{coins})[^\d+\-]{{0,4}}[+\-]?\d", text, re.IGNORECASE):
        return text
    return re.sub(
        rf"(?P<sign>[+\-]?)(?P<coin>{coins})[^\d+\-,;]{{0,4}}(?P<count>[+\-]?\d[\d,]{{0,14}})",
        lambda found: f"{found['sign']}{found['count'].rstrip(',')} {found['coin']} ",
        text,
        flags=re.IGNORECASE,
    )


def _coins(tracker: Tracker, value: int) -> str:
    if value < 0:
        return f"-{_coins(tracker, -value)}"
    parts = []
    for worth, name in reversed(tracker.steps):
        count, value = divmod(value, worth)
        if count:
            parts.append(f"{count} {name}")
    return " ".join(parts) or f"0 {tracker.steps[0][1]}"


# -- lists and words -------------------------------------------------------------------------------------------------


def _items(parts: Sequence[str]) -> Reading:
    joined = _ARROW.split(_LIST_WITH_REMARK.sub(r"\1", ", ".join(parts)))[-1]
    parts = [joined.strip().strip("[]［］【】")] if joined != ", ".join(parts) else parts
    items = [each for part in parts for each in re.split(r"[,，、;；]", part.strip("【】［］")) if each.strip()]
    items = [moved for each in items for moved in (moved_items(each) or (_signed_item(each.strip(_QUOTES)),))]
    added: list[str] = []
    removed: list[str] = []
    whole: list[str] = []
    for item in items:
        text = normalized("NFKC", item).strip()
        name = clean_name(text.lstrip("+-−–= "))[:LONGEST_TEXT]
        if not name:
            continue
        (added if text[0] == "+" else removed if text[0] in "-−–" else whole).append(name)
    if not added and not removed:
        said = [name for name in whole if squash(name) not in _nothing()]
        if whole and all(squash(name) in _unchanged() - _nothing() for name in whole):
            return Reading()
        return Reading(tuple(dict.fromkeys(said))[:MOST_ITEMS]) if items else Reading()
    return Reading(added=(*added, *whole), removed=tuple(removed))


_LIST_WITH_REMARK = re.compile(r"\A\s*[\[［【]([^\[\]［］【】]*)[\]］】]\s*[(（—–].*", re.DOTALL)
_QUOTED_ITEM = re.compile(r"[「『“\"']([^「」『』“”\"']{1,80})[」』”\"']")


def moved_items(text: str) -> tuple[str, ...]:
    """The items, each with its sign, whose gain or loss stands in words beside their quoted names."""
    names = _QUOTED_ITEM.findall(text)
    words = _QUOTED_ITEM.sub(" ", text) if names else ""
    loss, gain = (re.search(each, words, re.IGNORECASE) for each in (_LOSS, _GAIN))
    return tuple(f"{'-' if loss else '+'}{name}" for name in names) if bool(loss) != bool(gain) else ()


_QUOTES = ' “”"「」『』‹›<>'
_WITH_WORD = re.compile(r"([^()（）]{1,80}?)\s*[(（]([^()（）]{1,16})[)）]")


def _signed_item(text: str) -> str:
    """An item with the sign of its gain or loss that stands behind it in parentheses: ``torn ticket (lost)``."""
    found = _WITH_WORD.fullmatch(text)
    loss, gain = (found and re.search(each, found[2], re.IGNORECASE) for each in (_LOSS, _GAIN))
    return f"{'-' if loss else '+'}{found[1]}" if found and bool(loss) != bool(gain) else text


@cache
def _flags() -> dict[str, bool]:
    yes = all_of(lambda each: each.values.yes) | all_of(lambda each: each.values.true)
    no = all_of(lambda each: each.values.no) | all_of(lambda each: each.values.false)
    return {**dict.fromkeys(map(squash, no), False), **dict.fromkeys(map(squash, yes), True)}


@cache
def _unchanged() -> frozenset[str]:
    words = {word for each in every() for word in (*each.values.unchanged, *each.values.nothing)}
    return frozenset(map(squash, words)) | _nothing()


@cache
def _nothing() -> frozenset[str]:
    return frozenset(word for each in every() for word in map(squash, (each.labels.nothing, *each.values.nobody)))
