"""Parses the times of messages, in the formats that chat tools have used over the years."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from typing import Any

_STAMP = re.compile(
    r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2}) ?@ ?([0-9]{1,2})h ?([0-9]{1,2})m(?: ?([0-9]{1,2})s)?(?: ?([0-9]{1,3})ms)?"
)
_WORDS = re.compile(r"([A-Z][a-z]+) ([0-9]{1,2}), ([0-9]{4}) ([0-9]{1,2}):([0-9]{2}) ?([ap]m)", re.IGNORECASE)
_MONTHS = ("january february march april may june july august september october november december").split()
_MILLISECONDS = 100_000_000_000
_LATEST = 253_402_300_799


def read_time(value: Any) -> float:
    """Return seconds since the epoch; 0 if the value is not a time. A time without a time zone counts as UTC."""
    if isinstance(value, bool):
        return 0.0
    if isinstance(value, int | float):
        return _bounded(float(value))
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
        if words is not None and words[1].lower() in _MONTHS:
            hour = int(words[4]) % 12 + (12 if words[6].lower() == "pm" else 0)
            month = _MONTHS.index(words[1].lower()) + 1
            return datetime(int(words[3]), month, int(words[2]), hour, int(words[5]), tzinfo=UTC).timestamp()
    except ValueError:
        return 0.0
    return 0.0


def _bounded(number: float) -> float:
    if not math.isfinite(number) or number <= 0:
        return 0.0
    number = number / 1_000 if number >= _MILLISECONDS else number
    return number if number <= _LATEST else 0.0
