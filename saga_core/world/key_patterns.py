"""Keys of lore entries: words, and patterns that take no longer than the text is long.

Patterns are matched by RE2, which is linear, if the extra ``lore`` is installed. Without it only patterns that repeat
nothing are matched, by Python's own engine; the others open nothing, and that is told.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import Any

from attrs import define

from saga_core.world.pattern_notation import LONGEST, is_pattern

READ = 16_000
"""Characters of a message that keys are looked for in."""
_MEMORY = 1 << 20
"""Bytes that RE2 may take for one pattern."""
_REPEATS = re.compile(r"[*+{]|\(\?|\\[1-9]")
_CODE = re.compile(r"(?<!\\)((?:\\\\)*)\\u([0-9A-Fa-f]{4})")
"""A character by its code, as JavaScript writes it and RE2 does not."""
_STEPS = 2_000
"""Steps that a pattern without RE2 may take from one place of a text."""

KeySearch = Callable[[str], bool]


@lru_cache(maxsize=1)
def _re2() -> Any:
    """The linear engine; None when the extra is not installed."""
    try:
        return import_module("re2")
    except ImportError:
        return None


@lru_cache(maxsize=65_536)
def pattern_search(key: str) -> KeySearch | None:
    """Whether a pattern ``/…/flags`` is in a text; None for one that cannot be matched in bounded time."""
    end = key.rfind("/")
    source, flags = key[1:end].replace("\\/", "/"), key[end + 1 :]
    inline = "".join(flag for flag in "ims" if flag in flags)
    source = f"(?{inline}){source}" if inline else source
    if len(source) > LONGEST:
        return None
    engine = _re2()
    if engine is not None:
        options = engine.Options()
        options.log_errors = False
        options.max_mem = _MEMORY
        try:
            found = engine.compile(_CODE.sub(r"\1\\x{\2}", source), options)
        except engine.error:
            return None
        return lambda text: found.search(text) is not None
    if _REPEATS.search(key[1:end]) or _steps(key[1:end]) > _STEPS:
        return None
    return _without_engine(source)


@define
class _Part:
    """What stands in one pair of brackets: in how many ways it may fit, and what trying all of them takes."""

    ways: int = 0
    steps: int = 0
    branch_ways: int = 1
    branch_steps: int = 0

    def follow(self, ways: int, steps: int) -> None:
        """Something stands next in the branch: it is tried behind each way to come there."""
        self.branch_steps += self.branch_ways * steps
        self.branch_ways *= ways

    def end_branch(self) -> None:
        """An alternative is over."""
        self.ways, self.steps = self.ways + self.branch_ways, self.steps + self.branch_steps
        self.branch_ways, self.branch_steps = 1, 0


def _steps(source: str) -> int:
    """How many characters a backtracking engine compares from one place, at worst, for what repeats nothing.

    Alternatives behind each other multiply: ``(a|aa)(a|aa)…`` doubles with each of them.
    """
    parts = [_Part()]
    at = 0
    while at < len(source):
        sign = source[at]
        if sign == "[":
            at = _set_end(source, at)
        at += 2 if sign == "\\" else 1
        if sign == "(":
            parts.append(_Part())
        elif sign == ")" and len(parts) > 1:
            inner = parts.pop()
            inner.end_branch()
            parts[-1].follow(inner.ways, inner.steps)
        elif sign == "|":
            parts[-1].end_branch()
        else:
            parts[-1].follow(2 if sign == "?" else 1, 1)
    while len(parts) > 1:  # brackets that are not closed: no pattern, as the engine will say
        inner = parts.pop()
        inner.end_branch()
        parts[-1].follow(inner.ways, inner.steps)
    parts[0].end_branch()
    return parts[0].steps


def _set_end(source: str, at: int) -> int:
    """Where the set of characters ends that begins there: at its bracket, or at the end of the pattern."""
    at += 2 if source.startswith("[^", at) else 1
    first = at
    while at < len(source) and (source[at] != "]" or at == first):
        at += 2 if source[at] == "\\" else 1
    return at


def _without_engine(source: str) -> KeySearch | None:
    """Python's own engine, for a pattern that repeats nothing."""
    try:
        plain = re.compile(source, re.ASCII)
    except (re.error, RecursionError, OverflowError):
        return None
    return lambda text: plain.search(text) is not None


def key_search(key: str, *, case: bool, words: bool) -> KeySearch | None:
    """Whether a key stands in a text; None for a pattern that cannot be matched.

    Words are looked for in lower case unless ``case`` counts, so the text has to be too. A pattern has flags of its own
    and wants the text as it is.
    """
    if is_pattern(key):
        return pattern_search(key)
    wanted = key if case else key.lower()
    if not words or len(wanted.split()) > 1:  # several words stand wherever they stand
        return lambda text: wanted in text
    return lambda text: _as_word(wanted, text)


def _as_word(wanted: str, text: str) -> bool:
    """Whether it stands there with no letter or digit of ASCII next to it.

    So it is where these rules come from, and well for languages that write words together: a Korean noun with a
    particle behind it is that noun.
    """
    at = text.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        if not _joins(text[at - 1 : at]) and not _joins(text[end : end + 1]):
            return True
        at = text.find(wanted, at + 1)
    return False


def _joins(sign: str) -> bool:
    return sign.isascii() and (sign.isalnum() or sign == "_")
