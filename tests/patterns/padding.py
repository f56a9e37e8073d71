"""Padding for a pattern: texts that make it look again at what it has seen, generated from what the pattern says.

A pattern takes more than linear time where what it repeats can begin at many places of a text, or can be divided in
many ways. So every part of a pattern is written out once, and repeated: what comes up to a repetition, what is
repeated, and the blanks, brackets, quotes, letters and digits that foreign texts are padded with.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import Any

_parser: Any = vars(re)["_parser"]
_MAX = _parser.MAXREPEAT

USUAL = (
    *(" ", "\t", "\n", "\r\n", " \n", "\n ", "\u3000", "a", "aB", "a ", "7", "7 ", "7,", "가", "가 ", "漢"),
    *(".", "-", "*", "#", ">", ":", ",", "/", '"', "'", "“", "`", "```\n", "|", "\\"),
    *("(", ")", "[", "{", "<", "<a ", "<!--", "「", "a: ", "a:\n", "- a: ", "a. ", "a, ", "[SAGA: a]", "a\n\n"),
)
"""What texts are padded with, whatever the pattern."""
DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"
_EACH = 6
"""In an ordinary run each sixth of them is tried: what a pattern is made of itself finds nearly all."""
_LETTERS = "a7 \n.:-\"([가あ漢éA_*`<>|=/]x,!?“「#\t\r\\;'~+%@)}{（）"


def units(pattern: str, flags: int, most: int) -> list[str]:
    """What to repeat against a pattern: its own parts first, at most ``most`` of them, then what is usual."""
    tree = _parser.parse(pattern, flags)
    own = dict.fromkeys(unit for unit in _parts(list(tree)) if 0 < len(unit) <= 120)
    return [*list(own)[:most], *(USUAL if DEEP else USUAL[::_EACH])]


def _parts(items: list[Any]) -> Iterator[str]:
    """Each repeated part with what leads to it, alone and with what comes behind."""
    lead = ""
    for at, (kind, given) in enumerate(items):
        name = str(kind)
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            body = list(given[2])
            once = _sample(body)
            if given[1] is _MAX or given[1] > 8:
                yield once
                yield lead + once
                yield lead + once + _sample(items[at + 1 :])[:-1]
            yield from _parts(body)
        elif name == "BRANCH":
            for branch in given[1]:
                yield lead + _sample(list(branch))
                yield from (lead + part for part in _parts(list(branch)))
        elif name == "SUBPATTERN":
            yield from (lead + part for part in _parts(list(given[3])))
        elif name in ("ASSERT", "ASSERT_NOT"):
            yield from (lead + part for part in _parts(list(given[1])))
            yield lead + _sample(list(given[1]))
        elif name == "ATOMIC_GROUP":
            yield from (lead + part for part in _parts(list(given)))
        lead += _sample([(kind, given)])
    yield lead


def _sample(items: Iterable[Any]) -> str:
    """A text that fits, as short as may be; what only looks around adds nothing."""
    return "".join(_one(str(kind), given) for kind, given in items)


def _one(name: str, given: Any) -> str:
    if name == "LITERAL":
        return chr(given)
    if name == "NOT_LITERAL":
        return next(char for char in _LETTERS if ord(char) != given)
    if name == "ANY":
        return "a"
    if name == "IN":
        return _member(given)
    if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        return _sample(given[2]) * min(max(given[0], 1), 20)
    if name == "BRANCH":
        return _sample(given[1][0])
    if name == "SUBPATTERN":
        return _sample(given[3])
    if name == "ATOMIC_GROUP":
        return _sample(given)
    return ""


def _member(given: list[Any]) -> str:
    """A character of a set, a usual one if there is one."""
    tests = [_in(str(kind), each) for kind, each in given if str(kind) != "NEGATE"]
    negated = any(str(kind) == "NEGATE" for kind, _ in given)
    for char in _LETTERS:
        if any(test(char) for test in tests) is not negated:
            return char
    for kind, each in given:
        if str(kind) == "LITERAL":
            return chr(each)
        if str(kind) == "RANGE":
            return chr(each[0])
    return ""


def _in(kind: str, given: Any) -> Any:
    if kind == "LITERAL":
        return lambda char: ord(char) == given
    if kind == "RANGE":
        return lambda char: given[0] <= ord(char) <= given[1]
    category = {"CATEGORY_SPACE": r"\s", "CATEGORY_NOT_SPACE": r"\S", "CATEGORY_DIGIT": r"\d"} | {
        "CATEGORY_NOT_DIGIT": r"\D",
        "CATEGORY_WORD": r"\w",
        "CATEGORY_NOT_WORD": r"\W",
    }
    return re.compile(category[str(given)]).match
