"""Reads fields of foreign objects, whatever their type, and notes a loss for each value of a wrong type."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal

from attrs import frozen

from saga_core.imports.records import Losses, Verdict
from saga_core.imports.texts import tidy

_SHOWN = 40
_STAMP = re.compile(
    r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2}) ?@ ?([0-9]{1,2})h ?([0-9]{1,2})m(?: ?([0-9]{1,2})s)?(?: ?([0-9]{1,3})ms)?"
)
_WORDS = re.compile(r"([A-Z][a-z]+) ([0-9]{1,2}), ([0-9]{4}) ([0-9]{1,2}):([0-9]{2})(?: ?([ap]m))?", re.IGNORECASE)
_MONTHS = ("january february march april may june july august september october november december").split()
_MILLISECONDS = 100_000_000_000
_LATEST = 253_402_300_799


@frozen
class Fate:
    """What becomes of a field: ``kept``, ``mapped`` or ``dropped``, and how or why."""

    verdict: Verdict | Literal["kept"]
    why: str = ""


KEPT = Fate("kept")


def mapped(why: str) -> Fate:
    """The field is kept in another form."""
    return Fate("mapped", why)


def dropped(why: str) -> Fate:
    """The field is left out."""
    return Fate("dropped", why)


Fates = Mapping[str, Fate]


def fates(*groups: tuple[Fate, str]) -> dict[str, Fate]:
    """Return the fate of each field, from the names of the fields that share one, with blanks between them."""
    return {name: fate for fate, names in groups for name in names.split()}


OWN_TOOL = dropped("it has a meaning in its own tool alone")
OWN_EDITOR = dropped("it orders the tool's own editor")
SENT_AGAIN = dropped("the frontend goes on sending it")
SCRIPT = dropped("SAGA runs no scripts of other tools")
FILE_DATE = dropped("the date of a file")
MEASURED = dropped("a measurement of the reply that was")
FROM_NEXT_REQUEST = dropped("SAGA learns who plays from the frontend's next request")
"""Fates that fields of several tools have."""


@frozen
class Fields:
    """An object of a file. In losses, ``where`` names the object, and ``prefix`` precedes the names of its fields."""

    plain: Mapping[str, Any]
    losses: Losses
    where: str = ""
    prefix: str = ""

    def account(self, fates: Fates, unsaid: Mapping[str, Any] | None = None) -> None:
        """Note the fate of each field, except for empty fields and those with their default in ``unsaid``."""
        for name, value in self.plain.items():
            if value is None or value == "" or value is False or value in ([], {}):
                continue
            if unsaid is not None and name in unsaid and value == unsaid[name]:
                continue
            fate = fates.get(name)
            if fate is None:
                self._lose(tidy(str(name))[:_SHOWN], "dropped", "SAGA does not know this field")
            elif fate.verdict != "kept":
                self._lose(name, fate.verdict, fate.why)

    def _lose(self, name: str, verdict: Verdict, why: str) -> None:
        self.losses.add(self.prefix + name, verdict, why, self.where)

    def text(self, *names: str) -> str:
        """The first of these fields that is a non-empty text, or a number as text; "" if there is none."""
        for name in names:
            value = self.plain.get(name)
            if isinstance(value, str):
                if value:
                    return tidy(value)
            elif isinstance(value, int | float) and not isinstance(value, bool):
                return str(value)
            elif value is not None:
                self._lose(name, "dropped", f"is {_kind(value)} where a text should be")
        return ""

    def texts(self, name: str, *, split: bool = False) -> tuple[str, ...]:
        """The texts of a list. A text instead of a list is one item; with ``split``, it is split at commas."""
        value = self.plain.get(name)
        if value is None:
            return ()
        if isinstance(value, str):
            value = value.split(",") if split else [value]
        if not isinstance(value, Sequence):
            self._lose(name, "dropped", f"is {_kind(value)} where a list should be")
            return ()
        found = []
        for each in value:
            if isinstance(each, str) or (isinstance(each, int | float) and not isinstance(each, bool)):
                if str(each).strip():
                    found.append(tidy(str(each)))
            elif each is not None:
                self._lose(name, "dropped", f"holds {_kind(each)} where a text should be")
        return tuple(found)

    def flag(self, name: str) -> bool | None:
        """The field if it is a boolean, or a number as boolean; otherwise None."""
        value = self.plain.get(name)
        if value is None or isinstance(value, int | float):
            return None if value is None else bool(value)
        self._lose(name, "dropped", f"is {_kind(value)} where yes or no should be")
        return None

    def whole(self, name: str, *, least: int = 0, most: int = 999_999_999) -> int | None:
        """The field if it is a number, rounded and limited to its bounds; otherwise None."""
        value = self.plain.get(name)
        if type(value) is int and least <= value <= most:
            return value
        if isinstance(value, str) and value.strip().lstrip("+-").isdecimal() and len(value) < 12:
            value = int(value)
        if value is None or isinstance(value, bool) or value == "":
            return None
        if not isinstance(value, int | float) or (isinstance(value, float) and not math.isfinite(value)):
            self._lose(name, "dropped", f"is {_kind(value)} where a number should be")
            return None
        near = min(max(round(value), least), most)
        if near != value:
            self._lose(name, "mapped", f"made a whole number from {least} to {most}")
        return near

    def inner(self, name: str) -> Fields:
        """The field if it is an object; otherwise an empty one."""
        value = self.plain.get(name)
        if isinstance(value, dict):
            return Fields(value, self.losses, self.where, f"{self.prefix}{name}.")
        if value not in (None, "", []):
            self._lose(name, "dropped", f"is {_kind(value)} where an object should be")
        return Fields({}, self.losses, self.where, self.prefix)

    def rows(self, name: str) -> list[Any]:
        """The rows of a list; an empty list if the field is no list."""
        value = self.plain.get(name)
        if value is None:
            return []
        if not isinstance(value, list):
            self._lose(name, "dropped", f"is {_kind(value)} where a list should be")
            return []
        return value

    def objects(self, name: str, where: str, *, prefix: str = "", what: str = "message") -> Iterator[Fields]:
        """Yield the objects of a list, and note rows that are none. ``where`` and its number names an object."""
        for number, each in enumerate(self.rows(name)):
            place = f"{where} {number}"
            if isinstance(each, dict):
                yield Fields(each, self.losses, place, prefix)
            else:
                self.losses.add(name, "dropped", f"is no {what}", place)

    def said(self, name: str) -> str:
        """The text of a message; "" if it is blank, which is noted."""
        text = self.text(name)
        if text.strip():
            return text
        self._lose(name, "dropped", "a blank message is nothing")
        return ""


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "yes or no"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    return "a text" if isinstance(value, str) else "a number"


def read_time(value: Any) -> float:
    """Parse the time of a message, in the formats that chat tools have used over the years.

    Return seconds since the epoch; 0 if the value is not a time. A time without a time zone counts as UTC.
    """
    if isinstance(value, bool):
        return 0.0
    if isinstance(value, int | float):
        return _bounded(value)
    if not isinstance(value, str):
        return 0.0
    text = value.strip()
    if text.isdecimal():
        return _bounded(float(text[:20]))
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return _spelt(text)
    return _bounded((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp())


def _spelt(text: str) -> float:
    stamp = _STAMP.match(text)
    words = _WORDS.match(text)
    try:
        if stamp is not None:
            year, month, day, hour, minute, second, milli = (int(part or 0) for part in stamp.groups())
            return datetime(year, month, day, hour, minute, second, milli * 1_000, UTC).timestamp()
        months = [at for at, name in enumerate(_MONTHS, 1) if words and words[1].lower() in (name, name[:3])]
        if words is not None and months:
            half = (words[6] or "").lower()
            hour = int(words[4]) % 12 + (12 if half == "pm" else 0) if half else int(words[4])
            month = months[0]
            return datetime(int(words[3]), month, int(words[2]), hour, int(words[5]), tzinfo=UTC).timestamp()
    except ValueError:
        return 0.0
    return 0.0


def _bounded(number: float) -> float:
    if not 0 < number <= _LATEST * 1_000:  # also a whole number that no float can hold
        return 0.0
    number = number / 1_000 if number >= _MILLISECONDS else number
    return float(number) if number <= _LATEST else 0.0
