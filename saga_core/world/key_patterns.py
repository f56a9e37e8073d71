"""Keys of lore entries: words, and patterns in JavaScript's notation that are matched in bounded time.

If the extra ``lore`` is installed, patterns are matched by RE2, which is linear. Python's own engine matches patterns
without repetition where RE2 is not installed or does not know them, as it does not know look-around. The others never
match, which is reported.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import lru_cache, partial
from importlib import import_module
from typing import Any

from attrs import define, frozen

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


READ = 16_000
"""Characters of a message that are searched for keys."""
_MEMORY = 1 << 20
"""Bytes that RE2 may use for one pattern."""
_LARGEST = 5_000
"""Most instructions of a pattern: RE2 writes out what ``{900}`` repeats, and where its automaton does not fit into
``_MEMORY``, each character may cost all of them."""
_WORK = 1 << 26
"""Most instructions times characters of one search, beyond the first ``READ`` characters."""
_REPEATS = re.compile(r"[*+{]|\(\?(?![:=!]|<[=!])|\\[1-9k]")
_CODE = re.compile(r"(?<!\\)((?:\\\\)*)\\u([0-9A-Fa-f]{4})")
"""A character by its code, in JavaScript's notation, which RE2 does not have."""
_ANY_SIGN = re.compile(r"\\.|\[\^\]|\[(?:\\.|[^\]\\])*+(?:\]|\\?\Z)", re.DOTALL)
_NOTATION = re.compile(
    r"(?<!\\)((?:\\\\)*)\\(?:u\{([0-9A-Fa-f]{1,6})\}|([pP])\{(?:Script|Script_Extensions|General_Category|scx?|gc)=(\w+)\})"
)
"""A character by its code in brackets, and a property by the name of its kind, in JavaScript's notation."""
_UNKNOWN = re.compile(r"\\(?:[pP]|u)\{[^{}]*\}")
_STEPS = 2_000
"""Steps that a pattern without RE2 may take from one position of a text."""

_ROUND = "\u2019"
"""The apostrophe that models and editors write for the straight one."""

KeySearch = Callable[[str], bool]


@frozen
class PatternSearch:
    """Tells whether a text contains a pattern. ``size`` is what a character costs at worst, in instructions."""

    pattern: Any
    size: int

    def __call__(self, text: str) -> bool:
        return self.pattern.search(text[: max(READ, _WORK // max(1, self.size))]) is not None


@lru_cache(maxsize=1)
def _re2() -> Any:
    """The linear engine; None when the extra is not installed."""
    try:
        return import_module("re2")
    except ImportError:
        return None


@lru_cache(maxsize=65_536)
def pattern_search(key: str) -> PatternSearch | None:
    """A function that tells whether a text contains a pattern ``/…/flags``.

    None for a pattern that cannot be matched in bounded time.
    """
    found = _search(key)
    return None if found is None or found.size > _LARGEST else found


def _search(key: str) -> PatternSearch | None:
    end = key.rfind("/")
    source, flags = key[1:end].replace("\\/", "/"), key[end + 1 :]
    if len(source) > LONGEST:
        return None
    bare = _translated(source)
    inline = "".join(flag for flag in "ims" if flag in flags)
    source = f"(?{inline}){bare}" if inline else bare
    engine = _re2()
    if engine is not None:
        options = engine.Options()
        options.log_errors = False
        options.max_mem = _MEMORY
        try:
            found = engine.compile(_CODE.sub(r"\1\\x{\2}", source), options)
        except engine.error as error:  # look-around, for instance
            if "too large" in str(error):
                return PatternSearch(None, _LARGEST + 1)
        else:
            return PatternSearch(found, found.programsize)
    if _REPEATS.search(bare) or (steps := _steps(bare)) > _STEPS:
        return None
    return _without_engine(source, steps)


def _translated(source: str) -> str:
    """The pattern without what only JavaScript writes: ``[^]``, ``\\u{…}`` and ``\\p{Script=…}``."""
    source = _ANY_SIGN.sub(lambda found: r"[\s\S]" if found[0] == "[^]" else found[0], source)
    return _NOTATION.sub(_in_common, source)


def _in_common(found: re.Match[str]) -> str:
    before, code, sign, value = found.groups()
    if code is None:
        return rf"{before}\{sign}{{{value}}}"
    number = int(code, 16)
    is_character = number <= sys.maxunicode and not 0xD800 <= number < 0xE000
    return before + re.escape(chr(number)) if is_character else found[0]


def why_unread(key: str) -> str:
    """Why a pattern opens nothing, and what to do about it."""
    source = key[1 : key.rfind("/")]
    if len(source) > LONGEST:
        return f"a pattern of more than {LONGEST:,} characters opens nothing: write a shorter one, or words"
    if (found := _search(key)) is not None and found.size > _LARGEST:
        return "a pattern that repeats too much at once opens nothing: write smaller numbers in {}, or words"
    for unknown in _UNKNOWN.findall(_translated(source)) if _re2() is not None else ():
        if pattern_search(f"/{unknown}/") is None:
            return f"a pattern with {unknown}, which only JavaScript knows, opens nothing: write characters or words"
    return "a pattern that cannot be matched in bounded time opens nothing: install the extra lore, or write words"


@define
class _Part:
    """The content of one pair of brackets: the number of ways it may match, and the steps to try all of them."""

    ways: int = 0
    steps: int = 0
    branch_ways: int = 1
    branch_steps: int = 0

    def follow(self, ways: int, steps: int) -> None:
        """Add the next element of the branch. It is tried after each way in which the branch matches so far."""
        self.branch_steps += self.branch_ways * steps
        self.branch_ways *= ways

    def end_branch(self) -> None:
        """End the current alternative."""
        self.ways, self.steps = self.ways + self.branch_ways, self.steps + self.branch_steps
        self.branch_ways, self.branch_steps = 1, 0


def _steps(source: str) -> int:
    """The most characters that a backtracking engine compares from one position, for a pattern without repetition.

    Successive alternatives multiply: ``(a|aa)(a|aa)…`` doubles with each of them.
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
    while len(parts) > 1:  # unclosed brackets: the engine will reject the pattern
        inner = parts.pop()
        inner.end_branch()
        parts[-1].follow(inner.ways, inner.steps)
    parts[0].end_branch()
    return parts[0].steps


def _set_end(source: str, at: int) -> int:
    """The end of the character set that begins at ``at``: its bracket, or the end of the pattern."""
    at += 2 if source.startswith("[^", at) else 1
    first = at
    while at < len(source) and (source[at] != "]" or at == first):
        at += 2 if source[at] == "\\" else 1
    return at


_CLASS = re.compile(r"(?P<set>\[\^?\]?(?:\\.|[^\]\\])*(?:\]|\\?\Z))|\\(?P<sign>.)", re.DOTALL)
_ASCII = {"w": "a-zA-Z0-9_", "d": "0-9"}
_NEGATED = re.compile(r"\\[WD]")
_IN_SET = re.compile(r"\\(.)", re.DOTALL)


def _as_ascii(source: str) -> str:
    r"""The pattern with ``\w``, ``\d`` and ``\b`` for ASCII alone, as in JavaScript."""

    def spelled(found: re.Match[str]) -> str:
        chars, sign = found["set"], found["sign"]
        if chars is None:
            return f"(?a:{found[0]})" if sign in "wWdDbB" else found[0]
        if _NEGATED.search(chars):
            return f"(?a:{chars})"
        return _IN_SET.sub(lambda each: _ASCII.get(each[1], each[0]), chars)

    return _CLASS.sub(spelled, source)


def _without_engine(source: str, steps: int) -> PatternSearch | None:
    """Match with Python's own engine, for a pattern without repetition."""
    try:
        plain = re.compile(_as_ascii(source))  # re.ASCII would ignore the case of ASCII letters alone
    except (re.error, RecursionError, OverflowError):
        return None
    return PatternSearch(plain, steps)


def key_search(key: str, *, case: bool, words: bool) -> KeySearch | None:
    """A function that tells whether a text contains a key; None for a pattern that cannot be matched.

    Unless ``case`` is set, words are searched in lower case, and the text must be in lower case too. A pattern has its
    own flags, and needs the text as it is.
    """
    if is_pattern(key):
        return pattern_search(key)
    wanted = (key if case else key.lower()).replace(_ROUND, "'")
    anywhere = not words or len(wanted.split()) > 1  # several words match anywhere, even inside longer words
    found: KeySearch = (lambda text: wanted in text) if anywhere else partial(_as_word, wanted)
    return (lambda text: found(text.replace(_ROUND, "'"))) if "'" in wanted else found


def _as_word(wanted: str, text: str) -> bool:
    """Whether the word occurs with no ASCII letter, digit or underscore next to it.

    The tools that these rules come from do the same. It also suits languages that write words together: a Korean noun
    with a particle after it still matches.
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
