"""Recognises keys that are patterns in JavaScript's notation: ``/…/flags``."""

from __future__ import annotations

import re
from functools import lru_cache

LONGEST = 1_000
"""Longest pattern that is matched, in characters."""
_FLAGS = "dgimsuvy"
_INNER_SLASH = re.compile(r"(?<!\\)(?:\\\\)*/")
_ESCAPE = re.compile(
    r"\\u\{[0-9A-Fa-f]{1,6}\}|\\[pP]\{[\w=]{1,60}\}|\\k<\w{1,60}>|\\.|\[\^\]",
    re.DOTALL,
)
_SET = re.compile(r"\[[^\]]*(?:\]|\Z)")
_GROUP = re.compile(r"\(\?<(?![=!])")


def is_pattern(key: str) -> bool:
    """Whether a key is a regular expression. A key that only looks like one counts as words, as in other tools."""
    end = key.rfind("/")
    flags = key[end + 1 :]
    if end < 2 or not key.startswith("/") or not set(flags) <= set(_FLAGS) or len(set(flags)) < len(flags):
        return False
    source = key[1:end]
    return not _INNER_SLASH.search(source) and is_valid(source)


def is_valid(source: str) -> bool:
    """Whether JavaScript would accept this pattern. Its brackets and repetitions follow Python's rules."""
    return len(source) > LONGEST or _compiles(source)  # longer patterns are never matched, which is reported


@lru_cache(maxsize=65_536)
def _compiles(source: str) -> bool:
    plain = _SET.sub(lambda found: "x" if found[0].endswith("]") else "[", _ESCAPE.sub("x", source))
    plain = _GROUP.sub("(?P<", plain).replace("(?<", "(?")  # JavaScript allows a lookbehind of any width
    try:
        re.compile(plain)
    except (re.error, RecursionError, OverflowError):
        return False
    return True


def as_pattern(source: str) -> str:
    """The pattern between slashes, with its inner slashes escaped."""
    return f"/{_INNER_SLASH.sub(lambda found: found[0][:-1] + chr(92) + '/', source)}/"
