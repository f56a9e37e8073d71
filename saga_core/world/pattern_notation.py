"""Whether a key is a pattern, as JavaScript writes one: ``/…/flags``."""

from __future__ import annotations

import re
from functools import lru_cache

LONGEST = 1_000
"""Characters of a pattern that is matched."""
_FLAGS = "dgimsuvy"
_INNER_SLASH = re.compile(r"(?<!\\)(?:\\\\)*/")
_ESCAPE = re.compile(
    r"\\u\{[0-9A-Fa-f]{1,6}\}|\\[pP]\{[\w=]{1,60}\}|\\k<\w{1,60}>|\\.|\[\^\]",
    re.DOTALL,
)
_SET = re.compile(r"\[[^\]]*(?:\]|\Z)")
_GROUP = re.compile(r"\(\?<(?![=!])")


def is_pattern(key: str) -> bool:
    """Whether a key is a regular expression; what only looks like one is words, as in the tools that write them."""
    end = key.rfind("/")
    flags = key[end + 1 :]
    if end < 2 or not key.startswith("/") or not set(flags) <= set(_FLAGS) or len(set(flags)) < len(flags):
        return False
    source = key[1:end]
    return not _INNER_SLASH.search(source) and is_valid(source)


def is_valid(source: str) -> bool:
    """Whether JavaScript would take this as a pattern: its brackets and repetitions are those of Python's."""
    return len(source) > LONGEST or _compiles(source)  # a longer one is not matched at any rate, and that is told


@lru_cache(maxsize=65_536)
def _compiles(source: str) -> bool:
    plain = _SET.sub(lambda found: "x" if found[0].endswith("]") else "[", _ESCAPE.sub("x", source))
    plain = _GROUP.sub("(?P<", plain).replace("(?<", "(?")  # JavaScript looks behind at any width
    try:
        re.compile(plain)
    except (re.error, RecursionError, OverflowError):
        return False
    return True


def as_pattern(source: str) -> str:
    """A pattern without delimiters, with them."""
    return f"/{_INNER_SLASH.sub(lambda found: found[0][:-1] + chr(92) + '/', source)}/"
