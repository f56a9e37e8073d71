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

from saga_core.world.lore_rule import is_pattern

READ = 16_000
"""Characters of a message that keys are looked for in."""
_LONGEST = 1_000
"""Characters of a pattern."""
_MEMORY = 1 << 20
"""Bytes that RE2 may take for one pattern."""
_REPEATS = re.compile(r"[*+{]|\(\?|\\[1-9]")
_CHOICES = 3
"""Optional parts of a pattern without RE2: each may double the time."""

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
    if len(source) > _LONGEST:
        return None
    engine = _re2()
    if engine is not None:
        options = engine.Options()
        options.log_errors = False
        options.max_mem = _MEMORY
        try:
            found = engine.compile(source, options)
        except engine.error:
            return None
        return lambda text: found.search(text) is not None
    if _REPEATS.search(key[1:end]) or key[1:end].count("?") > _CHOICES:
        return None
    return _without_engine(source)


def _without_engine(source: str) -> KeySearch | None:
    """Python's own engine, for a pattern that repeats nothing."""
    try:
        plain = re.compile(source, re.ASCII)
    except (re.error, RecursionError, OverflowError):
        return None
    return lambda text: plain.search(text) is not None


def key_search(key: str, *, case: bool, words: bool) -> KeySearch | None:
    """Whether a key stands in a text that was folded as ``fold`` does; None for a pattern that cannot be matched."""
    if is_pattern(key):
        return pattern_search(key)
    wanted = key if case else key.lower()
    if not words:
        return lambda text: wanted in text
    return lambda text: _as_word(wanted, text)


def _as_word(wanted: str, text: str) -> bool:
    """Whether it stands there with neither letters nor digits next to it."""
    at = text.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        if not _joins(text[at - 1 : at]) and not _joins(text[end : end + 1]):
            return True
        at = text.find(wanted, at + 1)
    return False


def _joins(sign: str) -> bool:
    return sign.isalnum() or sign == "_"
