"""No pattern of SAGA takes more than linear time, whatever it is padded with.

The patterns are found, not listed: a new one is attacked as well, and one that was compiled nowhere in this test fails
it. What is compared is how the time of the processor grows with the text, not how long it takes.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from typing import Any

import pytest

from tests.patterns.bounds import bound_of
from tests.patterns.found import ALL, ROOT, Found, sites, uses
from tests.patterns.padding import DEEP, units
from tests.patterns.ruler import ONE, slowness, times_as_long

SIZES = (1_000, 4_000, 16_000)
"""Characters. A pattern is tried with more of them while they take so little time that growth does not show."""
FEW = (18, 36, 60)
"""Characters that must take no time: from more of them, one that doubles with each few would never come back."""
QUICK = 0.0006
"""Seconds of the processor for 4,000 characters or fewer, under which growth is not looked at."""
DEAR = 300
"""Costs of a character that are too many, however they grow: some ten seconds for a megabyte.

One is what a character costs the ruler, measured beside.
"""
BRIEF = 900
"""The same for texts of a sentence at most: some six thousandths of a second for one."""
GROWTH = 1.8
"""How much dearer a character may become when there are four times as many of them; quadratic is 4."""
_OWN = 8


@pytest.fixture(scope="module")
def patterns() -> list[Found]:
    """All patterns of SAGA."""
    command = [sys.executable, "-m", "tests.patterns.found"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [Found(*row) for row in json.loads(told.stdout)]


def test_every_place_that_uses_patterns_is_measured(patterns: list[Found]) -> None:
    missing = [
        f"{site.place}:{site.first}"
        for site in sites()
        if not any(each.place == site.place and site.first <= each.line <= site.last for each in patterns)
    ]
    assert missing == [], "let tests/patterns/makers.py call what compiles these"
    assert len(patterns) > 300


def test_every_pattern_is_linear(patterns: list[Found]) -> None:
    slow: dict[str, str] = {}
    tried: set[tuple[Any, ...]] = set()
    for each in patterns:
        ways, bound = uses(each.place, each.line), bound_of(each.place, each.line)
        if (each.pattern, each.flags, ways, bound) not in tried:
            tried.add((each.pattern, each.flags, ways, bound))
            found = attacked(each.pattern, each.flags, ways, bound)
            if found:
                slow[f"{each.place}:{each.line}"] = f"{found} {each.pattern[:80]!r}"
    assert slow == {}


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?:^|[.!…\n] ?)\s*(?:tell|name) me",
        r"(a+)+$",
        r"\[SAGA:[^\]]*\]",
        r"<!--.*?-->",
        r"(.+?)\s*\((?:on|off)\)",
        r"(?:x|\s)*\s*$",
        r"^(\s*-\s*)*x$",
    ],
)
def test_one_that_is_not_would_be_found(pattern: str) -> None:
    # What looks slow is measured again, in favour of the pattern: a machine that is held up meanwhile hides it.
    assert any(attacked(pattern, re.S) for _ in range(3))


def attacked(pattern: str, flags: int, ways: frozenset[str] = ALL, bound: int = 0) -> str | None:
    """The padding with which a pattern takes more than linear time; None when there is none.

    Every padding is tried up to 4,000 characters, and those that take longest with more.

    ``bound``: the longest text that it is given, if there is one.
    """
    compiled = re.compile(pattern, flags)
    dearest = BRIEF if 0 < bound <= 250 else DEAR
    slow: list[tuple[float, str]] = []
    for unit in units(pattern, flags, _OWN):
        taken = 0.0
        for size in (*FEW, bound) if bound else (*FEW, 250, SIZES[1]):
            taken = _seconds(compiled, unit, size, ways)
            dear = max(QUICK, 0.0 if size in FEW else size * dearest * ONE)
            if taken > dear and (times := _times(compiled, unit, size, ways)) > dear / ONE / size:
                return f"{unit!r} × n: each of {size} characters costs {times:.0f} times as much as a plain one"
        if taken > QUICK and not bound:
            if _grows(compiled, unit, ways, SIZES[0], taken):
                return f"{unit!r} × n: {SIZES[1]} characters take more than {4 * GROWTH} times as long as {SIZES[0]}"
            slow.append((taken, unit))
    for before, unit in sorted(slow, reverse=True)[: None if DEEP else 2]:
        taken = _seconds(compiled, unit, SIZES[2], ways)
        if (taken > SIZES[2] * DEAR * ONE or taken > before * 4 * GROWTH) and _grows(
            compiled, unit, ways, SIZES[1], taken
        ):
            return f"{unit!r} × n: {SIZES[2]} characters take {taken / before:.0f} times as long as {SIZES[1]}"
    return None


def _grows(compiled: re.Pattern[str], unit: str, ways: frozenset[str], fewer: int, taken: float) -> bool:
    """Whether four times as many characters as ``fewer``, which took ``taken``, are too dear, measured again or not."""
    more = fewer * 4
    before = _seconds(compiled, unit, fewer, ways)
    if taken <= more * DEAR * slowness() * ONE and taken <= before * 4 * GROWTH:
        return False
    if _times(compiled, unit, more, ways) > DEAR:
        return True
    return (
        times_as_long(lambda: _seconds(compiled, unit, fewer, ways), lambda: _seconds(compiled, unit, more, ways))
        > 4 * GROWTH
    )


def _times(compiled: re.Pattern[str], unit: str, size: int, ways: frozenset[str]) -> float:
    """How often a character of the padding costs what one costs the ruler, both measured several times in turn."""
    taken, slower = zip(*((_seconds(compiled, unit, size, ways), slowness()) for _ in range(7)), strict=True)
    return min(taken) / size / ONE / min(slower)


def _seconds(compiled: re.Pattern[str], unit: str, size: int, ways: frozenset[str]) -> float:
    text = (unit * (size // len(unit) + 1))[:size] + "\x00"
    began = time.thread_time()
    if "search" in ways:
        for _ in compiled.finditer(text):
            pass
    elif "match" in ways:
        compiled.match(text)
    if "fullmatch" in ways:
        compiled.fullmatch(text)
    return time.thread_time() - began
